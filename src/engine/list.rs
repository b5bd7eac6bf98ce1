//! The identifiers of a list, each with the row that it means (contract 17).

use std::mem::take;
use std::slice;
use std::sync::Arc;

use figdex_index::{
    Catalogue, Meter, Policy, Question, ReadingLookups, Resolution, ResolveBounds, TakesMore,
};

use super::answer::{Ask, Cluster, FoundHere, FoundThere};
use crate::callers::error::ApiError;
use crate::observe::contained::{Panicked, contained};

/// The questions of a list.
pub(crate) struct ListQuestions<'a> {
    pub(crate) questions: Vec<Question<'a>>,
    pub(crate) policy: Policy,
    pub(crate) bounds: ResolveBounds,
    /// Whether names that are not resolved have candidates (contract 17.15).
    pub(crate) has_candidates: bool,
}

/// The error of a question that panicked.
const UNEXPECTED: &str = "there was an error while processing this job";

impl<'a> ListQuestions<'a> {
    /// The same questions without a reference to the body.
    pub(crate) fn into_owned(self) -> ListQuestions<'static> {
        let Self { questions, policy, bounds, has_candidates } = self;
        let questions = questions.into_iter().map(Question::into_owned).collect();
        ListQuestions { questions, policy, bounds, has_candidates }
    }

    fn readings(&self) -> ReadingLookups<'_, 'a> {
        ReadingLookups::new(&self.questions, &self.policy, self.bounds)
    }
}

impl Ask for ListQuestions<'_> {
    type Answer = Vec<Resolution>;

    fn here(&mut self, index: &Catalogue, meter: &Meter) -> FoundHere<Vec<Resolution>> {
        let Self { questions, policy, bounds, has_candidates } = self;
        let resolve = |some: &[Question<'_>]| index.resolve(some, policy, *bounds, meter);
        // If answering all questions together panics, each question is answered by itself.
        if let Ok(resolved) = contained(|| resolve(questions)) {
            let Ok(mut resolved) = resolved else { return Ok(None) };
            if *has_candidates {
                let add = || index.add_candidates(questions, &mut resolved, meter);
                // If a suggestion panics, the results are those without its candidates.
                if let Ok(added) = contained(add)
                    && added?.is_none()
                {
                    return Ok(None);
                }
            }
            return Ok(Some(resolved));
        }
        let failed = Question::invalid(UNEXPECTED.to_owned());
        let alone = questions.iter().map(|question| {
            contained(|| resolve(slice::from_ref(question)))
                .unwrap_or_else(|Panicked| resolve(slice::from_ref(&failed)))
        });
        let alone: Result<Vec<Vec<Resolution>>, TakesMore> = alone.collect();
        Ok(alone.ok().map(|alone| alone.concat()))
    }

    async fn there(&mut self, cluster: Cluster<'_>) -> FoundThere<Vec<Resolution>> {
        let Cluster { index, id, turns } = cluster;
        let (questions, policy) = (take(&mut self.questions), take(&mut self.policy));
        let Self { bounds, has_candidates, .. } = *self;
        let list = ListQuestions { questions, policy, bounds, has_candidates }.into_owned();
        let list = Arc::new(list);
        let mut located = index.fetch(&list.readings(), id).await?;
        let (of, asked) = (index.clone(), list.clone());
        let decide = move |meter: &Meter| {
            let decided = of.decide(asked.readings(), &located, meter);
            Ok::<_, ApiError>(decided.ok().map(|next| (take(&mut located.rows), next)))
        };
        let (mut rows, corrections) = turns.work(decide).await?;
        let mut resolved = index.correct(corrections, id).await?;
        if has_candidates {
            index.add_candidates(&list.questions, (&mut rows, &mut resolved), id).await?;
        }
        Ok((rows, resolved))
    }
}
