//! Second step of a search: the filters of a question, looked up in one part. This module verifies
//! one row at a time; `selection` combines the conditions for blocks of rows.

use std::cmp::Reverse;

use crate::meter::Meter;
use crate::part::Part;
use crate::part::bitmaps::Bitmap;
use crate::part::numbers::Interval;
use crate::query::Filters;

/// The filters of a question, looked up in a part.
#[derive(Clone, Default)]
pub(crate) struct Conditions<'a> {
    /// Bitmaps that must all contain the row, the one with the fewest rows first.
    pub(crate) demanded: Vec<Bitmap<'a>>,
    /// Groups of bitmaps. In each group, one bitmap must contain the row; the bitmap with the most
    /// rows comes first. A group holds values of one property, or levels. A row has at most one of
    /// these, so the bitmaps of a group share no row.
    pub(crate) any_of: Vec<Vec<Bitmap<'a>>>,
    /// A bitmap that must not contain the row.
    pub(crate) excluded: Option<Bitmap<'a>>,
    pub(crate) intervals: Vec<Interval<'a>>,
    /// Whether no row can pass: for some filter, no row of the part has an allowed value.
    pub(crate) is_impossible: bool,
}

impl<'a> Conditions<'a> {
    pub(crate) fn new(part: &'a Part, filters: &Filters) -> Self {
        let mut is_impossible = false;
        // These vectors allocate nothing for most questions, which do not restrict values.
        let (mut demanded, mut any_of) = (Vec::new(), Vec::new());
        let mut one_of = |bitmaps: &mut dyn Iterator<Item = Bitmap<'a>>| match (
            bitmaps.next(),
            bitmaps.next(),
        ) {
            (None, _) => is_impossible = true,
            (Some(bitmap), None) => demanded.push(bitmap),
            (Some(first), Some(second)) => {
                let mut any: Vec<_> = [first, second].into_iter().chain(bitmaps).collect();
                any.sort_by_key(|bitmap| Reverse(bitmap.rows()));
                any_of.push(any);
            }
        };
        for asked in filters.known.iter() {
            one_of(&mut asked.values().filter_map(|known| part.bitmaps.of(known)));
        }
        if !filters.levels.is_empty() {
            one_of(&mut filters.levels.iter().filter_map(|level| part.bitmaps.of_level(level)));
        }
        demanded.sort_by_key(|bitmap| bitmap.rows());
        let excluded = part.bitmaps.unlisted_equities();
        let excluded = excluded.filter(|_| !filters.include_unlisted_equities);
        let intervals = part.numbers.intervals(filters);
        is_impossible |= intervals.iter().any(Interval::is_empty);
        Self { demanded, any_of, excluded, intervals, is_impossible }
    }

    /// The number of rows that pass an interval which is the only condition. `None` for other
    /// conditions, and when the rows must be counted.
    pub(crate) fn total_of_interval(&self, meter: &Meter) -> Option<u64> {
        let is_alone = self.demanded.is_empty() && self.any_of.is_empty() && !self.is_impossible;
        match &self.intervals[..] {
            [interval] if is_alone => interval.total(self.excluded, meter),
            _ => None,
        }
    }

    /// The largest number of bitmaps in which a row is looked up.
    pub(crate) fn bitmaps(&self) -> usize {
        let any_of: usize = self.any_of.iter().map(Vec::len).sum();
        self.demanded.len() + any_of + usize::from(self.excluded.is_some())
    }

    /// The units of work of verifying one row, including those of reading its DocId.
    pub(crate) fn row_units(&self) -> u64 {
        1 + (self.bitmaps() + self.intervals.len()) as u64
    }

    /// Whether a row passes all conditions.
    pub(crate) fn pass(&self, doc: u32) -> bool {
        !self.is_impossible
            && self.demanded.iter().all(|bitmap| bitmap.contains(doc))
            && self.any_of.iter().all(|any| any.iter().any(|bitmap| bitmap.contains(doc)))
            && self.excluded.is_none_or(|bitmap| !bitmap.contains(doc))
            && self.intervals.iter().all(|interval| interval.contains(doc))
    }
}
