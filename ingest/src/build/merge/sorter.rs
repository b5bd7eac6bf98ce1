//! Sorts rows within a share of the memory. When the share is full, writes a run to the disk.

use std::path::PathBuf;

use figdex_index::Instrument;

use super::runs::{Run, RunMerge};
use super::union::{Origin, Union};
use super::{Merged, runs};
use crate::error::{Error, Result};
use crate::report::conflicts::Conflicts;

/// The rows in memory, as bytes, and the runs of earlier rows on disk.
pub(super) struct Sorter {
    scratch: PathBuf,
    memory_bytes: usize,
    bytes: Vec<u8>,
    rows: Vec<RowSpan>,
    runs: Vec<Run>,
}

/// The FIGI of a row and the place of its bytes. The order is by FIGI, then by place, so that rows
/// of one FIGI stay in the order of reading.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RowSpan {
    figi: u64,
    start: usize,
    end: usize,
    origin: Origin,
}

/// All rows, in FIGI order.
pub(crate) enum Sorted {
    /// All rows are in memory.
    Memory {
        /// The encoded instruments, in the order in which they were read.
        bytes: Vec<u8>,
        /// The places of the rows in `bytes`, in FIGI order.
        rows: Vec<RowSpan>,
    },
    /// The rows are in runs, which are merged during reading. Rows of an earlier run were read
    /// earlier.
    Runs(Vec<Run>),
}

impl Sorter {
    pub(super) fn new(scratch: PathBuf, memory_bytes: usize) -> Self {
        Self { scratch, memory_bytes, bytes: Vec::new(), rows: Vec::new(), runs: Vec::new() }
    }

    pub(super) fn add(&mut self, origin: Origin, instrument: &Instrument) -> Result<()> {
        let start = self.bytes.len();
        instrument.encode(&mut self.bytes);
        let (figi, end) = (instrument.figi.to_u64(), self.bytes.len());
        self.rows.push(RowSpan { figi, start, end, origin });
        if self.used() >= self.memory_bytes {
            self.spill()?;
        }
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<Sorted> {
        if self.runs.is_empty() {
            self.rows.sort_unstable();
            return Ok(Sorted::Memory { bytes: self.bytes, rows: self.rows });
        }
        self.spill()?;
        let Self { scratch, memory_bytes, runs, .. } = self;
        Ok(Sorted::Runs(runs::fewer(runs, &scratch, memory_bytes)?))
    }

    /// The bytes in use. The capacity of the buffers does not count: it stays after a run is
    /// written, and pages that were never written take no memory.
    fn used(&self) -> usize {
        self.bytes.len() + self.rows.len() * size_of::<RowSpan>()
    }

    fn spill(&mut self) -> Result<()> {
        self.rows.sort_unstable();
        let rows = self.rows.iter().map(|row| (row.origin, &self.bytes[row.start..row.end]));
        self.runs.push(Run::write(&self.scratch, self.runs.len(), rows)?);
        self.rows.clear();
        self.bytes.clear();
        Ok(())
    }
}

impl Sorted {
    /// Calls `each` with every merged instrument, in FIGI order, and adds the conflicts. Returns
    /// the row counts of the inputs, by number, up to the last input that has rows. `inputs` are
    /// the names of the inputs. A second call does the same again.
    ///
    /// # Errors
    /// The errors of `each`, and [`Error::File`] when a run cannot be read.
    pub(crate) fn for_each(
        &self,
        inputs: &[String],
        conflicts: &mut Conflicts,
        mut each: impl FnMut(Instrument, &mut Conflicts) -> Result<()>,
    ) -> Result<Vec<Merged>> {
        let mut merged: Vec<Merged> = Vec::new();
        let mut current: Option<Union> = None;
        let mut take = |origin: Origin, bytes: &[u8]| {
            let row = Instrument::decode(bytes).expect("the bytes were encoded by this process");
            let input = origin.input as usize;
            if input >= merged.len() {
                merged.resize(input + 1, Merged::default());
            }
            match &mut current {
                Some(union) if union.instrument.figi == row.figi => {
                    merged[input].merged += 1;
                    union.update(origin, row, inputs, conflicts);
                }
                _ => {
                    merged[input].instruments += 1;
                    if let Some(whole) = current.replace(Union::new(origin, row)) {
                        each(whole.instrument, conflicts)?;
                    }
                }
            }
            Ok::<_, Error>(())
        };
        match self {
            Self::Memory { bytes, rows } => {
                for row in rows {
                    take(row.origin, &bytes[row.start..row.end])?;
                }
            }
            Self::Runs(runs) => {
                let mut rows = RunMerge::open(runs)?;
                while let Some((origin, bytes)) = rows.next()? {
                    take(origin, bytes)?;
                }
            }
        }
        if let Some(last) = current {
            each(last.instrument, conflicts)?;
        }
        Ok(merged)
    }
}
