//! A change file: the changed instruments of one generation in FIGI order, packed in blocks, with a
//! table of the blocks, so that a reader begins anywhere. All numbers are little-endian.
//!
//! ```text
//! magic       8 bytes, which also say the layout of the file
//! blocks      zstd frames, one after the other
//! table       for each block its first FIGI, its place, its packed and its plain length, and the
//!             xxh3 checksum of its packed bytes
//! summary     JSON: the generations and the counts
//! end         the number of blocks, the length of the summary, and the checksum of all but blocks
//! ```
//! A record of a block is a byte that says which images it has, then the length and the encoding of
//! each ([`Instrument::encode`]). A file may come from object storage: everything is bounded and
//! checked before it is used.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{Xxh3Default, xxh3_64};

use super::super::id::GenerationId;
use super::super::manifest::FORMAT;
use super::Changed;
use crate::error::{Error, Result};
use crate::instrument::Instrument;
use crate::instrument::figi::Figi;
use crate::mapped::{u32_at, u64_at};
use crate::meter::Meter;
use crate::part::file_writer::FileWriter;

/// The first bytes. The last one is the number of the layout.
const MAGIC: [u8; 8] = *b"FGDXCHG\x01";

/// The plain bytes after which a block ends.
const BLOCK_BYTES: usize = 128 << 10;

/// The most plain bytes of a block: one record may be larger than a block. Its texts are bounded
/// when a dump is read, far below this.
const BLOCK_BYTES_MAX: usize = 16 << 20;

/// The most blocks of a file: more than 200 million changes. A table takes at most 42 MB of a
/// server, since a file may come from a stranger. A writer of more blocks only marks that there
/// were too many changes.
const BLOCKS_MAX: usize = 1 << 20;

/// The most bytes of a summary.
const SUMMARY_BYTES_MAX: usize = 4 << 10;

/// The plain bytes that are unpacked and decoded in a unit of work (`crate::meter`).
const BYTES_OF_UNIT: u64 = 2;

/// The compression level of zstd. Neighbours, and the images of one instrument, are alike.
const LEVEL: i32 = 1;

/// The bytes of an entry of the table, and of the end of the file.
const ENTRY_BYTES: usize = 4 * 8 + 8;
const END_BYTES: usize = 4 + 4 + 8;

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
    /// The format of the index, by which the images are encoded.
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
    path: PathBuf,
    file: FileWriter,
    table: Vec<u8>,
    blocks: usize,
    /// The place after the last block.
    place: u64,
    /// The block that is being filled, and its first FIGI.
    block: Vec<u8>,
    first: Option<Figi>,
    counts: CountedChanges,
    packer: zstd::bulk::Compressor<'static>,
}

impl ChangeWriter {
    /// Creates the file at [`BuildLock::new_changes`](crate::BuildLock::new_changes), which must
    /// not exist.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn create(path: PathBuf) -> Result<Self> {
        let mut file = FileWriter::create(path.clone())?;
        file.write(&MAGIC)?;
        let packer = zstd::bulk::Compressor::new(LEVEL).map_err(Error::io(&path))?;
        let place = MAGIC.len() as u64;
        let (table, blocks, block, first, counts) = Default::default();
        Ok(Self { path, file, table, blocks, place, block, first, counts, packer })
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
        self.first.get_or_insert(changed.figi());
        let images = [(&changed.before, BEFORE), (&changed.after, AFTER)];
        let known = |(image, bit): &(&Option<Instrument>, u8)| image.as_ref().map_or(0, |_| *bit);
        self.block.push(images.iter().map(known).sum());
        for instrument in images.into_iter().filter_map(|(image, _)| image.as_ref()) {
            let start = self.block.len();
            self.block.extend_from_slice(&[0; 4]);
            instrument.encode(&mut self.block);
            let length = (self.block.len() - start - 4) as u32;
            self.block[start..][..4].copy_from_slice(&length.to_le_bytes());
        }
        if self.block.len() >= BLOCK_BYTES { self.pack() } else { Ok(()) }
    }

    fn pack(&mut self) -> Result<()> {
        let Some(first) = self.first.take() else { return Ok(()) };
        let packed = self.packer.compress(&self.block).map_err(Error::io(&self.path))?;
        self.file.write(&packed)?;
        for number in [first.to_u64(), self.place, packed.len() as u64, self.block.len() as u64] {
            self.table.extend_from_slice(&number.to_le_bytes());
        }
        self.table.extend_from_slice(&xxh3_64(&packed).to_le_bytes());
        self.blocks += 1;
        self.place += packed.len() as u64;
        self.block.clear();
        Ok(())
    }

    /// Completes the file: the changes from the generation `parent` to the generation `id`.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn finish(mut self, parent: GenerationId, id: GenerationId) -> Result<ChangeSummary> {
        self.pack()?;
        if self.blocks > BLOCKS_MAX {
            return self.mark(parent, id);
        }
        let counts = self.counts;
        let summary = ChangeSummary { format: FORMAT, parent, id, counts, is_marker: false };
        self.end(&summary)?;
        Ok(summary)
    }

    /// Writes a file that only says that there were too many changes, in place of what was written.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn mark(self, parent: GenerationId, id: GenerationId) -> Result<ChangeSummary> {
        let Self { path, counts, file, .. } = self;
        file.abandon();
        std::fs::remove_file(&path).map_err(Error::io(&path))?;
        let summary = ChangeSummary { format: FORMAT, parent, id, counts, is_marker: true };
        Self::create(path)?.end(&summary)?;
        Ok(summary)
    }

    fn end(mut self, summary: &ChangeSummary) -> Result<()> {
        let mut rest = std::mem::take(&mut self.table);
        let summary = serde_json::to_vec(summary).expect("its fields are numbers and texts");
        rest.extend_from_slice(&summary);
        rest.extend_from_slice(&(self.blocks as u32).to_le_bytes());
        rest.extend_from_slice(&(summary.len() as u32).to_le_bytes());
        rest.extend_from_slice(&xxh3_64(&rest).to_le_bytes());
        self.file.write(&rest)?;
        self.file.finish()
    }
}

/// A complete change file, open for reading.
pub struct ChangeFile {
    path: PathBuf,
    file: File,
    blocks: Vec<ChangeBlock>,
    summary: ChangeSummary,
}

/// A block of a change file.
#[derive(Clone, Copy, Debug)]
struct ChangeBlock {
    first: Figi,
    place: u64,
    packed_bytes: usize,
    plain_bytes: usize,
    checksum: u64,
}

impl ChangeFile {
    /// Opens a file, and checks all but its blocks, each of which is checked when it is read.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Damaged`], and [`Error::ForeignFormat`] when its images are those of
    /// another format.
    pub fn open(path: &Path) -> Result<Self> {
        let damaged = |what: &str| Error::damaged(path, what);
        let file = File::open(path).map_err(Error::io(path))?;
        let bytes = file.metadata().map_err(Error::io(path))?.len();
        let read = |place: u64, count: usize| {
            let mut bytes = vec![0; count];
            file.read_exact_at(&mut bytes, place).map_err(Error::io(path))?;
            Ok::<_, Error>(bytes)
        };
        if bytes < (MAGIC.len() + END_BYTES) as u64 || read(0, MAGIC.len())? != MAGIC {
            return Err(damaged("it is not a file of changes of this layout"));
        }
        let end_at = bytes - END_BYTES as u64;
        let end = read(end_at, END_BYTES)?;
        let (count, summary_bytes) = (u32_at(&end, 0) as usize, u32_at(&end, 4) as usize);
        if count > BLOCKS_MAX || summary_bytes > SUMMARY_BYTES_MAX {
            return Err(damaged("its end has impossible numbers"));
        }
        let rest_bytes = count * ENTRY_BYTES + summary_bytes;
        let blocks_end = end_at.checked_sub(rest_bytes as u64);
        let Some(blocks_end) = blocks_end.filter(|end| *end >= MAGIC.len() as u64) else {
            return Err(damaged("it is shorter than its end says"));
        };
        let rest = read(blocks_end, rest_bytes)?;
        let mut checksum = Xxh3Default::new();
        checksum.update(&rest);
        checksum.update(&end[..8]);
        if checksum.digest() != u64_at(&end, 8) {
            return Err(damaged("its table differs from its checksum"));
        }
        let (table, summary) = rest.split_at(count * ENTRY_BYTES);
        let summary: ChangeSummary = serde_json::from_slice(summary)
            .map_err(|error| Error::damaged(path, error.to_string()))?;
        if summary.format != FORMAT {
            let (path, found) = (path.to_owned(), summary.format);
            return Err(Error::ForeignFormat { path, found, supported: FORMAT });
        }
        let blocks =
            ChangeBlock::table(table, blocks_end).ok_or_else(|| damaged("a block is wrong"))?;
        Ok(Self { path: path.to_owned(), file, blocks, summary })
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
        let after = match first {
            // The last block that begins at or before it.
            Some(first) => self.blocks.partition_point(|block| block.first <= first),
            None => 0,
        };
        let next = after.saturating_sub(1);
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

    fn unpacked(&self, block: &ChangeBlock) -> Result<Vec<u8>> {
        let damaged = |what: &str| Error::damaged(&self.path, what);
        let mut packed = vec![0; block.packed_bytes];
        self.file.read_exact_at(&mut packed, block.place).map_err(Error::io(&self.path))?;
        if xxh3_64(&packed) != block.checksum {
            return Err(damaged("a block differs from its checksum"));
        }
        let plain = zstd::bulk::decompress(&packed, block.plain_bytes);
        let plain = plain.map_err(|_| damaged("a block cannot be unpacked"))?;
        match plain.len() == block.plain_bytes {
            true => Ok(plain),
            false => Err(damaged("a block has another length")),
        }
    }
}

impl ChangeBlock {
    /// The blocks of a table, which must lie one after the other before `end`, in FIGI order;
    /// `None` otherwise.
    fn table(table: &[u8], end: u64) -> Option<Vec<Self>> {
        let mut place = MAGIC.len() as u64;
        let mut blocks: Vec<Self> = Vec::with_capacity(table.len() / ENTRY_BYTES);
        for entry in table.chunks_exact(ENTRY_BYTES) {
            let block = Self {
                first: Figi::from_u64(u64_at(entry, 0)),
                place: u64_at(entry, 8),
                packed_bytes: usize::try_from(u64_at(entry, 16)).ok()?,
                plain_bytes: usize::try_from(u64_at(entry, 24)).ok()?,
                checksum: u64_at(entry, 32),
            };
            let is_next = blocks.last().is_none_or(|last| last.first < block.first);
            let most = zstd::zstd_safe::compress_bound(BLOCK_BYTES_MAX);
            let is_bounded =
                block.packed_bytes <= most && (1..=BLOCK_BYTES_MAX).contains(&block.plain_bytes);
            if !is_next || !is_bounded || block.place != place {
                return None;
            }
            place = place.checked_add(block.packed_bytes as u64)?;
            blocks.push(block);
        }
        (place == end).then_some(blocks)
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
        &self.file.path
    }

    /// The next change; `None` after the last one. The work is charged before a block is read, but
    /// a refused charge does not end it: the caller checks the meter.
    pub(super) fn next(&mut self, meter: &Meter) -> Result<Option<Changed>> {
        loop {
            while self.place == self.plain.len() {
                let Some(block) = self.file.blocks.get(self.next) else { return Ok(None) };
                let _ = meter.charge(block.plain_bytes as u64 / BYTES_OF_UNIT);
                self.plain = self.file.unpacked(block)?;
                (self.next, self.place) = (self.next + 1, 0);
            }
            let mut rest = &self.plain[self.place..];
            let changed = record(&mut rest).filter(|one| self.last < Some(one.figi()));
            let changed = changed
                .ok_or_else(|| Error::damaged(&self.file.path, "a change cannot be decoded"))?;
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
