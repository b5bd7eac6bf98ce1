//! Sets of rows of one part, in bounded memory: a few rows as a sorted list, many as a
//! bit for each row of the part. However long the lists are that a set is made from, it
//! takes at most about an eighth of a byte for each row of the part: 2 MB for the largest
//! parts that a build makes.

use tantivy::TERMINATED;

/// Sets of at most this many rows are always lists.
const FEW_ROWS_MIN: usize = 256;

/// Rows of the part for each row of the longest list: with the slack of a growing list
/// one takes as much memory as the bits.
const ROWS_PER_LISTED: usize = 64;

/// Numbers below that of a part's rows: DocIds, or positions.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RowSet {
    rows: u32,
    /// Ascending after [`RowSet::sort`]; empty when there are bits.
    few: Vec<u32>,
    bits: Vec<u64>,
}

impl RowSet {
    /// An empty set of rows of a part with that many.
    pub(crate) fn new(rows: u32) -> Self {
        Self { rows, few: Vec::new(), bits: Vec::new() }
    }

    /// Adds a row. Before the set is read it must be sorted, unless rows came in
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

    /// Puts the rows into order after those of several lists were added.
    pub(crate) fn sort(&mut self) {
        self.few.sort_unstable();
        self.few.dedup();
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.few.is_empty() && self.bits.is_empty()
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

    /// The rows, ascending.
    pub(crate) fn cursor(&self) -> Cursor<'_> {
        Cursor { set: self, place: 0, row: 0 }.begun()
    }

    /// The same as an iterator.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> {
        let mut cursor = self.cursor();
        std::iter::from_fn(move || {
            let row = cursor.row();
            cursor.advance();
            (row != TERMINATED).then_some(row)
        })
    }

    /// Goes over to bits.
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

/// A walk over the rows of a set.
pub(crate) struct Cursor<'a> {
    set: &'a RowSet,
    /// In a list, the place of the current row.
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

    /// Goes to the first row that is not before `target`.
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

    /// Enough that both forms occur: more rows than this are held as bits.
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
