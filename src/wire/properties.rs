//! The properties that narrow an answer, which mapping jobs, search and filter
//! have in common.

use std::borrow::Cow;

use figdex_index::{Filters, Property, Vocabulary};

use super::json::{Raw, elements, is_null, text};
use super::{Fault, interval};
use crate::limits::ENUM_VALUES_MAX;
use crate::version::Version;

/// How many values a request may give of an enum-like property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Several {
    /// One, as the contract says.
    No,
    /// Also an array of them, of which the row must have one: an extension of search
    /// and filter, which `--strict-contract` turns off.
    Yes,
}

/// What was found when a request was checked, with the question `T` that it asks.
pub(crate) struct Checked<T> {
    /// Whether every enum-like property that is given has allowed values alone. Where it
    /// must, that comes before any other fault (decisions, "enum-like").
    pub(crate) enums_hold: bool,
    /// The question; none when an enum-like property is outside its set, so that nothing
    /// can match; or the sentence for the `error`.
    pub(crate) question: Result<Option<T>, Fault>,
}

/// The properties as a caller gave them; one that is null is not given.
#[derive(Default)]
pub(super) struct Properties<'a> {
    enums: [Option<Raw<'a>>; Property::COUNT],
    include_unlisted_equities: Option<Raw<'a>>,
    strike: Option<Raw<'a>>,
    contract_size: Option<Raw<'a>>,
    coupon: Option<Raw<'a>>,
    expiration: Option<Raw<'a>>,
    maturity: Option<Raw<'a>>,
}

impl<'a> Properties<'a> {
    /// Takes a member of the object; `false` if no property has that name.
    pub(super) fn take(&mut self, name: &str, raw: Raw<'a>, version: Version) -> bool {
        let place = match name {
            "includeUnlistedEquities" => &mut self.include_unlisted_equities,
            "strike" => &mut self.strike,
            "contractSize" => &mut self.contract_size,
            "coupon" => &mut self.coupon,
            "expiration" => &mut self.expiration,
            "maturity" => &mut self.maturity,
            _ => match Property::from_name(name) {
                Some(Property::StateCode) if !version.has_state_code() => return false,
                Some(property) => &mut self.enums[property as usize],
                None => return false,
            },
        };
        *place = (!is_null(raw)).then_some(raw);
        true
    }

    /// Whether any property is given.
    pub(super) fn any(&self) -> bool {
        let others = [
            self.include_unlisted_equities,
            self.strike,
            self.contract_size,
            self.coupon,
            self.expiration,
            self.maturity,
        ];
        self.enums.iter().chain(&others).any(Option::is_some)
    }

    /// Whether the property is given.
    pub(super) fn has(&self, property: Property) -> bool {
        self.enums[property as usize].is_some()
    }

    /// The conditional rows of the contract's table "Mapping job" that ask for a
    /// date.
    pub(super) fn required_dates(&self) -> Result<(), Fault> {
        match self.enums[Property::SecurityType2 as usize].and_then(text).as_deref() {
            Some(kind @ ("Option" | "Warrant")) if self.expiration.is_none() => {
                Err(format!("expiration is required when securityType2 is {kind}.").into())
            }
            Some("Pool") if self.maturity.is_none() => {
                Err("maturity is required when securityType2 is Pool.".into())
            }
            _ => Ok(()),
        }
    }

    /// The checked filters.
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
                // A value that is no text is outside every set.
                enums_hold = false;
            }
            is_possible &= filters.known.of(property).is_some();
        }
        let filters = self.others(filters).and_then(|filters| fault.map_or(Ok(filters), Err));
        Checked { enums_hold, question: filters.map(|filters| is_possible.then_some(filters)) }
    }

    /// Adds to the filters what is not enum-like.
    fn others(&self, filters: Filters) -> Result<Filters, Fault> {
        if self.has(Property::ExchCode) && self.has(Property::MicCode) {
            return Err("Cannot have both exchCode and micCode".into());
        }
        let include_unlisted_equities = match self.include_unlisted_equities {
            Some(raw) => serde_json::from_str(raw.get())
                .map_err(|_| "includeUnlistedEquities must be true or false.")?,
            None => false,
        };
        Ok(Filters {
            strike: number_interval("strike", self.strike)?,
            contract_size: number_interval("contractSize", self.contract_size)?,
            coupon: number_interval("coupon", self.coupon)?,
            expiration: date_interval("expiration", self.expiration)?,
            maturity: date_interval("maturity", self.maturity)?,
            include_unlisted_equities,
            ..filters
        })
    }
}

fn is_array(raw: Raw<'_>, several: Several) -> bool {
    several == Several::Yes && raw.get().starts_with('[')
}

/// The values of an array of texts; `None` when it is empty, too long, or has another
/// entry.
fn texts(raw: Raw<'_>) -> Option<impl Iterator<Item = Cow<'_, str>>> {
    let entries = elements(raw, ENUM_VALUES_MAX).filter(|entries| !entries.is_empty())?;
    let values = entries.into_iter().map(text).collect::<Option<Vec<_>>>()?;
    Some(values.into_iter())
}

fn not_texts(property: Property) -> Fault {
    let name = property.name();
    format!("{name} must be a string, or an array of 1 to {ENUM_VALUES_MAX} strings.").into()
}

fn number_interval(
    name: &str,
    raw: Option<Raw<'_>>,
) -> Result<Option<figdex_index::NumberInterval>, Fault> {
    raw.map(|raw| interval::numbers(name, raw)).transpose()
}

fn date_interval(
    name: &str,
    raw: Option<Raw<'_>>,
) -> Result<Option<figdex_index::DateInterval>, Fault> {
    raw.map(|raw| interval::dates(name, raw)).transpose()
}
