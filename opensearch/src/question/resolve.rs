//! Lists of identifiers (contract 17).

use figdex_index::{
    Fetched, Lookup, Meter, Policy, Question, ReadingLookups, Resolution, ResolveBounds,
};

use super::LookupBounds;
use crate::error::Result;
use crate::generation::Generation;
use crate::patience::patiently;

impl Generation {
    /// As [`Generation::resolve`], asked again while the cluster cannot answer: for commands.
    ///
    /// # Errors
    /// When the cluster has not answered for about four minutes.
    pub async fn resolve_patiently(
        &self,
        questions: &[&Question<'_>],
        policy: &Policy,
        bounds: ResolveBounds,
    ) -> Result<(Fetched, Vec<Resolution>)> {
        patiently(async || self.resolve(questions, policy, bounds, None).await).await
    }

    /// Resolves identifiers, in their order, with the rows that the results name. `id` is the id of
    /// the request, for the log of the cluster.
    ///
    /// # Errors
    /// When the cluster does not answer.
    pub async fn resolve(
        &self,
        questions: &[&Question<'_>],
        policy: &Policy,
        bounds: ResolveBounds,
        id: Option<&str>,
    ) -> Result<(Fetched, Vec<Resolution>)> {
        let readings = ReadingLookups::new(questions, policy, bounds);
        let lookups: Vec<Lookup<'_>> = readings.lookups().cloned().collect();
        let fetched = LookupBounds { each_max: readings.fetched_max(), all_max: bounds.rows_max };
        let located = self.lookup(&lookups, fetched, id).await?;
        let found = located.ranges.iter().map(|range| match range {
            Ok(range) => (located.hits[range.clone()].to_vec(), range.len()),
            Err(count) => (Vec::new(), usize::try_from(*count).unwrap_or(usize::MAX)),
        });
        let meter = Meter::unlimited();
        let decided = readings.decide(found, &located.rows, self.vocabulary(), &meter);
        let corrections = decided.expect("the meter allows any work");
        // Whether there is a row is enough to know.
        let none = LookupBounds { each_max: 0, all_max: 0 };
        let corrected = self.lookup(corrections.lookups(), none, id).await?;
        let found: Vec<bool> = corrected.ranges.iter().map(Result::is_err).collect();
        Ok((located.rows, corrections.finish(found)))
    }
}
