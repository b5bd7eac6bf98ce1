//! After SIGTERM the server accepts nothing more, answers the requests in flight and ends within
//! the drain time and a second, whatever clients do.

use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use figdex::ConnectionBounds;
use warp::Filter as _;
use warp::reply::Response;

use super::unread::{EXPECTING, SCHEMA, fill, kept_by_the_kernel, narrow};
use crate::support::listening::serving_service;
use crate::support::process::{PATIENCE, Process, REQUEST, get};

/// The drain time of the program.
const DRAIN_TIMEOUT: Duration = ConnectionBounds::DEFAULT.drain_timeout;

/// Unsent bytes of a client that does not read.
const STUCK_BYTES: u64 = 64 << 10;

/// Clients that are idle, that sent only a part of a request, or that never read do not delay the
/// end: the server ends before the drain time is over, and does not have to cut off a request.
#[test]
fn idle_and_stuck_clients_do_not_hold_the_end_up() {
    let figdex = Process::of_one(&["--no-limits", "--body-timeout", "2s"]);
    let keep = REQUEST.replace("Connection: close\r\n", "");
    let mut clients = Vec::new();
    for shuts in [false, true] {
        let middle = &keep[..keep.len() - 10];
        for sent in ["", "GET /sch", &keep, middle, &format!("{keep}GET /sch")] {
            let mut client = figdex.connect();
            client.write_all(sent.as_bytes()).unwrap();
            if shuts {
                client.shutdown(Shutdown::Write).unwrap();
            }
            clients.push(client);
        }
        for request in [SCHEMA, EXPECTING] {
            let mut client = narrow(figdex.address());
            client.set_write_timeout(Some(Duration::from_millis(100))).unwrap();
            fill(&mut client, request);
            if shuts {
                client.shutdown(Shutdown::Write).unwrap();
            }
            clients.push(client);
        }
    }
    figdex.assert_serves();
    // Waits until nothing more is answered: the four clients that never read are stuck.
    let start = Instant::now();
    let mut before = Vec::new();
    loop {
        let kept = kept_by_the_kernel(figdex.address().port());
        if kept == before && kept.iter().filter(|bytes| **bytes > STUCK_BYTES).count() >= 4 {
            break;
        }
        assert!(start.elapsed() < PATIENCE, "they are answered for ever");
        before = kept;
        std::thread::sleep(Duration::from_secs(1));
    }
    figdex.signal("-TERM");
    let start = Instant::now();
    let log = figdex.ended();
    let took = start.elapsed();
    assert!(took < DRAIN_TIMEOUT, "{took:?}\n{log}");
    assert!(!log.contains("cut off"), "{log}");
    drop(clients);
}

/// Requests whose work never ends, and endless bodies, are cut off when the drain time is up.
#[test]
fn the_drain_time_ends() {
    let connections =
        ConnectionBounds { drain_timeout: Duration::from_secs(2), ..ConnectionBounds::default() };
    let never = warp::path("never").then(|| async { std::future::pending::<Response>().await });
    let blocked = warp::path("blocked").then(|| async {
        let work = tokio::task::spawn_blocking(|| std::thread::sleep(PATIENCE));
        work.await.map(|()| Response::default()).unwrap()
    });
    let reading = warp::path("reading").and(warp::body::bytes()).map(|_| Response::default());
    let service = never.or(blocked).unify().or(reading).unify().boxed();
    let mut clients = Vec::new();
    let mut stopped = Instant::now();
    serving_service(service, connections, |address: SocketAddr, stop| {
        for request in [
            "GET /never HTTP/1.1\r\nHost: x\r\n\r\n",
            "GET /blocked HTTP/1.1\r\nHost: x\r\n\r\n",
            "POST /reading HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\nx",
            "POST /reading HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n",
        ] {
            for shuts in [false, true] {
                let mut client = TcpStream::connect(address).unwrap();
                client.set_read_timeout(Some(PATIENCE)).unwrap();
                client.write_all(request.as_bytes()).unwrap();
                if shuts && request.starts_with("GET") {
                    client.shutdown(Shutdown::Write).unwrap();
                }
                clients.push(client);
            }
        }
        std::thread::sleep(Duration::from_millis(200));
        stop.send(()).unwrap();
        stopped = Instant::now();
    });
    let took = stopped.elapsed();
    assert!(took >= connections.drain_timeout, "they were waited for: {took:?}");
    assert!(took < connections.drain_timeout + Duration::from_secs(1), "{took:?}");
    for client in &mut clients {
        // The answer is cut off; it does not end as if it were complete.
        assert!(client.read(&mut [0; 64]).is_err(), "an end looks like one in order");
    }
}

/// 16.8: from the signal on the server is not ready, and each answer closes its connection; for the
/// time of `--drain-wait` it still accepts connections and answers.
#[test]
fn a_balancer_has_time_to_leave() {
    let figdex = Process::of_one(&["--no-limits", "--drain-wait", "3s", "--drain-timeout", "5s"]);
    let address = figdex.address();
    let keep = REQUEST.replace("Connection: close\r\n", "");
    let mut kept = BufReader::new(figdex.connect());
    let mut ask = || {
        kept.get_mut().write_all(keep.as_bytes()).unwrap();
        read_answer(&mut kept)
    };
    let before = ask();
    assert!(
        before.starts_with("HTTP/1.1 200") && !before.contains("connection: close"),
        "{before}"
    );
    assert_eq!(get(address, "/readyz").0, 200);
    figdex.signal("-TERM");
    let start = Instant::now();
    while get(address, "/readyz").0 == 200 {
        assert!(start.elapsed() < Duration::from_secs(2), "it is still ready");
    }
    let (status, ready) = get(address, "/readyz");
    assert_eq!((status, ready["status"].as_str()), (503, Some("stopping")));
    let after = ask();
    assert!(after.starts_with("HTTP/1.1 200") && after.contains("connection: close"), "{after}");
    assert_eq!(get(address, "/healthz").0, 200, "a new connection is answered");
    while TcpStream::connect(address).is_ok() {
        std::thread::sleep(Duration::from_millis(20));
        assert!(start.elapsed() < PATIENCE, "it accepts for ever");
    }
    assert!(start.elapsed() > Duration::from_millis(2_900), "{:?}", start.elapsed());
    figdex.ended();
}

/// The head and the body of one answer with a length.
fn read_answer(stream: &mut impl BufRead) -> String {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert_ne!(stream.read_line(&mut head).unwrap(), 0, "{head}");
    }
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    let mut body = vec![0; length.unwrap().parse().unwrap()];
    stream.read_exact(&mut body).unwrap();
    head
}
