//! Columns that fewer instruments have than in the published generation: a dump may have lost an
//! identifier or a property without losing a row.

use std::collections::BTreeMap;
use std::fmt;

use figdex_io::grouped;
use serde::Serialize;

/// The part of its share that a column may lose, as a divisor: one fifth.
const LOSS_DIVISOR: u64 = 5;

/// The fewest lost instruments that count as a loss. A column that only a handful of instruments
/// have differs every day.
pub(super) const LOST_MIN: u64 = 10;

/// A column that lost more than a fifth of its share of instruments with a value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LessFilled {
    /// The column's name.
    pub column: String,
    /// Number of instruments with a value in the new generation.
    pub filled: u64,
    /// Number of instruments of the new generation.
    pub instruments: u64,
    /// Number of instruments with a value in the published generation.
    pub filled_before: u64,
    /// Number of instruments of the published generation.
    pub instruments_before: u64,
}

/// The columns that are less filled than before. The two arguments are the old and the new
/// generation: the number of instruments, and the number with a value in each column.
pub(crate) fn less_filled(
    (instruments_before, before): (u64, &BTreeMap<String, u64>),
    (instruments, now): (u64, &BTreeMap<String, u64>),
) -> Vec<LessFilled> {
    let columns = before.iter().map(|(column, &filled_before)| LessFilled {
        column: column.clone(),
        filled: now.get(column).copied().unwrap_or(0),
        instruments,
        filled_before,
        instruments_before,
    });
    columns.filter(LessFilled::is_loss).collect()
}

impl LessFilled {
    fn is_loss(&self) -> bool {
        let Self { filled, instruments, filled_before, instruments_before, .. } = *self;
        // The number that there would be with the earlier share.
        let expected = u128::from(filled_before) * u128::from(instruments)
            / u128::from(instruments_before.max(1));
        let lost = expected.saturating_sub(u128::from(filled));
        lost >= u128::from(LOST_MIN) && lost * u128::from(LOSS_DIVISOR) > expected
    }
}

/// A sentence with both numbers.
impl fmt::Display for LessFilled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { column, filled, instruments, filled_before, instruments_before } = self;
        let share = |filled: u64, of: u64| {
            let percent = filled as f64 * 100.0 / of.max(1) as f64;
            format!("{} of {} instruments ({percent:.1} %)", grouped(filled), grouped(of))
        };
        let (now, before) =
            (share(*filled, *instruments), share(*filled_before, *instruments_before));
        write!(f, "only {now} have {column}; in the published generation {before} had it")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A column is named when its share falls by more than a fifth and the loss is more than a few
    /// instruments, however many instruments there are now.
    #[test]
    fn a_loss_is_a_share_of_the_share() {
        for (before, now, is_named) in [
            ((1_000, 900), (1_000, 0), true),
            ((1_000, 900), (1_000, 720), false),
            ((1_000, 900), (1_000, 719), true),
            ((1_000, 900), (500, 450), false),
            ((1_000, 900), (500, 300), true),
            ((1_000, 900), (2_000, 900), true),
            ((1_000, 9), (1_000, 0), false),
            ((1_000, 10), (1_000, 0), true),
            ((0, 0), (1_000, 0), false),
        ] {
            let of = |filled| BTreeMap::from([("ID_SEDOL".to_owned(), filled)]);
            let found = less_filled((before.0, &of(before.1)), (now.0, &of(now.1)));
            assert_eq!(found.len(), usize::from(is_named), "{before:?} {now:?}");
        }
    }
}
