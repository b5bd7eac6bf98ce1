//! Merges rows with the same FIGI, within and across inputs, into one instrument. The FIGIs of the
//! rows may come in any order. Instruments are handed out in FIGI order, each FIGI once.
//!
//! This is an external merge sort, so memory is bounded: rows are kept as bytes, and when these
//! fill their share of the memory they are sorted and written to a run on disk. At the end the
//! runs are merged. A separate thread sorts while rows are read. `union.rs` has the rule by which
//! rows become one instrument.

mod runs;
mod sorter;
mod union;

use std::path::PathBuf;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;

use figdex_index::Instrument;

pub(crate) use self::sorter::Sorted;
use self::sorter::Sorter;
pub(crate) use self::union::Origin;
use crate::error::Result;

/// The number of instruments that are sent to the sorting thread together.
const BATCH_INSTRUMENTS: usize = 512;

/// The number of batches that may wait for the sorting thread.
const BATCHES_WAITING: usize = 16;

/// Collects the instruments of all rows, each with its origin.
pub(crate) struct Merge {
    batch: Vec<(Origin, Instrument)>,
    sender: Option<SyncSender<Vec<(Origin, Instrument)>>>,
    sorting: Option<JoinHandle<Result<Sorter>>>,
}

/// The outcome of the rows of one input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Merged {
    /// Rows that are the first of their FIGI.
    pub(crate) instruments: u64,
    /// Rows that were merged into an earlier one.
    pub(crate) merged: u64,
}

impl Merge {
    /// Starts a merge that keeps about `memory_bytes` in memory, and the rest in files in
    /// `scratch`.
    pub(crate) fn start(scratch: PathBuf, memory_bytes: usize) -> Self {
        let (sender, receiver) = sync_channel::<Vec<(Origin, Instrument)>>(BATCHES_WAITING);
        let sorting = std::thread::spawn(move || {
            let mut sorter = Sorter::new(scratch, memory_bytes);
            for batch in receiver {
                for (origin, instrument) in &batch {
                    sorter.add(*origin, instrument)?;
                }
            }
            Ok(sorter)
        });
        Self {
            batch: Vec::with_capacity(BATCH_INSTRUMENTS),
            sender: Some(sender),
            sorting: Some(sorting),
        }
    }

    /// Adds the instrument of a row. Rows must come in the order of the inputs and, within an
    /// input, of its lines. [`Merge::finish`] returns errors of the sorting thread.
    pub(crate) fn add(&mut self, origin: Origin, instrument: Instrument) {
        self.batch.push((origin, instrument));
        if self.batch.len() == BATCH_INSTRUMENTS {
            self.send();
        }
    }

    /// All instruments, sorted.
    ///
    /// # Errors
    /// [`Error::File`](crate::Error::File) when a run cannot be written or read.
    pub(crate) fn finish(mut self) -> Result<Sorted> {
        self.send();
        self.sender = None;
        let sorting = self.sorting.take().expect("a merge is finished once");
        match sorting.join() {
            Ok(sorter) => sorter?.finish(),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }

    fn send(&mut self) {
        let batch = std::mem::replace(&mut self.batch, Vec::with_capacity(BATCH_INSTRUMENTS));
        // This fails when the sorting thread has failed; `finish` returns its error.
        self.sender.as_ref().map(|sender| sender.send(batch).ok());
    }
}

impl Drop for Merge {
    /// Waits for the sorting thread, so that it does not write into a folder that is removed.
    fn drop(&mut self) {
        self.sender = None;
        if let Some(sorting) = self.sorting.take() {
            // The merge was abandoned, so its result does not matter.
            let _ = sorting.join();
        }
    }
}

#[cfg(test)]
mod tests;
