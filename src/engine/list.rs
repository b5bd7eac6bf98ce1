//! The identifiers of a list, each with the row that it means (contract 17).

use std::mem::take;
use std::slice;

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
}

/// The error of a question that panicked.
const UNEXPECTED: &str = "there was an error while processing this job";

impl<'a> ListQuestions<'a> {
    /// The same questions without a reference to the body.
    pub(crate) fn into_owned(self) -> ListQuestions<'static> {
        let Self { questions, policy, bounds } = self;
        let questions = questions.into_iter().map(Question::into_owned).collect();
        ListQuestions { questions, policy, bounds }
    }

    fn readings(&self) -> ReadingLookups<'_, 'a> {
        ReadingLookups::new(&self.questions, &self.policy, self.bounds)
    }
}

impl Ask for ListQuestions<'_> {
    type Answer = Vec<Resolution>;

    fn here(&mut self, index: &Catalogue, meter: &Meter) -> FoundHere<Vec<Resolution>> {
        let Self { questions, policy, bounds } = self;
        let resolve = |some: &[Question<'_>]| index.resolve(some, policy, *bounds, meter);
        // If answering all questions together panics, each question is answered by itself.
        if let Ok(resolved) = contained(|| resolve(questions)) {
            return Ok(resolved.ok());
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
        let list = ListQuestions { questions, policy, bounds: self.bounds }.into_owned();
        let mut located = index.fetch(&list.readings(), id).await?;
        let of = index.clone();
        let decide = move |meter: &Meter| {
            let decided = of.decide(list.readings(), &located, meter);
            Ok::<_, ApiError>(decided.ok().map(|next| (take(&mut located.rows), next)))
        };
        let (rows, corrections) = turns.work(decide).await?;
        Ok((rows, index.correct(corrections, id).await?))
    }
}
