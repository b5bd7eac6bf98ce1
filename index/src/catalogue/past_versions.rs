//! The versions of one FIGI.

use super::Catalogue;
use crate::build::past::is_derivative;
use crate::error::Result;
use crate::generation::past::Versions;
use crate::instrument::figi::Figi;

impl Catalogue {
    /// The versions of a FIGI, the open one with the values that the row lacks now but had before;
    /// `None` when the past is not kept, or has never had a row with this FIGI.
    ///
    /// # Errors
    /// [`Error::Damaged`](crate::Error::Damaged) and [`Error::Io`](crate::Error::Io).
    pub fn versions(&self, figi: Figi) -> Result<Option<Versions>> {
        let Some(past) = &self.generation.past else { return Ok(None) };
        let row = self.find(figi).map(|hit| self.instrument(hit)).transpose()?;
        if let Some(record) = past.log.get(figi)? {
            return Ok(Some(record.versions(row.as_ref())));
        }
        let row = row.filter(|row| past.summary().has_derivatives || !is_derivative(row));
        let Some((row, first)) = row.zip(past.summary().days.first()) else { return Ok(None) };
        Ok(Some(Versions::unchanged(&row, first)))
    }
}
