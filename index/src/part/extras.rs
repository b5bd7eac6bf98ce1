//! The fields of an instrument that cannot be rebuilt from its row: identifiers as texts, aliases,
//! numbers, dates and the remaining properties. They serve to export, verify or count the
//! instruments of an index, and to show one in full. They are never used to find anything.
//!
//! Two files, with little-endian numbers. `extras.blocks` has zstd frames of [`BLOCK`] instruments
//! each; an instrument is its length as `u32`, then its encoding without the fields of its row.
//! `extras.starts` has the start of each block and the end of the last one, as `u64`. Its length says
//! how many instruments a block has: indexes that were built earlier have [`BLOCK_BEFORE`].

use std::cell::RefCell;
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

/// The number of instruments in a block. Neighbours are alike, so a block compresses well. A list
/// with identifiers unpacks a block for nearly every row: with 1,024 instruments a block takes 14
/// times as long, and an instrument 4 bytes less (`docs/engine.md`, decision 4).
const BLOCK: usize = 64;

/// The number of instruments in a block of an index that was built before blocks were smaller.
const BLOCK_BEFORE: usize = 1024;

/// The units of work of unpacking one instrument of a block.
const INSTRUMENT_UNITS: u64 = 14;

/// The most bytes of a block that is unpacked: a damaged frame may claim any length.
const PLAIN_BYTES_MAX: usize = 1 << 30;

/// The compression level of zstd. Higher levels save a few per cent and slow the build down.
const LEVEL: i32 = 1;

/// Writes the extras of one part, in FIGI order.
pub(crate) struct ExtrasWriter {
    blocks: FileWriter,
    starts: Vec<u64>,
    /// The current block, and the number of instruments in it.
    block: Vec<u8>,
    count: usize,
    /// The number of instruments in a full block.
    full: usize,
    packer: zstd::bulk::Compressor<'static>,
}

impl ExtrasWriter {
    pub(crate) fn create(part: &Path) -> Result<Self> {
        Self::with_blocks(part, BLOCK)
    }

    fn with_blocks(part: &Path, full: usize) -> Result<Self> {
        let path = part.join(BLOCKS);
        Ok(Self {
            blocks: FileWriter::create(path.clone())?,
            starts: vec![0],
            block: Vec::new(),
            count: 0,
            full,
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
        if self.count == self.full { self.pack(part) } else { Ok(()) }
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
    /// The number of instruments in a block.
    block: usize,
}

impl Extras {
    pub(crate) fn open(part: &Path, rows: usize) -> Result<Self> {
        let (blocks, starts) =
            (Mapped::open(&part.join(BLOCKS))?, Mapped::open(&part.join(STARTS))?);
        let is_of = |block: &usize| {
            let count = rows.div_ceil(*block);
            starts.len() == (count + 1) * 8 && u64_at(&starts, count * 8) == blocks.len() as u64
        };
        match [BLOCK, BLOCK_BEFORE].into_iter().find(is_of) {
            Some(block) => Ok(Self { blocks, starts, block }),
            None => Err(Error::damaged(part, "extras.starts does not fit extras.blocks")),
        }
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
    /// takes some microseconds.
    ///
    /// # Errors
    /// [`Error::Damaged`] when the block cannot be decoded.
    pub(crate) fn get(&self, part: &Path, doc: u32) -> Result<Instrument> {
        let block = self.block(part, doc as usize / self.block)?;
        let mut rest = &block[..];
        for _ in 0..doc as usize % self.block {
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
        for of_block in self.by_block(docs) {
            let first = of_block[0] as usize / self.block;
            let block = self.block(part, first)?;
            let (mut rest, mut next) = (&block[..], first * self.block);
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

    /// The units of work of unpacking a block.
    pub(crate) fn units(&self) -> u64 {
        self.block as u64 * INSTRUMENT_UNITS
    }

    /// Some DocIds, in ascending order, by the blocks that hold them.
    pub(crate) fn by_block<'d>(&self, docs: &'d [u32]) -> impl Iterator<Item = &'d [u32]> {
        docs.chunk_by(|a, b| *a as usize / self.block == *b as usize / self.block)
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
        if (doc as usize).is_multiple_of(self.block) {
            let number = doc as usize / self.block;
            let packed = self.blocks.get(self.place(number)..self.place(number + 1));
            at.plain = packed.and_then(unpacked).ok_or(FAULT)?;
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
        packed.and_then(unpacked).ok_or_else(|| damaged(part))
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

/// The instruments of a packed block. `None` when it cannot be unpacked.
fn unpacked(packed: &[u8]) -> Option<Vec<u8>> {
    thread_local! {
        // Its tables take about 100 KB, which a small block would take longer to get than to unpack.
        static UNPACKER: RefCell<Option<zstd::bulk::Decompressor<'static>>> = const { RefCell::new(None) };
    }
    UNPACKER.with_borrow_mut(|unpacker| {
        let unpacker = match unpacker {
            Some(unpacker) => unpacker,
            None => unpacker.insert(zstd::bulk::Decompressor::new().ok()?),
        };
        unpacker.decompress(packed, PLAIN_BYTES_MAX).ok()
    })
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instrument::figi::Figi;

    const COUNT: u64 = 2_100;

    fn instrument(number: u64) -> Instrument {
        let figi = Figi::from_u64(number);
        Instrument { alias: vec![format!("alias {number}")], ..Instrument::new(figi) }
    }

    /// Blocks of both sizes, at and around their ends.
    #[test]
    fn an_index_with_larger_blocks_is_read() {
        for full in [BLOCK, BLOCK_BEFORE] {
            let part = tempfile::tempdir().unwrap();
            let mut writer = ExtrasWriter::with_blocks(part.path(), full).unwrap();
            for number in 0..COUNT {
                writer.add(&instrument(number), part.path()).unwrap();
            }
            writer.finish(part.path()).unwrap();
            let extras = Extras::open(part.path(), COUNT as usize).unwrap();
            assert_eq!(extras.block, full);
            let full = full as u32;
            let docs = [0, 1, full - 1, full, full + 1, 2 * full - 1, 2 * full, COUNT as u32 - 1];
            let mut read = Vec::new();
            let each = |doc, instrument| {
                read.push((doc, instrument));
                Ok(())
            };
            extras.get_many(part.path(), &docs, each).unwrap();
            let expected: Vec<_> = docs.map(|doc| (doc, instrument(u64::from(doc)))).into();
            assert_eq!(read, expected);
            for (doc, expected) in expected {
                assert_eq!(extras.get(part.path(), doc).unwrap(), expected);
            }
            let (mut number, mut at) = (0, ExtrasBlock::default());
            let each = |read| {
                assert_eq!(read, instrument(number));
                extras.step(&mut at, number as u32).unwrap();
                assert_eq!(Instrument::decode(at.encoded()).unwrap(), read);
                number += 1;
                Ok::<_, Error>(())
            };
            extras.for_each(part.path(), each).unwrap();
            assert_eq!(number, COUNT);
            for rows in [COUNT - 1_024, COUNT + 1_024] {
                assert!(Extras::open(part.path(), rows as usize).is_err(), "{full} {rows}");
            }
        }
    }
}
