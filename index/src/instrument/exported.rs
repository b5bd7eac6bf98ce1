//! An instrument as a row of an export: the columns in their order, and the text of each value in
//! CSV and in JSON. An export of an index and the changes between two generations have the same
//! texts.

use std::borrow::Cow;

use serde::ser::{Serialize, SerializeMap as _, Serializer};

use super::Instrument;
use super::attribute::Attribute;
use super::id_type::IdType;
use super::value::ColumnValue;
use super::vocabulary::Property;

/// Separates the values in one CSV cell.
pub const LIST_SEPARATOR: char = ';';

/// The name of the first column.
const FIGI: &str = "figi";

/// The idTypes that have another name as fields, and no separate column.
const OF_FIELDS: [IdType; 4] =
    [IdType::BbGlobal, IdType::CompositeBbGlobal, IdType::ShareClassBbGlobal, IdType::Ticker];

/// A CSV cell cannot represent a value, because it contains [`LIST_SEPARATOR`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HasSeparator;

/// The names of the columns of an export, in their order.
pub fn export_columns() -> impl Iterator<Item = &'static str> {
    let (before, after) = Attribute::ALL.split_at(Attribute::AFTER_PROPERTIES as usize);
    let [before, after] = [before, after].map(|them| them.iter().map(|one| one.name()));
    let properties = Property::ALL.into_iter().map(Property::field_name);
    let identifiers = identifier_columns().map(IdType::name);
    std::iter::once(FIGI).chain(before).chain(properties).chain(after).chain(identifiers)
}

/// The idTypes that have a column in an export, in the order of the columns, which are its last.
pub fn identifier_columns() -> impl Iterator<Item = IdType> {
    IdType::ALL.into_iter().filter(|id_type| !OF_FIELDS.contains(id_type))
}

impl Attribute {
    /// The first attribute after the properties, in the order of a dump.
    pub const AFTER_PROPERTIES: Self = Self::Strike;
}

impl Instrument {
    /// The value of each column of an export, by the name of the column, in the order of
    /// [`export_columns`].
    pub fn exported(&self) -> impl Iterator<Item = (&'static str, Option<ColumnValue<'_>>)> {
        let (before, after) = Attribute::ALL.split_at(Attribute::AFTER_PROPERTIES as usize);
        let [before, after] =
            [before, after].map(|them| them.iter().map(|one| (one.name(), self.value(*one))));
        let properties = Property::ALL
            .into_iter()
            .map(|one| (one.field_name(), self.property(one).map(ColumnValue::Text)));
        let identifiers = identifier_columns().map(|one| (one.name(), self.identifier_set(one)));
        let figi = (FIGI, Some(ColumnValue::Figi(self.figi)));
        std::iter::once(figi).chain(before).chain(properties).chain(after).chain(identifiers)
    }
}

/// The text of a value in a CSV cell, without quotes.
///
/// # Errors
/// [`HasSeparator`].
pub fn csv_text(value: Option<ColumnValue<'_>>) -> Result<Cow<'_, str>, HasSeparator> {
    let Some(value) = value else { return Ok("".into()) };
    match (value, value.list()) {
        (ColumnValue::Text(text), _) => Ok(text.into()),
        (ColumnValue::Names(names), _) => {
            Ok(serde_json::to_string(names).expect("names are texts").into())
        }
        (_, None) => Ok(value.to_string().into()),
        (_, Some(values)) if values.iter().any(|value| value.contains(LIST_SEPARATOR)) => {
            Err(HasSeparator)
        }
        (_, Some(values)) => {
            let mut separator = [0; 4];
            Ok(values.join(LIST_SEPARATOR.encode_utf8(&mut separator)).into())
        }
    }
}

/// An instrument that serializes as the object of a JSON line.
#[derive(Clone, Copy, Debug)]
pub struct ExportedObject<'a>(pub &'a Instrument);

impl Serialize for ExportedObject<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(None)?;
        for (name, value) in self.0.exported() {
            let Some(value) = value else { continue };
            match value.list().as_deref() {
                Some([only]) => object.serialize_entry(name, only)?,
                _ => object.serialize_entry(name, &value)?,
            }
        }
        object.end()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::instrument::figi::Figi;

    /// An export has each column of an instrument once, apart from the idTypes that are fields.
    #[test]
    fn an_export_has_every_column() {
        let instrument = Instrument::new(Figi::parse("BBG000BLNNH6").unwrap());
        let names: Vec<_> = export_columns().collect();
        assert!(instrument.exported().map(|(name, _)| name).eq(names.iter().copied()));
        let exported: BTreeSet<_> = names.iter().copied().collect();
        assert_eq!(exported.len(), names.len());
        let all = instrument.columns().map(|(name, _)| name).chain([FIGI]);
        let left_out: BTreeSet<_> = all.filter(|name| !exported.contains(name)).collect();
        assert_eq!(left_out, OF_FIELDS.map(IdType::name).into_iter().collect());
    }

    /// A cell joins several values, and refuses one that would be read as two.
    #[test]
    fn a_cell_is_read_as_it_was_written() {
        let [plain, joined] = [["a", "b"], ["a;b", "c"]].map(|list| list.map(str::to_owned));
        assert_eq!(csv_text(Some(ColumnValue::Texts(&plain))), Ok("a;b".into()));
        assert_eq!(csv_text(Some(ColumnValue::Texts(&joined))), Err(HasSeparator));
        assert_eq!(csv_text(Some(ColumnValue::Text("a;b"))), Ok("a;b".into()));
        assert_eq!(csv_text(None), Ok("".into()));
    }
}
