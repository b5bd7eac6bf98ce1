//! The timeouts of a connection.
//!
//! At every moment a connection is in one of these states, and each has a deadline:
//!
//! | state | deadline |
//! |---|---|
//! | the TLS handshake, and the first head | `head_timeout` after the connection began |
//! | a later head | `head_timeout` after its first byte |
//! | a request is answered: its body is read (`gate::body` bounds that too), it waits for a turn, the answer is made | `answer_timeout` after the last byte: then the answer is 503 |
//! | unsent bytes: an answer is made, or any bytes are written (a `100 Continue`, a TLS record, the end), and the kernel has not taken all of them | `idle_timeout` after the last byte; and `idle_timeout` after the moment until which the client has kept up with `answer_bytes_per_second` |
//! | none of these: idle | `idle_timeout` after the last byte |
//!
//! A client keeps up as long as the bytes that it has taken pay for the time. Each byte pays for
//! its part of a second, and no byte pays for future time. So whatever a client read before, it
//! cannot fall behind by more than `idle_timeout`.
//!
//! The state of unsent bytes takes precedence over the state of a request being answered: while an
//! answer is unread, hyper reads the next head, but does not begin to answer it.
//!
//! The cost is a few relaxed stores for each read, write and answer. No timer is set and
//! cleared for each request: the deadline is computed only when it may have passed.

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

/// The activity of one connection, from which its deadline is computed. Times are milliseconds
/// since the connection began.
pub(super) struct Timeouts {
    began: Instant,
    /// The time when a byte was last read or written.
    last_byte: AtomicU64,
    /// The time when the current head began, plus 1; 0 while no head is being read.
    head: AtomicU64,
    /// Whether a request has begun, and its answer is not made yet.
    is_answering: AtomicBool,
    /// Whether the answer takes too long and becomes a 503.
    is_overdue: AtomicBool,
    has_had_head: AtomicBool,
    /// A lower bound of the bytes of answers' bodies that are made and not yet taken by the kernel.
    /// Heads are not counted, but their written bytes are subtracted.
    unsent: AtomicU64,
    /// Whether a write waits for the client to read.
    is_blocked: AtomicBool,
    /// The moment until which the client has kept up with its minimum rate while there were unsent
    /// bytes. It is in microseconds, since a byte pays for less than a millisecond.
    kept_up_until: AtomicU64,
    /// The minimum rate.
    bytes_per_second: u64,
}

/// The next step after a check of a connection's deadline.
enum Due {
    /// Check again after this time.
    Check(Duration),
    /// Answer the request with a 503.
    Answer,
    /// End the connection.
    End,
}

impl Timeouts {
    /// Starts with a new connection, which awaits its first head. `bytes_per_second` is the minimum
    /// rate at which the client must read.
    pub(super) fn new(bytes_per_second: u64) -> Arc<Self> {
        Arc::new(Self {
            began: Instant::now(),
            last_byte: AtomicU64::new(0),
            head: AtomicU64::new(1),
            is_answering: AtomicBool::new(false),
            is_overdue: AtomicBool::new(false),
            has_had_head: AtomicBool::new(false),
            unsent: AtomicU64::new(0),
            is_blocked: AtomicBool::new(false),
            kept_up_until: AtomicU64::new(0),
            bytes_per_second,
        })
    }

    /// Records that a whole head was read and its request is about to be answered. Call this when
    /// the answer is first polled: hyper does not poll it while answers are unread.
    pub(super) fn begin_answer(&self) {
        self.has_had_head.store(true, Relaxed);
        self.is_answering.store(true, Relaxed);
        self.head.store(0, Relaxed);
    }

    /// Records that an answer is made, with this many bytes after its head. If there are unsent
    /// bytes already, the client gains no time.
    pub(super) fn end_answer(&self, bytes: u64) {
        if !self.has_unsent() {
            self.begin_unsent();
            self.last_byte.store(self.now(), Relaxed);
        }
        self.unsent.store(self.unsent.load(Relaxed) + bytes, Relaxed);
        self.is_answering.store(false, Relaxed);
        self.is_overdue.store(false, Relaxed);
    }

    /// Whether the client has sent at least one whole head.
    pub(super) fn has_had_head(&self) -> bool {
        self.has_had_head.load(Relaxed)
    }

    /// Whether the current answer takes too long.
    pub(super) fn is_overdue(&self) -> bool {
        self.is_overdue.load(Relaxed)
    }

    /// Whether there are answers, or written bytes, that the kernel has not taken: the client does
    /// not read.
    pub(super) fn has_unsent(&self) -> bool {
        self.unsent.load(Relaxed) > 0 || self.is_blocked.load(Relaxed)
    }

    /// Waits until the connection has passed its deadline. A state that begins meanwhile is noticed
    /// only at the next check, so this may take up to a quarter of `head_timeout` longer.
    pub(super) async fn expired(&self, bounds: &ConnectionBounds) {
        loop {
            match self.due(bounds) {
                Due::Check(left) => tokio::time::sleep(left.min(bounds.head_timeout / 4)).await,
                Due::Answer => {
                    self.is_overdue.store(true, Relaxed);
                    // This task, and with it the answer, is then polled again.
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
        let silent = since(self.last_byte.load(Relaxed));
        let has_unsent = self.has_unsent();
        if self.is_answering.load(Relaxed) && !has_unsent {
            return match answer_timeout.saturating_sub(silent) {
                Duration::ZERO if self.is_overdue() => Due::End,
                Duration::ZERO => Due::Answer,
                left => Due::Check(left),
            };
        }
        let mut left = idle_timeout.saturating_sub(silent);
        if has_unsent {
            let behind = self.micros().saturating_sub(self.kept_up_until.load(Relaxed));
            left = left.min(idle_timeout.saturating_sub(Duration::from_micros(behind)));
        }
        // Both deadlines apply in a TLS handshake: a head is awaited, and bytes are written.
        if let Some(head) = self.head.load(Relaxed).checked_sub(1) {
            left = left.min(head_timeout.saturating_sub(since(head)));
        }
        if left.is_zero() { Due::End } else { Due::Check(left) }
    }

    fn begin_unsent(&self) {
        self.kept_up_until.store(self.micros(), Relaxed);
    }

    fn on_read(&self) {
        let now = self.now();
        self.last_byte.store(now, Relaxed);
        // Bytes that arrive before the answer is written do not count as a head yet.
        let is_next = !self.is_answering.load(Relaxed) && !self.has_unsent();
        if is_next && self.head.load(Relaxed) == 0 {
            self.head.store(now + 1, Relaxed);
        }
    }

    fn on_written(&self, bytes: usize) {
        self.last_byte.store(self.now(), Relaxed);
        let paid = (bytes as u64).saturating_mul(1_000_000) / self.bytes_per_second;
        let until = self.kept_up_until.load(Relaxed).saturating_add(paid);
        self.kept_up_until.store(until.min(self.micros()), Relaxed);
        let unsent = self.unsent.load(Relaxed);
        if unsent > 0 {
            self.unsent.store(unsent.saturating_sub(bytes as u64), Relaxed);
        }
    }

    /// Records that the kernel takes no more bytes for now.
    fn on_blocked(&self) {
        if !self.has_unsent() {
            self.begin_unsent();
        }
        self.is_blocked.store(true, Relaxed);
    }

    /// Records that the kernel has taken all written bytes. Parts of an answer may not have been
    /// written yet; `unsent` counts those.
    fn on_flushed(&self) {
        if self.is_blocked.load(Relaxed) {
            self.is_blocked.store(false, Relaxed);
        }
    }

    fn now(&self) -> u64 {
        self.began.elapsed().as_millis() as u64
    }

    fn micros(&self) -> u64 {
        self.began.elapsed().as_micros() as u64
    }
}

/// A stream that reports its reads and writes to the timeouts of its connection.
pub(super) struct TimedStream<S> {
    stream: S,
    timeouts: Arc<Timeouts>,
    /// The first byte, read by [`Self::begin`] and not yet returned by a read.
    first: Option<u8>,
}

impl<S> TimedStream<S> {
    pub(super) fn new(stream: S, timeouts: Arc<Timeouts>) -> Self {
        Self { stream, timeouts, first: None }
    }

    /// Reports the outcome of a write.
    fn report(&self, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        match &written {
            Poll::Ready(Ok(bytes)) => self.timeouts.on_written(*bytes),
            Poll::Ready(Err(_)) => {}
            Poll::Pending => self.timeouts.on_blocked(),
        }
        written
    }
}

impl<S: AsyncRead + Unpin> TimedStream<S> {
    /// Reads the first byte, without a larger buffer. Waiting until the socket is readable is not
    /// enough: tokio considers a new socket readable until the first read.
    ///
    /// # Errors
    /// When the connection ends before its first byte.
    pub(super) async fn begin(&mut self) -> io::Result<()> {
        self.first = Some(self.read_u8().await?);
        Ok(())
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for TimedStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        if let Some(byte) = self.first.take_if(|_| buffer.remaining() > 0) {
            buffer.put_slice(&[byte]);
        }
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        if buffer.filled().len() > before {
            self.timeouts.on_read();
            // The next read returns the error or the end, if this one has met it.
            return Poll::Ready(Ok(()));
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for TimedStream<S> {
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
        self.timeouts.on_flushed();
        Poll::Ready(flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests;
