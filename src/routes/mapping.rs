//! `POST /{version}/mapping`: identifiers to FIGIs, a batch at a time.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::slice;
use std::sync::Arc;

use figdex_index::{Batch as Located, Catalogue, Hit, Lookup, TooManyHits};
use warp::Filter;
use warp::filters::BoxedFilter;
use warp::reply::Response;

use super::with;
use crate::call::{Call, call};
use crate::config::UnknownEnum;
use crate::error::ApiError;
use crate::gate::{self, Action, Caller};
use crate::limits::{INLINE_BODY_BYTES_MAX, JOB_ROWS_MAX, REQUEST_ROWS_MAX};
use crate::request;
use crate::state::State;
use crate::version::Version;
use crate::wire::{self, Fault, Job, JobAnswer, Pieces};

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
            let read_and_answer = move || batch.answer(&batch.read(&body, &caller)?, usize::MAX);
            state.blocking(read_and_answer).await??
        } else {
            let jobs = batch.read(&body, &caller)?;
            // A few rows are written sooner than another thread is woken; many would
            // hold up everyone else's few.
            if let Some(answer) = batch.answer(&jobs, INLINE_ROWS_MAX)? {
                return Ok(answer);
            }
            let jobs = jobs.into_owned();
            drop(body);
            state.blocking(move || batch.answer(&jobs, usize::MAX)).await??
        };
        answer.ok_or_else(|| unreachable!("without a bound every answer is whole"))
    })
    .await
}

/// The rows that are written on the thread that serves everyone: less than a
/// millisecond's work, at 0.4 to 0.9 µs a row (engine, decision 5).
const INLINE_ROWS_MAX: usize = 1_000;

/// The answer to a request depends on these, besides its body.
struct Batch {
    version: Version,
    unknown_enum: UnknownEnum,
    catalogue: Arc<Catalogue>,
}

/// The jobs of a request, checked.
struct Jobs<'a> {
    jobs: Vec<Checked>,
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
        Jobs { jobs: self.jobs, lookups }
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
        Ok(Jobs { jobs: jobs.collect(), lookups })
    }

    /// The answer to the jobs; `None` when it has more rows than `rows_max`.
    fn answer(&self, jobs: &Jobs<'_>, rows_max: usize) -> Result<Option<Pieces>, ApiError> {
        let (version, catalogue) = (self.version, &*self.catalogue);
        let Jobs { jobs, lookups } = jobs;
        // A fault that is not in one job's own work: then each is looked up alone.
        let mut batch = contained(|| catalogue.batch(lookups)).ok();
        let mut hits = Vec::with_capacity(lookups.len());
        let mut found = Vec::with_capacity(lookups.len());
        for (place, lookup) in lookups.iter().enumerate() {
            let start = hits.len();
            let ended = contained(|| match &mut batch {
                Some(batch) => find(batch, place, &mut hits),
                None => {
                    let mut alone = catalogue.batch(slice::from_ref(lookup));
                    find(&mut alone, 0, &mut hits)
                }
            });
            found.push(
                ended.flatten().map(|()| start..hits.len()).inspect_err(|_| hits.truncate(start)),
            );
            if hits.len() > rows_max {
                return Ok(None);
            }
        }
        request::add_rows(hits.len());
        catalogue.read_ahead(&hits);
        let mut found = found.iter();
        let mut out = Pieces::with_room(wire::ROW_BYTES * jobs.len().max(hits.len()));
        wire::in_pieces(&mut out, jobs, |out, job| {
            let start = out.place();
            let answer = match job {
                Checked::Failed(fault) => JobAnswer::Error(fault),
                Checked::Impossible => JobAnswer::NoMatch,
                Checked::Asks => match found.next() {
                    Some(Err(fault)) => JobAnswer::Error(fault),
                    Some(Ok(range)) if !range.is_empty() => JobAnswer::Hits(&hits[range.clone()]),
                    Some(Ok(_)) | None => JobAnswer::NoMatch,
                },
            };
            if contained(|| wire::job_answer(out, version, catalogue, answer)).is_err() {
                out.truncate(start);
                wire::job_answer(out, version, catalogue, JobAnswer::Error(UNEXPECTED));
            }
        });
        out.shrink();
        Ok(Some(out))
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
fn find(batch: &mut Located<'_>, place: usize, hits: &mut Vec<Hit>) -> Result<(), Fault> {
    let before = hits.len();
    batch.find(place, JOB_ROWS_MAX, hits).map_err(|TooManyHits { hits_max }| {
        Fault::from(format!("A job may find {hits_max} FIGIs; this one finds more."))
    })?;
    if hits.len() > REQUEST_ROWS_MAX {
        hits.truncate(before);
        let fault = format!("The jobs of one request may find {REQUEST_ROWS_MAX} FIGIs in all.");
        return Err(fault.into());
    }
    Ok(())
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
