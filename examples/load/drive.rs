//! Drives a server: many connections on one thread, as fast as answers come or at a fixed rate.
//!
//! Each turn has a separate thread and runtime, so that the driver's processor time is known
//! apart from the server's. Every answer must have status 200 and the prefix of its kind.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use tokio::task::JoinSet;

use crate::client::Connection;
use crate::process;

/// Requests, the server that gets them, and the number of connections.
#[derive(Clone)]
pub(crate) struct Load {
    pub(crate) address: SocketAddr,
    pub(crate) requests: Arc<[Vec<u8>]>,
    /// The first bytes of every answer's body.
    pub(crate) prefix: &'static [u8],
    pub(crate) connections: usize,
}

/// The result of a turn.
pub(crate) struct Turn {
    pub(crate) answers_per_second: f64,
    /// The latency of every answer, ascending.
    latencies: Vec<Duration>,
    /// Processor time of the driver's thread for each answer.
    pub(crate) driver_cpu: Duration,
}

impl Turn {
    fn new(
        mut latencies: Vec<Duration>,
        elapsed: Duration,
        driver_cpu: Duration,
    ) -> anyhow::Result<Self> {
        latencies.sort_unstable();
        let answers = latencies.len();
        // A latency of zero for no answer would look like the best.
        ensure!(answers > 0, "no answer came in a turn: make the turns longer");
        Ok(Self {
            answers_per_second: answers as f64 / elapsed.as_secs_f64(),
            latencies,
            driver_cpu: driver_cpu.div_f64(answers as f64),
        })
    }

    /// The number of answers that came in time.
    pub(crate) fn answers(&self) -> usize {
        self.latencies.len()
    }

    /// The latency that `percent` of the answers do not exceed.
    pub(crate) fn percentile(&self, percent: usize) -> Duration {
        let rank = (self.latencies.len() * percent).div_ceil(100);
        self.latencies[rank.saturating_sub(1)]
    }
}

/// Sends requests for this time: each connection sends the next one as soon as it has an answer.
pub(crate) fn closed_loop(load: &Load, time: Duration) -> anyhow::Result<Turn> {
    on_a_thread(load, move |load, connections| async move {
        let (started, cpu) = (Instant::now(), process::cpu_of_this_thread()?);
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
        let latencies = gather(tasks).await?;
        let cpu = process::cpu_of_this_thread()? - cpu;
        // Answers that came after `time` are not counted.
        Turn::new(latencies, time, cpu)
    })?
    .join()
    .expect("a driver does not panic")
}

/// Sends `rate` requests a second, whether or not earlier ones are answered.
///
/// A latency begins when its request was due, if all connections were busy then. If a connection
/// was waiting, it begins when the request is sent: a timer that wakes up late is the driver's
/// fault, not the server's.
pub(crate) fn open_loop(load: &Load, rate: usize, time: Duration) -> anyhow::Result<Turn> {
    let count = (rate as f64 * time.as_secs_f64()).round() as u64;
    on_a_thread(load, move |load, connections| async move {
        let (started, cpu) = (Instant::now(), process::cpu_of_this_thread()?);
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
                    let mut begun = started + time.mul_f64(number as f64 / count as f64);
                    if Instant::now() < begun {
                        tokio::time::sleep_until(begun.into()).await;
                        begun = Instant::now();
                    }
                    let request = &load.requests[number as usize % load.requests.len()];
                    ask(&mut connection, request, &load).await?;
                    latencies.push(begun.elapsed());
                }
            });
        }
        let latencies = gather(tasks).await?;
        let cpu = process::cpu_of_this_thread()? - cpu;
        Turn::new(latencies, started.elapsed(), cpu)
    })?
    .join()
    .expect("a driver does not panic")
}

/// A load that continues until it is stopped.
pub(crate) struct BackgroundLoad {
    stop: Arc<AtomicBool>,
    answers: Arc<AtomicU64>,
    thread: JoinHandle<anyhow::Result<()>>,
}

impl BackgroundLoad {
    /// Starts the load, and returns once each connection has had an answer.
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
                    anyhow::Ok(Vec::new())
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

async fn gather(
    mut tasks: JoinSet<anyhow::Result<Vec<Duration>>>,
) -> anyhow::Result<Vec<Duration>> {
    let mut all = Vec::new();
    while let Some(task) = tasks.join_next().await {
        all.append(&mut task.expect("a task does not panic")?);
    }
    Ok(all)
}
