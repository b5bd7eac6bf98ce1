//! Drives a server: many connections on one thread, as fast as answers come or at a fixed rate.
//!
//! Each turn has a separate thread and runtime, whose work is not counted as the server's. Every
//! answer must have status 200 and the prefix of its kind.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use tokio::task::JoinSet;

use crate::client::Connection;

/// Requests, the server that gets them, and the number of connections.
#[derive(Clone)]
pub(crate) struct Load {
    pub(crate) address: SocketAddr,
    pub(crate) requests: Arc<[Vec<u8>]>,
    /// The first bytes of every answer's body.
    pub(crate) prefix: &'static [u8],
    pub(crate) connections: usize,
}

/// The result of a turn, which has at least one answer.
pub(crate) struct Turn {
    pub(crate) answers_per_second: f64,
    latencies: Vec<Duration>,
}

impl Turn {
    fn new(latencies: Vec<Duration>, elapsed: Duration) -> anyhow::Result<Self> {
        // A latency of zero for no answer would look like the best.
        ensure!(!latencies.is_empty(), "no answer came in a turn: make the turns longer");
        Ok(Self { answers_per_second: latencies.len() as f64 / elapsed.as_secs_f64(), latencies })
    }

    /// The number of answers that came in time.
    pub(crate) fn answers(&self) -> usize {
        self.latencies.len()
    }

    pub(crate) fn percentile_ms(&self, percent: usize) -> f64 {
        percentile_ms(&self.latencies, percent).expect("a turn has answers")
    }
}

/// The latency that `percent` of these latencies do not exceed, in milliseconds; `None` if there
/// are no latencies.
pub(crate) fn percentile_ms<'a>(
    latencies: impl IntoIterator<Item = &'a Duration>,
    percent: usize,
) -> Option<f64> {
    let mut latencies: Vec<_> = latencies.into_iter().collect();
    let place = (latencies.len() * percent).div_ceil(100).checked_sub(1)?;
    let (_, latency, _) = latencies.select_nth_unstable(place);
    Some(latency.as_secs_f64() * 1e3)
}

/// The median of these figures; `None` if there are none.
pub(crate) fn median(figures: impl Iterator<Item = f64>) -> Option<f64> {
    let mut figures: Vec<_> = figures.collect();
    figures.sort_unstable_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied()
}

/// Sends requests for this time: each connection sends the next one as soon as it has an answer.
pub(crate) fn closed_loop(load: &Load, time: Duration) -> anyhow::Result<Turn> {
    on_a_thread(load, move |load, connections| async move {
        let started = Instant::now();
        let mut tasks = JoinSet::new();
        for (number, mut connection) in connections.into_iter().enumerate() {
            let load = load.clone();
            tasks.spawn(async move {
                let mut latencies = Vec::new();
                // Connections start at different requests, so that they do not send the same.
                let first = number * load.requests.len() / load.connections;
                let mut sent = Instant::now();
                for request in load.requests.iter().cycle().skip(first) {
                    ask(&mut connection, request, &load).await?;
                    let answered = Instant::now();
                    if answered - started > time {
                        break;
                    }
                    latencies.push(answered - sent);
                    sent = answered;
                }
                anyhow::Ok(latencies)
            });
        }
        // Answers that came after `time` are not counted.
        Turn::new(gather(tasks).await?, time)
    })?
    .join()
    .expect("a driver does not panic")
}

/// Sends `rate` requests a second, without waiting for earlier answers unless all connections are
/// busy.
pub(crate) fn open_loop(load: &Load, rate: usize, time: Duration) -> anyhow::Result<Turn> {
    let count = (rate as f64 * time.as_secs_f64()).round() as u64;
    on_a_thread(load, move |load, connections| async move {
        let started = Instant::now();
        let next = Arc::new(AtomicU64::new(0));
        let mut tasks = JoinSet::new();
        for mut connection in connections {
            let (load, next) = (load.clone(), next.clone());
            tasks.spawn(async move {
                let mut latencies = Vec::new();
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count {
                        return anyhow::Ok(latencies);
                    }
                    let due = started + time.mul_f64(number as f64 / count as f64);
                    let begun = begin(due).await;
                    let request = &load.requests[number as usize % load.requests.len()];
                    ask(&mut connection, request, &load).await?;
                    latencies.push(begun.elapsed());
                }
            });
        }
        Turn::new(gather(tasks).await?, started.elapsed())
    })?
    .join()
    .expect("a driver does not panic")
}

/// Waits until a request is due, and returns the beginning of its latency. If the connection was
/// still busy when the request was due, the latency begins at that time. Otherwise it begins now: a
/// timer that wakes up late is the driver's fault, not the server's.
pub(crate) async fn begin(due: Instant) -> Instant {
    if Instant::now() >= due {
        return due;
    }
    tokio::time::sleep_until(due.into()).await;
    Instant::now()
}

/// A load that continues until it is stopped.
pub(crate) struct BackgroundLoad {
    stop: Arc<AtomicBool>,
    answers: Arc<AtomicU64>,
    thread: JoinHandle<anyhow::Result<()>>,
}

impl BackgroundLoad {
    /// Starts the load, and returns once there are as many answers as connections or the load has
    /// failed.
    pub(crate) fn start(load: &Load) -> anyhow::Result<Self> {
        let (stop, answers) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let (stopped, counted) = (stop.clone(), answers.clone());
        let thread = on_a_thread(load, |load, connections| async move {
            let mut tasks = JoinSet::new();
            for (number, mut connection) in connections.into_iter().enumerate() {
                let (load, stopped, counted) = (load.clone(), stopped.clone(), counted.clone());
                tasks.spawn(async move {
                    for request in load.requests.iter().cycle().skip(number) {
                        ask(&mut connection, request, &load).await?;
                        counted.fetch_add(1, Ordering::Relaxed);
                        if stopped.load(Ordering::Relaxed) {
                            break;
                        }
                    }
                    anyhow::Ok(Vec::<()>::new())
                });
            }
            gather(tasks).await.map(|_| ())
        })?;
        let background = Self { stop, answers, thread };
        while background.answers() < load.connections as u64 && !background.thread.is_finished() {
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(background)
    }

    /// The number of answers so far.
    pub(crate) fn answers(&self) -> u64 {
        self.answers.load(Ordering::Relaxed)
    }

    /// Stops the load.
    ///
    /// # Errors
    /// When a request failed.
    pub(crate) fn stop(self) -> anyhow::Result<()> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().expect("a driver does not panic").context("in the background load")
    }
}

/// Runs `work` on a separate thread, with open connections.
fn on_a_thread<T, F>(
    load: &Load,
    work: impl FnOnce(Load, Vec<Connection>) -> F + Send + 'static,
) -> anyhow::Result<JoinHandle<anyhow::Result<T>>>
where
    T: Send + 'static,
    F: Future<Output = anyhow::Result<T>>,
{
    let load = load.clone();
    let run = move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            let mut connections = Vec::with_capacity(load.connections);
            for _ in 0..load.connections {
                connections.push(Connection::open(load.address).await?);
            }
            work(load, connections).await
        })
    };
    Ok(std::thread::Builder::new().name("driver".to_owned()).spawn(run)?)
}

async fn ask(connection: &mut Connection, request: &[u8], load: &Load) -> anyhow::Result<()> {
    let answer = connection.ask(request).await?;
    ensure!(
        answer.body.starts_with(load.prefix),
        "unexpected answer: {}",
        String::from_utf8_lossy(&answer.body[..answer.body.len().min(200)])
    );
    Ok(())
}

/// The results of all tasks together.
pub(crate) async fn gather<T: Send + 'static>(
    mut tasks: JoinSet<anyhow::Result<Vec<T>>>,
) -> anyhow::Result<Vec<T>> {
    let mut all = Vec::new();
    while let Some(task) = tasks.join_next().await {
        all.append(&mut task.expect("a task does not panic")?);
    }
    Ok(all)
}
