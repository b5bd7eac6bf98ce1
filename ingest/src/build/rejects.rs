//! Why a row is rejected, and the rejects file: every row that was not taken, and
//! every cell, as it stood in the dump, so that nothing is lost. Rows of an
//! `--enrich` input that are unmatched or ambiguous are there too.
//!
//! CSV with the columns `input,line,column,reason,raw`. `column` is empty where
//! the whole row was not taken; `raw` holds the row's own bytes, whatever they are.

use std::fs;
use std::path::PathBuf;

use crate::error::{Error, Result};
use crate::files::{NewFile, Output};
use crate::row::{Column, Row};

/// Writes the rejects file; it is made when there is something to write. The file of an
/// earlier build stays until [`Rejects::finish`].
pub(crate) struct Rejects {
    output: Output,
    file: Option<csv::Writer<NewFile>>,
}

impl Rejects {
    pub(crate) fn new(output: Output) -> Self {
        Self { output, file: None }
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
        let name = self.output.name().to_string_lossy();
        let file = match &mut self.file {
            Some(file) => file,
            none => {
                if let Some(folder) = self.output.folder() {
                    let name = folder.to_string_lossy();
                    fs::create_dir_all(folder).map_err(Error::file(&name))?;
                }
                let file = self.output.create().map_err(Error::file(&name))?;
                let mut file = csv::Writer::from_writer(file);
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

    /// The file's path, if there was anything to keep.
    pub(crate) fn path(&self) -> Option<PathBuf> {
        self.file.as_ref().map(|_| self.output.name().to_owned())
    }

    /// Writes what is left through to the disk, while nothing is published yet.
    pub(crate) fn flush(&mut self) -> Result<()> {
        let name = self.output.name().to_string_lossy();
        let flush = |file: &mut csv::Writer<NewFile>| {
            file.flush()?;
            file.get_ref().sync()
        };
        self.file.as_mut().map_or(Ok(()), flush).map_err(Error::file(&name))
    }

    /// Puts the file in the place of an earlier build's, which would tell of other rows.
    pub(crate) fn finish(self) -> Result<()> {
        let name = self.output.name().to_string_lossy();
        let finish = || match self.file {
            Some(file) => file.into_inner().map_err(csv::IntoInnerError::into_error)?.keep(),
            None => self.output.remove(),
        };
        finish().map_err(Error::file(&name))
    }
}
