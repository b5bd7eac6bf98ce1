//! Mixed traffic at a fixed rate: the kinds of requests in turns, over connections that are
//! now and then opened anew, and what came back.

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
use crate::mixes;
use crate::questions::Questions;
use crate::sample::Sample;

/// Requests that may be on their way at a time.
const CONNECTIONS: usize = 16;

/// Requests that a connection is used for, so that many come and go.
const REQUESTS_PER_CONNECTION: usize = 500;

/// How long an answer is waited for: longer than the server lets anything wait.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);

/// Different requests of a kind.
const REQUESTS: usize = 1_000;

/// A kind of request.
pub(super) struct Stream {
    share: usize,
    requests: Vec<Vec<u8>>,
    /// How many were sent.
    sent: AtomicUsize,
}

impl Stream {
    /// The requests of a kind, of which it was looked whether they are answered as they
    /// should be.
    pub(super) fn new(
        stream: &mixes::Stream,
        sample: &Sample,
        address: SocketAddr,
    ) -> anyhow::Result<Self> {
        let requests = match &stream.ask {
            Some(ask) => {
                let questions = Questions::new(ask, REQUESTS, sample, address)?;
                questions.look(address)?;
                questions.requests.to_vec()
            }
            None => vec![stream.request().context("it has neither ask nor path")?],
        };
        Ok(Self { share: stream.share, requests, sent: AtomicUsize::new(0) })
    }

    /// One request, again and again.
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
pub(super) struct Seen {
    /// Of every answer.
    latencies: Vec<Duration>,
    /// How many answers had which status.
    pub(super) statuses: BTreeMap<u16, usize>,
    /// Why requests had no answer.
    pub(super) broken: Vec<String>,
}

impl Seen {
    pub(super) fn answers(&self) -> usize {
        self.latencies.len()
    }

    pub(super) fn percentile_ms(&self, percent: usize) -> Option<f64> {
        percentile_ms([self], percent)
    }
}

/// The latency that so many in a hundred of all these answers do not exceed, in
/// milliseconds; none without an answer.
pub(super) fn percentile_ms<'a>(
    seen: impl IntoIterator<Item = &'a Seen>,
    percent: usize,
) -> Option<f64> {
    let mut latencies: Vec<_> = seen.into_iter().flat_map(|seen| &seen.latencies).collect();
    if latencies.is_empty() {
        return None;
    }
    let rank = (latencies.len() * percent).div_ceil(100).max(1);
    let (_, latency, _) = latencies.select_nth_unstable(rank - 1);
    Some(latency.as_secs_f64() * 1e3)
}

/// What was seen since it was last taken, by the place of the stream.
#[derive(Clone)]
pub(super) struct Windows(Arc<Mutex<Vec<Seen>>>);

impl Windows {
    pub(super) fn of(streams: &[Stream]) -> Self {
        Self(Arc::new(Mutex::new(vec![Seen::default(); streams.len()])))
    }

    pub(super) fn take(&self) -> Vec<Seen> {
        let mut seen = self.0.lock();
        let empty = vec![Seen::default(); seen.len()];
        std::mem::replace(&mut *seen, empty)
    }

    fn note(&self, stream: usize, answered: Result<u16, String>, latency: Duration) {
        let seen = &mut self.0.lock()[stream];
        match answered {
            Ok(status) => {
                *seen.statuses.entry(status).or_default() += 1;
                seen.latencies.push(latency);
            }
            Err(reason) => seen.broken.push(reason),
        }
    }
}

/// Sends so many requests a second for that time, on a thread of its own.
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
            let mut talks = JoinSet::new();
            for _ in 0..CONNECTIONS {
                let talk = Talk {
                    address,
                    streams: streams.clone(),
                    turns: turns.clone(),
                    windows: windows.clone(),
                    next: next.clone(),
                    connection: None,
                    asked: 0,
                };
                talks.spawn(talk.go_on(rate, time.clone()));
            }
            while let Some(talk) = talks.join_next().await {
                talk.context("a talk does not panic")?;
            }
            anyhow::Ok(())
        })
    };
    Ok(std::thread::Builder::new().name("traffic".to_owned()).spawn(send)?)
}

/// The streams in the order in which they are asked, again and again: each as often as its
/// share says, and evenly.
fn turns(streams: &[Stream]) -> Vec<usize> {
    let places = streams.iter().enumerate().flat_map(|(stream, Stream { share, .. })| {
        (0..*share).map(move |turn| ((turn as f64 + 0.5) / *share as f64, stream))
    });
    let mut places: Vec<_> = places.collect();
    places.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
    places.into_iter().map(|(_, stream)| stream).collect()
}

/// One that asks.
struct Talk {
    address: SocketAddr,
    streams: Arc<[Stream]>,
    turns: Arc<[usize]>,
    windows: Windows,
    /// The number of the next request, whoever sends it.
    next: Arc<AtomicUsize>,
    connection: Option<Connection>,
    /// Requests over this connection.
    asked: usize,
}

impl Talk {
    async fn go_on(mut self, rate: usize, time: Range<Instant>) {
        let count = (rate as f64 * (time.end - time.start).as_secs_f64()).round() as usize;
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                return;
            }
            // As in `drive::open_loop`: who is late began when it was due.
            let mut begun = time.start + Duration::from_secs_f64(number as f64 / rate as f64);
            if Instant::now() < begun {
                tokio::time::sleep_until(begun.into()).await;
                begun = Instant::now();
            }
            let stream = self.turns[number % self.turns.len()];
            let answered = tokio::time::timeout(ANSWER_TIMEOUT, self.ask(stream)).await;
            let answered = answered.context("no answer in time").flatten();
            let answered = answered.map_err(|error| format!("{error:#}"));
            self.windows.note(stream, answered, begun.elapsed());
        }
    }

    /// Asks once, and tells the status.
    async fn ask(&mut self, stream: usize) -> anyhow::Result<u16> {
        let mut connection = match self.connection.take() {
            Some(connection) if self.asked < REQUESTS_PER_CONNECTION => connection,
            _ => {
                self.asked = 0;
                Connection::open(self.address).await?
            }
        };
        let answer = connection.exchange(self.streams[stream].next()).await?;
        let status = answer.status;
        let closes = fields(answer.headers).any(|(name, value)| {
            name.eq_ignore_ascii_case("connection") && value.eq_ignore_ascii_case("close")
        });
        self.asked += 1;
        self.connection = (!closes).then_some(connection);
        Ok(status)
    }
}
