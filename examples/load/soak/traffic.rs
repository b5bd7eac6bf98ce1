//! Mixed traffic at a fixed rate: the kinds of requests in turns, over connections that are reopened
//! now and then, and the answers.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use parking_lot::Mutex;
use tokio::task::JoinSet;

use crate::client::{Connection, fields};
use crate::drive::{begin, percentile_ms};
use crate::mixes::Kind;
use crate::questions::Questions;
use crate::sample::Sample;

/// The number of connections, and therefore the maximum number of requests in flight.
const CONNECTIONS: usize = 16;

/// The number of requests on a connection before it is reopened.
const REQUESTS_PER_CONNECTION: usize = 500;

/// The time to wait for an answer, longer than requests wait in the server.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);

/// The number of different requests of a kind.
const REQUESTS: usize = 1_000;

/// A kind of request.
pub(super) struct Stream {
    share: usize,
    requests: Vec<Vec<u8>>,
    /// The number of sent requests.
    sent: AtomicUsize,
}

impl Stream {
    /// Makes the requests of a kind, and checks their answers if they must have status 200.
    pub(super) fn new(kind: &Kind, sample: &Sample, address: SocketAddr) -> anyhow::Result<Self> {
        let questions = Questions::new(&kind.ask, REQUESTS, sample, address)?;
        if kind.status == 200 {
            questions.check(address)?;
        }
        let requests = questions.requests.to_vec();
        Ok(Self { share: kind.share, requests, sent: AtomicUsize::new(0) })
    }

    /// A stream of one repeated request.
    pub(super) fn constant(request: Vec<u8>) -> Self {
        Self { share: 1, requests: vec![request], sent: AtomicUsize::new(0) }
    }

    fn next(&self) -> &[u8] {
        let number = self.sent.fetch_add(1, Ordering::Relaxed);
        &self.requests[number % self.requests.len()]
    }
}

/// The answers to one kind of request, over some time.
#[derive(Clone, Default)]
pub(super) struct Answers {
    pub(super) latencies: Vec<Duration>,
    /// The number of answers by status.
    pub(super) statuses: BTreeMap<u16, usize>,
    /// The reasons why requests had no answer.
    pub(super) failures: Vec<String>,
}

impl Answers {
    pub(super) fn percentile_ms(&self, percent: usize) -> Option<f64> {
        percentile_ms(&self.latencies, percent)
    }
}

/// The answers of each stream since the last call of `take`.
#[derive(Clone)]
pub(super) struct Windows(Arc<Mutex<Vec<Answers>>>);

impl Windows {
    pub(super) fn of(streams: &[Stream]) -> Self {
        Self(Arc::new(Mutex::new(vec![Answers::default(); streams.len()])))
    }

    pub(super) fn take(&self) -> Vec<Answers> {
        let mut all = self.0.lock();
        let empty = vec![Answers::default(); all.len()];
        std::mem::replace(&mut *all, empty)
    }

    fn record(&self, stream: usize, status: Result<u16, String>, latency: Duration) {
        let answers = &mut self.0.lock()[stream];
        match status {
            Ok(status) => {
                *answers.statuses.entry(status).or_default() += 1;
                answers.latencies.push(latency);
            }
            Err(reason) => answers.failures.push(reason),
        }
    }
}

/// Sends `rate` requests a second for this time, on a separate thread.
pub(super) fn drive(
    address: SocketAddr,
    streams: Arc<[Stream]>,
    windows: Windows,
    rate: usize,
    time: Range<Instant>,
) -> anyhow::Result<JoinHandle<anyhow::Result<()>>> {
    let turns: Arc<[usize]> = turns(&streams).into();
    let send = move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            let next = Arc::new(AtomicUsize::new(0));
            let mut tasks = JoinSet::new();
            for _ in 0..CONNECTIONS {
                let sender = Sender {
                    address,
                    streams: streams.clone(),
                    turns: turns.clone(),
                    windows: windows.clone(),
                    next: next.clone(),
                    connection: None,
                    sent: 0,
                };
                tasks.spawn(sender.run(rate, time.clone()));
            }
            while let Some(task) = tasks.join_next().await {
                task.context("a task does not panic")?;
            }
            anyhow::Ok(())
        })
    };
    Ok(std::thread::Builder::new().name("traffic".to_owned()).spawn(send)?)
}

/// The repeating order in which the streams send. Each stream occurs as often as its share, spread
/// evenly.
fn turns(streams: &[Stream]) -> Vec<usize> {
    let places = streams.iter().enumerate().flat_map(|(stream, Stream { share, .. })| {
        (0..*share).map(move |turn| ((turn as f64 + 0.5) / *share as f64, stream))
    });
    let mut places: Vec<_> = places.collect();
    places.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
    places.into_iter().map(|(_, stream)| stream).collect()
}

/// The sender of one connection.
struct Sender {
    address: SocketAddr,
    streams: Arc<[Stream]>,
    turns: Arc<[usize]>,
    windows: Windows,
    /// The number of the next request. All senders share this count.
    next: Arc<AtomicUsize>,
    connection: Option<Connection>,
    /// The number of requests sent over this connection.
    sent: usize,
}

impl Sender {
    async fn run(mut self, rate: usize, time: Range<Instant>) {
        let count = (rate as f64 * (time.end - time.start).as_secs_f64()).round() as usize;
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                return;
            }
            let due = time.start + Duration::from_secs_f64(number as f64 / rate as f64);
            let begun = begin(due).await;
            let stream = self.turns[number % self.turns.len()];
            let status = tokio::time::timeout(ANSWER_TIMEOUT, self.ask(stream)).await;
            let status = status.context("no answer in time").flatten();
            let status = status.map_err(|error| format!("{error:#}"));
            self.windows.record(stream, status, begun.elapsed());
        }
    }

    /// Sends one request, and returns the status of its answer.
    async fn ask(&mut self, stream: usize) -> anyhow::Result<u16> {
        let mut connection = match self.connection.take() {
            Some(connection) if self.sent < REQUESTS_PER_CONNECTION => connection,
            _ => {
                self.sent = 0;
                Connection::open(self.address).await?
            }
        };
        let answer = connection.exchange(self.streams[stream].next()).await?;
        let status = answer.status;
        let closes = fields(answer.headers).any(|(name, value)| {
            name.eq_ignore_ascii_case("connection") && value.eq_ignore_ascii_case("close")
        });
        self.sent += 1;
        self.connection = (!closes).then_some(connection);
        Ok(status)
    }
}
