//! Clients that send requests and do not read. Each costs one connection, for no longer than the
//! timeouts say: then its place and its share of the budget are free again, and the kernel keeps
//! nothing for it.

use std::io::{ErrorKind, Read as _, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use tokio::net::TcpSocket;

use crate::support::certificate::Certificate;
use crate::support::process::{PATIENCE, Process, REQUEST, metric};

/// The most connections of each server here.
const CONNECTIONS: usize = 10;

/// The size of the kernel's buffer for a client that does not read.
const CLIENT_BUFFER_BYTES: u32 = 4 << 10;

/// The most bytes that the server's kernel may keep for a client: its unsent answers, and what the
/// kernel needs for each packet.
const KERNEL_BYTES_MAX: u64 = 512 << 10;

/// The number of bytes after which a client stops writing requests without reading.
const SENT_BYTES_MAX: usize = 4 << 20;

pub(super) const SCHEMA: &str = "GET /schema HTTP/1.1\r\nHost: x\r\n\r\n";

/// A request whose answer is written before its body is read: then hyper reads the next head while
/// this answer is unread.
pub(super) const EXPECTING: &str =
    "GET /schema HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\nhello";

const MAPPING: &str = "POST /v3/mapping HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n\
     Expect: 100-continue\r\nContent-Length: 2\r\n\r\n[]";

/// A client whose kernel buffers little for it.
pub(super) fn narrow(address: SocketAddr) -> TcpStream {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(CLIENT_BUFFER_BYTES).unwrap();
        let stream = socket.connect(address).await.unwrap().into_std().unwrap();
        stream.set_nonblocking(false).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    })
}

/// Sends a request again and again, until the connection takes nothing more for a moment.
pub(super) fn fill(client: &mut impl Write, request: &str) {
    let mut sent = 0;
    let requests = request.repeat((16 << 10) / request.len());
    while sent < SENT_BYTES_MAX {
        match client.write(requests.as_bytes()) {
            Ok(bytes) => {
                // The next request begins at its beginning.
                let rest = bytes.next_multiple_of(request.len());
                if client.write_all(&requests.as_bytes()[bytes..rest]).is_err() {
                    return;
                }
                sent += rest;
            }
            Err(error) => {
                let is_full = matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut);
                // On a busy machine the server may give up before the connection is full.
                let is_ended =
                    matches!(error.kind(), ErrorKind::ConnectionReset | ErrorKind::BrokenPipe);
                assert!(is_full || is_ended, "{error}");
                return;
            }
        }
    }
}

fn server(arguments: &[&str]) -> Process {
    let bounds = [
        "--no-limits",
        "--admin-listen",
        "127.0.0.1:0",
        "--connections",
        "10",
        "--head-timeout",
        "1s",
        "--body-timeout",
        "1s",
        "--idle-timeout",
        "1s",
    ];
    Process::of_one(&[&bounds[..], arguments].concat())
}

/// Waits until all connections have ended and no memory is held for them.
fn assert_free(operators: SocketAddr, name: &str) {
    let start = Instant::now();
    loop {
        let open = metric(operators, "figdex_connections_open");
        let used = metric(operators, "figdex_budget_used_bytes");
        let begun = metric(operators, "figdex_requests_in_flight");
        // The request for the metrics is one connection.
        if (open, used, begun) == (0.0, 0.0, 1.0) {
            return;
        }
        let held = format!("{open} connections, {used} bytes, {begun} requests");
        assert!(start.elapsed() < PATIENCE, "{name}: {held}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// The bytes that the kernel still has to send from a port of this machine, for each connection
/// that has any, whether the process still holds the connection or not.
pub(super) fn kept_by_the_kernel(port: u16) -> Vec<u64> {
    let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
    let of_port = format!(":{port:04X}");
    table
        .lines()
        .skip(1)
        .filter_map(|line| {
            let mut fields = line.split_whitespace().skip(1);
            let (local, _remote) = (fields.next()?, fields.next()?);
            let (_state, queues) = (fields.next()?, fields.next()?);
            let unsent = u64::from_str_radix(queues.split_once(':')?.0, 16).unwrap();
            (local.ends_with(&of_port) && unsent > 0).then_some(unsent)
        })
        .collect()
}

fn assert_nothing_kept(port: u16, name: &str) {
    let start = Instant::now();
    loop {
        let kept = kept_by_the_kernel(port);
        if kept.is_empty() {
            return;
        }
        assert!(start.elapsed() < Duration::from_secs(20), "{name}: the kernel keeps {kept:?}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Clients that pipeline requests and never read fill all places.
#[test]
fn clients_that_pipeline_and_never_read() {
    let figdex = server(&[]);
    let operators = figdex.operators();
    for (name, request) in [
        ("answers", SCHEMA),
        ("expected bodies", EXPECTING),
        ("expected bodies that are read", MAPPING),
        ("heads alone", &SCHEMA.replace("GET", "HEAD")),
        ("small answers", "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"),
        ("faults", "GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n"),
    ] {
        let timed_out = metric(operators, "figdex_connections_timed_out_total");
        let mut clients: Vec<_> = (0..CONNECTIONS).map(|_| narrow(figdex.address())).collect();
        for client in &mut clients {
            client.set_write_timeout(Some(Duration::from_millis(50))).unwrap();
            fill(client, request);
        }
        // However long the client goes on taking small pieces.
        assert!(figdex.exchange(REQUEST).starts_with("HTTP/1.1 200 "), "{name}");
        assert_free(operators, name);
        assert_nothing_kept(figdex.address().port(), name);
        let after = metric(operators, "figdex_connections_timed_out_total");
        assert_eq!(after - timed_out, CONNECTIONS as f64, "{name}");
        // The bytes on their way are read; then the connection is reset, not ended. (If a client
        // takes a small packet now and then, the kernel may give up first.)
        for client in clients.iter_mut().filter(|_| request == SCHEMA) {
            let mut read = vec![0; 64 << 10];
            let end = loop {
                match client.read(&mut read) {
                    Ok(0) => panic!("{name}: half of an answer looks whole"),
                    Ok(_) => {}
                    Err(error) => break error,
                }
            };
            assert_eq!(end.kind(), ErrorKind::ConnectionReset, "{name}: {end}");
        }
    }
    figdex.stop();
}

/// Clients over TLS, whose records wait in the TLS library too.
#[test]
fn clients_over_tls_that_never_read() {
    let folder = tempfile::tempdir().unwrap();
    let certificate = Certificate::new();
    let arguments = certificate.write_into(folder.path());
    let figdex = server(&arguments.each_ref().map(String::as_str));
    let operators = figdex.operators();
    for (name, request) in [("answers", SCHEMA), ("expected bodies", EXPECTING)] {
        let clients: Vec<_> = (0..CONNECTIONS)
            .map(|_| {
                let mut client = certificate.connect_over(narrow(figdex.address()));
                client.conn.complete_io(&mut client.sock).unwrap();
                client.sock.set_write_timeout(Some(Duration::from_millis(50))).unwrap();
                // Not `StreamOwned`, which would read too.
                for _ in 0..200 {
                    client.conn.writer().write_all(request.as_bytes()).unwrap();
                    while client.conn.wants_write() {
                        if client.conn.write_tls(&mut client.sock).is_err() {
                            return client;
                        }
                    }
                }
                client
            })
            .collect();
        assert!(certificate.is_served_by(&figdex), "{name}");
        assert_free(operators, name);
        assert_nothing_kept(figdex.address().port(), name);
        drop(clients);
    }
    figdex.stop();
}

/// Answers that fit into the kernel's buffers have left the process, but are unread all the same.
#[test]
fn answers_in_the_kernel() {
    let figdex = server(&[]);
    let operators = figdex.operators();
    let mut clients: Vec<_> = (0..CONNECTIONS).map(|_| narrow(figdex.address())).collect();
    for client in &mut clients {
        client.write_all(SCHEMA.as_bytes()).unwrap();
    }
    // No client reads, and each is answered: the server may close the first connections before the
    // last one is served.
    let start = Instant::now();
    while kept_by_the_kernel(figdex.address().port()).is_empty() {
        assert!(start.elapsed() < PATIENCE, "the answers do not come");
        std::thread::sleep(Duration::from_millis(10));
    }
    figdex.assert_serves();
    assert_free(operators, "one answer each");
    assert_nothing_kept(figdex.address().port(), "one answer each");
    drop(clients);

    // Connections that ended in order are only the kernel's, which gives them up too.
    let mut clients: Vec<_> = (0..CONNECTIONS).map(|_| narrow(figdex.address())).collect();
    for client in &mut clients {
        let closing = SCHEMA.replace("Host: x\r\n", "Host: x\r\nConnection: close\r\n");
        client.write_all(closing.as_bytes()).unwrap();
    }
    figdex.assert_serves();
    assert_free(operators, "one last answer each");
    assert_nothing_kept(figdex.address().port(), "one last answer each");
    drop(clients);
    figdex.stop();
}

/// The kernel's memory for a client has a bound, however much the client asks for.
#[test]
fn the_kernel_keeps_little() {
    let bounds = ["--no-limits", "--head-timeout", "5m", "--idle-timeout", "5m"];
    let figdex = Process::of_one(&bounds);
    let clients: Vec<_> = (0..CONNECTIONS)
        .map(|_| {
            let mut client = narrow(figdex.address());
            client.set_write_timeout(Some(Duration::from_millis(200))).unwrap();
            // Some answers are read, which lets the kernel's buffers grow.
            client.write_all(SCHEMA.repeat(40).as_bytes()).unwrap();
            let mut left = 1 << 19;
            let mut read = vec![0; 64 << 10];
            while left > 0 {
                left -= client.read(&mut read).unwrap().min(left);
            }
            fill(&mut client, SCHEMA);
            client
        })
        .collect();
    figdex.assert_serves();
    // Waits until the server writes nothing more.
    let (start, mut kept) = (Instant::now(), Vec::new());
    loop {
        let now = kept_by_the_kernel(figdex.address().port());
        if now.len() == CONNECTIONS && now == kept {
            break;
        }
        assert!(start.elapsed() < PATIENCE, "{now:?}");
        kept = now;
        std::thread::sleep(Duration::from_secs(1));
    }
    assert!(kept.iter().all(|bytes| *bytes <= KERNEL_BYTES_MAX), "{kept:?}");
    drop(clients);
    figdex.stop();
}
