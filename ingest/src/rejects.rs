//! Why a row is rejected, and the rejects file: every row that was not taken, and
//! every cell, as it stood in the dump, so that nothing is lost. Rows of an
//! `--enrich` input that are unmatched or ambiguous are there too.
//!
//! CSV with the columns `input,line,column,reason,raw`. `column` is empty where
//! the whole row was not taken; `raw` holds the row's own bytes, whatever they are.

use std::fs::{self, File};
use std::io;
use std::path::PathBuf;

use figdex_index::FigiError;

use crate::error::{Error, Result};
use crate::row::{Column, Row};

/// Why a row is no instrument.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Reject {
    /// The record has not the cells that the header announced.
    #[error("it has {found} cells, the header has {header}")]
    Cells { found: usize, header: usize },
    /// Without a header, the record has not the cells that its format asks for.
    #[error("it has {found} cells, its format asks for {asked}")]
    FewCells { found: usize, asked: usize },
    /// Its bytes are no text.
    #[error("it is not UTF-8")]
    NotUtf8,
    /// A line that starts as a JSON object and is none.
    #[error("not JSON: {what} at byte {byte}")]
    NotJson { byte: usize, what: String },
    /// A line that is a JSON array.
    #[error("a JSON array, not an object")]
    Array,
    /// A line that is something else.
    #[error("not a JSON object")]
    NotAnObject,
    /// No value in the one column that is required.
    #[error("it has no figi")]
    NoFigi,
    /// Nothing by which a row to enrich with could find its instruments.
    #[error("it has neither figi, ID_ISIN nor ID_CUSIP, nor exchCode with ticker")]
    NoKey,
    /// The FIGI is no plain value.
    #[error("wrong figi: {0}")]
    FigiCell(&'static str),
    /// The FIGI is none.
    #[error("wrong figi: {0}")]
    Figi(FigiError),
}

impl Reject {
    /// The reason without what is particular to the row: there are few of these,
    /// and the report counts by them.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Cells { .. } => "not as many cells as the header",
            Self::FewCells { .. } => "not as many cells as its format asks for",
            Self::NotUtf8 => "not UTF-8",
            Self::NotJson { .. } => "not JSON",
            Self::Array => "a JSON array, not an object",
            Self::NotAnObject => "not a JSON object",
            Self::NoFigi => "no figi",
            Self::NoKey => "neither figi, ID_ISIN nor ID_CUSIP, nor exchCode with ticker",
            Self::FigiCell(_) => "wrong figi: not a plain value",
            Self::Figi(FigiError::Length) => "wrong figi: not 12 characters",
            Self::Figi(FigiError::Alphabet) => "wrong figi: characters",
            Self::Figi(FigiError::CheckDigit) => "wrong figi: check digit",
        }
    }
}

/// Writes the rejects file; it is made when there is something to write.
pub(crate) struct Rejects {
    path: PathBuf,
    file: Option<csv::Writer<File>>,
}

impl Rejects {
    /// A file that an earlier build left there is removed: it would tell of
    /// another build's rows.
    pub(crate) fn create(path: PathBuf) -> Result<Self> {
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(Error::file(&path.display())(error))
            }
            _ => Ok(Self { path, file: None }),
        }
    }

    pub(crate) fn keep(
        &mut self,
        input: &str,
        row: &Row,
        column: Option<Column>,
        reason: &str,
    ) -> Result<()> {
        self.keep_raw(input, row.line, &row.raw, column, reason)
    }

    /// Keeps a row, or a cell of it, by its bytes.
    pub(crate) fn keep_raw(
        &mut self,
        input: &str,
        line: u64,
        raw: &[u8],
        column: Option<Column>,
        reason: &str,
    ) -> Result<()> {
        let name = self.path.display();
        let file = match &mut self.file {
            Some(file) => file,
            none => {
                if let Some(folder) = self.path.parent() {
                    fs::create_dir_all(folder).map_err(Error::file(&folder.display()))?;
                }
                let mut file = csv::Writer::from_path(&self.path)
                    .map_err(|error| Error::file(&name)(error.into()))?;
                file.write_record(["input", "line", "column", "reason", "raw"])
                    .map_err(|error| Error::file(&name)(error.into()))?;
                none.insert(file)
            }
        };
        let line = line.to_string();
        let column = column.map_or("", Column::name);
        let fields = [input.as_bytes(), line.as_bytes(), column.as_bytes(), reason.as_bytes()];
        file.write_record(fields.into_iter().chain([raw]))
            .map_err(|error| Error::file(&name)(error.into()))
    }

    /// Writes what is left; the file's path, if there was anything to keep.
    pub(crate) fn finish(mut self) -> Result<Option<PathBuf>> {
        match self.file.take() {
            Some(mut file) => {
                file.flush().map_err(Error::file(&self.path.display()))?;
                Ok(Some(self.path))
            }
            None => Ok(None),
        }
    }
}
