//! The table of an instrument's attributes: all that it stores besides its own FIGI, the enum-like
//! properties (`vocabulary`) and the identifiers (`id_type`).
//!
//! The fields of [`Instrument`], its encoding, the merging of rows, the columns of dumps and
//! exports, the counts of filled columns, the guard of builds and `GET /instruments/{figi}` follow
//! from the table.

use super::date::Date;
use super::figi::Figi;
use super::id_type::{IdType, IdValue};
use super::importance::Importance;
use super::names::OtherName;
use super::value::{ColumnValue, IdentifierSet, Slot, Sort};
use super::vocabulary::Property;

/// The place where a part of an index keeps an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Home {
    /// In the result row.
    Row,
    /// In the extras.
    Extras,
    /// In the ranks.
    Ranks,
}

/// The type of the field of a sort.
macro_rules! stored {
    (Text) => { Option<String> };
    (Number) => { Option<f64> };
    (Flag) => { Option<bool> };
    (Texts) => { Vec<String> };
    (Names) => { Vec<OtherName> };
    ($sort:ident) => { Option<$sort> };
}

/// The value of a field of a sort, if it is known.
macro_rules! known {
    (Text, $field:expr) => {
        $field.as_deref().map(ColumnValue::Text)
    };
    (Texts, $field:expr) => {
        (!$field.is_empty()).then_some(ColumnValue::Texts(&$field))
    };
    (Names, $field:expr) => {
        (!$field.is_empty()).then_some(ColumnValue::Names(&$field))
    };
    ($sort:ident, $field:expr) => {
        $field.map(ColumnValue::$sort)
    };
}

macro_rules! attributes {
    ($(
        $(#[$doc:meta])+
        $attribute:ident = $name:literal, $field:ident: $sort:ident in $home:ident;
    )+) => {
        /// One instrument: a composite, a listing at one venue, a bond, a contract. A field that is
        /// not known is `None`, or empty if it has several values.
        #[derive(Clone, Debug, PartialEq)]
        pub struct Instrument {
            /// Its own FIGI.
            pub figi: Figi,
            $($(#[$doc])+ pub $field: stored!($sort),)+
            /// The values of the enum-like properties, by the discriminant of [`Property`].
            pub properties: [Option<String>; Property::COUNT],
            /// Third-party identifiers. The FIGIs and the ticker have separate fields and need not
            /// be repeated here: [`Instrument::keys`] adds them.
            pub identifiers: Vec<IdValue<'static>>,
        }

        /// A field of an instrument that is neither its own FIGI, nor an enum-like property, nor an
        /// identifier. Attributes are in the order of a dump.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Attribute {
            $($(#[$doc])+ $attribute,)+
        }

        impl Attribute {
            /// All attributes.
            pub const ALL: &'static [Self] = &[$(Self::$attribute,)+];

            /// The name as a column of a dump, and as a member of requests and answers.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$attribute => $name,)+ }
            }

            /// The sort of its values.
            pub const fn sort(self) -> Sort {
                match self { $(Self::$attribute => Sort::$sort,)+ }
            }

            pub(crate) const fn home(self) -> Home {
                match self { $(Self::$attribute => Home::$home,)+ }
            }
        }

        impl Instrument {
            /// An instrument of which only the FIGI is known.
            pub fn new(figi: Figi) -> Self {
                Self {
                    figi,
                    $($field: Default::default(),)+
                    properties: Default::default(),
                    identifiers: Vec::new(),
                }
            }

            /// The value of an attribute, if it is known.
            pub fn value(&self, attribute: Attribute) -> Option<ColumnValue<'_>> {
                match attribute { $(Attribute::$attribute => known!($sort, self.$field),)+ }
            }

            /// The field of an attribute.
            pub fn slot(&mut self, attribute: Attribute) -> Slot<'_> {
                match attribute { $(Attribute::$attribute => Slot::$sort(&mut self.$field),)+ }
            }

            /// Moves the value of an attribute here from another instrument.
            pub(super) fn take(&mut self, attribute: Attribute, other: &mut Self) {
                match attribute {
                    $(Attribute::$attribute => self.$field = std::mem::take(&mut other.$field),)+
                }
            }
        }
    };
}

attributes! {
    /// The FIGI of the composite, which links the venues of one market.
    CompositeFigi = "compositeFIGI", composite_figi: Figi in Row;
    /// The FIGI of the share class, which links the composites of all markets.
    ShareClassFigi = "shareClassFIGI", share_class_figi: Figi in Row;
    /// Result field `ticker`, which idType `TICKER` finds.
    Ticker = "ticker", ticker: Text in Row;
    /// Result field `name`.
    Name = "name", name: Text in Row;
    /// Result field `securityDescription`.
    SecurityDescription = "securityDescription", security_description: Text in Row;
    /// The strike price of an option or a warrant, in its currency.
    Strike = "strike", strike: Number in Extras;
    /// The number of units of the underlying in one contract.
    ContractSize = "contractSize", contract_size: Number in Extras;
    /// The interest in per cent per year.
    Coupon = "coupon", coupon: Number in Extras;
    /// The expiration day of an option, a warrant or a future.
    Expiration = "expiration", expiration: Date in Extras;
    /// The day on which a bond or a pool is paid back.
    Maturity = "maturity", maturity: Date in Extras;
    /// Whether it is listed on an exchange. Unknown counts as listed.
    Listed = "listed", listed: Flag in Extras;
    /// The text that replaces unavailable attributes (contract 12.4).
    Metadata = "metadata", metadata: Text in Row;
    /// Result field `uniqueID` of v2 and v1.
    UniqueId = "uniqueID", unique_id: Text in Row;
    /// Result field `uniqueIDFutOpt` of v2 and v1.
    UniqueIdFutOpt = "uniqueIDFutOpt", unique_id_fut_opt: Text in Row;
    /// Further texts whose words a search finds.
    Alias = "alias", alias: Texts in Extras;
    /// The importance from the operator, which orders a search (contract 10.8). An index with more
    /// than 65,535 different importances keeps only the first bits of each.
    Importance = "importance", importance: Importance in Ranks;
    /// Other names, which only suggestions and lists find (contract 16.16).
    Names = "names", names: Names in Extras;
}

impl Attribute {
    /// The numbers that a question can restrict to an interval (contract 6.11), in the order in
    /// which their faults are reported.
    pub const NUMBERS: [Self; 3] = [Self::Strike, Self::ContractSize, Self::Coupon];

    /// The days that a question can restrict to an interval (contract 6.13). Their faults are
    /// reported after those of the numbers.
    pub const DATES: [Self; 2] = [Self::Expiration, Self::Maturity];

    /// All attributes that a question can restrict to an interval.
    pub fn compared() -> impl Iterator<Item = Self> {
        Self::NUMBERS.into_iter().chain(Self::DATES)
    }
}

impl Instrument {
    /// The identifiers of one idType, if the instrument has any.
    pub fn identifier_set(&self, id_type: IdType) -> Option<ColumnValue<'_>> {
        let set = IdentifierSet { id_type, all: &self.identifiers };
        self.identifiers_of(id_type).next().map(|_| ColumnValue::Identifiers(set))
    }

    /// The value of each column but the FIGI, by the name of the column in a dump. The names and
    /// their order are the same for every instrument.
    pub fn columns(&self) -> impl Iterator<Item = (&'static str, Option<ColumnValue<'_>>)> {
        let attributes = Attribute::ALL.iter().map(|one| (one.name(), self.value(*one)));
        let properties = Property::ALL
            .into_iter()
            .map(|one| (one.field_name(), self.property(one).map(ColumnValue::Text)));
        let identifiers = IdType::ALL.into_iter().map(|one| (one.name(), self.identifier_set(one)));
        attributes.chain(properties).chain(identifiers)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// No two columns have one name, and an instrument of which only the FIGI is known has none.
    #[test]
    fn each_column_has_its_name() {
        let instrument = Instrument::new(Figi::parse("BBG000BLNNH6").unwrap());
        let names: Vec<_> = instrument.columns().map(|(name, _)| name).collect();
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
        assert!(instrument.columns().all(|(_, value)| value.is_none()));
        assert!(instrument.columns().eq(instrument.columns()));
    }

    #[test]
    fn intervals_compare_numbers_and_days() {
        assert!(Attribute::NUMBERS.iter().all(|number| number.sort() == Sort::Number));
        assert!(Attribute::DATES.iter().all(|date| date.sort() == Sort::Date));
    }
}
