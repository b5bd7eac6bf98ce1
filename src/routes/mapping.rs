//! `POST /{version}/mapping`: identifiers to FIGIs, a batch at a time.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::slice;
use std::sync::Arc;

use figdex_index::{Batch as Located, Catalogue, Hit, Meter, TakesMore, TooManyHits};
use warp::Filter;
use warp::filters::BoxedFilter;
use warp::reply::Response;

use super::with;
use crate::call::{Call, call};
use crate::config::UnknownEnum;
use crate::error::ApiError;
use crate::gate::{self, Action};
use crate::limits::{JOB_ROWS_MAX, REQUEST_ROWS_MAX};
use crate::request;
use crate::state::State;
use crate::version::Version;
use crate::wire::{self, Checked, Fault, Job, JobAnswer};

pub(super) fn route(state: Arc<State>) -> BoxedFilter<(Response,)> {
    warp::path!(Version / "mapping").and(call()).and(with(state)).then(handle).boxed()
}

async fn handle(version: Version, call: Call, state: Arc<State>) -> Response {
    gate::pass(&state, call, Action::Mapping(version), async |mut call, caller| {
        let body = call.body(caller.body_bytes_max).await?;
        let batch = Batch {
            version,
            jobs_max: caller.jobs_max,
            unknown_enum: state.settings().unknown_enum,
            catalogue: state.catalogue(),
        };
        let jobs = batch.jobs(&body)?;
        caller.charge_jobs(jobs.len())?;
        // A few rows are written sooner than another thread is woken; many would
        // hold up everyone else's few.
        let answer = match batch.look_up(&jobs, &Meter::inline())? {
            Some(found) if found.hits.len() <= INLINE_ROWS_MAX => {
                batch.write(&found, &Meter::unlimited())
            }
            Some(found) => {
                drop(jobs);
                state.looking_up(move |meter| batch.write(&found, meter)).await?
            }
            None => {
                drop(jobs);
                let answer = move |meter: &Meter| {
                    let found = batch.look_up(&batch.jobs(&body)?, meter)?;
                    Ok::<_, ApiError>(found.and_then(|found| batch.write(&found, meter)))
                };
                state.looking_up(answer).await??
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

/// Rows of an answer that is long enough for its room to matter, and how many of them are
/// written to see how much room they take.
const LONG_ROWS_MIN: usize = 20_000;
const SAMPLED_ROWS: usize = 256;

/// What the answer to a request depends on, beside its body.
struct Batch {
    version: Version,
    jobs_max: usize,
    unknown_enum: UnknownEnum,
    catalogue: Arc<Catalogue>,
}

impl Batch {
    fn jobs<'a>(&self, body: &'a [u8]) -> Result<Vec<Job<'a>>, ApiError> {
        let jobs = wire::jobs(body, self.version)?;
        if jobs.len() > self.jobs_max { Err(ApiError::PayloadTooLarge) } else { Ok(jobs) }
    }

    /// What the jobs find; `None` when that takes more than the meter allows.
    fn look_up(&self, jobs: &[Job<'_>], meter: &Meter) -> Result<Option<Found>, ApiError> {
        let (version, catalogue) = (self.version, &*self.catalogue);
        let mut lookups = Vec::with_capacity(jobs.len());
        let mut progress = Vec::with_capacity(jobs.len());
        for job in jobs {
            let checked = contained(|| job.check(version, catalogue.vocabulary()));
            let Checked { enums_hold, question } =
                checked.unwrap_or_else(|fault| Checked { enums_hold: true, question: Err(fault) });
            // Over all jobs, before any of them is answered (decisions, "enum-like").
            if self.unknown_enum == UnknownEnum::Reject && !enums_hold {
                return Err(ApiError::InvalidEnumField);
            }
            progress.push(match question {
                Ok(Some(lookup)) => {
                    lookups.push(lookup);
                    Progress::Asks
                }
                Ok(None) => Progress::Found(0..0),
                Err(fault) => Progress::Failed(fault),
            });
        }
        // A fault that is not in one job's own work: then each is looked up alone.
        let mut batch = match contained(|| catalogue.batch(&lookups, meter)) {
            Ok(Err(TakesMore)) => return Ok(None),
            Ok(Ok(batch)) => Some(batch),
            Err(_fault) => None,
        };
        let mut hits = Vec::with_capacity(lookups.len());
        let mut next = 0..lookups.len();
        for progress in &mut progress {
            if matches!(progress, Progress::Asks)
                && let Some(place) = next.next()
            {
                let start = hits.len();
                let found = contained(|| match &mut batch {
                    Some(batch) => find(batch, place, &mut hits),
                    None => {
                        let mut alone = catalogue.batch(slice::from_ref(&lookups[place]), meter)?;
                        find(&mut alone, 0, &mut hits)
                    }
                });
                *progress = match found {
                    Ok(Err(TakesMore)) => return Ok(None),
                    Ok(Ok(Ok(()))) => Progress::Found(start..hits.len()),
                    Ok(Ok(Err(fault))) | Err(fault) => {
                        hits.truncate(start);
                        Progress::Failed(fault)
                    }
                };
            }
        }
        Ok(Some(Found { progress, hits }))
    }

    /// The answer; `None` when nobody waits for it any more.
    fn write(&self, found: &Found, meter: &Meter) -> Option<Vec<u8>> {
        let (version, catalogue) = (self.version, &*self.catalogue);
        let Found { progress, hits } = found;
        request::add_rows(hits.len());
        catalogue.read_ahead(hits);
        let mut out = Vec::with_capacity(self.answer_bytes(hits, progress.len()));
        wire::array(&mut out, progress, |out, progress| {
            let start = out.len();
            let answer = progress.answer(hits);
            if meter.check().is_err() {
                return;
            }
            if contained(|| wire::job_answer(out, version, catalogue, answer)).is_err() {
                out.truncate(start);
                wire::job_answer(out, version, catalogue, JobAnswer::Error(UNEXPECTED));
            }
        });
        meter.check().is_ok().then_some(out)
    }

    /// Room for the answer. One that outgrows its room is copied, and takes its memory
    /// twice: for many rows it is what some of them take, here and there among them, and
    /// an eighth more, which takes no memory as long as it is not written to.
    fn answer_bytes(&self, hits: &[Hit], jobs: usize) -> usize {
        if hits.len() < LONG_ROWS_MIN {
            return wire::ROW_BYTES * jobs.max(hits.len());
        }
        let step = hits.len().div_ceil(SAMPLED_ROWS);
        let sampled: Vec<Hit> = hits.iter().step_by(step).copied().collect();
        let mut sample = Vec::new();
        let rows = JobAnswer::Hits(&sampled);
        let is_written =
            contained(|| wire::job_answer(&mut sample, self.version, &self.catalogue, rows));
        let row_bytes = match is_written {
            Ok(()) => sample.len().div_ceil(sampled.len()),
            Err(_fault) => wire::ROW_BYTES,
        };
        (row_bytes + row_bytes / 8) * hits.len() + wire::ROW_BYTES * jobs
    }
}

/// What the jobs of a request find.
struct Found {
    /// What became of each job.
    progress: Vec<Progress>,
    /// The hits of all jobs.
    hits: Vec<Hit>,
}

/// How far a job has come.
enum Progress {
    /// It asks for the next of the lookups.
    Asks,
    /// Its hits are these of all; none, when nothing matches.
    Found(Range<usize>),
    /// Something is wrong with it.
    Failed(Fault),
}

impl Progress {
    fn answer<'a>(&'a self, hits: &'a [Hit]) -> JobAnswer<'a> {
        match self {
            Self::Failed(fault) => JobAnswer::Error(fault),
            Self::Found(range) if !range.is_empty() => JobAnswer::Hits(&hits[range.clone()]),
            Self::Found(_) | Self::Asks => JobAnswer::NoMatch,
        }
    }
}

/// What a job says that made its handler panic.
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

    /// "that job's `error`; the others are answered".
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
