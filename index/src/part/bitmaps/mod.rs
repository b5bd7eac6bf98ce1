//! Compressed bitmaps of the rows that have a value of an enum-like property. They count and verify
//! rows, and find a page of rows when neither words nor identifiers narrow the question (engine 2,
//! 3).
//!
//! The layout is that of Roaring bitmaps (Chambi, Lemire, Kaser, Godin: "Better bitmap performance
//! with Roaring bitmaps", 2016): DocIds are divided into **chunks** of 65,536, and each chunk with
//! rows has a **container**: a bit for each DocId or, where that is smaller, the sorted low halves
//! of the DocIds. The container of a full chunk takes no bytes. This is our own code for two
//! reasons. The pure Rust crates copy a bitmap to read it, but a generation is mapped. CRoaring
//! reads mapped ("frozen") bitmaps in place, but it is C and trusts the bytes; here every access is
//! checked, and `verify` names the fault.
//!
//! Three files:
//! - `bitmaps.keys`: for each bitmap the code of its property, its value, and its numbers of
//!   containers and of rows;
//! - `bitmaps.containers`: an entry of [`ENTRY_BYTES`] for each container, bitmap by bitmap,
//!   ascending by chunk;
//! - `bitmaps.rows`: the bytes of the containers.

mod writer;

use std::fs;
use std::path::Path;

pub(crate) use self::writer::BitmapsWriter;
use crate::error::{Error, Result};
use crate::instrument::encoding::{take_number, take_text};
use crate::instrument::level::Level;
use crate::instrument::vocabulary::{Known, Property, Vocabulary};
use crate::mapped::{Mapped, first_index, u32_at, u64_at};

const KEYS: &str = "bitmaps.keys";
const CONTAINERS: &str = "bitmaps.containers";
const ROWS: &str = "bitmaps.rows";

/// The number of DocIds in a chunk.
pub(crate) const CHUNK_DOCS: u32 = 1 << 16;

/// The most DocIds of a container of low halves. Beyond it, a bit for each DocId is smaller.
const LOW_HALVES_MAX: usize = 4096;

/// The bytes of a container with a bit for each DocId.
const BITS_BYTES: usize = CHUNK_DOCS as usize / 8;

/// The bytes of a container's entry: its chunk and its number of DocIds as `u32`, and the start
/// of its bytes as `u64`, little-endian.
const ENTRY_BYTES: usize = 16;

/// The code of the bitmap of unlisted equities, and the first code of the levels. The other bitmaps
/// have the code of their property.
const UNLISTED_EQUITIES: usize = Property::COUNT;
const LEVELS: usize = UNLISTED_EQUITIES + 1;

/// The bitmaps of one part.
pub(crate) struct Bitmaps {
    /// The bitmap of each value of the vocabulary, by its ordinal; `None` when no row has it.
    values: [Vec<Option<Extent>>; Property::COUNT],
    unlisted_equities: Option<Extent>,
    levels: [Option<Extent>; Level::COUNT],
    containers: Mapped,
    rows: Mapped,
}

/// The containers of a bitmap, and its number of rows.
#[derive(Clone, Copy, Debug, Default)]
struct Extent {
    first: usize,
    containers: usize,
    rows: u32,
}

/// The rows that have a value.
#[derive(Clone, Copy)]
pub(crate) struct Bitmap<'a> {
    rows: u32,
    entries: &'a [u8],
    bytes: &'a [u8],
}

/// The rows of one chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Container<'a> {
    None,
    All,
    /// The low 16 bits of the DocIds, little-endian, ascending.
    LowHalves(&'a [[u8; 2]]),
    /// A bit for each DocId, in little-endian words of 64.
    Bits(&'a [[u8; 8]]),
}

impl Bitmaps {
    pub(crate) fn open(part: &Path, vocabulary: &Vocabulary) -> Result<Self> {
        let damaged = |what: &str| Error::damaged(part, format!("bitmaps: {what}"));
        let containers = Mapped::open(&part.join(CONTAINERS))?;
        let rows = Mapped::open(&part.join(ROWS))?;
        let path = part.join(KEYS);
        let keys = fs::read(&path).map_err(Error::io(&path))?;
        let mut values = Property::ALL.map(|known| vec![None; vocabulary.values(known).len()]);
        let (mut unlisted_equities, mut levels) = (None, [None; Level::COUNT]);
        let mut first = 0;
        let mut keys = &keys[..];
        while !keys.is_empty() {
            let mut key = || {
                let (code, value) = (take_number(&mut keys)?, take_text(&mut keys)?);
                Some((code, value, take_number(&mut keys)?, take_number(&mut keys)?))
            };
            let (code, value, containers, rows) = key().ok_or_else(|| damaged("a key is cut"))?;
            let rows = u32::try_from(rows)
                .map_err(|_| damaged("a value has more rows than a part can have"))?;
            let extent = Extent { first, containers, rows };
            first += containers;
            if code == UNLISTED_EQUITIES {
                unlisted_equities = Some(extent);
                continue;
            }
            if let Some(level) = code.checked_sub(LEVELS) {
                *levels.get_mut(level).ok_or_else(|| damaged("a key has an unknown level"))? =
                    Some(extent);
                continue;
            }
            let property =
                Property::ALL.get(code).ok_or_else(|| damaged("a key has an unknown property"))?;
            let known = vocabulary
                .admit(*property, value)
                .ok_or_else(|| damaged("the vocabulary lacks a value"))?;
            values[code][known.ordinal()] = Some(extent);
        }
        if containers.len() != first * ENTRY_BYTES {
            return Err(damaged("keys and file have different numbers of containers"));
        }
        Ok(Self { values, unlisted_equities, levels, containers, rows })
    }

    /// The rows that have the value; `None` when no row has it.
    pub(crate) fn of(&self, known: Known) -> Option<Bitmap<'_>> {
        let extent = self.values[known.property() as usize].get(known.ordinal())?;
        extent.map(|extent| self.bitmap(extent))
    }

    /// The unlisted equities (contract 6.9); `None` when there are none.
    pub(crate) fn unlisted_equities(&self) -> Option<Bitmap<'_>> {
        self.unlisted_equities.map(|extent| self.bitmap(extent))
    }

    /// The bitmap of each value of a property, for values that rows have, with the place of the
    /// value in the vocabulary.
    pub(crate) fn of_property(
        &self,
        property: Property,
    ) -> impl Iterator<Item = (usize, Bitmap<'_>)> {
        let extents = self.values[property as usize].iter().enumerate();
        extents.filter_map(|(place, extent)| Some((place, self.bitmap((*extent)?))))
    }

    /// The rows of a level; `None` when there are none.
    pub(crate) fn of_level(&self, level: Level) -> Option<Bitmap<'_>> {
        self.levels[level as usize].map(|extent| self.bitmap(extent))
    }

    /// The sum of the rows of all bitmaps.
    pub(crate) fn rows(&self) -> u64 {
        self.extents().map(|extent| u64::from(extent.rows)).sum()
    }

    /// Checks the conditions that reading relies on: containers are in order, within the part, and
    /// hold as many rows as they say.
    ///
    /// # Errors
    /// [`Error::Damaged`] for the first contradiction.
    pub(crate) fn verify(&self, part: &Path, docs: u32) -> Result<()> {
        let damaged = |what: &str| Error::damaged(part, format!("bitmaps: {what}"));
        for extent in self.extents() {
            let bitmap = self.bitmap(*extent);
            let mut last = None;
            let mut rows = 0;
            for index in 0..extent.containers {
                let chunk = bitmap.chunk(index);
                if Some(chunk) <= last || chunk >= docs.div_ceil(CHUNK_DOCS) {
                    return Err(damaged("chunks do not ascend, or exceed the part"));
                }
                last = Some(chunk);
                let count = u32_at(bitmap.entries, index * ENTRY_BYTES + 4);
                if !bitmap.is_within(index) {
                    return Err(damaged("a container is outside the file"));
                }
                let holds = match bitmap.at(index) {
                    Container::None => 0,
                    Container::All => CHUNK_DOCS,
                    Container::Bits(words) => {
                        words.iter().map(|word| u64::from_le_bytes(*word).count_ones()).sum()
                    }
                    Container::LowHalves(halves) => {
                        let halves = halves.iter().map(|half| u16::from_le_bytes(*half));
                        if !halves.clone().is_sorted_by(|a, b| a < b) {
                            return Err(damaged("DocIds do not ascend"));
                        }
                        halves.len() as u32
                    }
                };
                if holds != count || count == 0 {
                    return Err(damaged("a container has another number of rows than its entry"));
                }
                rows += count;
            }
            if rows != extent.rows {
                return Err(damaged("a key has another number of rows than its containers"));
            }
        }
        Ok(())
    }

    fn extents(&self) -> impl Iterator<Item = &Extent> {
        let others = self.levels.iter().chain([&self.unlisted_equities]);
        self.values.iter().flatten().chain(others).flatten()
    }

    fn bitmap(&self, extent: Extent) -> Bitmap<'_> {
        let entries =
            &self.containers[extent.first * ENTRY_BYTES..][..extent.containers * ENTRY_BYTES];
        Bitmap { rows: extent.rows, entries, bytes: &self.rows }
    }
}

impl<'a> Bitmap<'a> {
    /// The number of rows.
    pub(crate) fn rows(self) -> u32 {
        self.rows
    }

    /// The rows of the bitmap in a chunk.
    pub(crate) fn container(self, chunk: u32) -> Container<'a> {
        let index = self.first_from(chunk);
        if index < self.containers() && self.chunk(index) == chunk {
            self.at(index)
        } else {
            Container::None
        }
    }

    /// The first chunk with rows, from `chunk` on.
    pub(crate) fn next_chunk(self, chunk: u32) -> Option<u32> {
        let index = self.first_from(chunk);
        (index < self.containers()).then(|| self.chunk(index))
    }

    /// Whether a row has the value.
    pub(crate) fn contains(self, doc: u32) -> bool {
        let low = doc as u16;
        match self.container(doc / CHUNK_DOCS) {
            Container::None => false,
            Container::All => true,
            Container::LowHalves(halves) => {
                halves.binary_search_by_key(&low, |half| u16::from_le_bytes(*half)).is_ok()
            }
            Container::Bits(words) => {
                let word = u64::from_le_bytes(words[usize::from(low) / 64]);
                word >> (low % 64) & 1 == 1
            }
        }
    }

    /// The chunks that have rows, ascending, each with its container.
    pub(crate) fn chunks(self) -> impl Iterator<Item = (u32, Container<'a>)> {
        (0..self.containers()).map(move |index| (self.chunk(index), self.at(index)))
    }

    /// Calls `each` with every row, ascending.
    pub(crate) fn for_each(self, mut each: impl FnMut(u32)) {
        for (chunk, container) in self.chunks() {
            let first = chunk * CHUNK_DOCS;
            match container {
                Container::None => {}
                Container::All => (first..first + CHUNK_DOCS).for_each(&mut each),
                Container::LowHalves(halves) => {
                    halves
                        .iter()
                        .for_each(|half| each(first + u32::from(u16::from_le_bytes(*half))));
                }
                Container::Bits(words) => {
                    for (word, first) in words.iter().zip((first..).step_by(64)) {
                        let mut left = u64::from_le_bytes(*word);
                        while left != 0 {
                            each(first + left.trailing_zeros());
                            left &= left - 1;
                        }
                    }
                }
            }
        }
    }

    /// The number of chunks that have rows.
    pub(crate) fn containers(self) -> usize {
        self.entries.len() / ENTRY_BYTES
    }

    fn chunk(self, index: usize) -> u32 {
        u32_at(self.entries, index * ENTRY_BYTES)
    }

    /// The number of the first container whose chunk is `chunk` or a later one.
    fn first_from(self, chunk: u32) -> usize {
        // If a frequent value has rows in every chunk, the guess is right.
        let guess = chunk as usize;
        if guess < self.containers() && self.chunk(guess) == chunk {
            return guess;
        }
        first_index(0..self.containers() as u32, |index| self.chunk(index as usize) >= chunk)
            as usize
    }

    /// Whether the bytes of a container are inside the file.
    fn is_within(self, index: usize) -> bool {
        let bytes = match u32_at(self.entries, index * ENTRY_BYTES + 4) as usize {
            0 => 0,
            count @ 1..=LOW_HALVES_MAX => 2 * count,
            count if count == CHUNK_DOCS as usize => 0,
            _ => BITS_BYTES,
        };
        let start = u64_at(self.entries, index * ENTRY_BYTES + 8) as usize;
        bytes == 0 || self.bytes.get(start..).is_some_and(|rest| rest.len() >= bytes)
    }

    fn at(self, index: usize) -> Container<'a> {
        let count = u32_at(self.entries, index * ENTRY_BYTES + 4) as usize;
        let start = u64_at(self.entries, index * ENTRY_BYTES + 8) as usize;
        match count {
            0 => Container::None,
            1..=LOW_HALVES_MAX => {
                Container::LowHalves(self.bytes[start..][..2 * count].as_chunks().0)
            }
            _ if count == CHUNK_DOCS as usize => Container::All,
            _ => Container::Bits(self.bytes[start..][..BITS_BYTES].as_chunks().0),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::instrument::Instrument;
    use crate::instrument::figi::Figi;

    /// Bitmaps of `docs` instruments, of which those in `having` have the value.
    fn build(docs: u32, having: &BTreeSet<u32>) -> (tempfile::TempDir, Bitmaps, Known) {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = BitmapsWriter::create(folder.path()).unwrap();
        let mut instrument = Instrument::new(Figi::parse("BBG000BLNNH6").unwrap());
        for doc in 0..docs {
            let value = having.contains(&doc).then(|| "US".to_owned());
            instrument.properties[Property::ExchCode as usize] = value;
            writer.add(&instrument).unwrap();
        }
        writer.finish().unwrap();
        let vocabulary = Vocabulary::new([(Property::ExchCode, "US".to_owned())]);
        let bitmaps = Bitmaps::open(folder.path(), &vocabulary).unwrap();
        bitmaps.verify(folder.path(), docs).unwrap();
        (folder, bitmaps, vocabulary.admit(Property::ExchCode, "US").unwrap())
    }

    #[test]
    fn every_kind_of_container() {
        let chunk = CHUNK_DOCS;
        let kinds: [(&str, BTreeSet<u32>); 5] = [
            ("all", (0..chunk).collect()),
            ("bits", (0..chunk).filter(|doc| doc % 3 != 0).collect()),
            ("halves", [3, chunk - 1].into()),
            ("the most halves", (0..LOW_HALVES_MAX as u32).collect()),
            ("one more", (0..=LOW_HALVES_MAX as u32).collect()),
        ];
        for (kind, low) in kinds {
            // The middle chunk of three, and one row of the last.
            let having: BTreeSet<u32> =
                low.iter().map(|low| chunk + low).chain([2 * chunk + 7]).collect();
            let (_folder, bitmaps, known) = build(2 * chunk + 9, &having);
            let bitmap = bitmaps.of(known).unwrap();
            assert_eq!(bitmap.rows() as usize, having.len(), "{kind}");
            // Each row is in the bitmap of its level, too.
            let all = having.len() + 2 * chunk as usize + 9;
            assert_eq!(bitmaps.rows() as usize, all, "{kind}");
            assert_eq!(bitmap.container(0), Container::None, "{kind}");
            assert_eq!(bitmap.next_chunk(0), Some(1), "{kind}");
            assert_eq!(bitmap.next_chunk(3), None, "{kind}");
            let found: BTreeSet<u32> =
                (0..2 * chunk + 9).filter(|doc| bitmap.contains(*doc)).collect();
            assert_eq!(found, having, "{kind}");
        }
    }

    #[test]
    fn a_value_without_rows_has_no_bitmap() {
        let (_folder, bitmaps, known) = build(10, &BTreeSet::new());
        assert!(bitmaps.of(known).is_none() && bitmaps.unlisted_equities().is_none());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn it_holds_what_a_plain_set_does(
            having in proptest::collection::btree_set(0_u32..200_000, 0..300),
        ) {
            let (_folder, bitmaps, known) = build(200_000, &having);
            let found: BTreeSet<u32> = bitmaps.of(known).map_or_else(BTreeSet::new, |bitmap| {
                (0..200_000).filter(|doc| bitmap.contains(*doc)).collect()
            });
            prop_assert_eq!(found, having);
        }
    }
}
