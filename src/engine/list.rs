//! The identifiers of a list, each with the row that it means (contract 17).

use std::mem::take;
use std::ops::Range;
use std::slice;
use std::sync::Arc;

use figdex_index::{
    Catalogue, Date, Error, Meter, Policy, Question, ReadingLookups, Resolution, ResolveBounds,
};

use super::answer::{Ask, Cluster, FoundHere, FoundThere};
use crate::callers::error::ApiError;
use crate::observe::contained::{Panicked, contained};

/// The questions of a list.
pub(crate) struct ListQuestions<'a> {
    pub(crate) questions: Vec<Question<'a>>,
    /// The day as of which each question is asked; `None` means as of now (contract 20.5).
    pub(crate) days: Vec<Option<Date>>,
    pub(crate) policy: Policy,
    pub(crate) bounds: ResolveBounds,
    /// Whether names that are not resolved have candidates (contract 17.15).
    pub(crate) has_candidates: bool,
    /// Whether earlier meanings are named (contract 20.11).
    pub(crate) has_formerly: bool,
}

/// The error of a question that panicked.
const UNEXPECTED: &str = "there was an error while processing this job";

/// The error of a question with a day, when the index is in a cluster.
const NO_PAST_THERE: &str = "an index in a cluster has no past, so asOf cannot be answered";

impl<'a> ListQuestions<'a> {
    /// The same questions without a reference to the body.
    pub(crate) fn into_owned(self) -> ListQuestions<'static> {
        let questions = self.questions.into_iter().map(Question::into_owned).collect();
        ListQuestions { questions, ..self }
    }

    fn readings(&self) -> ReadingLookups<'_, 'a> {
        ReadingLookups::new(&self.questions, &self.policy, self.bounds)
    }

    /// Answers the questions at some places, by what is known of today and of the past.
    fn answer(
        &self,
        places: Range<usize>,
        index: &Catalogue,
        meter: &Meter,
    ) -> Result<Vec<Resolution>, Error> {
        let (questions, days) = (&self.questions[places.clone()], &self.days[places]);
        let Self { policy, bounds, .. } = self;
        let as_of_now = |questions: &[&Question<'_>]| {
            let mut resolved = index.resolve(questions, policy, *bounds, meter)?;
            index.add_former(questions, &mut resolved, policy, *bounds, meter)?;
            Ok::<_, Error>(resolved)
        };
        let both = || questions.iter().zip(days);
        let now: Vec<&Question<'_>> =
            both().filter(|(_, day)| day.is_none()).map(|(question, _)| question).collect();
        let dated: Vec<(&Question<'_>, Date)> =
            both().filter_map(|(question, day)| Some((question, (*day)?))).collect();
        if dated.is_empty() {
            return as_of_now(&now);
        }
        let mut resolved = index.resolve_as_of(&dated, policy, *bounds, meter)?;
        if now.is_empty() {
            return Ok(resolved);
        }
        // Without more places than needed: the results of a long list are large.
        resolved.reserve_exact(now.len());
        resolved.append(&mut as_of_now(&now)?);
        in_order(&mut resolved, days);
        Ok(resolved)
    }

    /// Adds further rows to the results of the questions that are asked as of now, by `add`. If it
    /// panics, the results have no more than it added before.
    fn add_to<T>(
        &self,
        resolved: &mut [Resolution],
        add: impl FnOnce(&[&Question<'_>], &mut [Resolution]) -> Result<Option<T>, Error>,
    ) -> FoundHere<()> {
        let nothing = Question::unfound();
        let both = self.questions.iter().zip(&self.days);
        let questions: Vec<&Question<'_>> =
            both.map(|(question, day)| if day.is_some() { &nothing } else { question }).collect();
        match contained(|| add(&questions, resolved)) {
            Ok(added) => Ok(unless_it_takes_more(added)?.flatten().map(|_| ())),
            Err(Panicked) => Ok(Some(())),
        }
    }
}

impl Ask for ListQuestions<'_> {
    type Answer = Vec<Resolution>;

    fn here(&mut self, index: &Catalogue, meter: &Meter) -> FoundHere<Vec<Resolution>> {
        let this = &*self;
        let count = this.questions.len();
        // If answering all questions together panics, each question is answered by itself.
        let resolved = match contained(|| this.answer(0..count, index, meter)) {
            Ok(resolved) => resolved,
            Err(Panicked) => return this.each_alone(index, meter),
        };
        let Some(mut resolved) = unless_it_takes_more(resolved)? else { return Ok(None) };
        if this.has_candidates {
            let add = |questions: &[&Question<'_>], some: &mut [Resolution]| {
                index.add_candidates(questions, some, meter)
            };
            if this.add_to(&mut resolved, add)?.is_none() {
                return Ok(None);
            }
        }
        if this.has_formerly {
            let add = |questions: &[&Question<'_>], some: &mut [Resolution]| {
                index.add_formerly(questions, some, meter).map(Some)
            };
            if this.add_to(&mut resolved, add)?.is_none() {
                return Ok(None);
            }
        }
        Ok(Some(resolved))
    }

    async fn there(&mut self, cluster: Cluster<'_>) -> FoundThere<Vec<Resolution>> {
        let Cluster { index, id, turns } = cluster;
        let (mut questions, policy) = (take(&mut self.questions), take(&mut self.policy));
        let days = take(&mut self.days);
        for (question, _) in questions.iter_mut().zip(&days).filter(|(_, day)| day.is_some()) {
            *question = Question::invalid(NO_PAST_THERE.to_owned());
        }
        let Self { bounds, has_candidates, has_formerly, .. } = *self;
        let list = ListQuestions { questions, days, policy, bounds, has_candidates, has_formerly };
        let list = Arc::new(list.into_owned());
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

impl ListQuestions<'_> {
    /// Answers each question by itself. The result of one that panics is its error.
    fn each_alone(&self, index: &Catalogue, meter: &Meter) -> FoundHere<Vec<Resolution>> {
        let failed = Question::invalid(UNEXPECTED.to_owned());
        let failed = || index.resolve(slice::from_ref(&failed), &self.policy, self.bounds, meter);
        let alone = (0..self.questions.len()).map(|place| {
            contained(|| self.answer(place..place + 1, index, meter))
                .unwrap_or_else(|Panicked| Ok(failed()?))
        });
        let alone: Result<Vec<Vec<Resolution>>, Error> = alone.collect();
        Ok(unless_it_takes_more(alone)?.map(|alone| alone.concat()))
    }
}

/// Puts results in the order of their questions: those of questions with a day come first. Results
/// are moved in place, because those of a long list are large.
fn in_order(results: &mut [Resolution], days: &[Option<Date>]) {
    let place = |is_dated: bool| {
        let places = days.iter().enumerate().filter(move |(_, day)| day.is_some() == is_dated);
        places.map(|(place, _)| place)
    };
    let mut places: Vec<usize> = place(true).chain(place(false)).collect();
    for at in 0..places.len() {
        while places[at] != at {
            let place = places[at];
            results.swap(at, place);
            places.swap(at, place);
        }
    }
}

/// A result; `None` when it takes more work than the meter allows.
fn unless_it_takes_more<T>(result: Result<T, Error>) -> FoundHere<T> {
    match result {
        Ok(result) => Ok(Some(result)),
        Err(Error::TakesMore(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
