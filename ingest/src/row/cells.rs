//! An instrument as the cells of a canonical row, the reverse of `normalize`. Values have the
//! spelling of the index, not that of the dump.

use std::borrow::Cow;

use figdex_index::{Figi, IdType, IdValue, Importance, Instrument};

use super::Column;

/// All columns except the four idTypes that are fields under another name.
pub(crate) fn columns() -> impl Iterator<Item = Column> {
    let of_fields =
        [IdType::BbGlobal, IdType::CompositeBbGlobal, IdType::ShareClassBbGlobal, IdType::Ticker];
    let ids = IdType::ALL.into_iter().filter(move |id_type| !of_fields.contains(id_type));
    Column::FIELDS.into_iter().chain(ids.map(Column::Identifier))
}

/// The value of an instrument in a column.
pub(crate) enum ColumnValue<'a> {
    Nothing,
    Text(Cow<'a, str>),
    Number(f64),
    Bool(bool),
    List(Vec<&'a str>),
}

/// The value of the instrument in that column.
pub(crate) fn column_value(instrument: &Instrument, column: Column) -> ColumnValue<'_> {
    fn text(text: &Option<String>) -> Option<Cow<'_, str>> {
        text.as_deref().map(Cow::Borrowed)
    }
    let figi = |figi: Option<Figi>| figi.map(|figi| Cow::Owned(figi.to_string()));
    let found = match column {
        Column::Figi => figi(Some(instrument.figi)),
        Column::CompositeFigi => figi(instrument.composite_figi),
        Column::ShareClassFigi => figi(instrument.share_class_figi),
        Column::Ticker => text(&instrument.ticker),
        Column::Name => text(&instrument.name),
        Column::SecurityDescription => text(&instrument.security_description),
        Column::Property(property) => instrument.property(property).map(Cow::Borrowed),
        Column::Strike => {
            return instrument.strike.map_or(ColumnValue::Nothing, ColumnValue::Number);
        }
        Column::ContractSize => {
            return instrument.contract_size.map_or(ColumnValue::Nothing, ColumnValue::Number);
        }
        Column::Coupon => {
            return instrument.coupon.map_or(ColumnValue::Nothing, ColumnValue::Number);
        }
        Column::Expiration => instrument.expiration.map(|date| Cow::Owned(date.to_string())),
        Column::Maturity => instrument.maturity.map(|date| Cow::Owned(date.to_string())),
        Column::Listed => return instrument.listed.map_or(ColumnValue::Nothing, ColumnValue::Bool),
        Column::Importance => {
            let number = instrument.importance.map(Importance::number);
            return number.map_or(ColumnValue::Nothing, ColumnValue::Number);
        }
        Column::Metadata => text(&instrument.metadata),
        Column::UniqueId => text(&instrument.unique_id),
        Column::UniqueIdFutOpt => text(&instrument.unique_id_fut_opt),
        Column::Alias => return list(instrument.alias.iter().map(String::as_str).collect()),
        Column::Identifier(id_type) => {
            let own = instrument.identifiers_of(id_type);
            return list(own.map(IdValue::as_str).collect());
        }
    };
    found.map_or(ColumnValue::Nothing, ColumnValue::Text)
}

fn list(values: Vec<&str>) -> ColumnValue<'_> {
    if values.is_empty() { ColumnValue::Nothing } else { ColumnValue::List(values) }
}

/// The cells of the instrument, except its own FIGI. A column with several values has several
/// cells, one after the other.
pub(crate) fn cells(instrument: &Instrument) -> Vec<(Column, String)> {
    let mut cells = Vec::new();
    for column in columns().filter(|column| *column != Column::Figi) {
        match column_value(instrument, column) {
            ColumnValue::Nothing => {}
            ColumnValue::Text(text) => cells.push((column, text.into_owned())),
            ColumnValue::Number(number) => cells.push((column, number.to_string())),
            ColumnValue::Bool(truth) => cells.push((column, truth.to_string())),
            ColumnValue::List(mut values) => {
                values.sort_unstable();
                cells.extend(values.into_iter().map(|value| (column, value.to_owned())));
            }
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use figdex_index::Property;

    use super::*;
    use crate::row::normalize::normalize;
    use crate::row::{CellKind, Row};

    #[test]
    fn the_cells_of_an_instrument_are_those_it_was_made_from() {
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
            ("importance", "3100000000000.25"),
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
