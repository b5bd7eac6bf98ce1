//! One identifier of a list, ready to be looked up.

use std::borrow::Cow;

use super::column::is_of_column;
use super::correction::{form_fault, right_check_digit};
use super::finding::Finding;
use super::recognise::{recognise, trimmed};
use crate::instrument::id_type::{IdType, IdValue};
use crate::instrument::vocabulary::Vocabulary;
use crate::query::{Filters, Lookup};

/// The units of work of finding all readings of a text.
pub const QUESTION_UNITS: u64 = 120;

/// One identifier of a list: the lookups that may find it, and its fault, if it has one.
#[derive(Clone, Debug)]
pub struct Question<'a> {
    /// A lookup for each reading, the surest first.
    pub(crate) lookups: Vec<Lookup<'a>>,
    /// The fault of the identifier. It is reported if no lookup finds a row and
    /// [`Question::is_invalid_unfound`] holds.
    pub(crate) fault: Option<Fault<'a>>,
}

/// The fault of an identifier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault<'a> {
    /// The faulty identifier with its type; `None` when it cannot have corrections.
    pub(crate) of: Option<(IdType, Cow<'a, str>)>,
    /// The fault as a sentence without a full stop.
    pub(crate) reason: String,
}

impl<'a> Question<'a> {
    /// A question about a text. The lookup of each reading has these filters, narrowed by the
    /// market that the reading names.
    pub fn text(text: &'a str, vocabulary: &Vocabulary, filters: Option<&Filters>) -> Self {
        Self::recognised(text, None, vocabulary, filters)
    }

    /// A question about a text of a column that was recognised as `id_type`. Only readings that are
    /// expected in such a column count (`is_of_column`).
    pub fn of_column(
        text: &'a str,
        id_type: IdType,
        vocabulary: &Vocabulary,
        filters: Option<&Filters>,
    ) -> Self {
        Self::recognised(text, Some(id_type), vocabulary, filters)
    }

    /// A question about a text by itself, or about a text of a column of the type `column`. If
    /// `text` is borrowed, the question borrows from it; otherwise the question owns its texts.
    pub fn of(
        text: &Cow<'a, str>,
        column: Option<IdType>,
        vocabulary: &Vocabulary,
        filters: Option<&Filters>,
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
        filters: Option<&Filters>,
    ) -> Self {
        let text = trimmed(text);
        let recognition = match recognise(text, vocabulary) {
            Ok(recognition) => recognition,
            Err(reason) => return Self::invalid(reason.to_string()),
        };
        let readings = recognition.readings.into_iter();
        let readings = readings.filter(|reading| {
            only.is_none_or(|only| is_of_column(reading.id_value.id_type(), only))
        });
        let lookups = readings.filter_map(|reading| {
            let filters = if reading.narrowing == Default::default() {
                filters.cloned()
            } else {
                let mut filters = filters.cloned().unwrap_or_default();
                filters.known = filters.known.and(&reading.narrowing)?;
                Some(filters)
            };
            Some(Lookup::new(reading.id_value, filters))
        });
        let lookups: Vec<_> = lookups.collect();
        if let (Some(id_type), []) = (only, &lookups[..]) {
            return Self::malformed(id_type, Cow::Borrowed(text));
        }
        let fault = recognition.finding.map(|finding| match finding {
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
        Self { lookups, fault }
    }

    /// A question about a text whose type the caller gave.
    pub fn given(id_type: IdType, text: &'a str, filters: Option<&Filters>) -> Self {
        match id_type.admit(text) {
            Ok(id_value) => Self::lookup(Lookup::new(id_value, filters.cloned())),
            Err(_) => Self::malformed(id_type, Cow::Borrowed(text)),
        }
    }

    /// A question about an admitted identifier, with its filters.
    pub fn lookup(lookup: Lookup<'a>) -> Self {
        Self { lookups: vec![lookup], fault: None }
    }

    /// A question about an identifier that does not have the form of its idType.
    pub fn malformed(id_type: IdType, text: Cow<'a, str>) -> Self {
        let reason = form_fault(id_type, &text);
        Self { lookups: Vec::new(), fault: Some(Fault { of: Some((id_type, text)), reason }) }
    }

    /// A question about an identifier that cannot be looked up. `reason` is a sentence without a
    /// full stop.
    pub fn invalid(reason: String) -> Self {
        Self { lookups: Vec::new(), fault: Some(Fault { of: None, reason }) }
    }

    /// A question that no row can answer.
    pub fn unfound() -> Self {
        Self { lookups: Vec::new(), fault: None }
    }

    /// The same question, without borrowed texts.
    pub fn into_owned(self) -> Question<'static> {
        let lookups = self.lookups.into_iter().map(Lookup::into_owned).collect();
        let fault = self.fault.map(|Fault { of, reason }| {
            let of = of.map(|(id_type, text)| (id_type, Cow::Owned(text.into_owned())));
            Fault { of, reason }
        });
        Question { lookups, fault }
    }

    /// The identifiers to look for corrections of if nothing was found: the faulty one, if there is
    /// one, then those that were looked up.
    pub(crate) fn correctable(&self) -> impl Iterator<Item = (IdType, &str)> {
        let looked_up = self.lookups.iter().map(|lookup| &lookup.id_value);
        let looked_up = looked_up.map(|value: &IdValue<'_>| (value.id_type(), value.as_str()));
        let faulty = self.fault.iter().filter_map(|fault| fault.of.as_ref());
        faulty.map(|(id_type, text)| (*id_type, &**text)).chain(looked_up)
    }

    /// The faulty identifier with its right check digit.
    pub(crate) fn right_check_digit(&self) -> Option<String> {
        let (id_type, text) = self.fault.as_ref()?.of.as_ref()?;
        right_check_digit(*id_type, text)
    }

    /// Whether the identifier counts as invalid if no lookup finds a row: a fault was found, and
    /// every reading, if there is one, is a ticker, which any text may be.
    pub(crate) fn is_invalid_unfound(&self) -> bool {
        let only_tickers = || self.lookups.iter().all(|l| l.id_value.id_type() == IdType::Ticker);
        self.fault.is_some() && only_tickers()
    }
}
