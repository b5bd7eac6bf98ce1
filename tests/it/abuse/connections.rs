//! Too many connections: ten thousand at a time, more than one address may have, and more bodies
//! than the memory budget allows.

use std::io::{BufRead as _, BufReader, ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use figdex::callers::limits::BODIES_BYTES_MAX;
use tokio::net::TcpSocket;

use crate::support::process::{PATIENCE, Process, REQUEST, may_open, read_to_close, status};

const CONNECTIONS: usize = 10_000;

/// The anonymous memory with ten thousand connections, a quarter of which were answered before and
/// a quarter of which are in the middle of a head.
const CONNECTIONS_MEMORY_MAX: u64 = 192 << 20;

/// The bodies that arrive at the same time, and the size of each: together far more than the
/// budget.
const BODIES: usize = 400;
const BODY_BYTES: usize = 1_000_000;

/// The anonymous memory while more bodies arrive than [`BODIES_BYTES_MAX`] allows: a buffer grows
/// by doubling, and its old memory is not returned at once.
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
    // Other tests of this process need open files too.
    if !may_open(CONNECTIONS as u64 + 2_000) {
        assert!(
            std::env::var_os("FIGDEX_REQUIRE_DESCRIPTORS").is_none(),
            "FIGDEX_REQUIRE_DESCRIPTORS is set, and too few open files are allowed"
        );
        eprintln!("skipped: ten thousand connections need 12,000 open files (ulimit -Hn)");
        return;
    }
    // The server raises its limit of open files: a shell gives it fewer.
    let figdex = Process::of_one_with_few_files(
        1_024,
        &[
            "--no-limits",
            "--connections",
            "10100",
            // All of them come from the proxy, which has no bound.
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
                // Reading byte by byte would be slow, and bytes read ahead are not needed.
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

/// contract 13.14, 14.19: an address with too many connections is refused at once, other addresses
/// are served, and the end of a connection frees its place.
#[test]
fn connections_of_one_address_are_bounded() {
    let figdex = Process::of_one(&["--no-limits", "--connections-per-address", "5"]);
    let mut held: Vec<_> = (0..5)
        .map(|_| {
            // After its first answer a connection is certainly counted.
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
    // All of 127.0.0.0/8 is this machine, so it has other addresses too.
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

/// contract 13.14, 14.18: the memory of unfinished bodies is bounded. Bodies beyond it get a 503,
/// and small ones are answered.
#[test]
fn bodies_together_are_bounded() {
    let figdex = Process::of_one(&["--no-limits", "--body-timeout", "5m"]);
    let head = "POST /v3/mapping HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n";
    let body = vec![b' '; BODY_BYTES];
    let mut held: Vec<_> = (0..BODIES)
        .map(|number| {
            // From sixteen addresses, since one address may not use the whole budget.
            let mut client = connect_from(&format!("127.0.1.{}", number % 16), &figdex);
            write!(client, "{head}Content-Length: {}\r\n\r\n", BODY_BYTES + 1).unwrap();
            // A refused connection is reset, because the rest of its body is not read.
            let _ = client.write_all(&body);
            client.set_nonblocking(true).unwrap();
            client
        })
        .collect();
    // Each body is whole in memory or refused; so at least this many are refused.
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
    // Their memory is free again.
    let start = Instant::now();
    let large = format!("{head}Connection: close\r\nContent-Length: {BODY_BYTES}\r\n\r\n[]");
    let large = [large.as_bytes(), &body[2..]].concat();
    while !figdex.exchange(&large).starts_with("HTTP/1.1 200 ") {
        assert!(start.elapsed() < PATIENCE, "what the bodies held is not free again");
    }
    figdex.stop();
}
