//! Figdex's index in this process, asked without HTTP.

use std::path::Path;

use anyhow::Context as _;
use figdex_index::{
    Catalogue, Facet, FacetQuestion, Facets, Filters, IdType, Keywords, Lookup, Meter,
    NumberInterval, RowSource as _, Search,
};

use super::question::{COUNTED, Counts, PAGE, Question};

/// More rows than an identifier has.
const HITS_MAX: usize = 15_000;

const VERIFIED: &str = "any work is allowed";

/// An open index. No answer comes from a cache.
pub(super) struct Figdex {
    catalogue: Catalogue,
    meter: Meter,
}

impl Figdex {
    pub(super) fn open(folder: &Path) -> anyhow::Result<Self> {
        Ok(Self { catalogue: Catalogue::open(folder)?, meter: Meter::unlimited() })
    }

    pub(super) fn search(&self, question: &Question) -> anyhow::Result<Search> {
        let interval = |(low, high)| NumberInterval::new(Some(low), Some(high)).ok();
        // The strike is the first of `Attribute::NUMBERS`.
        let numbers = [question.strikes.and_then(interval), None, None];
        let mut filters =
            Filters { numbers, include_unlisted_equities: true, ..Filters::default() };
        for (property, value) in question.values {
            let known = self.catalogue.vocabulary().admit(*property, value);
            filters.known.require(known.context("the universe has no such value")?);
        }
        let keywords = (!question.words.is_empty()).then(|| Keywords::parse(question.words));
        Ok(Search { keywords: keywords.transpose()?, filters })
    }

    /// Looks up these identifiers together, and reads the name of each row that is found. Returns
    /// the number of rows, all of which have a name.
    pub(super) fn lookups(&self, id_type: IdType, values: &[&str]) -> anyhow::Result<usize> {
        let filters = Filters { include_unlisted_equities: true, ..Filters::default() };
        let mut lookups = Vec::new();
        for value in values {
            lookups.push(Lookup::new(id_type.admit(value)?, filters.clone()));
        }
        let mut located = self.catalogue.locate(&lookups, &self.meter).ok().context(VERIFIED)?;
        let mut hits = Vec::new();
        for place in 0..lookups.len() {
            located.find(place, HITS_MAX, &mut hits).ok().context(VERIFIED)??;
        }
        self.catalogue.read_ahead(&hits);
        Ok(hits.iter().filter(|hit| self.catalogue.row(**hit).name().is_some()).count())
    }

    pub(super) fn count(&self, search: &Search) -> anyhow::Result<u64> {
        self.catalogue.count_uncached(search, &self.meter)?.context(VERIFIED)
    }

    /// The FIGIs of the first page in FIGI order.
    pub(super) fn page(&self, search: &Search) -> anyhow::Result<Vec<u64>> {
        let page = self.catalogue.filter(search, None, PAGE, &self.meter)?.context(VERIFIED)?;
        Ok(page.hits.iter().map(|hit| self.catalogue.row(*hit).figi().to_u64()).collect())
    }

    /// The number of rows on the first page of a search, the best rows first.
    pub(super) fn best(&self, search: &Search) -> anyhow::Result<usize> {
        let page = self.catalogue.search(search, None, PAGE, &self.meter)?.context(VERIFIED)?;
        Ok(page.hits.len())
    }

    pub(super) fn facets(&self, search: &Search) -> anyhow::Result<Facets> {
        let facets = COUNTED.map(Facet::Property).to_vec();
        let question = FacetQuestion { search: search.clone(), facets };
        self.catalogue.facets_uncached(&question, &self.meter)?.context(VERIFIED)
    }

    pub(super) fn counts(&self, facets: &Facets) -> Counts {
        let facets = COUNTED.into_iter().zip(&facets.counts);
        let named = facets.flat_map(|(property, counts)| {
            counts.values.iter().map(move |(place, rows)| {
                let value = counts.facet.value(*place, self.catalogue.vocabulary());
                ((property.field_name(), value.to_owned()), *rows)
            })
        });
        named.collect()
    }
}
