//! Texts that contain more than an identifier, or a ticker in another spelling: `IBM US Equity`,
//! `VOD:XLON`, `NASDAQ:AAPL`, `VOD.L`, `BRK.B`, `ISIN US4592001014`. Lists and suggestions share
//! these readings ([`recognise`]). They also share the faults of identifiers, which are reported
//! while somebody types.

use crate::instrument::id_type::{IdType, IdValue};
use crate::instrument::visible::Visible;
use crate::instrument::vocabulary::{Property, Vocabulary};
use crate::query::{Filters, KnownValues};
use crate::resolve::correction::{form_fault, form_fault_without_digit, right_check_digit};
use crate::resolve::finding::Finding;
use crate::resolve::recognise::{Reading, on_whole_markets, recognise};
use crate::resolve::trimmed::trimmed;
use crate::suggest::Suggest;

/// The units of work of finding the readings of a text. The values of two properties are compared.
pub(crate) const SPELLED_UNITS: u64 = 100;

/// The points of a row of the whole market in place of the exchange that the text names.
const ON_MARKET: i32 = -20;

/// An identifier, and the filters of the question, narrowed by the rest of the text.
pub(crate) struct Spelled {
    pub(crate) id_value: IdValue<'static>,
    pub(crate) filters: Filters,
    /// The points to add for this spelling.
    pub(crate) points: i32,
}

impl Spelled {
    /// Whether the text names the exchange of the listing, in addition to the filters.
    pub(crate) fn names_exchange(&self, question: &Suggest) -> bool {
        [Property::ExchCode, Property::MicCode].into_iter().any(|property| {
            let restricts = |filters: &Filters| filters.known.of(property).is_some();
            restricts(&self.filters) && !restricts(&question.filters)
        })
    }
}

/// The tickers that a text may mean, or the numbers that it labels. The text itself is left out
/// unless its reading narrows the filters. Readings that contradict the filters are left out too.
pub(crate) fn spelled(text: &str, filters: &Filters, vocabulary: &Vocabulary) -> Vec<Spelled> {
    let Ok(recognition) = recognise(text, vocabulary) else { return Vec::new() };
    let is_ticker = |reading: &Reading<'_>| reading.id_value.id_type() == IdType::Ticker;
    // Every text may be a ticker, except a number with a label.
    let is_labelled = !recognition.readings.iter().any(is_ticker);
    let readings = recognition.readings.into_iter().filter(|reading| {
        let is_narrowed = reading.narrowing != KnownValues::default();
        let is_text = reading.id_value.as_str().eq_ignore_ascii_case(text.trim());
        is_labelled || is_ticker(reading) && (is_narrowed || !is_text)
    });
    let on_market = on_whole_markets(text, vocabulary).into_iter();
    let all = readings.map(|reading| (reading, 0)).chain(on_market.map(|it| (it, ON_MARKET)));
    let spelled = all.filter_map(|(reading, points)| {
        let known = filters.known.and(&reading.narrowing)?;
        let id_value = reading.id_value.into_owned();
        Some(Spelled { id_value, filters: Filters { known, ..filters.clone() }, points })
    });
    spelled.collect()
}

/// The fault of a text that looks like an identifier, and its correction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misspelling {
    /// The fault, as a sentence without a full stop.
    pub finding: String,
    /// The identifier with its right check digit; `None` if identifiers of its type are not
    /// corrected.
    pub correction: Option<String>,
}

/// The fault of a text that looks like an identifier with a wrong check digit. Only identifiers of
/// the types `corrected` are corrected (contract 23.6).
pub fn misspelling(text: &str, vocabulary: &Vocabulary, corrected: Visible) -> Option<Misspelling> {
    let text = &*trimmed(text);
    let Finding::CheckDigit(id_type, _) = recognise(text, vocabulary).ok()?.finding? else {
        return None;
    };
    let correction = right_check_digit(id_type, text)?;
    Some(match corrected.has(id_type) {
        true => Misspelling { finding: form_fault(id_type, text), correction: Some(correction) },
        false => {
            let finding = form_fault_without_digit(id_type, text);
            Misspelling { finding, correction: None }
        }
    })
}
