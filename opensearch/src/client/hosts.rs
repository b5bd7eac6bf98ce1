//! The hosts of a cluster: decides which host is asked next, and which are left alone for a while.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use figdex_io::{ClusterAddress, ClusterHost};
use parking_lot::Mutex;
use tokio::time::Instant;

use super::{HostState, LATENCY_BUCKETS};

/// The time for which a host is left alone after its first failure. It doubles with each further
/// one, up to [`PAUSE_MAX`].
const PAUSE_MIN: Duration = Duration::from_secs(1);
const PAUSE_MAX: Duration = Duration::from_secs(30);

/// The time for which other calls wait while one call tries a failed host again.
const TRIAL: Duration = Duration::from_secs(5);

pub(super) struct Hosts {
    hosts: Vec<Host>,
    next: AtomicUsize,
    repeated: AtomicU64,
}

struct Host {
    name: String,
    failures: Mutex<Failures>,
    failed: AtomicU64,
    latency: [AtomicU64; LATENCY_BUCKETS.len() + 1],
    micros: AtomicU64,
}

/// The failures of a host since it last answered.
#[derive(Clone, Copy, Default)]
struct Failures {
    number: u32,
    /// The time until which the host is left alone.
    until: Option<Instant>,
    /// Whether a call tries the host again, while other calls still leave it alone.
    is_tried: bool,
}

impl Hosts {
    pub(super) fn new(address: &ClusterAddress) -> Self {
        let host = |host: &ClusterHost| Host {
            name: host.to_string(),
            failures: Mutex::default(),
            failed: AtomicU64::default(),
            latency: Default::default(),
            micros: AtomicU64::default(),
        };
        let hosts = address.hosts.iter().map(host).collect();
        Self { hosts, next: AtomicUsize::default(), repeated: AtomicU64::default() }
    }

    /// The order in which one call asks the hosts. Working hosts come first, and each call begins
    /// with a different one. Then come the hosts that are left alone, ordered by the end of their
    /// time.
    pub(super) fn in_turn(&self) -> Vec<usize> {
        let now = Instant::now();
        let first = self.next.fetch_add(1, Ordering::Relaxed);
        let count = self.hosts.len();
        let turn = (0..count).map(|place| first.wrapping_add(place) % count);
        let until = |host: &usize| {
            let until = self.hosts[*host].failures.lock().until;
            until.filter(|until| *until > now)
        };
        let mut order: Vec<_> = turn.map(|host| (until(&host), host)).collect();
        order.sort_by_key(|(until, _)| *until);
        if let Some((None, first)) = order.first() {
            self.hosts[*first].try_again(now);
        }
        order.into_iter().map(|(_, host)| host).collect()
    }

    pub(super) fn name(&self, host: usize) -> String {
        self.hosts[host].name.clone()
    }

    /// The names of all hosts.
    pub(super) fn all(&self) -> String {
        self.hosts.iter().map(|host| &*host.name).collect::<Vec<_>>().join(",")
    }

    pub(super) fn worked(&self, host: usize, time: Duration) {
        let host = &self.hosts[host];
        *host.failures.lock() = Failures::default();
        host.took(time);
    }

    pub(super) fn failed(&self, host: usize, time: Duration) {
        let host = &self.hosts[host];
        let mut failures = host.failures.lock();
        let pause = PAUSE_MIN.saturating_mul(1 << failures.number.min(10)).min(PAUSE_MAX);
        // Calls at the same time fail together. That counts once.
        let now = Instant::now();
        if failures.is_tried || failures.until.is_none_or(|until| until <= now) {
            let (number, until) = (failures.number + 1, Some(now + pause));
            *failures = Failures { number, until, is_tried: false };
        }
        drop(failures);
        host.failed.fetch_add(1, Ordering::Relaxed);
        host.took(time);
    }

    /// Counts a call that is repeated with another host.
    pub(super) fn repeats(&self) {
        self.repeated.fetch_add(1, Ordering::Relaxed);
    }

    /// The number of calls that were repeated.
    pub(super) fn repeated(&self) -> u64 {
        self.repeated.load(Ordering::Relaxed)
    }

    pub(super) fn states(&self) -> Vec<HostState> {
        let state = |host: &Host| HostState {
            name: host.name.clone(),
            is_failing: host.failures.lock().number > 0,
            failed: host.failed.load(Ordering::Relaxed),
            latency: host.latency.each_ref().map(|count| count.load(Ordering::Relaxed)),
            seconds: host.micros.load(Ordering::Relaxed) as f64 / 1e6,
        };
        self.hosts.iter().map(state).collect()
    }
}

impl Host {
    /// Lets the first asking call try a failed host. Other calls leave it alone a while longer, so
    /// that they do not all wait for a host that hangs.
    fn try_again(&self, now: Instant) {
        let mut failures = self.failures.lock();
        if failures.number > 0 {
            failures.until = Some(now + TRIAL);
            failures.is_tried = true;
        }
    }

    fn took(&self, time: Duration) {
        let seconds = time.as_secs_f64();
        let bucket = LATENCY_BUCKETS.partition_point(|bound| *bound < seconds);
        self.latency[bucket].fetch_add(1, Ordering::Relaxed);
        self.micros.fetch_add(time.as_micros() as u64, Ordering::Relaxed);
    }
}
