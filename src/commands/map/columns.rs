//! The columns of a table: finds the columns that identify its rows, and its heading.

use std::borrow::Cow;

use anyhow::{bail, ensure};
use figdex_index::{Column, IdType, Property, Recognised, Vendor};
use figdex_ingest::table::{Batch, Container, RawCell};

use crate::config::as_of::AsOf;
use crate::config::map::{Condition, IdColumn, MapFlags, TypeOf, Value};
use crate::wire::json::integer_of;

/// A column of identifiers and how its texts are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Identifier {
    pub(super) column: usize,
    pub(super) reading: Reading,
}

/// The way to read the texts of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// Each text by itself.
    Each,
    /// As texts of a column of this type.
    OfColumn(IdType),
    /// As identifiers of this type.
    Given(IdType),
    /// As symbols of this vendor.
    Symbol(Vendor),
    /// As identifiers of the type in another column.
    TypeIn(usize),
}

/// A column, recognised or given.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FoundColumn {
    /// Its place.
    pub(super) column: usize,
    /// Its heading; without one, its number.
    pub(super) name: String,
    /// The type of its texts. `None` when each text is recognised by itself, or another column
    /// names the type of each text.
    pub(super) id_type: Option<IdType>,
    /// For a recognised column, the share of its texts that have the form of the type.
    pub(super) share: Option<f64>,
    pub(super) is_used: bool,
}

/// The columns of a table.
#[derive(Clone, Debug)]
pub(super) struct Columns {
    /// The headings. A file without a heading has one name here.
    pub(super) names: Vec<String>,
    /// Whether the first record is a heading.
    pub(super) has_heading: bool,
    /// Whether rows are delimited text. Others are objects, which may have further members.
    pub(super) are_delimited: bool,
    /// The columns of identifiers, in the order in which they are tried.
    pub(super) identifiers: Vec<Identifier>,
    /// The columns that hold the value of a property.
    pub(super) conditions: Vec<(Property, usize)>,
    /// The column of the days as of which the rows are asked, if there is one.
    pub(super) days: Option<usize>,
    /// The columns that were recognised or given.
    pub(super) found: Vec<FoundColumn>,
}

/// The heading of the only column of a file without a heading.
const ONLY_COLUMN: &str = "identifier";

/// The most columns that a message lists, and the most characters of a heading that it shows.
pub(super) const LISTED_MAX: usize = 30;
const HEADING_CHARS_MAX: usize = 60;

/// The fewest letters of a name for which a similar heading is suggested.
const MEANT_CHARS_MIN: usize = 4;

/// A heading for a message. A long one is cut.
pub(super) fn shortened(heading: &str) -> String {
    match heading.char_indices().nth(HEADING_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &heading[..end]),
        None => heading.to_owned(),
    }
}

/// The first rows of a table, from which its columns are recognised.
pub(super) struct TableHead<'a> {
    pub(super) container: Container,
    pub(super) names: &'a [String],
    pub(super) rows: &'a [Batch],
}

impl TableHead<'_> {
    /// Counts the texts of a column.
    fn column(&self, column: usize) -> Column {
        let mut counted = Column::default();
        for batch in self.rows {
            for row in 0..batch.rows() {
                let cell = batch.row(row).cell(column);
                if let Some(decimal) = integer_in(cell) {
                    counted.add_integer(&decimal);
                } else if let Some(text) = text_of(cell) {
                    counted.add(text);
                }
            }
        }
        counted
    }

    fn is_delimited(&self) -> bool {
        matches!(self.container, Container::Delimited { .. })
    }

    /// Whether the table has a heading. Only a delimited table of one column may have none. Its
    /// first record is a heading if it names a type, or if the other texts have a type that it does
    /// not have. With `is_named`, `--heading` says so.
    fn has_heading(&self, is_named: bool) -> bool {
        match self.names {
            [only] if self.is_delimited() && !is_named => {
                if figdex_index::type_of_heading(only).is_some() {
                    return true;
                }
                let mut first = Column::default();
                first.add(only);
                let first = first.recognise("").map(|first| first.id_type);
                let others = self.column(0).recognise("").map(|others| others.id_type);
                others.is_some() && first != others
            }
            _ => true,
        }
    }
}

/// The text of a cell. `None` if the cell is absent, nested or not UTF-8.
pub(super) fn text_of(cell: RawCell<'_>) -> Option<&str> {
    match cell {
        RawCell::Text(text) | RawCell::Number(text) => str::from_utf8(text).ok(),
        RawCell::Absent | RawCell::Nested => None,
    }
}

/// The decimal digits of a cell that holds an integer, in any notation (contract 5.3).
pub(super) fn integer_in(cell: RawCell<'_>) -> Option<Cow<'_, str>> {
    match cell {
        RawCell::Number(number) => integer_of(str::from_utf8(number).ok()?),
        RawCell::Absent | RawCell::Text(_) | RawCell::Nested => None,
    }
}

impl Columns {
    /// Whether the last rows may be a footer. They are not in a table of objects, nor in a list of
    /// tickers: such a word may be one of them.
    pub(super) fn may_have_footer(&self) -> bool {
        let is_ticker = |identifier: &Identifier| {
            let reading = identifier.reading;
            [Reading::OfColumn(IdType::Ticker), Reading::Given(IdType::Ticker)].contains(&reading)
                || matches!(reading, Reading::Symbol(_))
        };
        self.are_delimited && (self.names.len() > 1 || !self.identifiers.iter().any(is_ticker))
    }

    /// Finds the columns that the flags name, or recognises one.
    ///
    /// # Errors
    /// When a flag names no column or an ambiguous one, no column is recognised, or the table has
    /// several columns without a heading.
    pub(super) fn find(head: &TableHead<'_>, flags: &MapFlags) -> anyhow::Result<Self> {
        let has_heading = head.has_heading(flags.heading.is_some());
        let names = match has_heading {
            true => head.names.to_vec(),
            false => vec![ONLY_COLUMN.to_owned()],
        };
        let (identifiers, conditions, days, found) = Default::default();
        let are_delimited = head.is_delimited();
        let mut columns =
            Self { names, has_heading, are_delimited, identifiers, conditions, days, found };
        if let Some(AsOf::Column(name)) = &flags.as_of {
            columns.days = Some(columns.place("--as-of", name)?);
        }
        for Condition { property, value } in &flags.conditions {
            if let Value::Column(name) = value {
                let column = columns.place("--where", name)?;
                columns.conditions.push((*property, column));
            }
        }
        if flags.id.is_empty() {
            columns.recognise(head)?;
        } else {
            for id in &flags.id {
                columns.take(head, id)?;
            }
        }
        if has_heading && are_delimited {
            columns.refuse_identifiers()?;
        }
        Ok(columns)
    }

    /// Refuses a table of several columns without a heading: its first row would be lost. The first
    /// row is not a heading if it has a FIGI, an ISIN or an OCC symbol. Neither is it one if it has
    /// a cell that contains a digit and has the type of the cell's column.
    fn refuse_identifiers(&self) -> anyhow::Result<()> {
        if self.names.len() < 2 {
            return Ok(());
        }
        for (column, name) in self.names.iter().enumerate() {
            let mut first = Column::default();
            first.add(name);
            let Some(Recognised { id_type, .. }) = first.recognise("") else { continue };
            let has_type =
                |found: &FoundColumn| found.column == column && found.id_type == Some(id_type);
            let is_sure = matches!(id_type, IdType::BbGlobal | IdType::Isin | IdType::Occ)
                || name.contains(|c: char| c.is_ascii_digit()) && self.found.iter().any(has_type);
            ensure!(
                !is_sure,
                "the first row holds {:?} where a heading is expected; a file of several \
                 columns needs a heading: add a first row such as isin,name",
                shortened(name)
            );
        }
        Ok(())
    }

    /// The place of a column that a flag names by its heading or its number.
    fn place(&self, flag: &str, name: &str) -> anyhow::Result<usize> {
        let mut places = (0..self.names.len()).filter(|place| self.names[*place] == name);
        match (places.next(), places.next()) {
            (Some(place), None) => return Ok(place),
            (Some(first), Some(second)) => bail!(
                "{flag} {name}: the columns {} and {} have this heading; name one by its number",
                first + 1,
                second + 1
            ),
            (None, _) => {}
        }
        let number = name.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        number.filter(|place| *place < self.names.len()).ok_or_else(|| {
            let meant = self.meant(name).map(|meant| format!(" (did you mean {meant:?}?)"));
            let meant = meant.unwrap_or_default();
            anyhow::anyhow!("{flag} {name}: there is no such column{meant}; {}", self.listed())
        })
    }

    /// The only column with a similar heading, compared by letters and digits: one slip away from
    /// `name`, or beginning with it.
    fn meant(&self, name: &str) -> Option<String> {
        let letters = |text: &str| -> String {
            let letters = text.chars().filter(|one| one.is_alphanumeric());
            letters.take(HEADING_CHARS_MAX).flat_map(char::to_lowercase).collect()
        };
        let name = letters(name);
        if name.chars().count() < MEANT_CHARS_MIN {
            return None;
        }
        let is_near = |heading: &&String| {
            let heading = letters(heading);
            heading.starts_with(&name) || strsim::osa_distance(&heading, &name) <= 1
        };
        let mut near = self.names.iter().filter(is_near);
        match (near.next(), near.next()) {
            (Some(only), None) => Some(shortened(only)),
            _ => None,
        }
    }

    fn listed(&self) -> String {
        if self.names.is_empty() {
            return "the file has no columns".to_owned();
        }
        let names =
            self.names.iter().zip(1..).take(LISTED_MAX).map(|(name, number)| match &**name {
                "" => number.to_string(),
                name => shortened(name),
            });
        let mut listed = format!("the columns are: {}", names.collect::<Vec<_>>().join(", "));
        if self.names.len() > LISTED_MAX {
            listed.push_str(&format!(" … and {} more", self.names.len() - LISTED_MAX));
        }
        listed
    }

    fn add(&mut self, column: usize, reading: Reading, share: Option<f64>) {
        self.identifiers.push(Identifier { column, reading });
        let id_type = match reading {
            Reading::OfColumn(id_type) | Reading::Given(id_type) => Some(id_type),
            Reading::Symbol(_) => Some(IdType::Ticker),
            Reading::Each | Reading::TypeIn(_) => None,
        };
        let name = self.name(column);
        self.found.push(FoundColumn { column, name, id_type, share, is_used: true });
    }

    /// The heading of a column, or its number.
    pub(super) fn name(&self, column: usize) -> String {
        match &*self.names[column] {
            "" => (column + 1).to_string(),
            name => name.to_owned(),
        }
    }

    /// Takes a column that `--id` names.
    fn take(&mut self, head: &TableHead<'_>, id: &IdColumn) -> anyhow::Result<()> {
        let column = self.place("--id", &id.column)?;
        let (reading, share) = match &id.id_type {
            TypeOf::Given(id_type) => (Reading::Given(*id_type), None),
            TypeOf::Symbol(vendor) => (Reading::Symbol(*vendor), None),
            TypeOf::Column(name) => (Reading::TypeIn(self.place("--id", name)?), None),
            TypeOf::Recognised => match self.recognised(head, column) {
                Some(found) => (Reading::OfColumn(found.id_type), Some(found.share)),
                None => (Reading::Each, None),
            },
        };
        self.add(column, reading, share);
        Ok(())
    }

    fn recognised(&self, head: &TableHead<'_>, column: usize) -> Option<Recognised> {
        head.column(column).recognise(&self.names[column])
    }

    /// Chooses the column that most surely identifies the rows.
    fn recognise(&mut self, head: &TableHead<'_>) -> anyhow::Result<()> {
        let place = |name: &str| self.names.iter().position(|known| known == name);
        if let (Some(types), Some(values)) = (place("idType"), place("idValue")) {
            self.add(values, Reading::TypeIn(types), None);
            return Ok(());
        }
        let all = (0..self.names.len()).filter(|column| self.days != Some(*column));
        let all = all.filter_map(|column| {
            let Recognised { id_type, share } = self.recognised(head, column)?;
            let (id_type, share, name) = (Some(id_type), Some(share), self.name(column));
            Some(FoundColumn { column, name, id_type, share, is_used: false })
        });
        let mut all: Vec<FoundColumn> = all.collect();
        all.sort_by(|a, b| {
            rank(a).cmp(&rank(b)).then(b.share.unwrap_or(0.0).total_cmp(&a.share.unwrap_or(0.0)))
        });
        match all.first_mut() {
            Some(FoundColumn { column, id_type: Some(id_type), is_used, .. }) => {
                *is_used = true;
                let reading = Reading::OfColumn(*id_type);
                self.identifiers.push(Identifier { column: *column, reading });
                self.found = all;
            }
            _ if self.names.len() == 1 => self.add(0, Reading::Each, None),
            // Without rows there is nothing to recognise.
            _ if head.rows.iter().all(|batch| batch.rows() == 0) => {}
            _ => bail!(
                "no column of identifiers is recognised; {}. Name one with --id COLUMN, or with \
                 its type as in --id COLUMN:TICKER",
                self.listed()
            ),
        }
        Ok(())
    }
}

/// The types in the order in which their columns are preferred. Types whose form other texts rarely
/// have come first. Types that are not listed here come last.
const SUREST: [IdType; 8] = [
    IdType::BbGlobal,
    IdType::CompositeBbGlobal,
    IdType::ShareClassBbGlobal,
    IdType::Isin,
    IdType::Sedol,
    IdType::Cusip,
    IdType::Cins,
    IdType::Occ,
];

fn rank(found: &FoundColumn) -> usize {
    let place = SUREST.iter().position(|id_type| Some(*id_type) == found.id_type);
    place.unwrap_or(SUREST.len())
}
