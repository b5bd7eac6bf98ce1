//! `POST /resolve`: finds the row that each identifier of a list means (contract 17).

use std::sync::{Arc, OnceLock};

use figdex_index::{Meter, Recognised, Resolution, ResolveBounds, Vocabulary};
use warp::Filter;
use warp::filters::BoxedFilter;
use warp::reply::Response;

use super::with;
use crate::callers::error::OpenError;
use crate::callers::limits::standing::Standing;
use crate::callers::limits::{JOB_ROWS_MAX, LIST_ROWS_MAX, REQUEST_ROWS_MAX, ROW_UNITS};
use crate::engine::{Batch, BatchRead, FoundRows, ListQuestions, Turns};
use crate::gate::call::{Admitted, Call, Incoming, incoming, too_many_jobs};
use crate::gate::{Forms, Listed};
use crate::http::pieces::Pieces;
use crate::state::State;
use crate::wire::list::{self, Context, Form, List, ListError, Options};
use crate::{gate, request};

pub(super) fn route(state: Arc<State>) -> BoxedFilter<(Response,)> {
    let query = warp::query::raw().or(warp::any().map(String::new)).unify();
    warp::path!("resolve").and(query).and(incoming()).and(with(state)).then(handle).boxed()
}

async fn handle(parameters: String, request: Incoming, state: Arc<State>) -> Response {
    gate::list(&state, request, async |call, forms| {
        let Call { admitted, body } = call;
        let body = body.read().await?;
        let (engine, shared, window) = (state.engine(), state.clone(), Arc::default());
        let generation = engine.manifest().generation;
        let turns = Turns::new(&state.pools().answers, admitted.caller);
        let counted = Arc::clone(&window);
        let list = ListBatch { parameters, forms, generation, admitted, counted, state: shared };
        let results = engine.answer(turns, list, body).await?;
        Ok(Listed { results, generation, counted: window.get().copied().flatten() })
    })
    .await
}

/// The jobs of a list.
struct ListBatch {
    parameters: String,
    forms: Forms,
    /// The number of the generation that answers.
    generation: u64,
    admitted: Admitted,
    /// Set once the list is counted, so that a turn, which reads the list again, does not count it
    /// again. The window is given if the list counts as more than one request.
    counted: Arc<OnceLock<Option<Standing>>>,
    /// The state, for the metrics and the memory budget for answers.
    state: Arc<State>,
}

/// Everything that the answer to a list depends on, except the results.
struct Outline {
    options: Options,
    /// The types of the columns that a JSON body asks about.
    columns: Option<Vec<Option<Recognised>>>,
    /// Whether the body gives jobs, even if it gives an empty list.
    has_jobs: bool,
    /// The identifiers as they were sent, if the answer has them.
    inputs: Vec<String>,
}

/// The units of work of writing a result, without its rows.
const RESULT_UNITS: u64 = 30;

impl Batch for ListBatch {
    type Questions<'a> = ListQuestions<'a>;
    type Owned = ListQuestions<'static>;
    type Answers = Vec<Resolution>;
    type Rest = Outline;
    type Error = OpenError;

    fn read<'a>(
        &'a self,
        body: &'a [u8],
        vocabulary: &Vocabulary,
        meter: &Meter,
    ) -> BatchRead<'a, Self> {
        let jobs_max = self.admitted.list_jobs_max;
        let context = Context { vocabulary, jobs_max, meter };
        let list = match List::read(body, self.forms.body, &self.parameters, context) {
            Ok(list) => list,
            Err(ListError::Invalid(fault)) => return Err(OpenError::Invalid(fault)),
            Err(ListError::TooManyJobs) => {
                let fitting = self.admitted.jobs_per_list();
                return Err(too_many_jobs(format_args!("more than {jobs_max}"), fitting));
            }
            Err(ListError::TakesMore) => return Ok(None),
        };
        let List { options, jobs, columns } = list;
        if columns.is_some() && self.forms.answer != Form::Json {
            let fault = "columns are answered in JSON only: accept application/json.";
            return Err(OpenError::Invalid(fault.into()));
        }
        let has_jobs = jobs.is_some();
        let jobs = jobs.unwrap_or_default();
        if self.counted.get().is_none() {
            // Nobody else sets it meanwhile.
            let _ = self.counted.set(self.admitted.charge_list(jobs.len())?);
        }
        let mut inputs = Vec::new();
        let questions = jobs.into_iter().map(|job| {
            if self.forms.answer == Form::Csv {
                inputs.push(job.input.into_owned());
            }
            job.question
        });
        let questions = questions.collect();
        let (policy, bounds) = (options.policy.clone(), bounds(&options));
        let outline = Outline { options, columns, has_jobs, inputs };
        Ok(Some((ListQuestions { questions, policy, bounds }, outline)))
    }

    fn into_owned(questions: ListQuestions<'_>) -> ListQuestions<'static> {
        questions.into_owned()
    }

    fn write(
        &self,
        rows: FoundRows<'_>,
        (outline, resolutions): &(Outline, Vec<Resolution>),
        meter: &Meter,
    ) -> Option<Pieces> {
        let Outline { options, columns, has_jobs, inputs } = outline;
        let jobs = resolutions.len();
        let rows_found = resolutions.iter().map(|resolution| resolution.hits.len()).sum();
        meter.require(RESULT_UNITS * jobs as u64 + ROW_UNITS * rows_found as u64).ok()?;
        request::add_rows(rows_found);
        let share = self.state.answers().share(self.admitted.caller);
        let mut out = Pieces::charged(share, 256 * jobs, rows_found);
        let form = self.forms.answer;
        list::heading(&mut out, form, options, self.generation, columns.as_deref());
        let writer = list::Writer { form, options, rows: &rows };
        let is_json = form == Form::Json;
        if is_json && *has_jobs {
            out.last().extend_from_slice(b",\"results\":[");
        }
        for (row, resolution) in resolutions.iter().enumerate() {
            // The rest of an answer is not written if the client has gone.
            meter.charge(RESULT_UNITS + ROW_UNITS * resolution.hits.len() as u64).ok()?;
            if out.refused().is_some() {
                return Some(out);
            }
            if is_json && row > 0 {
                out.last().push(b',');
            }
            out.begin_if_full();
            let input = inputs.get(row).map_or("", String::as_str);
            writer.write(&mut out, row + 1, input, resolution);
        }
        if is_json {
            let end: &[u8] = if *has_jobs { b"]}" } else { b"}" };
            out.last().extend_from_slice(end);
        }
        out.shrink();
        meter.check().ok()?;
        let statuses = resolutions.iter().map(|resolution| &resolution.status);
        self.state.metrics().list_jobs.count(statuses);
        Some(out)
    }
}

/// The bounds of the answer to a list.
fn bounds(options: &Options) -> ResolveBounds {
    ResolveBounds {
        identifier_rows_max: JOB_ROWS_MAX,
        rows_max: if options.is_many { REQUEST_ROWS_MAX } else { LIST_ROWS_MAX },
        candidates_max: if options.is_many { REQUEST_ROWS_MAX } else { CANDIDATES_MAX },
    }
}

/// The most candidates for an ambiguous identifier, unless all rows are requested.
const CANDIDATES_MAX: usize = 10;
