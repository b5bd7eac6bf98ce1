//! Ctrl-C, SIGTERM and SIGHUP during a build.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use figdex_io::Layout;

use crate::support::process::PATIENCE;
use crate::support::{generated, ingest, program};

/// Rows of the dump that a build waits in the middle of.
const ROWS: u64 = 20_000;

/// A build that has begun and reads from a pipe that stays open.
fn begun(folder: &Path) -> Child {
    // The tests themselves may run under `nohup`, which programs inherit.
    let mut command = Command::new("env");
    command.arg("--default-signal=HUP").arg(program());
    begun_by(folder, command)
}

fn begun_by(folder: &Path, mut command: Command) -> Child {
    let child = command
        .current_dir(folder)
        .args([
            "build",
            "-",
            "--index",
            "index",
            "--max-rejects",
            "100%",
            "--report",
            "report.json",
        ])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let start = Instant::now();
    while !unfinished(folder) {
        assert!(start.elapsed() < PATIENCE, "the build did not begin");
        std::thread::sleep(Duration::from_millis(10));
    }
    child
}

/// Whether the folder of the index holds a generation that is being built.
fn unfinished(folder: &Path) -> bool {
    let entries = fs::read_dir(folder.join("index")).into_iter().flatten();
    entries.map(|entry| entry.unwrap().file_name()).any(|name| {
        let name = name.into_string().unwrap();
        name.starts_with("generation-") && name.ends_with(".new")
    })
}

fn interrupt(child: &Child) {
    signal(child, "-INT");
}

fn signal(child: &Child, signal: &str) {
    let id = child.id().to_string();
    assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
}

/// `result` and `reason` of the report.
fn reported(folder: &Path) -> (String, Option<String>) {
    let report = fs::read(folder.join("report.json")).unwrap();
    let report: serde_json::Value = serde_json::from_slice(&report).unwrap();
    let text = |name: &str| report[name].as_str().map(str::to_owned);
    (text("result").unwrap(), text("reason"))
}

/// The build ends with 130, 143 after SIGTERM, or 129 after SIGHUP, and says what stands, as does its report; nothing
/// half-made is left.
#[test]
fn an_interrupted_build_leaves_the_old_index() {
    let desk = tempfile::tempdir().unwrap();
    let folder = desk.path();
    let dump = generated(ROWS, Layout::Csv);
    for (by, code, expected) in [
        ("-INT", 130, "figdex-ingest: interrupted: nothing is published\n"),
        ("-TERM", 143, "figdex-ingest: interrupted: the old index, generation 1, stands\n"),
        ("-HUP", 129, "figdex-ingest: interrupted: the old index, generation 1, stands\n"),
    ] {
        let mut child = begun(folder);
        assert_eq!(reported(folder), ("running".to_owned(), None));
        signal(&child, by);
        std::thread::sleep(Duration::from_millis(200));
        // The pipe may close before all is read.
        child.stdin.take().unwrap().write_all(&dump).ok();
        let output = child.wait_with_output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{error}");
        assert!(error.ends_with(expected), "{error}");
        assert_eq!(reported(folder), ("failed".to_owned(), Some("it was interrupted".to_owned())));
        assert!(!unfinished(folder), "a generation is half-made");
        if !folder.join("index/CURRENT").exists() {
            fs::write(folder.join("dump.csv"), "figi,ticker\nBBG000BLNNH6,IBM\n").unwrap();
            assert_eq!(ingest(folder, &["build", "dump.csv", "--index", "index"]).0, 0);
        }
    }
    assert_eq!(ingest(folder, &["verify", "index"]).0, 0);
}

/// A build that was started to go on without its terminal does so.
#[test]
fn a_build_under_nohup_goes_on() {
    let desk = tempfile::tempdir().unwrap();
    let mut command = Command::new("nohup");
    command.arg(program());
    let mut child = begun_by(desk.path(), command);
    signal(&child, "-HUP");
    std::thread::sleep(Duration::from_millis(200));
    child.stdin.take().unwrap().write_all(&generated(ROWS, Layout::Csv)).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(reported(desk.path()).0, "published");
}

/// A build that waits for its input is ended by pressing it twice.
#[test]
fn a_second_interrupt_ends_at_once() {
    let desk = tempfile::tempdir().unwrap();
    let child = begun(desk.path());
    let mut child = child;
    let open = child.stdin.take();
    interrupt(&child);
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        assert!(start.elapsed() < PATIENCE, "it goes on");
        std::thread::sleep(Duration::from_millis(100));
        interrupt(&child);
    }
    drop(open);
    let output = child.wait_with_output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{error}");
    assert!(error.ends_with("interrupted: nothing is published\n"), "{error}");
}
