//! A file of records in FIGI order, packed in blocks, with a table of the blocks, so that a reader
//! begins anywhere. All numbers are little-endian.
//!
//! ```text
//! magic       8 bytes, which also say the layout of the file
//! blocks      zstd frames, one after the other
//! table       for each block its first FIGI, its place, its packed and its plain length, and the
//!             xxh3 checksum of its packed bytes
//! summary     JSON
//! end         the number of blocks, the length of the summary, and the checksum of all but blocks
//! ```
//! A file may come from object storage or from another machine: everything is bounded and checked
//! before it is used.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;
use xxhash_rust::xxh3::{Xxh3Default, xxh3_64};

use crate::error::{Error, Result};
use crate::instrument::figi::Figi;
use crate::mapped::{u32_at, u64_at};
use crate::part::file_writer::FileWriter;

/// The most plain bytes of a block: one record may be larger than a block. Its texts are bounded
/// when a dump is read, far below this.
const BLOCK_BYTES_MAX: usize = 16 << 20;

/// The most blocks of a file. A table takes at most 42 MB of a server, since a file may come from a
/// stranger.
pub(super) const BLOCKS_MAX: usize = 1 << 20;

/// The compression level of zstd. Neighbours, and the images of one instrument, are alike.
const LEVEL: i32 = 1;

/// The bytes of an entry of the table, and of the end of the file.
const ENTRY_BYTES: usize = 4 * 8 + 8;
const END_BYTES: usize = 4 + 4 + 8;

/// A kind of file.
pub(super) struct BlocksKind {
    /// The first bytes. The last one is the number of the layout.
    pub(super) magic: [u8; 8],
    /// The name of such a file in messages.
    pub(super) name: &'static str,
    /// The plain bytes after which a block ends.
    pub(super) block_bytes: usize,
    /// The most bytes of a summary.
    pub(super) summary_bytes_max: usize,
}

/// A file that is being written.
pub(super) struct BlocksWriter {
    kind: &'static BlocksKind,
    path: PathBuf,
    file: FileWriter,
    table: Vec<u8>,
    blocks: usize,
    /// The place after the last block.
    place: u64,
    /// The block that is being filled, and its first FIGI.
    block: Vec<u8>,
    first: Option<Figi>,
    packer: zstd::bulk::Compressor<'static>,
}

impl BlocksWriter {
    /// Creates the file, which must not exist.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(super) fn create(path: PathBuf, kind: &'static BlocksKind) -> Result<Self> {
        Self::over(FileWriter::create(path.clone())?, path, kind)
    }

    /// Begins a file that was opened by the caller.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(super) fn over(
        mut file: FileWriter,
        path: PathBuf,
        kind: &'static BlocksKind,
    ) -> Result<Self> {
        file.write(&kind.magic)?;
        let packer = zstd::bulk::Compressor::new(LEVEL).map_err(Error::io(&path))?;
        let place = kind.magic.len() as u64;
        let (table, blocks, block, first) = Default::default();
        Ok(Self { kind, path, file, table, blocks, place, block, first, packer })
    }

    /// The number of blocks that are full so far.
    pub(super) fn blocks(&self) -> usize {
        self.blocks
    }

    /// Adds the next record, in FIGI order.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(super) fn add(&mut self, figi: Figi, encode: impl FnOnce(&mut Vec<u8>)) -> Result<()> {
        self.first.get_or_insert(figi);
        encode(&mut self.block);
        if self.block.len() >= self.kind.block_bytes { self.pack() } else { Ok(()) }
    }

    /// Ends the last block.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(super) fn pack(&mut self) -> Result<()> {
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

    /// Removes what was written, and begins the file again.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(super) fn restart(self) -> Result<Self> {
        let Self { path, file, kind, .. } = self;
        file.abandon();
        std::fs::remove_file(&path).map_err(Error::io(&path))?;
        Self::create(path, kind)
    }

    /// Completes the file.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub(super) fn finish(mut self, summary: &impl Serialize) -> Result<()> {
        self.pack()?;
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

/// A complete file, open for reading.
pub(super) struct Blocks {
    path: PathBuf,
    file: File,
    blocks: Vec<BlockEntry>,
}

/// A block of a file.
#[derive(Clone, Copy, Debug)]
struct BlockEntry {
    first: Figi,
    place: u64,
    packed_bytes: usize,
    plain_bytes: usize,
    checksum: u64,
}

impl Blocks {
    /// Opens a file, and checks all but its blocks, each of which is checked when it is read.
    /// Returns its summary too.
    ///
    /// # Errors
    /// [`Error::Io`] and [`Error::Damaged`].
    pub(super) fn open<T: DeserializeOwned>(path: &Path, kind: &BlocksKind) -> Result<(Self, T)> {
        let damaged = |what: &str| Error::damaged(path, what);
        let file = File::open(path).map_err(Error::io(path))?;
        let bytes = file.metadata().map_err(Error::io(path))?.len();
        let read = |place: u64, count: usize| {
            let mut bytes = vec![0; count];
            file.read_exact_at(&mut bytes, place).map_err(Error::io(path))?;
            Ok::<_, Error>(bytes)
        };
        let magic_bytes = kind.magic.len();
        if bytes < (magic_bytes + END_BYTES) as u64 || read(0, magic_bytes)? != kind.magic {
            return Err(Error::damaged(path, format!("it is not {} of this layout", kind.name)));
        }
        let end_at = bytes - END_BYTES as u64;
        let end = read(end_at, END_BYTES)?;
        let (count, summary_bytes) = (u32_at(&end, 0) as usize, u32_at(&end, 4) as usize);
        if count > BLOCKS_MAX || summary_bytes > kind.summary_bytes_max {
            return Err(damaged("its end has impossible numbers"));
        }
        let rest_bytes = count * ENTRY_BYTES + summary_bytes;
        let blocks_end = end_at.checked_sub(rest_bytes as u64);
        let Some(blocks_end) = blocks_end.filter(|end| *end >= magic_bytes as u64) else {
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
        let summary = serde_json::from_slice(summary)
            .map_err(|error| Error::damaged(path, error.to_string()))?;
        let blocks = BlockEntry::table(table, magic_bytes as u64, blocks_end)
            .ok_or_else(|| damaged("a block is wrong"))?;
        Ok((Self { path: path.to_owned(), file, blocks }, summary))
    }

    /// The path of the file.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The number of blocks. Their table is in memory.
    pub(super) fn len(&self) -> usize {
        self.blocks.len()
    }

    /// The block in which a FIGI is, if it is in the file; the first block for smaller ones.
    pub(super) fn block_of(&self, figi: Figi) -> usize {
        // The last block that begins at or before it.
        self.blocks.partition_point(|block| block.first <= figi).saturating_sub(1)
    }

    /// The plain bytes of a block; `None` after the last one.
    pub(super) fn plain_bytes(&self, block: usize) -> Option<usize> {
        self.blocks.get(block).map(|block| block.plain_bytes)
    }

    /// Reads and unpacks a block.
    ///
    /// # Errors
    /// [`Error::Io`] and [`Error::Damaged`].
    ///
    /// # Panics
    /// When there is no such block.
    pub(super) fn unpacked(&self, block: usize) -> Result<Vec<u8>> {
        let block = &self.blocks[block];
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

impl BlockEntry {
    /// The blocks of a table, which must lie one after the other from `place` to `end`, in FIGI
    /// order; `None` otherwise.
    fn table(table: &[u8], mut place: u64, end: u64) -> Option<Vec<Self>> {
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
