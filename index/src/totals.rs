//! How many rows answer a question, remembered: a generation never changes, so that
//! the second page of a filter need not count again (engine, decision 2).

use std::collections::HashMap;

use parking_lot::Mutex;

use crate::query::Search;
use crate::uses::{Counted, Uses};

/// Questions that are remembered; with the longest texts they take 12 MB.
const REMEMBERED_MAX: usize = 4096;

/// The totals of a catalogue, as far as somebody asked for them.
#[derive(Default)]
pub(crate) struct Totals {
    known: Mutex<HashMap<Search, u64>>,
    counted: Counted,
}

impl Totals {
    pub(crate) fn get(&self, search: &Search) -> Option<u64> {
        let total = self.known.lock().get(search).copied();
        if total.is_some() {
            self.counted.hit();
        }
        total
    }

    pub(crate) fn uses(&self) -> Uses {
        self.counted.uses()
    }

    pub(crate) fn remember(&self, search: &Search, total: u64) {
        self.counted.miss();
        let mut known = self.known.lock();
        if known.len() == REMEMBERED_MAX {
            // To forget all costs each question that is still asked one more count, once
            // in thousands of new ones; to know which are asked would cost a list that
            // every hit moves.
            known.clear();
        }
        known.insert(search.clone(), total);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interval::NumberInterval;
    use crate::query::Filters;

    fn search(strike: f64) -> Search {
        let strike = NumberInterval::new(Some(strike), None).ok();
        Search { keywords: None, filters: Filters { strike, ..Filters::default() } }
    }

    #[test]
    fn a_bounded_memory() {
        let totals = Totals::default();
        totals.remember(&search(0.0), 7);
        assert_eq!(totals.get(&search(-0.0)), Some(7));
        assert_eq!(totals.get(&search(1.0)), None);
        assert_eq!(totals.uses(), Uses { hits: 1, misses: 1 });
        for number in 0..REMEMBERED_MAX {
            totals.remember(&search(number as f64 + 1.0), 1);
        }
        assert!(totals.known.lock().len() <= REMEMBERED_MAX);
        assert_eq!(totals.get(&search(REMEMBERED_MAX as f64)), Some(1));
    }
}
