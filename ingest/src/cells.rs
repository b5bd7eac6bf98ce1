//! An instrument as the cells of a canonical row: the way back from
//! `normalize`, in one spelling whatever the dump's was.

use std::fmt::Display;

use figdex_index::{Instrument, Property};

use crate::row::Column;

/// The cells that say what is known of the instrument, except its own FIGI. A
/// column with several values has several cells, one after the other.
pub(crate) fn cells(instrument: &Instrument) -> Vec<(Column, String)> {
    fn cell<T: Display>(column: Column, value: &Option<T>) -> Option<(Column, String)> {
        value.as_ref().map(|value| (column, value.to_string()))
    }
    let fields = [
        cell(Column::CompositeFigi, &instrument.composite_figi),
        cell(Column::ShareClassFigi, &instrument.share_class_figi),
        cell(Column::Ticker, &instrument.ticker),
        cell(Column::Name, &instrument.name),
        cell(Column::SecurityDescription, &instrument.security_description),
        cell(Column::Strike, &instrument.strike),
        cell(Column::ContractSize, &instrument.contract_size),
        cell(Column::Coupon, &instrument.coupon),
        cell(Column::Expiration, &instrument.expiration),
        cell(Column::Maturity, &instrument.maturity),
        cell(Column::Listed, &instrument.listed),
        cell(Column::Metadata, &instrument.metadata),
        cell(Column::UniqueId, &instrument.unique_id),
        cell(Column::UniqueIdFutOpt, &instrument.unique_id_fut_opt),
    ];
    let properties = Property::ALL.into_iter().filter_map(|property| {
        Some((Column::Property(property), instrument.property(property)?.to_owned()))
    });
    let mut identifiers: Vec<_> = instrument
        .identifiers
        .iter()
        .map(|(kind, value)| (Column::Identifier(*kind), value.as_str().to_owned()))
        .collect();
    identifiers.sort_unstable();
    let aliases = instrument.alias.iter().map(|alias| (Column::Alias, alias.clone()));
    fields.into_iter().flatten().chain(properties).chain(identifiers).chain(aliases).collect()
}

#[cfg(test)]
mod tests {
    use figdex_index::{Figi, IdType};

    use super::*;
    use crate::normalize::normalize;
    use crate::row::{CellKind, Row};

    /// Every column comes back as it was put in.
    #[test]
    fn it_is_the_way_back_from_normalize() {
        let mut given = vec![
            ("compositeFIGI", "BBG000BLNNH6"),
            ("shareClassFIGI", "BBG001S5S399"),
            ("ticker", "IBM"),
            ("name", "x"),
            ("securityDescription", "y"),
            ("strike", "12.5"),
            ("contractSize", "100"),
            ("coupon", "0"),
            ("expiration", "2025-01-17"),
            ("maturity", "2026-01-17"),
            ("listed", "false"),
            ("metadata", "z"),
            ("uniqueID", "EQ1"),
            ("uniqueIDFutOpt", "COAAPL"),
        ];
        given.extend(Property::ALL.map(|property| {
            (property.field_name(), if property == Property::OptionType { "Put" } else { "US" })
        }));
        given.extend([("ID_ISIN", "US4592001014"), ("ID_ISIN", "JP3633400001")]);
        given.extend([("ID_CUSIP", "459200101"), ("alias", "b"), ("alias", "a")]);
        let mut row = Row::default();
        for (column, value) in [("figi", "BBG000BLNNH6")].iter().chain(&given) {
            row.push(Column::from_name(column).unwrap(), value, CellKind::Text);
        }
        let mut dropped = Vec::new();
        let instrument = normalize(&row, &mut dropped).unwrap();
        assert!(dropped.is_empty() && instrument.figi == Figi::parse("BBG000BLNNH6").unwrap());
        let mut found = cells(&instrument);
        let mut given: Vec<_> = given
            .into_iter()
            .map(|(column, value)| (Column::from_name(column).unwrap(), value.to_owned()))
            .collect();
        assert_eq!(found.iter().filter(|(c, _)| *c == Column::Identifier(IdType::Isin)).count(), 2);
        found.sort();
        given.sort();
        assert_eq!(found, given);
    }
}
