//! The rejects file. It has every rejected row and every row with a dropped cell, with the bytes of
//! the dump, so that nothing is lost. It also has the rows of `--enrich` inputs that are unmatched
//! or ambiguous.
//!
//! It is CSV with the columns `input,line,column,reason,raw`. `column` is the column of dropped
//! cells and empty otherwise; `raw` is the unchanged bytes of the row. If a row has several
//! entries, only the first has its bytes. The size of the inputs bounds the size of the file
//! (`written.rs`).

use std::fs;
use std::path::PathBuf;

use figdex_io::{NewFile, Output};

use super::written::Written;
use crate::error::{Error, Result};
use crate::row::Column;

/// Writes the rejects file. It is created at the first entry. The file of an earlier build stays
/// until [`Rejects::finish`].
pub(crate) struct Rejects {
    output: Output,
    file: Option<csv::Writer<NewFile>>,
}

/// A line of the rejects file.
pub(crate) struct Entry<'a> {
    pub(crate) input: &'a str,
    pub(crate) line: u64,
    /// The column of dropped cells; `None` if the row itself was not used.
    pub(crate) column: Option<Column>,
    pub(crate) reason: &'a str,
    /// The bytes of the row; empty if an earlier entry has them.
    pub(crate) raw: &'a [u8],
}

impl Rejects {
    pub(crate) fn new(output: Output) -> Self {
        Self { output, file: None }
    }

    /// Adds an entry.
    ///
    /// # Errors
    /// [`Error::Outgrown`] when the build would write too much, and [`Error::File`].
    pub(crate) fn keep(&mut self, entry: &Entry<'_>, written: &mut Written) -> Result<()> {
        let Entry { input, line, column, reason, raw } = *entry;
        let line = line.to_string();
        let column = column.map_or("", Column::name);
        let fields = [input, &line, column, reason].map(str::as_bytes);
        let fields = fields.into_iter().chain([raw]);
        written.reject(fields.clone().map(csv_bytes).sum())?;
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
        file.write_record(fields).map_err(|error| Error::file(&name)(error.into()))
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

/// The most bytes that a field takes in a line of CSV: two quotes, a separator, and a second quote
/// for each quote in it.
fn csv_bytes(field: &[u8]) -> usize {
    field.len() + field.iter().filter(|&&byte| byte == b'"').count() + 3
}
