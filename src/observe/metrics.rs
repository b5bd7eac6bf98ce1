//! What the server counts of itself, and the page on which Prometheus reads it.
//!
//! Counted here is what belongs to no other module: requests, connections, reloads. The
//! limiter, the turns and the index count their own in plain numbers; `text` asks them
//! when somebody reads. No label has a value that a stranger chooses.

use std::sync::Arc;
use std::time::Duration;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;

use super::labels::Answered;
use crate::request::Route;

/// Upper bounds of a request's time, in seconds: from what a small answer takes to what
/// a heavy one may, its wait for a turn and its body's way here included.
const SECONDS: [f64; 18] = [
    20e-6, 50e-6, 100e-6, 200e-6, 500e-6, 1e-3, 2e-3, 5e-3, 10e-3, 20e-3, 50e-3, 100e-3, 200e-3,
    500e-3, 1.0, 2.0, 5.0, 10.0,
];

/// What is counted, since the server began.
pub(crate) struct Metrics {
    pub(crate) requests: Family<Answered, Counter>,
    pub(crate) request_seconds: Family<Route, Histogram, fn() -> Histogram>,
    pub(crate) rows: Family<Route, Counter>,
    pub(crate) requests_in_flight: Gauge,
    /// Those of clients; operators have theirs on an address of their own.
    pub(crate) connections: Arc<ConnectionMetrics>,
    pub(crate) reloads_taken_up: Counter,
    pub(crate) reloads_refused: Counter,
    /// 1 while the index folder publishes what is not served.
    pub(crate) publication_refused: Gauge,
}

/// What is counted of the connections of one listener.
#[derive(Default)]
pub(crate) struct ConnectionMetrics {
    pub(crate) open: Gauge,
    pub(crate) accepted: Counter,
    /// The system had no descriptor for it, it was gone, or its address has as many as it may.
    pub(crate) refused: Counter,
    /// It was silent for too long, its head took too long, or it took its answer too slowly.
    pub(crate) timed_out: Counter,
    /// What came over it was no request, or had too great a head.
    pub(crate) malformed: Counter,
}

impl Default for Metrics {
    fn default() -> Self {
        Self {
            requests: Family::default(),
            request_seconds: Family::<Route, Histogram>::new_with_constructor(|| {
                Histogram::new(SECONDS)
            }),
            rows: Family::default(),
            requests_in_flight: Gauge::default(),
            connections: Arc::default(),
            reloads_taken_up: Counter::default(),
            reloads_refused: Counter::default(),
            publication_refused: Gauge::default(),
        }
    }
}

impl Metrics {
    /// Counts a request.
    pub(crate) fn answered(&self, route: Route, status: u16, rows: u64, elapsed: Duration) {
        self.requests.get_or_create(&Answered { route, status }).inc();
        self.request_seconds.get_or_create(&route).observe(elapsed.as_secs_f64());
        if rows > 0 {
            self.rows.get_or_create(&route).inc_by(rows);
        }
    }

    #[cfg(test)]
    pub(crate) fn count(&self, route: Route, status: u16) -> u64 {
        self.requests.get_or_create(&Answered { route, status }).get()
    }
}
