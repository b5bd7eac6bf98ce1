//! Over real TCP: chunked bodies, the trailing slash, odd clients, and a clean stop.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};

use tokio::sync::oneshot;

use crate::support::Server;

/// Serves on a free port while `test` runs, then stops and waits for the end.
fn serving(test: impl FnOnce(SocketAddr)) {
    let server = Server::of_dump("figi,ticker\nBBG000BLNNH6,IBM\n");
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = oneshot::channel::<()>();
    let serving = runtime.spawn(figdex::serve(listener, server.service.clone(), async {
        stopped.await.unwrap();
    }));
    test(address);
    stop.send(()).unwrap();
    runtime.block_on(serving).unwrap();
    assert!(TcpStream::connect(address).is_err(), "nothing is accepted any more");
}

/// Sends bytes and reads until the server closes.
fn exchange(address: SocketAddr, request: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

const HEAD: &str = "POST /v3/mapping HTTP/1.1\r\nHost: elsewhere.example\r\nConnection: close\r\n\
                    Content-Type: application/json\r\n";

const JOB: &str = r#"[{"idType":"TICKER","idValue":"IBM"}]"#;

/// Decisions, "oddities that existing clients send".
#[test]
fn odd_clients_are_answered_as_usual() {
    serving(|address| {
        let length = JOB.len();
        let plain = format!("{HEAD}Content-Length: {length}\r\n\r\n{JOB}");
        let (first, second) = JOB.split_at(9);
        let chunked = format!(
            "{HEAD}Transfer-Encoding: chunked\r\n\r\n{:x}\r\n{first}\r\n{:x}\r\n{second}\r\n0\r\n\r\n",
            first.len(),
            second.len()
        );
        let slash = plain.replace("/mapping ", "/mapping/ ");
        let upgrade = plain.replace("\r\n\r\n", "\r\nUpgrade: h2c\r\n\r\n");
        for request in [&plain, &chunked, &slash, &upgrade] {
            let answer = exchange(address, request);
            assert!(answer.starts_with("HTTP/1.1 200 OK"), "{request}\n{answer}");
            assert!(answer.contains("BBG000BLNNH6"), "{answer}");
            assert!(answer.contains("application/json; charset=utf-8"), "{answer}");
        }
    });
}

#[test]
fn a_body_that_breaks_off_hurts_nobody() {
    serving(|address| {
        let mut half = TcpStream::connect(address).unwrap();
        half.write_all(format!("{HEAD}Content-Length: 100\r\n\r\n[").as_bytes()).unwrap();
        drop(half);
        let garbage = exchange(address, "\u{1}\u{2}\r\n\r\n");
        assert!(garbage.starts_with("HTTP/1.1 400"), "{garbage}");
        let length = JOB.len();
        let answer = exchange(address, &format!("{HEAD}Content-Length: {length}\r\n\r\n{JOB}"));
        assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
    });
}
