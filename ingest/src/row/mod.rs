//! One row of a dump, as text, and the canonical columns. `normalize` turns a row into an
//! instrument, `cells` is the reverse, and `reject` has the reasons why a row is not an instrument.
//! `meaning` describes each column, and `nearest` finds the column that a heading may stand for.

pub(crate) mod cells;
pub(crate) mod meaning;
pub(crate) mod names;
pub(crate) mod nearest;
pub(crate) mod normalize;
pub(crate) mod reject;

use std::cmp::Ordering;
use std::iter;

use figdex_index::{Attribute, IdType, Property, Sort};

/// A column of the canonical dump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// `figi`, required.
    Figi,
    /// An attribute, under its name.
    Attribute(Attribute),
    /// An enum-like property, under its name in a result row.
    Property(Property),
    /// Any idType, under the contract's name.
    Identifier(IdType),
    /// A part of an other name, which only the files of `--names` have.
    Name(NameColumn),
}

/// The columns of a file of names, besides its keys and `name`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameColumn {
    /// `kind`.
    Kind,
    /// `from`, the first day of the name.
    From,
    /// `to`, the last day of the name.
    To,
}

/// Columns have the order of a dump.
impl Ord for Column {
    fn cmp(&self, other: &Self) -> Ordering {
        self.place().cmp(&other.place())
    }
}

impl PartialOrd for Column {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Column {
    fn place(self) -> (u8, u8) {
        match self {
            Self::Figi => (0, 0),
            Self::Attribute(attribute) if attribute < Attribute::AFTER_PROPERTIES => {
                (1, attribute as u8)
            }
            Self::Property(property) => (2, property as u8),
            Self::Attribute(attribute) => (3, attribute as u8),
            Self::Identifier(id_type) => (4, id_type as u8),
            Self::Name(column) => (5, column as u8),
        }
    }

    /// Whether its values are texts for people. Differences in letter case and punctuation mean
    /// little in these.
    pub(crate) fn is_text(self) -> bool {
        match self {
            Self::Attribute(Attribute::UniqueId | Attribute::UniqueIdFutOpt) => false,
            Self::Attribute(attribute) => {
                matches!(attribute.sort(), Sort::Text | Sort::Texts | Sort::Names)
            }
            Self::Property(_) => true,
            Self::Figi | Self::Identifier(_) | Self::Name(_) => false,
        }
    }

    /// The columns that are not an idType, in the order of a dump.
    pub(crate) fn fields() -> impl Iterator<Item = Self> {
        let (before, after) = Attribute::ALL.split_at(Attribute::AFTER_PROPERTIES as usize);
        let [before, after] = [before, after].map(|them| them.iter().copied().map(Self::Attribute));
        let properties = Property::ALL.into_iter().map(Self::Property);
        iter::once(Self::Figi).chain(before).chain(properties).chain(after)
    }

    /// The column's name in a canonical dump.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Figi => "figi",
            Self::Attribute(attribute) => attribute.name(),
            Self::Property(property) => property.field_name(),
            Self::Identifier(id_type) => id_type.name(),
            Self::Name(NameColumn::Kind) => "kind",
            Self::Name(NameColumn::From) => "from",
            Self::Name(NameColumn::To) => "to",
        }
    }

    /// The column with that name that only a file of names has.
    pub(crate) fn of_names(name: &str) -> Option<Self> {
        let all = [NameColumn::Kind, NameColumn::From, NameColumn::To].map(Self::Name);
        all.into_iter().find(|column| column.name() == name)
    }

    /// The column with that name. Case is significant: `ticker` is a field, `TICKER` an idType.
    pub fn from_name(name: &str) -> Option<Self> {
        let field = Self::fields().find(|column| column.name() == name);
        field.or_else(|| IdType::from_name(name).map(Self::Identifier))
    }

    /// Every column.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        Self::fields().chain(IdType::ALL.map(Self::Identifier))
    }

    /// Whether a cell may hold several values.
    pub fn is_list(self) -> bool {
        match self {
            Self::Attribute(attribute) => attribute.sort() == Sort::Texts,
            Self::Identifier(_) => true,
            Self::Figi | Self::Property(_) | Self::Name(_) => false,
        }
    }
}

/// One row as it was read. It is reused for all rows, so that reading stops allocating once its
/// buffers are large enough.
#[derive(Default)]
pub(crate) struct Row {
    /// The line at which it starts, from 1; in a Parquet file the number of the record.
    pub(crate) line: u64,
    /// Its bytes in the dump, without the line end.
    pub(crate) raw: Vec<u8>,
    text: String,
    cells: Vec<CellPlace>,
}

struct CellPlace {
    column: Column,
    start: usize,
    end: usize,
    kind: CellKind,
}

/// The kind of a cell's value in the dump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CellKind {
    /// Any other valid value: a text, a JSON boolean, a JSON number that is not an integer, or any
    /// value of a container that has only texts.
    Text,
    /// A JSON integer, which cannot have leading zeros.
    Integer,
    /// A value that no column accepts, such as a JSON object, and the reason.
    Invalid(&'static str),
}

/// One value of a row, trimmed and not empty. A cell with several values becomes several cells
/// of one column.
pub(crate) struct Cell<'a> {
    pub(crate) column: Column,
    pub(crate) value: &'a str,
    pub(crate) kind: CellKind,
}

impl Row {
    pub(crate) fn clear_cells(&mut self) {
        self.text.clear();
        self.cells.clear();
    }

    /// Adds a value, unless it is blank, which means "unknown". Returns whether it was added.
    pub(crate) fn push(&mut self, column: Column, value: &str, kind: CellKind) -> bool {
        let value = value.trim();
        if !value.is_empty() {
            let start = self.text.len();
            self.text.push_str(value);
            self.cells.push(CellPlace { column, start, end: self.text.len(), kind });
        }
        !value.is_empty()
    }

    /// The size of all its values.
    pub(crate) fn value_bytes(&self) -> usize {
        self.text.len()
    }

    pub(crate) fn cells(&self) -> impl Iterator<Item = Cell<'_>> {
        self.cells.iter().map(|place| Cell {
            column: place.column,
            value: &self.text[place.start..place.end],
            kind: place.kind,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_have_the_order_of_a_dump() {
        assert!(Column::all().is_sorted_by(|one, next| one < next));
    }

    #[test]
    fn a_column_is_found_by_its_exact_name() {
        for column in Column::all() {
            assert_eq!(Column::from_name(column.name()), Some(column));
        }
        assert_eq!(Column::from_name("FIGI"), None);
        assert_eq!(Column::from_name("marketSecDes"), None, "in a dump it is marketSector");
    }
}
