//! Rows with the same FIGI, within or across inputs, are one instrument: what
//! was read in any order leaves here in FIGI order, each FIGI once.
//!
//! However many there are, memory is bounded: instruments are kept as bytes, and
//! when these fill their share they are sorted and written to a run on disk; at
//! the end the runs are merged. Sorting goes on beside the reading, on a thread of
//! its own.

mod runs;
mod sorter;

use std::path::PathBuf;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;

use figdex_index::Instrument;

pub(crate) use self::sorter::Sorted;
use self::sorter::Sorter;
use crate::error::Result;

/// Instruments that go to the sorting thread together.
const BATCH: usize = 512;

/// Batches that may wait for it.
const BATCHES_WAITING: usize = 16;

/// Takes in what is read.
pub(crate) struct Merge {
    batch: Vec<(u32, Instrument)>,
    sender: Option<SyncSender<Vec<(u32, Instrument)>>>,
    sorting: Option<JoinHandle<Result<Sorter>>>,
}

/// What became of the rows of one input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Merged {
    /// Rows that are the first of their FIGI.
    pub(crate) instruments: u64,
    /// Rows that joined an earlier one.
    pub(crate) merged: u64,
}

impl Merge {
    /// A merge that keeps about so many bytes in memory, and what is more in files
    /// in that folder.
    pub(crate) fn start(scratch: PathBuf, memory_bytes: usize) -> Self {
        let (sender, receiver) = sync_channel::<Vec<(u32, Instrument)>>(BATCHES_WAITING);
        let sorting = std::thread::spawn(move || {
            let mut sorter = Sorter::new(scratch, memory_bytes);
            for batch in receiver {
                for (input, instrument) in &batch {
                    sorter.add(*input, instrument)?;
                }
            }
            Ok(sorter)
        });
        Self { batch: Vec::with_capacity(BATCH), sender: Some(sender), sorting: Some(sorting) }
    }

    /// Adds a row's instrument; inputs and their rows come in the order given. A
    /// fault of the sorting is told by [`Merge::finish`].
    pub(crate) fn add(&mut self, input: usize, instrument: Instrument) {
        let input = u32::try_from(input).expect("so many inputs cannot be named");
        self.batch.push((input, instrument));
        if self.batch.len() == BATCH {
            self.send();
        }
    }

    /// All that was added, in FIGI order.
    ///
    /// # Errors
    /// When a run could not be written.
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
        let batch = std::mem::replace(&mut self.batch, Vec::with_capacity(BATCH));
        // Who does not listen any more has a fault to tell when it is joined.
        self.sender.as_ref().map(|sender| sender.send(batch).ok());
    }
}

impl Drop for Merge {
    /// A merge that is given up ends before its folder is removed, not after.
    fn drop(&mut self) {
        self.sender = None;
        if let Some(sorting) = self.sorting.take() {
            // Nobody asks any more what became of it.
            let _ = sorting.join();
        }
    }
}

#[cfg(test)]
mod tests;
