//! Sets of rows of one part, in bounded memory. A set of few rows is a sorted list; a set of many
//! rows is one bit for each row of the part. So a set takes at most a few kilobytes in a small
//! part, and about an eighth of a byte for each row in a larger part: 2 MB in the largest parts
//! that a build makes.

use tantivy::TERMINATED;

/// A list may always have this many rows, even in a small part.
const FEW_ROWS_MIN: usize = 256;

/// The number of rows of the part divided by the length of the longest list. A list of that length,
/// with the unused capacity of a growing list, takes as much memory as the bits.
const ROWS_PER_LISTED: usize = 64;

/// A set of DocIds or of positions, all below the number of rows of a part.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RowSet {
    rows: u32,
    /// The list, ascending after [`RowSet::sort`]; empty when there are bits.
    few: Vec<u32>,
    bits: Vec<u64>,
}

impl RowSet {
    /// An empty set, for a part of `rows` rows.
    pub(crate) fn new(rows: u32) -> Self {
        Self { rows, few: Vec::new(), bits: Vec::new() }
    }

    /// The set of the rows whose bit is set, for a part of `rows` rows.
    pub(crate) fn of_bits(rows: u32, bits: Vec<u64>) -> Self {
        debug_assert_eq!(bits.len(), (rows as usize).div_ceil(64));
        Self { rows, few: Vec::new(), bits }
    }

    /// Adds a row. Call [`RowSet::sort`] before reading the set, unless all rows were added in
    /// ascending order.
    pub(crate) fn insert(&mut self, row: u32) {
        if !self.bits.is_empty() {
            self.set(row);
        } else if self.few.last() != Some(&row) {
            self.few.push(row);
            if self.few.len() > FEW_ROWS_MIN.max(self.rows as usize / ROWS_PER_LISTED) {
                self.spread();
            }
        }
    }

    /// Sorts the rows and removes repeats. Needed after rows of several lists were added.
    pub(crate) fn sort(&mut self) {
        self.few.sort_unstable();
        self.few.dedup();
    }

    /// A bit for each row of the part, in words of 64; `None` for a list of few rows.
    pub(crate) fn bits(&self) -> Option<&[u64]> {
        (!self.bits.is_empty()).then_some(&self.bits[..])
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.few.is_empty() && self.bits.iter().all(|word| *word == 0)
    }

    /// The number of rows.
    pub(crate) fn len(&self) -> usize {
        let bits: usize = self.bits.iter().map(|word| word.count_ones() as usize).sum();
        self.few.len() + bits
    }

    pub(crate) fn contains(&self, row: u32) -> bool {
        match self.bits.get(row as usize / 64) {
            Some(word) => word >> (row % 64) & 1 == 1,
            None => !self.few.is_empty() && self.few.binary_search(&row).is_ok(),
        }
    }

    /// A cursor at the first row.
    pub(crate) fn cursor(&self) -> Cursor<'_> {
        Cursor { set: self, place: 0, row: 0 }.begun()
    }

    /// The rows, ascending.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> {
        let mut cursor = self.cursor();
        std::iter::from_fn(move || {
            let row = cursor.row();
            cursor.advance();
            (row != TERMINATED).then_some(row)
        })
    }

    /// Turns the list into bits.
    fn spread(&mut self) {
        self.bits = vec![0; (self.rows as usize).div_ceil(64)];
        for row in std::mem::take(&mut self.few) {
            self.set(row);
        }
    }

    fn set(&mut self, row: u32) {
        self.bits[row as usize / 64] |= 1 << (row % 64);
    }
}

/// A cursor over the rows of a set, ascending.
pub(crate) struct Cursor<'a> {
    set: &'a RowSet,
    /// The place of the current row in the list; unused for bits.
    place: usize,
    row: u32,
}

impl Cursor<'_> {
    fn begun(mut self) -> Self {
        self.row = match self.set.bits.is_empty() {
            true => self.listed(),
            false => self.bit_from(0),
        };
        self
    }

    /// The current row; [`TERMINATED`] when none is left.
    pub(crate) fn row(&self) -> u32 {
        self.row
    }

    pub(crate) fn advance(&mut self) {
        if self.row == TERMINATED {
            return;
        }
        self.place += 1;
        self.row = match self.set.bits.is_empty() {
            true => self.listed(),
            false => self.bit_from(self.row + 1),
        };
    }

    /// Moves forward to the first row at or after `target`. If the current row is already there or
    /// beyond, it stays.
    pub(crate) fn seek(&mut self, target: u32) {
        if self.row >= target {
            return;
        }
        if self.set.bits.is_empty() {
            self.place += self.set.few[self.place..].partition_point(|row| *row < target);
            self.row = self.listed();
        } else {
            self.row = self.bit_from(target);
        }
    }

    fn listed(&self) -> u32 {
        self.set.few.get(self.place).copied().unwrap_or(TERMINATED)
    }

    fn bit_from(&self, row: u32) -> u32 {
        let mut place = row as usize / 64;
        let mut mask = u64::MAX << (row % 64);
        while let Some(word) = self.set.bits.get(place) {
            if word & mask != 0 {
                return 64 * place as u32 + (word & mask).trailing_zeros();
            }
            (place, mask) = (place + 1, u64::MAX);
        }
        TERMINATED
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    /// Enough rows that both forms of a set occur.
    const ROWS: u32 = 40_000;

    fn rows() -> impl Strategy<Value = Vec<u32>> {
        let few = proptest::collection::vec(0..ROWS, 0..300);
        let many = proptest::collection::vec(0..ROWS, 600..2_000);
        prop_oneof![few, many]
    }

    proptest! {
        #[test]
        fn it_is_a_set(rows in rows(), asked in proptest::collection::vec(0..ROWS, 0..50)) {
            let mut set = RowSet::new(ROWS);
            rows.iter().for_each(|row| set.insert(*row));
            set.sort();
            let plain: BTreeSet<u32> = rows.into_iter().collect();
            prop_assert_eq!((set.len(), set.is_empty()), (plain.len(), plain.is_empty()));
            prop_assert!(set.iter().eq(plain.iter().copied()));
            for row in &asked {
                prop_assert_eq!(set.contains(*row), plain.contains(row));
                let mut cursor = set.cursor();
                cursor.seek(*row);
                let next = plain.range(row..).next().copied();
                prop_assert_eq!(cursor.row(), next.unwrap_or(TERMINATED));
                cursor.advance();
                let after = next.and_then(|next| plain.range(next + 1..).next().copied());
                prop_assert_eq!(cursor.row(), after.unwrap_or(TERMINATED));
            }
        }
    }

    #[test]
    fn its_memory_is_bounded_by_the_rows_of_the_part() {
        let mut set = RowSet::new(1 << 20);
        for row in 0..1 << 20 {
            set.insert(row);
            let bytes = 4 * set.few.capacity() + 8 * set.bits.len();
            assert!(bytes <= (1 << 20) / 8 + 4 * FEW_ROWS_MIN, "{bytes} bytes of {row} rows");
        }
        assert_eq!(set.len(), 1 << 20);
    }
}
