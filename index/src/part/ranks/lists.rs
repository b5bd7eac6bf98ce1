//! The rows of each frequent word in the order of ranks, as lists of positions.
//!
//! - `ranks.words`: an entry of [`WORD_BYTES`] for each frequent word, in the order of the
//!   segment's dictionary. It has two `u32`: the start of the word's posting list in the segment,
//!   which identifies the word, and the number of rows with the word. Then it has, as `u64`, the
//!   start of the word's list in `ranks.lists`.
//! - `ranks.lists`: a list begins with a directory. For each block of the list, the directory has
//!   two `u32`: the last position of the block, and the start of the block, counted from the end of
//!   the directory. A block is a byte with the number of bits per difference, then 128 packed
//!   differences. The last block is padded with its last position.

use std::ops::Range;
use std::path::Path;

use bitpacking::{BitPacker as _, BitPacker4x};
use tantivy::postings::TermInfo;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocSet as _, InvertedIndexReader, TERMINATED};

use super::Ranks;
use crate::error::{Error, Result};
use crate::mapped::{Mapped, first_index, u32_at, u64_at};
use crate::part::segment::postings::{BLOCK_ROWS, RarePostings};

pub(super) const WORDS: &str = "ranks.words";
pub(super) const LISTS: &str = "ranks.lists";

/// The fewest rows of a word with a list. For other words, the rows are looked up and sorted.
pub(crate) const LISTED_MIN: u32 = BLOCK_ROWS;

const WORD_BYTES: usize = 16;
const BLOCK: usize = BitPacker4x::BLOCK_LEN;
const DIRECTORY_BYTES: usize = 8;

/// The most bits of a difference.
const BITS_MAX: u8 = u32::BITS as u8;

/// The position that stands for the end of a list.
const END: u32 = u32::MAX;

/// The lists of the frequent words of one part.
pub(super) struct Lists {
    words: Mapped,
    lists: Mapped,
}

/// A word that has a list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ListedWord {
    /// The start of the word's posting list in the segment, which identifies the word.
    pub(crate) start: u32,
    /// The number of rows with the word.
    pub(crate) rows: u32,
    /// The place of the word's entry in `ranks.words`.
    place: u32,
}

/// A cursor over the positions of one list, ascending.
#[derive(Clone)]
pub(crate) struct ListCursor<'a> {
    directory: &'a [u8],
    blocks: &'a [u8],
    count: u32,
    /// The number of the block whose positions are unpacked.
    block: usize,
    /// The place of the current position in that block.
    at: usize,
    positions: [u32; BLOCK],
}

impl Lists {
    pub(super) fn open(part: &Path) -> Result<Self> {
        Ok(Self {
            words: Mapped::open(&part.join(WORDS))?,
            lists: Mapped::open(&part.join(LISTS))?,
        })
    }

    /// The list of the word that has this entry in the dictionary, if the word is frequent.
    pub(super) fn of(&self, info: &TermInfo) -> Option<ListCursor<'_>> {
        if info.doc_freq < LISTED_MIN {
            return None;
        }
        let place = self.first_from(info.postings_range.start);
        let is_there = place < self.count() && self.start(place) == info.postings_range.start;
        is_there.then(|| self.at(place as usize))
    }

    /// The frequent words whose posting lists start in a range, in the order of the dictionary.
    pub(super) fn within(&self, starts: Range<usize>) -> impl ExactSizeIterator<Item = ListedWord> {
        let places = self.first_from(starts.start)..self.first_from(starts.end);
        places.map(|place| {
            let at = place as usize * WORD_BYTES;
            ListedWord { start: u32_at(&self.words, at), rows: u32_at(&self.words, at + 4), place }
        })
    }

    /// The list of a word.
    pub(super) fn list(&self, word: ListedWord) -> ListCursor<'_> {
        self.at(word.place as usize)
    }

    fn count(&self) -> u32 {
        (self.words.len() / WORD_BYTES) as u32
    }

    fn start(&self, place: u32) -> usize {
        u32_at(&self.words, place as usize * WORD_BYTES) as usize
    }

    /// The place of the first word whose posting list starts at or after `start`.
    fn first_from(&self, start: usize) -> u32 {
        first_index(0..self.count(), |place| self.start(place) >= start)
    }

    fn at(&self, place: usize) -> ListCursor<'_> {
        let count = u32_at(&self.words, place * WORD_BYTES + 4);
        let list = &self.lists[u64_at(&self.words, place * WORD_BYTES + 8) as usize..];
        let blocks = (count as usize).div_ceil(BLOCK);
        let (directory, blocks) = list.split_at(blocks * DIRECTORY_BYTES);
        let mut cursor =
            ListCursor { directory, blocks, count, block: 0, at: 0, positions: [END; BLOCK] };
        cursor.unpack(0);
        cursor
    }

    /// Whether the entry at that place belongs to this word and has the same number of rows.
    fn is_of(&self, place: usize, info: &TermInfo) -> bool {
        let Some(word) = self.words.get(place * WORD_BYTES..(place + 1) * WORD_BYTES) else {
            return false;
        };
        u64::from(u32_at(word, 0)) == info.postings_range.start as u64
            && u32_at(word, 4) == info.doc_freq
    }

    /// Whether all blocks of a list are inside the file.
    fn is_within(&self, place: usize) -> bool {
        let count = u32_at(&self.words, place * WORD_BYTES + 4) as usize;
        let start = u64_at(&self.words, place * WORD_BYTES + 8) as usize;
        let list = self.lists.get(start..).unwrap_or_default();
        let parts = list.split_at_checked(count.div_ceil(BLOCK) * DIRECTORY_BYTES);
        parts.is_some_and(|(directory, blocks)| {
            directory.chunks_exact(DIRECTORY_BYTES).all(|entry| {
                let block = blocks.get(u32_at(entry, 4) as usize..).unwrap_or_default();
                let (bits, packed) = (block.first().copied(), block.get(1..).unwrap_or_default());
                bits.is_some_and(|bits| bits <= BITS_MAX && packed_bytes(bits) <= packed.len())
            })
        })
    }

    /// Checks that each list ascends and has the rows of the word's posting list, and that the rare
    /// words have the same rows in `rare_postings` as in tantivy's reader.
    pub(super) fn verify(
        &self,
        part: &Path,
        words: &InvertedIndexReader,
        rare_postings: &RarePostings,
        ranks: &Ranks,
    ) -> Result<()> {
        let damaged = |what: &str| Error::damaged(part, format!("ranks: {what}"));
        let mut terms = words.terms().stream().map_err(Error::io(part))?;
        let mut place = 0;
        while terms.advance() {
            let info = terms.value();
            if info.doc_freq < LISTED_MIN {
                rare_postings.verify(words, info, ranks.len(), part)?;
                continue;
            }
            if !self.is_of(place, info) {
                return Err(damaged("a frequent word has no list, or one of another length"));
            }
            if !self.is_within(place) {
                return Err(damaged("a list is cut"));
            }
            let mut cursor = self.at(place);
            place += 1;
            // Two ascending lists of equal length with different rows have equal sums once in
            // 2^64.
            let (mut sum, mut before) = (0_u64, None);
            while cursor.position() != END {
                if before >= Some(cursor.position()) || cursor.position() >= ranks.len() {
                    return Err(damaged("positions do not ascend"));
                }
                before = Some(cursor.position());
                if cursor.is_last() && before != Some(cursor.last(cursor.block)) {
                    return Err(damaged(
                        "a block ends at another position than its directory says",
                    ));
                }
                sum = sum.wrapping_add(spread(ranks.doc(cursor.position())));
                cursor.advance();
            }
            let postings = words.read_postings_from_terminfo(info, IndexRecordOption::Basic);
            let mut postings = postings.map_err(Error::io(part))?;
            while postings.doc() != TERMINATED {
                sum = sum.wrapping_sub(spread(postings.doc()));
                postings.advance();
            }
            if sum != 0 {
                return Err(damaged("a list has other rows than the segment"));
            }
        }
        if place * WORD_BYTES != self.words.len() {
            return Err(damaged("a list belongs to no frequent word"));
        }
        Ok(())
    }
}

/// The number of bytes of the packed differences of a block, at `bits` bits each.
fn packed_bytes(bits: u8) -> usize {
    usize::from(bits) * BLOCK / 8
}

/// A hash of a DocId. If sets of DocIds differ, the sums of these hashes almost always differ.
fn spread(doc: u32) -> u64 {
    let spread = (u64::from(doc) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (spread ^ spread >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}

impl ListCursor<'_> {
    /// The number of positions in the list.
    pub(crate) fn count(&self) -> u32 {
        self.count
    }

    /// The current position; `u32::MAX` after the last one.
    pub(crate) fn position(&self) -> u32 {
        self.positions[self.at]
    }

    /// Goes to the next position, and returns it.
    pub(crate) fn advance(&mut self) -> u32 {
        let place = self.block * BLOCK + self.at + 1;
        if place >= self.count as usize {
            self.end();
        } else if self.at + 1 < BLOCK {
            self.at += 1;
        } else {
            self.unpack(self.block + 1);
        }
        self.position()
    }

    /// Goes forward to the first position at or after `target`, and returns it. Never goes back.
    pub(crate) fn seek(&mut self, target: u32) -> u32 {
        if self.position() >= target {
            return self.position();
        }
        let blocks = self.directory.len() / DIRECTORY_BYTES;
        let last = |block: u32| self.last(block as usize);
        if last(self.block as u32) < target {
            // The wanted block is usually near: first try steps of 1, 2, 4 and so on.
            let (mut low, mut step) = (self.block as u32 + 1, 1);
            while (low as usize) < blocks && last(low) < target {
                low += step;
                step *= 2;
            }
            let high = (low + 1).min(blocks as u32);
            let low = low.saturating_sub(step).max(self.block as u32 + 1).min(high);
            let block = first_index(low..high, |block| last(block) >= target) as usize;
            if block == blocks {
                self.end();
                return END;
            }
            self.unpack(block);
        }
        let filled = (self.count as usize - self.block * BLOCK).min(BLOCK);
        self.at += self.positions[self.at..filled].partition_point(|position| *position < target);
        self.position()
    }

    /// Goes back to the first position.
    pub(crate) fn rewind(&mut self) {
        if (self.block, self.at) != (0, 0) {
            self.unpack(0);
        }
    }

    /// Whether the current position is the last of its block.
    fn is_last(&self) -> bool {
        self.at + 1 == BLOCK || self.block * BLOCK + self.at + 1 == self.count as usize
    }

    /// The last position of a block.
    fn last(&self, block: usize) -> u32 {
        u32_at(self.directory, block * DIRECTORY_BYTES)
    }

    fn end(&mut self) {
        self.at = 0;
        self.positions[0] = END;
        self.block = self.directory.len() / DIRECTORY_BYTES;
    }

    fn unpack(&mut self, block: usize) {
        let start = u32_at(self.directory, block * DIRECTORY_BYTES + 4) as usize;
        let before = match block {
            0 => 0,
            _ => self.last(block - 1),
        };
        let bits = self.blocks[start];
        BitPacker4x::new().decompress_sorted(
            before,
            &self.blocks[start + 1..],
            &mut self.positions,
            bits,
        );
        (self.block, self.at) = (block, 0);
    }
}

/// Appends the list of some ascending positions, at least one, with its directory.
pub(super) fn put(positions: &[u32], out: &mut Vec<u8>) {
    let packer = BitPacker4x::new();
    let (mut directory, mut blocks) = (Vec::new(), Vec::new());
    let mut before = 0;
    for chunk in positions.chunks(BLOCK) {
        let last = chunk[chunk.len() - 1];
        let mut filled = [last; BLOCK];
        filled[..chunk.len()].copy_from_slice(chunk);
        directory.extend_from_slice(&last.to_le_bytes());
        directory.extend_from_slice(&(blocks.len() as u32).to_le_bytes());
        let bits = packer.num_bits_sorted(before, &filled);
        let mut packed = [0; 4 * BLOCK];
        let bytes = packer.compress_sorted(before, &filled, &mut packed, bits);
        blocks.push(bits);
        blocks.extend_from_slice(&packed[..bytes]);
        before = last;
    }
    out.extend_from_slice(&directory);
    out.extend_from_slice(&blocks);
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn cursor(list: &[u8], count: usize) -> ListCursor<'_> {
        let (directory, blocks) = list.split_at(count.div_ceil(BLOCK) * DIRECTORY_BYTES);
        let count = count as u32;
        let mut cursor =
            ListCursor { directory, blocks, count, block: 0, at: 0, positions: [END; BLOCK] };
        cursor.unpack(0);
        cursor
    }

    proptest! {
        #[test]
        fn a_list_is_what_was_put(
            set in proptest::collection::btree_set(0_u32..100_000, 1..2_000),
            targets in proptest::collection::btree_set(0_u32..110_000, 0..50),
        ) {
            let positions: Vec<u32> = set.iter().copied().collect();
            let mut list = Vec::new();
            put(&positions, &mut list);
            let mut walked = cursor(&list, positions.len());
            let mut all = vec![walked.position()];
            while walked.advance() != END {
                all.push(walked.position());
            }
            prop_assert_eq!(walked.advance(), END);
            prop_assert_eq!(&all, &positions);
            walked.rewind();
            for target in targets {
                let expected = set.range(target..).next().copied().unwrap_or(END);
                prop_assert_eq!(walked.seek(target), expected);
            }
        }
    }

    #[test]
    fn whole_blocks_and_one_more() {
        for count in [1, BLOCK, BLOCK + 1, 3 * BLOCK] {
            let positions: BTreeSet<u32> = (0..count as u32).map(|place| 7 * place).collect();
            let mut list = Vec::new();
            put(&positions.iter().copied().collect::<Vec<_>>(), &mut list);
            let last = 7 * (count as u32 - 1);
            assert_eq!(cursor(&list, count).seek(last), last);
            assert_eq!(cursor(&list, count).seek(last + 1), END);
        }
    }
}
