//! Writes Parquet files: the one writer of exports, of differences, of mapped rows, and of the file
//! that an index may have of all its instruments.
//!
//! `rows` writes rows of typed cells in bounded memory, and `instruments` makes such rows of
//! instruments. A program without the feature `parquet` has `absent` in place of `rows`: it refuses
//! to begin.

#[cfg(not(feature = "parquet"))]
mod absent;
mod instruments;
#[cfg(feature = "parquet")]
mod rows;
#[cfg(all(test, feature = "parquet"))]
mod tests;

use std::io;

use figdex_index::Date;

#[cfg(not(feature = "parquet"))]
pub use self::absent::AbsentRows as ParquetRows;
pub use self::instruments::{IdentifierColumns, build_writer};
pub(super) use self::instruments::{ParquetDump, begin, cell, facts};
#[cfg(feature = "parquet")]
pub use self::rows::ParquetRows;

/// Whether this program can write Parquet files.
///
/// # Errors
/// [`io::ErrorKind::Unsupported`] when it was built without them, with the advice what to do.
pub fn supported() -> io::Result<()> {
    ParquetRows::begin(Vec::new(), ParquetOptions::default()).map(|_| ())
}

/// The type of the values of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParquetKind {
    /// UTF-8 text.
    Text,
    /// A number with 53 bits (`DOUBLE`).
    Number,
    /// A whole number of 64 bits.
    Whole,
    /// A day (`DATE`).
    Date,
    /// Yes or no.
    Flag,
}

/// A column of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParquetColumn {
    /// Its name.
    pub name: String,
    /// The type of its values.
    pub kind: ParquetKind,
    /// Whether rows are looked up by its values. Then each row group has a Bloom filter of them, so
    /// that a reader leaves out the groups without a value.
    pub is_looked_up: bool,
}

impl ParquetColumn {
    /// A column by which no rows are looked up.
    pub fn new(name: impl Into<String>, kind: ParquetKind) -> Self {
        Self { name: name.into(), kind, is_looked_up: false }
    }
}

/// The options of a file.
#[derive(Clone, Debug, Default)]
pub struct ParquetOptions {
    /// Whether the rows are in the order of their first column, and no two have the same value
    /// there.
    pub is_sorted: bool,
    /// Names and values for the footer of the file.
    pub facts: Vec<(&'static str, String)>,
}

/// A value in a row. It must have the type of its column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ParquetCell<'a> {
    /// There is no value.
    Absent,
    /// A text.
    Text(&'a str),
    /// A number.
    Number(f64),
    /// A whole number.
    Whole(i64),
    /// A day.
    Date(Date),
    /// Yes or no.
    Flag(bool),
}
