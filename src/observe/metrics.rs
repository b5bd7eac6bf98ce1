//! The counts of requests, jobs, connections and reloads, which have no other module.
//!
//! The limiter, the pools, the budgets and the index keep their own counts as plain numbers, and
//! `routes::metrics` reads them when it renders the page. Clients cannot choose the value of any
//! label.

use std::sync::Arc;
use std::time::Duration;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;

use super::jobs::{ListJobs, MappingJobs};
use super::labels::RequestLabels;
use crate::request::Route;

/// The upper bounds of the buckets of request times, in seconds. They range from a small answer to
/// a heavy one, including the wait for a turn and the transfer of the body.
const BUCKETS: [f64; 18] = [
    20e-6, 50e-6, 100e-6, 200e-6, 500e-6, 1e-3, 2e-3, 5e-3, 10e-3, 20e-3, 50e-3, 100e-3, 200e-3,
    500e-3, 1.0, 2.0, 5.0, 10.0,
];

/// The counts since the server started.
pub(crate) struct Metrics {
    pub(crate) requests: Family<RequestLabels, Counter>,
    pub(crate) request_seconds: Family<Route, Histogram, fn() -> Histogram>,
    pub(crate) rows: Family<Route, Counter>,
    pub(crate) mapping_jobs: MappingJobs,
    pub(crate) list_jobs: ListJobs,
    pub(crate) requests_in_flight: Gauge,
    /// The connections of clients. Those of operators to their separate address do not count.
    pub(crate) connections: Arc<ConnectionMetrics>,
    /// The number of new generations that the server has switched to.
    pub(crate) reloads_taken_up: Counter,
    pub(crate) reloads_refused: Counter,
    /// 1 while the server refuses the published generation, or cannot find one.
    pub(crate) publication_refused: Gauge,
    /// The number of bytes of the served files that were read again.
    pub(crate) scrubbed_bytes: Counter,
    /// The number of passes over all served files.
    pub(crate) scrub_passes: Counter,
    /// The number of generations that a pass found damaged.
    pub(crate) scrub_damaged: Counter,
}

/// The counts of the connections of one listener.
#[derive(Default)]
pub(crate) struct ConnectionMetrics {
    pub(crate) open: Gauge,
    pub(crate) accepted: Counter,
    /// The number of connections that were refused: the system had no descriptor, the client closed
    /// them before they were accepted, or their address has as many as allowed.
    pub(crate) refused: Counter,
    /// The number of connections whose client was silent for too long, or too slow in sending a
    /// head or in reading an answer.
    pub(crate) timed_out: Counter,
    /// The number of connections with an invalid request, or with too large a head.
    pub(crate) malformed: Counter,
}

impl Default for Metrics {
    fn default() -> Self {
        Self {
            requests: Family::default(),
            request_seconds: Family::<Route, Histogram>::new_with_constructor(|| {
                Histogram::new(BUCKETS)
            }),
            rows: Family::default(),
            mapping_jobs: MappingJobs::default(),
            list_jobs: ListJobs::default(),
            requests_in_flight: Gauge::default(),
            connections: Arc::default(),
            reloads_taken_up: Counter::default(),
            reloads_refused: Counter::default(),
            publication_refused: Gauge::default(),
            scrubbed_bytes: Counter::default(),
            scrub_passes: Counter::default(),
            scrub_damaged: Counter::default(),
        }
    }
}

impl Metrics {
    /// Counts a request that has ended.
    pub(crate) fn count_request(&self, route: Route, status: u16, rows: u64, elapsed: Duration) {
        self.requests.get_or_create(&RequestLabels { route, status }).inc();
        self.request_seconds.get_or_create(&route).observe(elapsed.as_secs_f64());
        if rows > 0 {
            self.rows.get_or_create(&route).inc_by(rows);
        }
    }

    #[cfg(test)]
    pub(crate) fn count(&self, route: Route, status: u16) -> u64 {
        self.requests.get_or_create(&RequestLabels { route, status }).get()
    }
}
