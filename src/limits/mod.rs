//! Chapter "Limits": the bounds on what one request may ask, and on how often a
//! caller may ask. The rates are a constant table, the contract's own; an operator
//! changes its figures, never its lines. Counting is [`Limiter`]'s affair.

use std::time::Duration;

pub(crate) mod limiter;
mod rate;
pub(crate) mod standing;
mod tally;

pub use self::limiter::{Limiter, TRACKED_MAX};
pub use self::rate::Rate;
pub use self::standing::Standing;
pub(crate) use self::tally::Tally;
use crate::version::Version;

/// Mapping jobs in one request without a key. The contract says 10 in its table and
/// 5 in its reference text; unchanged clients send 10 (decisions, "too many jobs").
pub const JOBS_MAX: usize = 10;

/// Mapping jobs in one request with a key.
pub const JOBS_MAX_WITH_KEY: usize = 100;

/// The most mapping jobs that an operator may allow in one request. All questions are kept
/// until the first is answered, of up to half a kilobyte each: a wrong value in the last job
/// refuses the whole request.
pub const JOBS_MOST: usize = 10_000;

/// Instruments that one mapping job may find.
pub const JOB_ROWS_MAX: usize = 15_000;

/// Rows that one request may write, over all its jobs.
pub const REQUEST_ROWS_MAX: usize = 200_000;

/// Bytes of a request's body. A job with every property is about 700 bytes, so that
/// a hundred of them fit ten times.
pub const BODY_BYTES_MAX: usize = 1 << 20;

/// Bytes of a body that are read and checked on the thread that serves everyone: 0.1 ms for
/// a hundred ordinary jobs, and at most 0.4 ms whatever is in it. A larger body waits for its
/// turn.
pub const INLINE_BODY_BYTES_MAX: usize = 64 << 10;

/// Bytes of all bodies together that are being read, or wait for their turn: beyond
/// that a great one is refused with a 503.
pub const BODIES_BYTES_MAX: usize = 256 << 20;

/// Bytes of all answers together that wait for slow readers: beyond that a great one
/// is refused with a 503. The greatest, of [`REQUEST_ROWS_MAX`], has about 60 MB.
pub const ANSWERS_BYTES_MAX: usize = 512 << 20;

/// Rows on one page of a search or filter answer.
pub const PAGE_ROWS_MAX: usize = 100;

/// Pages of one query; with [`PAGE_ROWS_MAX`] the contract's 15,000 results.
pub const PAGES_MAX: u8 = 150;

/// Values of one enum-like property in one search or filter request: more than a person
/// chooses, and few enough that looking a row up in each of their bitmaps stays cheap.
pub const ENUM_VALUES_MAX: usize = 100;

/// What one request may carry. A running server may be told anew, as of the rates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PerRequest {
    /// Its mapping jobs, without a key.
    pub jobs_max: usize,
    /// Its mapping jobs, with a key.
    pub jobs_max_with_key: usize,
    /// The bytes of its body.
    pub body_bytes_max: usize,
}

/// What a caller's window counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span {
    /// "Total requests": of mapping, values and search together.
    Total,
    /// Requests of mapping and values.
    Mapping,
    /// Requests of search and filter.
    Search,
    /// Mapping jobs, whatever requests they come in.
    Jobs,
    /// Requests for suggestions, which have no version and are not the contract's.
    Suggest,
}

impl Span {
    /// All of them; a span's place here is its place in a caller's windows.
    pub const ALL: [Self; 5] =
        [Self::Total, Self::Mapping, Self::Search, Self::Jobs, Self::Suggest];

    /// Its name in the configuration file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Total => "total",
            Self::Mapping => "mapping",
            Self::Search => "search",
            Self::Jobs => "jobs",
            Self::Suggest => "suggest",
        }
    }
}

/// One line of the table; `None` is no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// The version that it is about. Versions have separate windows.
    pub version: Version,
    /// What it counts.
    pub span: Span,
    /// For a caller who sends no key.
    pub without_key: Option<Rate>,
    /// For a caller with a key.
    pub with_key: Option<Rate>,
}

impl Line {
    /// The rate for a caller with a key, or for one without.
    pub fn rate(&self, has_key: bool) -> Option<Rate> {
        if has_key { self.with_key } else { self.without_key }
    }
}

/// The request rates of all versions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rates(Vec<Line>);

impl Rates {
    /// The contract's figures. It shows none for v1, which is "as v2" (decisions,
    /// "Keys and limits"), and has no search there.
    pub const CONTRACT: [Line; 7] = [
        line(Version::V3, Span::Mapping, (25, 60), (25, 6)),
        line(Version::V3, Span::Search, (5, 60), (20, 60)),
        line(Version::V2, Span::Total, (5, 60), (250, 60)),
        line(Version::V2, Span::Search, (5, 60), (20, 60)),
        line(Version::V2, Span::Jobs, (25, 60), (25_000, 60)),
        line(Version::V1, Span::Total, (5, 60), (250, 60)),
        line(Version::V1, Span::Jobs, (25, 60), (25_000, 60)),
    ];

    /// Ten a second of typing, for an address, whether or not it has a key. Kept among
    /// the windows of v3, since a line must be of a version.
    pub const SUGGEST: Line = line(Version::V3, Span::Suggest, (600, 60), (600, 60));

    /// The lines of the table.
    pub fn lines(&self) -> &[Line] {
        &self.0
    }

    /// The lines of the table, to change their figures.
    pub fn lines_mut(&mut self) -> &mut [Line] {
        &mut self.0
    }
}

impl Default for Rates {
    fn default() -> Self {
        Self(Self::CONTRACT.into_iter().chain([Self::SUGGEST]).collect())
    }
}

const fn line(version: Version, span: Span, without_key: (u32, u64), with_key: (u32, u64)) -> Line {
    Line {
        version,
        span,
        without_key: Some(Rate::new(without_key.0, without_key.1)),
        with_key: Some(Rate::new(with_key.0, with_key.1)),
    }
}

/// How long a heavy piece of work waits for its turn before the answer is 503.
pub(crate) const TURN_WAIT: Duration = Duration::from_secs(5);

/// How long a client may take to send a request's body.
pub(crate) const BODY_TIMEOUT: Duration = Duration::from_secs(30);
