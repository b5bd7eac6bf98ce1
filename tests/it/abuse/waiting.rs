//! Clients that take their time: with the head, with the body, with their leave.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use super::MEMORY_MAX;
use crate::support::process::{PATIENCE, Process, REQUEST, read_to_close, status};

const CLIENTS: usize = 200;

/// Sends a byte of `bytes` to each client now and then, until the server has closed
/// them all; what each was told.
fn drip(clients: &mut [TcpStream], bytes: &[u8]) -> Vec<String> {
    let start = Instant::now();
    let mut told: Vec<Option<String>> = vec![None; clients.len()];
    for client in clients.iter() {
        client.set_nonblocking(true).unwrap();
    }
    let mut next = bytes.iter().cycle();
    while told.iter().any(Option::is_none) {
        assert!(start.elapsed() < PATIENCE, "some are still listened to");
        let byte = [*next.next().unwrap()];
        for (client, told) in clients.iter_mut().zip(&mut told) {
            if told.is_none() {
                // Once it is closed, only reading tells so.
                let _ = client.write(&byte);
                let mut buffer = [0; 1024];
                match client.read(&mut buffer) {
                    Ok(read) => *told = Some(String::from_utf8_lossy(&buffer[..read]).into_owned()),
                    Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
                    Err(_reset) => *told = Some(String::new()),
                }
            }
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    told.into_iter().flatten().collect()
}

/// contract 14.20: connections whose heads come byte by byte are closed; others are served
/// meanwhile.
#[test]
fn slow_heads() {
    let figdex = Process::of_one(&["--no-limits", "--head-timeout", "1s"]);
    let start = Instant::now();
    let mut clients: Vec<_> = (0..CLIENTS).map(|_| figdex.connect()).collect();
    figdex.assert_serves();
    let told = drip(&mut clients, b"GET /healthz HTTP/1.1\r\nX-Slow: aaaaaaaaaaaaaaaaaa");
    assert!(start.elapsed() >= Duration::from_secs(1), "{:?}", start.elapsed());
    assert!(told.iter().all(String::is_empty), "{told:?}");
    figdex.assert_serves();
    figdex.assert_memory_below(MEMORY_MAX);
    figdex.stop();
}

/// contract 2.13: bodies that come byte by byte are refused with 400; others are served meanwhile.
#[test]
fn slow_bodies() {
    let figdex = Process::of_one(&["--no-limits", "--body-timeout", "1s"]);
    let head = "POST /v3/mapping HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n";
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
    let told = drip(&mut clients, b"[[[[[[[[");
    assert!(start.elapsed() >= Duration::from_secs(1), "{:?}", start.elapsed());
    // A byte that comes after the end resets a connection, and may take the answer along.
    let answers: Vec<_> = told.iter().filter(|told| !told.is_empty()).collect();
    assert!(answers.len() > CLIENTS / 2, "{} were told", answers.len());
    assert!(answers.iter().all(|answer| status(answer) == 400), "{answers:?}");
    figdex.assert_serves();
    figdex.assert_memory_below(MEMORY_MAX);
    figdex.stop();
}

/// Clients that shut their side, or vanish with an answer unread, give their places
/// back: far more of them come than there are places.
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
                // Nothing but a whole head has an answer, and a whole request the right one.
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
    // Those that stay and say nothing more.
    let silent: Vec<_> = (0..8).map(|_| figdex.connect()).collect();
    figdex.assert_serves();
    drop(silent);
    figdex.assert_memory_below(MEMORY_MAX);
    figdex.stop();
}
