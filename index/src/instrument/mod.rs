//! An instrument with every field of the contract. A row of a dump is read into an instrument, and
//! an index is built from instruments. The fields follow from the table in `attribute`.

pub(crate) mod attribute;
pub mod check_digit;
pub(crate) mod date;
pub(crate) mod encoding;
pub(crate) mod exported;
pub(crate) mod figi;
pub(crate) mod id_type;
pub(crate) mod importance;
pub(crate) mod kind;
pub(crate) mod level;
pub(crate) mod markets;
pub(crate) mod names;
pub(crate) mod value;
pub(crate) mod visible;
pub(crate) mod vocabulary;

use std::fmt;

use self::attribute::Attribute;
pub use self::attribute::Instrument;
use self::date::Date;
use self::figi::Figi;
use self::id_type::{IdType, IdValue};
use self::level::Level;
use self::value::ColumnValue;
use self::vocabulary::Property;

/// The market sector whose rows may be unlisted equities (contract 6.9).
pub const EQUITY: &str = "Equity";

impl Instrument {
    /// The value of an enum-like property.
    pub fn property(&self, property: Property) -> Option<&str> {
        self.properties[property as usize].as_deref()
    }

    /// Whether only questions with `includeUnlistedEquities` find the instrument: it is an equity
    /// that the data mark as not listed (contract 6.9).
    pub fn is_unlisted_equity(&self) -> bool {
        self.listed == Some(false) && self.property(Property::MarketSecDes) == Some(EQUITY)
    }

    /// The numbers that filters compare, in the order of [`Attribute::NUMBERS`].
    pub fn filter_numbers(&self) -> [Option<f64>; Attribute::NUMBERS.len()] {
        Attribute::NUMBERS.map(|number| match self.value(number) {
            Some(ColumnValue::Number(number)) => Some(number),
            _ => None,
        })
    }

    /// The days that filters compare, in the order of [`Attribute::DATES`]. A row with only one of
    /// `expiration` and `maturity` answers both filters with it (contract 6.18).
    pub fn filter_dates(&self) -> [Option<Date>; Attribute::DATES.len()] {
        Attribute::DATES.map(|date| match (date, self.value(date)) {
            (_, Some(ColumnValue::Date(day))) => Some(day),
            (Attribute::Expiration, _) => self.maturity,
            (Attribute::Maturity, _) => self.expiration,
            _ => None,
        })
    }

    /// The texts whose words a search finds (contract 9.1).
    pub fn words(&self) -> impl Iterator<Item = &str> {
        let texts = [&self.ticker, &self.name, &self.security_description];
        texts.into_iter().flatten().chain(&self.alias).map(String::as_str)
    }

    /// The idTypes and idValues by which a mapping job finds the instrument. Its own FIGI is left
    /// out: the index is sorted by FIGI and needs no directory for it. A pair may come twice.
    pub fn keys(&self) -> impl Iterator<Item = IdValue<'_>> {
        let composite = self.composite_figi.map(IdValue::composite);
        let share_class = self.share_class_figi.map(IdValue::share_class);
        // A ticker that is too long to be admitted is left out: no job can ask for it.
        let ticker = self.ticker.as_deref().and_then(|text| IdType::Ticker.admit(text).ok());
        let given = self.identifiers.iter().filter(|value| value.id_type() != IdType::BbGlobal);
        let own = composite.into_iter().chain(share_class).chain(ticker);
        own.chain(given.map(IdValue::borrowed))
    }

    /// Whether a mapping job with this identifier finds the instrument: it is one of
    /// [`Instrument::keys`], or its own FIGI.
    pub fn has_key(&self, key: &IdValue<'_>) -> bool {
        let is = |figi: Figi| figi.to_chars() == *key.as_str().as_bytes();
        let is_own = match key.id_type() {
            IdType::BbGlobal => return is(self.figi),
            IdType::CompositeBbGlobal => self.composite_figi.is_some_and(is),
            IdType::ShareClassBbGlobal => self.share_class_figi.is_some_and(is),
            IdType::Ticker => {
                let ticker = self.ticker.as_deref();
                ticker.and_then(|text| IdType::Ticker.admit(text).ok()).as_ref() == Some(key)
            }
            _ => false,
        };
        is_own || self.identifiers_of(key.id_type()).any(|value| value == key)
    }

    /// Its level in its family.
    pub fn level(&self) -> Level {
        Level::of(self.figi, self.composite_figi, self.share_class_figi)
    }

    /// The third-party identifiers of one idType.
    pub fn identifiers_of(&self, id_type: IdType) -> impl Iterator<Item = &IdValue<'static>> {
        self.identifiers.iter().filter(move |value| value.id_type() == id_type)
    }

    /// Merges a later row of the same instrument: `later` fills unknown fields and wins where the
    /// two differ. The identifiers of one idType are replaced as a whole, and so are the aliases.
    /// `changed` is called for every field whose value changes.
    pub fn update(&mut self, mut later: Self, mut changed: impl FnMut(Change<'_>)) {
        debug_assert_eq!(self.figi, later.figi);
        let mut wins = |field, mine: Option<ColumnValue<'_>>, later: Option<ColumnValue<'_>>| {
            let new = later.filter(|later| mine != Some(*later));
            if let Some(new) = &new {
                changed(Change { field, old: mine.as_ref().map(display), new });
            }
            new.is_some()
        };
        for &attribute in Attribute::ALL {
            if wins(attribute.name(), self.value(attribute), later.value(attribute)) {
                self.take(attribute, &mut later);
            }
        }
        for property in Property::ALL {
            let [mine, new] =
                [&*self, &later].map(|one| one.property(property).map(ColumnValue::Text));
            if wins(property.field_name(), mine, new) {
                self.properties[property as usize] = later.properties[property as usize].take();
            }
        }
        for id_type in IdType::ALL {
            wins(id_type.name(), self.identifier_set(id_type), later.identifier_set(id_type));
        }
        self.identifiers.retain(|value| later.identifiers_of(value.id_type()).next().is_none());
        self.identifiers.extend(later.identifiers);
    }
}

/// A change of one field by a later row.
pub struct Change<'a> {
    /// The name of the field as a column of a dump.
    pub field: &'static str,
    /// The old value, if it was known; several values are joined by `;`.
    pub old: Option<&'a dyn fmt::Display>,
    /// The new value.
    pub new: &'a dyn fmt::Display,
}

fn display<'a>(value: &'a ColumnValue<'_>) -> &'a dyn fmt::Display {
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    fn instrument() -> Instrument {
        Instrument::new(Figi::parse("BBG000BLNNH6").unwrap())
    }

    /// A later row fills unknown fields and wins where the two differ.
    #[test]
    fn a_later_row_fills_and_wins() {
        let isin = |text| IdType::Isin.admit(text).unwrap();
        let cusip = IdType::Cusip.admit("459200101").unwrap();
        let mut first = Instrument {
            ticker: Some("IBM".into()),
            name: Some("old".into()),
            identifiers: vec![cusip.clone(), isin("JP3633400001")],
            ..instrument()
        };
        let later = Instrument {
            ticker: Some("IBM".into()),
            name: Some("INTL BUSINESS MACHINES CORP".into()),
            listed: Some(true),
            identifiers: vec![isin("US4592001014")],
            ..instrument()
        };
        let mut changes = Vec::new();
        first.update(later, |Change { field, old, new }| {
            changes.push((field, old.map(ToString::to_string), new.to_string()));
        });
        let expected = Instrument {
            ticker: Some("IBM".into()),
            name: Some("INTL BUSINESS MACHINES CORP".into()),
            listed: Some(true),
            identifiers: vec![cusip, isin("US4592001014")],
            ..instrument()
        };
        assert_eq!(first, expected);
        let change = |field, old: Option<&str>, new: &str| (field, old.map(Into::into), new.into());
        assert_eq!(
            changes,
            [
                change("name", Some("old"), "INTL BUSINESS MACHINES CORP"),
                change("listed", None, "true"),
                change("ID_ISIN", Some("JP3633400001"), "US4592001014"),
            ]
        );
    }

    /// The keys and the own FIGI are all that an instrument has.
    #[test]
    fn an_instrument_has_its_keys() {
        let [composite, share_class] =
            ["BBG000BLNQ16", "BBG001S5S399"].map(|text| Some(Figi::parse(text).unwrap()));
        let isin = IdType::Isin.admit("US4592001014").unwrap();
        let full = Instrument {
            ticker: Some("ibm".into()),
            composite_figi: composite,
            share_class_figi: share_class,
            identifiers: vec![isin],
            ..instrument()
        };
        let own = IdType::BbGlobal.admit("BBG000BLNNH6").unwrap();
        let keys: Vec<_> = full.keys().chain([own.clone()]).collect();
        assert_eq!(keys.len(), 5);
        for key in &keys {
            assert!(full.has_key(key), "{key:?}");
            assert_eq!(instrument().has_key(key), *key == own, "{key:?}");
            // The same text as another type.
            for id_type in IdType::ALL.iter().filter(|id_type| **id_type != key.id_type()) {
                let other = id_type.admit(key.as_str());
                assert!(!other.is_ok_and(|other| full.has_key(&other)), "{key:?} {id_type:?}");
            }
        }
    }

    /// contract 6.9: only `listed = false` makes a row of sector Equity unlisted.
    #[test]
    fn only_equities_that_are_not_listed_are_unlisted_equities() {
        for (listed, sector, unlisted) in [
            (Some(false), Some("Equity"), true),
            (Some(true), Some("Equity"), false),
            (None, Some("Equity"), false),
            (Some(false), Some("Corp"), false),
            (Some(false), None, false),
        ] {
            let mut instrument = Instrument { listed, ..instrument() };
            instrument.properties[Property::MarketSecDes as usize] = sector.map(Into::into);
            assert_eq!(instrument.is_unlisted_equity(), unlisted, "{listed:?} {sector:?}");
        }
    }

    /// contract 6.18: a row with only one of expiration and maturity answers both.
    #[test]
    fn one_date_serves_both_filters() {
        let [a, b] = ["2025-01-17", "2026-01-17"].map(|text| Some(Date::parse(text).unwrap()));
        let dates = |expiration, maturity| {
            Instrument { expiration, maturity, ..instrument() }.filter_dates()
        };
        assert_eq!(dates(a, None), [a, a]);
        assert_eq!(dates(None, b), [b, b]);
        assert_eq!(dates(a, b), [a, b]);
        assert_eq!(dates(None, None), [None, None]);
    }
}
