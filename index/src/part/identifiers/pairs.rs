//! Sorting the pairs of key and DocId of a part, in bounded memory.
//!
//! A part has several pairs for each instrument, more bytes than everything else that a build holds
//! in memory. Beyond [`HELD`] pairs they are written to [`FILES`] files, divided by the first bits
//! of the key's hash. In the end each file is read back and sorted by itself; the files, one after
//! the other, are the sorted whole.

use std::fs;
use std::path::{Path, PathBuf};

use super::{ENTRY_HASH_BITS, Hash};
use crate::error::{Error, Result};
use crate::part::file_writer::FileWriter;

/// The most pairs that are held in memory: 16 MiB.
const HELD: usize = 1 << 20;

/// The number of files: one for each value of the first [`FILE_BITS`] bits of a hash.
const FILES: usize = 1 << FILE_BITS;
const FILE_BITS: u32 = 6;

/// The size of the buffer of each file.
const BUFFER_BYTES: usize = 1 << 16;

const PAIR_BYTES: usize = size_of::<u128>();

/// A key and a DocId as one number: the leading bits of the key's hash, the compared bits, then the
/// DocId. Sorted numbers ascend by hash, and by DocId within a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Pair(u128);

/// The pairs to be sorted.
pub(super) struct Pairs {
    folder: PathBuf,
    held_max: usize,
    held: Vec<Pair>,
    files: Vec<FileWriter>,
    count: usize,
}

impl Pair {
    pub(super) fn new(hash: Hash, doc: u32) -> Self {
        let leading = u128::from(hash.leading) << (ENTRY_HASH_BITS + 32);
        Self(leading | u128::from(hash.compared) << 32 | u128::from(doc))
    }

    pub(super) fn hash(self) -> Hash {
        let compared = (self.0 >> 32) as u64 & ((1 << ENTRY_HASH_BITS) - 1);
        Hash { leading: (self.0 >> (ENTRY_HASH_BITS + 32)) as u32, compared }
    }

    pub(super) fn doc(self) -> u32 {
        self.0 as u32
    }

    fn file(self) -> usize {
        (self.hash().leading >> (u32::BITS - FILE_BITS)) as usize
    }
}

impl Pairs {
    /// An empty collection. Files are created in `folder` when needed; [`Pairs::for_each`] removes
    /// them.
    pub(super) fn new(folder: &Path) -> Self {
        Self::holding(folder, HELD)
    }

    fn holding(folder: &Path, held_max: usize) -> Self {
        let folder = folder.to_owned();
        Self { folder, held_max, held: Vec::new(), files: Vec::new(), count: 0 }
    }

    /// The number of pairs that were added.
    pub(super) fn len(&self) -> usize {
        self.count
    }

    pub(super) fn add(&mut self, pair: Pair) -> Result<()> {
        self.count += 1;
        self.held.push(pair);
        if self.held.len() >= self.held_max { self.spill() } else { Ok(()) }
    }

    /// Calls `each` with the sorted pairs, many at a time, without repeats. The pairs of one key
    /// come in one call.
    ///
    /// # Errors
    /// The first error of `each`, and errors of reading a file.
    pub(super) fn for_each(mut self, mut each: impl FnMut(&[Pair]) -> Result<()>) -> Result<()> {
        let mut hand_out = |pairs: &mut Vec<Pair>| {
            pairs.sort_unstable();
            pairs.dedup();
            each(pairs)
        };
        if self.files.is_empty() {
            return hand_out(&mut self.held);
        }
        self.spill()?;
        let mut pairs = std::mem::take(&mut self.held);
        for (number, file) in std::mem::take(&mut self.files).into_iter().enumerate() {
            let path = self.path(number);
            file.finish()?;
            let bytes = fs::read(&path).map_err(Error::io(&path))?;
            fs::remove_file(&path).map_err(Error::io(&path))?;
            let pair = |bytes: &[u8; PAIR_BYTES]| Pair(u128::from_le_bytes(*bytes));
            pairs.clear();
            pairs.extend(bytes.as_chunks().0.iter().map(pair));
            drop(bytes);
            hand_out(&mut pairs)?;
        }
        Ok(())
    }

    fn spill(&mut self) -> Result<()> {
        if self.files.is_empty() {
            for number in 0..FILES {
                self.files.push(FileWriter::with_buffer(self.path(number), BUFFER_BYTES)?);
            }
        }
        for pair in &self.held {
            self.files[pair.file()].write(&pair.0.to_le_bytes())?;
        }
        self.held.clear();
        Ok(())
    }

    fn path(&self, number: usize) -> PathBuf {
        self.folder.join(format!("identifiers.pairs-{number:02}"))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn all_come_back_once_and_in_order(
            pairs in proptest::collection::vec((any::<u32>(), 0_u64..3, 0_u32..3), 0..200),
            held_max in prop_oneof![Just(1), Just(7), Just(1_000)],
        ) {
            let folder = tempfile::tempdir().unwrap();
            let mut sorted = Pairs::holding(folder.path(), held_max);
            let mut expected: Vec<Pair> = Vec::new();
            for (leading, compared, doc) in &pairs {
                let hash = Hash { leading: *leading, compared: *compared };
                let pair = Pair::new(hash, *doc);
                prop_assert_eq!((pair.hash(), pair.doc()), (hash, *doc));
                expected.push(pair);
                sorted.add(pair).unwrap();
            }
            prop_assert_eq!(sorted.len(), pairs.len());
            expected.sort_by_key(|pair| (pair.hash(), pair.doc()));
            expected.dedup();
            let mut found = Vec::new();
            sorted.for_each(|pairs| {
                found.extend_from_slice(pairs);
                Ok(())
            }).unwrap();
            prop_assert_eq!(found, expected);
            prop_assert_eq!(folder.path().read_dir().unwrap().count(), 0, "no file is left");
        }
    }
}
