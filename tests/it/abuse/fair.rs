//! Callers next to one that has as much heavy work as it can send.

use std::io::Write as _;
use std::net::TcpStream;

use figdex::callers::auth::file;

use super::work::{heavy_server, pool, reset, wait_until};
use crate::support::figi;
use crate::support::process::exchange;

/// The callers with little work, and the requests of each.
const QUIET: usize = 8;
const REQUESTS: usize = 3;

/// The size of a body that waits for a turn before it is parsed.
const LONG_BODY_BYTES: usize = 65 << 10;

/// contract 13.14: one caller sends more questions than there are turns, of which each takes minutes,
/// and says that its requests are those of the page. No other caller gets a 503: a task that has
/// begun gives its turn up. The callers are addresses, and then keys of one address.
#[test]
fn one_caller_keeps_no_other_from_a_turn() {
    let desk = tempfile::tempdir().unwrap();
    let file = desk.path().join("keys.toml");
    let names: Vec<String> = (0..=QUIET).map(|number| format!("desk-{number}")).collect();
    let keys: Vec<String> = names.iter().map(|name| file::add(&file, name).unwrap()).collect();
    let file = file.to_str().unwrap();
    let (figdex, _desk, heavy) = heavy_server(&["--trust-proxy", "--keys", file]);
    let by_address = |caller: usize| format!("X-Forwarded-For: 192.0.2.{caller}\r\n");
    let by_key = |caller: usize| format!("X-OPENFIGI-APIKEY: {}\r\n", keys[caller]);
    let kinds: [&dyn Fn(usize) -> String; 2] = [&by_address, &by_key];
    for lines_of in kinds {
        let turns = pool(&figdex, "turns");
        let of_page = format!("Sec-Fetch-Site: same-origin\r\n{}", lines_of(0));
        let attackers: Vec<TcpStream> = (0..4 * turns + 4)
            .map(|_| {
                let mut client = figdex.connect();
                client.write_all(heavy(&of_page).as_bytes()).unwrap();
                client
            })
            .collect();
        wait_until(|| pool(&figdex, "running") == turns && pool(&figdex, "queued") > 0);
        let job = format!(r#"{{"idType":"ID_BB_GLOBAL","idValue":"{}"}}"#, figi(1));
        let body = format!("[{job}{}]", " ".repeat(LONG_BODY_BYTES));
        std::thread::scope(|scope| {
            for caller in 1..=QUIET {
                let request = format!(
                    "POST /v3/mapping HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: \
                     application/json\r\n{}Content-Length: {}\r\n\r\n{body}",
                    lines_of(caller),
                    body.len()
                );
                let address = figdex.address();
                scope.spawn(move || {
                    for _ in 0..REQUESTS {
                        let answer = exchange(address, &request);
                        assert!(answer.starts_with("HTTP/1.1 200 "), "caller {caller}: {answer}");
                    }
                });
            }
        });
        assert!(pool(&figdex, "running") + pool(&figdex, "paused") >= 1, "the others go on");
        attackers.into_iter().for_each(reset);
        wait_until(|| pool(&figdex, "running") + pool(&figdex, "paused") == 0);
    }
    let log = figdex.stop();
    assert!(!log.contains("panicked"), "{log}");
}
