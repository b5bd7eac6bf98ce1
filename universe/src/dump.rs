//! The dump that the kinds write into, and the issue that a kind must write.

use figdex_io::Layout;

use crate::Mix;
use crate::dirt::Defects;
use crate::row::Row;

/// The issue that a kind must write.
pub(crate) struct Issue {
    pub(crate) seed: u64,
    pub(crate) mix: Mix,
    /// The number of the issue within its kind, from 0.
    pub(crate) ordinal: u64,
}

/// The dump that is being written.
pub(crate) struct Dump {
    /// The number of rows that the kinds made, including discarded ones.
    pub(crate) made: u64,
    pub(crate) defects: Defects,
    pub(crate) buffer: Buffer,
}

/// Formatted rows.
pub(crate) struct Buffer {
    pub(crate) layout: Layout,
    /// Number of rows still to be written. Further rows of an issue are discarded.
    pub(crate) remaining: u64,
    pub(crate) text: Vec<u8>,
}

impl Dump {
    /// Writes a row, with its defects if it has any.
    pub(crate) fn push(&mut self, row: &Row) {
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
