//! The progress of a build, reported through a callback.

use std::time::{Duration, Instant};

/// The progress of a build. The phases come in this order. A build without `--enrich` rows has no
/// `Joining`. `Reading` and `Indexing` end with a call that has the final numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress<'a> {
    /// Reading rows.
    Reading {
        /// The name of the current input.
        input: &'a str,
        /// Rows read so far, of all inputs, without those that a rule of the format leaves out.
        rows: u64,
        /// Bytes read so far, of all inputs, before unpacking.
        bytes: u64,
        /// Total size of all inputs, if all sizes are known in advance.
        bytes_total: Option<u64>,
    },
    /// Matching instruments with the rows of the `--enrich` inputs.
    Joining {
        /// Instruments so far.
        instruments: u64,
        /// An upper bound of their number.
        instruments_max: u64,
    },
    /// Indexing instruments.
    Indexing {
        /// Instruments so far, of all parts.
        instruments: u64,
        /// An upper bound of their number.
        instruments_max: u64,
    },
    /// Verifying and publishing the complete index.
    Publishing,
}

/// The shortest time between two calls.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(100);

/// The number of rows, or instruments, between two looks at the clock.
const PROGRESS_ROWS: u64 = 1 << 12;

/// Calls the callback with the progress, at most every [`PROGRESS_INTERVAL`].
pub(super) struct Clock<'a> {
    next: Instant,
    pub(super) progress: &'a mut dyn FnMut(Progress<'_>),
}

impl<'p> Clock<'p> {
    pub(super) fn new(progress: &'p mut dyn FnMut(Progress<'_>)) -> Self {
        Self { next: Instant::now() + PROGRESS_INTERVAL, progress }
    }

    /// Calls the callback if it is time. `count` is the number of rows or instruments so far.
    pub(super) fn tick<'a>(&mut self, count: u64, progress: impl FnOnce() -> Progress<'a>) {
        if count.is_multiple_of(PROGRESS_ROWS) && Instant::now() >= self.next {
            self.next = Instant::now() + PROGRESS_INTERVAL;
            (self.progress)(progress());
        }
    }
}
