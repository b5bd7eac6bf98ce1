//! The question of a search or of a filter.

use std::cmp::Reverse;

use super::{Filters, Keywords};
use crate::instrument::figi::Figi;
use crate::instrument::importance::Importance;

/// A question: the words that a row must hold, and the filters that the row must pass.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Search {
    /// The words; `None` when every row that passes the filters matches.
    pub keywords: Option<Keywords>,
    /// The filters.
    pub filters: Filters,
}

impl Search {
    /// A copy of the question without the words that follow from the text, for a cache.
    pub(crate) fn without_words(&self) -> Self {
        let keywords = self.keywords.as_ref().map(Keywords::without_words);
        Self { keywords, filters: self.filters.clone() }
    }
}

/// The place of a row in the order of a search (contract 10.2 to 10.8). For one question, places
/// ascend in the order of the answer. A place means the same in the next generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The way in which the row matches, its kind, and whether it is the best listing of its
    /// security. Smaller classes come first.
    pub class: u16,
    /// The importance of the row. Larger importances come first, and rows without one last.
    pub importance: Reverse<Option<Importance>>,
    /// The other signals of the row, in the lowest 12 bits. Smaller numbers come first.
    pub rest: u16,
    /// The FIGI of the row.
    pub figi: Figi,
}

impl Place {
    /// A place in FIGI order.
    pub fn of_figi(figi: Figi) -> Self {
        Self { class: 0, importance: Reverse(None), rest: 0, figi }
    }
}
