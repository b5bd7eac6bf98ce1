//! The columns of a list's answer: fields of a row, its identifiers, and its symbols in a vendor's
//! spelling (contract 21).
//!
//! This folder looks nothing up. The engines read the instruments, and [`Crosswalk`] keeps the texts
//! of the columns that were asked for. Each identifier that an answer has comes from [`shown`].

pub(crate) mod symbols;
pub(crate) mod table;

use self::symbols::Vendor;
use super::past::WasRow;
use crate::instrument::id_type::IdType;
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

/// Passes the texts of a column of identifiers, of one instrument, to `each`: `of_row` gives the
/// fields of its row, and `identifiers` are its third-party identifiers. Every identifier that an
/// answer to a list has passes here. None for other columns, and for identifiers that the caller may
/// not see.
fn shown<'v, 'i>(
    field: ListField,
    of_row: impl Fn(Field) -> Option<FieldValue<'v>>,
    identifiers: impl Iterator<Item = (IdType, &'i str)>,
    visible: Visible,
    mut each: impl FnMut(&str),
) {
    let ListField::Identifiers(id_type, spelling) = field else { return };
    let own = match id_type {
        IdType::BbGlobal => Some(Field::Figi),
        IdType::CompositeBbGlobal => Some(Field::CompositeFigi),
        IdType::ShareClassBbGlobal => Some(Field::ShareClassFigi),
        IdType::Ticker => Some(Field::Ticker),
        IdType::BbUnique => Some(Field::UniqueId),
        IdType::UniqueFutOpt => Some(Field::UniqueIdFutOpt),
        _ => None,
    };
    if let Some(value) = own.and_then(of_row) {
        each(&value.to_string());
    }
    if !visible.has(id_type) {
        return;
    }
    for (_, text) in identifiers.filter(|(of, _)| *of == id_type) {
        match spelling {
            Spelling::Stored => each(text),
            Spelling::Compact => each(&text.replace(' ', "")),
            Spelling::Padded => each(&padded(text)),
        }
    }
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

/// The texts of the columns of identifiers and symbols, of the rows of some results. A result may
/// have 15,000 rows, and a request some dozen columns, most of which are empty: only texts take
/// memory.
#[derive(Clone, Debug, Default)]
pub struct Crosswalk {
    /// The rows in ascending order, and the end of the texts of each.
    rows: Vec<(Hit, usize)>,
    /// The place of each text's column among the columns that were asked for, and the end of the text.
    texts: Vec<(usize, usize)>,
    /// All texts, one after the other.
    text: String,
}

impl Crosswalk {
    /// Adds the columns of identifiers of the next row; those of symbols stay empty.
    pub(crate) fn add<'v, 'i>(
        &mut self,
        hit: Hit,
        of_row: impl Fn(Field) -> Option<FieldValue<'v>>,
        identifiers: impl Iterator<Item = (IdType, &'i str)> + Clone,
        columns: ListColumns<'_>,
    ) {
        debug_assert!(self.rows.last().is_none_or(|(last, _)| *last < hit), "rows ascend");
        self.rows.push((hit, self.texts.len()));
        for (place, field) in columns.fields.iter().enumerate() {
            let each = |text: &str| self.put(place, text);
            shown(*field, &of_row, identifiers.clone(), columns.visible, each);
        }
    }

    /// Adds a text of a column of the last row, unless the column has it. The texts of a column are
    /// added together.
    pub(crate) fn put(&mut self, place: usize, text: &str) {
        let before = self.rows.len().checked_sub(2).map_or(0, |row| self.rows[row].1);
        let of_column = (before..self.texts.len()).rev();
        let mut of_column = of_column.take_while(|number| self.texts[*number].0 == place);
        let is_known = of_column.any(|number| self.text(number) == text);
        if let Some(last) = self.rows.last_mut()
            && !is_known
        {
            self.text.push_str(text);
            self.texts.push((place, self.text.len()));
            last.1 = self.texts.len();
        }
    }

    /// The number of the texts of all rows.
    pub(crate) fn len(&self) -> usize {
        self.texts.len()
    }

    fn text(&self, number: usize) -> &str {
        let start = number.checked_sub(1).map_or(0, |before| self.texts[before].1);
        &self.text[start..self.texts[number].1]
    }

    /// The columns of a row of today; all are empty when the row was not read.
    pub fn row(&self, hit: Hit) -> CrosswalkRow<'_> {
        let end_of = |row: usize| self.rows[row].1;
        let texts = match self.rows.binary_search_by_key(&hit, |(hit, _)| *hit) {
            Ok(row) => (row.checked_sub(1).map_or(0, end_of), end_of(row)),
            Err(_) => (0, 0),
        };
        CrosswalkRow { crosswalk: self, texts }
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
        let mut texts: Vec<String> = Vec::new();
        match row {
            _ if !field.has_past() => {}
            WasRow::AsToday(hit) => texts.extend(self.row(*hit).texts(place).map(str::to_owned)),
            WasRow::Then(image) => {
                let identifiers = image.identifiers.iter().map(|one| (one.id_type(), one.as_str()));
                let of_row = |field| image.field(field);
                shown(field, of_row, identifiers, columns.visible, |text| {
                    if !texts.iter().any(|known| known == text) {
                        texts.push(text.to_owned());
                    }
                });
            }
        }
        texts
    }
}

/// The columns of identifiers and symbols of one row.
#[derive(Clone, Copy)]
pub struct CrosswalkRow<'a> {
    crosswalk: &'a Crosswalk,
    /// The number of its first text, and that after its last one.
    texts: (usize, usize),
}

impl<'a> CrosswalkRow<'a> {
    /// The texts of the column at a place.
    pub fn texts(&self, place: usize) -> impl Iterator<Item = &'a str> + use<'a> {
        let Crosswalk { texts, text, .. } = self.crosswalk;
        let of_column =
            (self.texts.0..self.texts.1).filter(move |number| texts[*number].0 == place);
        of_column.map(|number| {
            let start = number.checked_sub(1).map_or(0, |before| texts[before].1);
            &text[start..texts[number].1]
        })
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
            let shown = |visible| -> Vec<String> {
                let mut crosswalk = Crosswalk::default();
                let hit = Hit { part: 0, doc: 7 };
                let identifiers = instrument.identifiers.iter();
                let identifiers = identifiers.map(|one| (one.id_type(), one.as_str()));
                let columns =
                    ListColumns { fields: &[ListField::Row(Field::Name), field], visible };
                crosswalk.add(hit, |field| instrument.field(field), identifiers, columns);
                assert_eq!(crosswalk.row(hit).texts(0).count(), 0);
                crosswalk.row(hit).texts(1).map(str::to_owned).collect()
            };
            assert_eq!(shown(Visible::ALL), expected, "{name}");
            let is_of_row = ["TICKER", "ID_BB_GLOBAL"].contains(&name);
            let hidden = if is_of_row { expected } else { &[] };
            assert_eq!(shown(Visible::without(|_| true)), hidden, "{name}");
        }
        assert_eq!(padded("A251219C00200000"), "A     251219C00200000");
    }
}
