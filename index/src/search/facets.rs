//! Counts the matching rows of a question by their value of a property, or by their level (contract
//! 16.11).
//!
//! The matching rows are collected once, as a set. If they may be many, the set is a bit for each
//! row, and filters narrow it block by block. Then each facet is counted in the cheaper of two
//! ways: many rows by intersecting the set with the bitmap of each value, few rows by reading the
//! value of each. If all rows except the unlisted equities match, the counts are the sizes of the
//! bitmaps, less the counts of the unlisted equities.

use std::path::Path;

use tantivy::{COLLECT_BLOCK_BUFFER_LEN, DocSet as _};

use super::conditions::Conditions;
use super::matches::{Matches, with_words};
use super::plan::{Alternative, Driver, Plan};
use super::row_set::RowSet;
use super::selection::Selection;
use crate::error::Result;
use crate::instrument::level::Level;
use crate::instrument::vocabulary::{Known, Property, Vocabulary};
use crate::meter::Meter;
use crate::part::Part;
use crate::part::bitmaps::{Bitmap, CHUNK_DOCS, Container};
use crate::part::segment::columns::Buffers;
use crate::query::Filters;

/// The criterion to count matching rows by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Facet {
    /// The values of an enum-like property.
    Property(Property),
    /// The levels.
    Level,
}

impl Facet {
    /// The number of facets.
    pub const COUNT: usize = Property::COUNT + 1;

    /// The name of the facet in a request.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Property(property) => property.name(),
            Self::Level => "level",
        }
    }

    /// The facet with this name in a request; letter case counts.
    pub fn from_name(name: &str) -> Option<Self> {
        if name == "level" {
            return Some(Self::Level);
        }
        Property::from_name(name).map(Self::Property)
    }

    /// The value at a place of the facet.
    ///
    /// # Panics
    /// When the facet has no value at this place.
    pub fn value(self, place: u32, vocabulary: &Vocabulary) -> &str {
        match self {
            Self::Property(property) => vocabulary.value(property, place as usize),
            Self::Level => Level::ALL[place as usize].name(),
        }
    }

    /// The number of different values. A list of counts has a place for each of them.
    pub fn values(self, vocabulary: &Vocabulary) -> usize {
        match self {
            Self::Property(property) => vocabulary.values(property).len(),
            Self::Level => Level::COUNT,
        }
    }
}

/// The units of work of adding a row to the set, and of reading one value of a row.
const INSERT_UNITS: u64 = 1;
const READ_UNITS: u64 = 1;

/// The number of rows of a set that are read, and charged, together.
const READ_ROWS: usize = 1024;

/// The units of work to find one container of a bitmap.
const CONTAINER_UNITS: u64 = 4;
/// The units of work to intersect a container that has a bit for each row.
const BITS_UNITS: u64 = 160;
/// The number of rows that one unit of work intersects in a container that lists its rows.
const LISTED_PER_UNIT: u64 = 8;

/// The bound between two ways to collect the rows with words. If more than one row in this many may
/// match, the rows are bits, and blocks of them are verified. If fewer may match, rows are verified
/// one by one.
const ROWS_PER_WALKED: u32 = 512;

/// The number of 64-bit words of a chunk of the bitmaps.
const CHUNK_WORDS: usize = CHUNK_DOCS as usize / 64;

/// The matching rows of a part.
struct Matching {
    rows: RowSet,
    /// Whether the matching rows are those outside the set.
    is_inverse: bool,
}

/// Adds the matching rows of a part to `counts`. For each facet, `counts` has a list with a place
/// for each value, in the order of the vocabulary or of [`Level::ALL`]. Returns the number of
/// matching rows. `path` is the folder of the part.
pub(crate) fn count(
    (part, path): (&Part, &Path),
    plan: &Plan,
    filters: &Filters,
    vocabulary: &Vocabulary,
    counts: &mut [(Facet, Vec<u64>)],
    meter: &Meter,
) -> Result<u64> {
    let Matching { rows, is_inverse } = matching(part, plan, meter)?;
    let found = rows.len() as u64;
    let mut of_set: Vec<Vec<u64>> = counts.iter().map(|(_, of)| vec![0; of.len()]).collect();
    let mut read = Vec::new();
    for ((facet, _), of_set) in counts.iter().zip(&mut of_set) {
        let bitmaps = bitmaps(part, *facet, filters);
        let units = bitmaps.iter().map(|(_, bitmap)| bitmap_units(*bitmap)).sum::<u64>();
        match (rows.bits(), &bitmaps[..]) {
            // Only one value is allowed, so all matching rows have it.
            (_, [(place, _)]) if is_asked(*facet, filters) => of_set[*place] = found,
            (Some(bits), _) if units < found * READ_UNITS => {
                for (place, bitmap) in &bitmaps {
                    meter.charge(bitmap_units(*bitmap))?;
                    of_set[*place] = shared(bits, *bitmap);
                }
            }
            _ => read.push((*facet, &mut of_set[..])),
        }
    }
    let mut buffers = Buffers::default();
    let add_values = |facet: Facet, docs: &[u32], counts: &mut [u64]| match facet {
        Facet::Level => {
            docs.iter().for_each(|doc| counts[part.rows.get(*doc).level() as usize] += 1);
            Ok(())
        }
        Facet::Property(property) => {
            let column = part.counted.of(&part.segment, property, vocabulary, path)?;
            if let Some(column) = column {
                column.count(docs, counts, &mut buffers);
            }
            Ok(())
        }
    };
    count_read(&rows, add_values, &mut read, meter)?;
    for ((facet, counts), of_set) in counts.iter_mut().zip(of_set) {
        if is_inverse {
            for (place, bitmap) in bitmaps(part, *facet, filters) {
                counts[place] += u64::from(bitmap.rows()) - of_set[place];
            }
        } else {
            counts.iter_mut().zip(of_set).for_each(|(count, of_set)| *count += of_set);
        }
    }
    Ok(if is_inverse { part.rows.len() as u64 - found } else { found })
}

/// The matching rows of a plan.
fn matching(part: &Part, plan: &Plan, meter: &Meter) -> Result<Matching> {
    let docs = part.rows.len() as u32;
    let rows = match &plan.driver {
        Driver::Filters { demanded, filters, .. }
            if demanded.is_empty() && !filters.has_intervals() =>
        {
            let mut rows = RowSet::new(docs);
            let excluded = part.bitmaps.unlisted_equities();
            if let Some(bitmap) = excluded.filter(|_| !filters.include_unlisted_equities) {
                meter.charge(u64::from(bitmap.rows()) * INSERT_UNITS)?;
                bitmap.for_each(|doc| rows.insert(doc));
            }
            return Ok(Matching { rows, is_inverse: true });
        }
        Driver::Filters { filters, .. } => {
            let mut bits = vec![u64::MAX; part.rows.len().div_ceil(64)];
            narrow(part, filters, &mut bits, meter)?;
            RowSet::of_bits(docs, bits)
        }
        Driver::Words(alternatives) if plan.rows_max() > u64::from(docs / ROWS_PER_WALKED) => {
            meter.require(plan.walk_units())?;
            let mut bits = vec![0; part.rows.len().div_ceil(64)];
            for (place, words) in alternatives.iter().enumerate() {
                if place == 0 {
                    add_with_words(part, words, &mut bits, meter)?;
                    continue;
                }
                let mut others = vec![0; bits.len()];
                add_with_words(part, words, &mut others, meter)?;
                bits.iter_mut().zip(others).for_each(|(bits, others)| *bits |= others);
            }
            let mut rows = RowSet::of_bits(docs, bits);
            meter.charge(plan.identified.len() as u64 * INSERT_UNITS)?;
            plan.identified.iter().for_each(|doc| rows.insert(doc));
            rows
        }
        Driver::Words(_) | Driver::Nothing => walked(part, plan, meter)?,
    };
    Ok(Matching { rows, is_inverse: false })
}

/// The matching rows of a plan, verified one by one.
fn walked(part: &Part, plan: &Plan, meter: &Meter) -> Result<RowSet> {
    let mut rows = RowSet::new(part.rows.len() as u32);
    let mut matches = Matches::new(part, plan, meter)?;
    loop {
        let mut inserted = 0;
        for doc in matches.by_ref().take(READ_ROWS) {
            rows.insert(doc);
            inserted += 1;
        }
        meter.charge(inserted as u64 * INSERT_UNITS)?;
        if inserted < READ_ROWS {
            meter.check()?;
            return Ok(rows);
        }
    }
}

/// Sets the bits of the rows that match an alternative. No bit may be set before. The filters of
/// the alternative are verified for all rows together.
fn add_with_words(
    part: &Part,
    alternative: &Alternative,
    bits: &mut [u64],
    meter: &Meter,
) -> Result<()> {
    let mut rows = with_words(part, alternative, meter)?;
    let mut docs = [0; COLLECT_BLOCK_BUFFER_LEN];
    loop {
        let filled = rows.fill_buffer(&mut docs);
        meter.charge(filled as u64 * alternative.terms())?;
        for doc in &docs[..filled] {
            bits[*doc as usize / 64] |= 1 << (doc % 64);
        }
        if filled < docs.len() {
            break;
        }
    }
    narrow(part, &alternative.verified, bits, meter)
}

/// Keeps the bits of the rows that pass the filters, and clears the others.
fn narrow(part: &Part, filters: &Filters, bits: &mut [u64], meter: &Meter) -> Result<()> {
    meter.charge(filters.units())?;
    let conditions = Conditions::new(part, filters);
    Selection::new(part.rows.len() as u32, conditions, meter).narrow(bits);
    Ok(meter.check()?)
}

/// Whether the filters restrict the facet, so that each matching row has one of the allowed values.
fn is_asked(facet: Facet, filters: &Filters) -> bool {
    match facet {
        Facet::Level => !filters.levels.is_empty(),
        Facet::Property(property) => filters.known.of(property).is_some(),
    }
}

/// The bitmaps of the values that matching rows may have, each with its place in the counts.
fn bitmaps<'a>(part: &'a Part, facet: Facet, filters: &Filters) -> Vec<(usize, Bitmap<'a>)> {
    match facet {
        Facet::Level => {
            let of_level = |level: Level| Some((level as usize, part.bitmaps.of_level(level)?));
            match filters.levels.is_empty() {
                true => Level::ALL.into_iter().filter_map(of_level).collect(),
                false => filters.levels.iter().filter_map(of_level).collect(),
            }
        }
        Facet::Property(property) => match filters.known.of(property) {
            None => part.bitmaps.of_property(property).collect(),
            Some(asked) => {
                let of = |known: Known| Some((known.ordinal(), part.bitmaps.of(known)?));
                asked.values().filter_map(of).collect()
            }
        },
    }
}

/// Counts the rows of a set by reading their values, for all these facets in one walk.
fn count_read(
    rows: &RowSet,
    mut add_values: impl FnMut(Facet, &[u32], &mut [u64]) -> Result<()>,
    facets: &mut [(Facet, &mut [u64])],
    meter: &Meter,
) -> Result<()> {
    if facets.is_empty() {
        return Ok(());
    }
    let mut docs = [0; READ_ROWS];
    let mut rows = rows.iter();
    loop {
        let mut taken = 0;
        for (slot, doc) in docs.iter_mut().zip(rows.by_ref()) {
            *slot = doc;
            taken += 1;
        }
        for (facet, counts) in &mut *facets {
            meter.charge(taken as u64 * READ_UNITS)?;
            add_values(*facet, &docs[..taken], counts)?;
        }
        if taken < READ_ROWS {
            return Ok(());
        }
    }
}

/// The units of work of [`shared`].
fn bitmap_units(bitmap: Bitmap<'_>) -> u64 {
    let containers = bitmap.containers() as u64;
    let rows = u64::from(bitmap.rows()) / LISTED_PER_UNIT;
    containers * CONTAINER_UNITS + rows.min(containers * BITS_UNITS)
}

/// The number of rows that a bitmap and a set share. The set has a bit for each row.
fn shared(bits: &[u64], bitmap: Bitmap<'_>) -> u64 {
    let ones = |words: &[u64]| words.iter().map(|word| u64::from(word.count_ones())).sum::<u64>();
    bitmap
        .chunks()
        .map(|(chunk, container)| {
            let words = &bits[bits.len().min(chunk as usize * CHUNK_WORDS)..];
            let words = &words[..words.len().min(CHUNK_WORDS)];
            match container {
                Container::None => 0,
                Container::All => ones(words),
                Container::Bits(has) => {
                    let both = words.iter().zip(has).map(|(word, has)| {
                        u64::from((word & u64::from_le_bytes(*has)).count_ones())
                    });
                    both.sum()
                }
                Container::LowHalves(halves) => {
                    let is_set = halves.iter().map(|half| {
                        let low = usize::from(u16::from_le_bytes(*half));
                        words[low / 64] >> (low % 64) & 1
                    });
                    is_set.sum()
                }
            }
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instrument::Instrument;
    use crate::instrument::figi::Figi;
    use crate::part::bitmaps::{Bitmaps, BitmapsWriter};

    /// Every kind of container: all rows of a chunk, a bit for each, their low halves.
    #[test]
    fn a_bitmap_shares_rows_with_a_set() {
        const DOCS: u32 = 3 * CHUNK_DOCS + 70;
        let has = |doc: u32| match doc / CHUNK_DOCS {
            0 => true,
            1 => !doc.is_multiple_of(3),
            _ => doc % 40 == 7,
        };
        let folder = tempfile::tempdir().unwrap();
        let mut writer = BitmapsWriter::create(folder.path()).unwrap();
        let mut instrument = Instrument::new(Figi::parse("BBG000BLNNH6").unwrap());
        for doc in 0..DOCS {
            let value = has(doc).then(|| "US".to_owned());
            instrument.properties[Property::ExchCode as usize] = value;
            writer.add(&instrument).unwrap();
        }
        writer.finish().unwrap();
        let vocabulary = Vocabulary::new([(Property::ExchCode, "US".to_owned())]);
        let bitmaps = Bitmaps::open(folder.path(), &vocabulary).unwrap();
        let (_, bitmap) = bitmaps.of_property(Property::ExchCode).next().unwrap();
        let mut all = Vec::new();
        bitmap.for_each(|doc| all.push(doc));
        assert_eq!(all, (0..DOCS).filter(|doc| has(*doc)).collect::<Vec<_>>());
        for step in [1, 2, 13] {
            let mut rows = RowSet::new(DOCS);
            (0..DOCS).step_by(step).for_each(|doc| rows.insert(doc));
            let expected = (0..DOCS).step_by(step).filter(|doc| has(*doc)).count();
            assert_eq!(shared(rows.bits().unwrap(), bitmap), expected as u64, "{step}");
        }
    }
}
