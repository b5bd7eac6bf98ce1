//! More connections than anyone needs: ten thousand at a time, more than one address
//! may have, and more bodies than memory is meant to hold.

use std::io::{BufRead as _, BufReader, ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use figdex::limits::BODIES_BYTES_MAX;
use tokio::net::TcpSocket;

use crate::support::process::{PATIENCE, Process, REQUEST, may_open, read_to_close, status};

const CONNECTIONS: usize = 10_000;

/// Anonymous memory with ten thousand connections, a quarter of which were answered
/// before and a quarter of which are in the middle of a head.
const CONNECTIONS_MEMORY_MAX: u64 = 192 << 20;

/// Bodies that come at a time, and what each has: together far more than may be.
const BODIES: usize = 400;
const BODY_BYTES: usize = 1_000_000;

/// Anonymous memory while more bodies come than [`BODIES_BYTES_MAX`] lets be read: a
/// buffer grows by doubling, and what it grew out of is not given back at once.
const BODIES_MEMORY_MAX: u64 = 3 * BODIES_BYTES_MAX as u64;

/// A client at another address of this machine.
fn connect_from(address: &str, figdex: &Process) -> TcpStream {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind(SocketAddr::new(address.parse().unwrap(), 0)).unwrap();
        let stream = socket.connect(figdex.address()).await.unwrap().into_std().unwrap();
        stream.set_nonblocking(false).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    })
}

#[test]
fn ten_thousand_connections() {
    // Other tests of this process need some too.
    if !may_open(CONNECTIONS as u64 + 2_000) {
        assert!(
            std::env::var_os("FIGDEX_REQUIRE_DESCRIPTORS").is_none(),
            "FIGDEX_REQUIRE_DESCRIPTORS is set, and too few open files are allowed"
        );
        eprintln!("skipped: ten thousand connections need 12,000 open files (ulimit -Hn)");
        return;
    }
    // It asks for the open files that it needs: a shell gives fewer.
    let figdex = Process::of_one_with_few_files(
        1_024,
        &[
            "--no-limits",
            "--connections",
            "10100",
            // All of them are the proxy's, and there is no bound for it.
            "--trust-proxy",
            "--head-timeout",
            "5m",
            "--idle-timeout",
            "5m",
        ],
    );
    let keep = REQUEST.replace("Connection: close\r\n", "");
    let mut held = Vec::with_capacity(CONNECTIONS);
    for number in 0..CONNECTIONS {
        let mut client = figdex.connect();
        match number % 4 {
            0 => {
                client.write_all(keep.as_bytes()).unwrap();
                let mut line = String::new();
                // Byte by byte would be slow, and what is read ahead is not needed.
                BufReader::new(&client).read_line(&mut line).unwrap();
                assert_eq!(line, "HTTP/1.1 200 OK\r\n");
            }
            1 => client.write_all(&keep.as_bytes()[..50]).unwrap(),
            _ => {}
        }
        held.push(client);
    }
    assert_eq!(figdex.count("accepting a connection failed"), 0);
    figdex.assert_serves();
    figdex.assert_memory_below(CONNECTIONS_MEMORY_MAX);
    drop(held);
    figdex.assert_serves();
    figdex.stop();
}

/// contract 13.14, 14.19: beyond its number an address is refused at once; another is not, and a
/// place that is given back is free.
#[test]
fn an_address_has_so_many_connections() {
    let figdex = Process::of_one(&["--no-limits", "--connections-per-address", "5"]);
    let mut held: Vec<_> = (0..5)
        .map(|_| {
            // Answered once: then it counts for certain.
            let mut client = figdex.connect();
            client.write_all(REQUEST.replace("Connection: close\r\n", "").as_bytes()).unwrap();
            client.read_exact(&mut [0; 15]).unwrap();
            client
        })
        .collect();
    let mut refused = figdex.connect();
    let answer = read_to_close(&mut refused);
    assert_eq!(status(&answer), 503, "{answer}");
    assert!(answer.ends_with("\r\n\r\nService Unavailable."), "{answer}");
    // All of 127.0.0.0/8 is this machine, so that it has other addresses too.
    let mut other = connect_from("127.0.0.2", &figdex);
    other.write_all(REQUEST.as_bytes()).unwrap();
    assert_eq!(status(&read_to_close(&mut other)), 200);
    held.pop();
    let start = Instant::now();
    while !figdex.exchange(REQUEST).starts_with("HTTP/1.1 200 ") {
        assert!(start.elapsed() < PATIENCE, "the place is not free again");
    }
    figdex.stop();
}

/// contract 13.14, 14.18: the memory of bodies that are begun and never ended is bounded. Bodies
/// beyond it get a 503, and small ones are answered.
#[test]
fn bodies_together_are_bounded() {
    let figdex = Process::of_one(&["--no-limits", "--body-timeout", "5m"]);
    let head = "POST /v3/mapping HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n";
    let body = vec![b' '; BODY_BYTES];
    let mut held: Vec<_> = (0..BODIES)
        .map(|number| {
            // Of sixteen addresses, since one alone may not have all that there is.
            let mut client = connect_from(&format!("127.0.1.{}", number % 16), &figdex);
            write!(client, "{head}Content-Length: {}\r\n\r\n", BODY_BYTES + 1).unwrap();
            // A refusal ends in a reset, since the rest of the body is not read.
            let _ = client.write_all(&body);
            client.set_nonblocking(true).unwrap();
            client
        })
        .collect();
    // Each is whole in memory or refused, so that at least these are.
    let refused_min = BODIES - BODIES_BYTES_MAX / BODY_BYTES;
    let start = Instant::now();
    while held.len() > BODIES - refused_min {
        assert!(start.elapsed() < PATIENCE, "{} bodies are held", held.len());
        held.retain_mut(|client| {
            let mut answer = [0; 12];
            match client.read(&mut answer) {
                Ok(read) => assert_eq!(&answer[..read], &b"HTTP/1.1 503"[..read]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return true,
                Err(_reset) => {}
            }
            false
        });
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(held.len() > BODIES / 4, "what fits is taken: {} are held", held.len());
    figdex.assert_serves();
    figdex.assert_memory_below(BODIES_MEMORY_MAX);
    drop(held);
    // What they held is free again.
    let start = Instant::now();
    let large = format!("{head}Connection: close\r\nContent-Length: {BODY_BYTES}\r\n\r\n[]");
    let large = [large.as_bytes(), &body[2..]].concat();
    while !figdex.exchange(&large).starts_with("HTTP/1.1 200 ") {
        assert!(start.elapsed() < PATIENCE, "what the bodies held is not free again");
    }
    figdex.stop();
}
