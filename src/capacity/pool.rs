//! Pools of threads for heavy work, apart from the threads that serve connections. Each pool bounds
//! the number of tasks that run at a time, and the time that a task waits (engine 8). The contract
//! and the metrics call a thread of a pool a *turn*.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::available_parallelism;
use std::time::Duration;

use figdex_index::{Meter, Stop};
use tokio::sync::Semaphore;

use crate::error::ApiError;
use crate::request;

/// The pools of a server. They are separate, so that one kind of work cannot delay another.
pub(crate) struct Pools {
    /// Answers to mapping, values, search, filter and suggestions.
    pub(crate) answers: Pool,
    /// Compression of large answers. Clients that fetch them cannot keep others from searching.
    pub(crate) packing: Pool,
    /// `/metrics`, for one scraper at a time: scrapers cannot starve requests, and heavy requests
    /// cannot delay a scrape.
    pub(crate) metrics: Pool,
    /// `/schema`, one answer at a time. No rate limits it, so it has a separate pool.
    pub(crate) schema: Pool,
    /// `/instruments`, one answer at a time. No rate limits it, so it has a separate pool.
    pub(crate) instruments: Pool,
}

/// A number of threads for heavy work.
pub(crate) struct Pool {
    free: Arc<Semaphore>,
    threads: usize,
    timeout: Duration,
    queued: AtomicU64,
    refused: AtomicU64,
}

/// The load of a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Load {
    /// The number of threads.
    pub(crate) threads: u64,
    /// The number of tasks that run.
    pub(crate) running: u64,
    /// The number of tasks that wait for a thread.
    pub(crate) queued: u64,
    /// The number of tasks so far that did not get a thread in time.
    pub(crate) refused: u64,
}

impl Pools {
    /// Pools whose tasks wait for `timeout` at most. `threads` is for the pools that are not
    /// bounded to one; without it they have one fewer than the cores, which leaves a core to cheap
    /// requests.
    pub(crate) fn new(threads: Option<usize>, timeout: Duration) -> Self {
        let cores = available_parallelism().map_or(1, usize::from);
        let threads = threads.unwrap_or(cores - 1).max(1);
        let [answers, packing, metrics, schema, instruments] =
            [threads, threads, 1, 1, 1].map(|threads| Pool::new(threads, timeout));
        Self { answers, packing, metrics, schema, instruments }
    }
}

impl Pool {
    fn new(threads: usize, timeout: Duration) -> Self {
        Self {
            free: Arc::new(Semaphore::new(threads)),
            threads,
            timeout,
            queued: AtomicU64::new(0),
            refused: AtomicU64::new(0),
        }
    }

    /// The current load.
    pub(crate) fn load(&self) -> Load {
        let running = self.threads.saturating_sub(self.free.available_permits());
        Load {
            threads: self.threads as u64,
            running: running as u64,
            queued: self.queued.load(Ordering::Relaxed),
            refused: self.refused.load(Ordering::Relaxed),
        }
    }

    /// Runs a task on a thread of the pool. A panic of the task continues in the caller. When the
    /// caller is dropped, a task that has begun runs on and keeps its thread.
    ///
    /// # Errors
    /// [`ApiError::Unavailable`] when no thread is free in time.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        task: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ApiError> {
        self.run_metered(|_| task()).await
    }

    /// As [`Pool::run`], with a meter that stops the task when the caller is dropped.
    ///
    /// # Errors
    /// As [`Pool::run`].
    pub(crate) async fn run_metered<T: Send + 'static>(
        &self,
        task: impl FnOnce(&Meter) -> T + Send + 'static,
    ) -> Result<T, ApiError> {
        let thread = {
            let _queued = Queued::new(&self.queued);
            tokio::time::timeout(self.timeout, self.free.clone().acquire_owned()).await
        };
        let Ok(Ok(thread)) = thread else {
            self.refused.fetch_add(1, Ordering::Relaxed);
            return Err(ApiError::Unavailable);
        };
        let stop = Stop::default();
        let _caller = StopOnDrop(stop.clone());
        let task = tokio::task::spawn_blocking(request::carried(move || {
            // The thread is free when the task ends, not when its caller is dropped.
            let _thread = thread;
            (!stop.is_set()).then(|| task(&Meter::until(stop)))
        }));
        match task.await {
            Ok(done) => done.ok_or(ApiError::Unavailable),
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            Err(_cancelled) => Err(ApiError::Unavailable),
        }
    }
}

/// Stops a task when its caller is dropped, and this with it.
struct StopOnDrop(Stop);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.set();
    }
}

/// A task that waits for a thread; it is counted until this is dropped.
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

    use futures_util::FutureExt as _;

    use super::*;

    /// contract 13.14: a 503 after the timeout, and an answer again when the thread is free. A panic
    /// frees it too.
    #[tokio::test]
    async fn one_thread() {
        let pool = Arc::new(Pool::new(1, Duration::from_millis(20)));
        let (release, released) = mpsc::channel::<()>();
        let (begin, begun) = mpsc::channel();
        let long = tokio::spawn({
            let pool = pool.clone();
            async move {
                pool.run(move || {
                    begin.send(()).unwrap();
                    released.recv().unwrap();
                    1
                })
                .await
            }
        });
        tokio::task::spawn_blocking(move || begun.recv().unwrap()).await.unwrap();
        let load = |running, queued, refused| Load { threads: 1, running, queued, refused };
        assert_eq!(pool.load(), load(1, 0, 0));
        let mut second = std::pin::pin!(pool.run(|| 2));
        assert!(second.as_mut().now_or_never().is_none());
        assert_eq!(pool.load(), load(1, 1, 0));
        assert_eq!(second.await, Err(ApiError::Unavailable));
        assert_eq!(pool.load(), load(1, 0, 1));
        release.send(()).unwrap();
        assert_eq!(long.await.unwrap(), Ok(1));
        let panic = AssertUnwindSafe(pool.run(|| panic!("a test's"))).catch_unwind().await;
        assert!(panic.is_err());
        assert_eq!(pool.run(|| 3).await, Ok(3));
        assert_eq!(pool.load(), load(0, 0, 1));
    }

    /// A task without a meter runs on when its caller is dropped, and keeps its thread until it
    /// ends: clients that come and go cannot start more tasks than there are threads.
    #[tokio::test]
    async fn a_task_keeps_its_thread_without_its_caller() {
        let pool = Pool::new(1, Duration::from_millis(20));
        let (release, released) = mpsc::channel::<()>();
        let (begin, begun) = mpsc::channel();
        let mut held = Box::pin(pool.run(move || {
            begin.send(()).unwrap();
            released.recv()
        }));
        assert!(held.as_mut().now_or_never().is_none());
        begun.recv().unwrap();
        drop(held);
        assert_eq!(pool.load().running, 1);
        assert_eq!(pool.run(|| 2).await, Err(ApiError::Unavailable));
        drop(release);
        while pool.run(|| 3).await != Ok(3) {}
    }

    /// A metered task ends when its caller is dropped, and the next task gets its thread. This one
    /// would never end otherwise.
    #[tokio::test]
    async fn a_metered_task_ends_with_its_caller() {
        let pool = Pool::new(1, Duration::from_secs(60));
        let (begin, begun) = mpsc::channel();
        let mut endless = Box::pin(pool.run_metered(move |meter| {
            begin.send(()).unwrap();
            while meter.charge(1).is_ok() {}
        }));
        assert!(endless.as_mut().now_or_never().is_none());
        begun.recv().unwrap();
        drop(endless);
        assert_eq!(pool.run(|| 2).await, Ok(2));
        assert_eq!(pool.load().refused, 0);
    }

    /// A task whose caller is dropped while it waits never begins.
    #[tokio::test]
    async fn a_waiting_task_ends_with_its_caller() {
        let pool = Pool::new(1, Duration::from_secs(60));
        let (release, released) = mpsc::channel::<()>();
        let mut first = Box::pin(pool.run(move || released.recv()));
        assert!(first.as_mut().now_or_never().is_none());
        let (begin, begun) = mpsc::channel();
        assert!(pool.run(move || begin.send(())).now_or_never().is_none());
        assert_eq!(pool.load().queued, 0);
        drop(release);
        assert!(first.await.is_ok());
        assert_eq!(pool.run(|| 3).await, Ok(3));
        assert!(begun.try_recv().is_err());
    }
}
