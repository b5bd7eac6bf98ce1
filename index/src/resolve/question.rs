//! One identifier of a list, ready to be looked up.

use std::borrow::Cow;

use super::column::is_of_column;
use super::correction::{form_fault, right_check_digit};
use super::finding::Finding;
use super::recognise::{recognise, trimmed};
use crate::instrument::id_type::{IdType, IdValue};
use crate::instrument::vocabulary::Vocabulary;
use crate::query::{Filters, Lookup};

/// Units of work of reading a text in every way.
pub const QUESTION_UNITS: u64 = 120;

/// One identifier of a list: the lookups that may find it, and what to say when none does.
#[derive(Clone, Debug)]
pub struct Question<'a> {
    /// A lookup for each reading, the surest first.
    pub(crate) lookups: Vec<Lookup<'a>>,
    /// The identifier that is wrong, with its idType and what is wrong. It is said when no lookup
    /// finds a row.
    pub(crate) fault: Option<Fault<'a>>,
}

/// The fault of an identifier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault<'a> {
    /// The identifier whose corrections may be found, if it has any.
    pub(crate) of: Option<(IdType, Cow<'a, str>)>,
    /// A sentence without a full stop.
    pub(crate) reason: String,
}

impl<'a> Question<'a> {
    /// The readings of a text, each with these filters.
    pub fn text(text: &'a str, vocabulary: &Vocabulary, filters: Option<&Filters>) -> Self {
        Self::recognised(text, None, vocabulary, filters)
    }

    /// A text of a column that was recognised as `id_type`: the readings of this type only.
    pub fn of_column(
        text: &'a str,
        id_type: IdType,
        vocabulary: &Vocabulary,
        filters: Option<&Filters>,
    ) -> Self {
        Self::recognised(text, Some(id_type), vocabulary, filters)
    }

    /// A text by itself, or of a column of the type `column`. The question borrows from a text that
    /// is borrowed.
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

    /// A text as an identifier of the type that the caller gave.
    pub fn given(id_type: IdType, text: &'a str, filters: Option<&Filters>) -> Self {
        match id_type.admit(text) {
            Ok(id_value) => Self::lookup(Lookup::new(id_value, filters.cloned())),
            Err(_) => Self::malformed(id_type, Cow::Borrowed(text)),
        }
    }

    /// An identifier that its idType admitted, with its filters.
    pub fn lookup(lookup: Lookup<'a>) -> Self {
        Self { lookups: vec![lookup], fault: None }
    }

    /// An identifier that is not of the form of its idType.
    pub fn malformed(id_type: IdType, text: Cow<'a, str>) -> Self {
        let reason = form_fault(id_type, &text);
        Self { lookups: Vec::new(), fault: Some(Fault { of: Some((id_type, text)), reason }) }
    }

    /// An identifier that cannot be looked up, for this reason: a sentence without a full stop.
    pub fn invalid(reason: String) -> Self {
        Self { lookups: Vec::new(), fault: Some(Fault { of: None, reason }) }
    }

    /// A question to which no row can be the answer.
    pub fn unfound() -> Self {
        Self { lookups: Vec::new(), fault: None }
    }

    /// The same question, which no longer borrows from a text.
    pub fn into_owned(self) -> Question<'static> {
        let lookups = self.lookups.into_iter().map(Lookup::into_owned).collect();
        let fault = self.fault.map(|Fault { of, reason }| {
            let of = of.map(|(id_type, text)| (id_type, Cow::Owned(text.into_owned())));
            Fault { of, reason }
        });
        Question { lookups, fault }
    }

    /// The identifiers whose corrections may be found, when nothing else is: those with a fault,
    /// else those that were looked up in vain.
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

    /// Whether it is invalid when no lookup finds a row: a fault was found, and no reading but a
    /// ticker, which any text may be, has a valid form.
    pub(crate) fn is_invalid_unfound(&self) -> bool {
        let only_tickers = || self.lookups.iter().all(|l| l.id_value.id_type() == IdType::Ticker);
        self.fault.is_some() && only_tickers()
    }
}
