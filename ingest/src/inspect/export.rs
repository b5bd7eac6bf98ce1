//! Writes an index back as a canonical dump. An index built from that dump has the same
//! instruments.
//!
//! Derived identifiers are written too: a build derives none if the dump has them. Value lists
//! (`build --values`) are not part of a dump, so they are written to separate files.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use figdex_index::{
    Catalogue, ExportedObject, Figi, HasSeparator, Instrument, LIST_SEPARATOR, Property,
    Vocabulary, csv_text, export_columns,
};
use figdex_io::{Files, Output, OutputError, RowLayout};
use figdex_opensearch::Generation;
use serde_json::Value;

use super::parquet::{
    self, IdentifierColumns, ParquetColumn, ParquetDump, ParquetKind, ParquetOptions,
};
use crate::build::value_lists;
use crate::error::Error;

/// The reason why an export failed.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The index cannot be read.
    #[error(transparent)]
    Index(#[from] figdex_index::Error),
    /// The cluster does not give the index.
    #[error(transparent)]
    Cluster(#[from] figdex_opensearch::Error),
    /// The dump cannot be written.
    #[error(transparent)]
    Write(#[from] io::Error),
    /// CSV cannot represent a value.
    #[error(
        "a value of {column} of {figi} contains {LIST_SEPARATOR:?}, which separates values in CSV: \
         use --format jsonl"
    )]
    Separator {
        /// The instrument.
        figi: Figi,
        /// The name of the column.
        column: &'static str,
    },
}

/// Writes every instrument of a generation, in FIGI order.
///
/// # Errors
/// [`ExportError`], when the index cannot be read, `out` fails, or a value does not fit the
/// layout.
pub fn write(
    catalogue: &Catalogue,
    layout: RowLayout,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    let facts = parquet::facts(catalogue.manifest(), &IdentifierColumns::all());
    let mut dump = Dump::begin(layout, &[], facts, out)?;
    catalogue.instruments(|instrument| dump.add(instrument))?;
    dump.end()
}

/// As [`write()`], of a generation in a cluster.
///
/// # Errors
/// As [`write()`].
pub async fn write_of_cluster(
    generation: &Generation,
    layout: RowLayout,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    let facts = parquet::facts(generation.manifest(), &IdentifierColumns::all());
    let mut dump = Dump::begin(layout, &[], facts, out)?;
    generation.instruments(|instrument| dump.add(instrument)).await?;
    dump.end()
}

/// A dump that is being written.
pub(super) enum Dump<'a> {
    Csv(Box<csv::Writer<&'a mut dyn Write>>),
    JsonLines(&'a mut dyn Write),
    Parquet(Box<ParquetDump>, &'a mut dyn Write),
}

impl<'a> Dump<'a> {
    pub(super) fn begin(
        layout: RowLayout,
        before: &[(&'static str, ParquetKind)],
        facts: Vec<(&'static str, String)>,
        out: &'a mut dyn Write,
    ) -> Result<Self, ExportError> {
        Ok(match layout {
            RowLayout::Csv => {
                let mut csv = csv::Writer::from_writer(out);
                let before = before.iter().map(|(name, _)| *name);
                csv.write_record(before.chain(export_columns())).map_err(plain)?;
                Self::Csv(Box::new(csv))
            }
            RowLayout::JsonLines => Self::JsonLines(out),
            RowLayout::Parquet => {
                let before = before.iter().map(|(name, kind)| ParquetColumn::new(*name, *kind));
                let options = ParquetOptions { facts, ..ParquetOptions::default() };
                let all = IdentifierColumns::all();
                Self::Parquet(Box::new(parquet::begin(before.collect(), all, options)?), out)
            }
        })
    }

    fn add(&mut self, instrument: &Instrument) -> Result<(), ExportError> {
        self.add_after(&[], instrument)
    }

    /// Adds a row with further columns before those of the instrument.
    pub(super) fn add_after(
        &mut self,
        before: &[(&str, Value)],
        instrument: &Instrument,
    ) -> Result<(), ExportError> {
        match self {
            Self::Csv(csv) => {
                for (_, value) in before {
                    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                    csv.write_field(text).map_err(plain)?;
                }
                for (column, value) in instrument.exported() {
                    let figi = instrument.figi;
                    let refused = |HasSeparator| ExportError::Separator { figi, column };
                    let cell = csv_text(value).map_err(refused)?;
                    csv.write_field(&*cell).map_err(plain)?;
                }
                csv.write_record(None::<&[u8]>).map_err(plain)?;
            }
            Self::JsonLines(out) => {
                let object =
                    serde_json::to_vec(&ExportedObject(instrument)).map_err(io::Error::from)?;
                out.write_all(b"{")?;
                for (name, value) in before {
                    write!(out, "\"{name}\":{value},")?;
                }
                // It has a FIGI at least, so its members are after the brace.
                out.write_all(&object[1..])?;
                out.write_all(b"\n")?;
            }
            Self::Parquet(rows, out) => {
                let before: Vec<_> = before.iter().map(|(_, value)| parquet::cell(value)).collect();
                rows.add(&before, instrument, *out)?;
            }
        }
        Ok(())
    }

    pub(super) fn end(self) -> Result<(), ExportError> {
        match self {
            Self::Csv(mut csv) => Ok(csv.flush()?),
            Self::JsonLines(_) => Ok(()),
            Self::Parquet(rows, out) => Ok(rows.end(out)?),
        }
    }
}

/// The inner I/O error. Its kind shows a closed pipe.
fn plain(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        kind => io::Error::other(format!("{kind:?}")),
    }
}

/// The files of the value lists in `folder`, one per enum-like property.
///
/// # Errors
/// When the command must not write one of them, for example because it is also another file of the
/// command.
pub fn value_lists(
    folder: &Path,
    files: &mut Files,
) -> Result<Vec<(Property, Output)>, OutputError> {
    let list = |property: Property| {
        Ok((property, files.output("--values", &value_lists::list(folder, property))?))
    };
    Property::ALL.into_iter().map(list).collect()
}

/// Writes the allowed values of each enum-like property into its list, in the form that
/// `build --values` reads and the values endpoint returns.
///
/// # Errors
/// When the folder or a file in it cannot be written.
pub fn write_values(
    vocabulary: &Vocabulary,
    folder: &Path,
    lists: &[(Property, Output)],
) -> Result<(), Error> {
    fs::create_dir_all(folder).map_err(Error::file(&folder.display()))?;
    for (property, list) in lists {
        let values: Vec<_> = vocabulary.values(*property).collect();
        let text = serde_json::json!({ "values": values }).to_string();
        list.write(text.as_bytes()).map_err(Error::file(&list.name().display()))?;
    }
    Ok(())
}
