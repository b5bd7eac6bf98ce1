//! A whole generation: all of its instruments, and its counts and sizes for operators.

use std::collections::BTreeMap;

use figdex_index::{Facet, FacetQuestion, Filters, Instrument, Property, Search};
use serde::Deserialize;
use serde_json::json;

use crate::client::{CallError, Request};
use crate::error::{Error, Result};
use crate::generation::Generation;
use crate::patience::patiently;
use crate::publish;
use crate::question::{number, question};
use crate::settings::settings;

/// The number of instruments per call.
const PAGE_ROWS: usize = 5_000;

/// The size of a generation, and the other generations.
#[derive(Clone, Debug)]
pub struct Extent {
    /// The number of its shards.
    pub shards: u32,
    /// The number of copies of each shard, besides the first.
    pub replicas: u32,
    /// The bytes of its shards, without copies.
    pub bytes: u64,
    /// The numbers of the other complete generations of the same name.
    pub others: Vec<u64>,
}

impl Generation {
    /// Calls `each` with every instrument, in FIGI order.
    ///
    /// # Errors
    /// The errors of `each`; [`Error::Incomplete`] when the number of instruments differs from the
    /// published number; and the errors of the client.
    pub async fn instruments<E: From<Error>>(
        &self,
        mut each: impl FnMut(&Instrument) -> Result<(), E>,
    ) -> Result<(), E> {
        let (mut last, mut count) = (None, 0);
        loop {
            let mut body = question(json!({"match_all": {}}), PAGE_ROWS);
            if let Some(last) = last {
                body["search_after"] = json!([number(last)]);
            }
            let page =
                patiently(async || self.found(&body, PAGE_ROWS, None).await).await?.hits.hits;
            for document in &page {
                let stored = document.stored(self.index())?;
                last = Some(self.next_figi(last, &stored)?);
                count += 1;
                each(&stored.instrument())?;
            }
            if page.len() < PAGE_ROWS {
                break;
            }
        }
        let published = self.manifest().instruments;
        if count != published {
            return Err(
                Error::Incomplete { index: self.index().to_owned(), count, published }.into()
            );
        }
        Ok(())
    }

    /// The number of instruments that have each value of each property.
    ///
    /// # Errors
    /// When the cluster does not answer.
    pub async fn values(&self) -> Result<BTreeMap<Property, BTreeMap<String, u64>>> {
        let filters = Filters { include_unlisted_equities: true, ..Filters::default() };
        let facets = Property::ALL.map(Facet::Property).to_vec();
        let all = FacetQuestion { search: Search { keywords: None, filters }, facets };
        let counted = self.facets(&all, None).await?.counts.into_iter().zip(Property::ALL);
        let values = counted.map(|(counts, property)| {
            let value =
                |(place, rows)| (counts.facet.value(place, self.vocabulary()).to_owned(), rows);
            (property, counts.values.iter().copied().map(value).collect())
        });
        Ok(values.collect())
    }

    /// The size of the generation, and the other generations of its name.
    ///
    /// # Errors
    /// When the cluster does not answer.
    pub async fn extent(&self) -> Result<Extent> {
        #[derive(Deserialize)]
        struct Stats {
            #[serde(rename = "_all")]
            all: All,
            #[serde(rename = "_shards")]
            shards: StatsShards,
        }
        #[derive(Deserialize)]
        struct All {
            primaries: Primaries,
        }
        #[derive(Deserialize)]
        struct Primaries {
            #[serde(default)]
            store: Store,
        }
        #[derive(Default, Deserialize)]
        struct Store {
            size_in_bytes: u64,
        }
        #[derive(Deserialize)]
        struct StatsShards {
            failed: u32,
        }
        let index = self.index();
        let malformed = |what: &str| -> Error {
            CallError::Malformed { host: index.to_owned(), what: what.to_owned() }.into()
        };
        let stats: Stats = self.client().ask(&Request::get(&[index, "_stats", "store"])).await?;
        if stats.shards.failed > 0 {
            let what = "a part of the index cannot be asked".to_owned();
            return Err(CallError::Unavailable { host: index.to_owned(), what }.into());
        }
        let (shards, replicas) = ("index.number_of_shards", "index.number_of_replicas");
        let found = settings(self.client(), index, &format!("{shards},{replicas}")).await?;
        let number = |name: &str| {
            let found = found.get(index).and_then(|settings| settings.get(name)?.parse().ok());
            found.ok_or_else(|| malformed("not the numbers of shards"))
        };
        let mut others = publish::generations(self.client(), self.name()).await?;
        others.retain(|other| *other != self.manifest().generation);
        Ok(Extent {
            shards: number(shards)?,
            replicas: number(replicas)?,
            bytes: stats.all.primaries.store.size_in_bytes,
            others,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster_of_tests::{Cluster, wait_for};

    /// A cluster that gives the same page again and again does not keep `export` for ever.
    #[test]
    fn a_repeated_page_is_refused() {
        let cluster = Cluster::of_one_instrument();
        let generation = cluster.open();
        let instruments = || {
            let mut count = 0;
            let read = wait_for(generation.instruments(|_| {
                count += 1;
                Ok::<_, Error>(())
            }));
            (count, read)
        };
        assert!(matches!(instruments(), (1, Ok(()))));
        let mut found = cluster.found();
        let document = found["hits"]["hits"][0].clone();
        found["hits"]["hits"] = vec![document; PAGE_ROWS].into();
        cluster.answer("_search", 200, found.to_string());
        let (count, read) = instruments();
        let error = read.unwrap_err().to_string();
        assert!(count == 1 && error.contains("was on an earlier page"), "{error}");
    }
}
