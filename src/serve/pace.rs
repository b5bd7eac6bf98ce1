//! How fast a connection is: when bytes last moved, whether a request is being
//! answered, since when a head is under way. From that follows when it is too slow.
//!
//! Told by few relaxed stores at each turn, and looked at only when time may be up: no
//! timer is set and unset for each request.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, ReadBuf};
use tokio::time::Instant;

/// The pace of one connection. Times are milliseconds since its beginning.
pub(super) struct Pace {
    began: Instant,
    moved: AtomicU64,
    /// When the head under way began, and 1 more; 0 when none is.
    head: AtomicU64,
    is_answering: AtomicBool,
    has_asked: AtomicBool,
}

impl Pace {
    /// A connection that just began: its first head is awaited.
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self {
            began: Instant::now(),
            moved: AtomicU64::new(0),
            head: AtomicU64::new(1),
            is_answering: AtomicBool::new(false),
            has_asked: AtomicBool::new(false),
        })
    }

    /// A whole head is there.
    pub(super) fn begin_answer(&self) {
        self.has_asked.store(true, Ordering::Relaxed);
        self.is_answering.store(true, Ordering::Relaxed);
        self.head.store(0, Ordering::Relaxed);
    }

    /// The answer is on its way; the next head may come.
    pub(super) fn end_answer(&self) {
        self.is_answering.store(false, Ordering::Relaxed);
        self.moved.store(self.now(), Ordering::Relaxed);
    }

    /// Whether it ever brought a whole head.
    pub(super) fn has_asked(&self) -> bool {
        self.has_asked.load(Ordering::Relaxed)
    }

    /// Waits until a head took longer than `head_wait`, or nothing moved for `idle_wait`
    /// though no answer was being made. A head that began meanwhile is noticed by
    /// looking again, so that it may take a quarter more.
    pub(super) async fn too_slow(&self, head_wait: Duration, idle_wait: Duration) {
        loop {
            let left = self.left(head_wait, idle_wait);
            if left.is_zero() {
                return;
            }
            tokio::time::sleep(left.min(head_wait / 4)).await;
        }
    }

    /// How long it may go on like this before it must be looked at again.
    fn left(&self, head_wait: Duration, idle_wait: Duration) -> Duration {
        if self.is_answering.load(Ordering::Relaxed) {
            return head_wait.min(idle_wait);
        }
        let since = |moment: u64| Duration::from_millis(self.now().saturating_sub(moment));
        let idle = idle_wait.saturating_sub(since(self.moved.load(Ordering::Relaxed)));
        match self.head.load(Ordering::Relaxed) {
            0 => idle,
            head => idle.min(head_wait.saturating_sub(since(head - 1))),
        }
    }

    fn read(&self) {
        let now = self.now();
        self.moved.store(now, Ordering::Relaxed);
        if !self.is_answering.load(Ordering::Relaxed) && self.head.load(Ordering::Relaxed) == 0 {
            self.head.store(now + 1, Ordering::Relaxed);
        }
    }

    fn wrote(&self) {
        self.moved.store(self.now(), Ordering::Relaxed);
    }

    fn now(&self) -> u64 {
        self.began.elapsed().as_millis() as u64
    }
}

/// A stream that tells its pace.
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
            // What else there was to tell is told to whoever reads on.
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
        if written.is_ready() {
            self.pace.wrote();
        }
        written
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        if written.is_ready() {
            self.pace.wrote();
        }
        written
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncWriteExt as _;

    use super::*;

    const HEAD: Duration = Duration::from_secs(10);
    const IDLE: Duration = Duration::from_secs(60);

    /// After how many seconds the connection is too slow, as it stands.
    async fn seconds(pace: &Pace) -> u64 {
        let from = Instant::now();
        pace.too_slow(HEAD, IDLE).await;
        from.elapsed().as_secs()
    }

    #[tokio::test(start_paused = true)]
    async fn heads_and_silence_have_bounds() {
        let pace = Pace::new();
        assert_eq!(seconds(&pace).await, 10, "the first head is awaited");

        let pace = Pace::new();
        let (mut client, server) = tokio::io::duplex(64);
        let mut server = Paced::new(server, pace.clone());
        pace.begin_answer();
        tokio::time::advance(Duration::from_secs(300)).await;
        pace.end_answer();
        assert!(pace.has_asked());
        assert_eq!(seconds(&pace).await, 60, "an answer may take its time; then it is idle");

        // A head that never ends, however diligently it is sent.
        pace.end_answer();
        let slowly = async {
            for _ in 0..100 {
                tokio::time::sleep(Duration::from_secs(1)).await;
                client.write_all(b"x").await.unwrap();
                server.read_u8().await.unwrap();
            }
        };
        let from = Instant::now();
        tokio::select! {
            () = pace.too_slow(HEAD, IDLE) => {}
            () = slowly => panic!("it was never too slow"),
        }
        // A second until its first byte.
        assert!((11..=13).contains(&from.elapsed().as_secs()), "{:?}", from.elapsed());
    }

    /// The first byte is waited for alone, and is read with the others.
    #[tokio::test]
    async fn the_first_byte_comes_first() {
        for sent in ["G", "GET /"] {
            let (mut client, server) = tokio::io::duplex(64);
            let mut server = Paced::new(server, Pace::new());
            client.write_all(sent.as_bytes()).await.unwrap();
            server.begin().await.unwrap();
            drop(client);
            let mut read = [0; 64];
            assert_eq!(server.read(&mut read).await.unwrap(), sent.len());
            assert_eq!(&read[..sent.len()], sent.as_bytes());
            assert_eq!(server.read(&mut read).await.unwrap(), 0);
        }
        let (client, server) = tokio::io::duplex(64);
        drop(client);
        assert!(Paced::new(server, Pace::new()).begin().await.is_err(), "the end is no byte");
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_does_not_read_is_idle() {
        let pace = Pace::new();
        let (_client, server) = tokio::io::duplex(4);
        let mut server = Paced::new(server, pace.clone());
        pace.begin_answer();
        pace.end_answer();
        tokio::select! {
            () = pace.too_slow(HEAD, IDLE) => {}
            written = server.write_all(b"more than fits") => panic!("{written:?}"),
        }
    }
}
