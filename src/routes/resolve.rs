//! `POST /resolve` says which row each identifier of a list means (contract 17).

use std::slice;
use std::sync::{Arc, OnceLock};

use figdex_index::{
    Catalogue, Fetched, Meter, Policy, Question, Resolution, ResolveBounds, RowSource, TakesMore,
};
use figdex_opensearch::Generation;
use warp::Filter;
use warp::filters::BoxedFilter;
use warp::reply::Response;

use super::contained::{Panicked, contained};
use super::unanswered;
use super::with;
use crate::callers::error::{ApiError, OpenError};
use crate::callers::limits::standing::Standing;
use crate::callers::limits::{JOB_ROWS_MAX, LIST_ROWS_MAX, REQUEST_ROWS_MAX, ROW_UNITS};
use crate::engine::Engine;
use crate::gate::call::{Admitted, Call, Incoming, incoming, too_many_jobs};
use crate::gate::{Body, Forms, Listed};
use crate::http::pieces::Pieces;
use crate::state::State;
use crate::wire::list::{self, Context, Form, List, ListError};
use crate::{gate, request};

pub(super) fn route(state: Arc<State>) -> BoxedFilter<(Response,)> {
    let query = warp::query::raw().or(warp::any().map(String::new)).unify();
    warp::path!("resolve").and(query).and(incoming()).and(with(state)).then(handle).boxed()
}

async fn handle(parameters: String, request: Incoming, state: Arc<State>) -> Response {
    gate::list(&state, request, async |call, forms| {
        let Call { admitted, body } = call;
        let body = body.read().await?;
        let (engine, shared, counted) = (state.engine(), state.clone(), OnceLock::new());
        let generation = engine.manifest().generation;
        let resolver =
            Resolver { engine, state: shared, parameters, forms, admitted, body, counted };
        let resolver = Arc::new(resolver);
        let results = match resolver.engine.clone() {
            Engine::Local(catalogue) => {
                let answer = move |resolver: &Resolver, meter: &Meter| {
                    let Some(list) = resolver.read(meter)? else { return Ok(None) };
                    let resolutions = resolver.resolve(&catalogue, &list, meter);
                    Ok(resolutions.and_then(|of| resolver.written(&*catalogue, &list, &of, meter)))
                };
                resolver.at_once_or_in_turn(answer).await?
            }
            Engine::OpenSearch(cluster) => {
                let asked = resolver.at_once_or_in_turn(Resolver::asked).await?;
                let (rows, resolutions) = asked.answers_of(&cluster).await?;
                let write = move |resolver: &Resolver, meter: &Meter| {
                    let Some(list) = resolver.read(meter)? else { return Ok(None) };
                    Ok(resolver.written(&rows, &list, &resolutions, meter))
                };
                resolver.at_once_or_in_turn(write).await?
            }
        };
        let counted = resolver.counted.get().copied().flatten();
        Ok(Listed { results, generation, counted })
    })
    .await
}

/// A list that is being answered.
struct Resolver {
    engine: Engine,
    /// For the metrics, the pools, and the memory budget for answers.
    state: Arc<State>,
    parameters: String,
    forms: Forms,
    admitted: Admitted,
    body: Body,
    /// The window that counted the list, once it is counted.
    counted: OnceLock<Option<Standing>>,
}

/// A list as a cluster is asked for it, apart from its body.
struct Asked {
    questions: Vec<Question<'static>>,
    policy: Policy,
    bounds: ResolveBounds,
}

impl Asked {
    /// The answers of a cluster, with the rows that they name.
    async fn answers_of(
        &self,
        generation: &Generation,
    ) -> Result<(Fetched, Vec<Resolution>), ApiError> {
        let questions: Vec<&Question<'_>> = self.questions.iter().collect();
        let id = request::id();
        let resolved = generation.resolve(&questions, &self.policy, self.bounds, Some(id.as_str()));
        resolved.await.map_err(unanswered)
    }
}

/// The error of a job whose processing panicked.
const UNEXPECTED: &str = "there was an error while processing this job";

/// Units of work of writing a result, besides its rows.
const RESULT_UNITS: u64 = 30;

impl Resolver {
    /// Does work at once when the meter of a serving thread allows it, else in a turn, from its
    /// beginning: a list borrows from its body, and is read again.
    async fn at_once_or_in_turn<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl Fn(&Self, &Meter) -> Result<Option<T>, OpenError> + Send + 'static,
    ) -> Result<T, OpenError> {
        if let Some(done) = work(self, &Meter::inline())? {
            return Ok(done);
        }
        let resolver = self.clone();
        let in_turn = move |meter: &Meter| work(&resolver, meter);
        let done = self.state.pools().answers.run_metered(self.admitted.caller, in_turn).await??;
        // In a turn it has no bound, and ends early only when the client has gone.
        done.ok_or(OpenError::Line(ApiError::Unavailable))
    }

    /// Reads the list, and counts it against the caller's limit once.
    fn read(&self, meter: &Meter) -> Result<Option<List<'_>>, OpenError> {
        let Some(list) = self.list(meter)? else { return Ok(None) };
        if self.counted.get().is_none() {
            // Work that is begun again finds it set.
            let _ = self.counted.set(self.admitted.charge_list(list.len())?);
        }
        Ok(Some(list))
    }

    /// The questions for a cluster.
    fn asked(&self, meter: &Meter) -> Result<Option<Asked>, OpenError> {
        let Some(list) = self.read(meter)? else { return Ok(None) };
        let bounds = bounds(&list);
        let List { options, jobs, .. } = list;
        let jobs = jobs.unwrap_or_default().into_iter();
        let questions = jobs.map(|job| job.question.into_owned()).collect();
        Ok(Some(Asked { questions, policy: options.policy, bounds }))
    }

    /// Reads a list; `None` when that takes more work than the meter allows.
    fn list(&self, meter: &Meter) -> Result<Option<List<'_>>, OpenError> {
        let jobs_max = self.admitted.list_jobs_max;
        let context = Context { vocabulary: self.engine.vocabulary(), jobs_max, meter };
        let list = match List::read(&self.body, self.forms.body, &self.parameters, context) {
            Ok(list) => list,
            Err(ListError::Invalid(fault)) => return Err(OpenError::Invalid(fault)),
            Err(ListError::TooManyJobs) => {
                let fitting = self.admitted.jobs_per_list();
                return Err(too_many_jobs(format_args!("more than {jobs_max}"), fitting));
            }
            Err(ListError::TakesMore) => return Ok(None),
        };
        if list.columns.is_some() && self.forms.answer != Form::Json {
            let fault = "columns are answered in JSON only: accept application/json.";
            return Err(OpenError::Invalid(fault.into()));
        }
        Ok(Some(list))
    }

    /// The answer with these results; `None` when it takes more work than the meter allows.
    fn written(
        &self,
        rows: &impl RowSource,
        list: &List<'_>,
        resolutions: &[Resolution],
        meter: &Meter,
    ) -> Option<Pieces> {
        let jobs = list.jobs();
        let rows_found = resolutions.iter().map(|resolution| resolution.hits.len()).sum();
        // The whole price comes first, so that no half of an answer is written in vain.
        meter.require(RESULT_UNITS * jobs.len() as u64 + ROW_UNITS * rows_found as u64).ok()?;
        request::add_rows(rows_found);
        let share = self.state.answers().share(self.admitted.caller);
        let mut out = Pieces::charged(share, 256 * jobs.len(), rows_found);
        let generation = self.engine.manifest().generation;
        let form = self.forms.answer;
        list::heading(&mut out, form, &list.options, generation, list.columns.as_deref());
        let writer = list::Writer { form, options: &list.options, rows };
        let is_json = form == Form::Json;
        if is_json && list.jobs.is_some() {
            out.last().extend_from_slice(b",\"results\":[");
        }
        for (row, (job, resolution)) in jobs.iter().zip(resolutions).enumerate() {
            // The rest of an answer is not written when the client has gone.
            meter.charge(RESULT_UNITS + ROW_UNITS * resolution.hits.len() as u64).ok()?;
            if out.refused().is_some() {
                return Some(out);
            }
            if is_json && row > 0 {
                out.last().push(b',');
            }
            out.begin_if_full();
            writer.write(&mut out, row + 1, job, resolution);
        }
        if is_json {
            let end: &[u8] = if list.jobs.is_some() { b"]}" } else { b"}" };
            out.last().extend_from_slice(end);
        }
        out.shrink();
        meter.check().ok()?;
        let statuses = resolutions.iter().map(|resolution| &resolution.status);
        self.state.metrics().list_jobs.count(statuses);
        Some(out)
    }

    fn resolve(
        &self,
        catalogue: &Catalogue,
        list: &List<'_>,
        meter: &Meter,
    ) -> Option<Vec<Resolution>> {
        let questions: Vec<&Question<'_>> = list.jobs().iter().map(|job| &job.question).collect();
        let (policy, bounds) = (&list.options.policy, bounds(list));
        let resolve =
            |questions: &[&Question<'_>]| catalogue.resolve(questions, policy, bounds, meter);
        // When the steps that the jobs share panic, each job is resolved by itself.
        if let Ok(resolved) = contained(|| resolve(&questions)) {
            return resolved.ok();
        }
        let alone = questions.iter().map(|question| {
            let resolved = contained(|| resolve(slice::from_ref(question)));
            resolved
                .unwrap_or_else(|Panicked| resolve(&[&Question::invalid(UNEXPECTED.to_owned())]))
        });
        let alone: Result<Vec<Vec<Resolution>>, TakesMore> = alone.collect();
        Some(alone.ok()?.concat())
    }
}

/// The bounds of the answer to a list.
fn bounds(list: &List<'_>) -> ResolveBounds {
    ResolveBounds {
        identifier_rows_max: JOB_ROWS_MAX,
        rows_max: if list.options.is_many { REQUEST_ROWS_MAX } else { LIST_ROWS_MAX },
        candidates_max: if list.options.is_many { REQUEST_ROWS_MAX } else { CANDIDATES_MAX },
    }
}

/// The most candidates of an ambiguous identifier, unless all rows are asked for.
const CANDIDATES_MAX: usize = 10;
