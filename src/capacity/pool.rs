//! Pools of threads for heavy work, apart from the threads that serve connections. Each pool bounds
//! the number of tasks that run at a time, and the time that a task waits until it begins. The
//! contract and the metrics call a thread of a pool a *turn*. A task that has begun keeps its
//! progress, but gives its turn to another caller whenever the queue of the pool says so (engine
//! 8).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

use figdex_index::{Meter, SLICE_UNITS, Turn};
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::oneshot;

use super::queue::{Queue, TaskCounts, Ticket};
use crate::callers::Caller;
use crate::callers::error::ApiError;
use crate::request;

/// The pools of a server. They are separate, so that one kind of work cannot delay another.
pub(crate) struct Pools {
    /// Answers to mapping, values, search, filter and suggestions.
    pub(crate) answers: Pool,
    /// Compression of large answers. So clients that fetch large answers cannot keep others from
    /// searching.
    pub(crate) packing: Pool,
    /// `/metrics`, for one scraper at a time: scrapers cannot starve requests, and heavy requests
    /// cannot delay a scrape.
    pub(crate) metrics: Pool,
    /// `/schema`, one answer at a time. No rate limits it, so it has a separate pool.
    pub(crate) schema: Pool,
    /// `/instruments`, one answer at a time. No rate limits it, so it has a separate pool.
    pub(crate) instruments: Pool,
    /// Reading the Parquet file, two pieces at a time: an index of files on a slow disk keeps no
    /// other work waiting.
    pub(crate) parquet: Pool,
}

/// The approximate time of a unit of work (engine 8).
const UNIT_NANOSECONDS: u64 = 10;

/// A number of threads for heavy work.
pub(crate) struct Pool {
    shared: Arc<SharedQueue>,
    threads: usize,
    timeout: Duration,
    refused: AtomicU64,
}

/// The queue that a pool shares with its tasks.
struct SharedQueue {
    queue: Mutex<Queue<oneshot::Sender<()>>>,
    /// Whether any task waits. A task that runs alone sees this without locking the queue.
    is_contended: AtomicBool,
}

/// The load of a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Load {
    /// The number of threads.
    pub(crate) threads: u64,
    /// The number of tasks that run.
    pub(crate) running: u64,
    /// The number of tasks that have begun and wait for their next slice.
    pub(crate) paused: u64,
    /// The number of tasks that wait for a thread to begin.
    pub(crate) queued: u64,
    /// The number of tasks so far that did not get a thread in time.
    pub(crate) refused: u64,
}

impl Pools {
    /// Pools whose tasks wait at most `timeout` for their first turn. `threads` applies to the
    /// pools that are not limited to one thread. Without it, they have one thread fewer than there
    /// are cores, but at least one. This leaves a core to cheap requests.
    pub(crate) fn new(threads: Option<usize>, timeout: Duration) -> Self {
        let cores = available_parallelism().map_or(1, usize::from);
        let threads = threads.unwrap_or(cores - 1).max(1);
        let [answers, packing, metrics, schema, instruments, parquet] =
            [threads, threads, 1, 1, 1, 2].map(|threads| Pool::new(threads, timeout));
        Self { answers, packing, metrics, schema, instruments, parquet }
    }

    /// The most threads that tasks of all pools hold at a time, running or paused.
    pub(crate) fn threads_max(threads: Option<usize>) -> usize {
        let Self { answers, packing, metrics, schema, instruments, parquet } =
            Self::new(threads, Duration::ZERO);
        let pools = [answers, packing, metrics, schema, instruments, parquet];
        pools.iter().map(|pool| Queue::<()>::started_max(pool.threads)).sum()
    }
}

impl Pool {
    fn new(threads: usize, timeout: Duration) -> Self {
        let (queue, is_contended) = (Mutex::new(Queue::new(threads)), AtomicBool::new(false));
        let shared = Arc::new(SharedQueue { queue, is_contended });
        Self { shared, threads, timeout, refused: AtomicU64::new(0) }
    }

    /// The current load.
    pub(crate) fn load(&self) -> Load {
        let TaskCounts { running, paused, queued } = self.shared.queue.lock().counts();
        Load {
            threads: self.threads as u64,
            running: running as u64,
            paused: paused as u64,
            queued: queued as u64,
            refused: self.refused.load(Ordering::Relaxed),
        }
    }

    /// Runs a task on a thread of the pool. It is for short tasks: it keeps its turn until it ends,
    /// also when its caller is dropped, and its time is charged to its caller afterwards. A panic of
    /// the task continues in the caller.
    ///
    /// # Errors
    /// [`ApiError::Unavailable`] when the task has no turn in time.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        caller: Caller,
        task: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ApiError> {
        let timed = |_: &Meter| {
            let began = Instant::now();
            (task(), units_of(began.elapsed()))
        };
        self.in_turn(caller, timed).await
    }

    /// As [`Pool::run`], for a task with a meter that may take long. The task gives up its turn
    /// when another caller should have one, and waits for the next turn, however long that takes.
    /// The meter stops the task when the caller is dropped.
    ///
    /// # Errors
    /// As [`Pool::run`].
    pub(crate) async fn run_metered<T: Send + 'static>(
        &self,
        caller: Caller,
        task: impl FnOnce(&Meter) -> T + Send + 'static,
    ) -> Result<T, ApiError> {
        self.in_turn(caller, |meter| (task(meter), 0)).await
    }

    /// Runs a task in a turn. The task also returns the units with which its meter was not charged.
    async fn in_turn<T: Send + 'static>(
        &self,
        caller: Caller,
        task: impl FnOnce(&Meter) -> (T, u64) + Send + 'static,
    ) -> Result<T, ApiError> {
        let (started, in_turn) = self.shared.clone().enter(caller.of_turns());
        let _caller = StopOnDrop(started.clone());
        // The end of the task frees the turn; the drop of its caller does not.
        let turn = EndOnDrop(started);
        if !matches!(tokio::time::timeout(self.timeout, in_turn).await, Ok(Ok(()))) {
            self.refused.fetch_add(1, Ordering::Relaxed);
            return Err(ApiError::Unavailable);
        }
        let task = tokio::task::spawn_blocking(request::carried(move || {
            let EndOnDrop(started) = &turn;
            if started.is_over() {
                return None;
            }
            let meter = Meter::in_turn(started.clone());
            let (done, uncharged) = task(&meter);
            started.report_end(meter.unreported() + uncharged);
            Some(done)
        }));
        match task.await {
            Ok(done) => done.ok_or(ApiError::Unavailable),
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            Err(_cancelled) => Err(ApiError::Unavailable),
        }
    }
}

/// The work that takes this time, in units of the meter.
fn units_of(time: Duration) -> u64 {
    time.as_nanos() as u64 / UNIT_NANOSECONDS
}

impl SharedQueue {
    /// Adds a task. Returns it with the receiver of its first turn.
    fn enter(self: Arc<Self>, caller: Caller) -> (Arc<Task>, oneshot::Receiver<()>) {
        let (wake, woken) = oneshot::channel();
        let mut queue = self.queue.lock();
        let ticket = queue.enter(caller, wake);
        self.grant(queue);
        let (is_over, unreported) = (AtomicBool::new(false), AtomicU64::new(0));
        (Arc::new(Task { shared: self, caller, ticket, is_over, unreported }), woken)
    }

    /// Gives free turns to the next tasks.
    fn grant(&self, mut queue: MutexGuard<'_, Queue<oneshot::Sender<()>>>) {
        while let Some(wake) = queue.grant() {
            // The send fails for a task whose caller is being dropped. That task leaves the queue
            // itself.
            wake.send(()).ok();
        }
        self.is_contended.store(queue.is_contended(), Ordering::Relaxed);
    }
}

/// A task in the queue of its pool.
struct Task {
    shared: Arc<SharedQueue>,
    caller: Caller,
    ticket: Ticket,
    is_over: AtomicBool,
    /// The units that were not yet reported to the queue.
    unreported: AtomicU64,
}

impl Task {
    fn report_end(&self, units: u64) {
        let units = self.unreported.swap(0, Ordering::Relaxed) + units;
        self.shared.queue.lock().report(self.caller, units);
    }
}

impl Turn for Task {
    fn report(&self, units: u64) {
        let units = self.unreported.load(Ordering::Relaxed) + units;
        // Only the task's own thread reports.
        self.unreported.store(units, Ordering::Relaxed);
        if units < SLICE_UNITS && !self.shared.is_contended.load(Ordering::Relaxed) {
            return;
        }
        self.unreported.store(0, Ordering::Relaxed);
        let woken = {
            let mut queue = self.shared.queue.lock();
            if !queue.report(self.caller, units) || self.is_over() {
                return;
            }
            let (wake, woken) = oneshot::channel();
            queue.pause(self.caller, self.ticket, wake);
            self.shared.grant(queue);
            woken
        };
        // The wait fails if the caller is gone. The meter notices this next.
        woken.blocking_recv().ok();
    }

    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }
}

/// Ends a task when its caller is dropped: at once if the task waits, else at its next check.
struct StopOnDrop(Arc<Task>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        let Task { shared, caller, ticket, is_over, .. } = &*self.0;
        // Done under the lock, or the task could pause after this.
        let mut queue = shared.queue.lock();
        is_over.store(true, Ordering::Relaxed);
        queue.leave(*caller, *ticket);
        shared.grant(queue);
    }
}

/// Removes a task from the queue when it has ended, and gives its turn to the next task.
struct EndOnDrop(Arc<Task>);

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        let Task { shared, caller, ticket, .. } = &*self.0;
        let mut queue = shared.queue.lock();
        queue.end(*caller, *ticket);
        shared.grant(queue);
    }
}

#[cfg(test)]
mod tests {
    use std::panic::AssertUnwindSafe;
    use std::sync::mpsc;

    use futures_util::FutureExt as _;

    use super::*;

    const ONE: Caller = Caller::Socket;

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
                pool.run(ONE, move || {
                    begin.send(()).unwrap();
                    released.recv().unwrap();
                    1
                })
                .await
            }
        });
        tokio::task::spawn_blocking(move || begun.recv().unwrap()).await.unwrap();
        let load =
            |running, queued, refused| Load { threads: 1, running, paused: 0, queued, refused };
        assert_eq!(pool.load(), load(1, 0, 0));
        let mut second = std::pin::pin!(pool.run(ONE, || 2));
        assert!(second.as_mut().now_or_never().is_none());
        assert_eq!(pool.load(), load(1, 1, 0));
        assert_eq!(second.await, Err(ApiError::Unavailable));
        assert_eq!(pool.load(), load(1, 0, 1));
        release.send(()).unwrap();
        assert_eq!(long.await.unwrap(), Ok(1));
        let panic = AssertUnwindSafe(pool.run(ONE, || panic!("a test's"))).catch_unwind().await;
        assert!(panic.is_err());
        assert_eq!(pool.run(ONE, || 3).await, Ok(3));
        assert_eq!(pool.load(), load(0, 0, 1));
    }

    /// A task without a meter runs on when its caller is dropped, and keeps its thread until it
    /// ends: clients that come and go cannot start more tasks than there are threads.
    #[tokio::test]
    async fn a_task_keeps_its_thread_without_its_caller() {
        let pool = Pool::new(1, Duration::from_millis(20));
        let (release, released) = mpsc::channel::<()>();
        let (begin, begun) = mpsc::channel();
        let mut held = Box::pin(pool.run(ONE, move || {
            begin.send(()).unwrap();
            released.recv()
        }));
        assert!(held.as_mut().now_or_never().is_none());
        begun.recv().unwrap();
        drop(held);
        assert_eq!(pool.load().running, 1);
        assert_eq!(pool.run(ONE, || 2).await, Err(ApiError::Unavailable));
        drop(release);
        while pool.run(ONE, || 3).await != Ok(3) {}
    }

    /// A metered task ends when its caller is dropped, and the next task gets its thread. This one
    /// would never end otherwise.
    #[tokio::test]
    async fn a_metered_task_ends_with_its_caller() {
        let pool = Pool::new(1, Duration::from_secs(60));
        let (begin, begun) = mpsc::channel();
        let mut endless = Box::pin(pool.run_metered(ONE, move |meter| {
            begin.send(()).unwrap();
            while meter.charge(1).is_ok() {}
        }));
        assert!(endless.as_mut().now_or_never().is_none());
        begun.recv().unwrap();
        drop(endless);
        assert_eq!(pool.run(ONE, || 2).await, Ok(2));
        assert_eq!(pool.load().refused, 0);
    }

    /// A task whose caller is dropped while it waits never begins.
    #[tokio::test]
    async fn a_waiting_task_ends_with_its_caller() {
        let pool = Pool::new(1, Duration::from_secs(60));
        let (release, released) = mpsc::channel::<()>();
        let mut first = Box::pin(pool.run(ONE, move || released.recv()));
        assert!(first.as_mut().now_or_never().is_none());
        let (begin, begun) = mpsc::channel();
        assert!(pool.run(ONE, move || begin.send(())).now_or_never().is_none());
        assert_eq!(pool.load().queued, 0);
        drop(release);
        assert!(first.await.is_ok());
        assert_eq!(pool.run(ONE, || 3).await, Ok(3));
        assert!(begun.try_recv().is_err());
    }

    /// engine 8: a task gives its turn up to another caller, however long it runs, and goes on
    /// afterwards. The first one here ends only when the second has ended.
    #[tokio::test]
    async fn two_callers_share_a_thread() {
        let pool = Pool::new(1, Duration::from_secs(60));
        let (begin, begun) = mpsc::channel();
        let (end, ended) = mpsc::channel::<()>();
        let mut first = Box::pin(pool.run_metered(ONE, move |meter| {
            begin.send(()).unwrap();
            let mut charged: u64 = 0;
            while ended.try_recv().is_err() {
                meter.charge(1).unwrap();
                charged += 1;
            }
            (charged, meter.spent())
        }));
        assert!(first.as_mut().now_or_never().is_none());
        begun.recv().unwrap();
        let other = Caller::at("192.0.2.1".parse().unwrap());
        let second = pool.run_metered(other, move |meter| {
            for _ in 0..5 * SLICE_UNITS {
                meter.charge(1).unwrap();
            }
            end.send(()).unwrap();
        });
        let (first, second) = tokio::join!(first, second);
        assert_eq!(second, Ok(()));
        let (charged, spent) = first.unwrap();
        assert_eq!(charged, spent, "it kept its progress");
        assert_eq!(pool.load().refused, 0);
    }

    /// engine 8: the time of tasks without a meter counts too. However many of them a caller has,
    /// another one gets its turns. Each of them takes as long as a slice.
    #[tokio::test]
    async fn tasks_without_a_meter_are_charged() {
        const SLICES: u64 = 4;
        let pool = Arc::new(Pool::new(1, Duration::from_secs(60)));
        let done = Arc::new(AtomicU64::new(0));
        let others: Vec<_> = (0..100)
            .map(|_| {
                let (pool, done) = (pool.clone(), done.clone());
                tokio::spawn(async move {
                    let task = || std::thread::sleep(Duration::from_millis(20));
                    if pool.run(ONE, task).await.is_ok() {
                        done.fetch_add(1, Ordering::Relaxed);
                    }
                })
            })
            .collect();
        while done.load(Ordering::Relaxed) == 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let other = Caller::at("192.0.2.1".parse().unwrap());
        let metered = pool.run_metered(other, |meter| {
            for _ in 0..SLICES * SLICE_UNITS / 100 {
                meter.charge(100).unwrap();
            }
        });
        metered.await.unwrap();
        others.iter().for_each(tokio::task::JoinHandle::abort);
        let done = done.load(Ordering::Relaxed);
        assert!(done <= 3 * SLICES, "{done} tasks had turns in the time of {SLICES} slices");
    }

    /// A paused task ends when the future that awaits it is dropped, even while the task of another
    /// caller runs.
    #[tokio::test]
    async fn a_paused_task_ends_with_its_caller() {
        let pool = Pool::new(1, Duration::from_secs(60));
        let (begin, begun) = mpsc::channel();
        let (held, gone) = mpsc::channel::<()>();
        let mut endless = Box::pin(pool.run_metered(ONE, move |meter| {
            let _held = held;
            begin.send(()).unwrap();
            while meter.charge(1).is_ok() {}
        }));
        assert!(endless.as_mut().now_or_never().is_none());
        begun.recv().unwrap();
        let (release, released) = mpsc::channel::<()>();
        let other = Caller::at("192.0.2.1".parse().unwrap());
        let mut holds = Box::pin(pool.run(other, move || released.recv()));
        assert!(holds.as_mut().now_or_never().is_none());
        while pool.load().paused == 0 {
            tokio::task::yield_now().await;
            assert!(holds.as_mut().now_or_never().is_none());
        }
        drop(endless);
        assert!(gone.recv().is_err(), "it has ended");
        assert_eq!((pool.load().running, pool.load().paused), (1, 0));
        drop(release);
        assert!(holds.await.is_ok());
        assert_eq!(pool.run(ONE, || 3).await, Ok(3));
    }
}
