//! Clients that are slow to send a head or a body, or to end their connection.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use super::MEMORY_MAX;
use crate::support::process::{PATIENCE, Process, REQUEST, read_to_close, status};

const CLIENTS: usize = 200;

/// Sends a byte of `bytes` over each connection now and then, until the server has closed all of
/// them. Returns what each client received.
fn drip(clients: &mut [TcpStream], bytes: &[u8]) -> Vec<String> {
    let start = Instant::now();
    let mut received: Vec<Option<String>> = vec![None; clients.len()];
    for client in clients.iter() {
        client.set_nonblocking(true).unwrap();
    }
    let mut next = bytes.iter().cycle();
    while received.iter().any(Option::is_none) {
        assert!(start.elapsed() < PATIENCE, "some are still listened to");
        let byte = [*next.next().unwrap()];
        for (client, received) in clients.iter_mut().zip(&mut received) {
            if received.is_none() {
                // Only reading shows that the connection is closed.
                let _ = client.write(&byte);
                let mut buffer = [0; 1024];
                match client.read(&mut buffer) {
                    Ok(read) => {
                        *received = Some(String::from_utf8_lossy(&buffer[..read]).into_owned());
                    }
                    Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
                    Err(_reset) => *received = Some(String::new()),
                }
            }
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    received.into_iter().flatten().collect()
}

/// contract 14.20: connections whose heads come byte by byte are closed; others are served
/// meanwhile.
#[test]
fn slow_heads() {
    let figdex = Process::of_one(&["--no-limits", "--head-timeout", "1s"]);
    let start = Instant::now();
    let mut clients: Vec<_> = (0..CLIENTS).map(|_| figdex.connect()).collect();
    figdex.assert_serves();
    let received = drip(&mut clients, b"GET /healthz HTTP/1.1\r\nX-Slow: aaaaaaaaaaaaaaaaaa");
    assert!(start.elapsed() >= Duration::from_secs(1), "{:?}", start.elapsed());
    assert!(received.iter().all(String::is_empty), "{received:?}");
    figdex.assert_serves();
    figdex.assert_memory_below(MEMORY_MAX);
    figdex.stop();
}

/// contract 2.13: bodies that come byte by byte are refused with 400; others are served meanwhile.
#[test]
fn slow_bodies() {
    refuses_slow_bodies("/v3/mapping", &["--no-limits", "--body-timeout", "1s"]);
}

/// contract 24.11: the messages of assistants too.
#[cfg(feature = "mcp")]
#[test]
fn slow_messages() {
    refuses_slow_bodies("/mcp", &["--no-limits", "--body-timeout", "1s", "--mcp"]);
}

fn refuses_slow_bodies(path: &str, arguments: &[&str]) {
    let figdex = Process::of_one(arguments);
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: x\r\nAccept: application/json, text/event-stream\r\n\
         Content-Type: application/json\r\n"
    );
    let start = Instant::now();
    let mut clients: Vec<_> = (0..CLIENTS).map(|_| figdex.connect()).collect();
    for (number, client) in clients.iter_mut().enumerate() {
        let kind = match number % 2 {
            0 => "Content-Length: 100000",
            _ => "Transfer-Encoding: chunked",
        };
        write!(client, "{head}{kind}\r\n\r\n").unwrap();
        if number % 2 == 1 {
            write!(client, "100\r\n").unwrap();
        }
    }
    figdex.assert_serves();
    let received = drip(&mut clients, b"[[[[[[[[");
    assert!(start.elapsed() >= Duration::from_secs(1), "{:?}", start.elapsed());
    // A byte that comes after the end resets the connection, and the answer may be lost.
    let answers: Vec<_> = received.iter().filter(|received| !received.is_empty()).collect();
    assert!(answers.len() > CLIENTS / 2, "{} were answered", answers.len());
    assert!(answers.iter().all(|answer| status(answer) == 400), "{answers:?}");
    figdex.assert_serves();
    figdex.assert_memory_below(MEMORY_MAX);
    figdex.stop();
}

/// The places of clients that shut their side, or leave with an unread answer, are free again: far
/// more clients come than there are places.
#[test]
fn half_open_connections() {
    let figdex = Process::of_one(&[
        "--no-limits",
        "--connections",
        "8",
        "--head-timeout",
        "1s",
        "--body-timeout",
        "1s",
        "--idle-timeout",
        "1s",
    ]);
    let (head, _) = REQUEST.split_once("[{").unwrap();
    let keep = REQUEST.replace("Connection: close\r\n", "");
    for round in 0..20 {
        for sent in ["", "GET", &REQUEST[..30], head, &REQUEST[..REQUEST.len() - 5], &keep] {
            let mut client = figdex.connect();
            client.write_all(sent.as_bytes()).unwrap();
            if round % 2 == 0 {
                client.shutdown(Shutdown::Write).unwrap();
                let answer = read_to_close(&mut client);
                // Only a whole head gets an answer, and a whole request the right one.
                let expected = match sent {
                    "" | "GET" => None,
                    sent if sent == keep => Some(200),
                    sent if sent.len() >= head.len() => Some(400),
                    _ => None,
                };
                assert_eq!((!answer.is_empty()).then(|| status(&answer)), expected, "{answer}");
            }
        }
        figdex.assert_serves();
    }
    // Clients that stay and send nothing more.
    let silent: Vec<_> = (0..8).map(|_| figdex.connect()).collect();
    figdex.assert_serves();
    drop(silent);
    figdex.assert_memory_below(MEMORY_MAX);
    figdex.stop();
}
