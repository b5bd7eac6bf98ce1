//! What filters ask of the rows of one part: for a row at a time here, and for a block
//! of rows at a time in `selection`.

use crate::bitmaps::Bitmap;
use crate::numbers::Interval;
use crate::part::Part;
use crate::query::Filters;

/// The filters of a question, looked up in a part.
#[derive(Clone, Default)]
pub(crate) struct Conditions<'a> {
    /// Bitmaps that must all have the row, the rarest first.
    pub(crate) demanded: Vec<Bitmap<'a>>,
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
        let mut demanded = Vec::new();
        for known in filters.known.iter() {
            match part.bitmaps.of(known) {
                Some(bitmap) => demanded.push(bitmap),
                None => is_impossible = true,
            }
        }
        demanded.sort_by_key(|bitmap| bitmap.rows());
        let excluded = part.bitmaps.unlisted_equities();
        let excluded = excluded.filter(|_| !filters.include_unlisted_equities);
        let intervals = part.numbers.intervals(filters);
        is_impossible |= intervals.iter().any(Interval::is_empty);
        Self { demanded, excluded, intervals, is_impossible }
    }

    /// Whether a row passes them all.
    pub(crate) fn pass(&self, doc: u32) -> bool {
        !self.is_impossible
            && self.demanded.iter().all(|bitmap| bitmap.contains(doc))
            && self.excluded.is_none_or(|bitmap| !bitmap.contains(doc))
            && self.intervals.iter().all(|interval| interval.contains(doc))
    }
}
