//! After SIGTERM the server accepts nothing more, answers the requests in flight and ends, within
//! the drain time and a second, whatever clients do.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use figdex::Connections;
use warp::Filter as _;
use warp::reply::Response;

use crate::api::socket::serving_service;
use crate::process::{PATIENCE, Process, REQUEST};

/// The drain time of the program.
const DRAIN_WAIT: Duration = Connections::DEFAULT.drain_wait;

const SCHEMA: &str = "GET /schema HTTP/1.1\r\nHost: x\r\n\r\n";

/// With clients of all kinds that want nothing more, the end comes long before the drain
/// time is up, and nothing is cut off that anybody would have read.
#[test]
fn idle_and_stuck_clients_do_not_hold_the_end_up() {
    let figdex = Process::of_one(&["--no-limits", "--body-timeout", "2s"]);
    let keep = REQUEST.replace("Connection: close\r\n", "");
    let expecting =
        SCHEMA.replace("\r\n\r\n", "\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\nhello");
    let mut clients = Vec::new();
    for sent in [
        "",
        "GET /sch",
        &keep,
        &keep[..keep.len() - 10],
        &SCHEMA.repeat(1_000),
        &expecting.repeat(1_000),
        &format!("{keep}GET /sch"),
    ] {
        for shuts in [false, true] {
            let mut client = figdex.connect();
            client.set_write_timeout(Some(Duration::from_millis(100))).unwrap();
            // Those that do not read are not read to the end either.
            let _ = client.write_all(sent.as_bytes());
            if shuts {
                client.shutdown(Shutdown::Write).unwrap();
            }
            clients.push(client);
        }
    }
    figdex.assert_serves();
    figdex.signal("-TERM");
    let start = Instant::now();
    let log = figdex.ended();
    let took = start.elapsed();
    assert!(took < DRAIN_WAIT, "{took:?}\n{log}");
    assert!(!log.contains("cut off"), "{log}");
    drop(clients);
}

/// Requests whose work never ends, and bodies without end, are cut off when the time is up.
#[test]
fn the_drain_time_ends() {
    let connections = Connections { drain_wait: Duration::from_secs(2), ..Connections::default() };
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
    assert!(took >= connections.drain_wait, "they were waited for: {took:?}");
    assert!(took < connections.drain_wait + Duration::from_secs(1), "{took:?}");
    for client in &mut clients {
        // Cut off, not ended as if there were nothing more to come.
        assert!(client.read(&mut [0; 64]).is_err(), "an end looks like one in order");
    }
}
