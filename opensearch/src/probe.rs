//! The probe of a served generation: checks whether its index answers completely now.

use std::sync::atomic::Ordering;

use serde_json::json;

use crate::error::{Error, Result};
use crate::generation::Generation;
use crate::question::question;

impl Generation {
    /// Asks every shard for the first instrument, and remembers whether the answer is complete
    /// ([`Generation::answers`]).
    ///
    /// # Errors
    /// When a shard does not answer, the index is empty, or its documents cannot be read.
    pub async fn probe(&self) -> Result<()> {
        let probed = self.first_instrument().await;
        self.answers.store(probed.is_ok(), Ordering::Relaxed);
        probed
    }

    async fn first_instrument(&self) -> Result<()> {
        let found = self.found(&question(json!({"match_all": {}}), 1), 1, None).await?;
        match found.hits.hits.first() {
            Some(document) => document.stored(&self.index).map(drop),
            // An index that was created again by mistake has no documents.
            None => Err(Error::Incomplete {
                index: self.index.clone(),
                count: 0,
                published: self.manifest().instruments,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster_of_tests::{Cluster, wait_for};

    /// Contract 16.8: readiness follows what questions would get, not whether a host answers.
    #[test]
    fn only_a_whole_answer_is_one() {
        let cluster = Cluster::of_one_instrument();
        let generation = cluster.open();
        assert!(!generation.answers(), "nothing was asked yet");
        let whole = cluster.found();
        let with = |pointer: &str, value: serde_json::Value| {
            let mut changed = whole.clone();
            *changed.pointer_mut(pointer).unwrap() = value;
            changed
        };
        let deleted = json!({"error": {"type": "index_not_found_exception"}});
        for (status, answer, is_whole) in [
            (200, whole.clone(), true),
            // A shard that is on no node is neither successful nor failed.
            (200, with("/_shards/successful", json!(1)), false),
            (200, whole.clone(), true),
            (200, with("/timed_out", json!(true)), false),
            (200, with("/hits/hits", json!([])), false),
            (404, deleted, false),
            (503, json!({}), false),
            (200, whole.clone(), true),
        ] {
            cluster.answer("_search", status, answer.to_string());
            assert_eq!(wait_for(generation.probe()).is_ok(), is_whole, "{answer}");
            assert_eq!(generation.answers(), is_whole, "{answer}");
        }
    }
}
