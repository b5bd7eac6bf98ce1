//! Writes an index back as a canonical dump. An index built from that dump has the same
//! instruments.
//!
//! Derived identifiers are written too: a build derives none if the dump has them. Value lists
//! (`build --values`) are not part of a dump, so they are written to separate files.

use std::borrow::Cow;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

use figdex_index::{Catalogue, ColumnValue, Figi, Instrument, Property, Vocabulary};
use figdex_io::{Files, Layout, Output, OutputError};
use figdex_opensearch::Generation;
use serde::ser::{Serialize, SerializeMap as _, Serializer};

use crate::build::value_lists;
use crate::error::Error;
use crate::row::Column;
use crate::row::cells::columns;

/// Separates the values in one CSV cell.
const LIST_SEPARATOR: char = ';';

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
        "a value of {} of {figi} contains {LIST_SEPARATOR:?}, which separates values in CSV: \
         use --format jsonl",
        .column.name()
    )]
    Separator {
        /// The instrument.
        figi: Figi,
        /// The column.
        column: Column,
    },
}

/// Writes every instrument of a generation, in FIGI order.
///
/// # Errors
/// [`ExportError`], when the index cannot be read, `out` fails, or a value does not fit the
/// layout.
pub fn write(
    catalogue: &Catalogue,
    layout: Layout,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    let mut dump = Dump::begin(layout, out)?;
    catalogue.instruments(|instrument| dump.add(instrument))?;
    dump.end()
}

/// As [`write()`], of a generation in a cluster.
///
/// # Errors
/// As [`write()`].
pub async fn write_of_cluster(
    generation: &Generation,
    layout: Layout,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    let mut dump = Dump::begin(layout, out)?;
    generation.instruments(|instrument| dump.add(instrument)).await?;
    dump.end()
}

/// A dump that is being written.
enum Dump<'a> {
    Csv(Box<csv::Writer<&'a mut dyn Write>>),
    JsonLines(&'a mut dyn Write),
}

impl<'a> Dump<'a> {
    fn begin(layout: Layout, out: &'a mut dyn Write) -> Result<Self, ExportError> {
        Ok(match layout {
            Layout::Csv => {
                let mut csv = csv::Writer::from_writer(out);
                csv.write_record(columns().map(Column::name)).map_err(plain)?;
                Self::Csv(Box::new(csv))
            }
            Layout::JsonLines => Self::JsonLines(out),
        })
    }

    fn add(&mut self, instrument: &Instrument) -> Result<(), ExportError> {
        match self {
            Self::Csv(csv) => {
                for column in columns() {
                    let cell = csv_cell(instrument, column)?;
                    csv.write_field(&*cell).map_err(plain)?;
                }
                csv.write_record(None::<&[u8]>).map_err(plain)?;
            }
            Self::JsonLines(out) => {
                serde_json::to_writer(&mut *out, &Object(instrument)).map_err(io::Error::from)?;
                out.write_all(b"\n")?;
            }
        }
        Ok(())
    }

    fn end(self) -> Result<(), ExportError> {
        match self {
            Self::Csv(mut csv) => Ok(csv.flush()?),
            Self::JsonLines(_) => Ok(()),
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

fn csv_cell(instrument: &Instrument, column: Column) -> Result<Cow<'_, str>, ExportError> {
    let Some(value) = column.value(instrument) else { return Ok("".into()) };
    match (value, value.list()) {
        (ColumnValue::Text(text), _) => Ok(text.into()),
        (_, None) => Ok(value.to_string().into()),
        (_, Some(values)) if values.iter().any(|value| value.contains(LIST_SEPARATOR)) => {
            Err(ExportError::Separator { figi: instrument.figi, column })
        }
        (_, Some(values)) => {
            let mut separator = [0; 4];
            Ok(values.join(LIST_SEPARATOR.encode_utf8(&mut separator)).into())
        }
    }
}

/// An instrument that serializes as the object of a JSON line.
struct Object<'a>(&'a Instrument);

impl Serialize for Object<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(None)?;
        for column in columns() {
            let Some(value) = column.value(self.0) else { continue };
            match value.list().as_deref() {
                Some([only]) => object.serialize_entry(column.name(), only)?,
                _ => object.serialize_entry(column.name(), &value)?,
            }
        }
        object.end()
    }
}
