//! The fields of an instrument that cannot be rebuilt from its row: identifiers as texts, aliases,
//! numbers, dates and the remaining properties. They serve to export, verify or count the
//! instruments of an index, and to show one in full. They are never used to find anything.
//!
//! The identifiers have separate files (`identifiers`). The other fields are in two files, with
//! little-endian numbers. `extras.blocks` has zstd frames of [`BLOCK`] instruments each; an instrument
//! is its length as `u32`, then its encoding without identifiers and without the fields of its row.
//! `extras.starts` has the start of each block and the end of the last one, as `u64`. Its length says
//! how many instruments a block has: indexes that were built earlier have [`BLOCK_BEFORE`]. In an
//! index of an earlier format, the blocks have the identifiers too.

mod identifiers;
mod row_texts;

use std::cell::RefCell;
use std::ops::Range;
use std::path::Path;

pub(crate) use self::identifiers::IdentifierTexts;
use self::identifiers::{IdentifierSets, IdentifierSetsWriter};
use super::file_writer::{FileWriter, write_file};
use super::rows::{Row, Text};
use crate::error::{Error, Result};
use crate::instrument::Instrument;
use crate::instrument::id_type::{IdType, IdValue};
use crate::instrument::vocabulary::Property;
use crate::mapped::{Mapped, u32_at, u64_at};

const BLOCKS: &str = "extras.blocks";
const STARTS: &str = "extras.starts";

/// The number of instruments in a block. Neighbours are alike, so a block compresses well. With
/// 1,024 instruments a block takes 14 times as long to unpack.
const BLOCK: usize = 64;

/// The number of instruments in a block of an index that was built before blocks were smaller.
const BLOCK_BEFORE: usize = 1024;

/// The units of work of unpacking one instrument of a block.
const INSTRUMENT_UNITS: u64 = 14;

/// The units of work of reading the identifiers of an instrument from separate files.
const IDENTIFIERS_UNITS: u64 = 60;

/// The most bytes of a block that is unpacked: a damaged frame may claim any length.
const PLAIN_BYTES_MAX: usize = 1 << 30;

/// The compression level of zstd. Higher levels save a few per cent and slow the build down.
const LEVEL: i32 = 1;

/// Writes the extras of one part, in FIGI order.
pub(crate) struct ExtrasWriter {
    blocks: FileWriter,
    starts: Vec<u64>,
    identifiers: IdentifierSetsWriter,
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
            identifiers: IdentifierSetsWriter::create(part)?,
            block: Vec::new(),
            count: 0,
            packer: zstd::bulk::Compressor::new(LEVEL).map_err(Error::io(&path))?,
        })
    }

    pub(crate) fn add(&mut self, instrument: &Instrument, part: &Path) -> Result<()> {
        let start = self.block.len();
        self.block.extend_from_slice(&[0; 4]);
        instrument.encode_without_identifiers(&mut self.block);
        self.identifiers.add(instrument)?;
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
        self.identifiers.finish()?;
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
    /// `None` when the blocks have the identifiers.
    identifiers: Option<IdentifierSets>,
}

impl Extras {
    /// Opens the extras of a part with this many rows. `has_sets` says whether the identifiers have
    /// separate files, which follows from the format of the index.
    pub(crate) fn open(part: &Path, rows: usize, has_sets: bool) -> Result<Self> {
        let (blocks, starts) =
            (Mapped::open(&part.join(BLOCKS))?, Mapped::open(&part.join(STARTS))?);
        let is_of = |block: &usize| {
            let count = rows.div_ceil(*block);
            starts.len() == (count + 1) * 8 && u64_at(&starts, count * 8) == blocks.len() as u64
        };
        let Some(block) = [BLOCK, BLOCK_BEFORE].into_iter().find(is_of) else {
            return Err(Error::damaged(part, "extras.starts does not fit extras.blocks"));
        };
        let identifiers = has_sets.then(|| IdentifierSets::open(part, rows)).transpose()?;
        Ok(Self { blocks, starts, block, identifiers })
    }

    /// Calls `each` with every instrument in FIGI order, with only its extras filled in, and without
    /// the identifiers that [`Self::add_identifiers`] adds.
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

    /// The instrument of a DocId with this row, with only its extras filled in. Unpacks a whole
    /// block, which takes some microseconds.
    ///
    /// # Errors
    /// [`Error::Damaged`] when the extras cannot be decoded, or are those of another instrument.
    pub(crate) fn get(&self, part: &Path, doc: u32, row: Row<'_>) -> Result<Instrument> {
        let block = self.block(part, doc as usize / self.block)?;
        let mut rest = &block[..];
        for _ in 0..doc as usize % self.block {
            take_encoded(part, &mut rest)?;
        }
        let instrument = Instrument::decode(take_encoded(part, &mut rest)?);
        let mut instrument = instrument.ok_or_else(|| damaged(part))?;
        if instrument.figi != row.figi() {
            let what = format!("extras: {} is not the instrument of its row", instrument.figi);
            return Err(Error::damaged(part, what));
        }
        self.add_identifiers(part, doc, row, |_| true, &mut instrument)?;
        Ok(instrument)
    }

    /// Adds the identifiers of the wanted idTypes of a DocId with this row to an instrument from a
    /// block, unless the block had all of them.
    ///
    /// # Errors
    /// [`Error::Damaged`] when they cannot be decoded.
    pub(crate) fn add_identifiers(
        &self,
        part: &Path,
        doc: u32,
        row: Row<'_>,
        wants: impl Fn(IdType) -> bool,
        instrument: &mut Instrument,
    ) -> Result<()> {
        if let Some(identifiers) = &self.identifiers {
            let mut found = IdentifierTexts::default();
            let read = identifiers.read(doc, &|field| row.value(field), wants, &mut found);
            read.ok_or_else(|| damaged_identifiers(part))?;
            let found = found.iter();
            let found =
                found.map(|(id_type, text)| IdValue::from_index(id_type, text).into_owned());
            instrument.identifiers.extend(found);
        }
        Ok(())
    }

    /// Reads the identifiers of the wanted idTypes of a DocId with this row into `found`.
    ///
    /// # Errors
    /// [`Error::Damaged`] when they cannot be decoded.
    pub(crate) fn identifiers(
        &self,
        part: &Path,
        doc: u32,
        row: Row<'_>,
        wants: impl Fn(IdType) -> bool,
        found: &mut IdentifierTexts,
    ) -> Result<()> {
        if let Some(identifiers) = &self.identifiers {
            let read = identifiers.read(doc, &|field| row.value(field), wants, found);
            return read.ok_or_else(|| damaged_identifiers(part));
        }
        let instrument = self.get(part, doc, row)?;
        found.set(instrument.identifiers.iter().filter(|one| wants(one.id_type())));
        Ok(())
    }

    /// The units of work of [`Self::get`].
    pub(crate) fn units(&self) -> u64 {
        self.block as u64 * INSTRUMENT_UNITS + IDENTIFIERS_UNITS
    }

    /// The units of work of [`Self::identifiers`].
    pub(crate) fn identifier_units(&self) -> u64 {
        if self.identifiers.is_some() { IDENTIFIERS_UNITS } else { self.units() }
    }

    /// Whether the identifiers of two DocIds with equal rows are stored alike. Those that are not may
    /// still have the same values.
    pub(crate) fn has_identifiers_of(&self, doc: u32, other: &Self, other_doc: u32) -> bool {
        match (&self.identifiers, &other.identifiers) {
            // The blocks have them, and are compared.
            (None, None) => true,
            (Some(own), Some(others)) => {
                own.stored(doc).is_some_and(|set| Some(set) == others.stored(other_doc))
            }
            _ => false,
        }
    }

    /// Tells the system that all blocks are about to be read in their order.
    pub(crate) fn read_in_order(&self) {
        self.blocks.read_in_order();
        if let Some(identifiers) = &self.identifiers {
            identifiers.read_in_order();
        }
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
    /// The instrument as it is encoded in the block.
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

fn damaged_identifiers(part: &Path) -> Error {
    Error::damaged(part, "extras.sets: the identifiers of an instrument cannot be decoded")
}

fn damaged(part: &Path) -> Error {
    Error::damaged(part, "extras.blocks: a block cannot be decoded")
}

impl Instrument {
    /// Fills in the fields from the instrument's row.
    pub(crate) fn complete(&mut self, row: &Row<'_>) {
        let owned = |text: Option<Text<'_>>| text.map(Text::to_text);
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
pub(crate) mod tests {
    use super::super::rows::{Rows, RowsWriter};
    use super::*;
    use crate::instrument::figi::Figi;

    const COUNT: u32 = 2_100;

    /// Writes the extras of a part as an index of the format before has them: with the identifiers in
    /// blocks of this size.
    pub(crate) fn write_with_identifiers_in_blocks(
        part: &Path,
        instruments: &[Instrument],
        block: usize,
    ) {
        let mut packer = zstd::bulk::Compressor::new(LEVEL).unwrap();
        let (mut blocks, mut starts) = (Vec::new(), vec![0]);
        for block in instruments.chunks(block) {
            let mut plain = Vec::new();
            for instrument in block {
                let mut encoded = Vec::new();
                instrument.encode_extras(&mut encoded);
                plain.extend_from_slice(&(encoded.len() as u32).to_le_bytes());
                plain.extend_from_slice(&encoded);
            }
            blocks.extend_from_slice(&packer.compress(&plain).unwrap());
            starts.push(blocks.len() as u64);
        }
        let starts: Vec<u8> = starts.into_iter().flat_map(u64::to_le_bytes).collect();
        write_file(&part.join(BLOCKS), &blocks).unwrap();
        write_file(&part.join(STARTS), &starts).unwrap();
    }

    fn instrument(number: u32) -> Instrument {
        let figi = Figi::from_u64(u64::from(number));
        let identifiers = ["X", "SHARED", "10/1"].into_iter().take(number as usize % 4);
        let identifiers = identifiers.map(|text| IdType::Bb.admit(text).unwrap());
        Instrument {
            alias: vec![format!("alias {number}")],
            identifiers: identifiers.collect(),
            ..Instrument::new(figi)
        }
    }

    fn all(extras: &Extras, part: &Path, rows: &Rows) -> Vec<Instrument> {
        let mut all = Vec::new();
        let mut at = ExtrasBlock::default();
        let each = |mut read: Instrument| {
            let doc = all.len() as u32;
            extras.step(&mut at, doc).unwrap();
            assert_eq!(Instrument::decode(at.encoded()).unwrap(), read);
            extras.add_identifiers(part, doc, rows.get(doc), |_| true, &mut read)?;
            all.push(read);
            Ok::<_, Error>(())
        };
        extras.for_each(part, each).unwrap();
        all
    }

    /// Blocks of both sizes, at and around their ends, with identifiers and without.
    #[test]
    fn what_was_written_is_read() {
        for (full, has_sets) in [(BLOCK, true), (BLOCK, false), (BLOCK_BEFORE, false)] {
            let folder = tempfile::tempdir().unwrap();
            let part = folder.path();
            let written: Vec<_> = (0..COUNT).map(instrument).collect();
            let mut rows = RowsWriter::create(part).unwrap();
            written.iter().for_each(|one| rows.add(one).unwrap());
            rows.finish(part).unwrap();
            let rows = Rows::open(part).unwrap();
            if has_sets {
                let mut writer = ExtrasWriter::create(part).unwrap();
                written.iter().for_each(|one| writer.add(one, part).unwrap());
                writer.finish(part).unwrap();
            } else {
                write_with_identifiers_in_blocks(part, &written, full);
            }
            let extras = Extras::open(part, COUNT as usize, has_sets).unwrap();
            assert_eq!(extras.block, full);
            assert_eq!(all(&extras, part, &rows), written);
            let full = full as u32;
            let mut found = IdentifierTexts::default();
            for doc in [0, 1, full - 1, full, full + 1, 2 * full - 1, 2 * full, COUNT - 1] {
                let expected = &written[doc as usize];
                assert_eq!(extras.get(part, doc, rows.get(doc)).unwrap(), *expected);
                extras.identifiers(part, doc, rows.get(doc), |_| true, &mut found).unwrap();
                let found = found.iter().map(|(id_type, text)| id_type.admit(text).unwrap());
                assert!(found.eq(expected.identifiers.iter().map(|one| one.borrowed())));
            }
            let other = extras.get(part, 1, rows.get(2)).unwrap_err().to_string();
            assert!(other.contains("is not the instrument of its row"), "{other}");
            for rows in [COUNT - 1_024, COUNT + 1_024] {
                assert!(Extras::open(part, rows as usize, has_sets).is_err(), "{full} {rows}");
            }
        }
    }
}
