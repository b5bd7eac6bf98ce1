//! Requests that are made to take memory or time: hostile texts in `GET /suggest`, and heavy
//! questions of clients that leave before they are answered.

use std::fmt::Write as _;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use figdex_ingest::Input;
use tempfile::TempDir;

use crate::support::build_of;
use crate::support::figi;
use crate::support::process::{PATIENCE, Process, exchange, figdex, get, skip_memory};

/// The memory that a request may add when its answer is below a megabyte.
const ADDED_MAX: u64 = 16 << 20;

/// The peak of a process's memory.
fn peak_bytes(process: &Process) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{}/status", process.child.id())).ok()?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = peak.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kilobytes << 10)
}

/// Words that folding makes long, letters of many bytes, many words: a suggestion takes little
/// memory, whatever the text.
#[test]
fn hostile_texts_take_little_memory() {
    let figdex = Process::of_one(&["--no-limits"]);
    let ask = |name: &str, text: &str| {
        let mut path = "/suggest?query=".to_owned();
        for byte in text.bytes() {
            write!(path, "%{byte:02X}").unwrap();
        }
        let (status, answer) = get(figdex.address(), &path);
        assert_eq!(status, 200, "{name}: {answer}");
        assert!(answer["data"].is_array(), "{name}: {answer}");
    };
    // The memory that the server takes anyway, with a search for a typo.
    ask("a typo", "ibmx");
    let Some(before) = peak_bytes(&figdex) else { return skip_memory() };
    let letters = |first: u32, count: usize| (first..).filter_map(char::from_u32).take(count);
    let apart = |letters: &mut dyn Iterator<Item = char>| {
        letters.flat_map(|letter| [letter, ' ']).collect::<String>()
    };
    for (name, text) in [
        ("ideographs", letters(0x4e00, 341).collect()),
        ("as many as are guessed at", letters(0x4e00, 24).collect()),
        ("letters of four bytes", letters(0x20000, 256).collect()),
        ("as many of those as are guessed at", letters(0x20000, 24).collect()),
        ("letters of two bytes", letters(0x430, 32).collect()),
        ("a letter that is folded into fifteen", "\u{fdfa}".repeat(341)),
        ("one of them", "\u{fdfa}".to_owned()),
        ("the longest word", "x".repeat(1024)),
        ("runs", "a1".repeat(512)),
        ("ideographs apart", apart(&mut letters(0x4e00, 256))),
        ("letters apart", apart(&mut (0..512).map(|number| char::from(b'a' + number as u8 % 26)))),
    ] {
        ask(name, &text);
        let peak = peak_bytes(&figdex).unwrap();
        let added = peak.saturating_sub(before);
        assert!(added <= ADDED_MAX, "{name}: {added} bytes more than {before}");
    }
    figdex.stop();
}

/// The number of rows of one identifier, none of which passes the filter, and the number of jobs
/// that ask for them: minutes of work.
const ROWS: u32 = 30_000;
const HEAVY_JOBS: usize = 10_000;

/// A metric of the pool that answers heavy questions.
pub(super) fn pool(figdex: &Process, figure: &str) -> usize {
    let head = "GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    let page = exchange(figdex.address(), head);
    let name = format!("figdex_pool_{figure}{{pool=\"answers\"}} ");
    let line = page.lines().find_map(|line| line.strip_prefix(&*name));
    line.unwrap_or_else(|| panic!("{figure}: {page}")).parse().unwrap()
}

pub(super) fn wait_until(holds: impl Fn() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < PATIENCE, "it does not come about");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Closes a connection with unread bytes, which resets it, so that the server notices at once.
pub(super) fn reset(mut unread: TcpStream) {
    let mut first = [0];
    unread.read_exact(&mut first).unwrap();
}

/// A server whose index has one identifier with many rows, the folder of that index, and a mapping
/// request about it that takes minutes, with further lines in its head. A short request comes first,
/// so that its client has an answer to leave unread.
pub(super) fn heavy_server(
    arguments: &[&str],
) -> (Process, TempDir, impl Fn(&str) -> String + use<>) {
    let desk = tempfile::tempdir().unwrap();
    let index = desk.path().join("index");
    let mut dump = "figi,exchCode,ID_ISIN\n".to_owned();
    for number in 0..ROWS {
        let exch_code = if number == 0 { "GR" } else { "US" };
        writeln!(dump, "{},{exch_code},US4592001014", figi(number)).unwrap();
    }
    let dump = Input::Memory("dump", dump.into_bytes().into());
    build_of(vec![dump], &index).run(&mut |_| {}).unwrap();
    let jobs = HEAVY_JOBS.to_string();
    let figdex = Process::start(
        figdex()
            .args(["--no-limits", "--listen", "127.0.0.1:0"])
            .arg("--index")
            .arg(&index)
            .args(["--jobs-per-request", &jobs, "--jobs-per-request-with-key", &jobs])
            .args(arguments),
    );
    let heavy = format!("[{}]", vec![HEAVY_JOB; HEAVY_JOBS].join(","));
    let request = move |lines: &str| {
        let bytes = heavy.len();
        format!(
            "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\nPOST /v3/mapping HTTP/1.1\r\nHost: x\r\n\
             Content-Type: application/json\r\n{lines}Content-Length: {bytes}\r\n\r\n{heavy}"
        )
    };
    (figdex, desk, request)
}

const HEAVY_JOB: &str =
    r#"{"idType":"ID_ISIN","idValue":"US4592001014","exchCode":"GR","strike":[-2,-1]}"#;

/// The work of clients that left ends: other clients are answered with a 200, although each of
/// these questions would take minutes.
#[test]
fn heavy_questions_of_clients_that_left() {
    let (figdex, _desk, heavy) = heavy_server(&[]);
    let turns = pool(&figdex, "turns");
    for _ in 0..2 {
        let clients: Vec<TcpStream> = (0..turns)
            .map(|_| {
                let mut client = figdex.connect();
                client.write_all(heavy("").as_bytes()).unwrap();
                client
            })
            .collect();
        wait_until(|| pool(&figdex, "running") == turns);
        clients.into_iter().for_each(reset);
        let answer = figdex.map("", &format!("[{HEAVY_JOB}]"));
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
        assert!(answer.contains("No identifier found."), "{answer}");
        wait_until(|| pool(&figdex, "running") == 0);
    }
    let log = figdex.stop();
    assert!(!log.contains("panicked"), "{log}");
}
