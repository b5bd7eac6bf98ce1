//! Chapter "Limits": the bounds on what one request may ask. Request rates and
//! keys come here with their chapter.

/// Mapping jobs in one request. The contract says 10 in its table and 5 in its
/// reference text; unchanged clients send 10 (decisions, "too many jobs").
pub const JOBS_MAX: usize = 10;

/// Instruments that one mapping job may find.
pub const JOB_ROWS_MAX: usize = 15_000;

/// Rows that one request may write, over all its jobs.
pub const REQUEST_ROWS_MAX: usize = 200_000;

/// Bytes of a request's body. A job with every property is about 700 bytes.
pub const BODY_BYTES_MAX: usize = 1 << 20;

/// Rows on one page of a search or filter answer.
pub const PAGE_ROWS_MAX: usize = 100;

/// Pages of one query; with [`PAGE_ROWS_MAX`] the contract's 15,000 results.
pub const PAGES_MAX: u8 = 150;
