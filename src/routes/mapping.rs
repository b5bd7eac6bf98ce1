//! `POST /{version}/mapping`: identifiers to FIGIs, a batch at a time.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use figdex_index::{Catalogue, Lookup, TooManyHits};
use warp::Filter;
use warp::filters::BoxedFilter;
use warp::reply::Response;

use super::with;
use crate::call::{Call, call};
use crate::config::UnknownEnum;
use crate::error::ApiError;
use crate::gate::{self, Action};
use crate::limits::{JOB_ROWS_MAX, REQUEST_ROWS_MAX};
use crate::state::State;
use crate::version::Version;
use crate::wire::{self, Fault, Job, JobAnswer};

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
        if let Some(answer) = batch.answer(&jobs, INLINE_ROWS_MAX)? {
            return Ok(answer);
        }
        drop(jobs);
        let answer =
            state.blocking(move || batch.answer(&batch.jobs(&body)?, usize::MAX)).await??;
        answer.ok_or_else(|| unreachable!("without a bound every answer is whole"))
    })
    .await
}

/// The rows that are written on the thread that serves everyone: less than a
/// millisecond's work, at 0.4 to 0.9 µs a row (engine, decision 5).
const INLINE_ROWS_MAX: usize = 1_000;

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

    /// The answer to the jobs; `None` when it has more rows than `rows_max`.
    fn answer(&self, jobs: &[Job<'_>], rows_max: usize) -> Result<Option<Vec<u8>>, ApiError> {
        let (version, catalogue) = (self.version, &*self.catalogue);
        // Before anything else is answered, and over all jobs (decisions, "enum-like").
        let holds = |job: &Job<'_>| job.enum_fields_hold(catalogue.vocabulary());
        if self.unknown_enum == UnknownEnum::Reject && !jobs.iter().all(holds) {
            return Err(ApiError::InvalidEnumField);
        }
        let questions: Vec<Question> = jobs
            .iter()
            .map(|job| contained(|| job.check(version, catalogue.vocabulary())).unwrap_or_else(Err))
            .collect();
        if questions.len() > 1 {
            catalogue.look_ahead(questions.iter().flatten().flatten());
        }
        let mut rows_left = REQUEST_ROWS_MAX;
        let mut answers = Vec::with_capacity(questions.len());
        for question in questions {
            let found = contained(|| find(question, catalogue, &mut rows_left));
            answers.push(found.unwrap_or_else(JobAnswer::Error));
            if REQUEST_ROWS_MAX - rows_left > rows_max {
                return Ok(None);
            }
        }
        catalogue.read_ahead(answers.iter().flat_map(JobAnswer::hits));
        let mut out = Vec::with_capacity(wire::ROW_BYTES * jobs.len());
        wire::array(&mut out, &answers, |out, answer| {
            let start = out.len();
            if let Err(fault) = contained(|| wire::job_answer(out, version, catalogue, answer)) {
                out.truncate(start);
                wire::job_answer(out, version, catalogue, &JobAnswer::Error(fault));
            }
        });
        Ok(Some(out))
    }
}

/// A job's question; none when nothing can match, or the fault that it has.
type Question = Result<Option<Lookup>, Fault>;

/// Does a piece of one job's work; if that panics, the job says so and the others are
/// answered (decisions, "an unexpected fault in one job").
fn contained<T>(work: impl FnOnce() -> T) -> Result<T, Fault> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|_panic| {
        tracing::error!("a mapping job made its handler panic");
        "There was an error while processing this job.".into()
    })
}

/// The answer to one job; whatever is wrong with it stays in it.
fn find(question: Question, catalogue: &Catalogue, rows_left: &mut usize) -> JobAnswer {
    let lookup = match question {
        Ok(Some(lookup)) => lookup,
        Ok(None) => return JobAnswer::NoMatch,
        Err(fault) => return JobAnswer::Error(fault),
    };
    match catalogue.lookup(&lookup, JOB_ROWS_MAX) {
        Ok(hits) if hits.is_empty() => JobAnswer::NoMatch,
        Ok(hits) if hits.len() > *rows_left => JobAnswer::Error(
            format!("The jobs of one request may find {REQUEST_ROWS_MAX} FIGIs in all.").into(),
        ),
        Ok(hits) => {
            *rows_left -= hits.len();
            JobAnswer::Hits(hits)
        }
        Err(TooManyHits { hits_max }) => JobAnswer::Error(
            format!("A job may find {hits_max} FIGIs; this one finds more.").into(),
        ),
    }
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
        let fault = "There was an error while processing this job.";
        assert_eq!(done, [Ok(1), Err(fault.into()), Ok(3)]);
    }
}
