//! The result of one mapping job: rows, a warning or an error (contract 4.2).

use figdex_index::{Hit, RowSource};

use super::json::{array_in_pieces, message};
use super::row;
use crate::callers::version::Version;
use crate::http::pieces::Pieces;

/// The result of a job.
pub(crate) enum JobResult<'a> {
    /// At least one hit.
    Hits(&'a [Hit]),
    NoMatch,
    /// The text for the member `error`.
    Error(&'a str),
}

/// Writes the result as an object with one member. Its name shows clients the kind of result.
pub(crate) fn write(
    out: &mut Pieces,
    version: Version,
    rows: &impl RowSource,
    result: JobResult<'_>,
) {
    match result {
        JobResult::Error(fault) => message(out.last(), "error", fault),
        JobResult::NoMatch => message(out.last(), version.no_match_key(), "No identifier found."),
        JobResult::Hits(hits) => {
            out.last().extend_from_slice(b"{\"data\":");
            let write = |out: &mut Pieces, hit: &Hit| {
                row::write(out.last(), version, rows.row(*hit));
            };
            array_in_pieces(out, hits, write);
            out.last().push(b'}');
        }
    }
}
