//! Lists of identifiers (contract 17), in three steps. First the rows of all readings are fetched.
//! Then it is decided which rows are meant; this asks nothing of the cluster, and may take long.
//! Last, corrected identifiers are looked up in place of those that were not found.

use figdex_index::{
    CorrectionLookups, Fetched, Lookup, Meter, Policy, Question, ReadingLookups, Resolution,
    ResolveBounds, TakesMore,
};

use super::{Located, LookupBounds};
use crate::error::Result;
use crate::generation::Generation;
use crate::patience::patiently;

impl Generation {
    /// Resolves identifiers, in their order, with the rows that the results name. Repeats all three
    /// steps while the cluster cannot answer. It is for commands.
    ///
    /// # Errors
    /// When the cluster refuses a call, or has not answered in any of several attempts.
    pub async fn resolve_patiently(
        &self,
        questions: &[Question<'_>],
        policy: &Policy,
        bounds: ResolveBounds,
    ) -> Result<(Fetched, Vec<Resolution>)> {
        patiently(async || {
            let readings = ReadingLookups::new(questions, policy, bounds);
            let located = self.fetch(&readings, None).await?;
            let decided = self.decide(readings, &located, &Meter::unlimited());
            let corrections = decided.expect("the meter allows any work");
            Ok((located.rows, self.correct(corrections, None).await?))
        })
        .await
    }

    /// The first step: the rows of all readings. `id` is the id of the request, for the log of the
    /// cluster.
    ///
    /// # Errors
    /// When the cluster does not answer.
    pub async fn fetch(
        &self,
        readings: &ReadingLookups<'_, '_>,
        id: Option<&str>,
    ) -> Result<Located> {
        let lookups: Vec<Lookup<'_>> = readings.lookups().cloned().collect();
        let (each_max, all_max) = (readings.fetched_max(), readings.fetched_max_in_all());
        self.lookup(&lookups, LookupBounds { each_max, all_max }, id).await
    }

    /// The second step: the decision. `located` are the rows of the same readings.
    ///
    /// # Errors
    /// [`TakesMore`] when that takes more work than the meter allows.
    pub fn decide(
        &self,
        readings: ReadingLookups<'_, '_>,
        Located { rows, hits, ranges }: &Located,
        meter: &Meter,
    ) -> Result<CorrectionLookups, TakesMore> {
        let found = ranges.iter().map(|range| match range {
            Ok(range) => (hits[range.clone()].to_vec(), range.len()),
            Err(count) => (Vec::new(), usize::try_from(*count).unwrap_or(usize::MAX)),
        });
        readings.decide(found, rows, self.vocabulary(), meter)
    }

    /// The last step: the results, with corrections of the identifiers that were not found.
    ///
    /// # Errors
    /// When the cluster does not answer.
    pub async fn correct(
        &self,
        corrections: CorrectionLookups,
        id: Option<&str>,
    ) -> Result<Vec<Resolution>> {
        // It is enough to know whether there is any row.
        let none = LookupBounds { each_max: 0, all_max: 0 };
        let corrected = self.lookup(corrections.lookups(), none, id).await?;
        let found: Vec<bool> = corrected.ranges.iter().map(Result::is_err).collect();
        Ok(corrections.finish(found))
    }
}

#[cfg(test)]
#[cfg(feature = "http")]
mod tests {
    use figdex_index::IdType;
    use serde_json::json;

    use super::*;
    use crate::cluster_of_tests::{Cluster, wait_for};

    /// engine 8: the decision is metered, and gives the same results in a turn as at once.
    #[test]
    fn the_decision_is_metered() {
        let cluster = Cluster::of_one_instrument();
        let generation = cluster.open();
        let policy = Policy::parse(["composite"], generation.vocabulary()).unwrap();
        let bounds = ResolveBounds { identifier_rows_max: 9, rows_max: 9, candidates_max: 9 };
        let questions = vec![Question::given(IdType::BbGlobal, "BBG000BLNNH6", None); 3];
        let readings = || ReadingLookups::new(&questions, &policy, bounds);
        let mut answer = cluster.found();
        answer["hits"]["hits"][0]["matched_queries"] = json!(["0", "1", "2"]);
        cluster.answer("_search", 200, answer.to_string());
        let located = wait_for(generation.fetch(&readings(), None)).unwrap();
        let decide = |units| generation.decide(readings(), &located, &Meter::of(units));
        assert_eq!(decide(100).err(), Some(TakesMore));
        let corrections = decide(10_000).unwrap();
        let results = wait_for(generation.correct(corrections, None)).unwrap();
        assert_eq!(results.len(), 3);
        assert!(results.iter().all(|result| result.hits.len() == 1), "{results:?}");
    }
}
