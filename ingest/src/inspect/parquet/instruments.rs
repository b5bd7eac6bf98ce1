//! Instruments as rows of a Parquet file, with the columns of an export. A list has the text of an
//! export in CSV: its values joined by `;`, or, for other names, JSON. A list that would then be
//! read as another one is a JSON array too, so no value is refused: a text that begins with `[` is
//! JSON.

use std::borrow::Cow;
use std::error::Error;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::str::FromStr;

use figdex_index::{
    Attribute, Catalogue, ColumnValue, IdType, Instrument, Manifest, ParquetWriter, Sort, csv_text,
    export_columns, identifier_columns,
};

use serde_json::Value;

use super::{ParquetCell, ParquetColumn, ParquetKind, ParquetOptions, ParquetRows};

/// The identifiers of which a Parquet file has columns (`build --parquet`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IdentifierColumns(Vec<IdType>);

impl IdentifierColumns {
    /// The identifiers of every idType that an export has.
    pub fn all() -> Self {
        Self(identifier_columns().collect())
    }

    fn contains(&self, name: &str) -> bool {
        self.0.iter().any(|id_type| id_type.name() == name)
    }
}

/// Reads `none`, `all`, or the names of idTypes with commas between them.
impl FromStr for IdentifierColumns {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "none" => return Ok(Self::default()),
            "all" => return Ok(Self::all()),
            _ => {}
        }
        let mut columns = Vec::new();
        for name in text.split(',') {
            let known = identifier_columns().find(|id_type| id_type.name() == name);
            let Some(known) = known else {
                let known: Vec<_> = identifier_columns().map(IdType::name).collect();
                return Err(format!(
                    "{name:?} is not an idType with a column; expected none, all, or some of {} \
                     with commas between them",
                    known.join(", ")
                ));
            };
            columns.push(known);
        }
        // The order of the columns is that of an export.
        Ok(Self(identifier_columns().filter(|id_type| columns.contains(id_type)).collect()))
    }
}

/// Rows of instruments that are being written, perhaps with other columns before.
pub(in crate::inspect) struct ParquetDump {
    rows: ParquetRows,
    identifiers: IdentifierColumns,
}

/// Begins a file of instruments, with further columns before those of the instruments.
///
/// # Errors
/// When this program was built without Parquet.
pub(in crate::inspect) fn begin(
    before: Vec<ParquetColumn>,
    identifiers: IdentifierColumns,
    mut options: ParquetOptions,
) -> io::Result<ParquetDump> {
    // With other columns before, a FIGI may come twice.
    options.is_sorted = before.is_empty();
    let is_there = |name: &&str| !is_identifier(name) || identifiers.contains(name);
    let own = export_columns().filter(is_there).map(|name| ParquetColumn {
        name: name.to_owned(),
        kind: kind(name),
        is_looked_up: name == Attribute::Ticker.name() || is_identifier(name),
    });
    let rows = ParquetRows::begin(before.into_iter().chain(own).collect(), options)?;
    Ok(ParquetDump { rows, identifiers })
}

impl ParquetDump {
    /// Adds a row, with the cells of the further columns.
    ///
    /// # Errors
    /// When `out` fails.
    pub(in crate::inspect) fn add<'a>(
        &mut self,
        before: &[ParquetCell<'a>],
        instrument: &'a Instrument,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let mut texts: Vec<Cow<'a, str>> = Vec::new();
        let mut values = Vec::with_capacity(64);
        for (column, value) in instrument.exported() {
            if is_identifier(column) && !self.identifiers.contains(column) {
                continue;
            }
            values.push(match value {
                None => Made::Cell(ParquetCell::Absent),
                Some(ColumnValue::Text(text)) => Made::Cell(ParquetCell::Text(text)),
                Some(ColumnValue::Number(number)) => Made::Cell(ParquetCell::Number(number)),
                Some(ColumnValue::Importance(importance)) => {
                    Made::Cell(ParquetCell::Number(importance.number()))
                }
                Some(ColumnValue::Date(day)) => Made::Cell(ParquetCell::Date(day)),
                Some(ColumnValue::Flag(flag)) => Made::Cell(ParquetCell::Flag(flag)),
                Some(value) => {
                    texts.push(text_of(value));
                    Made::Text(texts.len() - 1)
                }
            });
        }
        let own = values.iter().map(|value| match value {
            Made::Cell(cell) => *cell,
            Made::Text(place) => ParquetCell::Text(&texts[*place]),
        });
        self.rows.add(before.iter().copied().chain(own), out)
    }

    /// Writes the end of the file.
    ///
    /// # Errors
    /// When `out` fails.
    pub(in crate::inspect) fn end(self, out: &mut dyn Write) -> io::Result<()> {
        self.rows.end(out)
    }
}

/// The text of a value that is not a single text, number, day or flag.
fn text_of(value: ColumnValue<'_>) -> Cow<'_, str> {
    match (csv_text(Some(value)), value.list()) {
        (Ok(text), None) => text,
        (Ok(text), Some(_)) if !text.starts_with('[') => text,
        (_, list) => serde_json::to_string(&list).expect("a list has texts").into(),
    }
}

/// A cell, or the place of a text that was made for one.
enum Made<'a> {
    Cell(ParquetCell<'a>),
    Text(usize),
}

/// Whether a column of an export has identifiers of an idType.
fn is_identifier(column: &str) -> bool {
    identifier_columns().any(|id_type| id_type.name() == column)
}

/// The type of a column of an export.
fn kind(column: &str) -> ParquetKind {
    let attribute = Attribute::ALL.iter().find(|attribute| attribute.name() == column);
    match attribute.map(|attribute| attribute.sort()) {
        Some(Sort::Number | Sort::Importance) => ParquetKind::Number,
        Some(Sort::Date) => ParquetKind::Date,
        Some(Sort::Flag) => ParquetKind::Flag,
        _ => ParquetKind::Text,
    }
}

/// The facts about a generation for the footer of a file. They do not change when the generation is
/// published elsewhere.
pub(in crate::inspect) fn facts(
    manifest: &Manifest,
    identifiers: &IdentifierColumns,
) -> Vec<(&'static str, String)> {
    let names: Vec<_> = identifiers.0.iter().map(|id_type| id_type.name()).collect();
    vec![
        ("figdex.token", manifest.id.to_string()),
        ("figdex.date", manifest.date.to_string()),
        ("figdex.instruments", manifest.instruments.to_string()),
        // The columns that not everybody may see. All others are open.
        ("figdex.identifiers", names.join(",")),
    ]
}

/// The writer of the file of all instruments, for a build.
pub fn build_writer(identifiers: IdentifierColumns) -> ParquetWriter {
    ParquetWriter::new(identifiers.0.clone(), move |catalogue: &Catalogue, path| {
        let facts = facts(catalogue.manifest(), &identifiers);
        let options = ParquetOptions { facts, ..ParquetOptions::default() };
        let mut dump = begin(Vec::new(), identifiers.clone(), options)?;
        let mut out = BufWriter::new(File::create_new(path)?);
        catalogue.instruments(|instrument| {
            dump.add(&[], instrument, &mut out).map_err(Box::<dyn Error + Send + Sync>::from)
        })?;
        dump.end(&mut out)?;
        out.flush()?;
        Ok(())
    })
}

/// A value of JSON that is not a list as a cell.
pub(in crate::inspect) fn cell(value: &Value) -> ParquetCell<'_> {
    match value {
        Value::String(text) => ParquetCell::Text(text),
        Value::Bool(flag) => ParquetCell::Flag(*flag),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => ParquetCell::Whole(whole),
            None => number.as_f64().map_or(ParquetCell::Absent, ParquetCell::Number),
        },
        Value::Null | Value::Array(_) | Value::Object(_) => ParquetCell::Absent,
    }
}
