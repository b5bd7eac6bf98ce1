//! `POST /resolve`: finds the row that each identifier of a list means (contract 17). The list of
//! `GET /resolve` is in its URL (contract 21).

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use figdex_index::{
    Crosswalk, Date, INLINE_UNITS_MAX, ListColumns, Meter, Recognised, Resolution, ResolveBounds,
    Visible, Vocabularies,
};
use warp::Filter;
use warp::filters::BoxedFilter;
use warp::http::HeaderValue;
use warp::reply::Response;

use super::with;
use crate::callers::error::{ApiError, OpenError};
use crate::callers::limits::standing::Standing;
use crate::callers::limits::{JOB_ROWS_MAX, LIST_ROWS_MAX, REQUEST_ROWS_MAX, ROW_UNITS};
use crate::engine::{Batch, BatchRead, FoundRows, ListQuestions, Turns};
use crate::gate::call::{Admitted, Call, Incoming, incoming, too_many_jobs};
use crate::gate::{Forms, Listed};
use crate::http::pieces::Pieces;
use crate::state::State;
use crate::wire::Token;
use crate::wire::list::{self, Context, Form, List, ListError, Options, UrlList};
use crate::{gate, request};

pub(super) fn route(state: Arc<State>) -> BoxedFilter<(Response,)> {
    let query = warp::query::raw().or(warp::any().map(String::new)).unify();
    warp::path!("resolve").and(query).and(incoming()).and(with(state)).then(handle).boxed()
}

async fn handle(parameters: String, request: Incoming, state: Arc<State>) -> Response {
    let is_read = request.is_read();
    let of_url = is_read.then(|| UrlList::read(PATH, &parameters));
    let form = of_url.as_ref().and_then(|list| list.as_ref().ok()?.form);
    gate::list(&state, request, form, async |call, forms| {
        let Call { admitted, body } = call;
        let (parameters, body) = match of_url {
            Some(list) => {
                let UrlList { body, parameters, .. } = list?;
                (parameters, ListBody::OfUrl(body))
            }
            None => (parameters, ListBody::Sent(body.read().await?)),
        };
        let (engine, shared, window) = (state.engine(), state.clone(), Arc::default());
        let generation = engine.manifest().generation;
        let token = Token { generation: engine.manifest().id, visible: admitted.visible };
        let turns = Turns::new(&state.pools().answers, admitted.caller);
        let counted = Arc::clone(&window);
        let jobs = [false, true].map(|has_candidates| admitted.list_jobs(has_candidates));
        let has_past = engine.local().is_some_and(|index| index.coverage().is_some());
        let is_cluster = engine.local().is_none();
        let list = ListBatch {
            parameters,
            is_read,
            forms,
            generation,
            has_past,
            is_cluster,
            admitted,
            counted,
            state: shared,
        };
        let results = engine.answer(turns, list, body).await?;
        let (counted, has_candidates, unknown_values, not_shown) = match window.get() {
            Some(CountedList { standing, has_candidates, unknown_values, not_shown }) => {
                (*standing, *has_candidates, header_of(unknown_values), not_shown.clone())
            }
            None => (None, false, None, None),
        };
        let jobs = jobs[usize::from(has_candidates)];
        Ok(Listed { results, generation, token, counted, jobs, unknown_values, not_shown })
    })
    .await
}

const PATH: &str = "/resolve";

/// The body of a list.
enum ListBody<B> {
    Sent(B),
    /// Made from the query of the URL.
    OfUrl(Vec<u8>),
}

impl<B: Deref<Target = [u8]>> Deref for ListBody<B> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Sent(body) => body,
            Self::OfUrl(body) => body,
        }
    }
}

/// The jobs of a list.
struct ListBatch {
    parameters: String,
    forms: Forms,
    /// The number of the generation that answers.
    generation: u64,
    /// Whether that generation has a past.
    has_past: bool,
    /// Whether the list is in a URL. Its answer in CSV goes into a spreadsheet, which runs formulas.
    is_read: bool,
    /// Whether that generation is in a cluster.
    is_cluster: bool,
    admitted: Admitted,
    /// Set once the list is counted, so that a turn, which reads the list again, does not count it
    /// again.
    counted: Arc<OnceLock<CountedList>>,
    /// The state, for the metrics and the memory budget for answers.
    state: Arc<State>,
}

/// A list that was counted, and what the headers of its answer say.
struct CountedList {
    /// The window, if the list counts as more than one request.
    standing: Option<Standing>,
    has_candidates: bool,
    /// The values of the steps that are outside the sets of their properties.
    unknown_values: Vec<String>,
    /// The idTypes among the fields that the caller may not see.
    not_shown: Option<HeaderValue>,
}

/// The most bytes of values that a header names. Steps may have 4,096 bytes, three times as many
/// when they are encoded, which is too long for some proxies.
const UNKNOWN_VALUES_BYTES_MAX: usize = 1024;

/// The header that names values, percent-encoded where a header cannot hold them; `None` for none.
fn header_of(values: &[String]) -> Option<HeaderValue> {
    let mut text = String::new();
    for value in values {
        let encoded = form_urlencoded::byte_serialize(value.as_bytes()).collect::<String>();
        let encoded = encoded.replacen("%3D", "=", 1);
        let mark = if text.is_empty() { "" } else { ", " };
        if text.len() + mark.len() + encoded.len() > UNKNOWN_VALUES_BYTES_MAX {
            text.push_str(mark);
            text.push_str("...");
            break;
        }
        text.push_str(mark);
        text.push_str(&encoded);
    }
    HeaderValue::try_from(text).ok().filter(|text| !text.is_empty())
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
    /// The day as of which each job is asked.
    days: Vec<Option<Date>>,
}

/// The number of rows whose identifiers are held at a time. The rows of one result are read together.
const CROSSWALK_ROWS_MAX: usize = 1_024;

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
        vocabulary: Vocabularies<'_>,
        meter: &Meter,
    ) -> BatchRead<'a, Self> {
        let jobs_max = self.admitted.list_jobs_max;
        let context = Context { vocabulary, jobs_max, meter };
        let list = match List::read(body, self.forms.body, &self.parameters, context) {
            Ok(list) => list,
            Err(ListError::Invalid(fault)) => return Err(OpenError::Invalid(fault)),
            Err(ListError::TooManyJobs { has_candidates }) => {
                let fitting = self.admitted.list_jobs(has_candidates).per_list;
                return Err(too_many_jobs(format_args!("more than {jobs_max}"), fitting));
            }
            Err(ListError::TakesMore) => return Ok(None),
        };
        let List { options, jobs, columns } = list;
        if columns.is_some() && self.forms.answer != Form::Json {
            let fault = "columns are answered in JSON only: accept application/json.";
            return Err(OpenError::Invalid(fault.into()));
        }
        if let Some(symbol) = options.fields.symbol().filter(|_| self.is_cluster) {
            let fault = format!(
                "fields: {} is not answered by an index in a cluster; ask for ticker and exchCode, \
                 or ask a server that holds the index itself.",
                symbol.name()
            );
            return Err(OpenError::Invalid(fault.into()));
        }
        let has_jobs = jobs.is_some();
        let jobs = jobs.unwrap_or_default();
        if self.counted.get().is_none() {
            let has_candidates = options.has_candidates;
            let standing = self.admitted.charge_list(jobs.len(), has_candidates)?;
            let has_days = jobs.iter().any(|job| job.day.is_some());
            let unknown_values = options.unknown_values(has_days).to_vec();
            // Nobody else sets it meanwhile.
            let asked = options.fields.all().iter().filter_map(|field| field.id_type());
            let not_shown = gate::not_shown(self.admitted.visible, asked);
            let list = CountedList { standing, has_candidates, unknown_values, not_shown };
            let _ = self.counted.set(list);
        }
        let days: Vec<Option<Date>> = jobs.iter().map(|job| job.day).collect();
        let mut inputs = Vec::new();
        let questions = jobs.into_iter().map(|job| {
            if self.forms.answer == Form::Csv {
                inputs.push(job.input.into_owned());
            }
            job.question
        });
        let questions = questions.collect();
        let (policy, bounds) = (options.policy.clone(), bounds(&options, self.admitted.visible));
        let (has_candidates, has_formerly) = (options.has_candidates, options.has_formerly);
        let outline = Outline { options, columns, has_jobs, inputs, days: days.clone() };
        let questions =
            ListQuestions { questions, days, policy, bounds, has_candidates, has_formerly };
        Ok(Some((questions, outline)))
    }

    fn into_owned(questions: ListQuestions<'_>) -> ListQuestions<'static> {
        questions.into_owned()
    }

    fn write(
        &self,
        rows: FoundRows<'_>,
        (outline, resolutions): &(Outline, Vec<Resolution>),
        meter: &Meter,
    ) -> Result<Option<Pieces>, ApiError> {
        match self.written(rows, (outline, resolutions), meter) {
            Ok(pieces) => Ok(Some(pieces)),
            Err(figdex_index::Error::TakesMore(_)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

impl ListBatch {
    fn written(
        &self,
        rows: FoundRows<'_>,
        (outline, resolutions): (&Outline, &[Resolution]),
        meter: &Meter,
    ) -> Result<Pieces, figdex_index::Error> {
        let Outline { options, columns, has_jobs, inputs, days } = outline;
        let jobs = resolutions.len();
        let rows_of = |one: &Resolution| {
            one.hits.len() + one.candidates.len() + 2 * one.past.len() + one.formerly.len()
        };
        let rows_found = resolutions.iter().map(rows_of).sum();
        let fields = options.fields.all();
        let has_crosswalk = options.fields.has_crosswalk();
        // Identifiers are in blocks, which may have to come from a disk, and symbols are read back:
        // both are found in a turn, and charged as they are found.
        let turn = if has_crosswalk { INLINE_UNITS_MAX } else { 0 };
        meter.require(turn + RESULT_UNITS * jobs as u64 + ROW_UNITS * rows_found as u64)?;
        request::add_rows(rows_found);
        let share = self.state.answers().share(self.admitted.caller);
        let mut out = Pieces::charged(share, 256 * jobs, rows_found);
        let form = self.forms.answer;
        let (has_past, crosswalk) = (self.has_past, Crosswalk::default());
        let visible = self.admitted.visible;
        let guards_formulas = self.is_read;
        let mut writer = list::Writer {
            form,
            options,
            has_past,
            rows: &rows,
            crosswalk,
            visible,
            guards_formulas,
        };
        let mut read_to = 0;
        writer.heading(&mut out, self.generation, columns.as_deref());
        let is_json = form == Form::Json;
        if is_json && *has_jobs {
            out.last().extend_from_slice(b",\"results\":[");
        }
        for (row, resolution) in resolutions.iter().enumerate() {
            // The rest of an answer is not written if the client has gone.
            meter.charge(RESULT_UNITS + ROW_UNITS * rows_of(resolution) as u64)?;
            if out.refused().is_some() {
                return Ok(out);
            }
            if has_crosswalk && row == read_to {
                let mut hits = Vec::new();
                while read_to < jobs && hits.len() < CROSSWALK_ROWS_MAX {
                    hits.extend(writer.crosswalked(&resolutions[read_to]));
                    read_to += 1;
                }
                writer.crosswalk = rows.crosswalk(&hits, ListColumns { fields, visible }, meter)?;
            }
            if is_json && row > 0 {
                out.last().push(b',');
            }
            out.begin_if_full();
            let input = inputs.get(row).map_or("", String::as_str);
            let asked = list::ListedJob { row: row + 1, input, day: days[row] };
            writer.write(&mut out, asked, resolution);
        }
        if is_json {
            let end: &[u8] = if *has_jobs { b"]}" } else { b"}" };
            out.last().extend_from_slice(end);
        }
        out.shrink();
        meter.check()?;
        let statuses = resolutions.iter().map(|resolution| &resolution.status);
        self.state.metrics().list_jobs.count(statuses);
        Ok(out)
    }
}

/// The bounds of the answer to a list. Identifiers that the caller may not see are not corrected.
fn bounds(options: &Options, visible: Visible) -> ResolveBounds {
    ResolveBounds {
        identifier_rows_max: JOB_ROWS_MAX,
        rows_max: if options.is_many { REQUEST_ROWS_MAX } else { LIST_ROWS_MAX },
        candidates_max: if options.is_many { REQUEST_ROWS_MAX } else { CANDIDATES_MAX },
        corrected: visible,
    }
}

/// The most candidates for an ambiguous identifier, unless all rows are requested.
const CANDIDATES_MAX: usize = 10;
