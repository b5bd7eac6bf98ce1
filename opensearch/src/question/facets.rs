//! Counts the documents that match a question by their values (contract 16.11).

use std::cmp::Reverse;
use std::collections::HashMap;

use figdex_index::{Facet, FacetCounts, FacetQuestion, Facets, Level, bounded_term};
use serde::Deserialize;
use serde_json::json;

use crate::client::CallError;
use crate::error::Result;
use crate::generation::Generation;

/// The approximate bytes of a bucket in an answer.
const BUCKET_BYTES: usize = 2 << 10;

impl Generation {
    /// Counts the matching rows of a question by their values. `id` is the id of the request, for
    /// the log of the cluster.
    ///
    /// # Errors
    /// When the cluster does not answer.
    pub async fn facets(&self, question: &FacetQuestion, id: Option<&str>) -> Result<Facets> {
        #[derive(Deserialize)]
        struct Counted {
            #[serde(default)]
            sum_other_doc_count: u64,
            buckets: Vec<Bucket>,
        }
        #[derive(Deserialize)]
        struct Bucket {
            key: String,
            doc_count: u64,
        }
        let matching = self.matching(&question.search).await?;
        let mut aggregations = json!({});
        let mut values = 0;
        for facet in &question.facets {
            let size = facet.values(self.vocabulary()).max(1);
            values += size;
            // With room for all values, the counts over all shards are exact.
            aggregations[facet.name()] =
                json!({"terms": {"field": facet.name(), "size": size, "shard_size": size}});
        }
        let body = json!({
            "query": matching.query(Vec::new()),
            "size": 0,
            "track_total_hits": true,
            "aggs": aggregations,
        });
        let mut found = self.found(&body, values * BUCKET_BYTES / super::ROW_BYTES, id).await?;
        let malformed = |what: String| CallError::Malformed { host: self.index.clone(), what };
        let total = found.total();
        let mut counts = Vec::with_capacity(question.facets.len());
        for facet in &question.facets {
            let counted = found.aggregations[facet.name()].take();
            let counted: Counted = serde_json::from_value(counted).map_err(|error| {
                let error = self.client.quoted(&error.to_string());
                malformed(format!("no counts of {} ({error})", facet.name()))
            })?;
            let places = self.places_of(*facet);
            let value = |Bucket { key, doc_count }: Bucket| {
                let unknown =
                    || malformed(format!("the unknown value {}", self.client.quoted(&key)));
                Ok((places.get(&key).copied().ok_or_else(unknown)?, doc_count))
            };
            let mut values: Vec<(u32, u64)> =
                counted.buckets.into_iter().map(value).collect::<Result<_, CallError>>()?;
            if counted.sum_other_doc_count > 0 {
                return Err(malformed(format!("not all values of {}", facet.name())).into());
            }
            values.sort_by_key(|(place, rows)| (Reverse(*rows), *place));
            let fitting = FacetCounts::new(*facet, values, total);
            counts.push(fitting.ok_or_else(|| {
                malformed(format!("more documents with a {} than match", facet.name()))
            })?);
        }
        Ok(Facets { total, counts })
    }

    /// The place of each value of a facet, by its term in documents.
    fn places_of(&self, facet: Facet) -> HashMap<String, u32> {
        match facet {
            Facet::Property(property) => {
                let values = self.vocabulary().values(property).map(bounded_term);
                values.zip(0..).collect()
            }
            Facet::Level => Level::ALL
                .map(|level| (level.name().to_owned(), level as u32))
                .into_iter()
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use figdex_index::Search;

    use super::*;
    use crate::cluster_of_tests::{Cluster, wait_for};

    /// Contract 16.11: numbers that do not fit each other are an error, and never an answer.
    #[test]
    fn counts_that_do_not_fit_are_refused() {
        let cluster = Cluster::of_one_instrument();
        let generation = cluster.open();
        let question = FacetQuestion { search: Search::default(), facets: vec![Facet::Level] };
        for (rows, expected) in [(1, Ok(0)), (8, Err("more documents with a level than match"))] {
            let mut found = cluster.found();
            found["aggregations"] = json!({"level": {"buckets": [
                {"key": Level::ALL[0].name(), "doc_count": rows},
            ]}});
            cluster.answer("_search", 200, found.to_string());
            let counted = wait_for(generation.facets(&question, None));
            match (counted, expected) {
                (Ok(counted), Ok(without)) => assert_eq!(counted.counts[0].without, without),
                (Err(error), Err(text)) => assert!(error.to_string().contains(text), "{error}"),
                (counted, _) => panic!("{counted:?}"),
            }
        }
    }
}
