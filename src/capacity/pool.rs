//! Turns for heavy work: so many pieces at a time, each apart from the threads that
//! serve the cheap requests, and a bounded wait for the rest.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::available_parallelism;
use std::time::Duration;

use figdex_index::Stop;
use tokio::sync::Semaphore;

use crate::error::ApiError;
use crate::request;

pub(crate) struct Turns {
    free: Arc<Semaphore>,
    count: usize,
    wait: Duration,
    queued: AtomicU64,
    refused: AtomicU64,
}

/// How busy they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Load {
    /// The turns there are.
    pub(crate) turns: u64,
    /// Pieces of work that have one.
    pub(crate) running: u64,
    /// Pieces of work that wait for one.
    pub(crate) queued: u64,
    /// Pieces of work whose turn did not come in time, so far.
    pub(crate) refused: u64,
}

impl Turns {
    /// `count` turns at a time; without one, a core stays free for cheap requests.
    pub(crate) fn new(count: Option<usize>, wait: Duration) -> Self {
        let cores = available_parallelism().map_or(1, usize::from);
        let count = count.unwrap_or(cores - 1).max(1);
        Self {
            free: Arc::new(Semaphore::new(count)),
            count,
            wait,
            queued: AtomicU64::new(0),
            refused: AtomicU64::new(0),
        }
    }

    /// How busy they are now.
    pub(crate) fn load(&self) -> Load {
        let running = self.count.saturating_sub(self.free.available_permits());
        Load {
            turns: self.count as u64,
            running: running as u64,
            queued: self.queued.load(Ordering::Relaxed),
            refused: self.refused.load(Ordering::Relaxed),
        }
    }

    /// Does the work when its turn comes. A panic in it goes on in the caller. When the
    /// caller goes, work that has begun goes on, and keeps its turn.
    ///
    /// # Errors
    /// [`ApiError::Unavailable`] when its turn does not come in time.
    pub(crate) async fn take<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ApiError> {
        self.take_stoppable(|_| work()).await
    }

    /// The same for work that looks at a flag, which is set when the caller goes: then it
    /// should end, and give its turn back.
    ///
    /// # Errors
    /// As [`Turns::take`].
    pub(crate) async fn take_stoppable<T: Send + 'static>(
        &self,
        work: impl FnOnce(Stop) -> T + Send + 'static,
    ) -> Result<T, ApiError> {
        let turn = {
            let _queued = Queued::new(&self.queued);
            tokio::time::timeout(self.wait, self.free.clone().acquire_owned()).await
        };
        let Ok(Ok(turn)) = turn else {
            self.refused.fetch_add(1, Ordering::Relaxed);
            return Err(ApiError::Unavailable);
        };
        let stop = Stop::default();
        let _caller = Caller(stop.clone());
        let work = tokio::task::spawn_blocking(request::carried(move || {
            // The turn is over when the work is, even if the caller has gone.
            let _turn = turn;
            (!stop.is_set()).then(|| work(stop))
        }));
        match work.await {
            Ok(done) => done.ok_or(ApiError::Unavailable),
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            Err(_cancelled) => Err(ApiError::Unavailable),
        }
    }
}

/// Whoever waits for work: when it is dropped, the work should end.
struct Caller(Stop);

impl Drop for Caller {
    fn drop(&mut self) {
        self.0.set();
    }
}

/// A piece of work that waits, until its turn comes or its caller goes.
struct Queued<'a>(&'a AtomicU64);

impl<'a> Queued<'a> {
    fn new(count: &'a AtomicU64) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for Queued<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::panic::AssertUnwindSafe;
    use std::sync::mpsc;

    use figdex_index::Meter;
    use futures_util::FutureExt as _;

    use super::*;

    /// contract 13.14: 503 after the wait, and an answer again when the turn is free, which a
    /// panic does not keep.
    #[tokio::test]
    async fn one_turn() {
        let turns = Arc::new(Turns::new(Some(1), Duration::from_millis(20)));
        let (release, released) = mpsc::channel::<()>();
        let (begin, begun) = mpsc::channel();
        let long = tokio::spawn({
            let turns = turns.clone();
            async move {
                turns
                    .take(move || {
                        begin.send(()).unwrap();
                        released.recv().unwrap();
                        1
                    })
                    .await
            }
        });
        tokio::task::spawn_blocking(move || begun.recv().unwrap()).await.unwrap();
        let load = |running, queued, refused| Load { turns: 1, running, queued, refused };
        assert_eq!(turns.load(), load(1, 0, 0));
        let mut second = std::pin::pin!(turns.take(|| 2));
        assert!(second.as_mut().now_or_never().is_none());
        assert_eq!(turns.load(), load(1, 1, 0));
        assert_eq!(second.await, Err(ApiError::Unavailable));
        assert_eq!(turns.load(), load(1, 0, 1));
        release.send(()).unwrap();
        assert_eq!(long.await.unwrap(), Ok(1));
        let panic = AssertUnwindSafe(turns.take(|| panic!("a test's"))).catch_unwind().await;
        assert!(panic.is_err());
        assert_eq!(turns.take(|| 3).await, Ok(3));
        assert_eq!(turns.load(), load(0, 0, 1));
    }

    /// Work that looks at no flag goes on when its caller has gone, and keeps its turn
    /// until it is done: whoever comes and goes does not begin more of it than there are
    /// turns.
    #[tokio::test]
    async fn a_caller_who_goes() {
        let turns = Turns::new(Some(1), Duration::from_millis(20));
        let (release, released) = mpsc::channel::<()>();
        let (begin, begun) = mpsc::channel();
        let mut held = Box::pin(turns.take(move || {
            begin.send(()).unwrap();
            released.recv()
        }));
        assert!(held.as_mut().now_or_never().is_none());
        begun.recv().unwrap();
        drop(held);
        assert_eq!(turns.load().running, 1);
        assert_eq!(turns.take(|| 2).await, Err(ApiError::Unavailable));
        drop(release);
        while turns.take(|| 3).await != Ok(3) {}
    }

    /// Work that looks at the flag ends when its caller has gone, and the next one has
    /// its turn. The first would never end otherwise.
    #[tokio::test]
    async fn work_ends_when_its_caller_goes() {
        let turns = Turns::new(Some(1), Duration::from_secs(60));
        let (begin, begun) = mpsc::channel();
        let mut endless = Box::pin(turns.take_stoppable(move |stop| {
            begin.send(()).unwrap();
            let meter = Meter::until(stop);
            while meter.charge(1).is_ok() {}
        }));
        assert!(endless.as_mut().now_or_never().is_none());
        begun.recv().unwrap();
        drop(endless);
        assert_eq!(turns.take(|| 2).await, Ok(2));
        assert_eq!(turns.load().refused, 0);
    }

    /// Work that waits for its turn when its caller goes never begins.
    #[tokio::test]
    async fn work_that_waits_is_forgotten() {
        let turns = Turns::new(Some(1), Duration::from_secs(60));
        let (release, released) = mpsc::channel::<()>();
        let mut first = Box::pin(turns.take(move || released.recv()));
        assert!(first.as_mut().now_or_never().is_none());
        let (begin, begun) = mpsc::channel();
        assert!(turns.take(move || begin.send(())).now_or_never().is_none());
        assert_eq!(turns.load().queued, 0);
        drop(release);
        assert!(first.await.is_ok());
        assert_eq!(turns.take(|| 3).await, Ok(3));
        assert!(begun.try_recv().is_err());
    }
}
