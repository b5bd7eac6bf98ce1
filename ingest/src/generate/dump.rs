//! The dump that the kinds write into, and the issue that one of them is asked for.

use crate::generate::Mix;
use crate::generate::dirt::Defects;
use crate::generate::row::Row;
use crate::layout::Layout;

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
    pub(super) defects: Defects,
    pub(super) buffer: Buffer,
}

/// Rows as they are written.
pub(crate) struct Buffer {
    pub(super) format: Layout,
    /// Rows still wanted: what an issue has beyond them is dropped.
    pub(super) remaining: u64,
    pub(super) text: Vec<u8>,
}

impl Dump {
    pub(super) fn push(&mut self, row: &Row) {
        self.made += 1;
        match self.defects.apply(self.made, row) {
            None => self.buffer.write(row),
            Some(rows) => rows.iter().for_each(|row| self.buffer.write(row)),
        }
    }
}

impl Buffer {
    fn write(&mut self, row: &Row) {
        if self.remaining == 0 {
            return;
        }
        self.remaining -= 1;
        match self.format {
            Layout::Csv => row.write_csv(&mut self.text),
            Layout::JsonLines => row.write_json(&mut self.text),
        }
    }
}
