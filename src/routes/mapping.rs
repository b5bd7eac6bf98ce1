//! `POST /{version}/mapping`: identifiers to FIGIs, a batch at a time.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use figdex_index::{Catalogue, TooManyHits};
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
use crate::wire::{self, Job, JobAnswer};

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
        let mut rows_left = REQUEST_ROWS_MAX;
        let mut out = Vec::with_capacity(wire::ROW_BYTES * jobs.len());
        let mut is_whole = true;
        wire::array(&mut out, jobs, |out, job| {
            is_whole &= REQUEST_ROWS_MAX - rows_left <= rows_max;
            if is_whole {
                contain(out, version, catalogue, |out| {
                    let answer = find(job, version, catalogue, &mut rows_left);
                    is_whole &= REQUEST_ROWS_MAX - rows_left <= rows_max;
                    if is_whole {
                        wire::job_answer(out, version, catalogue, &answer);
                    }
                });
            }
        });
        Ok(is_whole.then_some(out))
    }
}

/// Lets one job's answer be written; if that panics, the job says so and the others
/// are answered (decisions, "an unexpected fault in one job").
fn contain(
    out: &mut Vec<u8>,
    version: Version,
    catalogue: &Catalogue,
    write: impl FnOnce(&mut Vec<u8>),
) {
    let start = out.len();
    if catch_unwind(AssertUnwindSafe(|| write(out))).is_err() {
        tracing::error!("a mapping job made its handler panic");
        out.truncate(start);
        let fault = JobAnswer::Error("There was an error while processing this job.".into());
        wire::job_answer(out, version, catalogue, &fault);
    }
}

/// The answer to one job; whatever is wrong with it stays in it.
fn find(
    job: &Job<'_>,
    version: Version,
    catalogue: &Catalogue,
    rows_left: &mut usize,
) -> JobAnswer {
    let lookup = match job.check(version, catalogue.vocabulary()) {
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
    use figdex_index::{BuildOptions, Builder, Figi, Instrument};

    use super::*;

    /// "that job's `error`; the others are answered".
    #[test]
    fn a_panic_stays_in_its_job() {
        let folder = tempfile::tempdir().unwrap();
        let mut builder = Builder::create(folder.path(), BuildOptions::default()).unwrap();
        builder.add(Instrument::new(Figi::parse("BBG000BLNNH6").unwrap())).unwrap();
        builder.publish(Vec::new()).unwrap();
        let catalogue = Catalogue::open(folder.path()).unwrap();
        let mut out = Vec::new();
        wire::array(&mut out, &[1, 2, 3], |out, job| {
            contain(out, Version::V3, &catalogue, |out| {
                out.extend_from_slice(b"{}");
                assert_ne!(*job, 2, "a test's panic");
            });
        });
        let expected = r#"[{},{"error":"There was an error while processing this job."},{}]"#;
        assert_eq!(str::from_utf8(&out).unwrap(), expected);
    }
}
