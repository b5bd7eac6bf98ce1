//! The parameters of `GET /suggest` and its answer (contract 16.1 to 16.3). Each row has the
//! members of a v3 row, and `listings`, `matched` and perhaps `matchedName`.

use std::io::Write as _;

use figdex_index::{
    Matched, QuestionReading, RowSource, Suggest, Suggestion, Visible, Vocabulary, misspelling,
};

use super::json::{array, reopen, string};
use super::url_filters::{UrlFilters, keywords, number_to, once};
use super::{Fault, reading, row};
use crate::callers::version::Version;
use crate::config::UnknownEnum;

/// The most suggestions that a request may ask for.
const LIMIT_MAX: usize = 50;

/// The number of suggestions if a request has no `limit`.
const LIMIT_DEFAULT: usize = 10;

/// A request for suggestions, as the caller sent it.
pub(crate) struct SuggestRequest {
    pub(crate) suggest: Suggest,
    pub(crate) limit: usize,
    /// Whether nothing is found, since all values of a property are outside its set.
    pub(crate) is_impossible: bool,
}

impl SuggestRequest {
    /// Reads the query string of the request.
    ///
    /// # Errors
    /// The text for the answer's `error`.
    pub(crate) fn parse(
        query: &str,
        vocabulary: &Vocabulary,
        unknown_enum: UnknownEnum,
    ) -> Result<Self, Fault> {
        let (mut text, mut limit) = (None, None);
        let mut filters = UrlFilters::new(vocabulary, unknown_enum);
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            match &*name {
                "query" => once(&name, &mut text, value)?,
                "limit" => once(&name, &mut limit, value)?,
                _ if filters.take_property(&name, &value)? => {}
                _ => return Err(super::invalid_key(&name)),
            }
        }
        let limit = number_to(LIMIT_MAX, limit.as_deref())?.unwrap_or(LIMIT_DEFAULT);
        let keywords = keywords(text.as_deref())?;
        let (filters, is_impossible) = filters.finish();
        Ok(Self { suggest: Suggest { keywords, filters }, limit, is_impossible })
    }
}

/// Writes the answer of `GET /suggest`. The fault of a text with a wrong check digit is included
/// unless a row carries the text as an identifier.
pub(crate) fn suggestions(
    out: &mut Vec<u8>,
    (rows, vocabulary): (&impl RowSource, &Vocabulary),
    (text, read): (&str, Option<&QuestionReading>),
    found: &[Suggestion],
    visible: Visible,
) {
    out.reserve((row::ROW_BYTES + 64) * found.len());
    out.push(b'{');
    if let Some(read) = read {
        out.extend_from_slice(b"\"reading\":");
        reading::write(out, read, vocabulary);
        out.push(b',');
    }
    out.extend_from_slice(b"\"data\":");
    array(out, found, |out, suggestion| security(out, rows, suggestion));
    misspelled(out, vocabulary, text, found.iter(), visible);
    out.push(b'}');
}

/// Writes the row that represents a security.
pub(super) fn security(out: &mut Vec<u8>, rows: &impl RowSource, suggestion: &Suggestion) {
    row::write(out, Version::V3, rows.row(suggestion.hit));
    reopen(out);
    write!(out, ",\"listings\":{},\"matched\":", suggestion.listings)
        .expect("writing into memory does not fail");
    array(out, &names(suggestion.matched), |out, name| string(out, name));
    if let Some(name) = &suggestion.matched_name {
        out.extend_from_slice(b",\"matchedName\":{\"kind\":");
        string(out, name.kind_name());
        out.extend_from_slice(b",\"name\":");
        string(out, &name.text);
        out.push(b'}');
    }
    out.push(b'}');
}

/// Writes the fault of a text with a wrong check digit, unless a row carries the text as an
/// identifier. The right one is left out if the caller may not see such identifiers.
pub(super) fn misspelled<'a>(
    out: &mut Vec<u8>,
    vocabulary: &Vocabulary,
    text: &str,
    mut found: impl Iterator<Item = &'a Suggestion>,
    visible: Visible,
) {
    let is_found = found.any(|suggestion| suggestion.matched.identifier);
    if !is_found && let Some(misspelling) = misspelling(text, vocabulary, visible) {
        out.extend_from_slice(b",\"finding\":");
        string(out, &misspelling.finding);
        if let Some(correction) = &misspelling.correction {
            out.extend_from_slice(b",\"correction\":");
            string(out, correction);
        }
    }
}

/// The names of the ways in which a row matched.
fn names(matched: Matched) -> Vec<&'static str> {
    let Matched { ticker, name, identifier, description, guess, exact: _ } = matched;
    let named = [
        (ticker, "ticker"),
        (name, "name"),
        (identifier, "identifier"),
        (description, "description"),
        (guess, "guess"),
    ];
    named.into_iter().filter_map(|(is_so, name)| is_so.then_some(name)).collect()
}
