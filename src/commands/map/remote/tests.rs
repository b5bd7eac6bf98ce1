//! Hostile servers: none holds the command for longer than its patience.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use super::client::{Client, Reply};
use super::patience::Bounds;
use crate::config::map::Url;

/// The bounds of these tests, which would not end with those of the command.
const BOUNDS: Bounds = Bounds {
    without_progress: Duration::from_millis(1_500),
    per_identifier: Duration::ZERO,
    silence: Duration::from_millis(200),
    bytes_min: 100,
};

/// A server that answers each request by writing to its connection, and counts the requests. With
/// an error it closes the connection.
fn server(
    answer: impl Fn(usize, &mut TcpStream) -> std::io::Result<()> + Send + 'static,
) -> (Client, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = Url(format!("http://{}", listener.local_addr().unwrap()));
    let requests = Arc::new(AtomicUsize::new(0));
    let counted = requests.clone();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = BufReader::new(stream.unwrap());
            while is_asked(&mut stream) {
                let number = counted.fetch_add(1, Ordering::SeqCst);
                if answer(number, stream.get_mut()).is_err() {
                    break;
                }
            }
        }
    });
    (Client::new(&url, None, None, BOUNDS).unwrap(), requests)
}

/// Reads a request with a body of two bytes. `false` at the end of the connection.
fn is_asked(stream: &mut BufReader<TcpStream>) -> bool {
    let mut line = String::new();
    while stream.read_line(&mut line).is_ok_and(|bytes| bytes > 0) {
        if line.trim().is_empty() {
            return stream.read_exact(&mut [0; 2]).is_ok();
        }
        line.clear();
    }
    false
}

/// Writes a byte now and then, until nobody reads.
fn trickle(stream: &mut TcpStream, byte: u8) -> std::io::Result<()> {
    loop {
        stream.write_all(&[byte])?;
        thread::sleep(Duration::from_millis(20));
    }
}

fn error(client: &mut Client) -> String {
    let reply = client.post("/resolve", b"{}");
    reply.err().expect("the server never answers").to_string()
}

#[test]
fn a_server_that_only_asks_to_wait_is_given_up() {
    let (mut client, requests) = server(|_, stream| {
        stream.write_all(b"HTTP/1.1 429 Wait\r\nretry-after: 1\r\ncontent-length: 0\r\n\r\n")
    });
    let error = error(&mut client);
    assert!(error.contains("it is too slow: 0 identifiers were answered in "), "{error}");
    assert_eq!(requests.load(Ordering::SeqCst), 2);
}

/// A wait that would not end within the patience is not begun.
#[test]
fn an_answer_may_not_block_the_next_request_for_long() {
    let (mut client, requests) = server(|_, stream| {
        stream.write_all(
            b"HTTP/1.1 200 OK\r\nratelimit-limit: 1\r\nratelimit-remaining: 0\r\n\
              ratelimit-reset: 18446744073709551615\r\ncontent-length: 2\r\n\r\n{}",
        )
    });
    assert!(matches!(client.post("/resolve", b"{}").unwrap(), Reply::Answer { .. }));
    let error = error(&mut client);
    assert!(error.contains("it is too slow: "), "{error}");
    assert_eq!(requests.load(Ordering::SeqCst), 1);
}

/// A byte now and then keeps no part of an answer open.
#[test]
fn an_answer_has_a_least_rate() {
    const CASES: [(&[u8], &str); 3] = [
        (b"HTTP/1.1 200 OK\r\nx: ", "nothing came for "),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n", "its answer is too slow: "),
        // The extension of a chunk never ends, and brings no byte of the answer.
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5;", "it is too slow: "),
    ];
    for (head, expected) in CASES {
        let (mut client, _) = server(move |_, stream| {
            stream.write_all(head)?;
            trickle(stream, b'x')
        });
        let error = error(&mut client);
        assert!(error.contains(expected), "{expected}: {error}");
    }
}

/// After one answer a server is asked again when it fails, within the same patience.
#[test]
fn asking_again_takes_patience_too() {
    let (mut client, requests) = server(|number, stream| match number {
        0 => stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"),
        _ => stream.write_all(b"HTTP/1.1 503 Later\r\ncontent-length: 0\r\n\r\n"),
    });
    assert!(matches!(client.post("/resolve", b"{}").unwrap(), Reply::Answer { .. }));
    client.answered(7);
    let error = error(&mut client);
    assert!(error.contains("it is too slow: 7 identifiers were answered in "), "{error}");
    assert_eq!(requests.load(Ordering::SeqCst), 3);
}
