//! The rows that filters alone select, in DocId order: bitmaps intersected and
//! intervals compared, a block at a time, and only as far as somebody reads.

use crate::bitmaps::{Bitmap, CHUNK_DOCS, Container};
use crate::numbers::Interval;

/// Words of 64 bits in a block: a chunk of the bitmaps has sixteen blocks.
const WORDS: usize = 64;

/// DocIds in a block.
const BLOCK_DOCS: u32 = 64 * WORDS as u32;

/// A bit for each row of a block.
type Block = [u64; WORDS];

/// The rows that pass: those that all of `demanded` and all `intervals` have, and
/// `excluded` has not.
pub(crate) struct Selection<'a> {
    docs: u32,
    demanded: Vec<Bitmap<'a>>,
    excluded: Option<Bitmap<'a>>,
    intervals: Vec<Interval<'a>>,
    /// The rows of the block at hand that were not handed out, and its first DocId.
    rows: Block,
    first: u32,
    /// Where the next block begins; `docs` or beyond when there is none.
    next: u32,
    blocks: u32,
}

impl<'a> Selection<'a> {
    /// Of a part with so many rows. The rarest bitmap is best the first.
    pub(crate) fn new(
        docs: u32,
        demanded: Vec<Bitmap<'a>>,
        excluded: Option<Bitmap<'a>>,
        intervals: Vec<Interval<'a>>,
    ) -> Self {
        let next = if intervals.iter().any(Interval::is_empty) { docs } else { 0 };
        let rows = [0; WORDS];
        Self { docs, demanded, excluded, intervals, rows, first: 0, next, blocks: 0 }
    }

    /// Leaves out the rows before `doc`. Only before the first row was taken.
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

    /// How many rows are left.
    pub(crate) fn count(&mut self) -> u64 {
        let mut count = ones(&self.rows);
        while self.advance() {
            count += ones(&self.rows);
        }
        self.rows.fill(0);
        count
    }

    /// How many blocks were looked into: the work that was done.
    pub(crate) fn blocks(&self) -> u32 {
        self.blocks
    }

    /// Goes to the next block that has rows; `false` when there is none.
    fn advance(&mut self) -> bool {
        while self.next < self.docs {
            // A chunk in which one of the bitmaps has no rows has none.
            let chunk = self.next / CHUNK_DOCS;
            let mut common = Some(chunk);
            for bitmap in &self.demanded {
                common = common.max(bitmap.next_chunk(chunk));
                if bitmap.next_chunk(chunk).is_none() {
                    self.next = self.docs;
                    return false;
                }
            }
            if common > Some(chunk) {
                self.next = common.map_or(self.docs, |chunk| chunk * CHUNK_DOCS);
                continue;
            }
            self.first = self.next;
            self.next += BLOCK_DOCS;
            self.blocks += 1;
            self.fill();
            if self.rows.iter().any(|word| *word != 0) {
                return true;
            }
        }
        false
    }

    /// Selects the rows of the block at hand.
    fn fill(&mut self) {
        let rows = &mut self.rows;
        rows.fill(u64::MAX);
        let docs = self.docs - self.first;
        if docs < BLOCK_DOCS {
            rows[docs as usize / 64..].fill(0);
            rows[docs as usize / 64] = (1 << (docs % 64)) - 1;
        }
        let (chunk, low) = (self.first / CHUNK_DOCS, self.first % CHUNK_DOCS);
        for bitmap in &self.demanded {
            combine(rows, bitmap.container(chunk), low, |rows, has| rows & has);
        }
        if let Some(bitmap) = self.excluded {
            combine(rows, bitmap.container(chunk), low, |rows, has| rows & !has);
        }
        for interval in &self.intervals {
            interval.narrow(self.first, rows);
        }
    }
}

impl Iterator for Selection<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        loop {
            if let Some(place) = self.rows.iter().position(|word| *word != 0) {
                let word = &mut self.rows[place];
                let bit = word.trailing_zeros();
                *word &= *word - 1;
                return Some(self.first + 64 * place as u32 + bit);
            }
            if !self.advance() {
                return None;
            }
        }
    }
}

/// Combines a block's rows with those of a container, word by word; the block begins at
/// the DocId `low` of the chunk.
fn combine(rows: &mut Block, container: Container<'_>, low: u32, join: impl Fn(u64, u64) -> u64) {
    match container {
        Container::None => rows.iter_mut().for_each(|word| *word = join(*word, 0)),
        Container::All => rows.iter_mut().for_each(|word| *word = join(*word, u64::MAX)),
        Container::Bits(words) => {
            let words = &words[low as usize / 64..][..WORDS];
            for (word, has) in rows.iter_mut().zip(words) {
                *word = join(*word, u64::from_le_bytes(*has));
            }
        }
        Container::LowHalves(halves) => {
            let before = |end: u32| {
                halves.partition_point(|half| u32::from(u16::from_le_bytes(*half)) < end)
            };
            let mut has: Block = [0; WORDS];
            for half in &halves[before(low)..before(low + BLOCK_DOCS)] {
                let place = u32::from(u16::from_le_bytes(*half)) - low;
                has[place as usize / 64] |= 1 << (place % 64);
            }
            for (word, has) in rows.iter_mut().zip(has) {
                *word = join(*word, has);
            }
        }
    }
}

fn ones(rows: &Block) -> u64 {
    rows.iter().map(|word| u64::from(word.count_ones())).sum()
}
