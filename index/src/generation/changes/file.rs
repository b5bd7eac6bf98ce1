//! A change file: the changed instruments of one generation in FIGI order (`blocks`). A record is a
//! byte that says which images it has, then the length and the encoding of each
//! ([`Instrument::encode`]). Its summary names the generations and has the counts.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::super::blocks::{BLOCKS_MAX, Blocks, BlocksKind, BlocksWriter};
use super::super::id::GenerationId;
use super::Changed;
use crate::error::{Error, Result};
use crate::instrument::Instrument;
use crate::instrument::figi::Figi;
use crate::meter::Meter;

/// The files of changes. A file has more than 200 million changes at most: a writer of more blocks
/// only marks that there were too many.
static KIND: BlocksKind = BlocksKind {
    magic: *b"FGDXCHG\x01",
    name: "a file of changes",
    block_bytes: 128 << 10,
    summary_bytes_max: 4 << 10,
};

/// The number of the format of the images: that of the index when images were last encoded in another
/// way ([`Instrument::encode`]).
const FORMAT: u32 = 9;

/// The plain bytes that are unpacked and decoded in a unit of work (`crate::meter`).
const BYTES_OF_UNIT: u64 = 2;

/// The images of a record.
const BEFORE: u8 = 1;
const AFTER: u8 = 2;

/// The numbers of changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CountedChanges {
    /// The instruments that came.
    pub inserted: u64,
    /// The instruments with another value in a column, [`CountedChanges::cosmetic`] ones included.
    pub updated: u64,
    /// The instruments that went.
    pub deleted: u64,
    /// The updated ones that differ only in importance or in the writing of a text.
    pub cosmetic: u64,
}

impl CountedChanges {
    /// All changes.
    pub fn all(self) -> u64 {
        self.inserted + self.updated + self.deleted
    }

    /// Counts a change.
    pub fn add(&mut self, changed: &Changed) {
        match (&changed.before, &changed.after) {
            (None, _) => self.inserted += 1,
            (_, None) => self.deleted += 1,
            (Some(_), Some(_)) => {
                self.updated += 1;
                self.cosmetic += u64::from(changed.is_cosmetic());
            }
        }
    }
}

/// The description of a change file, which is in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChangeSummary {
    /// The format of the images.
    pub format: u32,
    /// The generation before.
    pub parent: GenerationId,
    /// The generation after.
    pub id: GenerationId,
    /// The changes. When the file only marks that there were too many, those counted so far.
    pub counts: CountedChanges,
    /// Whether there were too many changes to keep, so that readers must export again.
    pub is_marker: bool,
}

/// A change file that is being written.
pub struct ChangeWriter {
    blocks: BlocksWriter,
    counts: CountedChanges,
}

impl ChangeWriter {
    /// Creates the file at [`BuildLock::new_changes`](crate::BuildLock::new_changes), which must
    /// not exist.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn create(path: PathBuf) -> Result<Self> {
        let counts = CountedChanges::default();
        Ok(Self { blocks: BlocksWriter::create(path, &KIND)?, counts })
    }

    /// The changes added so far.
    pub fn counts(&self) -> CountedChanges {
        self.counts
    }

    /// Adds the next change, in FIGI order.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn add(&mut self, changed: &Changed) -> Result<()> {
        self.counts.add(changed);
        let images = [(&changed.before, BEFORE), (&changed.after, AFTER)];
        let known = |(image, bit): &(&Option<Instrument>, u8)| image.as_ref().map_or(0, |_| *bit);
        self.blocks.add(changed.figi(), |block| {
            block.push(images.iter().map(known).sum());
            for instrument in images.into_iter().filter_map(|(image, _)| image.as_ref()) {
                let start = block.len();
                block.extend_from_slice(&[0; 4]);
                instrument.encode(block);
                let length = (block.len() - start - 4) as u32;
                block[start..][..4].copy_from_slice(&length.to_le_bytes());
            }
        })
    }

    /// Completes the file: the changes from the generation `parent` to the generation `id`.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn finish(mut self, parent: GenerationId, id: GenerationId) -> Result<ChangeSummary> {
        self.blocks.pack()?;
        if self.blocks.blocks() > BLOCKS_MAX {
            return self.mark(parent, id);
        }
        let counts = self.counts;
        let summary = ChangeSummary { format: FORMAT, parent, id, counts, is_marker: false };
        self.blocks.finish(&summary)?;
        Ok(summary)
    }

    /// Writes a file that only says that there were too many changes, in place of what was written.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn mark(self, parent: GenerationId, id: GenerationId) -> Result<ChangeSummary> {
        let Self { blocks, counts } = self;
        let summary = ChangeSummary { format: FORMAT, parent, id, counts, is_marker: true };
        blocks.restart()?.finish(&summary)?;
        Ok(summary)
    }
}

/// A complete change file, open for reading.
pub struct ChangeFile {
    blocks: Blocks,
    summary: ChangeSummary,
}

impl ChangeFile {
    /// Opens a file, and checks all but its blocks, each of which is checked when it is read.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Damaged`], and [`Error::ForeignFormat`] when its images are those of
    /// another format.
    pub fn open(path: &Path) -> Result<Self> {
        let (blocks, summary) = Blocks::open::<ChangeSummary>(path, &KIND)?;
        if summary.format != FORMAT {
            let (path, found) = (path.to_owned(), summary.format);
            return Err(Error::ForeignFormat { path, found, supported: FORMAT..=FORMAT });
        }
        Ok(Self { blocks, summary })
    }

    /// The number of blocks. Their table is in memory.
    pub(super) fn blocks(&self) -> usize {
        self.blocks.len()
    }

    /// The description of the file.
    pub fn summary(&self) -> &ChangeSummary {
        &self.summary
    }

    /// The changes of FIGIs from `first` on, in FIGI order.
    pub(super) fn from(&self, first: Option<Figi>) -> Records<'_> {
        let next = first.map_or(0, |first| self.blocks.block_of(first));
        Records { file: self, first, next, plain: Vec::new(), place: 0, last: None }
    }

    /// Reads all of it.
    ///
    /// # Errors
    /// The first error of `each`, and [`Error::Damaged`].
    pub fn for_each<E: From<Error>>(
        &self,
        mut each: impl FnMut(Changed) -> Result<(), E>,
    ) -> Result<(), E> {
        let (mut records, meter) = (self.from(None), Meter::unlimited());
        while let Some(changed) = records.next(&meter)? {
            each(changed)?;
        }
        Ok(())
    }
}

/// The changes of a file from a FIGI on.
pub(super) struct Records<'a> {
    file: &'a ChangeFile,
    /// Smaller FIGIs are passed over.
    first: Option<Figi>,
    /// The next block.
    next: usize,
    /// The current block, and the place of the next record in it.
    plain: Vec<u8>,
    place: usize,
    last: Option<Figi>,
}

impl Records<'_> {
    /// The file.
    pub(super) fn path(&self) -> &Path {
        self.file.blocks.path()
    }

    /// The next change; `None` after the last one. The work is charged before a block is read, but
    /// a refused charge does not end it: the caller checks the meter.
    pub(super) fn next(&mut self, meter: &Meter) -> Result<Option<Changed>> {
        loop {
            while self.place == self.plain.len() {
                let Some(bytes) = self.file.blocks.plain_bytes(self.next) else { return Ok(None) };
                let _ = meter.charge(bytes as u64 / BYTES_OF_UNIT);
                self.plain = self.file.blocks.unpacked(self.next)?;
                (self.next, self.place) = (self.next + 1, 0);
            }
            let mut rest = &self.plain[self.place..];
            let changed = record(&mut rest).filter(|one| self.last < Some(one.figi()));
            let changed =
                changed.ok_or_else(|| Error::damaged(self.path(), "a change cannot be decoded"))?;
            self.place = self.plain.len() - rest.len();
            self.last = Some(changed.figi());
            if self.first <= self.last {
                return Ok(Some(changed));
            }
        }
    }
}

/// Takes a record off the front of a block; `None` when it is not one.
fn record(bytes: &mut &[u8]) -> Option<Changed> {
    let (images, rest) = bytes.split_first()?;
    *bytes = rest;
    let mut image = |bit: u8| {
        if images & bit == 0 {
            return Some(None);
        }
        let (length, rest) = bytes.split_first_chunk()?;
        let (encoded, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        *bytes = rest;
        Instrument::decode(encoded).map(Some)
    };
    let changed = Changed { before: image(BEFORE)?, after: image(AFTER)? };
    let is_one = match (&changed.before, &changed.after) {
        (None, None) => false,
        (Some(before), Some(after)) => before.figi == after.figi,
        _ => true,
    };
    (is_one && images & !(BEFORE | AFTER) == 0).then_some(changed)
}
