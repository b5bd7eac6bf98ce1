//! `POST /resolve` says which row each identifier of a list means (contract 17).

use std::slice;
use std::sync::Arc;

use figdex_index::{
    Catalogue, Fetched, Meter, Question, Resolution, ResolveBounds, RowSource, TakesMore,
};
use figdex_opensearch::Generation;
use warp::Filter;
use warp::filters::BoxedFilter;
use warp::reply::Response;

use super::contained::{Panicked, contained};
use super::unanswered;
use super::with;
use crate::caller::Caller;
use crate::engine::Engine;
use crate::error::{ApiError, OpenError};
use crate::gate::call::{Admitted, Call, Incoming, incoming, too_many_jobs};
use crate::gate::{Forms, Listed};
use crate::limits::standing::Standing;
use crate::limits::{
    INLINE_BODY_BYTES_MAX, INLINE_ROWS_MAX, JOB_ROWS_MAX, LIST_ROWS_MAX, REQUEST_ROWS_MAX,
};
use crate::pieces::Pieces;
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
        let engine = state.engine();
        let generation = engine.manifest().generation;
        let (caller, shared) = (admitted.caller, state.clone());
        let resolver =
            Resolver { engine: engine.clone(), state: shared, parameters, forms, caller };
        let catalogue = match engine {
            Engine::Local(catalogue) => catalogue,
            Engine::OpenSearch(cluster) => {
                let (list, counted) = resolver.read(&body, &admitted)?;
                let (rows, resolutions) = Resolver::answers_of(&cluster, &list).await?;
                let meter = Meter::unlimited();
                let results = if is_large(&resolutions) {
                    drop(list);
                    let read_and_write = move |meter: &Meter| {
                        let list = resolver.list(&body, &admitted)?;
                        Ok::<_, OpenError>(resolver.written(&rows, &list, &resolutions, meter))
                    };
                    state.pools().answers.run_metered(caller, read_and_write).await??
                } else {
                    resolver.written(&rows, &list, &resolutions, &meter)
                };
                let results = results.ok_or(ApiError::Unavailable)?;
                return Ok(Listed { results, generation, counted });
            }
        };
        if body.len() <= INLINE_BODY_BYTES_MAX {
            let (list, counted) = resolver.read(&body, &admitted)?;
            if let Some(results) = resolver.answer(&catalogue, &list, &Meter::inline()) {
                return Ok(Listed { results, generation, counted });
            }
            drop(list);
            // It is read again in its turn: a list borrows from its body.
            let read_and_answer = move |meter: &Meter| {
                let list = resolver.list(&body, &admitted)?;
                Ok::<_, OpenError>(resolver.answer(&catalogue, &list, meter))
            };
            let results = state.pools().answers.run_metered(caller, read_and_answer).await??;
            // In a turn it has no bound, and ends early only when the client has gone.
            let results = results.ok_or(ApiError::Unavailable)?;
            return Ok(Listed { results, generation, counted });
        }
        let read_and_answer = move |meter: &Meter| {
            let (list, counted) = resolver.read(&body, &admitted)?;
            Ok::<_, OpenError>((resolver.answer(&catalogue, &list, meter), counted))
        };
        let (results, counted) =
            state.pools().answers.run_metered(caller, read_and_answer).await??;
        let results = results.ok_or(ApiError::Unavailable)?;
        Ok(Listed { results, generation, counted })
    })
    .await
}

/// Everything, besides the body, on which the answer to a list depends.
struct Resolver {
    engine: Engine,
    /// For the metrics.
    state: Arc<State>,
    parameters: String,
    forms: Forms,
    caller: Caller,
}

/// The error of a job whose processing panicked.
const UNEXPECTED: &str = "there was an error while processing this job";

impl Resolver {
    /// Reads a list, and counts it against the caller's limit.
    fn read<'a>(
        &self,
        body: &'a [u8],
        admitted: &Admitted,
    ) -> Result<(List<'a>, Option<Standing>), OpenError> {
        let list = self.list(body, admitted)?;
        let counted = admitted.charge_list(list.len())?;
        Ok((list, counted))
    }

    fn list<'a>(&self, body: &'a [u8], admitted: &Admitted) -> Result<List<'a>, OpenError> {
        let jobs_max = admitted.list_jobs_max;
        let context = Context { vocabulary: self.engine.vocabulary(), jobs_max };
        let list = List::read(body, self.forms.body, &self.parameters, context);
        let list = list.map_err(|error| match error {
            ListError::Invalid(fault) => OpenError::Invalid(fault),
            ListError::TooManyJobs => {
                too_many_jobs(format_args!("more than {jobs_max}"), admitted.jobs_per_list())
            }
        })?;
        if list.columns.is_some() && self.forms.answer != Form::Json {
            let fault = "columns are answered in JSON only: accept application/json.";
            return Err(OpenError::Invalid(fault.into()));
        }
        Ok(list)
    }

    /// The answer of a catalogue; `None` when it takes more work than the meter allows.
    fn answer(&self, catalogue: &Catalogue, list: &List<'_>, meter: &Meter) -> Option<Pieces> {
        let resolutions = self.resolve(catalogue, list, meter)?;
        self.written(catalogue, list, &resolutions, meter)
    }

    /// The answers of a cluster, with the rows that they name.
    async fn answers_of(
        generation: &Generation,
        list: &List<'_>,
    ) -> Result<(Fetched, Vec<Resolution>), ApiError> {
        let questions: Vec<&Question<'_>> = list.jobs().iter().map(|job| &job.question).collect();
        let (id, policy, bounds) = (request::id(), &list.options.policy, bounds(list));
        let resolved = generation.resolve(&questions, policy, bounds, Some(id.as_str()));
        resolved.await.map_err(unanswered)
    }

    /// The answer with these results; `None` when the client has gone.
    fn written(
        &self,
        rows: &impl RowSource,
        list: &List<'_>,
        resolutions: &[Resolution],
        meter: &Meter,
    ) -> Option<Pieces> {
        let jobs = list.jobs();
        let rows_found = resolutions.iter().map(|resolution| resolution.hits.len()).sum();
        request::add_rows(rows_found);
        // In CSV a job without a row has a line too.
        let share = self.state.answers().share(self.caller);
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
            meter.check().ok()?;
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

/// Whether results have so many rows that writing them takes a turn.
fn is_large(resolutions: &[Resolution]) -> bool {
    let rows: usize = resolutions.iter().map(|resolution| resolution.hits.len()).sum();
    rows > INLINE_ROWS_MAX
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
