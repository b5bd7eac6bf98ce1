//! A mapping job's result: the rows found, a warning, or an error (contract 8).

use figdex_index::{Catalogue, Hit};

use super::{figi, json};
use crate::pieces::Pieces;
use crate::version::Version;
use crate::wire::in_pieces;

/// "Mapping job result": one of the three.
pub(crate) enum JobAnswer<'a> {
    Hits(&'a [Hit]),
    NoMatch,
    Error(&'a str),
}

/// Writes a mapping job result; its key is what clients branch on. The caller has made
/// room for its rows.
pub(crate) fn job_answer(
    out: &mut Pieces,
    version: Version,
    catalogue: &Catalogue,
    answer: JobAnswer<'_>,
) {
    match answer {
        JobAnswer::Error(fault) => json::message(out.last(), "error", fault),
        JobAnswer::NoMatch => {
            json::message(out.last(), version.no_match_key(), "No identifier found.");
        }
        JobAnswer::Hits(hits) => {
            out.last().extend_from_slice(b"{\"data\":");
            in_pieces(out, hits, |out, hit| figi::write(out.last(), version, catalogue.row(*hit)));
            out.last().push(b'}');
        }
    }
}
