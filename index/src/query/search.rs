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

/// Where a row stands in the order of a search: what a person would want first,
/// then FIGI. Places of one question ascend; they mean the same in the next
/// generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The row's standing for this question; the smaller, the sooner it is shown.
    pub standing: u32,
    /// The row's own FIGI.
    pub figi: Figi,
}
