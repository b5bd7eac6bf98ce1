//! One connection to the server, over a pair of sockets and by a clock that runs ahead: what
//! a client sends goes through hyper and the deadlines of `serve` as it does over TCP.

use std::io;
use std::sync::LazyLock;
use std::time::Duration;

use figdex::{ConnectionBounds, serve_connection};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::server;

/// The longest that any connection may live: an hour on a clock that runs ahead, far beyond
/// all deadlines of all the requests that an input may hold.
const LIFE_MAX: Duration = Duration::from_secs(3_600);

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    let mut builder = Builder::new_current_thread();
    builder.enable_all().start_paused(true).build().expect("a runtime")
});

/// The ways of a client, beside the bytes that it sends.
#[derive(Clone, Copy, Debug)]
pub struct Ways {
    /// Bytes that it sends at a time, in turn; 0 is all that are left.
    pub piece_bytes: [u8; 2],
    /// Whether it shuts its writing side after the last byte.
    pub shuts: bool,
    /// Whether it reads nothing before all is sent.
    pub reads_late: bool,
    /// Whether it never reads until the server has ended the connection.
    pub reads_never: bool,
    /// The piece before which the server is told to stop, if it is.
    pub stops_before: Option<usize>,
}

/// The answers that a client was sent until the connection ended.
///
/// # Panics
/// When the connection does not end.
pub fn converse(bytes: &[u8], ways: Ways) -> Vec<u8> {
    RUNTIME.block_on(async {
        let (client, socket) = UnixStream::pair().expect("a pair of sockets");
        let (stop, stopped) = oneshot::channel::<()>();
        let served = serve_connection(
            socket,
            server::service(),
            server::observer(),
            ConnectionBounds::DEFAULT,
            async {
                if stopped.await.is_err() {
                    std::future::pending::<()>().await;
                }
            },
        );
        let (read, write) = client.into_split();
        let (sent, all_sent) = oneshot::channel();
        let ended = async {
            timeout(LIFE_MAX, served).await.expect("the connection does not end");
        };
        // Only one that never reads waits for the end before it does.
        let (end, has_ended) = oneshot::channel();
        let served = async {
            ended.await;
            end.send(()).ok();
        };
        let reading = async {
            if ways.reads_never {
                has_ended.await.ok();
            } else if ways.reads_late {
                all_sent.await.ok();
            }
            read_to_end(read).await
        };
        let sending = async {
            let write = send(bytes, ways, write, stop).await;
            sent.send(()).ok();
            write
        };
        let (read, _open, ()) = tokio::join!(reading, sending, served);
        read
    })
}

/// Sends all bytes, unless the server ends the connection before. The writing side is
/// returned, so that it stays open where it is not shut.
async fn send(
    bytes: &[u8],
    ways: Ways,
    mut write: OwnedWriteHalf,
    stop: oneshot::Sender<()>,
) -> Option<(OwnedWriteHalf, Option<oneshot::Sender<()>>)> {
    let mut stop = Some(stop);
    let (mut left, mut number) = (bytes, 0);
    loop {
        if ways.stops_before == Some(number) {
            stop.take().map(|stop| stop.send(()));
        }
        if left.is_empty() {
            break;
        }
        let piece_bytes = usize::from(ways.piece_bytes[number % 2]);
        let piece_bytes = if piece_bytes == 0 { left.len() } else { piece_bytes.min(left.len()) };
        let (piece, rest) = left.split_at(piece_bytes);
        if write.write_all(piece).await.is_err() {
            break;
        }
        // The server sees this piece before the next one.
        tokio::task::yield_now().await;
        (left, number) = (rest, number + 1);
    }
    if ways.shuts {
        write.shutdown().await.ok();
    }
    Some((write, stop))
}

async fn read_to_end(mut read: OwnedReadHalf) -> Vec<u8> {
    let mut answers = Vec::new();
    // A connection that is cut off ends in an error, after what was sent before.
    let _: io::Result<usize> = read.read_to_end(&mut answers).await;
    answers
}

/// An answer, as it was framed.
pub struct Framed<'a> {
    /// The status.
    pub status: u16,
    /// The body; shorter than its head says only where the connection was cut off.
    pub body: &'a [u8],
    /// Whether all of the body is there, or there is none.
    pub is_whole: bool,
}

/// The answers, each a status line, headers and a body of the length that they say.
///
/// # Panics
/// When there is anything else.
pub fn framed(mut bytes: &[u8]) -> Vec<Framed<'_>> {
    let mut answers = Vec::new();
    while !bytes.is_empty() {
        let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(400)]);
        let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") else {
            // Cut off in a head.
            answers.push(Framed { status: 0, body: bytes, is_whole: false });
            break;
        };
        let (head, rest) = (&bytes[..end], &bytes[end + 4..]);
        let head = str::from_utf8(head).unwrap_or_else(|_| panic!("a head in no UTF-8: {shown}"));
        let mut lines = head.split("\r\n");
        let line = lines.next().expect("a text has a first line");
        let version = ["HTTP/1.1 ", "HTTP/1.0 "].iter().find_map(|name| line.strip_prefix(name));
        let (status, reason) = version
            .and_then(|rest| rest.split_once(' '))
            .unwrap_or_else(|| panic!("no status line: {shown}"));
        let status: u16 = status.parse().unwrap_or_else(|_| panic!("no status: {shown}"));
        assert!((100..600).contains(&status) && !reason.is_empty(), "{shown}");
        let mut length = None;
        for header in lines {
            let (name, value) =
                header.split_once(": ").unwrap_or_else(|| panic!("no header: {header:?} {shown}"));
            let is_token =
                |byte: u8| byte.is_ascii_lowercase() || byte == b'-' || byte.is_ascii_digit();
            assert!(!name.is_empty() && name.bytes().all(is_token), "{header:?} {shown}");
            assert_ne!(name, "transfer-encoding", "every length is known: {shown}");
            if name == "content-length" {
                let value: usize = value.parse().unwrap_or_else(|_| panic!("no length: {shown}"));
                assert_eq!(length.replace(value), None, "two lengths: {shown}");
            }
        }
        let has_none = (100..200).contains(&status) || matches!(status, 204 | 304);
        let length = match length {
            // To HEAD the head says how long the answer to GET is.
            _ if rest.starts_with(b"HTTP/1.") || has_none => 0,
            Some(length) => length,
            None => panic!("no length: {shown}"),
        };
        let body = &rest[..length.min(rest.len())];
        let is_whole = body.len() == length;
        answers.push(Framed { status, body, is_whole });
        bytes = &rest[body.len()..];
    }
    answers
}
