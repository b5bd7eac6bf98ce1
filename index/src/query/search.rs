//! The question of a search or of a filter.

use std::cmp::Reverse;

use super::{Filters, Keywords};
use crate::instrument::figi::Figi;
use crate::instrument::importance::Importance;

/// The words that rows must hold, and the filters that they must pass.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Search {
    /// `None` when the question has no words: every row that passes the filters matches.
    pub keywords: Option<Keywords>,
    /// The filters.
    pub filters: Filters,
}

impl Search {
    /// The same question for a cache, without the words that follow from the text.
    pub(crate) fn without_words(&self) -> Self {
        let keywords = self.keywords.as_ref().map(Keywords::without_words);
        Self { keywords, filters: self.filters.clone() }
    }
}

/// The place of a row in the order of a search (contract 10.2 to 10.8). Places of one question
/// ascend, and mean the same in the next generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The way in which the row matches, its kind, and whether it is the best listing of its
    /// security. The smaller, the earlier the row is shown.
    pub class: u16,
    /// Its importance: the larger, the earlier. Rows without come last.
    pub importance: Reverse<Option<Importance>>,
    /// Its other signals, of which 12 bits count. The smaller, the earlier.
    pub rest: u16,
    /// Its FIGI.
    pub figi: Figi,
}

impl Place {
    /// A place in FIGI order.
    pub fn of_figi(figi: Figi) -> Self {
        Self { class: 0, importance: Reverse(None), rest: 0, figi }
    }
}
