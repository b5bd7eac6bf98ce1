//! The question of a search or of a filter.

use super::{Filters, Keywords};
use crate::instrument::figi::Figi;

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

/// The place of a row in the order of a search (contract 10.2 to 10.6): its sort key, then its
/// FIGI. Places of one question ascend, and mean the same in the next generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The smaller, the earlier the row is shown. It depends on the question.
    pub sort_key: u32,
    /// The FIGI of the row.
    pub figi: Figi,
}
