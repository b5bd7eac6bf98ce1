//! The properties that narrow an answer, in mapping jobs, searches and filters (contract, chapter
//! 6).

use std::borrow::Cow;

use figdex_index::{Attribute, Filters, IdType, Property, Vocabulary, check_required};

use super::json::{Raw, elements, is_null, text};
use super::{Fault, interval};
use crate::callers::limits::ENUM_VALUES_MAX;
use crate::callers::version::Version;

/// Whether a request may give several values of an enum-like property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Several {
    /// One value only, as in the published interface.
    No,
    /// Also an array of values; a row must have one of them. This extends search and filter, and
    /// `--strict-contract` turns it off (contract 8.14).
    Yes,
}

/// The result of checking a request whose question has the type `T`.
pub(crate) struct Checked<T> {
    /// Whether all values of enum-like properties are in their sets. Unless `--unknown-enum` is
    /// `no-match`, a value outside its set takes precedence over every other fault (contract 6.4).
    pub(crate) enums_hold: bool,
    /// The question, or the text for `error`. The question is `None` when no row can match, because
    /// all given values of a property are outside its set.
    pub(crate) question: Result<Option<T>, Fault>,
}

/// The properties as the caller sent them. A null property counts as not given.
#[derive(Default)]
pub(super) struct Properties<'a> {
    enums: [Option<Raw<'a>>; Property::COUNT],
    include_unlisted_equities: Option<Raw<'a>>,
    numbers: [Option<Raw<'a>>; Attribute::NUMBERS.len()],
    dates: [Option<Raw<'a>>; Attribute::DATES.len()],
    /// `text` and `as` of a job of a list (contract 17.13), and its `asOf` (20.5). They are not
    /// properties.
    text: Option<Raw<'a>>,
    text_as: Option<Raw<'a>>,
    as_of: Option<Raw<'a>>,
    /// The first unknown name.
    unknown: Option<Box<str>>,
}

impl<'a> Properties<'a> {
    /// Stores a member of the object. Returns `false` unless it is a property.
    pub(super) fn take(&mut self, name: &str, raw: Raw<'a>, version: Version) -> bool {
        let place = if let Some(property) = Property::from_name(name) {
            if property == Property::StateCode && !version.has_state_code() {
                return false;
            }
            &mut self.enums[property as usize]
        } else if let Some(number) = interval::place(&Attribute::NUMBERS, name) {
            &mut self.numbers[number]
        } else if let Some(date) = interval::place(&Attribute::DATES, name) {
            &mut self.dates[date]
        } else {
            match name {
                "includeUnlistedEquities" => {
                    self.include_unlisted_equities = given(raw);
                    return true;
                }
                "text" => self.text = Some(raw),
                "as" => self.text_as = given(raw),
                "asOf" => self.as_of = given(raw),
                _ if self.unknown.is_none() => self.unknown = Some(name.into()),
                _ => {}
            }
            return false;
        };
        *place = given(raw);
        true
    }

    /// `text` and `as` of a job of a list (contract 17.13).
    pub(super) fn text(&self) -> Option<(Raw<'a>, Option<Raw<'a>>)> {
        Some((self.text?, self.text_as))
    }

    /// Whether a job of a list has `as`.
    pub(super) fn has_as(&self) -> bool {
        self.text_as.is_some()
    }

    /// `asOf` of a job of a list (contract 20.5).
    pub(super) fn as_of(&self) -> Option<Raw<'a>> {
        self.as_of
    }

    /// The first member that is neither a property nor `text`, `as` or `asOf`.
    pub(super) fn unknown(&self) -> Option<&str> {
        self.unknown.as_deref()
    }

    /// Whether any property is given.
    pub(super) fn any(&self) -> bool {
        let intervals = self.numbers.iter().chain(&self.dates);
        let mut all = self.enums.iter().chain([&self.include_unlisted_equities]).chain(intervals);
        all.any(Option::is_some)
    }

    /// Whether the property is given.
    pub(super) fn has(&self, property: Property) -> bool {
        self.enums[property as usize].is_some()
    }

    /// Checks that a job has the properties that it needs: [`check_required`].
    pub(super) fn required(&self, id_type: IdType) -> Result<(), Fault> {
        let kind = self.enums[Property::SecurityType2 as usize].and_then(text);
        let [expiration, maturity, ..] = self.dates.map(|date| date.is_some());
        let dates = [expiration, maturity];
        check_required(id_type, |property| self.has(property), kind.as_deref(), dates)?;
        Ok(())
    }

    /// Checks the properties. Faults are reported in the order of contract 6.19.
    pub(super) fn check(&self, vocabulary: &Vocabulary, several: Several) -> Checked<Filters> {
        let mut filters = Filters::default();
        let (mut enums_hold, mut is_possible, mut fault) = (true, true, None);
        for (property, raw) in Property::ALL.into_iter().zip(self.enums) {
            let Some(raw) = raw else { continue };
            let mut allow = |value: Cow<'_, str>| match vocabulary.admit(property, &value) {
                Some(known) => filters.known.allow(known),
                None => enums_hold = false,
            };
            if is_array(raw, several) {
                match texts(raw) {
                    Some(values) => values.for_each(allow),
                    None => fault = fault.or(Some(not_texts(property))),
                }
            } else if let Some(value) = text(raw) {
                allow(value);
            } else {
                // A value that is not a text is outside every set.
                enums_hold = false;
            }
            is_possible &= filters.known.of(property).is_some();
        }
        let filters = self.others(filters).and_then(|filters| fault.map_or(Ok(filters), Err));
        Checked { enums_hold, question: filters.map(|filters| is_possible.then_some(filters)) }
    }

    /// The first value outside the set of its property, as the reason for a job of a list.
    pub(super) fn unknown_value(&self, vocabulary: &Vocabulary) -> Option<String> {
        let given = Property::ALL.into_iter().zip(self.enums);
        let mut unknown = given.filter_map(|(property, raw)| {
            let value = text(raw?).unwrap_or(Cow::Borrowed(raw?.get()));
            let is_known = vocabulary.admit(property, &value).is_some();
            (!is_known).then(|| {
                let value: String = value.chars().take(64).collect();
                format!("{}: {value:?} is not one of its values in this index", property.name())
            })
        });
        unknown.next()
    }

    /// Adds the filters of the properties that are not enum-like.
    fn others(&self, mut filters: Filters) -> Result<Filters, Fault> {
        if self.has(Property::ExchCode) && self.has(Property::MicCode) {
            return Err("Cannot have both exchCode and micCode".into());
        }
        if let Some(raw) = self.include_unlisted_equities {
            filters.include_unlisted_equities = serde_json::from_str(raw.get())
                .map_err(|_| "includeUnlistedEquities must be true or false.")?;
        }
        for (place, number) in Attribute::NUMBERS.into_iter().enumerate() {
            filters.numbers[place] = interval::numbers(number.name(), self.numbers[place])?;
        }
        for (place, date) in Attribute::DATES.into_iter().enumerate() {
            filters.dates[place] = interval::dates(date.name(), self.dates[place])?;
        }
        Ok(filters)
    }
}

fn is_array(raw: Raw<'_>, several: Several) -> bool {
    several == Several::Yes && raw.get().starts_with('[')
}

/// The value, unless it is null: a null member counts as not given (contract 2.9).
fn given(raw: Raw<'_>) -> Option<Raw<'_>> {
    (!is_null(raw)).then_some(raw)
}

/// The values in an array of texts; `None` when the array is empty, too long, or has an entry that
/// is not a text (contract 8.15).
fn texts(raw: Raw<'_>) -> Option<impl Iterator<Item = Cow<'_, str>>> {
    let entries = elements(raw, ENUM_VALUES_MAX).filter(|entries| !entries.is_empty())?;
    let values = entries.into_iter().map(text).collect::<Option<Vec<_>>>()?;
    Some(values.into_iter())
}

fn not_texts(property: Property) -> Fault {
    let name = property.name();
    format!("{name} must be a string, or an array of 1 to {ENUM_VALUES_MAX} strings.").into()
}
