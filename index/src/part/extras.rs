//! The fields of an instrument that cannot be rebuilt from its row: identifiers as texts, aliases,
//! numbers, dates and the remaining properties. They serve to export, verify or count the
//! instruments of an index, and to show one in full. They are never used to find anything.
//!
//! Two files, with little-endian numbers. `extras.blocks` has zstd frames of [`BLOCK`] instruments
//! each; an instrument is its length as `u32`, then its encoding without the fields of its row.
//! `extras.starts` has the start of each block and the end of the last one, as `u64`.

use std::ops::Range;
use std::path::Path;

use super::file_writer::{FileWriter, write_file};
use super::rows::{Row, Text};
use crate::error::{Error, Result};
use crate::instrument::Instrument;
use crate::instrument::vocabulary::Property;
use crate::mapped::{Mapped, u32_at, u64_at};

const BLOCKS: &str = "extras.blocks";
const STARTS: &str = "extras.starts";

/// The number of instruments in a block. Neighbours are alike, so a block compresses well.
const BLOCK: usize = 1024;

/// The compression level of zstd. Higher levels save a few per cent and slow the build down.
const LEVEL: i32 = 1;

/// Writes the extras of one part, in FIGI order.
pub(crate) struct ExtrasWriter {
    blocks: FileWriter,
    starts: Vec<u64>,
    /// The current block, and the number of instruments in it.
    block: Vec<u8>,
    count: usize,
    packer: zstd::bulk::Compressor<'static>,
}

impl ExtrasWriter {
    pub(crate) fn create(part: &Path) -> Result<Self> {
        let path = part.join(BLOCKS);
        Ok(Self {
            blocks: FileWriter::create(path.clone())?,
            starts: vec![0],
            block: Vec::new(),
            count: 0,
            packer: zstd::bulk::Compressor::new(LEVEL).map_err(Error::io(&path))?,
        })
    }

    pub(crate) fn add(&mut self, instrument: &Instrument, part: &Path) -> Result<()> {
        let start = self.block.len();
        self.block.extend_from_slice(&[0; 4]);
        instrument.encode_extras(&mut self.block);
        let length = u32::try_from(self.block.len() - start - 4)
            .map_err(|_| Error::PartTooLarge("bytes in one instrument"))?;
        self.block[start..][..4].copy_from_slice(&length.to_le_bytes());
        self.count += 1;
        if self.count == BLOCK { self.pack(part) } else { Ok(()) }
    }

    pub(crate) fn finish(mut self, part: &Path) -> Result<()> {
        if self.count > 0 {
            self.pack(part)?;
        }
        self.blocks.finish()?;
        let starts: Vec<u8> = self.starts.iter().flat_map(|start| start.to_le_bytes()).collect();
        write_file(&part.join(STARTS), &starts)
    }

    fn pack(&mut self, part: &Path) -> Result<()> {
        let packed = self.packer.compress(&self.block).map_err(Error::io(part))?;
        self.blocks.write(&packed)?;
        let start = self.starts[self.starts.len() - 1];
        self.starts.push(start + packed.len() as u64);
        self.block.clear();
        self.count = 0;
        Ok(())
    }
}

/// The extras of one part.
pub(crate) struct Extras {
    blocks: Mapped,
    starts: Mapped,
}

impl Extras {
    pub(crate) fn open(part: &Path, rows: usize) -> Result<Self> {
        let extras = Self {
            blocks: Mapped::open(&part.join(BLOCKS))?,
            starts: Mapped::open(&part.join(STARTS))?,
        };
        let blocks = rows.div_ceil(BLOCK);
        let whole = extras.starts.len() == (blocks + 1) * 8
            && u64_at(&extras.starts, blocks * 8) == extras.blocks.len() as u64;
        if !whole {
            return Err(Error::damaged(part, "extras.starts does not fit extras.blocks"));
        }
        Ok(extras)
    }

    /// Calls `each` with every instrument in FIGI order, with only its extras filled in.
    ///
    /// # Errors
    /// The first error of `each`, and [`Error::Damaged`] when a block cannot be decoded.
    pub(crate) fn for_each<E: From<Error>>(
        &self,
        part: &Path,
        mut each: impl FnMut(Instrument) -> Result<(), E>,
    ) -> Result<(), E> {
        self.read_in_order();
        for number in 0..self.starts.len() / 8 - 1 {
            let block = self.block(part, number)?;
            let mut rest = &block[..];
            while !rest.is_empty() {
                let instrument = Instrument::decode(take_encoded(part, &mut rest)?);
                each(instrument.ok_or_else(|| damaged(part))?)?;
            }
        }
        Ok(())
    }

    /// The instrument of a DocId, with only its extras filled in. Unpacks a whole block, which
    /// takes a few tenths of a millisecond.
    ///
    /// # Errors
    /// [`Error::Damaged`] when the block cannot be decoded.
    pub(crate) fn get(&self, part: &Path, doc: u32) -> Result<Instrument> {
        let block = self.block(part, doc as usize / BLOCK)?;
        let mut rest = &block[..];
        for _ in 0..doc as usize % BLOCK {
            take_encoded(part, &mut rest)?;
        }
        Instrument::decode(take_encoded(part, &mut rest)?).ok_or_else(|| damaged(part))
    }

    /// Passes the instruments of some DocIds, in ascending order, to `each`, with only their extras
    /// filled in. A block is unpacked once.
    ///
    /// # Errors
    /// As [`Self::get`], and those of `each`.
    pub(crate) fn get_many(
        &self,
        part: &Path,
        docs: &[u32],
        mut each: impl FnMut(u32, Instrument) -> Result<()>,
    ) -> Result<()> {
        for of_block in Self::by_block(docs) {
            let first = of_block[0] as usize / BLOCK;
            let block = self.block(part, first)?;
            let (mut rest, mut next) = (&block[..], first * BLOCK);
            for doc in of_block {
                for _ in next..*doc as usize {
                    take_encoded(part, &mut rest)?;
                }
                next = *doc as usize + 1;
                let instrument = Instrument::decode(take_encoded(part, &mut rest)?);
                each(*doc, instrument.ok_or_else(|| damaged(part))?)?;
            }
        }
        Ok(())
    }

    /// Some DocIds, in ascending order, by the blocks that hold them.
    pub(crate) fn by_block(docs: &[u32]) -> impl Iterator<Item = &[u32]> {
        docs.chunk_by(|a, b| *a as usize / BLOCK == *b as usize / BLOCK)
    }

    /// Tells the system that all blocks are about to be read in their order.
    pub(crate) fn read_in_order(&self) {
        self.blocks.read_in_order();
    }

    /// Moves to the instrument of a DocId, in ascending order, as it is encoded. A block is unpacked
    /// once.
    ///
    /// # Errors
    /// The fault, when the block cannot be unpacked.
    pub(crate) fn step(&self, at: &mut ExtrasBlock, doc: u32) -> Result<(), &'static str> {
        const FAULT: &str = "extras.blocks: a block cannot be decoded";
        if (doc as usize).is_multiple_of(BLOCK) {
            let number = doc as usize / BLOCK;
            let packed = self.blocks.get(self.place(number)..self.place(number + 1));
            at.plain = zstd::decode_all(packed.ok_or(FAULT)?).map_err(|_| FAULT)?;
            at.current = 0..0;
        }
        let start = at.current.end + 4;
        let length = at.plain.get(at.current.end..start).ok_or(FAULT)?;
        let end = start + u32_at(length, 0) as usize;
        if end > at.plain.len() {
            return Err(FAULT);
        }
        at.current = start..end;
        Ok(())
    }

    fn place(&self, number: usize) -> usize {
        u64_at(&self.starts, number * 8) as usize
    }

    fn block(&self, part: &Path, number: usize) -> Result<Vec<u8>> {
        let packed = self.blocks.get(self.place(number)..self.place(number + 1));
        let packed = packed.ok_or_else(|| damaged(part))?;
        zstd::decode_all(packed).map_err(|_| damaged(part))
    }
}

/// A block, at one of its instruments.
#[derive(Default)]
pub(crate) struct ExtrasBlock {
    plain: Vec<u8>,
    current: Range<usize>,
}

impl ExtrasBlock {
    /// The instrument as it is encoded, without the fields of its row.
    pub(crate) fn encoded(&self) -> &[u8] {
        &self.plain[self.current.clone()]
    }
}

/// Takes the bytes of the next encoded instrument off the front of a block.
fn take_encoded<'a>(part: &Path, block: &mut &'a [u8]) -> Result<&'a [u8]> {
    let (length, after) = block.split_at_checked(4).ok_or_else(|| damaged(part))?;
    let length = u32_at(length, 0) as usize;
    let (bytes, after) = after.split_at_checked(length).ok_or_else(|| damaged(part))?;
    *block = after;
    Ok(bytes)
}

fn damaged(part: &Path) -> Error {
    Error::damaged(part, "extras.blocks: a block cannot be decoded")
}

impl Instrument {
    /// Fills in the fields from the instrument's row.
    pub(crate) fn complete(&mut self, row: &Row<'_>) {
        let owned = |text: Option<Text<'_>>| text.map(|text| text.to_string());
        self.composite_figi = row.composite_figi();
        self.share_class_figi = row.share_class_figi();
        self.ticker = owned(row.ticker());
        self.name = owned(row.name());
        self.security_description = owned(row.security_description());
        self.metadata = owned(row.metadata());
        self.unique_id = owned(row.unique_id());
        self.unique_id_fut_opt = owned(row.unique_id_fut_opt());
        for (property, text) in [
            (Property::ExchCode, row.exch_code()),
            (Property::SecurityType, row.security_type()),
            (Property::MarketSecDes, row.market_sector()),
            (Property::SecurityType2, row.security_type2()),
        ] {
            self.properties[property as usize] = owned(text);
        }
    }
}
