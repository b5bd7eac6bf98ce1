//! The patience with a server. Progress of the server extends it: each answered identifier adds
//! time to an initial amount, and the bytes of an answer must come at a minimum rate. Without these
//! bounds, a server that asks to wait again and again would hold up the command for days.

use std::io::{self, Read};
use std::time::{Duration, Instant};

/// The bounds of the patience with a server.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// The longest time without an answered identifier.
    pub(super) without_progress: Duration,
    /// The time that each answered identifier adds, up to `without_progress`.
    pub(super) per_identifier: Duration,
    /// The longest time without a byte from or to a server.
    pub(super) silence: Duration,
    /// The fewest bytes of an answer in each span of `silence`.
    pub(super) bytes_min: u64,
}

impl Bounds {
    /// The bounds for the command. Twice the longest wait for a rate limit leaves time for the
    /// answer after it. Two identifiers a minute are fewer than any useful rate limit allows.
    ///
    /// Proxies usually wait 60 s for the server behind them. A server makes its largest answer in
    /// seconds, and a busy server says so sooner (503). 8 KiB/s are 64 kbit/s.
    pub(super) const COMMAND: Self = Self {
        without_progress: Duration::from_secs(7_200),
        per_identifier: Duration::from_secs(30),
        silence: Duration::from_secs(60),
        bytes_min: 60 * (8 << 10),
    };
}

/// The rest of the patience with a server.
#[derive(Debug)]
pub(super) struct Patience {
    bounds: Bounds,
    left: Duration,
    /// The time that the server has taken so far. `answered` counts the identifiers that it
    /// answered.
    spent: Duration,
    answered: usize,
}

impl Patience {
    pub(super) fn new(bounds: Bounds) -> Self {
        Self { bounds, left: bounds.without_progress, spent: Duration::ZERO, answered: 0 }
    }

    /// The time that is left.
    pub(super) fn left(&self) -> Duration {
        self.left
    }

    /// Subtracts the time since `start`, which was spent on waiting for the server.
    pub(super) fn spend(&mut self, start: Instant) {
        let time = start.elapsed();
        self.spent = self.spent.saturating_add(time);
        self.left = self.left.saturating_sub(time);
    }

    /// Adds time for `identifiers` that were answered.
    pub(super) fn earn(&mut self, identifiers: usize) {
        let count = u32::try_from(identifiers).unwrap_or(u32::MAX);
        let earned = self.bounds.per_identifier.saturating_mul(count);
        self.left = self.left.saturating_add(earned).min(self.bounds.without_progress);
        self.answered += identifiers;
    }

    /// The message when no patience is left.
    pub(super) fn end(&self) -> String {
        let Self { bounds, spent, answered, .. } = self;
        format!(
            "it is too slow: {answered} identifiers were answered in {} s. The command waits {} s, \
             and {} s more for each identifier that is answered; ask an index on this machine with \
             --index",
            spent.as_secs(),
            bounds.without_progress.as_secs(),
            bounds.per_identifier.as_secs()
        )
    }
}

/// A reader that fails when its bytes come too slowly. Otherwise an answer that brings a byte now
/// and then would never be silent, and never end.
pub(super) struct Paced<R> {
    reader: R,
    bounds: Bounds,
    /// The beginning of the current span. `bytes` counts the bytes that came in it.
    span: Instant,
    bytes: u64,
}

impl<R: Read> Paced<R> {
    pub(super) fn new(reader: R, bounds: Bounds) -> Self {
        Self { reader, bounds, span: Instant::now(), bytes: 0 }
    }
}

impl<R: Read> Read for Paced<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(out)?;
        self.bytes += read as u64;
        if read > 0 && self.span.elapsed() >= self.bounds.silence {
            if self.bytes < self.bounds.bytes_min {
                return Err(TooSlow { bytes: self.bytes, bounds: self.bounds }.into());
            }
            (self.span, self.bytes) = (Instant::now(), 0);
        }
        Ok(read)
    }
}

/// The failure of an answer whose bytes came too slowly.
#[derive(Debug, thiserror::Error)]
#[error("its answer is too slow: {bytes} bytes in {} s, where {} are the least",
    .bounds.silence.as_secs(), .bounds.bytes_min)]
struct TooSlow {
    bytes: u64,
    bounds: Bounds,
}

impl From<TooSlow> for io::Error {
    fn from(slow: TooSlow) -> Self {
        Self::new(io::ErrorKind::TimedOut, slow)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A list of N identifiers takes no longer than the time at the start and N times the time of
    /// one; and no saving makes the time without progress longer.
    #[test]
    fn patience_grows_with_answers_only() {
        let bounds = Bounds::COMMAND;
        let mut patience = Patience::new(bounds);
        patience.earn(usize::MAX);
        assert_eq!(patience.left(), bounds.without_progress);
        let ago = |seconds| Instant::now().checked_sub(Duration::from_secs(seconds)).unwrap();
        let mut patience = Patience::new(bounds);
        patience.spend(ago(100));
        assert!(patience.left() <= bounds.without_progress - Duration::from_secs(100));
        patience.earn(2);
        let left = bounds.without_progress - Duration::from_secs(40);
        assert!(patience.left() <= left && patience.left() > left - Duration::from_secs(10));
        assert!(patience.end().contains(": 2 identifiers were answered in 100 s."));
    }

    /// A fast beginning buys no slow end, and an answer that ends is never too slow.
    #[test]
    fn each_span_has_its_least_bytes() {
        struct Trickle(usize);

        impl Read for Trickle {
            fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
                self.0 += 1;
                match self.0 {
                    1 => Ok(out.len()),
                    _ => {
                        std::thread::sleep(Duration::from_millis(2));
                        Ok(1)
                    }
                }
            }
        }

        let bounds =
            Bounds { silence: Duration::from_millis(20), bytes_min: 100, ..Bounds::COMMAND };
        let mut all = Vec::new();
        let slow = Paced::new(Trickle(0), bounds).read_to_end(&mut all).unwrap_err();
        assert!(slow.to_string().starts_with("its answer is too slow: "), "{slow}");
        let short = Paced::new(Trickle(0).take(3), bounds).read_to_end(&mut Vec::new());
        assert_eq!(short.unwrap(), 3);
    }
}
