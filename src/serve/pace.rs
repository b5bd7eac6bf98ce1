//! How fast a connection is: when bytes last moved, whether a request is being
//! answered, how much of the answer is still to be written, since when a head is under
//! way. From that follows when it is too slow.
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

use super::Connections;

/// The pace of one connection. Times are milliseconds since its beginning.
pub(super) struct Pace {
    began: Instant,
    moved: AtomicU64,
    /// When the answer under way was made; the first, if several are.
    answered: AtomicU64,
    /// The bytes of all answers under way.
    answer_bytes: AtomicU64,
    /// Those of them that are still to be written, at least.
    unwritten: AtomicU64,
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
            answered: AtomicU64::new(0),
            answer_bytes: AtomicU64::new(0),
            unwritten: AtomicU64::new(0),
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

    /// An answer is made, with so many bytes to be written after its head. The one before
    /// may not be written yet: a client that sends several requests at once does not get
    /// its time anew with each.
    pub(super) fn end_answer(&self, bytes: u64) {
        let now = self.now();
        let unwritten = self.unwritten.load(Ordering::Relaxed);
        if unwritten == 0 {
            self.answered.store(now, Ordering::Relaxed);
            self.answer_bytes.store(0, Ordering::Relaxed);
        }
        let answer_bytes = self.answer_bytes.load(Ordering::Relaxed);
        self.answer_bytes.store(answer_bytes + bytes, Ordering::Relaxed);
        self.unwritten.store(unwritten + bytes, Ordering::Relaxed);
        self.moved.store(now, Ordering::Relaxed);
        self.is_answering.store(false, Ordering::Relaxed);
    }

    /// Whether it ever brought a whole head.
    pub(super) fn has_asked(&self) -> bool {
        self.has_asked.load(Ordering::Relaxed)
    }

    /// Waits until a head took longer than `head_wait`, or nothing moved for `idle_wait`
    /// though no answer was being made, or an answer is taken too slowly. A head that
    /// began meanwhile is noticed by looking again, so that it may take a quarter more.
    pub(super) async fn too_slow(&self, bounds: &Connections) {
        loop {
            let left = self.left(bounds);
            if left.is_zero() {
                return;
            }
            tokio::time::sleep(left.min(bounds.head_wait / 4)).await;
        }
    }

    /// How long it may go on like this before it must be looked at again.
    fn left(&self, bounds: &Connections) -> Duration {
        let Connections { head_wait, idle_wait, answer_bytes_per_second, .. } = *bounds;
        if self.is_answering.load(Ordering::Relaxed) {
            return head_wait.min(idle_wait);
        }
        let since = |moment: u64| Duration::from_millis(self.now().saturating_sub(moment));
        let idle = idle_wait.saturating_sub(since(self.moved.load(Ordering::Relaxed)));
        if self.unwritten.load(Ordering::Relaxed) > 0 {
            let millis =
                self.answer_bytes.load(Ordering::Relaxed) * 1_000 / answer_bytes_per_second;
            let allowed = Duration::from_millis(millis);
            let answered = since(self.answered.load(Ordering::Relaxed));
            return idle.min((idle_wait + allowed).saturating_sub(answered));
        }
        match self.head.load(Ordering::Relaxed) {
            0 => idle,
            head => idle.min(head_wait.saturating_sub(since(head - 1))),
        }
    }

    fn read(&self) {
        let now = self.now();
        self.moved.store(now, Ordering::Relaxed);
        // What comes before the answer is written, waits for that to be read as a head.
        let is_next = !self.is_answering.load(Ordering::Relaxed)
            && self.unwritten.load(Ordering::Relaxed) == 0;
        if is_next && self.head.load(Ordering::Relaxed) == 0 {
            self.head.store(now + 1, Ordering::Relaxed);
        }
    }

    fn wrote(&self, bytes: usize) {
        self.moved.store(self.now(), Ordering::Relaxed);
        let unwritten = self.unwritten.load(Ordering::Relaxed);
        if unwritten > 0 {
            self.unwritten.store(unwritten.saturating_sub(bytes as u64), Ordering::Relaxed);
        }
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
        if let Poll::Ready(Ok(bytes)) = written {
            self.pace.wrote(bytes);
        }
        written
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        if let Poll::Ready(Ok(bytes)) = written {
            self.pace.wrote(bytes);
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

    const BOUNDS: Connections = Connections {
        head_wait: Duration::from_secs(10),
        idle_wait: Duration::from_secs(60),
        ..Connections::DEFAULT
    };

    /// After how many seconds the connection is too slow, as it stands.
    async fn seconds(pace: &Pace) -> u64 {
        let from = Instant::now();
        pace.too_slow(&BOUNDS).await;
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
        pace.end_answer(0);
        assert!(pace.has_asked());
        assert_eq!(seconds(&pace).await, 60, "an answer may take its time; then it is idle");

        // A head that never ends, however diligently it is sent.
        pace.end_answer(0);
        let slowly = async {
            for _ in 0..100 {
                tokio::time::sleep(Duration::from_secs(1)).await;
                client.write_all(b"x").await.unwrap();
                server.read_u8().await.unwrap();
            }
        };
        let from = Instant::now();
        tokio::select! {
            () = pace.too_slow(&BOUNDS) => {}
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
        pace.end_answer(14);
        tokio::select! {
            () = pace.too_slow(&BOUNDS) => {}
            written = server.write_all(b"more than fits") => panic!("{written:?}"),
        }
    }

    /// A client that takes so many bytes of an answer a second, over a small window, and
    /// sends the next request meanwhile; after how many seconds it is too slow, if ever.
    async fn too_slow_at(answer: u64, bytes_per_second: usize) -> Option<u64> {
        let pace = Pace::new();
        let (mut client, server) = tokio::io::duplex(bytes_per_second);
        let mut server = Paced::new(server, pace.clone());
        pace.begin_answer();
        pace.end_answer(answer);
        client.write_all(b"G").await.unwrap();
        server.read_u8().await.unwrap();
        let from = Instant::now();
        let answered = async {
            let body = vec![0; answer as usize];
            let taken = async {
                let mut taken = vec![0; bytes_per_second];
                while client.read(&mut taken).await.unwrap() > 0 {
                    tokio::time::sleep(Duration::from_secs(1)).await;
                }
            };
            let written = async {
                server.write_all(&body).await.unwrap();
                drop(server);
            };
            tokio::join!(taken, written);
        };
        tokio::select! {
            () = pace.too_slow(&BOUNDS) => Some(from.elapsed().as_secs()),
            () = answered => None,
        }
    }

    /// Who takes an answer byte by byte does not keep it for ever; who takes it in its time
    /// is not taken for one whose next head is slow.
    #[tokio::test(start_paused = true)]
    async fn answers_have_a_least_pace() {
        assert_eq!(too_slow_at(4 << 20, 32 << 10).await, None, "it takes 128 s");
        let slow = too_slow_at(4 << 20, 1 << 10).await.unwrap();
        // 60 s, and 4 MiB at 16 KiB a second.
        assert!((316..=319).contains(&slow), "{slow}");
        assert_eq!(too_slow_at(100, 1).await.map(|slow| slow / 4), Some(15), "after the silence");
    }

    /// Who sends one request after another does not get the time for an answer anew with
    /// each.
    #[tokio::test(start_paused = true)]
    async fn more_requests_gain_no_time() {
        let pace = Pace::new();
        pace.begin_answer();
        pace.end_answer(4 << 20);
        let from = Instant::now();
        let more = async {
            for _ in 0..20 {
                tokio::time::sleep(Duration::from_secs(50)).await;
                pace.begin_answer();
                pace.end_answer(1);
            }
        };
        tokio::select! {
            () = pace.too_slow(&BOUNDS) => {}
            () = more => panic!("it was never too slow"),
        }
        assert!((316..=319).contains(&from.elapsed().as_secs()), "{:?}", from.elapsed());
    }
}
