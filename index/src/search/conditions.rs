//! What filters ask of the rows of one part: for a row at a time here, and for a block
//! of rows at a time in `selection`.

use std::cmp::Reverse;

use crate::part::Part;
use crate::part::bitmaps::Bitmap;
use crate::part::numbers::Interval;
use crate::query::Filters;

/// The filters of a question, looked up in a part.
#[derive(Clone, Default)]
pub(crate) struct Conditions<'a> {
    /// Bitmaps that must all have the row, the rarest first.
    pub(crate) demanded: Vec<Bitmap<'a>>,
    /// Of each of these, one bitmap must have the row, the most frequent first. A
    /// property has one value in a row, so that no two of them have the same row.
    pub(crate) any_of: Vec<Vec<Bitmap<'a>>>,
    /// A bitmap that must not have it.
    pub(crate) excluded: Option<Bitmap<'a>>,
    pub(crate) intervals: Vec<Interval<'a>>,
    /// A value is demanded that no row has.
    pub(crate) is_impossible: bool,
}

impl<'a> Conditions<'a> {
    pub(crate) fn new(part: &'a Part, filters: &Filters) -> Self {
        let mut is_impossible = false;
        // Most questions have none, and then this allocates nothing.
        let (mut demanded, mut any_of) = (Vec::new(), Vec::new());
        for asked in filters.known.iter() {
            let mut bitmaps = asked.values().filter_map(|known| part.bitmaps.of(known));
            match (bitmaps.next(), bitmaps.next()) {
                (None, _) => is_impossible = true,
                (Some(bitmap), None) => demanded.push(bitmap),
                (Some(first), Some(second)) => {
                    let mut any: Vec<_> = [first, second].into_iter().chain(bitmaps).collect();
                    any.sort_by_key(|bitmap| Reverse(bitmap.rows()));
                    any_of.push(any);
                }
            }
        }
        demanded.sort_by_key(|bitmap| bitmap.rows());
        let excluded = part.bitmaps.unlisted_equities();
        let excluded = excluded.filter(|_| !filters.include_unlisted_equities);
        let intervals = part.numbers.intervals(filters);
        is_impossible |= intervals.iter().any(Interval::is_empty);
        Self { demanded, any_of, excluded, intervals, is_impossible }
    }

    /// The number of bitmaps in which a row may be looked up.
    pub(crate) fn bitmaps(&self) -> usize {
        let any_of: usize = self.any_of.iter().map(Vec::len).sum();
        self.demanded.len() + any_of + usize::from(self.excluded.is_some())
    }

    /// The units of looking at one row: reading its DocId, and looking it up.
    pub(crate) fn row_units(&self) -> u64 {
        1 + (self.bitmaps() + self.intervals.len()) as u64
    }

    /// Whether a row passes them all.
    pub(crate) fn pass(&self, doc: u32) -> bool {
        !self.is_impossible
            && self.demanded.iter().all(|bitmap| bitmap.contains(doc))
            && self.any_of.iter().all(|any| any.iter().any(|bitmap| bitmap.contains(doc)))
            && self.excluded.is_none_or(|bitmap| !bitmap.contains(doc))
            && self.intervals.iter().all(|interval| interval.contains(doc))
    }
}
