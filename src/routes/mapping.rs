//! `POST /{version}/mapping`: maps identifiers to FIGIs, a batch of jobs at a time
//! (contract 4).

use std::ops::Range;
use std::slice;
use std::sync::Arc;

use figdex_index::{
    Catalogue, Hit, IdType, Lookup, Meter, RowSource, TakesMore, TooManyHits, Vocabulary,
};
use figdex_opensearch::{Generation, Located, LookupBounds};
use warp::Filter;
use warp::filters::BoxedFilter;
use warp::reply::Response;

use super::contained::{Panicked, contained};
use super::unanswered;
use super::with;
use crate::callers::Caller;
use crate::callers::error::ApiError;
use crate::callers::limits::{JOB_ROWS_MAX, REQUEST_ROWS_MAX, ROW_UNITS, units_of_body};
use crate::callers::version::Version;
use crate::config::UnknownEnum;
use crate::engine::Engine;
use crate::gate::call::{Admitted, Call, Incoming, incoming};
use crate::gate::{Action, Body};
use crate::http::pieces::Pieces;
use crate::observe::jobs::Outcome;
use crate::state::State;
use crate::wire::{Fault, Job, JobResult, job_result};
use crate::{gate, request, wire};

pub(super) fn route(state: Arc<State>) -> BoxedFilter<(Response,)> {
    warp::path!(Version / "mapping").and(incoming()).and(with(state)).then(handle).boxed()
}

async fn handle(version: Version, request: Incoming, state: Arc<State>) -> Response {
    gate::pass(&state, request, Action::Mapping(version), async |call| {
        let Call { admitted, body } = call;
        let body = body.read().await?;
        let (unknown_enum, shared) = (state.settings().unknown_enum, state.clone());
        let caller = admitted.caller;
        let mapper = match state.engine() {
            Engine::Local(engine) => {
                Mapper { version, unknown_enum, engine, state: shared, caller }
            }
            Engine::OpenSearch(engine) => {
                let mapper = Mapper { version, unknown_enum, engine, state: shared, caller };
                return mapper.answer_of_cluster(body, admitted).await;
            }
        };
        // One meter for the whole answer: reading, looking up and writing.
        let meter = Meter::inline();
        let answer = if meter.charge(units_of_jobs(&body, admitted.jobs_max)).is_err() {
            let read_and_answer = move |meter: &Meter| {
                meter.charge(units_of_body(&body)).map_err(|TakesMore| ApiError::Unavailable)?;
                let jobs = mapper.read(&body, mapper.engine.vocabulary(), &admitted)?;
                Ok::<_, ApiError>(mapper.answer(&jobs, meter))
            };
            state.pools().answers.run_metered(caller, read_and_answer).await??
        } else {
            let jobs = mapper.read(&body, mapper.engine.vocabulary(), &admitted)?;
            // A few rows are written faster than another thread wakes up; many rows would delay
            // other requests.
            match mapper.look_up(&jobs, &meter) {
                Some(found) if meter.require(ROW_UNITS * found.hits.len() as u64).is_ok() => {
                    mapper.write(&*mapper.engine, &jobs.verdicts, &found, &Meter::unlimited())
                }
                Some(found) => {
                    let verdicts = jobs.verdicts;
                    drop(body);
                    let write = move |meter: &Meter| {
                        mapper.write(&*mapper.engine, &verdicts, &found, meter)
                    };
                    state.pools().answers.run_metered(caller, write).await?
                }
                None => {
                    let jobs = jobs.into_owned();
                    drop(body);
                    state
                        .pools()
                        .answers
                        .run_metered(caller, move |meter| mapper.answer(&jobs, meter))
                        .await?
                }
            }
        };
        // In a turn it has no bound, and ends early only when the client has gone.
        answer.ok_or(ApiError::Unavailable)
    })
    .await
}

/// Everything, besides the body, on which the answer to a request depends.
struct Mapper<E> {
    version: Version,
    unknown_enum: UnknownEnum,
    engine: Arc<E>,
    /// For the metrics, and the memory budget for answers.
    state: Arc<State>,
    caller: Caller,
}

/// The jobs of a request, checked.
struct Jobs<'a> {
    /// One for each job, in the order of the request, with the job's idType for the metrics: `None`
    /// when it has none that exists.
    verdicts: Vec<TypedVerdict>,
    /// One for each job that asks for a lookup, in the same order.
    lookups: Vec<Lookup<'a>>,
}

type TypedVerdict = (Option<IdType>, Verdict);

/// The result of checking one job.
enum Verdict {
    /// The next lookup answers it.
    Asks,
    /// No row can match it.
    Impossible,
    /// It has a fault.
    Failed(Fault),
}

impl Jobs<'_> {
    /// The same jobs without a reference to the body.
    fn into_owned(self) -> Jobs<'static> {
        let lookups = self.lookups.into_iter().map(Lookup::into_owned).collect();
        Jobs { verdicts: self.verdicts, lookups }
    }
}

impl<E> Mapper<E> {
    /// Reads and checks the jobs of a body, and counts them against the caller's limit.
    ///
    /// # Errors
    /// The error of the whole request: a body of another shape, too many jobs, or a value outside
    /// its set.
    fn read<'a>(
        &self,
        body: &'a [u8],
        vocabulary: &Vocabulary,
        admitted: &Admitted,
    ) -> Result<Jobs<'a>, ApiError> {
        let version = self.version;
        // Each job is checked as soon as it is read: a lookup is smaller than a job.
        let checked = wire::jobs(body, version, admitted.jobs_max, |job: Job<'a>| {
            let checked = contained(|| {
                let checked = job.check(version, vocabulary);
                let id_type = match &checked.question {
                    Ok(Some(lookup)) => Some(lookup.id_value.id_type()),
                    Ok(None) | Err(_) => job.id_type(version),
                };
                (checked, id_type)
            });
            checked.unwrap_or_else(|Panicked| {
                (wire::Checked { enums_hold: true, question: Err(UNEXPECTED.into()) }, None)
            })
        })?;
        admitted.charge_jobs(checked.len())?;
        // In all jobs, before any of them is answered (contract 6.4).
        let enums_hold = checked.iter().all(|(checked, _)| checked.enums_hold);
        if self.unknown_enum == UnknownEnum::Reject && !enums_hold {
            return Err(ApiError::InvalidEnumField);
        }
        let mut lookups = Vec::with_capacity(checked.len());
        let verdicts = checked.into_iter().map(|(checked, id_type)| {
            let verdict = match checked.question {
                Ok(Some(lookup)) => {
                    lookups.push(lookup);
                    Verdict::Asks
                }
                Ok(None) => Verdict::Impossible,
                Err(fault) => Verdict::Failed(fault),
            };
            (id_type, verdict)
        });
        Ok(Jobs { verdicts: verdicts.collect(), lookups })
    }

    /// Writes the answer; `None` when the client has gone.
    fn write(
        &self,
        rows: &impl RowSource,
        verdicts: &[TypedVerdict],
        found: &Found,
        meter: &Meter,
    ) -> Option<Pieces> {
        let version = self.version;
        let Found { ranges, hits } = found;
        request::add_rows(hits.len());
        // This only touches memory: a row that cannot be read fails where it is written.
        drop(contained(|| rows.read_ahead(hits)));
        let mut ranges = ranges.iter();
        let room = wire::ROW_BYTES * verdicts.len().max(hits.len());
        let mut out = Pieces::charged(self.state.answers().share(self.caller), room, hits.len());
        let mut tally = self.state.metrics().mapping_jobs.tally();
        wire::array_in_pieces(&mut out, verdicts, |out, (id_type, verdict)| {
            // The rest of an answer is not written when the client has gone, nor when the answer is
            // refused.
            if meter.check().is_err() || out.refused().is_some() {
                return;
            }
            let start = out.mark();
            let result = match verdict {
                Verdict::Failed(fault) => JobResult::Error(fault),
                Verdict::Impossible => JobResult::NoMatch,
                Verdict::Asks => match ranges.next() {
                    Some(Err(fault)) => JobResult::Error(fault),
                    Some(Ok(range)) if !range.is_empty() => JobResult::Hits(&hits[range.clone()]),
                    Some(Ok(_)) | None => JobResult::NoMatch,
                },
            };
            // Between two jobs a task gives its turn up.
            let of_job = if let JobResult::Hits(hits) = result { hits.len() } else { 0 };
            if meter.charge(ROW_UNITS * (1 + of_job as u64)).is_err() {
                return;
            }
            let mut outcome = match result {
                JobResult::Hits(_) => Outcome::Found,
                JobResult::NoMatch => Outcome::NotFound,
                JobResult::Error(_) => Outcome::Invalid,
            };
            if contained(|| job_result::write(out, version, rows, result)).is_err() {
                out.truncate(start);
                job_result::write(out, version, rows, JobResult::Error(UNEXPECTED));
                outcome = Outcome::Invalid;
            }
            tally.add(*id_type, outcome);
        });
        out.shrink();
        meter.check().is_ok().then_some(out)
    }
}

impl Mapper<Catalogue> {
    /// The answer to the jobs; `None` when it takes more work than the meter allows.
    fn answer(&self, jobs: &Jobs<'_>, meter: &Meter) -> Option<Pieces> {
        let found = self.look_up(jobs, meter)?;
        self.write(&*self.engine, &jobs.verdicts, &found, meter)
    }

    /// The hits of the jobs; `None` when the lookups take more work than the meter allows.
    fn look_up(&self, jobs: &Jobs<'_>, meter: &Meter) -> Option<Found> {
        let (lookups, catalogue) = (&jobs.lookups[..], &*self.engine);
        // When the steps that the jobs share panic, each job is looked up by itself.
        let mut located = match contained(|| catalogue.locate(lookups, meter)) {
            Ok(Err(TakesMore)) => return None,
            Ok(Ok(located)) => Some(located),
            Err(Panicked) => None,
        };
        let mut hits = Vec::with_capacity(lookups.len());
        let mut ranges = Vec::with_capacity(lookups.len());
        for (place, lookup) in lookups.iter().enumerate() {
            let start = hits.len();
            let ended = contained(|| match &mut located {
                Some(located) => find(located, place, &mut hits),
                None => {
                    let mut alone = catalogue.locate(slice::from_ref(lookup), meter)?;
                    find(&mut alone, 0, &mut hits)
                }
            });
            let ended = ended.unwrap_or_else(|Panicked| Ok(Err(UNEXPECTED.into())));
            ranges.push(match ended {
                Err(TakesMore) => return None,
                Ok(Ok(())) => Ok(start..hits.len()),
                Ok(Err(fault)) => {
                    hits.truncate(start);
                    Err(fault)
                }
            });
        }
        Some(Found { ranges, hits })
    }
}

impl Mapper<Generation> {
    /// The answer of a cluster to the jobs of a body.
    async fn answer_of_cluster(self, body: Body, admitted: Admitted) -> Result<Pieces, ApiError> {
        let mapper = Arc::new(self);
        let (state, caller) = (mapper.state.clone(), mapper.caller);
        let reader = mapper.clone();
        let is_heavy = Meter::inline().charge(units_of_jobs(&body, admitted.jobs_max)).is_err();
        let read = move || {
            let jobs = reader.read(&body, reader.engine.vocabulary(), &admitted);
            jobs.map(Jobs::into_owned)
        };
        let jobs = if is_heavy { state.pools().answers.run(caller, read).await?? } else { read()? };
        let bounds = LookupBounds { each_max: JOB_ROWS_MAX, all_max: REQUEST_ROWS_MAX };
        let id = request::id();
        let located = mapper.engine.lookup(&jobs.lookups, bounds, Some(id.as_str())).await;
        let Located { rows, hits, ranges } = located.map_err(unanswered)?;
        let fault = |count: u64| match count > JOB_ROWS_MAX as u64 {
            true => too_many_of_job(JOB_ROWS_MAX),
            false => too_many_of_request(),
        };
        let ranges = ranges.into_iter().map(|range| range.map_err(fault)).collect();
        let (found, verdicts) = (Found { ranges, hits }, jobs.verdicts);
        let is_small = Meter::inline().require(ROW_UNITS * found.hits.len() as u64).is_ok();
        let write = move |meter: &Meter| mapper.write(&rows, &verdicts, &found, meter);
        let answer = match is_small {
            true => write(&Meter::unlimited()),
            false => state.pools().answers.run_metered(caller, write).await?,
        };
        answer.ok_or(ApiError::Unavailable)
    }
}

/// The hits of the jobs of a request.
struct Found {
    /// The hits of each lookup, or its fault, in the order of the lookups.
    ranges: Vec<Result<Range<usize>, Fault>>,
    /// The hits of all lookups.
    hits: Vec<Hit>,
}

/// Units of work of checking a job, besides those of its bytes.
pub(super) const JOB_UNITS: u64 = 25;

/// The fewest bytes of a job in an array, with its comma.
const JOB_BYTES_MIN: usize = 2;

/// The units of work of reading and checking the jobs of a body.
fn units_of_jobs(body: &[u8], jobs_max: usize) -> u64 {
    let jobs = (body.len() / JOB_BYTES_MIN).min(jobs_max);
    units_of_body(body) + JOB_UNITS * jobs as u64
}

/// The error of a job whose processing panicked (contract 4.18).
const UNEXPECTED: &str = "There was an error while processing this job.";

/// Appends the hits of one lookup, unless they exceed a bound (contract 4.16, 4.17).
fn find(
    located: &mut figdex_index::Located<'_>,
    place: usize,
    hits: &mut Vec<Hit>,
) -> Result<Result<(), Fault>, TakesMore> {
    let before = hits.len();
    if let Err(TooManyHits { hits_max }) = located.find(place, JOB_ROWS_MAX, hits)? {
        return Ok(Err(too_many_of_job(hits_max)));
    }
    if hits.len() > REQUEST_ROWS_MAX {
        hits.truncate(before);
        return Ok(Err(too_many_of_request()));
    }
    Ok(Ok(()))
}

/// The fault of a job beyond contract 4.16.
fn too_many_of_job(hits_max: usize) -> Fault {
    format!("A job may find {hits_max} FIGIs; this one finds more.").into()
}

/// The fault of a job beyond contract 4.17.
fn too_many_of_request() -> Fault {
    format!("The jobs of one request may find {REQUEST_ROWS_MAX} FIGIs in all.").into()
}
