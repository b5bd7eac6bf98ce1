//! The rate limiter: fixed windows that start with a caller's first request.
//!
//! Time is an argument, so nothing here reads a clock. One lock guards the windows of a caller in
//! one version. So a request counts in all windows that apply to it or in none, and the counts are
//! exact even with many requests at once.
//!
//! Memory is bounded by [`TRACKED_MAX`]. When that many addresses have open windows, the windows
//! that reset soonest are forgotten, because their callers gain least. Refusing new addresses
//! instead would let a flood of addresses lock everyone out. A client with a quarter of a million
//! addresses gains nothing from one window that starts again. The windows of keys are never
//! forgotten: the operator decides how many keys there are.
//!
//! Rates may change while callers are counted ([`Limiter::with_rates`]). Counted requests also
//! count against the new rate; otherwise each change would give every caller a fresh window. An
//! open window keeps its end, or ends sooner if the new window is shorter.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::standing::Standing;
use super::{Rate, Rates, Span};
use crate::callers::Caller;
use crate::callers::version::Version;

/// The maximum number of addresses whose windows are kept. An address counts once for each version.
/// All windows together take about 80 MB.
pub const TRACKED_MAX: usize = 1 << 18;

/// The number of shards, each with its lock.
const SHARDS: usize = 64;

/// The number of callers at which a shard is first swept for windows that have ended.
const SWEEP_MIN: usize = 64;

/// The windows of all callers, and the rates that limit them.
pub struct Limiter {
    rates: Rates,
    callers: Arc<Callers>,
}

/// The windows of all callers, which survive a change of the rates.
struct Callers {
    epoch: Instant,
    hasher: RandomState,
    shards: Vec<Mutex<Shard>>,
    shard_max: usize,
    /// The number of refusals by each line of the rates, in the order of the lines.
    refusals: Vec<AtomicU64>,
}

/// The windows of some of the callers.
#[derive(Default)]
struct Shard {
    callers: HashMap<(Caller, Version), Windows>,
    /// The number of callers at which the shard is swept next. It is twice the number that the last
    /// sweep left, so that all sweeps together cost little.
    sweep_at: usize,
}

/// A caller's windows in one version, in the order of [`Span::ALL`].
type Windows = [Window; Span::ALL.len()];

#[derive(Clone, Copy, Default)]
struct Window {
    /// The end, as time since the limiter's epoch. A window that has ended counts nothing.
    ends: Duration,
    used: u32,
}

impl Limiter {
    /// A limiter without callers.
    pub fn new(rates: Rates, now: Instant) -> Self {
        Self::with_capacity(rates, now, SHARDS, TRACKED_MAX / SHARDS)
    }

    fn with_capacity(rates: Rates, epoch: Instant, shards: usize, shard_max: usize) -> Self {
        let shards = (0..shards).map(|_| Mutex::default()).collect();
        let refusals = rates.lines().iter().map(|_| AtomicU64::new(0)).collect();
        let hasher = RandomState::new();
        let callers = Callers { epoch, hasher, shards, shard_max, refusals };
        Self { rates, callers: Arc::new(callers) }
    }

    /// A limiter with other rates and the same counts. Requests that still use the old limiter
    /// count in both.
    #[must_use]
    pub fn with_rates(&self, rates: Rates, now: Instant) -> Self {
        let now = now.saturating_duration_since(self.callers.epoch);
        for shard in &self.callers.shards {
            for (&(caller, version), windows) in &mut shard.lock().callers {
                for line in rates.lines().iter().filter(|line| line.version == version) {
                    if let Some(rate) = line.rate(caller.has_key()) {
                        let window = &mut windows[line.span as usize];
                        window.ends = window.ends.min(now + rate.window());
                    }
                }
            }
        }
        Self { rates, callers: self.callers.clone() }
    }

    /// The number of refusals by each line of the rates. If several windows are full at once, only
    /// the one that the caller's headers report counts.
    pub(crate) fn refusals(&self) -> Vec<(Version, Span, u64)> {
        let counts = self.callers.refusals.iter().map(|count| count.load(Ordering::Relaxed));
        let lines = self.rates.lines().iter().zip(counts);
        lines.map(|(line, count)| (line.version, line.span, count)).collect()
    }

    fn count_refusal(&self, version: Version, place: usize) {
        for (line, count) in self.rates.lines().iter().zip(&self.callers.refusals) {
            if line.version == version && line.span as usize == place {
                count.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// Counts one request to an endpoint with this `span`. Returns the state of the tightest
    /// window, or `None` when nothing limits the request.
    pub fn admit(
        &self,
        caller: Caller,
        version: Version,
        span: Span,
        now: Instant,
    ) -> Result<Option<Standing>, Standing> {
        self.charge(caller, version, [span, Span::Total], 1, now)
    }

    /// Counts several requests at once, or none of them.
    ///
    /// # Errors
    /// As [`Limiter::admit`].
    pub fn admit_several(
        &self,
        caller: Caller,
        version: Version,
        span: Span,
        requests: u32,
        now: Instant,
    ) -> Result<Option<Standing>, Standing> {
        self.charge(caller, version, [span, Span::Total], requests, now)
    }

    /// The number of requests that a whole window of this span allows; `None` without a limit.
    pub fn whole_window(&self, caller: Caller, version: Version, span: Span) -> Option<u32> {
        let mut lines = self.rates.lines().iter();
        let line = lines.find(|line| line.version == version && line.span == span)?;
        line.rate(caller.has_key()).map(|rate| rate.count)
    }

    /// Counts the jobs of an admitted request.
    ///
    /// # Errors
    /// The state of the window, if it has room for fewer jobs; none of them then counts.
    pub fn charge_jobs(
        &self,
        caller: Caller,
        version: Version,
        jobs: u32,
        now: Instant,
    ) -> Result<(), Standing> {
        self.charge(caller, version, [Span::Jobs; 2], jobs, now).map(|_| ())
    }

    /// Counts `cost` in every window of these spans, or in none.
    fn charge(
        &self,
        caller: Caller,
        version: Version,
        spans: [Span; 2],
        cost: u32,
        now: Instant,
    ) -> Result<Option<Standing>, Standing> {
        let lines = || {
            let lines = self.rates.lines().iter();
            lines
                .filter(|line| line.version == version && spans.contains(&line.span))
                .filter_map(|line| Some((line.span as usize, line.rate(caller.has_key())?)))
        };
        if cost == 0 || lines().next().is_none() {
            return Ok(None);
        }
        let Callers { epoch, hasher, shards, shard_max, .. } = &*self.callers;
        let now = now.saturating_duration_since(*epoch);
        let id = (caller, version);
        let shard = hasher.hash_one(id) as usize % shards.len();
        let mut shard = shards[shard].lock();
        let windows = shard.windows(id, now, *shard_max);
        let full = lines()
            .filter(|&(place, rate)| windows[place].used(now).saturating_add(cost) > rate.count)
            .map(|(place, rate)| (place, windows[place].standing(rate, now)));
        if let Some((place, standing)) = tightest(full) {
            self.count_refusal(version, place);
            return Err(standing);
        }
        for (place, rate) in lines() {
            windows[place].count(cost, rate, now);
        }
        let standings = lines().map(|(place, rate)| (place, windows[place].standing(rate, now)));
        Ok(tightest(standings).map(|(_, standing)| standing))
    }
}

/// The most restrictive of several windows, with its place: the one with the fewest requests left
/// or, among equals, the one that resets last.
fn tightest(standings: impl Iterator<Item = (usize, Standing)>) -> Option<(usize, Standing)> {
    standings.min_by_key(|(_, standing)| (standing.remaining, u64::MAX - standing.reset_seconds))
}

impl Shard {
    fn windows(&mut self, id: (Caller, Version), now: Duration, max: usize) -> &mut Windows {
        if self.callers.len() >= self.sweep_at && !self.callers.contains_key(&id) {
            self.sweep(now, max);
        }
        self.callers.entry(id).or_default()
    }

    /// Makes room for one more caller. Removes windows that have ended. If that is not enough,
    /// removes the sixteenth of the addresses that resets soonest, so that a flood does not cause a
    /// sweep for each new address.
    fn sweep(&mut self, now: Duration, max: usize) {
        let ends = |windows: &Windows| windows.iter().map(|window| window.ends).max();
        self.callers.retain(|_, windows| ends(windows) > Some(now));
        if self.callers.len() >= max {
            let addresses = self.callers.iter().filter(|((caller, _), _)| !caller.has_key());
            let mut all: Vec<_> = addresses.map(|(_, windows)| ends(windows)).collect();
            if !all.is_empty() {
                let mut excess = all.len() / 16 + 1;
                let (_, last, _) = all.select_nth_unstable(excess - 1);
                let last = *last;
                self.callers.retain(|(caller, _), windows| {
                    // At most a sixteenth is removed, even if many reset at the same time.
                    let forgotten = !caller.has_key() && excess > 0 && ends(windows) <= last;
                    excess -= usize::from(forgotten);
                    !forgotten
                });
            }
        }
        self.sweep_at = (2 * self.callers.len()).clamp(SWEEP_MIN.min(max), max);
        self.callers.shrink_to(self.sweep_at);
    }
}

impl Window {
    fn used(&self, now: Duration) -> u32 {
        if now < self.ends { self.used } else { 0 }
    }

    fn count(&mut self, cost: u32, rate: Rate, now: Duration) {
        if now >= self.ends {
            *self = Self { ends: now + rate.window(), used: 0 };
        }
        self.used += cost;
    }

    fn standing(&self, rate: Rate, now: Duration) -> Standing {
        // A window that is not open still has its whole length left.
        let left = if now < self.ends { self.ends - now } else { rate.window() };
        Standing {
            limit: rate.count,
            remaining: rate.count.saturating_sub(self.used(now)),
            reset_seconds: left.as_secs() + u64::from(left.subsec_nanos() > 0),
            window_seconds: rate.seconds,
        }
    }
}

#[cfg(test)]
mod tests;
