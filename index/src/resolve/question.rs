//! One identifier of a list, ready to be looked up.

use std::borrow::Cow;
use std::sync::Arc;

use super::column::{is_in_tickers, is_of_column};
use super::correction::{form_fault, form_fault_without_digit, right_check_digit};
use super::crosswalk::symbols::Vendor;
use super::finding::Finding;
use super::name_like::is_name_like;
use super::recognise::{NoIdentifier, Reading, Recognition, recognise_trimmed};
use super::spaced::{is_in_groups, joined_any};
use super::trimmed::trimmed;
use crate::instrument::id_type::{ID_VALUE_BYTES_MAX, IdType, IdValue};
use crate::instrument::visible::Visible;
use crate::instrument::vocabulary::Vocabulary;
use crate::query::{Filters, Lookup, QUERY_BYTES_MAX};

/// The units of work of finding all readings of a text.
pub const QUESTION_UNITS: u64 = 120;

/// One identifier of a list: the lookups that may find it, and its fault, if it has one.
#[derive(Clone, Debug)]
pub struct Question<'a> {
    /// A lookup for each reading, the surest first.
    pub(crate) lookups: Vec<Lookup<'a>>,
    /// The number of lookups at the end of `lookups` that count only if the others find no row.
    pub(crate) fallbacks: usize,
    /// The fault of the identifier. It is reported if no lookup finds a row and
    /// [`Question::is_invalid_unfound`] holds.
    pub(crate) fault: Option<Fault<'a>>,
    /// The text, if it was read without a type.
    pub(crate) text: Option<FreeText<'a>>,
}

/// A text that was read without a type.
#[derive(Clone, Debug)]
pub(crate) struct FreeText<'a> {
    pub(crate) text: Cow<'a, str>,
    /// The filters of the question; `None` means the default ones.
    pub(crate) filters: Option<Arc<Filters>>,
    /// Whether the text is written like a name. Then the last lookup is that of the text as a
    /// ticker.
    pub(crate) is_name_like: bool,
}

/// The fault of an identifier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault<'a> {
    /// The faulty identifier with its type; `None` when it cannot have corrections.
    pub(crate) of: Option<(IdType, Cow<'a, str>)>,
    /// The fault as a sentence without a full stop.
    pub(crate) reason: String,
}

impl Fault<'_> {
    /// The fault for an answer in which only identifiers of the types `corrected` are corrected.
    pub(crate) fn reason_for(&self, corrected: Visible) -> Cow<'static, str> {
        match &self.of {
            Some((id_type, text)) if !corrected.has(*id_type) => {
                form_fault_without_digit(*id_type, text).into()
            }
            _ => self.reason.clone().into(),
        }
    }
}

impl<'a> Question<'a> {
    /// A question about a text. The lookup of each reading has these filters, narrowed by the
    /// market that the reading names.
    pub fn text(text: &'a str, vocabulary: &Vocabulary, filters: Option<&Arc<Filters>>) -> Self {
        Self::recognised(text, None, vocabulary, filters)
    }

    /// A question about a text of a column that was recognised as `id_type`. Only readings that are
    /// expected in such a column count (`is_of_column`).
    pub fn of_column(
        text: &'a str,
        id_type: IdType,
        vocabulary: &Vocabulary,
        filters: Option<&Arc<Filters>>,
    ) -> Self {
        Self::recognised(text, Some(id_type), vocabulary, filters)
    }

    /// A question about a text by itself, or about a text of a column of the type `column`. If
    /// `text` is borrowed, the question borrows from it; otherwise the question owns its texts.
    pub fn of(
        text: &Cow<'a, str>,
        column: Option<IdType>,
        vocabulary: &Vocabulary,
        filters: Option<&Arc<Filters>>,
    ) -> Self {
        match text {
            Cow::Borrowed(text) => Self::recognised(text, column, vocabulary, filters),
            Cow::Owned(text) => {
                Question::recognised(text, column, vocabulary, filters).into_owned()
            }
        }
    }

    fn recognised(
        text: &'a str,
        only: Option<IdType>,
        vocabulary: &Vocabulary,
        filters: Option<&Arc<Filters>>,
    ) -> Self {
        match trimmed(text) {
            Cow::Borrowed(text) => Self::trimmed(text, only, vocabulary, filters),
            Cow::Owned(text) => Question::trimmed(&text, only, vocabulary, filters).into_owned(),
        }
    }

    fn trimmed(
        text: &'a str,
        only: Option<IdType>,
        vocabulary: &Vocabulary,
        filters: Option<&Arc<Filters>>,
    ) -> Self {
        let recognition = match recognise_trimmed(text, vocabulary) {
            Ok(recognition) => recognition,
            Err(reason) => {
                let is_long =
                    matches!(reason, NoIdentifier::TooLong(bytes) if bytes <= QUERY_BYTES_MAX);
                let long = (only.is_none() && is_long).then(|| FreeText {
                    text: Cow::Borrowed(text),
                    filters: filters.cloned(),
                    is_name_like: false,
                });
                return Self { text: long, ..Self::invalid(reason.to_string()) };
            }
        };
        let is_name_like = only.is_none() && is_name_like(text, &recognition.readings);
        let Recognition { readings, spaced, finding } = recognition;
        let is_expected = |reading: &Reading<'_>| {
            only.is_none_or(|only| is_of_column(reading.id_value.id_type(), only))
        };
        // A column of tickers also has identifiers of other types, such as the CUSIPs of bonds.
        let is_of_tickers = only == Some(IdType::Ticker);
        let expected = readings.iter().filter(|reading| is_expected(reading)).count();
        let (mut lookups, mut others) = (Vec::with_capacity(expected), Vec::new());
        for reading in readings {
            if is_expected(&reading) {
                lookups.extend(lookup_of(reading, filters));
            } else if is_of_tickers && is_in_tickers(reading.id_value.id_type()) {
                others.extend(lookup_of(reading, filters));
            }
        }
        let surest = lookups.len();
        lookups.append(&mut others);
        let spaced = spaced.into_iter().filter(|one| is_of_tickers || is_expected(one));
        lookups.extend(spaced.filter_map(|reading| lookup_of(reading, filters)));
        let fallbacks = lookups.len() - surest;
        // A list has thousands of questions with a single lookup.
        lookups.shrink_to_fit();
        if let (Some(id_type), []) = (only, &lookups[..]) {
            // The check digit of an identifier in groups may be wrong.
            let joined = joined_any(text).filter(|_| is_in_groups(id_type));
            let joined = joined.filter(|joined| right_check_digit(id_type, joined).is_some());
            return Self::malformed(id_type, joined.map_or(Cow::Borrowed(text), Cow::Owned));
        }
        let fault = finding.map(|finding| match finding {
            Finding::CheckDigit(id_type, _) => Fault {
                of: Some((id_type, Cow::Borrowed(text))),
                reason: form_fault(id_type, text),
            },
            Finding::Rounded => Fault {
                of: None,
                reason: "a spreadsheet rounded this number and its digits are lost; format the \
                         column as text before you export it"
                    .to_owned(),
            },
        });
        let text = only.is_none().then(|| FreeText {
            text: Cow::Borrowed(text),
            filters: filters.cloned(),
            is_name_like,
        });
        Self { lookups, fallbacks, fault, text }
    }

    /// A question about a text whose type the caller gave.
    pub fn given(id_type: IdType, text: &'a str, filters: Option<&Arc<Filters>>) -> Self {
        match id_type.admit(text) {
            Ok(id_value) => Self::lookup(Lookup::sharing(id_value, filters.cloned())),
            Err(_) => Self::malformed(id_type, Cow::Borrowed(text)),
        }
    }

    /// A question about a symbol as a vendor spells it (contract 21.8).
    pub fn symbol(
        text: &str,
        vendor: Vendor,
        vocabulary: &Vocabulary,
        filters: Option<&Arc<Filters>>,
    ) -> Self {
        let text = trimmed(text);
        let reason = match text.len() {
            0 => Some(NoIdentifier::Blank),
            bytes if bytes > ID_VALUE_BYTES_MAX => Some(NoIdentifier::TooLong(bytes)),
            _ => None,
        };
        if let Some(reason) = reason {
            return Self::invalid(reason.to_string());
        }
        match vendor.readings(&text, vocabulary) {
            Ok(readings) => {
                let lookups = readings.into_iter().filter_map(|one| lookup_of(one, filters));
                Self { lookups: lookups.collect(), ..Self::unfound() }
            }
            Err(unknown) => Self::invalid(unknown.to_string()),
        }
    }

    /// A question about an admitted identifier, with its filters.
    pub fn lookup(lookup: Lookup<'a>) -> Self {
        Self { lookups: vec![lookup], fallbacks: 0, fault: None, text: None }
    }

    /// A question about an identifier that does not have the form of its idType.
    pub fn malformed(id_type: IdType, text: Cow<'a, str>) -> Self {
        let reason = form_fault(id_type, &text);
        let fault = Fault { of: Some((id_type, text)), reason };
        Self { fault: Some(fault), ..Self::unfound() }
    }

    /// A question about an identifier that cannot be looked up. `reason` is a sentence without a
    /// full stop.
    pub fn invalid(reason: String) -> Self {
        Self { fault: Some(Fault { of: None, reason }), ..Self::unfound() }
    }

    /// A question that no row can answer.
    pub fn unfound() -> Self {
        Self { lookups: Vec::new(), fallbacks: 0, fault: None, text: None }
    }

    /// The same question, without borrowed texts.
    pub fn into_owned(self) -> Question<'static> {
        let lookups = self.lookups.into_iter().map(Lookup::into_owned).collect();
        let fault = self.fault.map(|Fault { of, reason }| {
            let of = of.map(|(id_type, text)| (id_type, Cow::Owned(text.into_owned())));
            Fault { of, reason }
        });
        let text = self.text.map(|FreeText { text, filters, is_name_like }| FreeText {
            text: Cow::Owned(text.into_owned()),
            filters,
            is_name_like,
        });
        Question { lookups, fallbacks: self.fallbacks, fault, text }
    }

    /// The lookups without those that count only if these find no row.
    pub(crate) fn surest(&self) -> &[Lookup<'a>] {
        &self.lookups[..self.lookups.len() - self.fallbacks]
    }

    /// The lookups that count only if those before them find no row.
    pub(crate) fn fallbacks(&self) -> &[Lookup<'a>] {
        &self.lookups[self.lookups.len() - self.fallbacks..]
    }

    /// The ISIN that the lookups ask for, if one of them does.
    pub(crate) fn asked_isin(&self) -> Option<&str> {
        asked_isin(&self.lookups)
    }

    /// The text, if it is written like a name.
    pub(crate) fn name_like(&self) -> Option<&str> {
        let text = self.text.as_ref().filter(|text| text.is_name_like)?;
        Some(&text.text)
    }

    /// The text that may be a name, with the filters of the question. `None` when the text was read
    /// as one type, has no two letters, or has the form of an identifier with a check digit or of an
    /// option symbol.
    pub(crate) fn name(&self) -> Option<(&str, Option<&Filters>)> {
        use IdType::{BbGlobal, Cusip, Isin, Occ, Sedol};
        let FreeText { text, filters, .. } = self.text.as_ref()?;
        let types = self.lookups.iter().map(|lookup| lookup.id_value.id_type());
        let is_number = types
            .into_iter()
            .any(|id_type| matches!(id_type, BbGlobal | Cusip | Isin | Occ | Sedol));
        let has_letters = text.chars().filter(|c| c.is_alphabetic()).nth(1).is_some();
        (has_letters && !is_number).then_some((text, filters.as_deref()))
    }

    /// Whether the text is too long for an identifier, but not for a name.
    pub(crate) fn is_long_name(&self) -> bool {
        self.text.is_some() && self.lookups.is_empty()
    }

    /// The identifiers to look for corrections of if nothing was found: the faulty one, if there is
    /// one, then those that were looked up.
    pub(crate) fn correctable(&self) -> impl Iterator<Item = (IdType, &str)> {
        let looked_up = self.surest().iter().map(|lookup| &lookup.id_value);
        let looked_up = looked_up.map(|value: &IdValue<'_>| (value.id_type(), value.as_str()));
        let faulty = self.fault.iter().filter_map(|fault| fault.of.as_ref());
        faulty.map(|(id_type, text)| (*id_type, &**text)).chain(looked_up)
    }

    /// The faulty identifier with its right check digit, if identifiers of its type are corrected.
    pub(crate) fn right_check_digit(&self, corrected: Visible) -> Option<String> {
        let (id_type, text) = self.fault.as_ref()?.of.as_ref()?;
        corrected.has(*id_type).then(|| right_check_digit(*id_type, text))?
    }

    /// Whether the identifier counts as invalid if no lookup finds a row: a fault was found, and
    /// every reading, if there is one, is a ticker, which any text may be.
    pub(crate) fn is_invalid_unfound(&self) -> bool {
        let only_tickers = || self.surest().iter().all(|l| l.id_value.id_type() == IdType::Ticker);
        self.fault.is_some() && only_tickers()
    }
}

/// The lookup of a reading, narrowed by it; `None` when nothing can pass both its market and the
/// filters.
fn lookup_of<'a>(reading: Reading<'a>, filters: Option<&Arc<Filters>>) -> Option<Lookup<'a>> {
    let filters = if reading.narrowing == Default::default() {
        filters.cloned()
    } else {
        // No filters are the default ones.
        let mut filters = filters.map_or_else(Filters::default, |filters| Filters::clone(filters));
        filters.known = filters.known.and(&reading.narrowing)?;
        Some(Arc::new(filters))
    };
    Some(Lookup::sharing(reading.id_value, filters))
}

/// The ISIN that lookups ask for, if one of them does.
pub(super) fn asked_isin<'a>(lookups: &'a [Lookup<'_>]) -> Option<&'a str> {
    let mut values = lookups.iter().map(|lookup| &lookup.id_value);
    values.find(|value| value.id_type() == IdType::Isin).map(IdValue::as_str)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::resolve::recognise::recognise;

    fn vocabulary() -> Vocabulary {
        use crate::instrument::vocabulary::Property;
        Vocabulary::new([(Property::ExchCode, "US".to_owned())])
    }

    /// The lookups of a question, and their number without the fallbacks.
    fn lookups(text: &str, column: Option<IdType>) -> (Vec<(IdType, String)>, usize) {
        let question = Question::recognised(text, column, &vocabulary(), None).into_owned();
        let value =
            |lookup: &Lookup<'_>| (lookup.id_value.id_type(), lookup.id_value.as_str().to_owned());
        (question.lookups.iter().map(value).collect(), question.surest().len())
    }

    /// contract 17.2.
    #[test]
    fn groups_count_where_nothing_else_is_found() {
        let isin = (IdType::Isin, "US0378331005".to_owned());
        let ticker = (IdType::Ticker, "US 037833 1005".to_owned());
        let of = |column| lookups("us 037833 1005", column);
        assert_eq!(of(None), (vec![ticker.clone(), isin.clone()], 1));
        assert_eq!(of(Some(IdType::Isin)), (vec![isin.clone()], 0));
        assert_eq!(of(Some(IdType::Ticker)), (vec![ticker, isin], 1));
        let wrong = Question::recognised("US 037833 1006", Some(IdType::Isin), &vocabulary(), None);
        assert_eq!(wrong.fault.unwrap().reason, "ID_ISIN: the check digit should be 5");
        let labelled = lookups("ISIN: US 0378331005", None);
        assert_eq!(labelled.0.last().unwrap().0, IdType::Isin);
    }

    /// contract 17.4: a column of tickers also has CUSIPs of bonds.
    #[test]
    fn texts_of_a_column_of_tickers_may_be_other_identifiers() {
        let types = |text| {
            let (lookups, surest) = lookups(text, Some(IdType::Ticker));
            let types: Vec<IdType> = lookups.into_iter().map(|(id_type, _)| id_type).collect();
            (types, surest)
        };
        assert_eq!(types("91282CJN2"), (vec![IdType::Ticker, IdType::Cusip], 1));
        assert_eq!(types("037833AK6"), (vec![IdType::Ticker, IdType::Cusip], 1));
        assert_eq!(types("0798059"), (vec![IdType::Ticker, IdType::Sedol], 1));
        assert_eq!(types("037833AK7"), (vec![IdType::Ticker], 1), "a wrong check digit");
        assert_eq!(types("851399"), (vec![IdType::Ticker], 1), "a WKN has no check digit");
    }

    proptest! {
        /// contract 17.2: no text loses a reading, and further ones count only after all of these.
        #[test]
        fn further_readings_come_last(
            text in "[A-Z]{2}[ -]?[0-9]{3}[ -]?[0-9]{6}[ -]?[0-9]|[0-9]{6}[ -]?[0-9]{2}[ -]?[0-9]|[A-Z]{1,5} [A-Z]{2}|.{0,20}",
        ) {
            let vocabulary = vocabulary();
            if let Ok(recognition) = recognise(&text, &vocabulary) {
                let readings = recognition.readings.iter();
                let expected: Vec<(IdType, String)> = readings
                    .map(|it| (it.id_value.id_type(), it.id_value.as_str().to_owned()))
                    .collect();
                let (found, surest) = lookups(&text, None);
                prop_assert_eq!(&found[..surest], &expected[..]);
                let of_tickers = |(id_type, _): &(IdType, String)| *id_type == IdType::Ticker;
                let tickers: Vec<_> = expected.into_iter().filter(of_tickers).collect();
                let (found, surest) = lookups(&text, Some(IdType::Ticker));
                prop_assert_eq!(&found[..surest], &tickers[..]);
            }
        }
    }
}
