//! The past of an index as one file, with the rows of open versions: an index of any later format
//! can begin with it.

use std::path::Path;

use crate::catalogue::Catalogue;
use crate::error::{Error, Result};
use crate::generation::compare::PairWalk;
use crate::generation::past::Versions;
use crate::generation::past::ahead::Ahead;
use crate::generation::past::log::{LogRecord, LogSummary, LogWriter};
use crate::instrument::kind::is_derivative;

impl Catalogue {
    /// Writes the whole past into a file, which is emptied if it exists: the versions of every FIGI that has a row or had one.
    /// Returns the description of the file.
    ///
    /// # Errors
    /// [`Error::NoPast`], and the errors of reading and writing. The file may then be incomplete.
    pub fn export_past(&self, path: &Path) -> Result<LogSummary> {
        let generation = &self.generation;
        let Some(past) = &generation.past else {
            return Err(Error::NoPast(generation.path.clone()));
        };
        let summary = past.summary();
        let first = summary.days.first().unwrap_or(generation.manifest.date);
        let whole = LogSummary { is_whole: true, ..summary.clone() };
        let mut out = LogWriter::emptied(path.to_owned(), whole)?;
        let mut records = Ahead::of(&past.log)?;
        let mut rows = PairWalk::of(None, generation)?;
        while let Some(figi) = [rows.figi(), records.figi()].into_iter().flatten().min() {
            let record = records.take(figi)?;
            let row = match rows.figi() == Some(figi) {
                true => rows.step(true)?.and_then(|compared| compared.after),
                false => None,
            };
            let is_open = record.as_ref().is_some_and(LogRecord::is_open);
            let row = row.filter(|row| is_open || summary.has_derivatives || !is_derivative(row));
            let versions = match (record, &row) {
                (Some(record), row) => record.versions(row.as_ref()),
                (None, Some(row)) => Versions::unchanged(row, first),
                (None, None) => continue,
            };
            out.add(&versions, None)?;
        }
        out.finish()
    }
}
