//! The dump that the kinds write into, and the issue that one of them is asked for.

use crate::generate::dirt::Soiler;
use crate::generate::row::Row;
use crate::generate::{Format, Mix};

/// Which issue of a kind to make.
pub(crate) struct Issue {
    pub(super) seed: u64,
    pub(super) mix: Mix,
    /// From 0, for each kind by itself.
    pub(super) ordinal: u64,
}

/// Where the kinds put their rows.
pub(crate) struct Dump {
    /// Rows that the kinds made, wanted or not.
    pub(super) made: u64,
    pub(super) soiler: Soiler,
    pub(super) page: Page,
}

/// Rows as they are written.
pub(crate) struct Page {
    pub(super) format: Format,
    /// Rows still wanted: what an issue has beyond them is dropped.
    pub(super) remaining: u64,
    pub(super) text: Vec<u8>,
}

impl Dump {
    pub(super) fn push(&mut self, row: &Row) {
        self.made += 1;
        match self.soiler.soil(self.made, row) {
            None => self.page.write(row),
            Some(rows) => rows.iter().for_each(|row| self.page.write(row)),
        }
    }
}

impl Page {
    fn write(&mut self, row: &Row) {
        if self.remaining == 0 {
            return;
        }
        self.remaining -= 1;
        match self.format {
            Format::Csv => row.write_csv(&mut self.text),
            Format::JsonLines => row.write_json(&mut self.text),
        }
    }
}
