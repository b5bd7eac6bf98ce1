//! Limits on one request, and on the rate of a caller's requests (contract 14). The rates are the
//! table of the contract. An operator can change its figures but not its lines. [`Limiter`] counts.

use std::time::Duration;

pub(crate) mod limiter;
mod rate;
pub(crate) mod standing;
mod tally;

pub use self::limiter::{Limiter, TRACKED_MAX};
pub use self::rate::Rate;
pub use self::standing::Standing;
pub(crate) use self::tally::Tally;
use crate::callers::version::Version;

/// The default maximum of mapping jobs in a request without a key: 10, because existing clients
/// send that many (contract 14.1).
pub const JOBS_MAX: usize = 10;

/// The default maximum of mapping jobs in a request with a key.
pub const JOBS_MAX_WITH_KEY: usize = 100;

/// The default maximum of jobs in a list without a key.
pub const LIST_JOBS_MAX: usize = 1_000;

/// The default maximum of jobs in a list with a key.
pub const LIST_JOBS_MAX_WITH_KEY: usize = 10_000;

/// The maximum number of rows that the jobs of one list may find together. If the list requests all
/// rows of its jobs, [`REQUEST_ROWS_MAX`] applies instead. It bounds the work of a list, not its
/// memory: a list keeps only a few candidates of each job.
pub const LIST_ROWS_MAX: usize = 2_000_000;

/// The maximum number of jobs of a list that asks for candidates of names (contract 17.15).
pub const CANDIDATE_JOBS_MAX: usize = 100;

/// The number of jobs that a job of such a list counts as: it may need a suggestion, which takes
/// ten to a hundred times the work of a lookup.
pub(crate) const CANDIDATE_JOB_PRICE: usize = 10;

/// The highest maximum of mapping jobs in one request that an operator can set. All jobs of a
/// request are in memory, at up to half a kilobyte each, before the first is answered: a wrong
/// value in the last job refuses the whole request.
pub const JOBS_MOST: usize = 10_000;

/// The maximum number of instruments that one mapping job may find.
pub const JOB_ROWS_MAX: usize = 15_000;

/// The maximum number of rows in the answer to one request, over all its jobs.
pub const REQUEST_ROWS_MAX: usize = 200_000;

/// The default maximum of bytes in the body of a request: about fifteen times the size of a hundred
/// jobs with every property, at about 700 bytes each.
pub const BODY_BYTES_MAX: usize = 1 << 20;

/// The maximum size, in bytes, of a search or filter body that is parsed and checked on a serving
/// thread. That takes at most 0.3 ms. A larger body is heavy work (`capacity::pool`). Mapping
/// requests and lists charge their bodies to their meter.
pub const INLINE_BODY_BYTES_MAX: usize = 64 << 10;

/// The units of work of writing a row, on the meter of an answer (`figdex_index::Meter`): 0.4 to
/// 0.9 µs (engine 5). A serving thread writes up to four hundred rows; more are heavy work.
pub(crate) const ROW_UNITS: u64 = 60;

/// The units of work of parsing a body, without interpreting it.
pub(crate) fn units_of_body(body: &[u8]) -> u64 {
    body.len() as u64 / 3
}

/// The memory budget for all request bodies together, in bytes. A large body beyond it is refused
/// with a 503.
pub const BODIES_BYTES_MAX: usize = 256 << 20;

/// The memory budget for all unsent answers together, in bytes. A large answer beyond it is refused
/// with a 503. The largest answer to a mapping request, of [`REQUEST_ROWS_MAX`] rows, has 60 MB.
pub const ANSWERS_BYTES_MAX: usize = 512 << 20;

/// The most memory of one answer, in bytes. With this bound, everything that a request holds stays
/// within 96 MB. Answers to mapping requests of [`REQUEST_ROWS_MAX`] rows fit; lists can ask for
/// more. A larger answer is refused as too large (contract 14.18).
pub const ANSWER_BYTES_MAX: usize = 80 << 20;

/// The maximum number of rows on a page of a search or filter answer.
pub const PAGE_ROWS_MAX: usize = 100;

/// The maximum number of pages of one query; with [`PAGE_ROWS_MAX`], the contract's 15,000 results.
pub const PAGES_MAX: u8 = 150;

/// The maximum number of values of an enum-like property in a search or filter request: more than a
/// person chooses, and few enough that looking a row up in the bitmap of each is cheap.
pub const ENUM_VALUES_MAX: usize = 100;

/// The number of instruments on a page of changes, if a request has no `limit` (contract 19.5).
pub const CHANGES_PAGE_INSTRUMENTS: usize = 1_000;

/// The maximum number of instruments on a page of changes.
pub const CHANGES_PAGE_INSTRUMENTS_MAX: usize = 10_000;

/// The number of bytes of text after which a page of changes ends, so that pages fit into the
/// memory of a request. Ten thousand changes of usual instruments take about 15 MB.
pub const CHANGES_PAGE_BYTES: usize = 16 << 20;

/// The units of work of writing an image of a changed instrument. It has all columns of an export.
pub(crate) const IMAGE_UNITS: u64 = 400;

/// The limits on one request. Like the rates, they may change while the server runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PerRequest {
    /// The maximum number of mapping jobs, without a key.
    pub jobs_max: usize,
    /// The maximum number of mapping jobs, with a key.
    pub jobs_max_with_key: usize,
    /// The maximum number of jobs in a list, without a key.
    pub list_jobs_max: usize,
    /// The maximum number of jobs in a list, with a key.
    pub list_jobs_max_with_key: usize,
    /// The maximum number of bytes in the body.
    pub body_bytes_max: usize,
}

impl PerRequest {
    /// The maximum number of jobs in a mapping request, and in a list.
    pub fn jobs(self, has_key: bool) -> (usize, usize) {
        match has_key {
            true => (self.jobs_max_with_key, self.list_jobs_max_with_key),
            false => (self.jobs_max, self.list_jobs_max),
        }
    }
}

/// The requests or jobs that a window counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span {
    /// Requests of mapping, values and search together (contract 14.7).
    Total,
    /// Requests of mapping and values.
    Mapping,
    /// Requests of search and filter.
    Search,
    /// Mapping jobs, in any number of requests.
    Jobs,
    /// Requests for suggestions, which have no version and are not part of the public contract.
    Suggest,
    /// Requests of the page for people, without a key (contract 14.22).
    Page,
    /// Pages of changes (contract 19.12).
    Changes,
    /// Requests for the Parquet file (contract 22.9).
    Parquet,
}

impl Span {
    /// All spans. The place of a span here is also its place among a caller's windows.
    pub const ALL: [Self; 8] = [
        Self::Total,
        Self::Mapping,
        Self::Search,
        Self::Jobs,
        Self::Suggest,
        Self::Page,
        Self::Changes,
        Self::Parquet,
    ];

    /// Its name in the file of settings and in the metrics.
    pub fn name(self) -> &'static str {
        match self {
            Self::Total => "total",
            Self::Mapping => "mapping",
            Self::Search => "search",
            Self::Jobs => "jobs",
            Self::Suggest => "suggest",
            Self::Page => "page",
            Self::Changes => "changes",
            Self::Parquet => "parquet",
        }
    }

    /// Whether the window of this span belongs to no version. Then it has one rate, with a key and
    /// without, and is kept with those of v3. The windows of [`Span::Changes`] and
    /// [`Span::Parquet`] belong to a caller, the others to an address, whatever key is sent.
    pub fn is_unversioned(self) -> bool {
        matches!(self, Self::Suggest | Self::Page | Self::Changes | Self::Parquet)
    }
}

/// One line of the table of rates. A rate of `None` limits nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// The version that the line applies to. Versions have separate windows.
    pub version: Version,
    /// The requests or jobs that the line counts.
    pub span: Span,
    /// The rate for a caller without a key.
    pub without_key: Option<Rate>,
    /// The rate for a caller with a key.
    pub with_key: Option<Rate>,
}

impl Line {
    /// The rate for a caller with a key, or for one without.
    pub fn rate(&self, has_key: bool) -> Option<Rate> {
        if has_key && !self.span.is_unversioned() { self.with_key } else { self.without_key }
    }
}

/// The request rates of all versions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rates(Vec<Line>);

impl Rates {
    /// The rates of contract 14.5 to 14.9. v1 has those of v2, and no search.
    pub const CONTRACT: [Line; 7] = [
        line(Version::V3, Span::Mapping, (25, 60), (25, 6)),
        line(Version::V3, Span::Search, (5, 60), (20, 60)),
        line(Version::V2, Span::Total, (5, 60), (250, 60)),
        line(Version::V2, Span::Search, (5, 60), (20, 60)),
        line(Version::V2, Span::Jobs, (25, 60), (25_000, 60)),
        line(Version::V1, Span::Total, (5, 60), (250, 60)),
        line(Version::V1, Span::Jobs, (25, 60), (25_000, 60)),
    ];

    /// The rate of `/suggest` for an address: ten a second, for a person who types. The windows of
    /// no version have one rate, so `with_key` is never used. A line must have a version, so this one is kept
    /// with those of v3.
    pub const SUGGEST: Line = line(Version::V3, Span::Suggest, (600, 60), (600, 60));

    /// The rate of the page's requests for an address: that of a person who clicks.
    pub const PAGE: Line = line(Version::V3, Span::Page, (600, 60), (600, 60));

    /// The rate of `/changes` for a caller: a page a second, so that a reader that is many nights
    /// behind catches up within minutes.
    pub const CHANGES: Line = line(Version::V3, Span::Changes, (60, 60), (60, 60));

    /// The rate of the Parquet file for a caller: that of an engine, which asks for dozens of ranges
    /// to answer one question.
    pub const PARQUET: Line = line(Version::V3, Span::Parquet, (1200, 60), (1200, 60));

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
        let others = [Self::SUGGEST, Self::PAGE, Self::CHANGES, Self::PARQUET];
        Self(Self::CONTRACT.into_iter().chain(others).collect())
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

/// The time that heavy work may wait for a thread. After it the answer is a 503.
pub(crate) const POOL_TIMEOUT: Duration = Duration::from_secs(5);

/// The default time in which a client must send the body of a request.
pub(crate) const BODY_TIMEOUT: Duration = Duration::from_secs(30);
