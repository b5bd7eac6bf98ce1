//! The distinct importances of a generation. A rank holds the **ordinal** of its row's importance:
//! the place of this importance in the list, from 1 on, or 0 for a row without an importance.
//!
//! The file `ranks.importances` has the values, ascending, as the little-endian bits of `f64`. The
//! file is the same in all parts, so ordinals of different parts can be compared. When there are
//! more than [`VALUES_MAX`] values, all of them lose their last bits until few enough are left.
//! They are then accurate to some thousandths, and the other signals order rows whose values have
//! become equal.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::ops::Deref;
use std::path::Path;

use super::rank::{CLASS_BITS, RANK_BITS, Rank};
use crate::error::Result;
use crate::instrument::figi::Figi;
use crate::instrument::importance::Importance;
use crate::mapped::{Mapped, first_index, u64_at};
use crate::part::file_writer::write_file;
use crate::query::Place;

const FILE: &str = "ranks.importances";

const VALUE_BYTES: usize = 8;

/// The most distinct values: an ordinal has 16 bits.
pub(crate) const VALUES_MAX: usize = u16::MAX as usize;

/// The significant bits of an importance before any are lost.
const BITS: u32 = f64::MANTISSA_DIGITS;

/// Collects the distinct values, in any order and in bounded memory.
#[derive(Default)]
pub(super) struct Collected {
    values: BTreeSet<u64>,
    /// The number of last bits that every value has lost.
    lost: u32,
}

impl Collected {
    pub(super) fn add(&mut self, importance: Importance) {
        self.values.insert(without_last(importance, self.lost));
        // Fewer bits never make more values, so the order in which values are added does not
        // matter.
        while self.values.len() > VALUES_MAX {
            self.lost += 1;
            let values = std::mem::take(&mut self.values).into_iter();
            self.values = values.map(|bits| bits >> self.lost << self.lost).collect();
        }
    }

    pub(super) fn finish(self) -> Values {
        Values { sorted: self.values.into_iter().collect(), lost: self.lost }
    }
}

/// The values of a generation that is being built.
pub(super) struct Values {
    sorted: Vec<u64>,
    lost: u32,
}

impl Values {
    pub(super) fn count(&self) -> usize {
        self.sorted.len()
    }

    /// The ordinal of an importance. The importance must have been collected.
    pub(super) fn ordinal(&self, importance: Option<Importance>) -> u16 {
        let Some(importance) = importance else { return 0 };
        let bits = without_last(importance, self.lost);
        self.sorted.partition_point(|value| *value <= bits) as u16
    }

    /// The significant bits that are kept of each value, if some were lost.
    pub(super) fn bits(&self) -> Option<u32> {
        (self.lost > 0).then(|| BITS.saturating_sub(self.lost))
    }

    pub(super) fn write(&self, part: &Path) -> Result<()> {
        write_file(&part.join(FILE), &self.bytes())
    }

    fn bytes(&self) -> Vec<u8> {
        self.sorted.iter().flat_map(|bits| bits.to_le_bytes()).collect()
    }
}

/// The bits of an importance, with the last `lost` bits cleared.
fn without_last(importance: Importance, lost: u32) -> u64 {
    importance.to_bits() >> lost << lost
}

/// The values of a generation: in a file of a part, or in memory for an engine of documents.
pub(crate) struct Importances<B = Mapped>(B);

impl Importances {
    pub(super) fn open(part: &Path) -> Result<Self> {
        Mapped::open(&part.join(FILE)).map(Self)
    }

    /// Whether the file has these values.
    pub(super) fn are(&self, values: &Values) -> bool {
        *self.0 == values.bytes()
    }
}

impl Importances<Vec<u8>> {
    /// Reads the values from these bytes; `None` when they are invalid.
    pub(crate) fn of_bytes(bytes: Vec<u8>) -> Option<Self> {
        Some(Self(bytes)).filter(Self::are_sound)
    }
}

impl<B: Deref<Target = [u8]>> Importances<B> {
    /// The bytes of the values.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// The number of values.
    pub(crate) fn count(&self) -> usize {
        self.0.len() / VALUE_BYTES
    }

    /// The value with that ordinal; `None` for 0 and for an ordinal that is too large.
    pub(super) fn at(&self, ordinal: u16) -> Option<Importance> {
        let place = usize::from(ordinal).checked_sub(1).filter(|place| *place < self.count())?;
        Importance::from_bits(self.bits(place))
    }

    /// The ordinal of the largest value that is not above `importance` (0 when there is none), and
    /// whether that value is `importance` itself.
    pub(super) fn up_to(&self, importance: Option<Importance>) -> (u16, bool) {
        let Some(importance) = importance else { return (0, true) };
        let bits = importance.to_bits();
        let ordinal =
            first_index(0..self.count() as u32, |place| self.bits(place as usize) > bits) as u16;
        (ordinal, self.at(ordinal) == Some(importance))
    }

    /// The place of a row with this sort key ([`Rank::sort_key`]).
    pub(crate) fn place(&self, sort_key: u64, figi: Figi) -> Place {
        let rank = Rank::of_sort_key(sort_key);
        Place {
            class: (sort_key >> (RANK_BITS - CLASS_BITS)) as u16,
            importance: Reverse(self.at(rank.ordinal())),
            rest: rank.rest(),
            figi,
        }
    }

    /// The sort key of a place, which may come from another generation. The page after the place
    /// begins with the rows of this sort key that come after the FIGI. If the FIGI is `None`, it
    /// begins with all rows of this sort key.
    pub(crate) fn after(&self, place: Place) -> (u64, Option<Figi>) {
        let tier = u64::from(place.class >> CLASS_BITS);
        let (ordinal, is_same) = self.up_to(place.importance.0);
        // When no row has that importance, the rows of the next smaller one follow.
        let (rest, figi) = if is_same { (place.rest, Some(place.figi)) } else { (0, None) };
        (Rank::of(place.class, ordinal, rest).sort_key(tier), figi)
    }

    /// Whether the values are valid importances, ascending, and few enough for the ordinals of
    /// ranks.
    pub(super) fn are_sound(&self) -> bool {
        let bits = (0..self.count()).map(|place| self.bits(place));
        self.0.len().is_multiple_of(VALUE_BYTES)
            && self.count() <= VALUES_MAX
            && bits.clone().is_sorted_by(|a, b| a < b)
            && bits.map(Importance::from_bits).all(|value| value.is_some())
    }

    /// Whether the ordinal in a row's rank is 0 or has a value.
    pub(super) fn has(&self, rank: Rank) -> bool {
        usize::from(rank.ordinal()) <= self.count()
    }

    fn bits(&self, place: usize) -> u64 {
        u64_at(&self.0, place * VALUE_BYTES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn collected(numbers: impl IntoIterator<Item = f64>) -> Values {
        let mut collected = Collected::default();
        numbers.into_iter().for_each(|number| collected.add(Importance::new(number).unwrap()));
        collected.finish()
    }

    #[test]
    fn values_are_exact_as_long_as_they_fit() {
        let count = VALUES_MAX as u32;
        let values = collected((0..count).rev().map(|number| f64::from(number) / 7.0));
        assert_eq!((values.sorted.len(), values.bits()), (VALUES_MAX, None));
        for number in [0, 1, 77, count - 1] {
            let importance = Importance::new(f64::from(number) / 7.0);
            assert_eq!(u32::from(values.ordinal(importance)), number + 1);
        }
        assert_eq!(values.ordinal(None), 0);
    }

    /// With one value more all lose bits, whatever order they came in, and keep their order.
    #[test]
    fn more_values_lose_bits() {
        let numbers = || (0..=VALUES_MAX as u32).map(|number| 1e6 + f64::from(number) * 3.3);
        let (values, again) = (collected(numbers()), collected(numbers().rev()));
        assert!(values.sorted == again.sorted && values.lost == again.lost);
        assert!((VALUES_MAX / 4..=VALUES_MAX).contains(&values.sorted.len()));
        assert!(values.bits().is_some_and(|bits| (12..53).contains(&bits)), "{:?}", values.bits());
        let ordinals: Vec<_> =
            numbers().map(|number| values.ordinal(Importance::new(number))).collect();
        assert!(ordinals.is_sorted() && ordinals[0] == 1);
        // The values that are kept do not change when they are collected again.
        let kept = values.sorted.iter().map(|bits| f64::from_bits(*bits));
        let kept = collected(kept);
        assert!(kept.sorted == values.sorted && kept.bits().is_none());
    }
}
