//! (head)

use crate::generate::dirt::Soiler;
use crate::generate::row::Row;
use crate::generate::{Format, Mix, write};

/// Which issue of a kind to make.
pub(crate) struct Issue {
    seed: u64,
    mix: Mix,
    /// From 0, for each kind by itself.
    ordinal: u64,
}

/// Where the kinds put their rows.
pub(crate) struct Dump {
    /// Rows that the kinds made, wanted or not.
    made: u64,
    soiler: Soiler,
    page: Page,
}

/// Rows as they are written.
pub(crate) struct Page {
    format: Format,
    /// Rows still wanted: what an issue has beyond them is dropped.
    remaining: u64,
    text: Vec<u8>,
}

impl Dump {
    fn push(&mut self, row: &Row) {
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
