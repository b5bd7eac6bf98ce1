//! The rows of a part in the order of their ranks. From this order, a search takes the best of a
//! million matching rows without looking at the others (engine 6).
//!
//! A row's **rank** estimates how much people want the row (`rank`). Its **position** is its place
//! in the order by rank; rows of equal rank are in FIGI order. Seven files, all little-endian:
//! - `ranks.values`: for each DocId its signals, as `u16`, and the ordinal of its importance. The
//!   ordinal takes no byte when no row of the generation has an importance, one byte for up to 255
//!   values, else two;
//! - `ranks.importances`: the values that these ordinals name (see [`importances`]);
//! - `ranks.order`: the DocId at each position, as `u32`;
//! - `ranks.firsts`: for some ranks, ascending, the signals and the ordinal, as `u16`, and the
//!   first position, as `u32` (see [`Runs`]);
//! - `ranks.words` and `ranks.lists`: the positions of the rows with each frequent word (see
//!   [`lists`]);
//! - `ranks.best`: four bits for each DocId: whether it is the best listing of its security, whether
//!   it is a home listing, and how far its market is from home (see [`choice`]).

mod choice;
mod importances;
mod lists;
pub(crate) mod rank;
mod writer;

use std::ops::Range;
use std::path::Path;

use tantivy::InvertedIndexReader;
use tantivy::postings::TermInfo;

pub use self::choice::BestBy;
use self::choice::Standings;
pub(crate) use self::choice::{Distance, Standing};
pub(crate) use self::importances::Importances;
use self::lists::Lists;
pub(crate) use self::lists::{LISTED_MIN, ListCursor, ListedWord};
use self::rank::Rank;
pub(crate) use self::writer::{FactsWriter, Securities, write};
use crate::error::{Error, Result};
use crate::instrument::figi::Figi;
use crate::instrument::importance::Importance;
use crate::instrument::kind::Kind;
use crate::mapped::{Mapped, first_index, u32_at, u64_at};
use crate::part::segment::postings::RarePostings;
use crate::query::Place;

const VALUES: &str = "ranks.values";
const ORDER: &str = "ranks.order";
const FIRSTS: &str = "ranks.firsts";

const FIRST_BYTES: usize = 8;

/// The length from which a run of rows of one rank always has an entry in `ranks.firsts`. See
/// [`Runs`].
const RUN_MIN: u32 = 64;

/// The ranks of one part.
pub(crate) struct Ranks {
    values: Mapped,
    /// The number of bytes of a rank in `values`.
    width: usize,
    importances: Importances,
    order: Mapped,
    firsts: Mapped,
    lists: Lists,
    standings: Standings,
}

impl Ranks {
    pub(crate) fn open(part: &Path, rows: usize) -> Result<Self> {
        let importances = Importances::open(part)?;
        let ranks = Self {
            values: Mapped::open(&part.join(VALUES))?,
            width: width(importances.count()),
            importances,
            order: Mapped::open(&part.join(ORDER))?,
            firsts: Mapped::open(&part.join(FIRSTS))?,
            lists: Lists::open(part)?,
            standings: Standings::open(part, rows)?,
        };
        if ranks.values.len() != ranks.width * rows || ranks.order.len() != 4 * rows {
            return Err(Error::damaged(part, "ranks and rows have different numbers of rows"));
        }
        Ok(ranks)
    }

    /// The number of rows.
    pub(crate) fn len(&self) -> u32 {
        (self.order.len() / 4) as u32
    }

    /// The rank of a row.
    pub(crate) fn rank(&self, doc: u32) -> Rank {
        let bytes = &self.values[self.width * doc as usize..][..self.width];
        let ordinal = match *bytes {
            [_, _, a] => a.into(),
            [_, _, a, b] => u16::from_le_bytes([a, b]),
            _ => 0,
        };
        Rank::new(u16::from_le_bytes([bytes[0], bytes[1]]), ordinal)
    }

    /// Whether a row is the best listing of its security (contract 16.15), and a home listing.
    pub(crate) fn standing(&self, doc: u32) -> Standing {
        self.standings.of(doc)
    }

    /// The importance of a row.
    pub(crate) fn importance(&self, doc: u32) -> Option<Importance> {
        self.importances.at(self.rank(doc).ordinal())
    }

    /// The number of different importances; 0 when no row of the generation has one.
    pub(crate) fn importances(&self) -> usize {
        self.importances.count()
    }

    /// The place of a row with this sort key ([`Rank::sort_key`]).
    pub(crate) fn place(&self, sort_key: u64, figi: Figi) -> Place {
        self.importances.place(sort_key, figi)
    }

    /// The sort key of a place, which may come from another generation. The page after the place
    /// begins with the rows of this sort key that come after the FIGI. If the FIGI is `None`, it
    /// begins with all rows of this sort key.
    pub(crate) fn after(&self, place: Place) -> (u64, Option<Figi>) {
        self.importances.after(place)
    }

    /// The different importances of the generation.
    pub(crate) fn table(&self) -> &Importances {
        &self.importances
    }

    /// The DocId of the row at a position.
    pub(crate) fn doc(&self, position: u32) -> u32 {
        u32_at(&self.order, 4 * position as usize)
    }

    /// The position of a row.
    pub(crate) fn position(&self, doc: u32) -> u32 {
        self.first_from(self.rank(doc), doc)
    }

    /// The first position after all smaller ranks and, within the rank `rank`, after all DocIds
    /// below `doc`.
    pub(crate) fn first_from(&self, rank: Rank, doc: u32) -> u32 {
        let count = (self.firsts.len() / FIRST_BYTES) as u32;
        let next = first_index(0..count, |entry| self.first(entry).0 > rank);
        let Some(entry) = next.checked_sub(1) else { return 0 };
        let ((first, start), end) = (
            self.first(entry),
            match next {
                next if next == count => self.len(),
                next => self.first(next).1,
            },
        );
        if end - start < 2 * RUN_MIN {
            return first_index(start..end, |position| {
                let other = self.doc(position);
                (self.rank(other), other) >= (rank, doc)
            });
        }
        match first == rank {
            true => first_index(start..end, |position| self.doc(position) >= doc),
            false => end,
        }
    }

    /// The positions of the rows of a kind.
    pub(crate) fn of_kind(&self, kind: Kind) -> Range<u32> {
        let first = |kind| self.first_from(Rank::first_of(kind), 0);
        first(kind as usize)..first(kind as usize + 1)
    }

    /// The positions of the rows with a word. `word` is its entry in the segment's dictionary.
    /// `None` for a word of fewer than [`lists::LISTED_MIN`] rows.
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

    /// The rank and the position of an entry of `ranks.firsts`.
    fn first(&self, entry: u32) -> (Rank, u32) {
        // One read for both numbers: a search for a position reads many entries.
        let entry = u64_at(&self.firsts, FIRST_BYTES * entry as usize);
        (Rank::new(entry as u16, (entry >> 16) as u16), (entry >> 32) as u32)
    }

    /// Whether the part has the importances of `securities`.
    pub(crate) fn are_of(&self, securities: &Securities) -> bool {
        self.importances.are(&securities.importances)
    }

    /// Checks the conditions that reading relies on: the order has all rows, by rank and DocId;
    /// each rank has a known importance; and each listed word has the same rows as in the segment.
    ///
    /// # Errors
    /// [`Error::Damaged`] for the first contradiction.
    pub(crate) fn verify(
        &self,
        part: &Path,
        words: &InvertedIndexReader,
        rare_postings: &RarePostings,
    ) -> Result<()> {
        let damaged = |what: &str| Error::damaged(part, format!("ranks: {what}"));
        if !self.standings.end_after(self.len()) {
            return Err(damaged("there are best listings after the last row"));
        }
        if !self.importances.are_sound() {
            return Err(damaged("the importances do not ascend"));
        }
        let mut runs = Runs::default();
        let mut last = None;
        for position in 0..self.len() {
            let doc = self.doc(position);
            if doc >= self.len() || last >= Some((self.rank(doc), doc)) {
                return Err(damaged("rows are out of order"));
            }
            let rank = self.rank(doc);
            if !self.importances.has(rank) {
                return Err(damaged("a row has an importance that is not there"));
            }
            runs.add(rank, position);
            last = Some((rank, doc));
        }
        if *self.firsts != runs.finish(self.len()) {
            return Err(damaged("a rank has the wrong first position"));
        }
        if (0..self.len()).any(|position| self.position(self.doc(position)) != position) {
            return Err(damaged("a row is not at its position"));
        }
        self.lists.verify(part, words, rare_postings, self)
    }
}

/// The number of bytes of a rank in `ranks.values`, for that many importances.
fn width(importances: usize) -> usize {
    const ONE_BYTE: usize = u8::MAX as usize;
    match importances {
        0 => 2,
        1..=ONE_BYTE => 3,
        _ => 4,
    }
}

/// Makes the entries of `ranks.firsts`. Between two entries, all rows have one rank, or there are
/// fewer rows than twice [`RUN_MIN`]. So a position is found in few steps, and the entries take
/// less than half a byte per row, however many ranks there are.
#[derive(Default)]
struct Runs {
    entries: Vec<u8>,
    /// The position of the last entry.
    entered: u32,
    /// The rank and the first position of the last run, and whether the run still has no entry.
    run: Option<(Rank, u32, bool)>,
}

impl Runs {
    /// Adds the row at the next position.
    fn add(&mut self, rank: Rank, position: u32) {
        if self.run.is_some_and(|(last, ..)| last == rank) {
            return;
        }
        let was_long = self.run.is_none_or(|(_, start, _)| position - start >= RUN_MIN);
        self.end_run(position);
        let is_next = was_long || position - self.entered >= RUN_MIN;
        if is_next {
            self.enter(rank, position);
        }
        self.run = Some((rank, position, !is_next));
    }

    /// Finishes the entries of `rows` rows, and returns their bytes.
    fn finish(mut self, rows: u32) -> Vec<u8> {
        self.end_run(rows);
        self.entries
    }

    fn end_run(&mut self, end: u32) {
        if let Some((rank, start, true)) = self.run
            && end - start >= RUN_MIN
        {
            self.enter(rank, start);
        }
    }

    fn enter(&mut self, rank: Rank, position: u32) {
        self.entered = position;
        self.entries.extend_from_slice(&rank.signals().to_le_bytes());
        self.entries.extend_from_slice(&rank.ordinal().to_le_bytes());
        self.entries.extend_from_slice(&position.to_le_bytes());
    }
}
