//! An instrument as the cells of a canonical row: the reverse of `normalize`. Values have the
//! spelling of the index, not of the dump.

use figdex_index::{ColumnValue, IdType, Instrument};

use super::{Column, names};

/// All columns, except the four idTypes that have another name as fields.
pub(crate) fn columns() -> impl Iterator<Item = Column> {
    let of_fields =
        [IdType::BbGlobal, IdType::CompositeBbGlobal, IdType::ShareClassBbGlobal, IdType::Ticker];
    let ids = IdType::ALL.into_iter().filter(move |id_type| !of_fields.contains(id_type));
    Column::fields().chain(ids.map(Column::Identifier))
}

impl Column {
    /// The value of an instrument in the column, if it is known.
    pub(crate) fn value(self, instrument: &Instrument) -> Option<ColumnValue<'_>> {
        match self {
            Self::Figi => Some(ColumnValue::Figi(instrument.figi)),
            Self::Attribute(attribute) => instrument.value(attribute),
            Self::Property(property) => instrument.property(property).map(ColumnValue::Text),
            Self::Identifier(id_type) => instrument.identifier_set(id_type),
            Self::Name(_) => None,
        }
    }
}

/// The cells of the instrument, except its own FIGI. A column with several values has several
/// cells, one after the other.
pub(crate) fn cells(instrument: &Instrument) -> Vec<(Column, String)> {
    let mut cells = Vec::new();
    for column in columns().filter(|column| *column != Column::Figi) {
        let Some(value) = column.value(instrument) else { continue };
        match value.list() {
            _ if let ColumnValue::Names(names) = value => cells.push((column, names::text(names))),
            None => cells.push((column, value.to_string())),
            Some(mut values) => {
                values.sort_unstable();
                cells.extend(values.into_iter().map(|value| (column, value.to_owned())));
            }
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use figdex_index::{Figi, Property};

    use super::*;
    use crate::row::normalize::normalize;
    use crate::row::{CellKind, Row};

    /// A dump that is read has the columns of one that is written, in the same order.
    #[test]
    fn the_columns_are_those_of_an_export() {
        assert!(columns().map(Column::name).eq(figdex_index::export_columns()));
    }

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
