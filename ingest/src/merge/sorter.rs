//! Sorting within a share of memory.

use std::path::PathBuf;

use figdex_index::Instrument;

use super::Merged;
use super::runs::{Run, RunMerge};
use crate::derive::derive;
use crate::error::Result;

/// Instruments as bytes, and runs on disk of those that there was no room for.
pub(super) struct Sorter {
    scratch: PathBuf,
    memory_bytes: usize,
    bytes: Vec<u8>,
    rows: Vec<RowPlace>,
    runs: Vec<Run>,
}

/// Where a row's bytes are. Sorted by FIGI; rows of one FIGI stay in the order in
/// which they were read, because their bytes do.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RowPlace {
    figi: u64,
    start: usize,
    end: usize,
    input: u32,
}

/// Every row, in FIGI order.
pub(crate) enum Sorted {
    /// There was room for them all.
    Memory {
        /// The instruments, one after the other in the order of reading.
        bytes: Vec<u8>,
        /// The places of their bytes, sorted.
        rows: Vec<RowPlace>,
    },
    /// Runs to merge; rows of an earlier run were read earlier.
    Runs(Vec<Run>),
}

impl Sorter {
    pub(super) fn new(scratch: PathBuf, memory_bytes: usize) -> Self {
        Self { scratch, memory_bytes, bytes: Vec::new(), rows: Vec::new(), runs: Vec::new() }
    }

    pub(super) fn add(&mut self, input: u32, instrument: &Instrument) -> Result<()> {
        let start = self.bytes.len();
        instrument.encode(&mut self.bytes);
        let (figi, end) = (instrument.figi.to_u64(), self.bytes.len());
        self.rows.push(RowPlace { figi, start, end, input });
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
        Ok(Sorted::Runs(self.runs))
    }

    /// Buffers double when they grow, so that what they hold is up to twice what
    /// is in them; capacity is what counts.
    fn used(&self) -> usize {
        self.bytes.capacity() + self.rows.capacity() * size_of::<RowPlace>()
    }

    fn spill(&mut self) -> Result<()> {
        self.rows.sort_unstable();
        let rows = self.rows.iter().map(|row| (row.input, &self.bytes[row.start..row.end]));
        self.runs.push(Run::write(&self.scratch, self.runs.len(), rows)?);
        self.rows.clear();
        self.bytes.clear();
        Ok(())
    }
}

impl Sorted {
    /// Hands every instrument to `each`, in FIGI order, whole: merged, with what
    /// derives from it. Tells what became of the rows, by input. It may be called
    /// again, and hands out the same.
    ///
    /// # Errors
    /// Those of `each`, and of reading the runs.
    pub(crate) fn for_each(
        &self,
        inputs: usize,
        mut each: impl FnMut(Instrument) -> Result<()>,
    ) -> Result<Vec<Merged>> {
        let mut merged = vec![Merged::default(); inputs];
        let mut current: Option<Instrument> = None;
        let mut take = |input: u32, bytes: &[u8]| {
            let row = Instrument::decode(bytes).expect("the bytes are those that were written");
            let merged = &mut merged[input as usize];
            match &mut current {
                Some(current) if current.figi == row.figi => {
                    merged.merged += 1;
                    current.update(row);
                }
                _ => {
                    merged.instruments += 1;
                    if let Some(whole) = current.replace(row) {
                        each(derived(whole))?;
                    }
                }
            }
            Ok::<_, crate::error::Error>(())
        };
        match self {
            Self::Memory { bytes, rows } => {
                for row in rows {
                    take(row.input, &bytes[row.start..row.end])?;
                }
            }
            Self::Runs(runs) => {
                let mut rows = RunMerge::open(runs)?;
                while let Some((input, bytes)) = rows.next()? {
                    take(input, bytes)?;
                }
            }
        }
        if let Some(last) = current {
            each(derived(last))?;
        }
        Ok(merged)
    }
}

fn derived(mut instrument: Instrument) -> Instrument {
    derive(&mut instrument);
    instrument
}
