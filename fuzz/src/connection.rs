//! One connection to the server, over a pair of sockets. The bytes of the client pass through
//! hyper and the deadlines of `serve` as over TCP, but on a clock that jumps ahead when both
//! sides wait.

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

/// The longest life of a connection: more than all deadlines of all requests of an input. It
/// passes at once, on a clock that jumps ahead.
const LIFE_MAX: Duration = Duration::from_secs(3_600);

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    let mut builder = Builder::new_current_thread();
    builder.enable_all().start_paused(true).build().expect("a runtime")
});

/// The way in which a client sends its bytes and reads the answers.
#[derive(Clone, Copy, Debug)]
pub struct Behaviour {
    /// Sizes of the pieces that it sends, in turn; 0 stands for all bytes that are left.
    pub piece_bytes: [u8; 2],
    /// Whether it closes its writing side after the last byte.
    pub shuts: bool,
    /// Whether it starts to read only after the last byte.
    pub reads_late: bool,
    /// Whether it starts to read only when the server has ended the connection.
    pub reads_never: bool,
    /// The number of the piece before which the server is asked to stop, from 0; `None` when
    /// it is not asked.
    pub stops_before: Option<usize>,
}

/// Sends the bytes and returns the answers, until the connection ends.
///
/// # Panics
/// When the connection does not end.
pub fn exchange(bytes: &[u8], behaviour: Behaviour) -> Vec<u8> {
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
        // For a client that starts to read only then.
        let (end, has_ended) = oneshot::channel();
        let served = async {
            timeout(LIFE_MAX, served).await.expect("the connection does not end");
            end.send(()).ok();
        };
        let reading = async {
            if behaviour.reads_never {
                has_ended.await.ok();
            } else if behaviour.reads_late {
                all_sent.await.ok();
            }
            read_to_end(read).await
        };
        let sending = async {
            let write = send(bytes, behaviour, write, stop).await;
            sent.send(()).ok();
            write
        };
        let (read, _open, ()) = tokio::join!(reading, sending, served);
        read
    })
}

/// Sends all bytes, unless the server ends the connection first. Returns the writing side,
/// because dropping it would close it.
async fn send(
    bytes: &[u8],
    behaviour: Behaviour,
    mut write: OwnedWriteHalf,
    stop: oneshot::Sender<()>,
) -> OwnedWriteHalf {
    let mut stop = Some(stop);
    let (mut left, mut number) = (bytes, 0);
    loop {
        if behaviour.stops_before == Some(number) {
            stop.take().map(|stop| stop.send(()));
        }
        if left.is_empty() {
            break;
        }
        let piece_bytes = usize::from(behaviour.piece_bytes[number % 2]);
        let piece_bytes = if piece_bytes == 0 { left.len() } else { piece_bytes.min(left.len()) };
        let (piece, rest) = left.split_at(piece_bytes);
        if write.write_all(piece).await.is_err() {
            break;
        }
        // The server sees this piece before the next one.
        tokio::task::yield_now().await;
        (left, number) = (rest, number + 1);
    }
    if behaviour.shuts {
        write.shutdown().await.ok();
    }
    write
}

async fn read_to_end(mut read: OwnedReadHalf) -> Vec<u8> {
    let mut answers = Vec::new();
    // A connection that is cut off ends in an error, after the bytes that did arrive.
    let _: io::Result<usize> = read.read_to_end(&mut answers).await;
    answers
}

/// One answer of a connection.
pub struct FramedAnswer<'a> {
    /// The status; 0 when the connection was cut off within the head.
    pub status: u16,
    /// The body, shorter than its declared length when the connection was cut off.
    pub body: &'a [u8],
    /// Whether the body has its declared length.
    pub is_whole: bool,
}

/// Splits the bytes of a connection into answers: status line, headers, and a body of the
/// declared length.
///
/// # Panics
/// When the bytes are anything else.
pub fn split_answers(mut bytes: &[u8]) -> Vec<FramedAnswer<'_>> {
    let mut answers = Vec::new();
    while !bytes.is_empty() {
        let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(400)]);
        let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") else {
            // Cut off within a head.
            answers.push(FramedAnswer { status: 0, body: bytes, is_whole: false });
            break;
        };
        let (head, rest) = (&bytes[..end], &bytes[end + 4..]);
        let head =
            str::from_utf8(head).unwrap_or_else(|_| panic!("a head that is not UTF-8: {shown}"));
        let mut lines = head.split("\r\n");
        let line = lines.next().expect("a text has a first line");
        let version = ["HTTP/1.1 ", "HTTP/1.0 "].iter().find_map(|name| line.strip_prefix(name));
        let (status, reason) = version
            .and_then(|rest| rest.split_once(' '))
            .unwrap_or_else(|| panic!("invalid status line: {shown}"));
        let status: u16 = status.parse().unwrap_or_else(|_| panic!("invalid status: {shown}"));
        assert!((100..600).contains(&status) && !reason.is_empty(), "{shown}");
        let mut length = None;
        for header in lines {
            let (name, value) = header
                .split_once(": ")
                .unwrap_or_else(|| panic!("invalid header: {header:?} {shown}"));
            let is_token =
                |byte: u8| byte.is_ascii_lowercase() || byte == b'-' || byte.is_ascii_digit();
            assert!(!name.is_empty() && name.bytes().all(is_token), "{header:?} {shown}");
            assert_ne!(name, "transfer-encoding", "every answer has a known length: {shown}");
            if name == "content-length" {
                let value: usize =
                    value.parse().unwrap_or_else(|_| panic!("invalid length: {shown}"));
                assert_eq!(length.replace(value), None, "two lengths: {shown}");
            }
        }
        let has_none = (100..200).contains(&status) || matches!(status, 204 | 304);
        let length = match length {
            // An answer to HEAD declares the length of the answer to GET.
            _ if rest.starts_with(b"HTTP/1.") || has_none => 0,
            Some(length) => length,
            None => panic!("no length: {shown}"),
        };
        let body = &rest[..length.min(rest.len())];
        let is_whole = body.len() == length;
        answers.push(FramedAnswer { status, body, is_whole });
        bytes = &rest[body.len()..];
    }
    answers
}
