//! A flood of addresses against the rate limiter, which remembers each for a while.

use std::io::{Read as _, Write as _};
use std::net::Ipv4Addr;

use crate::support::process::Process;

/// Addresses that ask: a million in a release build, fewer in a slow debug build.
const ADDRESSES: u32 = if cfg!(debug_assertions) { 20_000 } else { 1_000_000 };

const CLIENTS: u32 = 4;

/// Requests that are sent before their answers are read.
const PIPELINED: u32 = 50;

/// The memory of the server: 70 MB for all addresses that the limiter remembers, half as much
/// again while a table grows, and the rest of the process.
const MEMORY_MAX: u64 = 256 << 20;

/// contract 14.2, 14.21: behind a proxy each of many addresses is a separate caller, and none locks
/// another out.
#[test]
fn a_flood_of_addresses() {
    let figdex = Process::of_one(&["--trust-proxy"]);
    std::thread::scope(|scope| {
        for client in 0..CLIENTS {
            let mut stream = figdex.connect();
            scope.spawn(move || {
                let each = ADDRESSES / CLIENTS;
                let (mut sent, mut answers) = (0, Vec::new());
                while sent < each {
                    let mut requests = String::new();
                    for number in sent..sent + PIPELINED {
                        let address = Ipv4Addr::from(0x0B00_0000 + client * each + number);
                        requests.push_str(&format!(
                            "POST /v3/mapping HTTP/1.1\r\nHost: x\r\nContent-Type: \
                             application/json\r\nX-Forwarded-For: {address}\r\nContent-Length: \
                             2\r\n\r\n[]"
                        ));
                    }
                    sent += PIPELINED;
                    stream.write_all(requests.as_bytes()).unwrap();
                    answers.clear();
                    let mut buffer = [0; 16 << 10];
                    let mut count = 0;
                    while count < PIPELINED {
                        let read = stream.read(&mut buffer).unwrap();
                        assert!(read > 0, "cut off");
                        answers.extend_from_slice(&buffer[..read]);
                        let text = String::from_utf8_lossy(&answers);
                        count = text.matches("\r\n\r\n[]").count() as u32;
                    }
                    let text = String::from_utf8_lossy(&answers);
                    assert_eq!(
                        text.matches("ratelimit-remaining: 24\r\n").count() as u32,
                        PIPELINED,
                        "each is counted for itself: {text}"
                    );
                }
            });
        }
    });
    figdex.assert_serves();
    figdex.assert_memory_below(MEMORY_MAX);
    figdex.stop();
}

/// contract 14.3: without a trusted proxy the header is ignored, and one address is one caller.
#[test]
fn a_client_cannot_choose_its_address() {
    let figdex = Process::of_one(&[]);
    let statuses: Vec<_> = (0..30)
        .map(|number| {
            let answer = figdex.exchange(format!(
                "POST /v3/mapping HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: \
                 application/json\r\nX-Forwarded-For: 198.51.100.{number}\r\nContent-Length: \
                 2\r\n\r\n[]"
            ));
            crate::support::process::status(&answer)
        })
        .collect();
    assert_eq!(statuses, [[200; 25].as_slice(), &[429; 5]].concat());
    figdex.stop();
}
