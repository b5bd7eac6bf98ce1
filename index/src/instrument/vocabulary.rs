//! The enum-like properties and the values that each may have.
//!
//! The allowed set unites the values in the data, the lists given at ingestion and the fixed values
//! (contract 6.2). An admitted value is a [`Known`]. Filters on these properties accept nothing
//! else, so they contain no unchecked text.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use iso_currency::{Currency, IntoEnumIterator as _};

use super::markets::Countries;

/// An enum-like property, by its name in a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Property {
    /// `exchCode`: the exchange code of the row itself.
    ExchCode,
    /// `micCode`: the ISO 10383 code of the row's market segment.
    MicCode,
    /// `currency`: the currency of the instrument.
    Currency,
    /// `marketSecDes`: the market sector, named `marketSector` in a result row.
    MarketSecDes,
    /// `securityType`: the security type.
    SecurityType,
    /// `securityType2`: an alternative, usually less specific security type.
    SecurityType2,
    /// `optionType`: `Put` or `Call`.
    OptionType,
    /// `stateCode`: a state or province.
    StateCode,
}

impl Property {
    /// The number of properties.
    pub const COUNT: usize = 8;

    /// All properties, in the order of their discriminants.
    pub const ALL: [Self; Self::COUNT] = [
        Self::ExchCode,
        Self::MicCode,
        Self::Currency,
        Self::MarketSecDes,
        Self::SecurityType,
        Self::SecurityType2,
        Self::OptionType,
        Self::StateCode,
    ];

    /// The properties that are fields of a result row: exchCode, securityType, marketSector
    /// and securityType2.
    pub(crate) const IN_RESULT: [Self; 4] =
        [Self::ExchCode, Self::SecurityType, Self::MarketSecDes, Self::SecurityType2];

    /// The name of the property in a result row.
    pub const fn field_name(self) -> &'static str {
        match self {
            Self::MarketSecDes => "marketSector",
            property => property.name(),
        }
    }

    /// The name of the property in a request.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ExchCode => "exchCode",
            Self::MicCode => "micCode",
            Self::Currency => "currency",
            Self::MarketSecDes => "marketSecDes",
            Self::SecurityType => "securityType",
            Self::SecurityType2 => "securityType2",
            Self::OptionType => "optionType",
            Self::StateCode => "stateCode",
        }
    }

    /// The property with this name in a request; letter case counts.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|property| property.name() == name)
    }

    /// The values that are allowed whatever the data hold (contract 6.3).
    fn fixed(self) -> Vec<&'static str> {
        match self {
            Self::MarketSecDes => MARKET_SECTORS.to_vec(),
            Self::OptionType => vec!["Call", "Put"],
            Self::StateCode => STATE_CODES.split(' ').collect(),
            Self::Currency => Currency::iter().map(|currency| currency.code()).collect(),
            Self::ExchCode | Self::MicCode | Self::SecurityType | Self::SecurityType2 => Vec::new(),
        }
    }
}

/// The ten market sectors.
const MARKET_SECTORS: [&str; 10] =
    ["Comdty", "Corp", "Curncy", "Equity", "Govt", "Index", "M-Mkt", "Mtge", "Muni", "Pfd"];

/// The 142 published state codes.
const STATE_CODES: &str = "AB AC AH AK AL AM AR AS AT AZ BC BJ CA CB CO CQ CT CZ DC DE EH FH FI FJ \
    FL FO FS GA GD GF GM GS GU GX GZ HA HB HE HG HI HL HN HO HS IA ID IG IK IL IN IT JL JS JX KA \
    KC KN KO KS KT KU KY LA LN MA MB MD ME MG MI MN MO MS MT MZ NB NC ND NE NG NH NJ NL NM NN NR \
    NS NT NU NV NW NX NY OH OK ON OR OS OT OY PA PE PR QC QH QL RI SA SC SD SH SI SK SN ST SX SZ \
    TA TG TJ TK TN TS TT TX TY UT VA VI VT WA WI WK WV WY XJ XZ YA YN YT YU ZJ";

/// A value that its property may have, in one vocabulary.
///
/// It is a position in that vocabulary's list, so it is meaningless for another generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Known {
    property: Property,
    ordinal: u32,
}

impl Known {
    /// The property whose value this is.
    pub fn property(self) -> Property {
        self.property
    }

    pub(crate) fn ordinal(self) -> usize {
        self.ordinal as usize
    }
}

/// The allowed values of every property, and the countries of exchange codes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vocabulary {
    lists: [List; Property::COUNT],
    countries: Countries,
}

/// The values by which questions about today and about the past are read.
#[derive(Clone, Copy, Debug)]
pub struct Vocabularies<'v> {
    /// The values that rows have now.
    pub today: &'v Vocabulary,
    /// The same values and those that rows had; without a past only the same.
    pub past: &'v Vocabulary,
}

impl<'v> From<&'v Vocabulary> for Vocabularies<'v> {
    /// The values of an index without a past.
    fn from(today: &'v Vocabulary) -> Self {
        Self { today, past: today }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct List {
    /// Sorted as [`Vocabulary::values`] returns them.
    values: Vec<Box<str>>,
    ordinals: HashMap<Box<str>, u32>,
}

impl Vocabulary {
    /// The vocabulary of the fixed values and the given ones. Repeated values count once.
    pub fn new(values: impl IntoIterator<Item = (Property, String)>) -> Self {
        let mut sets = Property::ALL.map(|property| {
            property.fixed().into_iter().map(String::from).collect::<BTreeSet<_>>()
        });
        for (property, value) in values {
            sets[property as usize].insert(value);
        }
        Self { lists: sets.map(List::new), countries: Countries::default() }
    }

    /// The same values, with the countries of the operator's table by exchange code.
    pub(crate) fn with_countries(self, countries: BTreeMap<String, String>) -> Self {
        Self { countries: Countries::new(countries), ..self }
    }

    /// The same values at the same places, and further ones after them, for rows of the past.
    pub(crate) fn extended(&self, values: &[(Property, String)]) -> Self {
        let mut extended = self.clone();
        for (property, value) in values {
            let List { values, ordinals } = &mut extended.lists[*property as usize];
            if !ordinals.contains_key(&**value) {
                ordinals.insert(value.clone().into_boxed_str(), values.len() as u32);
                values.push(value.clone().into_boxed_str());
            }
        }
        extended
    }

    /// The countries of exchange codes.
    pub(crate) fn countries(&self) -> &Countries {
        &self.countries
    }

    /// The values of `property`, sorted by lower case, equal ones by code point (contract 7.4).
    pub fn values(&self, property: Property) -> impl ExactSizeIterator<Item = &str> {
        self.lists[property as usize].values.iter().map(|value| &**value)
    }

    /// Admits a value, if `property` may have it. Letter case counts: `GBP` and `GBp` are two
    /// currencies.
    pub fn admit(&self, property: Property, value: &str) -> Option<Known> {
        let ordinal = *self.lists[property as usize].ordinals.get(value)?;
        Some(Known { property, ordinal })
    }

    /// The value at a place of the sorted list of `property`.
    pub(crate) fn value(&self, property: Property, ordinal: usize) -> &str {
        &self.lists[property as usize].values[ordinal]
    }

    /// The text of a value that this vocabulary admitted.
    ///
    /// # Panics
    /// When `known` is from another, longer vocabulary.
    pub fn text(&self, known: Known) -> &str {
        self.value(known.property, known.ordinal())
    }
}

impl List {
    fn new(values: BTreeSet<String>) -> Self {
        let mut values: Vec<Box<str>> = values.into_iter().map(String::into_boxed_str).collect();
        values.sort_by_cached_key(|value| (value.to_lowercase(), value.clone()));
        let ordinals =
            values.iter().enumerate().map(|(ordinal, value)| (value.clone(), ordinal as u32));
        Self { ordinals: ordinals.collect(), values }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vocabulary() -> Vocabulary {
        let exch_codes = ["US", "us", "A0", "GR", "ΑΘ", "Ab"];
        Vocabulary::new(exch_codes.map(|value| (Property::ExchCode, value.to_owned())))
    }

    #[test]
    fn names_are_their_own_inverse() {
        for (place, property) in Property::ALL.into_iter().enumerate() {
            assert_eq!(property as usize, place);
            assert_eq!(Property::from_name(property.name()), Some(property));
        }
    }

    /// contract 7.4: sorted by lower case, equal values by code point.
    #[test]
    fn values_are_sorted_by_lower_case() {
        let vocabulary = vocabulary();
        let served: Vec<_> = vocabulary.values(Property::ExchCode).collect();
        assert_eq!(served, ["A0", "Ab", "GR", "US", "us", "ΑΘ"]);
    }

    /// contract 6.3: the fixed values.
    #[test]
    fn fixed_values_are_allowed_without_data() {
        let vocabulary = Vocabulary::new([]);
        assert_eq!(vocabulary.values(Property::StateCode).len(), 142);
        assert_eq!(vocabulary.values(Property::OptionType).collect::<Vec<_>>(), ["Call", "Put"]);
        assert_eq!(vocabulary.values(Property::MarketSecDes).len(), 10);
        assert!(vocabulary.admit(Property::Currency, "EUR").is_some());
        assert!(vocabulary.values(Property::Currency).len() > 150);
        assert_eq!(vocabulary.values(Property::ExchCode).len(), 0);
    }

    #[test]
    fn only_values_of_the_list_are_admitted() {
        let vocabulary = vocabulary();
        let known = vocabulary.admit(Property::ExchCode, "US").unwrap();
        assert_eq!(known.property(), Property::ExchCode);
        assert_eq!(vocabulary.text(known), "US");
        assert_ne!(vocabulary.admit(Property::ExchCode, "us"), Some(known));
        assert_eq!(vocabulary.admit(Property::ExchCode, "gr"), None);
        assert_eq!(vocabulary.admit(Property::MicCode, "US"), None);
    }
}
