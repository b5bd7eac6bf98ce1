//! The question of a search or a filter request.

use super::{Filters, Keywords};
use crate::instrument::figi::Figi;

/// Which rows hold these words and pass these filters?
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Search {
    /// Without key words every row holds them.
    pub keywords: Option<Keywords>,
    /// What narrows the answer.
    pub filters: Filters,
}

impl Search {
    /// The same question for a cache: its text stands for its words.
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
    /// The row's own FIGI.
    pub figi: Figi,
}
