//! Third step of a search without words: the rows that pass the conditions, in DocId order. Bitmaps
//! are intersected and intervals compared for a block of 4,096 rows at a time. A block is computed
//! only when its rows are wanted.

use super::conditions::Conditions;
use crate::meter::Meter;
use crate::part::bitmaps::{Bitmap, CHUNK_DOCS, Container};

/// Words of 64 bits in a block. A chunk of the bitmaps has sixteen blocks.
const WORDS: usize = 64;

/// DocIds in a block.
const BLOCK_DOCS: u32 = 64 * WORDS as u32;

/// The units of work of a block: for the block itself, for each bitmap that narrows it, and for
/// each interval. A unit is about ten nanoseconds; the figures are measured.
const BLOCK_UNITS: u64 = 20;
const BITMAP_UNITS: u64 = 10;
const INTERVAL_UNITS: u64 = 80;

/// The units of work of finding the container of a bitmap for a chunk.
const CONTAINER_UNITS: u64 = 4;

/// A bit for each row of a block.
type Block = [u64; WORDS];

/// An iterator over the rows that pass all conditions.
pub(crate) struct Selection<'a> {
    docs: u32,
    conditions: Conditions<'a>,
    /// The rows of the current block that were not yet returned. `first` is the first DocId of the
    /// block.
    rows: Box<Block>,
    first: u32,
    /// The first word of the block that may have rows left.
    word: usize,
    /// The containers of the current chunk. Its blocks read them in turn.
    containers: Containers<'a>,
    /// The first DocId of the next block; `docs` or more when there is none.
    next: u32,
    meter: &'a Meter,
    /// The units of work of a block, and of going to the next chunk.
    block_units: u64,
    chunk_units: u64,
}

impl<'a> Selection<'a> {
    /// The selection from a part of `docs` rows. It ends early when the meter refuses a charge.
    pub(crate) fn new(docs: u32, conditions: Conditions<'a>, meter: &'a Meter) -> Self {
        let bitmaps = conditions.bitmaps() as u64;
        let intervals = conditions.intervals.len() as u64;
        Self {
            docs,
            rows: Box::new([0; WORDS]),
            first: 0,
            word: WORDS,
            containers: Containers::default(),
            next: if conditions.is_impossible { docs } else { 0 },
            meter,
            block_units: BLOCK_UNITS + BITMAP_UNITS * bitmaps + INTERVAL_UNITS * intervals,
            chunk_units: 1 + CONTAINER_UNITS * bitmaps,
            conditions,
        }
    }

    /// Skips the rows before `doc`. Must be called before the first row is taken.
    pub(crate) fn seek(&mut self, doc: u32) {
        if doc <= self.next {
            return;
        }
        self.next = doc - doc % BLOCK_DOCS;
        if self.advance() && self.first < doc {
            let before = (doc - self.first) as usize;
            self.rows[..before / 64].fill(0);
            if let Some(word) = self.rows.get_mut(before / 64) {
                *word &= u64::MAX << (before % 64);
            }
        }
    }

    /// Counts the rows. Must be called before the first row is taken.
    pub(crate) fn count_all(&mut self) -> u64 {
        let total = self.conditions.total_of_interval(self.meter);
        total.unwrap_or_else(|| self.count_left())
    }

    /// Counts and consumes the remaining rows.
    pub(crate) fn count_left(&mut self) -> u64 {
        let mut count = ones(&self.rows);
        while self.advance() {
            count += ones(&self.rows);
        }
        self.rows.fill(0);
        count
    }

    /// Keeps the bits of the rows that pass the conditions, and clears the others. Must be called
    /// before any other method.
    pub(crate) fn narrow(&mut self, rows: &mut [u64]) {
        let mut done = 0;
        while self.advance() {
            let first = self.first as usize / 64;
            rows[done..first].fill(0);
            done = rows.len().min(first + WORDS);
            rows[first..done].iter_mut().zip(&*self.rows).for_each(|(rows, pass)| *rows &= pass);
        }
        rows[done..].fill(0);
        self.rows.fill(0);
    }

    /// Goes to the next block that has rows; `false` when there is none, or when the meter
    /// refuses a charge.
    fn advance(&mut self) -> bool {
        while self.next < self.docs {
            let chunk = self.next / CHUNK_DOCS;
            if self.containers.chunk != Some(chunk) {
                if self.meter.charge(self.chunk_units).is_err() {
                    return false;
                }
                // Chunks are skipped where a demanded bitmap or a whole group of bitmaps has no
                // rows.
                let Some(common) = self.common_chunk(chunk) else {
                    self.next = self.docs;
                    return false;
                };
                if common > chunk {
                    self.next = common * CHUNK_DOCS;
                    continue;
                }
                self.containers.read(&self.conditions, chunk);
            }
            if self.meter.charge(self.block_units).is_err() {
                return false;
            }
            self.first = self.next;
            self.next = self.next.saturating_add(BLOCK_DOCS);
            self.word = 0;
            self.fill();
            if self.rows.iter().any(|word| *word != 0) {
                return true;
            }
        }
        false
    }

    /// A chunk at or after `chunk`. No chunk between the two has rows; the returned one may have
    /// none either, so ask again from it. `None` when no chunk from `chunk` on has rows.
    fn common_chunk(&self, chunk: u32) -> Option<u32> {
        let mut common = chunk;
        for bitmap in &self.conditions.demanded {
            common = common.max(bitmap.next_chunk(chunk)?);
        }
        for any in &self.conditions.any_of {
            common = common.max(any.iter().filter_map(|bitmap| bitmap.next_chunk(chunk)).min()?);
        }
        Some(common)
    }

    /// Selects the rows of the current block.
    fn fill(&mut self) {
        let rows = &mut self.rows;
        rows.fill(u64::MAX);
        let docs = self.docs - self.first;
        if docs < BLOCK_DOCS {
            rows[docs as usize / 64..].fill(0);
            rows[docs as usize / 64] = (1 << (docs % 64)) - 1;
        }
        let low = self.first % CHUNK_DOCS;
        for demanded in &mut self.containers.demanded {
            demanded.narrow(rows, low);
        }
        for any in &mut self.containers.any_of {
            let mut have: Block = [0; WORDS];
            any.iter_mut().for_each(|reader| reader.widen(&mut have, low));
            rows.iter_mut().zip(have).for_each(|(rows, have)| *rows &= have);
        }
        if let Some(excluded) = &mut self.containers.excluded {
            excluded.exclude(rows, low);
        }
        for interval in &self.conditions.intervals {
            interval.narrow(self.first, &mut rows[..]);
        }
    }
}

impl Iterator for Selection<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        loop {
            while let Some(word) = self.rows.get_mut(self.word) {
                if *word != 0 {
                    let bit = word.trailing_zeros();
                    *word &= *word - 1;
                    return Some(self.first + 64 * self.word as u32 + bit);
                }
                self.word += 1;
            }
            if !self.advance() {
                return None;
            }
        }
    }
}

/// The containers of one chunk, for each bitmap of the conditions.
#[derive(Default)]
struct Containers<'a> {
    chunk: Option<u32>,
    demanded: Vec<ContainerReader<'a>>,
    any_of: Vec<Vec<ContainerReader<'a>>>,
    excluded: Option<ContainerReader<'a>>,
}

impl<'a> Containers<'a> {
    fn read(&mut self, conditions: &Conditions<'a>, chunk: u32) {
        let reader = |bitmap: &Bitmap<'a>| ContainerReader::new(bitmap.container(chunk));
        self.chunk = Some(chunk);
        self.demanded.clear();
        self.demanded.extend(conditions.demanded.iter().map(reader));
        self.any_of.clear();
        self.any_of.extend(conditions.any_of.iter().map(|any| any.iter().map(reader).collect()));
        self.excluded = conditions.excluded.as_ref().map(reader);
    }
}

/// A container that is read forwards, a block at a time.
struct ContainerReader<'a> {
    container: Container<'a>,
    /// For a container of low halves, the number of halves before the next block.
    done: usize,
}

impl<'a> ContainerReader<'a> {
    fn new(container: Container<'a>) -> Self {
        Self { container, done: 0 }
    }

    /// Keeps the rows of a block that are in the container. `low` is the first row of the
    /// block, counted within its chunk.
    fn narrow(&mut self, rows: &mut Block, low: u32) {
        match self.container {
            Container::None => rows.fill(0),
            Container::All => {}
            Container::Bits(words) => join(rows, words, low, |rows, has| rows & has),
            Container::LowHalves(_) => {
                let mut has: Block = [0; WORDS];
                self.widen(&mut has, low);
                rows.iter_mut().zip(has).for_each(|(rows, has)| *rows &= has);
            }
        }
    }

    /// Adds the rows of the container.
    fn widen(&mut self, rows: &mut Block, low: u32) {
        match self.container {
            Container::None => {}
            Container::All => rows.fill(u64::MAX),
            Container::Bits(words) => join(rows, words, low, |rows, has| rows | has),
            Container::LowHalves(halves) => {
                self.each(halves, low, |word, bit| rows[word] |= bit);
            }
        }
    }

    /// Removes the rows of the container.
    fn exclude(&mut self, rows: &mut Block, low: u32) {
        match self.container {
            Container::None => {}
            Container::All => rows.fill(0),
            Container::Bits(words) => join(rows, words, low, |rows, has| rows & !has),
            Container::LowHalves(halves) => {
                self.each(halves, low, |word, bit| rows[word] &= !bit);
            }
        }
    }

    /// Calls `each` with the word and the bit of each low half in the block.
    fn each(&mut self, halves: &[[u8; 2]], low: u32, mut each: impl FnMut(usize, u64)) {
        let number = |half: &[u8; 2]| u32::from(u16::from_le_bytes(*half));
        let rest = &halves[self.done..];
        let before = match rest.first() {
            // Some blocks in between were skipped.
            Some(half) if number(half) < low => rest.partition_point(|half| number(half) < low),
            _ => 0,
        };
        let mut done = self.done + before;
        for half in &rest[before..] {
            let place = number(half) - low;
            if place >= BLOCK_DOCS {
                break;
            }
            each(place as usize / 64, 1 << (place % 64));
            done += 1;
        }
        self.done = done;
    }
}

/// Joins the words of a block with those of a container of bits.
fn join(rows: &mut Block, words: &[[u8; 8]], low: u32, join: impl Fn(u64, u64) -> u64) {
    let words = &words[low as usize / 64..][..WORDS];
    for (word, has) in rows.iter_mut().zip(words) {
        *word = join(*word, u64::from_le_bytes(*has));
    }
}

fn ones(rows: &Block) -> u64 {
    rows.iter().map(|word| u64::from(word.count_ones())).sum()
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use proptest::prelude::*;

    use super::*;
    use crate::instrument::Instrument;
    use crate::instrument::figi::Figi;
    use crate::instrument::vocabulary::{Property, Vocabulary};
    use crate::part::bitmaps::{Bitmaps, BitmapsWriter};
    use crate::part::numbers::{Numbers, NumbersWriter};
    use crate::query::Filters;
    use crate::query::interval::NumberInterval;
    use crate::search::row_set::RowSet;

    /// Two chunks, a third with a whole block, and one with less than that.
    const DOCS: u32 = 2 * CHUNK_DOCS + BLOCK_DOCS + 100;

    /// A value and the rows that have it.
    type Value = (Property, &'static str, fn(u32) -> bool);

    /// Values whose rows are distributed in different ways: everywhere, in one chunk, far apart…
    const VALUES: [Value; 8] = [
        (Property::ExchCode, "US", |doc| doc % 3 != 0),
        (Property::ExchCode, "GR", |doc| doc % 3 == 0 && doc < 500),
        (Property::ExchCode, "LN", |doc| doc % 3 == 0 && doc > CHUNK_DOCS + 70),
        (Property::MicCode, "XLON", |doc| doc / CHUNK_DOCS == 0 && doc % 2 == 0),
        (Property::MicCode, "XNYS", |doc| doc / CHUNK_DOCS == 1),
        (Property::Currency, "USD", |doc| doc % 10_007 == 5),
        (Property::SecurityType, "Fund", |doc| (BLOCK_DOCS - 1..BLOCK_DOCS + 2).contains(&doc)),
        (Property::OptionType, "Put", |doc| doc == DOCS - 1),
    ];

    fn is_unlisted(doc: u32) -> bool {
        doc % 5 == 1
    }

    fn strike(doc: u32) -> Option<f64> {
        (!doc.is_multiple_of(7)).then(|| f64::from(doc % 100))
    }

    struct Part {
        folder: tempfile::TempDir,
        bitmaps: Bitmaps,
        numbers: Numbers,
        vocabulary: Vocabulary,
    }

    static PART: LazyLock<Part> = LazyLock::new(|| {
        let folder = tempfile::tempdir().unwrap();
        let mut bitmaps = BitmapsWriter::create(folder.path()).unwrap();
        let mut numbers = NumbersWriter::create(folder.path()).unwrap();
        let mut instrument = Instrument::new(Figi::parse("BBG000BLNNH6").unwrap());
        for doc in 0..DOCS {
            instrument.properties = Default::default();
            for (property, value, has) in VALUES {
                if has(doc) {
                    instrument.properties[property as usize] = Some(value.to_owned());
                }
            }
            instrument.properties[Property::MarketSecDes as usize] = Some("Equity".to_owned());
            instrument.listed = Some(!is_unlisted(doc));
            instrument.strike = strike(doc);
            bitmaps.add(&instrument).unwrap();
            numbers.add(&instrument).unwrap();
        }
        bitmaps.finish().unwrap();
        numbers.finish().unwrap();
        let values = VALUES.map(|(property, value, _)| (property, value.to_owned()));
        let vocabulary = Vocabulary::new(values);
        Part {
            bitmaps: Bitmaps::open(folder.path(), &vocabulary).unwrap(),
            numbers: Numbers::open(folder.path(), DOCS as usize).unwrap(),
            vocabulary,
            folder,
        }
    });

    /// The total of an interval alone, which is looked up once its column has been counted.
    #[test]
    fn the_total_of_an_interval() {
        let mut filters = Filters::default();
        for (with_unlisted, low, high) in
            [(true, 0, 99), (true, 40, 41), (false, 40, 41), (false, 99, 99), (false, 100, 200)]
        {
            filters.numbers[0] =
                Some(NumberInterval::new(Some(f64::from(low)), Some(f64::from(high))).unwrap());
            let count = |meter: &Meter| {
                let excluded = PART.bitmaps.unlisted_equities().filter(|_| !with_unlisted);
                let intervals = PART.numbers.intervals(&filters);
                let is_impossible = intervals[0].is_empty();
                let conditions =
                    Conditions { excluded, intervals, is_impossible, ..Conditions::default() };
                Selection::new(DOCS, conditions, meter).count_all()
            };
            let passes = |doc: &u32| {
                (with_unlisted || !is_unlisted(*doc))
                    && strike(*doc)
                        .is_some_and(|it| (f64::from(low)..=f64::from(high)).contains(&it))
            };
            let expected = (0..DOCS).filter(passes).count() as u64;
            assert_eq!(count(&Meter::unlimited()), expected, "{with_unlisted} {low} {high}");
            assert_eq!(count(&Meter::of(0)), expected, "it is looked up");
        }
        // A refused count is not kept.
        let numbers = Numbers::open(PART.folder.path(), DOCS as usize).unwrap();
        filters.numbers[0] = Some(NumberInterval::new(Some(40.0), None).unwrap());
        let total = |units| numbers.intervals(&filters)[0].total(None, &Meter::of(units));
        assert_eq!(total(1), None);
        let expected = (0..DOCS).filter(|doc| strike(*doc).is_some_and(|it| it >= 40.0)).count();
        assert_eq!(total(u64::MAX), Some(expected as u64));
    }

    #[test]
    fn it_ends_when_the_meter_refuses() {
        let select = |meter| Selection::new(DOCS, Conditions::default(), meter);
        let two_blocks = Meter::of(1 + 2 * BLOCK_UNITS);
        assert_eq!(select(&two_blocks).last(), Some(2 * BLOCK_DOCS - 1));
        assert!(two_blocks.check().is_err());
        let blocks = u64::from(DOCS.div_ceil(BLOCK_DOCS));
        let all = Meter::of(u64::from(DOCS.div_ceil(CHUNK_DOCS)) + blocks * BLOCK_UNITS);
        assert_eq!(select(&all).count_left(), u64::from(DOCS));
        assert_eq!((all.check(), all.left()), (Ok(()), 0));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn it_selects_the_rows_that_a_scan_finds(
            asked in proptest::sample::subsequence(VALUES.to_vec(), 0..5),
            with_unlisted in any::<bool>(),
            strikes in proptest::option::of((0_u8..100, 0_u8..40)),
            from in prop_oneof![Just(0), 0..=DOCS, Just(CHUNK_DOCS), Just(DOCS)],
        ) {
            let interval = strikes.map(|(low, span)| {
                let (low, span) = (f64::from(low), f64::from(span));
                NumberInterval::new(Some(low), Some(low + span)).unwrap()
            });
            let expected = |doc: u32| {
                Property::ALL.into_iter().all(|property| {
                    let mut values = asked.iter().filter(|value| value.0 == property).peekable();
                    values.peek().is_none() || values.any(|(_, _, has)| has(doc))
                }) && (with_unlisted || !is_unlisted(doc))
                    && interval.is_none_or(|asked| {
                        strike(doc).is_some_and(|strike| asked.contains(strike))
                    })
            };
            let meter = Meter::unlimited();
            let select = |from| {
                let of = |property: Property| -> Vec<Bitmap<'_>> {
                    let values = asked.iter().filter(|value| value.0 == property);
                    let known = values
                        .map(|(_, value, _)| PART.vocabulary.admit(property, value).unwrap());
                    known.map(|known| PART.bitmaps.of(known).expect("it has rows")).collect()
                };
                let several = Property::ALL.map(of).into_iter().filter(|any| !any.is_empty());
                let (demanded, any_of): (Vec<_>, Vec<_>) = several.partition(|any| any.len() == 1);
                let demanded = demanded.into_iter().flatten().collect();
                let excluded = PART.bitmaps.unlisted_equities().filter(|_| !with_unlisted);
                let mut filters = Filters::default();
                filters.numbers[0] = interval;
                let intervals = PART.numbers.intervals(&filters);
                let conditions =
                    Conditions { demanded, any_of, excluded, intervals, is_impossible: false };
                let mut selection = Selection::new(DOCS, conditions, &meter);
                selection.seek(from);
                selection
            };
            let all: Vec<u32> = (from..DOCS).filter(|doc| expected(*doc)).collect();
            prop_assert_eq!(select(from).count_left(), all.len() as u64);
            let total = (0..DOCS).filter(|doc| expected(*doc)).count() as u64;
            prop_assert_eq!(select(0).count_all(), total);
            let mut selection = select(from);
            let page: Vec<u32> = selection.by_ref().take(101).collect();
            prop_assert_eq!(&page[..], &all[..page.len()]);
            prop_assert!(page.len() == 101 || page.len() == all.len());
            prop_assert_eq!(selection.count_left() as usize, all.len() - page.len());
            // Of every other row, as bits.
            let mut bits = vec![0x5555_5555_5555_5555; DOCS.div_ceil(64) as usize];
            select(0).narrow(&mut bits);
            let narrowed = RowSet::of_bits(DOCS, bits);
            let even = (0..DOCS).step_by(2).filter(|doc| expected(*doc));
            prop_assert!(narrowed.iter().eq(even));
            prop_assert!(meter.check().is_ok());
        }
    }
}
