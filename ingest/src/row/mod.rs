//! One row of a dump, as text, and the canonical columns. `normalize` makes an instrument of a
//! row, `cells` is the reverse, and `reject` has the reasons why a row is not an instrument.
//! `meaning` describes each column, and `nearest` finds the column that a heading may mean.

pub(crate) mod cells;
pub(crate) mod meaning;
pub(crate) mod nearest;
pub(crate) mod normalize;
pub(crate) mod reject;

use figdex_index::{IdType, Property};

/// A column of the canonical dump.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Column {
    /// `figi`, required.
    Figi,
    /// `compositeFIGI`
    CompositeFigi,
    /// `shareClassFIGI`
    ShareClassFigi,
    /// `ticker`
    Ticker,
    /// `name`
    Name,
    /// `securityDescription`
    SecurityDescription,
    /// An enum-like property, under its name in a result row.
    Property(Property),
    /// `strike`
    Strike,
    /// `contractSize`
    ContractSize,
    /// `coupon`
    Coupon,
    /// `expiration`
    Expiration,
    /// `maturity`
    Maturity,
    /// `listed`
    Listed,
    /// `metadata`
    Metadata,
    /// `uniqueID`
    UniqueId,
    /// `uniqueIDFutOpt`
    UniqueIdFutOpt,
    /// `alias`
    Alias,
    /// `importance`
    Importance,
    /// Any idType, under the contract's name.
    Identifier(IdType),
}

impl Column {
    /// Whether its values are texts for people, in which letter case and punctuation mean little.
    pub(crate) fn is_text(self) -> bool {
        matches!(
            self,
            Self::Ticker
                | Self::Name
                | Self::SecurityDescription
                | Self::Property(_)
                | Self::Metadata
                | Self::Alias
        )
    }

    /// The columns that are not an idType, in the order of a dump.
    pub(crate) const FIELDS: [Self; 25] = [
        Self::Figi,
        Self::CompositeFigi,
        Self::ShareClassFigi,
        Self::Ticker,
        Self::Name,
        Self::SecurityDescription,
        Self::Property(Property::ExchCode),
        Self::Property(Property::MicCode),
        Self::Property(Property::Currency),
        Self::Property(Property::MarketSecDes),
        Self::Property(Property::SecurityType),
        Self::Property(Property::SecurityType2),
        Self::Property(Property::OptionType),
        Self::Property(Property::StateCode),
        Self::Strike,
        Self::ContractSize,
        Self::Coupon,
        Self::Expiration,
        Self::Maturity,
        Self::Listed,
        Self::Metadata,
        Self::UniqueId,
        Self::UniqueIdFutOpt,
        Self::Alias,
        Self::Importance,
    ];

    /// The column's name in a canonical dump.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Figi => "figi",
            Self::CompositeFigi => "compositeFIGI",
            Self::ShareClassFigi => "shareClassFIGI",
            Self::Ticker => "ticker",
            Self::Name => "name",
            Self::SecurityDescription => "securityDescription",
            Self::Property(property) => property.field_name(),
            Self::Strike => "strike",
            Self::ContractSize => "contractSize",
            Self::Coupon => "coupon",
            Self::Expiration => "expiration",
            Self::Maturity => "maturity",
            Self::Listed => "listed",
            Self::Metadata => "metadata",
            Self::UniqueId => "uniqueID",
            Self::UniqueIdFutOpt => "uniqueIDFutOpt",
            Self::Alias => "alias",
            Self::Importance => "importance",
            Self::Identifier(id_type) => id_type.name(),
        }
    }

    /// The column with that name. Case is significant: `ticker` is a field, `TICKER` an idType.
    pub fn from_name(name: &str) -> Option<Self> {
        let field = Self::FIELDS.into_iter().find(|column| column.name() == name);
        field.or_else(|| IdType::from_name(name).map(Self::Identifier))
    }

    /// Every column.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        Self::FIELDS.into_iter().chain(IdType::ALL.map(Self::Identifier))
    }

    /// Whether a cell may hold several values.
    pub const fn is_list(self) -> bool {
        matches!(self, Self::Identifier(_) | Self::Alias)
    }
}

/// One row as it was read. It is reused for all rows, so that reading does not allocate once its
/// buffers have grown.
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
    /// A text, or any value of a container that has texts only.
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
    fn a_column_is_found_by_its_exact_name() {
        for column in Column::all() {
            assert_eq!(Column::from_name(column.name()), Some(column));
        }
        assert_eq!(Column::from_name("FIGI"), None);
        assert_eq!(Column::from_name("marketSecDes"), None, "in a dump it is marketSector");
    }
}
