//! The result of a search or a filter: a page of rows, or an error (contract 8.3 to 8.6).

use std::io::Write as _;

use figdex_index::{Hit, RowSource};

use super::json::{array, message, string};
use super::{Fault, row};
use crate::callers::version::Version;
use crate::config::SearchEnvelope;

/// The result of a search or a filter.
pub(crate) enum SearchResult {
    /// A page of rows.
    Rows {
        hits: Vec<Hit>,
        /// The cursor of the next page, if there is one.
        next: Option<String>,
        /// The count of all rows; only for a filter.
        total: Option<u64>,
    },
    /// A fault of a field.
    Error(Fault),
}

/// Writes the result, in the envelope of `--search-envelope`. The members are in the order of
/// contract 8.4. `next` and `total` are left out when absent, since clients branch on their
/// presence.
pub(crate) fn write(
    out: &mut Vec<u8>,
    version: Version,
    envelope: SearchEnvelope,
    rows: &impl RowSource,
    result: &SearchResult,
) {
    match envelope {
        SearchEnvelope::Object => object(out, version, rows, result),
        SearchEnvelope::Array => {
            array(out, &[result], |out, result| object(out, version, rows, result));
        }
    }
}

fn object(out: &mut Vec<u8>, version: Version, rows: &impl RowSource, result: &SearchResult) {
    match result {
        SearchResult::Error(fault) => message(out, "error", fault),
        SearchResult::Rows { hits, next, total } => {
            out.extend_from_slice(b"{\"data\":");
            self::rows(out, version, rows, hits);
            if let Some(next) = next {
                out.extend_from_slice(b",\"next\":");
                string(out, next);
            }
            if let Some(total) = total {
                write!(out, ",\"total\":{total}").expect("writing into memory does not fail");
            }
            out.push(b'}');
        }
    }
}

/// Writes the rows of a page.
pub(super) fn rows(out: &mut Vec<u8>, version: Version, rows: &impl RowSource, hits: &[Hit]) {
    rows.read_ahead(hits);
    out.reserve(row::ROW_BYTES * hits.len());
    array(out, hits, |out, hit| row::write(out, version, rows.row(*hit)));
}
