//! The values of an instrument, whatever field they are of.

use std::fmt;

use serde::{Serialize, Serializer};

use super::date::Date;
use super::figi::Figi;
use super::id_type::{IdType, IdValue};
use super::importance::Importance;
use super::names::OtherName;

/// The sort of the values of an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    /// The FIGI of a composite or a share class.
    Figi,
    /// A text.
    Text,
    /// A number.
    Number,
    /// A day.
    Date,
    /// Yes or no.
    Flag,
    /// An importance.
    Importance,
    /// Texts in their order.
    Texts,
    /// Other names.
    Names,
}

/// A known value of an instrument.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ColumnValue<'a> {
    /// The FIGI of a composite or a share class.
    Figi(Figi),
    /// A text.
    Text(&'a str),
    /// A number.
    Number(f64),
    /// A day.
    Date(Date),
    /// Yes or no.
    Flag(bool),
    /// An importance.
    Importance(Importance),
    /// Texts in their order.
    Texts(&'a [String]),
    /// Other names.
    Names(&'a [OtherName]),
    /// The identifiers of one idType.
    Identifiers(IdentifierSet<'a>),
}

/// The field of an attribute of an instrument, to be filled.
pub enum Slot<'a> {
    /// The FIGI of a composite or a share class.
    Figi(&'a mut Option<Figi>),
    /// A text.
    Text(&'a mut Option<String>),
    /// A number.
    Number(&'a mut Option<f64>),
    /// A day.
    Date(&'a mut Option<Date>),
    /// Yes or no.
    Flag(&'a mut Option<bool>),
    /// An importance.
    Importance(&'a mut Option<Importance>),
    /// Texts in their order.
    Texts(&'a mut Vec<String>),
    /// Other names.
    Names(&'a mut Vec<OtherName>),
}

/// The identifiers of one idType of an instrument.
///
/// Two sets are equal when they have the same idType and the same values: neither the order of the
/// values nor repeated values count.
#[derive(Clone, Copy, Debug)]
pub struct IdentifierSet<'a> {
    pub(super) id_type: IdType,
    /// The identifiers of the instrument, of all types.
    pub(super) all: &'a [IdValue<'static>],
}

impl<'a> IdentifierSet<'a> {
    fn values(self) -> impl Iterator<Item = &'a str> {
        let same = self.all.iter().filter(move |value| value.id_type() == self.id_type);
        same.map(IdValue::as_str)
    }

    /// The values in order, each once.
    fn sorted(self) -> Vec<&'a str> {
        let mut values: Vec<_> = self.values().collect();
        values.sort_unstable();
        values.dedup();
        values
    }
}

impl PartialEq for IdentifierSet<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.id_type == other.id_type && (self.all == other.all || self.sorted() == other.sorted())
    }
}

impl<'a> ColumnValue<'a> {
    /// The values of a column that may have several, as they are stored; `None` for other columns.
    pub fn list(self) -> Option<Vec<&'a str>> {
        match self {
            Self::Texts(texts) => Some(texts.iter().map(String::as_str).collect()),
            Self::Identifiers(set) => Some(set.values().collect()),
            _ => None,
        }
    }
}

/// Several values are joined by `;`. Identifiers are sorted, and each is written once.
impl fmt::Display for ColumnValue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Figi(figi) => figi.fmt(f),
            Self::Text(text) => text.fmt(f),
            Self::Number(number) => number.fmt(f),
            Self::Date(date) => date.fmt(f),
            Self::Flag(flag) => flag.fmt(f),
            Self::Importance(importance) => importance.fmt(f),
            Self::Texts(texts) => texts.join(";").fmt(f),
            Self::Names(names) => {
                let texts: Vec<&str> = names.iter().map(|name| &*name.text).collect();
                texts.join(";").fmt(f)
            }
            Self::Identifiers(set) => set.sorted().join(";").fmt(f),
        }
    }
}

/// Numbers, flags and importances are bare. A column that may have several values is an array. All
/// other values are strings.
impl Serialize for ColumnValue<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(number) => number.serialize(serializer),
            Self::Flag(flag) => flag.serialize(serializer),
            Self::Importance(importance) => importance.number().serialize(serializer),
            Self::Texts(texts) => texts.serialize(serializer),
            Self::Names(names) => names.serialize(serializer),
            Self::Identifiers(set) => serializer.collect_seq(set.values()),
            Self::Text(text) => text.serialize(serializer),
            Self::Figi(_) | Self::Date(_) => serializer.collect_str(self),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instrument::Instrument;

    /// Neither the order nor repeats of identifiers make a difference, and those of one idType do
    /// not make another one different.
    #[test]
    fn identifiers_are_a_set_of_each_type() {
        let isin = |text| IdType::Isin.admit(text).unwrap();
        let [a, b] = ["US4592001014", "US0378331005"].map(isin);
        let cusip = IdType::Cusip.admit("459200101").unwrap();
        let differ = |mine: &[IdValue<'static>], other: &[IdValue<'static>]| -> Vec<&str> {
            let of = |identifiers: &[IdValue<'static>]| Instrument {
                identifiers: identifiers.to_vec(),
                ..Instrument::new(Figi::parse("BBG000BLNNH6").unwrap())
            };
            let (mine, other) = (of(mine), of(other));
            let both = mine.columns().zip(other.columns());
            both.filter(|(mine, other)| mine != other).map(|((name, _), _)| name).collect()
        };
        assert_eq!(differ(&[a.clone(), b.clone(), a.clone()], &[b.clone(), a.clone()]), [""; 0]);
        assert_eq!(differ(&[a.clone(), cusip.clone()], &[b, cusip.clone()]), ["ID_ISIN"]);
        assert_eq!(differ(std::slice::from_ref(&a), &[a.clone(), cusip]), ["ID_CUSIP"]);
    }
}
