//! Pages of searches and filters (contract 8, 10).

use figdex_index::{After, ExactRanks, Fetched, Figi, NAMES_MAX, Page, Place, Search};
use serde::Deserialize;
use serde_json::{Value, json};

use super::matching::{Matching, ranks, score, tier_of};
use super::{by_rank, number, question};
use crate::client::Error as ClientError;
use crate::error::Result;
use crate::generation::Generation;
use crate::schema::field;

impl Generation {
    /// The first `hits_max` rows after `after` that match a search, in FIGI order, and the number
    /// of all (contract 10.1). `id` is the id of the request, for the log of the cluster.
    ///
    /// # Errors
    /// When the cluster does not answer.
    pub async fn filter(
        &self,
        search: &Search,
        after: Option<Figi>,
        hits_max: usize,
        id: Option<&str>,
    ) -> Result<(Fetched, Page<Figi>, u64)> {
        let matching = self.matching(search).await?;
        let mut body = question(matching.query(Vec::new()), hits_max + 1);
        body["track_total_hits"] = true.into();
        if let Some(after) = after {
            body["search_after"] = json!([number(after)]);
        }
        let found = self.found(&body, hits_max, id).await?;
        let total = found.total();
        let (mut rows, mut hits) = (Fetched::default(), Vec::new());
        for document in found.hits.hits.iter().take(hits_max) {
            hits.push(rows.add(document.stored(&self.index)?));
        }
        let next = hits.last().filter(|_| found.hits.hits.len() > hits_max);
        let next = next.map(|last| rows.stored(*last).row().figi());
        Ok((rows, Page { hits, next }, total))
    }

    /// The first `hits_max` rows after `after` that match a search, in the order of contract 10.2.
    /// `id` is the id of the request, for the log of the cluster.
    ///
    /// # Errors
    /// When the cluster does not answer.
    pub async fn search(
        &self,
        search: &Search,
        after: Option<Place>,
        hits_max: usize,
        id: Option<&str>,
    ) -> Result<(Fetched, Page<Place>)> {
        let matching = self.matching(search).await?;
        let named = self.named(&matching, id).await?;
        let mut body = question(matching.scored(named), hits_max + 1);
        body["sort"] = json!([{"_score": "desc"}, {field::RANK: "asc"}, {field::FIGI: "asc"}]);
        if let Some(after) = after {
            let After { tier, rank, figi } = self.places.after(after);
            // No FIGI is below 0: the page then begins with the first document of the rank.
            let figi = figi.map_or(Value::from(-1), number);
            body["search_after"] = json!([score(tier), rank, figi]);
        }
        let found = self.found(&body, hits_max, id).await?;
        let (mut rows, mut hits) = (Fetched::default(), Vec::new());
        for document in found.hits.hits.iter().take(hits_max) {
            hits.push(rows.add(document.stored(&self.index)?));
        }
        let more = found.hits.hits.len() > hits_max;
        let last = found.hits.hits[..hits.len()].last().filter(|_| more);
        let next = last.zip(hits.last()).map(|(document, hit)| {
            let tier = document.score.and_then(tier_of).ok_or_else(|| ClientError::Malformed {
                host: self.index.clone(),
                what: format!("the score {:?}, which no tier has", document.score),
            })?;
            let stored = rows.stored(*hit);
            Ok::<_, ClientError>(self.places.place(tier, stored.rank_number(), stored.row().figi()))
        });
        Ok((rows, Page { next: next.transpose()?, hits }))
    }

    /// The conditions of a search.
    pub(super) async fn matching(&self, search: &Search) -> Result<Matching> {
        let matching = Matching::of(search, self.vocabulary());
        if matching.is_cut {
            // The words that fit into a question are nearly always enough to find nothing.
            let body = question(matching.query(Vec::new()), 1);
            if !self.found(&body, 1, None).await?.hits.hits.is_empty() {
                return Err(ClientError::TooManyWords.into());
            }
        }
        Ok(matching)
    }

    /// The row that a word alone names (contract 10.9).
    async fn named(&self, matching: &Matching, id: Option<&str>) -> Result<Option<Figi>> {
        let clauses = matching.clauses();
        let Some(exact) = matching.exact().filter(|_| !clauses.best_listings.is_empty()) else {
            return Ok(None);
        };
        let Some(exact) = self.exact_ranks(exact, id).await? else { return Ok(None) };
        let (mut rows, mut hits) = (Fetched::default(), Vec::new());
        for range in &clauses.best_listings {
            let Some(query) = matching.of_words(ranks(*range)) else { continue };
            let body = by_rank(query, NAMES_MAX);
            for document in &self.found(&body, NAMES_MAX, id).await?.hits.hits {
                hits.push(rows.add(document.stored(&self.index)?));
            }
        }
        let named = clauses.named(Some(exact), &rows, hits);
        Ok(named.map(|hit| rows.stored(hit).row().figi()))
    }

    /// The ranks of the documents of a query together; `None` when there is none.
    async fn exact_ranks(&self, query: Value, id: Option<&str>) -> Result<Option<ExactRanks>> {
        #[derive(Deserialize)]
        struct Numbers {
            rank: Number,
            importance: Number,
            score: Number,
        }
        #[derive(Deserialize)]
        struct Number {
            value: Option<f64>,
        }
        let body = json!({
            "query": query,
            "size": 0,
            "track_total_hits": false,
            "aggs": {
                "rank": {"min": {"field": field::RANK}},
                "importance": {"max": {"field": field::IMPORTANCE}},
                "score": {"min": {"field": field::SCORE}},
            },
        });
        let found = self.found(&body, 0, id).await?;
        let malformed = |error| ClientError::Malformed {
            host: self.index.clone(),
            what: format!("aggregations without numbers ({error})"),
        };
        let Numbers { rank, importance, score } =
            Numbers::deserialize(found.aggregations).map_err(malformed)?;
        let found = rank.value.zip(importance.value).zip(score.value);
        // Whole numbers that a double holds exactly.
        Ok(found.map(|((rank, importance), score)| ExactRanks {
            first: rank as u64,
            importance: importance as u16,
            score: score as u32,
        }))
    }
}
