//! A cheap client: one keep-alive connection, requests as ready bytes, answers read by their length
//! into a reused buffer.
//!
//! It supports only the part of HTTP/1.1 that these servers use. Its own cost is on both sides of a
//! ratio, and moves the ratio towards 1.

use std::net::{Ipv4Addr, SocketAddr};

use anyhow::{Context as _, ensure};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};
use tokio::runtime::Runtime;

/// The initial size of a connection's buffer; larger answers make it grow.
const BUFFER_BYTES: usize = 64 << 10;

/// A connection that sends one request at a time.
pub(crate) struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

/// An answer.
pub(crate) struct Answer<'a> {
    pub(crate) status: u16,
    /// The header lines, without the status line.
    pub(crate) headers: &'a str,
    pub(crate) body: &'a [u8],
}

/// A `POST` of a JSON body, as it goes over the wire.
pub(crate) fn post(path: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "POST {path} HTTP/1.1\r\nhost: figdex\r\ncontent-type: application/json\r\n\
         content-length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

/// A `GET`, as it goes over the wire.
pub(crate) fn get(path: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nhost: figdex\r\n\r\n").into_bytes()
}

/// The same request with further lines in its head.
pub(crate) fn headed(request: &[u8], lines: &str) -> Vec<u8> {
    let line = request.windows(2).position(|bytes| bytes == b"\r\n").map_or(0, |end| end + 2);
    [&request[..line], lines.as_bytes(), &request[line..]].concat()
}

impl Connection {
    pub(crate) async fn open(address: SocketAddr) -> anyhow::Result<Self> {
        Self::over(TcpStream::connect(address).await.context("connecting to the server")?)
    }

    /// As [`Connection::open`], from an address of this machine.
    pub(crate) async fn open_from(from: Ipv4Addr, address: SocketAddr) -> anyhow::Result<Self> {
        Self::over(Self::stream_from(from, address).await?)
    }

    pub(crate) async fn stream_from(
        from: Ipv4Addr,
        address: SocketAddr,
    ) -> anyhow::Result<TcpStream> {
        let socket = TcpSocket::new_v4()?;
        socket.bind((from, 0).into()).with_context(|| format!("connecting from {from}"))?;
        socket.connect(address).await.context("connecting to the server")
    }

    fn over(stream: TcpStream) -> anyhow::Result<Self> {
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: vec![0; BUFFER_BYTES] })
    }

    /// Sends a request and reads the whole answer, whose status must be 200.
    pub(crate) async fn ask(&mut self, request: &[u8]) -> anyhow::Result<Answer<'_>> {
        let answer = self.exchange(request).await?;
        let Answer { status, body, .. } = &answer;
        ensure!(*status == 200, "the server answered {status}: {}", String::from_utf8_lossy(body));
        Ok(answer)
    }

    /// Sends a request and reads the whole answer.
    pub(crate) async fn exchange(&mut self, request: &[u8]) -> anyhow::Result<Answer<'_>> {
        self.stream.write_all(request).await.context("sending a request")?;
        let mut read = 0;
        let head = loop {
            read += self.read(read).await?;
            if let Some(head) = Head::of(&self.buffer[..read])? {
                break head;
            }
        };
        let end = head.bytes + head.body_bytes;
        if self.buffer.len() < end {
            self.buffer.resize(end, 0);
        }
        while read < end {
            read += self.read(read).await?;
        }
        ensure!(read == end, "the server sent more than an answer");
        let (lines, body) = self.buffer[..end].split_at(head.bytes);
        let (line, headers) =
            str::from_utf8(lines)?.split_once("\r\n").expect("the head has a line break");
        let status = line.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3));
        let status = status.and_then(|status| status.parse().ok());
        let status = status.with_context(|| format!("invalid status line: {line}"))?;
        Ok(Answer { status, headers, body })
    }

    async fn read(&mut self, from: usize) -> anyhow::Result<usize> {
        if from == self.buffer.len() {
            self.buffer.resize(2 * from, 0);
        }
        let read = self.stream.read(&mut self.buffer[from..]).await.context("reading an answer")?;
        ensure!(read > 0, "the server closed the connection");
        Ok(read)
    }
}

/// The lengths that follow from the head of an answer.
struct Head {
    bytes: usize,
    body_bytes: usize,
}

impl Head {
    /// Parses the head; `None` while it is incomplete.
    fn of(read: &[u8]) -> anyhow::Result<Option<Self>> {
        let Some(end) = read.windows(4).position(|bytes| bytes == b"\r\n\r\n") else {
            return Ok(None);
        };
        let head = str::from_utf8(&read[..end]).context("the head of an answer")?;
        let length = fields(head).find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
        let (_, length) = length.context("an answer without its length")?;
        Ok(Some(Self { bytes: end + 4, body_bytes: length.parse().context("content-length")? }))
    }
}

/// The fields of a head: names and values.
pub(crate) fn fields(head: &str) -> impl Iterator<Item = (&str, &str)> {
    head.split("\r\n").filter_map(|line| line.split_once(": "))
}

/// A client for code without a runtime.
pub(crate) struct BlockingClient {
    runtime: Runtime,
    connection: Connection,
}

impl BlockingClient {
    pub(crate) fn to(address: SocketAddr) -> anyhow::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let connection = runtime.block_on(Connection::open(address))?;
        Ok(Self { runtime, connection })
    }

    pub(crate) fn ask(&mut self, request: &[u8]) -> anyhow::Result<Answer<'_>> {
        self.runtime.block_on(self.connection.ask(request))
    }
}
