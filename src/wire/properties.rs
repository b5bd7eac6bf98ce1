//! The properties that narrow an answer, which mapping jobs, search and filter
//! have in common.

use figdex_index::{Filters, Property, Vocabulary};

use super::json::{Raw, is_null, text};
use super::{Fault, interval};
use crate::version::Version;

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

    /// Whether every enum-like property that is given has an allowed value. A
    /// value that is no text is outside every set.
    pub(super) fn enum_fields_hold(&self, vocabulary: &Vocabulary) -> bool {
        let given = Property::ALL.into_iter().zip(self.enums);
        given.filter_map(|(property, raw)| Some((property, raw?))).all(|(property, raw)| {
            text(raw).is_some_and(|value| vocabulary.admit(property, &value).is_some())
        })
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

    /// The checked filters; none when an enum-like property is outside its set,
    /// so that nothing can match. (Where such a request is refused, it was refused
    /// before, by [`Properties::enum_fields_hold`].)
    pub(super) fn check(&self, vocabulary: &Vocabulary) -> Result<Option<Filters>, Fault> {
        if self.has(Property::ExchCode) && self.has(Property::MicCode) {
            return Err("Cannot have both exchCode and micCode".into());
        }
        let mut filters = Filters {
            strike: number_interval("strike", self.strike)?,
            contract_size: number_interval("contractSize", self.contract_size)?,
            coupon: number_interval("coupon", self.coupon)?,
            expiration: date_interval("expiration", self.expiration)?,
            maturity: date_interval("maturity", self.maturity)?,
            ..Filters::default()
        };
        if let Some(raw) = self.include_unlisted_equities {
            filters.include_unlisted_equities = serde_json::from_str(raw.get())
                .map_err(|_| "includeUnlistedEquities must be true or false.")?;
        }
        for (property, raw) in Property::ALL.into_iter().zip(self.enums) {
            if let Some(raw) = raw {
                match text(raw).and_then(|value| vocabulary.admit(property, &value)) {
                    Some(known) => filters.known.require(known),
                    None => return Ok(None),
                }
            }
        }
        Ok(Some(filters))
    }
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
