//! The dump that the kinds write into, and the issue that a kind is to write.

use crate::generate::Mix;
use crate::generate::dirt::Defects;
use crate::generate::row::Row;
use crate::layout::Layout;

/// The issue that a kind is to write.
pub(super) struct Issue {
    pub(super) seed: u64,
    pub(super) mix: Mix,
    /// The number of the issue within its kind, from 0.
    pub(super) ordinal: u64,
}

/// The dump that is being written.
pub(super) struct Dump {
    /// Number of rows that the kinds made, including those that are not written.
    pub(super) made: u64,
    pub(super) defects: Defects,
    pub(super) buffer: Buffer,
}

/// Formatted rows.
pub(super) struct Buffer {
    pub(super) layout: Layout,
    /// Number of rows still to be written. Further rows of an issue are discarded.
    pub(super) remaining: u64,
    pub(super) text: Vec<u8>,
}

impl Dump {
    /// Writes a row, with its defects if it has any.
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
        match self.layout {
            Layout::Csv => row.write_csv(&mut self.text),
            Layout::JsonLines => row.write_json(&mut self.text),
        }
    }
}
