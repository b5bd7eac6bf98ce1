//! The columns of a list's answer: fields of a row, its identifiers, and its symbols in a vendor's
//! spelling (contract 21).
//!
//! This folder looks nothing up. The engines read the instruments, and [`Crosswalk`] keeps the texts
//! of the columns that were asked for. Each identifier that an answer has comes from [`shown`].

pub(crate) mod symbols;
pub(crate) mod table;

use std::collections::HashMap;

use self::symbols::Vendor;
use super::past::WasRow;
use crate::instrument::id_type::{IdType, IdValue};
use crate::instrument::visible::Visible;
use crate::part::rows::{Field, FieldValue};
use crate::search::Hit;

/// The units of work of writing a symbol and of reading it back.
pub(crate) const SYMBOL_UNITS: u64 = 600;

/// The most columns that one list may ask for.
pub const LIST_FIELDS_MAX: usize = 64;

/// A column of a list's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListField {
    /// A field of the row.
    Row(Field),
    /// Identifiers of the row.
    Identifiers(IdType, Spelling),
    /// The symbol of the row's composite, as a vendor spells it.
    Symbol(Vendor),
}

/// The spelling of identifiers in an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spelling {
    /// That of the index.
    Stored,
    /// Without blanks: `AAPL251219C00200000`.
    Compact,
    /// With the root of an option's symbol padded to six characters.
    Padded,
}

const COMPACT: &str = "OCC_SYMBOL:compact";
const PADDED: &str = "OCC_SYMBOL:padded";

impl ListField {
    /// The column with this name: a field of a row, an idType, `OCC_SYMBOL:compact`,
    /// `OCC_SYMBOL:padded`, or `symbol:` and a vendor. Letter case counts.
    pub fn from_name(name: &str) -> Option<Self> {
        let identifiers = || match name {
            COMPACT => Some(Self::Identifiers(IdType::Occ, Spelling::Compact)),
            PADDED => Some(Self::Identifiers(IdType::Occ, Spelling::Padded)),
            name => Some(Self::Identifiers(IdType::from_name(name)?, Spelling::Stored)),
        };
        let field = Field::from_name(name).map(Self::Row);
        field.or_else(identifiers).or_else(|| Vendor::from_name(name).map(Self::Symbol))
    }

    /// The name, also that of the column and of the member.
    pub fn name(self) -> &'static str {
        match self {
            Self::Row(field) => field.name(),
            Self::Identifiers(_, Spelling::Compact) => COMPACT,
            Self::Identifiers(_, Spelling::Padded) => PADDED,
            Self::Identifiers(id_type, Spelling::Stored) => id_type.name(),
            Self::Symbol(vendor) => vendor.name(),
        }
    }

    /// The idType of the column, if it has identifiers.
    pub fn id_type(self) -> Option<IdType> {
        match self {
            Self::Identifiers(id_type, _) => Some(id_type),
            Self::Row(_) | Self::Symbol(_) => None,
        }
    }

    /// The field of the row, if it is one.
    pub fn row_field(self) -> Option<Field> {
        match self {
            Self::Row(field) => Some(field),
            Self::Identifiers(..) | Self::Symbol(_) => None,
        }
    }

    /// Whether the past keeps the column (contract 20.2, 21.5).
    pub fn has_past(self) -> bool {
        match self {
            Self::Row(field) => field.has_past(),
            Self::Identifiers(id_type, _) => {
                !matches!(id_type, IdType::BbUnique | IdType::UniqueFutOpt)
            }
            Self::Symbol(_) => false,
        }
    }

    /// The names of all columns, those of rows first.
    pub fn names() -> impl Iterator<Item = &'static str> {
        let fields = Field::ALL.iter().map(|field| field.name());
        let spelled = IdType::ALL.into_iter().map(IdType::name).chain([COMPACT, PADDED]);
        fields.chain(spelled).chain(Vendor::all().map(Vendor::name))
    }
}

/// The columns of a list's answer, and what its caller may see of them.
#[derive(Clone, Copy, Debug)]
pub struct ListColumns<'a> {
    /// The columns.
    pub fields: &'a [ListField],
    /// The idTypes that the caller may see. Columns of others are empty.
    pub visible: Visible,
}

/// The texts of a column of identifiers, of one instrument: `of_row` gives the fields of its row, and
/// `identifiers` are its third-party identifiers. Every identifier that an answer to a
/// list has passes here. None for other columns, and for identifiers that the caller may not see.
fn shown<'v>(
    field: ListField,
    of_row: impl Fn(Field) -> Option<FieldValue<'v>>,
    identifiers: &[IdValue<'static>],
    visible: Visible,
) -> Vec<String> {
    let ListField::Identifiers(id_type, spelling) = field else { return Vec::new() };
    let own = match id_type {
        IdType::BbGlobal => Some(Field::Figi),
        IdType::CompositeBbGlobal => Some(Field::CompositeFigi),
        IdType::ShareClassBbGlobal => Some(Field::ShareClassFigi),
        IdType::Ticker => Some(Field::Ticker),
        IdType::BbUnique => Some(Field::UniqueId),
        IdType::UniqueFutOpt => Some(Field::UniqueIdFutOpt),
        _ => None,
    };
    let own = own.and_then(of_row).map(|value| value.to_string());
    let mut texts: Vec<String> = own.into_iter().collect();
    let identifiers = if visible.has(id_type) { identifiers } else { &[] };
    for value in identifiers.iter().filter(|value| value.id_type() == id_type) {
        let text = match spelling {
            Spelling::Stored => value.as_str().to_owned(),
            Spelling::Compact => value.as_str().replace(' ', ""),
            Spelling::Padded => padded(value.as_str()),
        };
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    texts
}

/// An OCC symbol with its root padded to six characters.
fn padded(symbol: &str) -> String {
    /// The characters after the root.
    const AFTER_ROOT: usize = 15;
    let at = symbol.len().saturating_sub(AFTER_ROOT);
    match symbol.split_at_checked(at) {
        Some((root, rest)) => format!("{:<6}{rest}", root.trim_end()),
        None => symbol.to_owned(),
    }
}

/// The texts of the columns of identifiers and symbols, of the rows of some results.
#[derive(Clone, Debug, Default)]
pub struct Crosswalk(HashMap<Hit, CrosswalkRow>);

/// The texts of one row. A result may have 15,000 rows, and a request some dozen columns, most of
/// which are empty: only texts take memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CrosswalkRow {
    /// The texts of all columns, one column after the other.
    texts: Vec<String>,
    /// The columns that have texts: the place of each among the columns that were asked for, and the
    /// number of its texts.
    columns: Vec<(usize, usize)>,
}

impl Crosswalk {
    pub(crate) fn add(&mut self, hit: Hit, row: CrosswalkRow) {
        self.0.insert(hit, row);
    }

    /// The texts of the column at a place, of a row of today. None when the row was not read.
    pub fn texts(&self, hit: Hit, place: usize) -> &[String] {
        self.0.get(&hit).map_or(&[], |row| row.texts(place))
    }

    /// The texts of the column at a place, of a row as it was.
    ///
    /// # Panics
    /// When there is no such column.
    pub fn texts_of_past(
        &self,
        row: &WasRow,
        columns: ListColumns<'_>,
        place: usize,
    ) -> Vec<String> {
        let field = columns.fields[place];
        match row {
            _ if !field.has_past() => Vec::new(),
            WasRow::AsToday(hit) => self.texts(*hit, place).to_vec(),
            WasRow::Then(image) => {
                shown(field, |field| image.field(field), &image.identifiers, columns.visible)
            }
        }
    }
}

impl CrosswalkRow {
    /// The columns of identifiers of a row; those of symbols stay empty.
    pub(crate) fn of<'v>(
        of_row: impl Fn(Field) -> Option<FieldValue<'v>>,
        identifiers: &[IdValue<'static>],
        columns: ListColumns<'_>,
    ) -> Self {
        let ListColumns { fields, visible } = columns;
        let mut row = Self::default();
        for (place, field) in fields.iter().enumerate() {
            row.add(place, shown(*field, &of_row, identifiers, visible));
        }
        row.texts.shrink_to_fit();
        row.columns.shrink_to_fit();
        row
    }

    pub(crate) fn set_symbol(&mut self, place: usize, symbol: String) {
        self.add(place, vec![symbol]);
    }

    fn add(&mut self, place: usize, texts: Vec<String>) {
        if !texts.is_empty() {
            self.columns.push((place, texts.len()));
            self.texts.extend(texts);
        }
    }

    /// The texts of the column at a place.
    fn texts(&self, place: usize) -> &[String] {
        let mut start = 0;
        for (of, count) in &self.columns {
            let end = start + count;
            if *of == place {
                return &self.texts[start..end];
            }
            start = end;
        }
        &[]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instrument::Instrument;
    use crate::instrument::figi::Figi;

    /// contract 21.1: no two columns have one name, and each name is that of its column.
    #[test]
    fn names() {
        let names: Vec<_> = ListField::names().collect();
        assert!(names.len() <= LIST_FIELDS_MAX);
        for (place, name) in names.iter().enumerate() {
            assert!(!names[..place].contains(name), "{name}");
            assert_eq!(ListField::from_name(name).unwrap().name(), *name);
        }
        for name in ["id_isin", "OCC_SYMBOL:x", "ID_ISIN:compact", "symbol:", "symbol:nobody", ""] {
            assert_eq!(ListField::from_name(name), None, "{name}");
        }
    }

    /// contract 21.2, 21.3.
    #[test]
    fn texts() {
        let value = |id_type: IdType, text: &'static str| id_type.admit(text).unwrap();
        let instrument = Instrument {
            ticker: Some("AAPL".to_owned()),
            identifiers: vec![
                value(IdType::Isin, "US0378331005"),
                value(IdType::Occ, "AAPL  251219C00200000"),
                value(IdType::Isin, "US4592001014"),
                value(IdType::Isin, "US0378331005"),
            ],
            ..Instrument::new(Figi::parse("BBG000B9XRY4").unwrap())
        };
        for (name, expected) in [
            ("ID_ISIN", &["US0378331005", "US4592001014"][..]),
            ("OCC_SYMBOL", &["AAPL  251219C00200000"]),
            ("OCC_SYMBOL:padded", &["AAPL  251219C00200000"]),
            ("OCC_SYMBOL:compact", &["AAPL251219C00200000"]),
            ("TICKER", &["AAPL"]),
            ("ID_BB_GLOBAL", &["BBG000B9XRY4"]),
            ("ID_CUSIP", &[]),
            ("ticker", &[]),
            ("symbol:yahoo", &[]),
        ] {
            let field = ListField::from_name(name).unwrap();
            let shown = |visible| {
                let of_row = |field| instrument.field(field);
                super::shown(field, of_row, &instrument.identifiers, visible)
            };
            assert_eq!(shown(Visible::ALL), expected, "{name}");
            let is_of_row = ["TICKER", "ID_BB_GLOBAL"].contains(&name);
            let hidden = if is_of_row { expected } else { &[] };
            assert_eq!(shown(Visible::without(|_| true)), hidden, "{name}");
        }
        assert_eq!(padded("A251219C00200000"), "A     251219C00200000");
    }
}
