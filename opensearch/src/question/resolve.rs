//! Lists of identifiers (contract 17), in three steps. First the rows of all readings are fetched.
//! Then it is decided which rows are meant; this asks nothing of the cluster, and may take long.
//! Last, corrected identifiers are looked up in place of those that were not found.

use std::borrow::Borrow;

use figdex_index::{
    CorrectionLookups, Fetched, Figi, IdValue, Lookup, Meter, NAME_CANDIDATES_MAX, Policy,
    Question, ReadingLookups, Resolution, ResolveBounds, Suggestion, TakesMore, candidates_of,
    id_key,
};
use serde_json::{Value, json};

use super::{Located, LookupBounds, number, terms};
use crate::error::Result;
use crate::generation::Generation;
use crate::patience::patiently;
use crate::schema::field;

/// The most names of one call.
const CALL_NAMES: usize = 100;

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

    /// As [`Generation::add_candidates`], repeated while the cluster cannot answer. It is for
    /// commands.
    ///
    /// # Errors
    /// When the cluster refuses a call, or has not answered in any of several attempts.
    pub async fn add_candidates_patiently(
        &self,
        questions: &[Question<'_>],
        (mut rows, mut resolutions): (Fetched, Vec<Resolution>),
    ) -> Result<(Fetched, Vec<Resolution>)> {
        for (question, resolution) in questions.iter().zip(&mut resolutions) {
            let Some(name) = candidates_of(question, resolution) else { continue };
            let suggested =
                patiently(async || self.suggest(&name, NAME_CANDIDATES_MAX, None).await);
            add(suggested.await?, resolution, &mut rows);
        }
        Ok((rows, resolutions))
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
        let names: Vec<Value> = corrections.names().map(named_elsewhere).collect();
        let mut elsewhere = Vec::with_capacity(names.len());
        for some in names.chunks(CALL_NAMES) {
            let named = self.several(some, 0, id).await?;
            elsewhere.extend(named.iter().map(|found| found.total() > 0));
        }
        Ok(corrections.finish(found, elsewhere))
    }

    /// Adds candidates to the results of names that were not resolved, up to
    /// [`NAME_CANDIDATES_MAX`] each, and their rows to `rows` (contract 17.15). `resolutions` are the
    /// results of `questions`.
    ///
    /// # Errors
    /// When the cluster does not answer.
    pub async fn add_candidates<'q>(
        &self,
        questions: &[impl Borrow<Question<'q>>],
        (rows, resolutions): (&mut Fetched, &mut [Resolution]),
        id: Option<&str>,
    ) -> Result<()> {
        for (question, resolution) in questions.iter().zip(resolutions) {
            let Some(name) = candidates_of(question.borrow(), resolution) else { continue };
            let suggested = self.suggest(&name, NAME_CANDIDATES_MAX, id).await?;
            add(suggested, resolution, rows);
        }
        Ok(())
    }
}

/// Adds suggestions to a result as its candidates, and their rows to `rows`.
fn add(
    (found, suggested): (Fetched, Vec<Suggestion>),
    resolution: &mut Resolution,
    rows: &mut Fetched,
) {
    let stored = suggested.iter().map(|suggestion| found.stored(suggestion.hit).clone());
    resolution.candidates = stored.map(|stored| rows.add(stored)).collect();
}

/// A question whether documents of another security have the key of a name.
fn named_elsewhere((key, security): (String, Figi)) -> Value {
    let own = [IdValue::share_class(security), IdValue::composite(security)];
    let own = own.map(|value| id_key(&value));
    json!({
        "query": {"bool": {
            "filter": terms(field::KEYS, &[key]),
            "must_not": [
                terms(field::KEYS, &own),
                {"term": {field::FIGI: number(security)}},
            ],
        }},
        "size": 0,
        // It is enough to know whether there is any.
        "track_total_hits": 1,
    })
}

#[cfg(test)]
#[cfg(feature = "http")]
mod tests {
    use figdex_index::{IdType, Instrument, Visible};
    use serde_json::json;

    use super::*;
    use crate::cluster_of_tests::{Cluster, wait_for};

    /// engine 8: the decision is metered, and gives the same results in a turn as at once.
    #[test]
    fn the_decision_is_metered() {
        let cluster = Cluster::of_one_instrument();
        let generation = cluster.open();
        let policy = Policy::parse(["composite"], generation.vocabulary()).unwrap();
        let bounds = ResolveBounds {
            identifier_rows_max: 9,
            rows_max: 9,
            candidates_max: 9,
            corrected: Visible::ALL,
        };
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

    /// The answer to a question that finds nothing.
    fn nothing(cluster: &Cluster) -> Value {
        let mut answer = cluster.found();
        answer["hits"] = json!({"total": {"value": 0}, "hits": []});
        answer
    }

    fn uber() -> Cluster {
        let figi = Figi::parse("BBG000BLNNH6").unwrap();
        let (ticker, name) = (Some("UBER".to_owned()), Some("UBER TECHNOLOGIES INC".to_owned()));
        Cluster::of(Instrument { ticker, name, ..Instrument::new(figi) })
    }

    fn resolve(generation: &Generation, question: Question<'_>) -> Resolution {
        resolve_with(generation, question, Visible::ALL)
    }

    fn resolve_with(
        generation: &Generation,
        question: Question<'_>,
        corrected: Visible,
    ) -> Resolution {
        let bounds =
            ResolveBounds { identifier_rows_max: 9, rows_max: 9, candidates_max: 9, corrected };
        let (questions, policy) = ([question], Policy::default());
        let found = generation.resolve_patiently(&questions, &policy, bounds);
        wait_for(found).unwrap().1.remove(0)
    }

    /// contract 23.6, 23.11: identifiers that the caller may not see are not corrected, and no
    /// corrections are asked of the cluster.
    #[test]
    fn hidden_identifiers_are_not_corrected() {
        for corrected in [Visible::ALL, Visible::without(|class| class == IdType::Isin)] {
            let cluster = Cluster::of_one_instrument();
            let generation = cluster.open();
            let found = cluster.found();
            cluster.answer_questions(move |questions| vec![found.clone(); questions.len()]);
            let requests = cluster.requests();
            let question = Question::given(IdType::Isin, "US4592001015", None);
            let resolution = resolve_with(&generation, question, corrected);
            let (expected, error, asked) = match corrected.is_all() {
                true => (Some("US4592001014"), "ID_ISIN: the check digit should be 4", 1),
                false => (None, "ID_ISIN: the check digit is wrong", 0),
            };
            assert_eq!(resolution.correction.as_deref(), expected);
            assert_eq!(
                resolution.reason(),
                match expected {
                    Some(right) => format!("{error}; did you mean {right}?"),
                    None => error.to_owned(),
                }
            );
            assert_eq!(cluster.requests() - requests, asked);
        }
    }

    /// contract 17.14: whether a text is the whole name of another security is asked of the cluster,
    /// and only for a text that was found as the ticker of a row whose name begins with it.
    #[test]
    fn a_name_of_another_security() {
        for is_elsewhere in [false, true] {
            let cluster = uber();
            let generation = cluster.open();
            let (found, nothing) = (cluster.found(), nothing(&cluster));
            cluster.answer_questions(move |questions| {
                let each = questions.iter().map(|question| {
                    let own = question["query"]["bool"]["must_not"].as_array();
                    let is_name = own.is_some_and(|own| own.len() == 2);
                    if is_name && !is_elsewhere { nothing.clone() } else { found.clone() }
                });
                each.collect()
            });
            let text = |text| Question::text(text, generation.vocabulary(), None);
            let resolution = resolve(&generation, text("Uber"));
            assert_eq!(resolution.is_name_like, is_elsewhere);
            let expected = if is_elsewhere { "ambiguous" } else { "resolved" };
            assert_eq!((resolution.status.name(), resolution.hits.len()), (expected, 1));
            let requests = cluster.requests();
            assert_eq!(resolve(&generation, text("UBER")).status.name(), "resolved");
            assert_eq!(cluster.requests(), requests + 1);
        }
    }

    /// contract 17.15: suggestions are candidates; their rows are among those of the answer.
    #[test]
    fn a_name_has_candidates() {
        let cluster = uber();
        let generation = cluster.open();
        let (found, nothing) = (cluster.found(), nothing(&cluster));
        cluster.answer_questions(move |questions| {
            let is_lookup = questions.len() == 1;
            vec![if is_lookup { nothing.clone() } else { found.clone() }; questions.len()]
        });
        let questions = [Question::text("uber technologies", generation.vocabulary(), None)];
        let bounds = ResolveBounds {
            identifier_rows_max: 9,
            rows_max: 9,
            candidates_max: 9,
            corrected: Visible::ALL,
        };
        let policy = Policy::default();
        let resolved = generation.resolve_patiently(&questions, &policy, bounds);
        let resolved = wait_for(resolved).unwrap();
        assert_eq!(resolved.1[0].status.name(), "unknown");
        let added = generation.add_candidates_patiently(&questions, resolved);
        let (rows, resolved) = wait_for(added).unwrap();
        let [candidate] = resolved[0].candidates[..] else { panic!("{resolved:?}") };
        assert_eq!(rows.stored(candidate).row().figi().to_string(), "BBG000BLNNH6");
        assert!(resolved[0].hits.is_empty());
    }
}
