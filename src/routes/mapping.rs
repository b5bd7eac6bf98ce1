//! `POST /{version}/mapping`: maps identifiers to FIGIs, a batch of jobs at a time
//! (contract 4).

use std::sync::Arc;

use figdex_index::{IdType, Meter, RowSource as _, Vocabulary};
use warp::Filter;
use warp::filters::BoxedFilter;
use warp::reply::Response;

use super::with;
use crate::callers::error::ApiError;
use crate::callers::limits::{JOB_ROWS_MAX, REQUEST_ROWS_MAX, ROW_UNITS, units_of_body};
use crate::callers::version::Version;
use crate::config::UnknownEnum;
use crate::engine::{Batch, LookedUp, LookupFault, Lookups, Rows, Turns};
use crate::gate::call::{Admitted, Call, Incoming, incoming};
use crate::gate::{Action, Body};
use crate::http::pieces::Pieces;
use crate::observe::contained::{Panicked, contained};
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
        let jobs = MappingBatch { version, body, admitted, state: state.clone() };
        state.engine().answer(turns, jobs).await
    })
    .await
}

/// The jobs of a request.
struct MappingBatch {
    version: Version,
    body: Body,
    admitted: Admitted,
    /// For the settings, the metrics, and the memory budget for answers.
    state: Arc<State>,
}

/// The result of checking one job.
enum Verdict {
    /// The next lookup answers it.
    Asks,
    /// No row can match it.
    Impossible,
    /// It has a fault.
    Failed(Fault),
}

/// A verdict, with the job's idType for the metrics: `None` when it has none that exists.
type TypedVerdict = (Option<IdType>, Verdict);

impl Batch for MappingBatch {
    type Questions<'a> = Lookups<'a>;
    type Owned = Lookups<'static>;
    type Answers = LookedUp;
    /// The verdict on each job, in the order of the request. There is a lookup for each job that
    /// asks for one.
    type Rest = Vec<TypedVerdict>;
    type Error = ApiError;

    fn read(
        &self,
        vocabulary: &Vocabulary,
        meter: &Meter,
    ) -> Result<Option<(Lookups<'_>, Vec<TypedVerdict>)>, ApiError> {
        let Self { version, body, admitted, state } = self;
        if meter.charge(units_of_jobs(body, admitted.jobs_max)).is_err() {
            return Ok(None);
        }
        // Each job is checked as soon as it is read: a lookup is smaller than a job.
        let checked = wire::jobs(body, *version, admitted.jobs_max, |job: Job<'_>| {
            let checked = contained(|| {
                let checked = job.check(*version, vocabulary);
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
        admitted.charge_jobs(checked.len())?;
        // In all jobs, before any of them is answered (contract 6.4).
        let enums_hold = checked.iter().all(|(checked, _)| checked.enums_hold);
        if state.settings().unknown_enum == UnknownEnum::Reject && !enums_hold {
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
        let verdicts = verdicts.collect();
        Ok(Some((Lookups(lookups), verdicts)))
    }

    fn into_owned(lookups: Lookups<'_>) -> Lookups<'static> {
        lookups.into_owned()
    }

    fn write(
        &self,
        rows: Rows<'_>,
        verdicts: &Vec<TypedVerdict>,
        LookedUp { ranges, hits }: &LookedUp,
        meter: &Meter,
    ) -> Option<Pieces> {
        let Self { version, admitted, state, .. } = self;
        meter.require(RESULT_UNITS * verdicts.len() as u64 + ROW_UNITS * hits.len() as u64).ok()?;
        request::add_rows(hits.len());
        // This only touches memory: a row that cannot be read fails where it is written.
        drop(contained(|| rows.read_ahead(hits)));
        let mut ranges = ranges.iter();
        let room = wire::ROW_BYTES * verdicts.len().max(hits.len());
        let mut out = Pieces::charged(state.answers().share(admitted.caller), room, hits.len());
        let mut tally = state.metrics().mapping_jobs.tally();
        wire::array_in_pieces(&mut out, verdicts, |out, (id_type, verdict)| {
            // The rest of an answer is not written when the client has gone, nor when the answer is
            // refused.
            if meter.check().is_err() || out.refused().is_some() {
                return;
            }
            let start = out.mark();
            let text;
            let result = match verdict {
                Verdict::Failed(fault) => JobResult::Error(fault),
                Verdict::Impossible => JobResult::NoMatch,
                Verdict::Asks => match ranges.next() {
                    Some(Err(fault)) => {
                        text = text_of(*fault);
                        JobResult::Error(&text)
                    }
                    Some(Ok(range)) if !range.is_empty() => JobResult::Hits(&hits[range.clone()]),
                    Some(Ok(_)) | None => JobResult::NoMatch,
                },
            };
            // Between two jobs a task gives its turn up.
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
        meter.check().is_ok().then_some(out)
    }
}

/// Units of work of checking a job, besides those of its bytes.
pub(super) const JOB_UNITS: u64 = 25;

/// Units of work of writing the result of a job, besides its rows.
const RESULT_UNITS: u64 = 4;

/// The fewest bytes of a job in an array, with its comma.
const JOB_BYTES_MIN: usize = 2;

/// The units of work of reading and checking the jobs of a body.
fn units_of_jobs(body: &[u8], jobs_max: usize) -> u64 {
    let jobs = (body.len() / JOB_BYTES_MIN).min(jobs_max);
    units_of_body(body) + JOB_UNITS * jobs as u64
}

/// The error of a job whose processing panicked (contract 4.18).
const UNEXPECTED: &str = "There was an error while processing this job.";

/// The error of a job whose lookup has a fault.
fn text_of(fault: LookupFault) -> Fault {
    match fault {
        LookupFault::TooManyRows => {
            format!("A job may find {JOB_ROWS_MAX} FIGIs; this one finds more.").into()
        }
        LookupFault::TooManyRowsInAll => {
            format!("The jobs of one request may find {REQUEST_ROWS_MAX} FIGIs in all.").into()
        }
        LookupFault::Panicked => UNEXPECTED.into(),
    }
}
