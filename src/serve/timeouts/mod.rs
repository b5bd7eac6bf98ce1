//! The pace of a connection, from which follows when it is too slow.
//!
//! At every moment a connection is in one of these states, and each has a deadline:
//!
//! | state | deadline |
//! |---|---|
//! | the handshake of TLS, and the first head | `head_timeout` after the connection began |
//! | a later head | `head_timeout` after its first byte |
//! | a request is answered: its body is read (which `call` bounds too), it waits for a turn, the answer is made | `answer_timeout` after the last byte: then the answer is 503 |
//! | the client owes a read: an answer is made, or any bytes are written (a `100 Continue`, a record of TLS, the end), and the kernel has not taken all of them | `idle_timeout` after the last byte, and at `answer_bytes_per_second` at the latest |
//! | none of these: it is idle | `idle_timeout` after the last byte |
//!
//! Whether the client owes a read is looked at before whether a request is answered: hyper
//! reads the next head while an answer is unread, but does not begin to answer it.
//!
//! The pace is a few relaxed stores at each turn, and is looked at only when time may be up:
//! no timer is set and unset for each request.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, ReadBuf};
use tokio::time::Instant;

use super::bounds::ConnectionBounds;

/// The pace of one connection. Times are milliseconds since its beginning.
pub(super) struct Pace {
    began: Instant,
    /// When a byte was last read or written.
    moved: AtomicU64,
    /// When the current head began, and 1 more; 0 when none is being read.
    head: AtomicU64,
    /// A request was begun, and its answer is not made.
    is_answering: AtomicBool,
    /// The answer takes too long, so that it becomes a 503.
    is_overdue: AtomicBool,
    has_asked: AtomicBool,
    /// Bytes of bodies of answers that are made and that the kernel has not taken, at least.
    unwritten: AtomicU64,
    /// A write is waiting for the client to read.
    is_blocked: AtomicBool,
    /// When the client began to owe a read.
    owed_since: AtomicU64,
    /// Bytes of bodies of answers that were made since.
    owed_bytes: AtomicU64,
}

/// The next thing that is due on a connection.
enum Due {
    /// To look again after this time.
    Look(Duration),
    /// To answer the request with a 503.
    Answer,
    /// To end the connection.
    End,
}

impl Pace {
    /// A connection that just began: its first head is awaited.
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self {
            began: Instant::now(),
            moved: AtomicU64::new(0),
            head: AtomicU64::new(1),
            is_answering: AtomicBool::new(false),
            is_overdue: AtomicBool::new(false),
            has_asked: AtomicBool::new(false),
            unwritten: AtomicU64::new(0),
            is_blocked: AtomicBool::new(false),
            owed_since: AtomicU64::new(0),
            owed_bytes: AtomicU64::new(0),
        })
    }

    /// A whole head was read, and its request is about to be answered. To be called when
    /// the answer is first polled: while answers are unread hyper does not poll it.
    pub(super) fn begin_answer(&self) {
        self.has_asked.store(true, Relaxed);
        self.is_answering.store(true, Relaxed);
        self.head.store(0, Relaxed);
    }

    /// An answer is made, with this many bytes to be written after its head. A client that
    /// owes a read already gets only the time for these bytes more.
    pub(super) fn end_answer(&self, bytes: u64) {
        if !self.is_owed() {
            let now = self.now();
            self.begin_to_owe(now);
            self.moved.store(now, Relaxed);
        }
        self.owed_bytes.store(self.owed_bytes.load(Relaxed) + bytes, Relaxed);
        self.unwritten.store(self.unwritten.load(Relaxed) + bytes, Relaxed);
        self.is_answering.store(false, Relaxed);
        self.is_overdue.store(false, Relaxed);
    }

    /// Whether it ever brought a whole head.
    pub(super) fn has_asked(&self) -> bool {
        self.has_asked.load(Relaxed)
    }

    /// Whether the current answer takes too long.
    pub(super) fn is_overdue(&self) -> bool {
        self.is_overdue.load(Relaxed)
    }

    /// Whether answers are made, or bytes written, that the kernel has not taken: then the
    /// client does not read.
    pub(super) fn is_owed(&self) -> bool {
        self.unwritten.load(Relaxed) > 0 || self.is_blocked.load(Relaxed)
    }

    /// Waits until the connection is too slow. A state that began meanwhile is noticed by
    /// looking again, so that it may take a quarter of `head_timeout` more.
    pub(super) async fn too_slow(&self, bounds: &ConnectionBounds) {
        loop {
            match self.due(bounds) {
                Due::Look(left) => tokio::time::sleep(left.min(bounds.head_timeout / 4)).await,
                Due::Answer => {
                    self.is_overdue.store(true, Relaxed);
                    // The task is polled again, and with it the answer.
                    tokio::task::yield_now().await;
                }
                Due::End => return,
            }
        }
    }

    fn due(&self, bounds: &ConnectionBounds) -> Due {
        let ConnectionBounds { head_timeout, idle_timeout, answer_timeout, .. } = *bounds;
        let now = self.now();
        let since = |moment: u64| Duration::from_millis(now.saturating_sub(moment));
        let silent = since(self.moved.load(Relaxed));
        let is_owed = self.is_owed();
        if self.is_answering.load(Relaxed) && !is_owed {
            return match answer_timeout.saturating_sub(silent) {
                Duration::ZERO if self.is_overdue() => Due::End,
                Duration::ZERO => Due::Answer,
                left => Due::Look(left),
            };
        }
        let mut left = idle_timeout.saturating_sub(silent);
        if is_owed {
            let millis = self.owed_bytes.load(Relaxed) * 1_000 / bounds.answer_bytes_per_second;
            let allowed = idle_timeout + Duration::from_millis(millis);
            left = left.min(allowed.saturating_sub(since(self.owed_since.load(Relaxed))));
        }
        // The handshake of TLS has both: a head that is awaited, and bytes that are written.
        if let Some(head) = self.head.load(Relaxed).checked_sub(1) {
            left = left.min(head_timeout.saturating_sub(since(head)));
        }
        if left.is_zero() { Due::End } else { Due::Look(left) }
    }

    fn begin_to_owe(&self, now: u64) {
        self.owed_since.store(now, Relaxed);
        self.owed_bytes.store(0, Relaxed);
    }

    fn read(&self) {
        let now = self.now();
        self.moved.store(now, Relaxed);
        // Bytes that come before the answer is written wait for that to be read as a head.
        let is_next = !self.is_answering.load(Relaxed) && !self.is_owed();
        if is_next && self.head.load(Relaxed) == 0 {
            self.head.store(now + 1, Relaxed);
        }
    }

    fn wrote(&self, bytes: usize) {
        self.moved.store(self.now(), Relaxed);
        let unwritten = self.unwritten.load(Relaxed);
        if unwritten > 0 {
            self.unwritten.store(unwritten.saturating_sub(bytes as u64), Relaxed);
        }
    }

    /// The kernel takes nothing more for now.
    fn blocked(&self) {
        if !self.is_owed() {
            self.begin_to_owe(self.now());
        }
        self.is_blocked.store(true, Relaxed);
    }

    /// The kernel has taken all that it was given. (It may not have been given all of an
    /// answer: `unwritten` knows.)
    fn flushed(&self) {
        if self.is_blocked.load(Relaxed) {
            self.is_blocked.store(false, Relaxed);
        }
    }

    fn now(&self) -> u64 {
        self.began.elapsed().as_millis() as u64
    }
}

/// A stream that reports its pace.
pub(super) struct Paced<S> {
    stream: S,
    pace: Arc<Pace>,
    /// The first byte, while nobody has asked for it.
    ahead: Option<u8>,
}

impl<S> Paced<S> {
    pub(super) fn new(stream: S, pace: Arc<Pace>) -> Self {
        Self { stream, pace, ahead: None }
    }

    /// Reports the outcome of a write.
    fn report(&self, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        match &written {
            Poll::Ready(Ok(bytes)) => self.pace.wrote(*bytes),
            Poll::Ready(Err(_)) => {}
            Poll::Pending => self.pace.blocked(),
        }
        written
    }
}

impl<S: AsyncRead + Unpin> Paced<S> {
    /// Waits for the first byte, with no more room than for it: to ask whether there
    /// is anything to read would not do, since a new socket is taken for readable
    /// until somebody has tried.
    pub(super) async fn begin(&mut self) -> io::Result<()> {
        self.ahead = Some(self.read_u8().await?);
        Ok(())
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Paced<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        if let Some(byte) = self.ahead.take_if(|_| buffer.remaining() > 0) {
            buffer.put_slice(&[byte]);
        }
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        if buffer.filled().len() > before {
            self.pace.read();
            // The next read meets whatever else this one has met.
            return Poll::Ready(Ok(()));
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Paced<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.report(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.report(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = ready!(Pin::new(&mut self.stream).poll_flush(context));
        self.pace.flushed();
        Poll::Ready(flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests;
