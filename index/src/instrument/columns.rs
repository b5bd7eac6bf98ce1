//! The one list of what an instrument stores: each column of a dump by its name, with its value.
//! The counts of filled columns and the comparison of two generations follow from it.

use super::Instrument;
use super::date::Date;
use super::figi::Figi;
use super::id_type::{IdType, IdValue};
use super::importance::Importance;
use super::vocabulary::Property;

/// The value of a column of an instrument.
///
/// Two values are equal when the same question finds them: neither the order nor repeats of the
/// identifiers of an idType count.
#[derive(Clone, Copy, Debug)]
pub enum ColumnValue<'a> {
    /// The FIGI of a composite or a share class.
    Figi(Option<Figi>),
    /// A text.
    Text(Option<&'a str>),
    /// A number.
    Number(Option<f64>),
    /// A day.
    Date(Option<Date>),
    /// Yes or no.
    Flag(Option<bool>),
    /// An importance.
    Importance(Option<Importance>),
    /// Texts in their order.
    Texts(&'a [String]),
    /// The identifiers of one idType, among all identifiers of the instrument.
    Identifiers(IdType, &'a [IdValue<'static>]),
}

impl ColumnValue<'_> {
    /// Whether the instrument has a value in the column.
    pub fn is_known(&self) -> bool {
        match self {
            Self::Figi(value) => value.is_some(),
            Self::Text(value) => value.is_some(),
            Self::Number(value) => value.is_some(),
            Self::Date(value) => value.is_some(),
            Self::Flag(value) => value.is_some(),
            Self::Importance(value) => value.is_some(),
            Self::Texts(texts) => !texts.is_empty(),
            Self::Identifiers(id_type, all) => all.iter().any(|one| one.id_type() == *id_type),
        }
    }
}

impl PartialEq for ColumnValue<'_> {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Figi(mine), Self::Figi(other)) => mine == other,
            (Self::Text(mine), Self::Text(other)) => mine == other,
            (Self::Number(mine), Self::Number(other)) => mine == other,
            (Self::Date(mine), Self::Date(other)) => mine == other,
            (Self::Flag(mine), Self::Flag(other)) => mine == other,
            (Self::Importance(mine), Self::Importance(other)) => mine == other,
            (Self::Texts(mine), Self::Texts(other)) => mine == other,
            (Self::Identifiers(id_type, mine), Self::Identifiers(other_type, other)) => {
                id_type == other_type
                    && (mine == other || values(*id_type, mine) == values(*id_type, other))
            }
            _ => false,
        }
    }
}

/// The values of one idType, in order, each once.
fn values<'a>(id_type: IdType, all: &'a [IdValue<'static>]) -> Vec<&'a str> {
    let same = all.iter().filter(|value| value.id_type() == id_type);
    let mut values: Vec<&str> = same.map(IdValue::as_str).collect();
    values.sort_unstable();
    values.dedup();
    values
}

impl Instrument {
    /// The value of each column but the FIGI, by the name of the column in a dump. The names and
    /// their order are the same for every instrument.
    pub fn columns(&self) -> impl Iterator<Item = (&'static str, ColumnValue<'_>)> {
        // Taken apart whole, so that a new field does not compile until it is in this list.
        let Self {
            figi: _,
            composite_figi,
            share_class_figi,
            ticker,
            name,
            security_description,
            properties,
            strike,
            contract_size,
            coupon,
            expiration,
            maturity,
            listed,
            importance,
            metadata,
            unique_id,
            unique_id_fut_opt,
            identifiers,
            alias,
        } = self;
        let fields = [
            ("compositeFIGI", ColumnValue::Figi(*composite_figi)),
            ("shareClassFIGI", ColumnValue::Figi(*share_class_figi)),
            ("ticker", ColumnValue::Text(ticker.as_deref())),
            ("name", ColumnValue::Text(name.as_deref())),
            ("securityDescription", ColumnValue::Text(security_description.as_deref())),
            ("strike", ColumnValue::Number(*strike)),
            ("contractSize", ColumnValue::Number(*contract_size)),
            ("coupon", ColumnValue::Number(*coupon)),
            ("expiration", ColumnValue::Date(*expiration)),
            ("maturity", ColumnValue::Date(*maturity)),
            ("listed", ColumnValue::Flag(*listed)),
            ("importance", ColumnValue::Importance(*importance)),
            ("metadata", ColumnValue::Text(metadata.as_deref())),
            ("uniqueID", ColumnValue::Text(unique_id.as_deref())),
            ("uniqueIDFutOpt", ColumnValue::Text(unique_id_fut_opt.as_deref())),
            ("alias", ColumnValue::Texts(alias)),
        ];
        let properties = Property::ALL.into_iter().zip(properties);
        let properties = properties
            .map(|(property, value)| (property.field_name(), ColumnValue::Text(value.as_deref())));
        let id_types = IdType::ALL
            .into_iter()
            .map(|id_type| (id_type.name(), ColumnValue::Identifiers(id_type, identifiers)));
        fields.into_iter().chain(properties).chain(id_types)
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
        assert!(instrument.columns().all(|(_, value)| !value.is_known()));
        assert!(instrument.columns().eq(instrument.columns()));
    }

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
