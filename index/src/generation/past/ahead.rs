//! Reading a log next to the rows of a generation, both in FIGI order.

use super::log::{LogRecord, LogRecords, PastLog};
use crate::error::Result;
use crate::instrument::figi::Figi;

/// The records of a log, of which the next one is known.
pub(crate) struct Ahead<'a> {
    records: LogRecords<'a>,
    next: Option<LogRecord>,
}

impl<'a> Ahead<'a> {
    /// Begins before the first record.
    pub(crate) fn of(log: &'a PastLog) -> Result<Self> {
        let mut records = log.records();
        let next = records.next()?;
        Ok(Self { records, next })
    }

    /// The FIGI of the next record.
    pub(crate) fn figi(&self) -> Option<Figi> {
        self.next.as_ref().map(LogRecord::figi)
    }

    /// Takes the next record if it is that of this FIGI.
    pub(crate) fn take(&mut self, figi: Figi) -> Result<Option<LogRecord>> {
        if self.figi() != Some(figi) {
            return Ok(None);
        }
        let next = self.records.next()?;
        Ok(std::mem::replace(&mut self.next, next))
    }
}
