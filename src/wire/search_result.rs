//! "Search response element" and "Filter response element".

use std::io::Write as _;

use figdex_index::{Catalogue, Hit};

use super::{Fault, array, figi, json};
use crate::config::SearchEnvelope;
use crate::version::Version;

/// The answer of a search or a filter request.
pub(crate) enum PageAnswer {
    /// A page of rows.
    Rows {
        hits: Vec<Hit>,
        /// The cursor of the page that follows, if one does.
        next: Option<String>,
        /// The count of all rows, which filter tells.
        total: Option<u64>,
    },
    /// A fault of a field.
    Error(Fault),
}

/// Writes the answer: its keys in the decided order, and only those that say
/// something, since clients branch on their presence.
pub(crate) fn page(
    out: &mut Vec<u8>,
    version: Version,
    envelope: SearchEnvelope,
    catalogue: &Catalogue,
    answer: &PageAnswer,
) {
    match envelope {
        SearchEnvelope::Object => object(out, version, catalogue, answer),
        SearchEnvelope::Array => {
            array(out, &[answer], |out, answer| object(out, version, catalogue, answer));
        }
    }
}

fn object(out: &mut Vec<u8>, version: Version, catalogue: &Catalogue, answer: &PageAnswer) {
    match answer {
        PageAnswer::Error(fault) => json::message(out, "error", fault),
        PageAnswer::Rows { hits, next, total } => {
            catalogue.read_ahead(hits);
            out.reserve(figi::ROW_BYTES * hits.len());
            out.extend_from_slice(b"{\"data\":");
            array(out, hits, |out, hit| figi::write(out, version, catalogue.row(*hit)));
            if let Some(next) = next {
                out.extend_from_slice(b",\"next\":");
                json::string(out, next);
            }
            if let Some(total) = total {
                write!(out, ",\"total\":{total}").expect("writing into memory does not fail");
            }
            out.push(b'}');
        }
    }
}
