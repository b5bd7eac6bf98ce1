//! The parameters of `GET /find` and its answer (contract 16.18 to 16.21).

use figdex_index::{FoundSecurity, Hit, QuestionReading, RowSource, Suggest, Visible, Vocabulary};

use super::json::{array, string};
use super::suggest::{misspelled, security};
use super::url_filters::{UrlFilters, keywords, once};
use super::{Fault, reading, search_result};
use crate::callers::version::Version;
use crate::config::UnknownEnum;

/// A request for what a text means, as the caller sent it.
pub(crate) struct FindRequest {
    pub(crate) typed: Suggest,
    /// The text of the cursor where the answer continues.
    pub(crate) start: Option<String>,
    /// Whether nothing is found, since all values of a property are outside its set.
    pub(crate) is_impossible: bool,
}

impl FindRequest {
    /// Reads the query string of the request.
    ///
    /// # Errors
    /// The text for the answer's `error`.
    pub(crate) fn parse(
        query: &str,
        vocabulary: &Vocabulary,
        unknown_enum: UnknownEnum,
    ) -> Result<Self, Fault> {
        let (mut text, mut start) = (None, None);
        let mut filters = UrlFilters::new(vocabulary, unknown_enum);
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            match &*name {
                "query" => once(&name, &mut text, value)?,
                "start" => once(&name, &mut start, value.into_owned())?,
                _ if filters.take_property(&name, &value)? => {}
                _ if filters.take_other(&name, &value)? => {}
                _ => return Err(super::invalid_key(&name)),
            }
        }
        let keywords = keywords(text.as_deref())?;
        let (filters, is_impossible) = filters.finish();
        Ok(Self { typed: Suggest { keywords, filters }, start, is_impossible })
    }
}

/// The answer of `GET /find`.
#[derive(Default)]
pub(crate) struct FindAnswer<'a> {
    /// The reading of the text, if it was read.
    pub(crate) reading: Option<&'a QuestionReading>,
    pub(crate) securities: &'a [FoundSecurity],
    /// The rows that the search finds.
    pub(crate) hits: &'a [Hit],
    /// The cursor of the next page, if there is one.
    pub(crate) next: Option<String>,
}

/// Writes the answer. `text` is the text as it was typed; on the first page its wrong check digit
/// is reported as in an answer of `/suggest`.
pub(crate) fn find(
    out: &mut Vec<u8>,
    (rows, vocabulary): (&impl RowSource, &Vocabulary),
    text: Option<&str>,
    answer: &FindAnswer<'_>,
    visible: Visible,
) {
    let FindAnswer { reading, securities, hits, next } = answer;
    out.push(b'{');
    if let Some(reading) = reading {
        out.extend_from_slice(b"\"reading\":");
        reading::write(out, reading, vocabulary);
        out.push(b',');
    }
    out.extend_from_slice(b"\"securities\":");
    array(out, securities, |out, FoundSecurity { suggestion, is_guess }| {
        security(out, rows, suggestion);
        super::json::reopen(out);
        out.extend_from_slice(b",\"isGuess\":");
        out.extend_from_slice(if *is_guess { b"true}" } else { b"false}" });
    });
    out.extend_from_slice(b",\"data\":");
    search_result::rows(out, Version::V3, rows, hits);
    if let Some(next) = next {
        out.extend_from_slice(b",\"next\":");
        string(out, next);
    }
    if let Some(text) = text {
        let found = securities.iter().map(|found| &found.suggestion);
        misspelled(out, vocabulary, text, found, visible);
    }
    out.push(b'}');
}
