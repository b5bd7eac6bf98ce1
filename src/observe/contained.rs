//! Work whose panic ends only one job, not the request (contract 4.18).

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::request;

/// The error of work that panicked. The log has the panic.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Panicked;

/// The error of a mapping job that panicked.
pub(crate) const UNEXPECTED: &str = "There was an error while processing this job.";

/// Does a piece of the work of one or several jobs. An error if it panics.
pub(crate) fn contained<T>(work: impl FnOnce() -> T) -> Result<T, Panicked> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|_panic| {
        tracing::error!(request_id = %request::id(), "a job made its handler panic");
        Panicked
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// contract 4.18: the other jobs are answered.
    #[test]
    fn a_panic_stays_in_its_job() {
        let done = [1, 2, 3].map(|job| {
            contained(|| {
                assert_ne!(job, 2, "a test's panic");
                job
            })
        });
        assert_eq!(done, [Ok(1), Err(Panicked), Ok(3)]);
    }
}
