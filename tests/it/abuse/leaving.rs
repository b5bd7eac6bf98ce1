//! Clients that shut their side of the connection: those that still wait get their answer, and
//! those that are gone cost nothing more.

use std::io::{Read, Write as _};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use figdex::ConnectionBounds;
use rustix::net::sockopt::set_socket_linger;
use warp::Filter as _;
use warp::filters::BoxedFilter;
use warp::reply::Response;

use crate::support::certificate::Certificate;
use crate::support::listening::serving_service;
use crate::support::process::{PATIENCE, Process, REQUEST, metric, read_to_close};

/// The number of clients of each kind. None may miss its answer.
const TIMES: usize = 20;

fn keep() -> String {
    REQUEST.replace("Connection: close\r\n", "")
}

fn assert_answered(stream: &mut impl Read, name: &str) {
    let answer = read_to_close(stream);
    assert_eq!(answer.matches("HTTP/1.1 200 ").count(), 1, "{name}: {answer:?}");
    assert!(answer.ends_with("]}]") && answer.contains("BBG000BLNNH6"), "{name}: {answer:?}");
}

/// contract 2.16: a client that sends a whole request and shuts its writing side at once gets its
/// answer.
#[test]
fn half_closed_clients_are_answered() {
    let figdex = Process::of_one(&["--no-limits", "--admin-listen", "127.0.0.1:0"]);
    for request in [keep(), REQUEST.to_owned()] {
        for _ in 0..TIMES {
            let mut client = figdex.connect();
            client.write_all(request.as_bytes()).unwrap();
            client.shutdown(Shutdown::Write).unwrap();
            assert_answered(&mut client, "TCP");
        }
    }
    // All of several requests are answered, and half a request is not one.
    let mut client = figdex.connect();
    client.write_all(format!("{0}{0}{1}", keep(), &keep()[..30]).as_bytes()).unwrap();
    client.shutdown(Shutdown::Write).unwrap();
    let answer = read_to_close(&mut client);
    assert_eq!(answer.matches("HTTP/1.1 200 ").count(), 2, "{answer}");
    assert!(!answer.contains("HTTP/1.1 5"), "{answer}");
    assert_eq!(metric(figdex.operators(), "figdex_connections_timed_out_total"), 0.0);
    figdex.stop();
}

#[test]
fn half_closed_clients_of_tls_are_answered() {
    let folder = tempfile::tempdir().unwrap();
    let certificate = Certificate::new();
    let arguments = certificate.write_into(folder.path());
    let arguments = [&["--no-limits"], &arguments.each_ref().map(String::as_str)[..]].concat();
    let figdex = Process::of_one(&arguments);
    for says_so in [true, false] {
        for _ in 0..TIMES {
            let mut client = certificate.connect_over(figdex.connect());
            client.write_all(keep().as_bytes()).unwrap();
            if says_so {
                client.conn.send_close_notify();
            }
            client.flush().unwrap();
            client.sock.shutdown(Shutdown::Write).unwrap();
            assert_answered(&mut client, if says_so { "TLS" } else { "TLS, and no word of it" });
        }
    }
    figdex.stop();
}

#[test]
fn half_closed_clients_of_a_unix_socket_are_answered() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("figdex.sock");
    let listen = format!("unix:{}", socket.display());
    let figdex = Process::of_one(&["--no-limits", "--listen", &listen]);
    for _ in 0..TIMES {
        let mut client = UnixStream::connect(&socket).unwrap();
        client.set_read_timeout(Some(PATIENCE)).unwrap();
        client.write_all(keep().as_bytes()).unwrap();
        client.shutdown(Shutdown::Write).unwrap();
        assert_answered(&mut client, "Unix");
    }
    figdex.stop();
}

/// Counts the requests in progress.
struct InProgress(Arc<AtomicUsize>);

impl InProgress {
    fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Self(count.clone())
    }
}

impl Drop for InProgress {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// A service that never answers, and counts the requests in progress.
fn endless(count: &Arc<AtomicUsize>) -> BoxedFilter<(Response,)> {
    let count = count.clone();
    let answer = move || {
        let in_progress = InProgress::new(&count);
        async move {
            std::future::pending::<()>().await;
            drop(in_progress);
            Response::default()
        }
    };
    warp::any().then(answer).boxed()
}

fn wait_for(count: &AtomicUsize, expected: usize, name: &str) {
    let start = Instant::now();
    while count.load(Ordering::SeqCst) != expected {
        assert!(start.elapsed() < PATIENCE, "{name}: not {expected} requests are in progress");
        std::thread::sleep(Duration::from_millis(5));
    }
}

const GET: &str = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";

/// contract 2.16: a client that resets its connection ends its request, although the server neither
/// reads from the connection nor writes to it at that time. No timeout is shorter than the time
/// that the test waits.
#[test]
fn a_reset_ends_the_request() {
    let count = Arc::default();
    let forever = 10 * PATIENCE;
    let connections = ConnectionBounds {
        head_timeout: forever,
        idle_timeout: forever,
        answer_timeout: forever,
        ..ConnectionBounds::default()
    };
    serving_service(endless(&count), connections, |address: SocketAddr, _stop| {
        for (name, requests, is_half_closed) in [
            ("one request", 1, false),
            ("a request that others follow", 5, false),
            ("a half-closed client", 1, true),
            ("a half-closed client with several", 5, true),
        ] {
            let mut client = TcpStream::connect(address).unwrap();
            client.write_all(GET.repeat(requests).as_bytes()).unwrap();
            wait_for(&count, 1, name);
            if is_half_closed {
                client.shutdown(Shutdown::Write).unwrap();
            }
            set_socket_linger(&client, Some(Duration::ZERO)).unwrap();
            drop(client);
            wait_for(&count, 0, name);
        }
    });
}

/// contract 13.14: a client whose answer never comes gets a 503 after a while, half-closed or not;
/// the next request on the connection is answered as usual.
#[test]
fn an_answer_that_never_comes_is_a_503() {
    let count = Arc::default();
    let connections = ConnectionBounds {
        head_timeout: Duration::from_millis(400),
        answer_timeout: Duration::from_millis(500),
        ..ConnectionBounds::default()
    };
    serving_service(endless(&count), connections, |address: SocketAddr, _stop| {
        for is_half_closed in [false, true] {
            let mut client = TcpStream::connect(address).unwrap();
            client.set_read_timeout(Some(PATIENCE)).unwrap();
            let last = GET.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n");
            client.write_all(format!("{GET}{last}").as_bytes()).unwrap();
            if is_half_closed {
                client.shutdown(Shutdown::Write).unwrap();
            }
            let answers = read_to_close(&mut client);
            assert_eq!(answers.matches("HTTP/1.1 503 ").count(), 2, "{answers}");
            assert_eq!(answers.matches("Service Unavailable.").count(), 2, "{answers}");
            wait_for(&count, 0, "both are answered");
        }
    });
}
