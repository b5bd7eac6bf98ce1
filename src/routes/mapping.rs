//! `POST /{version}/mapping`: identifiers to FIGIs, a batch at a time.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::slice;
use std::sync::Arc;

use figdex_index::{Catalogue, Hit, Located, Lookup, Meter, TakesMore, TooManyHits};
use warp::Filter;
use warp::filters::BoxedFilter;
use warp::reply::Response;

use super::with;
use crate::config::UnknownEnum;
use crate::error::ApiError;
use crate::gate::call::{Call, call};
use crate::gate::{Action, Caller};
use crate::limits::{INLINE_BODY_BYTES_MAX, JOB_ROWS_MAX, REQUEST_ROWS_MAX};
use crate::pieces::Pieces;
use crate::state::State;
use crate::version::Version;
use crate::wire::job_result::JobAnswer;
use crate::wire::{Fault, Job};
use crate::{gate, request, wire};

pub(super) fn route(state: Arc<State>) -> BoxedFilter<(Response,)> {
    warp::path!(Version / "mapping").and(call()).and(with(state)).then(handle).boxed()
}

async fn handle(version: Version, call: Call, state: Arc<State>) -> Response {
    gate::pass(&state, call, Action::Mapping(version), async |mut call, caller| {
        let body = call.body(caller.body_bytes_max).await?;
        let batch = Batch {
            version,
            unknown_enum: state.settings().unknown_enum,
            catalogue: state.catalogue(),
        };
        let answer = if body.len() > INLINE_BODY_BYTES_MAX {
            let read_and_answer = move |meter: &Meter| {
                let jobs = batch.read(&body, &caller)?;
                Ok::<_, ApiError>(batch.answer(&jobs, meter))
            };
            state.looking_up(read_and_answer).await??
        } else {
            let jobs = batch.read(&body, &caller)?;
            // A few rows are written sooner than another thread is woken; many would
            // hold up everyone else's few.
            match batch.look_up(&jobs, &Meter::inline()) {
                Some(found) if found.hits.len() <= INLINE_ROWS_MAX => {
                    batch.write(&jobs.checked, &found, &Meter::unlimited())
                }
                Some(found) => {
                    let checked = jobs.checked;
                    drop(body);
                    state.looking_up(move |meter| batch.write(&checked, &found, meter)).await?
                }
                None => {
                    let jobs = jobs.into_owned();
                    drop(body);
                    state.looking_up(move |meter| batch.answer(&jobs, meter)).await?
                }
            }
        };
        // Nothing but the caller's leaving ends it before.
        answer.ok_or(ApiError::Unavailable)
    })
    .await
}

/// The rows that are written on the thread that serves everyone: a third of a
/// millisecond's work, at 0.4 to 0.9 µs a row.
const INLINE_ROWS_MAX: usize = 500;

/// The answer to a request depends on these, besides its body.
struct Batch {
    version: Version,
    unknown_enum: UnknownEnum,
    catalogue: Arc<Catalogue>,
}

/// The jobs of a request, checked.
struct Jobs<'a> {
    checked: Vec<Checked>,
    /// A question for each job that asks one, in their order.
    lookups: Vec<Lookup<'a>>,
}

/// A job that was checked.
enum Checked {
    /// It asks the next of the lookups.
    Asks,
    /// Nothing can match it.
    Impossible,
    /// Something is wrong with it.
    Failed(Fault),
}

impl Jobs<'_> {
    /// The same jobs, whatever becomes of the body.
    fn into_owned(self) -> Jobs<'static> {
        let lookups = self.lookups.into_iter().map(Lookup::into_owned).collect();
        Jobs { checked: self.checked, lookups }
    }
}

impl Batch {
    /// Reads and checks the jobs of a body, and counts them against the caller's limit.
    fn read<'a>(&self, body: &'a [u8], caller: &Caller) -> Result<Jobs<'a>, ApiError> {
        let (version, vocabulary) = (self.version, self.catalogue.vocabulary());
        // Each is checked as soon as it is read: a question is smaller than a job.
        let checked = wire::jobs(body, version, caller.jobs_max, |job: Job<'a>| {
            let checked = contained(|| job.check(version, vocabulary));
            checked.unwrap_or_else(|fault| wire::Checked { enums_hold: true, question: Err(fault) })
        })?;
        caller.charge_jobs(checked.len())?;
        // Over all jobs, before any of them is answered.
        let enums_hold = checked.iter().all(|checked| checked.enums_hold);
        if self.unknown_enum == UnknownEnum::Reject && !enums_hold {
            return Err(ApiError::InvalidEnumField);
        }
        let mut lookups = Vec::with_capacity(checked.len());
        let jobs = checked.into_iter().map(|checked| match checked.question {
            Ok(Some(lookup)) => {
                lookups.push(lookup);
                Checked::Asks
            }
            Ok(None) => Checked::Impossible,
            Err(fault) => Checked::Failed(fault),
        });
        Ok(Jobs { checked: jobs.collect(), lookups })
    }

    /// The answer to the jobs; `None` when it takes more than the meter allows.
    fn answer(&self, jobs: &Jobs<'_>, meter: &Meter) -> Option<Pieces> {
        let found = self.look_up(jobs, meter)?;
        self.write(&jobs.checked, &found, meter)
    }

    /// The hits of the jobs; `None` when looking them up takes more than the meter allows.
    fn look_up(&self, jobs: &Jobs<'_>, meter: &Meter) -> Option<Found> {
        let (lookups, catalogue) = (&jobs.lookups[..], &*self.catalogue);
        // A fault that is not in one job's own work: then each is looked up alone.
        let mut batch = match contained(|| catalogue.locate(lookups, meter)) {
            Ok(Err(TakesMore)) => return None,
            Ok(Ok(batch)) => Some(batch),
            Err(_fault) => None,
        };
        let mut hits = Vec::with_capacity(lookups.len());
        let mut ranges = Vec::with_capacity(lookups.len());
        for (place, lookup) in lookups.iter().enumerate() {
            let start = hits.len();
            let ended = contained(|| match &mut batch {
                Some(batch) => find(batch, place, &mut hits),
                None => {
                    let mut alone = catalogue.locate(slice::from_ref(lookup), meter)?;
                    find(&mut alone, 0, &mut hits)
                }
            });
            ranges.push(match ended {
                Ok(Err(TakesMore)) => return None,
                Ok(Ok(Ok(()))) => Ok(start..hits.len()),
                Ok(Ok(Err(fault))) | Err(fault) => {
                    hits.truncate(start);
                    Err(fault)
                }
            });
        }
        Some(Found { ranges, hits })
    }

    /// The answer; `None` when nobody waits for it any more.
    fn write(&self, jobs: &[Checked], found: &Found, meter: &Meter) -> Option<Pieces> {
        let (version, catalogue) = (self.version, &*self.catalogue);
        let Found { ranges, hits } = found;
        request::add_rows(hits.len());
        // It only touches memory. A row that cannot be read fails where it is written.
        drop(contained(|| catalogue.read_ahead(hits)));
        let mut ranges = ranges.iter();
        let mut out = Pieces::with_room(wire::ROW_BYTES * jobs.len().max(hits.len()));
        wire::in_pieces(&mut out, jobs, |out, job| {
            // Of an answer that nobody waits for any more, not all is written.
            if meter.check().is_err() {
                return;
            }
            let start = out.place();
            let answer = match job {
                Checked::Failed(fault) => JobAnswer::Error(fault),
                Checked::Impossible => JobAnswer::NoMatch,
                Checked::Asks => match ranges.next() {
                    Some(Err(fault)) => JobAnswer::Error(fault),
                    Some(Ok(range)) if !range.is_empty() => JobAnswer::Hits(&hits[range.clone()]),
                    Some(Ok(_)) | None => JobAnswer::NoMatch,
                },
            };
            if contained(|| wire::job_result::job_answer(out, version, catalogue, answer)).is_err()
            {
                out.truncate(start);
                wire::job_result::job_answer(out, version, catalogue, JobAnswer::Error(UNEXPECTED));
            }
        });
        out.shrink();
        meter.check().is_ok().then_some(out)
    }
}

/// The hits of the jobs of a request.
struct Found {
    /// The hits of each lookup, or its fault, in the order of the lookups.
    ranges: Vec<Result<Range<usize>, Fault>>,
    /// The hits of all lookups.
    hits: Vec<Hit>,
}

/// The error of a job that made its handler panic.
const UNEXPECTED: &str = "There was an error while processing this job.";

/// Does a piece of one job's work; if that panics, the job says so and the others are
/// answered (decisions, "an unexpected fault in one job").
fn contained<T>(work: impl FnOnce() -> T) -> Result<T, Fault> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|_panic| {
        tracing::error!(request_id = %request::id(), "a mapping job made its handler panic");
        UNEXPECTED.into()
    })
}

/// Appends what one lookup of a batch finds.
fn find(
    batch: &mut Located<'_>,
    place: usize,
    hits: &mut Vec<Hit>,
) -> Result<Result<(), Fault>, TakesMore> {
    let before = hits.len();
    if let Err(TooManyHits { hits_max }) = batch.find(place, JOB_ROWS_MAX, hits)? {
        let fault = format!("A job may find {hits_max} FIGIs; this one finds more.");
        return Ok(Err(fault.into()));
    }
    if hits.len() > REQUEST_ROWS_MAX {
        hits.truncate(before);
        let fault = format!("The jobs of one request may find {REQUEST_ROWS_MAX} FIGIs in all.");
        return Ok(Err(fault.into()));
    }
    Ok(Ok(()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// contract 4.18: a panic is the `error` of its job, and the others are answered.
    #[test]
    fn a_panic_stays_in_its_job() {
        let done: Vec<_> = [1, 2, 3]
            .map(|job| {
                contained(|| {
                    assert_ne!(job, 2, "a test's panic");
                    job
                })
            })
            .into_iter()
            .collect();
        assert_eq!(done, [Ok(1), Err(UNEXPECTED.into()), Ok(3)]);
    }
}
