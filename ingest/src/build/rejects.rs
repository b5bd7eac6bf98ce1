//! The rejects file: every rejected row and every row with a dropped cell, as it is in the dump,
//! so that nothing is lost. It also has the rows of `--enrich` inputs that are unmatched or
//! ambiguous.
//!
//! It is CSV with the columns `input,line,column,reason,raw`. `column` is the column of a
//! dropped cell and empty otherwise; `raw` is the unchanged bytes of the row.

use std::fs;
use std::path::PathBuf;

use crate::error::{Error, Result};
use crate::files::{NewFile, Output};
use crate::row::{Column, Row};

/// Writes the rejects file, which is created for the first entry. The file of an earlier build
/// stays until [`Rejects::finish`].
pub(crate) struct Rejects {
    output: Output,
    file: Option<csv::Writer<NewFile>>,
}

impl Rejects {
    pub(crate) fn new(output: Output) -> Self {
        Self { output, file: None }
    }

    /// Adds a rejected row, or a dropped cell of a row if `column` is given.
    pub(crate) fn keep(
        &mut self,
        input: &str,
        row: &Row,
        column: Option<Column>,
        reason: &str,
    ) -> Result<()> {
        self.keep_raw(input, row.line, &row.raw, column, reason)
    }

    /// [`Rejects::keep`] for a row of which only the line and the bytes are left.
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

    /// The path of the file, if it has entries.
    pub(crate) fn path(&self) -> Option<PathBuf> {
        self.file.as_ref().map(|_| self.output.name().to_owned())
    }

    /// Writes the entries through to the disk, so that a full disk fails the build before it
    /// publishes.
    pub(crate) fn flush(&mut self) -> Result<()> {
        let name = self.output.name().to_string_lossy();
        let flush = |file: &mut csv::Writer<NewFile>| {
            file.flush()?;
            file.get_ref().sync()
        };
        self.file.as_mut().map_or(Ok(()), flush).map_err(Error::file(&name))
    }

    /// Replaces the file of an earlier build, or removes it if this build has no entries.
    pub(crate) fn finish(self) -> Result<()> {
        let name = self.output.name().to_string_lossy();
        let finish = || match self.file {
            Some(file) => file.into_inner().map_err(csv::IntoInnerError::into_error)?.keep(),
            None => self.output.remove(),
        };
        finish().map_err(Error::file(&name))
    }
}
