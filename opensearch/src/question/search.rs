//! Pages of searches and filters (contract 8, 10).

use figdex_index::{
    After, ExactRanks, Fetched, Figi, NAMES_MAX, Page, Place, Search, Stored, Tier,
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::matching::{Matching, ranks, score, tier_of};
use super::{Found, by_rank, number, question};
use crate::client::CallError;
use crate::error::Result;
use crate::generation::Generation;
use crate::schema::field;

impl Generation {
    /// The first `hits_max` rows after `after` that match a search, in FIGI order, and the total
    /// number (contract 10.1). `id` is the id of the request, for the log of the cluster.
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
        let names = names(&matching);
        let mut page = None;
        let mut named = None;
        if !names.is_empty() {
            let mut bodies = names;
            // Usually a word names no row, or one on the first page. Then one call is enough.
            if after.is_none() {
                bodies.push(self.page_of(&matching, None, after, hits_max));
            }
            let mut found = self.several(&bodies, hits_max.max(NAMES_MAX), id).await?;
            if after.is_none() {
                page = found.pop();
            }
            named = self.named(&matching, found)?;
        }
        let page = page.map(|found| self.tiered(found)).transpose()?;
        let page = page.and_then(|rows| with_named(rows, named));
        let mut page = match page {
            Some(page) => page,
            None => {
                let body = self.page_of(&matching, named, after, hits_max);
                self.tiered(self.found(&body, hits_max, id).await?)?
            }
        };
        let more = page.len() > hits_max;
        page.truncate(hits_max);
        let last = page.last().filter(|_| more);
        let next = last.map(|(tier, stored)| {
            self.places.place(*tier, stored.rank_number(), stored.row().figi())
        });
        let mut rows = Fetched::default();
        let hits = page.into_iter().map(|(_, stored)| rows.add(stored)).collect();
        Ok((rows, Page { next, hits }))
    }

    /// The question for a page and one more row. `named` is the FIGI of the row that the text
    /// names.
    fn page_of(
        &self,
        matching: &Matching,
        named: Option<Figi>,
        after: Option<Place>,
        hits_max: usize,
    ) -> Value {
        let mut body = question(matching.scored(named), hits_max + 1);
        body["sort"] = json!([{"_score": "desc"}, {field::RANK: "asc"}, {field::FIGI: "asc"}]);
        if let Some(after) = after {
            let After { tier, rank, figi } = self.places.after(after);
            // No FIGI is below 0, so the page then begins with the first document of the rank.
            let figi = figi.map_or(Value::from(-1), number);
            body["search_after"] = json!([score(tier), rank, figi]);
        }
        body
    }

    /// The rows of a page, with their tiers.
    fn tiered(&self, found: Found) -> Result<Vec<(Tier, Stored)>> {
        let documents = found.hits.hits.iter().map(|document| {
            let tier = document.score.and_then(tier_of).ok_or_else(|| CallError::Malformed {
                host: self.index.clone(),
                what: format!("the score {:?}, which no tier has", document.score),
            })?;
            Ok((tier, document.stored(&self.index)?))
        });
        documents.collect()
    }

    /// The conditions of a search.
    pub(super) async fn matching(&self, search: &Search) -> Result<Matching> {
        let matching = Matching::of(search, self.vocabulary());
        if matching.is_cut {
            // If even the words that fit into a question find nothing, the left-out words do not
            // matter. That is the usual case.
            let body = question(matching.query(Vec::new()), 1);
            if !self.found(&body, 1, None).await?.hits.hits.is_empty() {
                return Err(CallError::TooManyWords.into());
            }
        }
        Ok(matching)
    }

    /// The row that a one-word text names (contract 10.9), from the answers to [`names`].
    fn named(&self, matching: &Matching, found: Vec<Found>) -> Result<Option<Figi>> {
        let mut found = found.into_iter();
        let exact = found.next().map(|found| self.exact_ranks(found)).transpose()?.flatten();
        let Some(exact) = exact else { return Ok(None) };
        let (mut rows, mut hits) = (Fetched::default(), Vec::new());
        for found in found {
            for document in &found.hits.hits {
                hits.push(rows.add(document.stored(&self.index)?));
            }
        }
        let named = matching.clauses().named(Some(exact), &rows, hits);
        Ok(named.map(|hit| rows.stored(hit).row().figi()))
    }

    /// A summary of the ranks of the exact rows; `None` when there are none.
    fn exact_ranks(&self, found: Found) -> Result<Option<ExactRanks>> {
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
        let malformed = |error: serde_json::Error| CallError::Malformed {
            host: self.index.clone(),
            what: format!(
                "aggregations without numbers ({})",
                self.client.quoted(&error.to_string())
            ),
        };
        let Numbers { rank, importance, score } =
            Numbers::deserialize(found.aggregations).map_err(malformed)?;
        let found = rank.value.zip(importance.value).zip(score.value);
        // These are whole numbers that a double holds exactly.
        Ok(found.map(|((rank, importance), score)| ExactRanks {
            first: rank as u64,
            importance: importance as u16,
            score: score as u32,
        }))
    }
}

/// The questions that find the row that a one-word text names (contract 10.9): one for the ranks of
/// the exact rows, and those for the best listings. Empty for other texts.
fn names(matching: &Matching) -> Vec<Value> {
    let ranges = &matching.clauses().best_listings;
    let Some(exact) = matching.exact().filter(|_| !ranges.is_empty()) else { return Vec::new() };
    let exact = json!({
        "query": exact,
        "size": 0,
        "track_total_hits": false,
        "aggs": {
            "rank": {"min": {"field": field::RANK}},
            "importance": {"max": {"field": field::IMPORTANCE}},
            "score": {"min": {"field": field::SCORE}},
        },
    });
    let listings = ranges.iter().filter_map(|range| matching.of_words(ranks(*range)));
    let listings = listings.map(|query| by_rank(query, NAMES_MAX));
    [exact].into_iter().chain(listings).collect()
}

/// Moves the named row to its place among the first rows of a search. These rows were found as if
/// the text named no row. `None` if the named row is not among them.
fn with_named(mut rows: Vec<(Tier, Stored)>, named: Option<Figi>) -> Option<Vec<(Tier, Stored)>> {
    let Some(named) = named else { return Some(rows) };
    let place = rows.iter().position(|(_, stored)| stored.row().figi() == named)?;
    if rows[place].0 > Tier::Named {
        let (_, stored) = rows.remove(place);
        let before = rows.iter().take_while(|(tier, _)| *tier < Tier::Named);
        rows.insert(before.count(), (Tier::Named, stored));
    }
    Some(rows)
}

#[cfg(test)]
mod tests {
    use figdex_index::Keywords;

    use super::*;
    use crate::cluster_of_tests::{Cluster, wait_for};

    /// A word is one call, also when it may name a row.
    #[test]
    fn a_word_is_one_call() {
        let cluster = Cluster::of_one_instrument();
        let generation = cluster.open();
        let none = json!({"rank": {"value": null}, "importance": {"value": null}, "score": {"value": null}});
        let mut found = cluster.found();
        found["hits"]["hits"][0]["_score"] = score(Tier::Exact as usize).into();
        let mut exact = cluster.found();
        exact["hits"]["hits"] = json!([]);
        exact["aggregations"] = none;
        let keywords = Keywords::parse("ibm").unwrap();
        let search = Search { keywords: Some(keywords), ..Search::default() };
        let questions = names(&Matching::of(&search, generation.vocabulary())).len();
        assert!(questions > 1, "it may name a row");
        let mut responses = vec![exact; questions];
        responses.push(found);
        cluster.answer("_msearch", 200, json!({"responses": responses}).to_string());
        let before = cluster.requests();
        let (rows, page) = wait_for(generation.search(&search, None, 10, None)).unwrap();
        assert_eq!(cluster.requests() - before, 1);
        assert_eq!((page.hits.len(), page.next), (1, None));
        assert_eq!(rows.stored(page.hits[0]).row().figi().to_string(), "BBG000BLNNH6");
    }

    /// The row that a text names moves to the place of its tier, and no other row moves.
    #[test]
    fn the_named_row_moves() {
        let cluster = Cluster::of_one_instrument();
        let document = &cluster.found()["hits"]["hits"][0]["fields"]["instrument"][0];
        let bytes = base64::Engine::decode(
            &base64::engine::general_purpose::STANDARD,
            document.as_str().unwrap(),
        );
        let stored = Stored::read(bytes.unwrap()).unwrap();
        let named = stored.row().figi();
        let other = Figi::parse("BBG000B9XRY4").unwrap();
        let tiers = |tiers: &[Tier], named| {
            let rows = tiers.iter().map(|tier| (*tier, stored.clone())).collect();
            let rows = with_named(rows, named)?;
            Some(rows.into_iter().map(|(tier, _)| tier).collect::<Vec<_>>())
        };
        use Tier::{Exact, Identifier, Named, Words};
        assert_eq!(tiers(&[Exact, Words], None), Some(vec![Exact, Words]));
        assert_eq!(tiers(&[Exact, Words], Some(other)), None);
        assert_eq!(tiers(&[Exact, Words], Some(named)), Some(vec![Named, Words]));
        assert_eq!(tiers(&[Identifier, Words], Some(named)), Some(vec![Identifier, Words]));
    }
}
