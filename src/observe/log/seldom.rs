//! Limits lines that one cause would write without end. In each period, only the first occurrence
//! has a line. The line gives the number of earlier occurrences that have none.

use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

/// The time after a line in which further occurrences have no line.
const PERIOD: Duration = Duration::from_secs(10);

/// The occurrences of one cause.
pub(crate) struct Seldom(Mutex<Occurrences>);

struct Occurrences {
    line: Option<Instant>,
    /// The number of occurrences since that line.
    unwritten: u64,
}

impl Seldom {
    /// No occurrences yet.
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(Occurrences { line: None, unwritten: 0 }))
    }

    /// Counts an occurrence. If it should have a line, returns the number of earlier occurrences
    /// that had none.
    pub(crate) fn occurs(&self, now: Instant) -> Option<u64> {
        let mut occurrences = self.0.lock();
        if occurrences.line.is_some_and(|line| now.saturating_duration_since(line) < PERIOD) {
            occurrences.unwritten += 1;
            return None;
        }
        occurrences.line = Some(now);
        Some(std::mem::take(&mut occurrences.unwritten))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_in_a_period() {
        let (seldom, start) = (Seldom::new(), Instant::now());
        let at = |seconds| seldom.occurs(start + Duration::from_secs(seconds));
        assert_eq!([at(0), at(1), at(9)], [Some(0), None, None]);
        assert_eq!([at(10), at(19), at(60)], [Some(2), None, Some(1)]);
    }
}
