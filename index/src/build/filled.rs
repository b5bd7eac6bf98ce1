//! The number of instruments that have a value in each column. The manifest of a generation keeps
//! these numbers. So the next build notices that a dump has lost a column, and need not read the
//! previous generation for this.

use std::collections::BTreeMap;

use crate::instrument::Instrument;

/// Counts the instruments that have each column.
#[derive(Clone, Debug, Default)]
pub struct Filled {
    /// All columns in their order; none before the first instrument.
    counts: Vec<(&'static str, u64)>,
}

impl Filled {
    /// Counts one more instrument.
    pub fn add(&mut self, instrument: &Instrument) {
        if self.counts.is_empty() {
            self.counts = instrument.columns().map(|(name, _)| (name, 0)).collect();
        }
        // A `for` would ask at each column which of the chained ones is next; `for_each` does not.
        let mut counts = self.counts.iter_mut();
        instrument.columns().for_each(|(_, value)| {
            let (_, count) = counts.next().expect("each instrument has the same columns");
            *count += u64::from(value.is_some());
        });
    }

    /// The counts by the name that the column has in a dump, without empty columns.
    pub fn counts(&self) -> BTreeMap<String, u64> {
        let filled = self.counts.iter().filter(|(_, count)| *count > 0);
        filled.map(|(name, count)| ((*name).to_owned(), *count)).collect()
    }
}
