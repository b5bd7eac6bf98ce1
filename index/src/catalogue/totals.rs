//! How many rows answer a question, remembered, so that the second page of a filter need
//! not count again.

use super::cache::{Remembered, bytes};
use super::uses::Uses;
use crate::query::{Keywords, Search};

/// The totals of a catalogue, as far as somebody asked for them.
#[derive(Default)]
pub(crate) struct Totals(Remembered<Search, u64>);

impl Totals {
    pub(crate) fn get(&self, search: &Search) -> Option<u64> {
        self.0.get(search)
    }

    pub(crate) fn uses(&self) -> Uses {
        self.0.uses()
    }

    pub(crate) fn remember(&self, search: &Search, total: u64) {
        let keywords = search.keywords.as_ref();
        let bytes = bytes(keywords, &search.filters);
        let keywords = keywords.map(Keywords::without_words);
        let question = Search { keywords, filters: search.filters.clone() };
        self.0.remember(question, total, bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::Filters;
    use crate::query::interval::NumberInterval;

    #[test]
    fn questions_that_mean_the_same_are_one() {
        let of = |strike: f64, text: &str| {
            let strike = NumberInterval::new(Some(strike), None).ok();
            let keywords = Keywords::parse(text).ok();
            Search { keywords, filters: Filters { strike, ..Filters::default() } }
        };
        let totals = Totals::default();
        totals.remember(&of(0.0, "two words"), 7);
        assert_eq!(totals.get(&of(-0.0, "two words")), Some(7));
        assert_eq!(totals.get(&of(1.0, "two words")), None);
        assert_eq!(totals.get(&of(0.0, "two")), None);
        assert_eq!(totals.uses(), Uses { hits: 1, misses: 1 });
    }
}
