//! Lookups of identifiers, many at a time (contract 4, 5).
//!
//! Nearly all lookups have few rows. So one query finds the rows of many lookups, a page at a time,
//! and each document names the lookups that it matches. If these have too many rows together, each
//! lookup becomes a query. One call then counts all of them and reads their first pages; further
//! pages are read for those that have more rows.

use std::ops::Range;

use figdex_index::{Fetched, Figi, Hit, IdType, Lookup, Stored, id_key};
use serde_json::{Value, json};

use super::filters::conditions;
use super::{Document, all, any, number, question};
use crate::client::CallError;
use crate::error::Result;
use crate::generation::Generation;
use crate::schema::field;

/// The number of rows on the first page of a lookup. It is enough for nearly all identifiers.
const FIRST_ROWS: usize = 50;

/// The most lookups of one call. `CALL_CONDITIONS` is the most conditions of them together: a
/// cluster allows 1,024 clauses in a query.
const CALL_LOOKUPS: usize = 100;
const CALL_CONDITIONS: usize = 800;

/// The size of the first page of the lookups in one query. `TOGETHER_ROWS_MAX` is the most rows
/// that they may have together.
const TOGETHER_ROWS: usize = 1_000;
const TOGETHER_ROWS_MAX: usize = 10_000;

/// The number of rows on each further page.
const PAGE_ROWS: usize = 5_000;

/// The most bytes of rows that an answer may hold.
const ROWS_BYTES_MAX: usize = 256 << 20;

/// The bounds on the rows of lookups.
#[derive(Clone, Copy, Debug)]
pub struct LookupBounds {
    /// The most rows of one lookup. A lookup with more gets none.
    pub each_max: usize,
    /// The most rows of all lookups together. Lookups beyond that get none.
    pub all_max: usize,
}

/// The rows of some lookups.
pub struct Located {
    /// The rows of all lookups.
    pub rows: Fetched,
    /// The hits of all lookups.
    pub hits: Vec<Hit>,
    /// The hits of each lookup, in FIGI order. If there are too many, a lower bound of their
    /// number.
    pub ranges: Vec<Result<Range<usize>, u64>>,
}

/// The conditions that the rows of a lookup fulfil.
struct Conditions {
    /// The conditions of its filters.
    filters: Vec<Value>,
    /// The condition of its identifier.
    carries: Value,
}

impl Conditions {
    fn query(&self) -> Value {
        all(self.filters.iter().chain([&self.carries]).cloned().collect())
    }
}

impl Located {
    /// The most rows that the next lookup may have.
    fn room(&self, bounds: LookupBounds) -> usize {
        bounds.each_max.min(bounds.all_max.saturating_sub(self.hits.len()))
    }
}

impl Generation {
    /// The rows that carry the identifiers of these lookups and pass their filters. `id` is the id
    /// of the request, for the log of the cluster.
    ///
    /// # Errors
    /// When the cluster does not answer.
    pub async fn lookup(
        &self,
        lookups: &[Lookup<'_>],
        bounds: LookupBounds,
        id: Option<&str>,
    ) -> Result<Located> {
        let mut located = Located {
            rows: Fetched::default(),
            hits: Vec::new(),
            ranges: Vec::with_capacity(lookups.len()),
        };
        let mut bytes_left = ROWS_BYTES_MAX;
        let conditions: Vec<Conditions> =
            lookups.iter().map(|lookup| self.conditions_of(lookup)).collect();
        for some in calls(&conditions) {
            let together = self.together(some, &mut located, &mut bytes_left, bounds, id).await?;
            if !together {
                self.one_by_one(some, &mut located, &mut bytes_left, bounds, id).await?;
            }
        }
        Ok(located)
    }

    /// Adds the rows of some lookups with one query. Returns `false`, and adds nothing, if they
    /// have too many rows or there is only one lookup.
    async fn together(
        &self,
        lookups: &[Conditions],
        located: &mut Located,
        bytes_left: &mut usize,
        bounds: LookupBounds,
        id: Option<&str>,
    ) -> Result<bool> {
        // A single lookup is a query by itself: that query counts its rows up to their bound.
        if lookups.len() < 2 {
            return Ok(false);
        }
        let query = any_of(lookups);
        let mut body = question(query.clone(), TOGETHER_ROWS);
        body["track_total_hits"] = counted_up_to(TOGETHER_ROWS_MAX);
        let found = self.found(&body, TOGETHER_ROWS, id).await?;
        let total = found.total();
        if total > TOGETHER_ROWS_MAX as u64 {
            return Ok(false);
        }
        let mut hits = vec![Vec::new(); lookups.len()];
        let (mut documents, mut read, mut last) = (found.hits.hits, 0, None);
        loop {
            let count = documents.len() as u64;
            for document in documents {
                let stored = document.stored(&self.index)?;
                *bytes_left = self.rest_of(*bytes_left, &stored)?;
                last = Some(self.next_figi(last, &stored)?);
                let hit = located.rows.add(stored);
                for name in &document.matched_queries {
                    let place = name.parse::<usize>().ok();
                    let of_lookup = place.and_then(|place| hits.get_mut(place));
                    let of_lookup = of_lookup.ok_or_else(|| CallError::Malformed {
                        host: self.index.clone(),
                        what: "a document with the name of a query that was not asked".to_owned(),
                    })?;
                    of_lookup.push(hit);
                }
            }
            read += count;
            if count == 0 || read >= total {
                break;
            }
            documents = self.page_after(&query, last, id).await?;
        }
        for hits in hits {
            if hits.len() > located.room(bounds) {
                located.ranges.push(Err(hits.len() as u64));
            } else {
                let start = located.hits.len();
                located.hits.extend(hits);
                located.ranges.push(Ok(start..located.hits.len()));
            }
        }
        Ok(true)
    }

    /// Adds the rows of some lookups, with one query for each.
    async fn one_by_one(
        &self,
        lookups: &[Conditions],
        located: &mut Located,
        bytes_left: &mut usize,
        bounds: LookupBounds,
        id: Option<&str>,
    ) -> Result<()> {
        let queries: Vec<Value> = lookups.iter().map(Conditions::query).collect();
        let first: Vec<Value> = queries
            .iter()
            .map(|query| {
                let mut body = question(query.clone(), FIRST_ROWS);
                // One more than allowed is enough to see that there are too many.
                body["track_total_hits"] = counted_up_to(bounds.each_max);
                body
            })
            .collect();
        let first = self.several(&first, FIRST_ROWS, id).await?;
        for (query, found) in queries.into_iter().zip(first) {
            if found.total() > located.room(bounds) as u64 {
                located.ranges.push(Err(found.total()));
                continue;
            }
            let start = located.hits.len();
            let mut documents = found.hits.hits;
            let mut last = None;
            loop {
                let count = documents.len();
                for document in documents {
                    let stored = document.stored(&self.index)?;
                    *bytes_left = self.rest_of(*bytes_left, &stored)?;
                    last = Some(self.next_figi(last, &stored)?);
                    located.hits.push(located.rows.add(stored));
                }
                let read = located.hits.len() - start;
                if count == 0 || read as u64 >= found.hits.total.value {
                    break;
                }
                documents = self.page_after(&query, last, id).await?;
            }
            located.ranges.push(Ok(start..located.hits.len()));
        }
        Ok(())
    }

    /// The number of bytes that remain for rows after this one.
    fn rest_of(&self, bytes_left: usize, stored: &Stored) -> Result<usize> {
        let rest = bytes_left.checked_sub(stored.bytes());
        Ok(rest.ok_or_else(|| CallError::Malformed {
            host: self.index.clone(),
            what: format!("more than the {ROWS_BYTES_MAX} bytes of rows that one request may have"),
        })?)
    }

    /// The conditions that the rows of a lookup fulfil.
    fn conditions_of(&self, lookup: &Lookup<'_>) -> Conditions {
        let value = &lookup.id_value;
        let carries = match value.id_type() {
            IdType::BbGlobal => match Figi::parse(value.as_str()) {
                Ok(figi) => json!({"term": {field::FIGI: number(figi)}}),
                Err(_) => json!({"match_none": {}}),
            },
            _ => json!({"term": {field::KEYS: id_key(value)}}),
        };
        let unfiltered = Default::default();
        let filters = conditions(lookup.filters().unwrap_or(&unfiltered), self.vocabulary());
        Conditions { filters, carries }
    }

    /// The next page of a query's rows in FIGI order: those after the FIGI `after`, or without it
    /// the first ones.
    async fn page_after(
        &self,
        query: &Value,
        after: Option<Figi>,
        id: Option<&str>,
    ) -> Result<Vec<Document>> {
        let mut body = question(query.clone(), PAGE_ROWS);
        if let Some(after) = after {
            body["search_after"] = json!([number(after)]);
        }
        Ok(self.found(&body, PAGE_ROWS, id).await?.hits.hits)
    }
}

/// Divides lookups into calls.
fn calls(lookups: &[Conditions]) -> Vec<&[Conditions]> {
    let (mut calls, mut start, mut count) = (Vec::new(), 0, 0);
    for (place, conditions) in lookups.iter().enumerate() {
        let conditions = conditions.filters.len() + 1;
        // A call has at least one lookup.
        if place > start && (place - start == CALL_LOOKUPS || count + conditions > CALL_CONDITIONS)
        {
            calls.push(&lookups[start..place]);
            (start, count) = (place, 0);
        }
        count += conditions;
    }
    if start < lookups.len() {
        calls.push(&lookups[start..]);
    }
    calls
}

/// The query for the rows of any of the lookups. Each row has the places of its lookups as names.
fn any_of(lookups: &[Conditions]) -> Value {
    // Mostly the filters are alike. Stated once, they save the cluster a third of its time for 100
    // lookups. The identifier is never moved: the cluster does not report the name of a query without
    // conditions.
    let in_all = |filter: &&Value| lookups.iter().all(|own| own.filters.contains(filter));
    let of_first = lookups.iter().take(1).flat_map(|first| &first.filters);
    let shared: Vec<&Value> = of_first.filter(in_all).collect();
    let named = lookups.iter().enumerate().map(|(place, own)| {
        let filters = own.filters.iter().filter(|filter| !shared.contains(filter));
        let own: Vec<&Value> = filters.chain([&own.carries]).collect();
        json!({"bool": {"filter": own, "_name": place.to_string()}})
    });
    let mut query = any(named.collect());
    query["bool"]["filter"] = json!(shared);
    query
}

/// The number of matches to count: one more than `rows_max`.
fn counted_up_to(rows_max: usize) -> Value {
    rows_max.saturating_add(1).min(i32::MAX as usize).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A lookup with these filters.
    fn lookup(filters: &[&str], carries: &str) -> Conditions {
        let filters = filters.iter().copied().map(Value::from).collect();
        Conditions { filters, carries: carries.into() }
    }

    /// A filter of all lookups is stated once, no other condition is lost, and each lookup keeps
    /// its identifier, even if all ask for the same.
    #[test]
    fn shared_filters_are_stated_once() {
        let of = |lookups: &[Conditions]| {
            let query = any_of(lookups);
            let own = query["bool"]["should"].as_array().unwrap().iter();
            let own: Vec<Value> = own.map(|own| own["bool"]["filter"].clone()).collect();
            (query["bool"]["filter"].clone(), own)
        };
        let different = [
            lookup(&["us", "listed"], "ibm"),
            lookup(&["listed"], "vod"),
            lookup(&["us", "listed"], "vod"),
        ];
        assert_eq!(
            of(&different),
            (json!(["listed"]), vec![json!(["us", "ibm"]), json!(["vod"]), json!(["us", "vod"])]),
        );
        let alike = [lookup(&["us"], "ibm"), lookup(&["us"], "ibm")];
        assert_eq!(of(&alike), (json!(["us"]), vec![json!(["ibm"]); 2]));
    }

    #[test]
    fn calls_are_bounded() {
        let with = |counts: &[usize]| -> Vec<usize> {
            let lookups: Vec<Conditions> =
                counts.iter().map(|count| lookup(&vec![""; count - 1], "")).collect();
            calls(&lookups).into_iter().map(<[_]>::len).collect()
        };
        assert_eq!(with(&[]), [0; 0]);
        assert_eq!(with(&[2; 100]), [100]);
        assert_eq!(with(&[2; 201]), [100, 100, 1]);
        assert_eq!(with(&[10; 100]), [80, 20]);
        assert_eq!(with(&[900, 1, 799, 1]), [1, 2, 1]);
    }
}
