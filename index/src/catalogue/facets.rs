//! The values of the rows that match a question, with the number of rows that have each (contract
//! 16.11).

use std::sync::Arc;

use super::Catalogue;
use crate::error::{Error, Result};
use crate::meter::Meter;
use crate::query::Search;
use crate::search::facets::{Facet, count};
use crate::search::unless_more;

/// A question about the rows that match a search: how many rows have each value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FacetQuestion {
    /// The rows that are counted.
    pub search: Search,
    /// The facets to count the rows by, each once.
    pub facets: Vec<Facet>,
}

/// The counts of the matching rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facets {
    /// The number of all matching rows.
    pub total: u64,
    /// The counts of each facet, in the order in which they were asked for.
    pub counts: Vec<FacetCounts>,
}

/// The counts of the values of one facet. A row has at most one value of a facet. Other crates
/// create this type only by [`FacetCounts::new`], so that counts from any source are consistent.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FacetCounts {
    /// The property, or the level.
    pub facet: Facet,
    /// Each value that a matching row has, as its place for [`Facet::value`], with the number of
    /// matching rows that have the value. The most frequent values come first; equally frequent
    /// values are in the order of the vocabulary.
    pub values: Vec<(u32, u64)>,
    /// The number of matching rows that have no value.
    pub without: u64,
}

impl FacetCounts {
    /// The counts of `total` matching rows; `None` when the counts of the values add up to more
    /// than `total`.
    pub fn new(facet: Facet, values: Vec<(u32, u64)>, total: u64) -> Option<Self> {
        let rest = |left: u64, (_, rows): &(u32, u64)| left.checked_sub(*rows);
        let without = values.iter().try_fold(total, rest)?;
        Some(Self { facet, values, without })
    }
}

impl Catalogue {
    /// Counts the matching rows of a question by their values; `None` when that takes more work
    /// than the meter allows. Answers are cached.
    ///
    /// # Errors
    /// When a file of the index cannot be read, because it was changed after it was opened.
    pub fn facets(&self, question: &FacetQuestion, meter: &Meter) -> Result<Option<Arc<Facets>>> {
        let FacetQuestion { search, facets } = question;
        let key = FacetQuestion { search: search.without_words(), facets: facets.clone() };
        self.facets.answer(key, || Ok(self.facets_uncached(question, meter)?.map(Arc::new)))
    }

    /// As [`Catalogue::facets`], without the cache: for measurements.
    ///
    /// # Errors
    /// As [`Catalogue::facets`].
    pub fn facets_uncached(
        &self,
        question: &FacetQuestion,
        meter: &Meter,
    ) -> Result<Option<Facets>> {
        unless_more(self.facets_within(question, meter))
    }

    fn facets_within(&self, question: &FacetQuestion, meter: &Meter) -> Result<Facets> {
        let FacetQuestion { search, facets } = question;
        let mut counts: Vec<(Facet, Vec<u64>)> = Vec::new();
        for facet in facets {
            counts.push((*facet, vec![0; facet.values(self.vocabulary())]));
        }
        let mut total = 0;
        for (part, entry) in self.generation.parts.iter().zip(&self.manifest().parts) {
            let plan = self.plan(part, search, meter)?;
            let path = entry.path(&self.generation.path);
            let vocabulary = self.vocabulary();
            total += count((part, &path), &plan, &search.filters, vocabulary, &mut counts, meter)?;
        }
        let counts = counts.into_iter().map(|(facet, counts)| {
            let mut values: Vec<(u32, u64)> =
                (0..).zip(counts).filter(|(_, rows)| *rows > 0).collect();
            values.sort_by_key(|(_, rows)| std::cmp::Reverse(*rows));
            let damaged = "a property has more rows than match";
            FacetCounts::new(facet, values, total)
                .ok_or_else(|| Error::damaged(&self.generation.path, damaged))
        });
        let counts = counts.collect::<Result<_>>()?;
        Ok(Facets { total, counts })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_no_more_rows_than_match() {
        let of = |values: &[(u32, u64)], total| {
            FacetCounts::new(Facet::Level, values.to_vec(), total).map(|counts| counts.without)
        };
        assert_eq!(of(&[(0, 3), (1, 2)], 7), Some(2));
        assert_eq!(of(&[(0, 3), (1, 2)], 5), Some(0));
        assert_eq!(of(&[(0, 3), (1, 2)], 4), None);
        assert_eq!(of(&[(0, u64::MAX), (1, 2)], u64::MAX), None);
    }
}
