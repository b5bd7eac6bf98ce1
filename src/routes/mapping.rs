//! `POST /{version}/mapping`: maps identifiers to FIGIs, a batch of jobs at a time
//! (contract 4).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use figdex_index::{IdType, Meter, RowSource as _, Vocabularies};
use warp::Filter;
use warp::filters::BoxedFilter;
use warp::reply::Response;

use super::with;
use crate::callers::error::ApiError;
use crate::callers::limits::{ROW_UNITS, units_of_body};
use crate::callers::version::Version;
use crate::config::UnknownEnum;
use crate::engine::{Batch, BatchRead, FoundRows, LookedUp, Lookups, Turns};
use crate::gate::Action;
use crate::gate::call::{Admitted, Call, Incoming, incoming};
use crate::http::pieces::Pieces;
use crate::observe::contained::{Panicked, UNEXPECTED, contained};
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
        let turns = Turns::new(&state.pools().answers, admitted.caller);
        let is_counted = AtomicBool::new(false);
        let jobs = MappingBatch { version, admitted, is_counted, state: state.clone() };
        state.engine().answer(turns, jobs, body).await
    })
    .await
}

/// The jobs of a request.
struct MappingBatch {
    version: Version,
    admitted: Admitted,
    /// Whether the jobs are counted. A turn may read them again, but must not count them again.
    is_counted: AtomicBool,
    /// For the settings, the metrics, and the memory budget for answers.
    state: Arc<State>,
}

/// A checked job: its idType, and its fault or else whether the next lookup answers it. The idType
/// is for the metrics; `None` if the job has no idType that exists, or its check panicked. Without
/// a lookup, no row can match the job.
type CheckedJob = (Option<IdType>, Result<bool, Fault>);

impl Batch for MappingBatch {
    type Questions<'a> = Lookups<'a>;
    type Owned = Lookups<'static>;
    type Answers = LookedUp;
    /// The jobs, in the order of the request.
    type Rest = Vec<CheckedJob>;
    type Error = ApiError;

    fn read<'a>(
        &'a self,
        body: &'a [u8],
        vocabularies: Vocabularies<'_>,
        meter: &Meter,
    ) -> BatchRead<'a, Self> {
        let Self { version, admitted, is_counted, state } = self;
        if meter.charge(units_of_jobs(body, admitted.jobs_max)).is_err() {
            return Ok(None);
        }
        // Each job is checked as soon as it is read: a lookup is smaller than a job.
        let checked = wire::jobs(body, *version, admitted.jobs_max, |job: Job<'_>| {
            let checked = contained(|| {
                let checked = job.check(*version, vocabularies.today);
                let id_type = match &checked.question {
                    Ok(Some(lookup)) => Some(lookup.id_value.id_type()),
                    Ok(None) | Err(_) => job.id_type(*version),
                };
                (checked, id_type)
            });
            checked.unwrap_or_else(|Panicked| {
                (wire::Checked { enums_hold: true, question: Err(UNEXPECTED.into()) }, None)
            })
        })?;
        if !is_counted.swap(true, Ordering::Relaxed) {
            admitted.charge_jobs(checked.len())?;
        }
        // The values are checked in all jobs before any job is answered (contract 6.4).
        let enums_hold = checked.iter().all(|(checked, _)| checked.enums_hold);
        if state.settings().unknown_enum == UnknownEnum::Reject && !enums_hold {
            return Err(ApiError::InvalidEnumField);
        }
        let mut lookups = Vec::with_capacity(checked.len());
        let jobs = checked.into_iter().map(|(checked, id_type)| {
            let lookup = checked.question;
            (id_type, lookup.map(|lookup| lookup.map(|lookup| lookups.push(lookup)).is_some()))
        });
        let jobs = jobs.collect();
        Ok(Some((Lookups(lookups), jobs)))
    }

    fn into_owned(lookups: Lookups<'_>) -> Lookups<'static> {
        lookups.into_owned()
    }

    fn write(
        &self,
        rows: FoundRows<'_>,
        (jobs, LookedUp { ranges, hits }): &(Vec<CheckedJob>, LookedUp),
        meter: &Meter,
    ) -> Result<Option<Pieces>, ApiError> {
        let Self { version, admitted, state, .. } = self;
        let units = RESULT_UNITS * jobs.len() as u64 + ROW_UNITS * hits.len() as u64;
        if meter.require(units).is_err() {
            return Ok(None);
        }
        request::add_rows(hits.len());
        // A panic here is ignored: reading ahead only touches memory. A row that cannot be read
        // fails later, when it is written.
        drop(contained(|| rows.read_ahead(hits)));
        let mut ranges = ranges.iter();
        let room = wire::ROW_BYTES * jobs.len().max(hits.len());
        let mut out = Pieces::charged(state.answers().share(admitted.caller), room, hits.len());
        let mut tally = state.metrics().mapping_jobs.tally();
        wire::array_in_pieces(&mut out, jobs, |out, (id_type, asks)| {
            // The rest of an answer is not written if the client has gone or the answer is refused.
            if meter.check().is_err() || out.refused().is_some() {
                return;
            }
            let start = out.mark();
            let result = match asks {
                Err(fault) => JobResult::Error(fault),
                Ok(false) => JobResult::NoMatch,
                Ok(true) => match ranges.next() {
                    Some(Err(fault)) => JobResult::Error(fault),
                    Some(Ok(range)) if !range.is_empty() => JobResult::Hits(&hits[range.clone()]),
                    Some(Ok(_)) | None => JobResult::NoMatch,
                },
            };
            // A task may give up its turn between two jobs.
            let of_job = if let JobResult::Hits(hits) = result { hits.len() } else { 0 };
            if meter.charge(RESULT_UNITS + ROW_UNITS * of_job as u64).is_err() {
                return;
            }
            let mut outcome = match result {
                JobResult::Hits(_) => Outcome::Found,
                JobResult::NoMatch => Outcome::NotFound,
                JobResult::Error(_) => Outcome::Invalid,
            };
            if contained(|| job_result::write(out, *version, &rows, result)).is_err() {
                out.truncate(start);
                job_result::write(out, *version, &rows, JobResult::Error(UNEXPECTED));
                outcome = Outcome::Invalid;
            }
            tally.add(*id_type, outcome);
        });
        out.shrink();
        Ok(meter.check().is_ok().then_some(out))
    }
}

/// The units of work of checking a job, without the units for its bytes.
pub(super) const JOB_UNITS: u64 = 25;

/// Units of work of writing the result of a job, without its rows.
const RESULT_UNITS: u64 = 4;

/// The fewest bytes of a job in an array, with its comma.
const JOB_BYTES_MIN: usize = 2;

/// The units of work of reading and checking the jobs of a body.
fn units_of_jobs(body: &[u8], jobs_max: usize) -> u64 {
    let jobs = (body.len() / JOB_BYTES_MIN).min(jobs_max);
    units_of_body(body) + JOB_UNITS * jobs as u64
}
