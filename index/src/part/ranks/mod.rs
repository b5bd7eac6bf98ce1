//! The rows of a part in the order of their ranks, so that a search takes the best of a million
//! matching rows without looking at the others (engine 6).
//!
//! A row's **rank** says how much a person would want it (`rank`). Its **position** is its place
//! in the order by rank; rows of equal rank are in FIGI order. Five files, all little-endian:
//! - `ranks.values`: the rank of each DocId, as `u16`;
//! - `ranks.order`: the DocId at each position, as `u32`;
//! - `ranks.firsts`: for each rank that a row has, the rank and its first position, as `u32`;
//! - `ranks.words` and `ranks.lists`: the positions of the rows with each frequent word (see
//!   [`lists`]).

mod lists;
pub(crate) mod rank;
mod writer;

use std::ops::Range;
use std::path::Path;

use tantivy::SegmentReader;
use tantivy::postings::TermInfo;
use tantivy::schema::Field;

use self::lists::Lists;
pub(crate) use self::lists::{LISTED_MIN, ListCursor, ListedWord};
use self::rank::KIND_SHIFT;
pub(crate) use self::writer::{FactsWriter, Securities, write};
use crate::error::{Error, Result};
use crate::instrument::kind::Kind;
use crate::mapped::{Mapped, first_index, u32_at};

const VALUES: &str = "ranks.values";
const ORDER: &str = "ranks.order";
const FIRSTS: &str = "ranks.firsts";

const FIRST_BYTES: usize = 8;

/// The ranks of one part.
pub(crate) struct Ranks {
    values: Mapped,
    order: Mapped,
    firsts: Mapped,
    lists: Lists,
}

impl Ranks {
    pub(crate) fn open(part: &Path, rows: usize) -> Result<Self> {
        let ranks = Self {
            values: Mapped::open(&part.join(VALUES))?,
            order: Mapped::open(&part.join(ORDER))?,
            firsts: Mapped::open(&part.join(FIRSTS))?,
            lists: Lists::open(part)?,
        };
        if ranks.values.len() != 2 * rows || ranks.order.len() != 4 * rows {
            return Err(Error::damaged(part, "ranks and rows have different numbers of rows"));
        }
        Ok(ranks)
    }

    /// The number of rows.
    pub(crate) fn len(&self) -> u32 {
        (self.order.len() / 4) as u32
    }

    /// The rank of a row.
    pub(crate) fn rank(&self, doc: u32) -> u16 {
        let at = 2 * doc as usize;
        u16::from_le_bytes([self.values[at], self.values[at + 1]])
    }

    /// The kind of a row.
    pub(crate) fn kind(&self, doc: u32) -> Kind {
        Kind::ALL[usize::from(self.rank(doc) >> KIND_SHIFT)]
    }

    /// Whether a row is the best listing of its security.
    pub(crate) fn is_best(&self, doc: u32) -> bool {
        rank::place(self.rank(doc)) == 0
    }

    /// The distance of a row's rank from the best one of its kind (see [`rank::cost`]).
    pub(crate) fn cost(&self, doc: u32) -> i32 {
        rank::cost(self.rank(doc))
    }

    /// The row at a position.
    pub(crate) fn doc(&self, position: u32) -> u32 {
        u32_at(&self.order, 4 * position as usize)
    }

    /// The position of a row.
    pub(crate) fn position(&self, doc: u32) -> u32 {
        self.first_from(self.rank(doc), doc)
    }

    /// The first position after all smaller ranks and, of rank `rank`, all DocIds below `doc`.
    pub(crate) fn first_from(&self, rank: u16, doc: u32) -> u32 {
        let positions = self.of_ranks(rank.into(), u32::from(rank) + 1);
        first_index(positions, |position| self.doc(position) >= doc)
    }

    /// The positions of the rows of a kind.
    pub(crate) fn of_kind(&self, kind: Kind) -> Range<u32> {
        let kind = kind as u32;
        self.of_ranks(kind << KIND_SHIFT, (kind + 1) << KIND_SHIFT)
    }

    /// The positions of the rows with a word, which is given by its entry in the segment's
    /// dictionary; `None` for a word of fewer than [`lists::LISTED_MIN`] rows.
    pub(crate) fn list(&self, word: &TermInfo) -> Option<ListCursor<'_>> {
        self.lists.of(word)
    }

    /// The words of at least [`LISTED_MIN`] rows whose posting lists start in a range, in the order
    /// of the dictionary.
    pub(crate) fn listed(&self, starts: Range<usize>) -> impl ExactSizeIterator<Item = ListedWord> {
        self.lists.within(starts)
    }

    /// The positions of the rows with a word.
    pub(crate) fn list_of(&self, word: ListedWord) -> ListCursor<'_> {
        self.lists.list(word)
    }

    /// The positions of the ranks from `from` to before `to`.
    fn of_ranks(&self, from: u32, to: u32) -> Range<u32> {
        self.first_of(from)..self.first_of(to)
    }

    /// The first position of that rank or a larger one.
    fn first_of(&self, rank: u32) -> u32 {
        let count = (self.firsts.len() / FIRST_BYTES) as u32;
        let rank_at = |place: u32| u32_at(&self.firsts, place as usize * FIRST_BYTES);
        match first_index(0..count, |place| rank_at(place) >= rank) {
            place if place == count => self.len(),
            place => u32_at(&self.firsts, place as usize * FIRST_BYTES + 4),
        }
    }

    /// Checks what reading relies on: the order has all rows, by rank and DocId, and the rows of
    /// each listed word are those in the segment.
    ///
    /// # Errors
    /// [`Error::Damaged`] for the first contradiction.
    pub(crate) fn verify(&self, part: &Path, segment: &SegmentReader, words: Field) -> Result<()> {
        let damaged = |what: &str| Error::damaged(part, format!("ranks: {what}"));
        let mut firsts = self.firsts.chunks(FIRST_BYTES);
        let mut last = None;
        for position in 0..self.len() {
            let doc = self.doc(position);
            if doc >= self.len() || last >= Some((self.rank(doc), doc)) {
                return Err(damaged("rows are out of order"));
            }
            let rank = self.rank(doc);
            if last.is_none_or(|(before, _)| before < rank) {
                let first = [u32::from(rank), position].map(u32::to_le_bytes);
                if firsts.next() != Some(first.as_flattened()) {
                    return Err(damaged("a rank has the wrong first position"));
                }
            }
            last = Some((rank, doc));
        }
        if firsts.next().is_some() {
            return Err(damaged("a rank has no row"));
        }
        if (0..self.len()).any(|position| self.position(self.doc(position)) != position) {
            return Err(damaged("a row is not at its position"));
        }
        self.lists.verify(part, segment, words, self)
    }
}
