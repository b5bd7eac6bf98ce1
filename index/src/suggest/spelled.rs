//! Texts that contain more than a ticker, or a ticker in another spelling: `IBM US Equity`,
//! `VOD:XLON`, `VOD.L`, `BRK.B`. Lists and suggestions share these readings ([`recognise`]). They
//! also share the faults of identifiers, which are reported while somebody types.

use crate::instrument::id_type::IdType;
use crate::instrument::vocabulary::Vocabulary;
use crate::query::{Filters, KnownValues};
use crate::resolve::correction::{form_fault, right_check_digit};
use crate::resolve::finding::Finding;
use crate::resolve::recognise::recognise;

/// The units of work of finding the readings of a text. The values of two properties are compared.
pub(crate) const SPELLED_UNITS: u64 = 100;

/// A ticker, and the filters of the question, narrowed by the rest of the text.
pub(crate) struct Spelled {
    pub(crate) ticker: String,
    pub(crate) filters: Filters,
}

/// The tickers that a text may mean. The text itself is left out unless its reading narrows the
/// filters. Readings that contradict the filters are left out too.
pub(crate) fn spelled(text: &str, filters: &Filters, vocabulary: &Vocabulary) -> Vec<Spelled> {
    let Ok(recognition) = recognise(text, vocabulary) else { return Vec::new() };
    let readings = recognition.readings.into_iter();
    let tickers = readings.filter(|reading| reading.id_value.id_type() == IdType::Ticker);
    let others = tickers.filter(|reading| {
        let is_narrowed = reading.narrowing != KnownValues::default();
        is_narrowed || !reading.id_value.as_str().eq_ignore_ascii_case(text.trim())
    });
    let spelled = others.filter_map(|reading| {
        let known = filters.known.and(&reading.narrowing)?;
        let ticker = reading.id_value.as_str().to_owned();
        Some(Spelled { ticker, filters: Filters { known, ..filters.clone() } })
    });
    spelled.collect()
}

/// The fault of a text that looks like an identifier, and its correction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misspelling {
    /// The fault, as a sentence without a full stop.
    pub finding: String,
    /// The identifier with its right check digit.
    pub correction: String,
}

/// The fault of a text that looks like an identifier with a wrong check digit.
pub fn misspelling(text: &str, vocabulary: &Vocabulary) -> Option<Misspelling> {
    let text = text.trim();
    let Finding::CheckDigit(id_type, _) = recognise(text, vocabulary).ok()?.finding? else {
        return None;
    };
    let correction = right_check_digit(id_type, text)?;
    Some(Misspelling { finding: form_fault(id_type, text), correction })
}
