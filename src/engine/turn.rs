//! Small work is done at once, on the thread that serves the connection; heavy work waits for a turn
//! in a pool (engine 8). This is the only code that decides between the two.

use figdex_index::{INLINE_UNITS_MAX, Meter};

use crate::callers::Caller;
use crate::callers::error::ApiError;
use crate::capacity::pool::Pool;

/// The turns of one caller in a pool.
#[derive(Clone, Copy)]
pub(crate) struct Turns<'a> {
    pool: &'a Pool,
    caller: Caller,
    /// The work that needs no turn, in units of the meter.
    units_at_once: u64,
}

impl<'a> Turns<'a> {
    /// The turns of a caller, for work beyond [`INLINE_UNITS_MAX`].
    pub(crate) fn new(pool: &'a Pool, caller: Caller) -> Self {
        Self { pool, caller, units_at_once: INLINE_UNITS_MAX }
    }

    /// The same turns, for work beyond that many units; for all work when it is 0.
    pub(crate) fn beyond(self, units_at_once: u64) -> Self {
        Self { units_at_once, ..self }
    }

    /// Does work at once, or else in a turn. `work` returns `None` when it takes more than its meter
    /// allows. In its turn it is called once more, and goes on or begins again as it likes.
    ///
    /// # Errors
    /// Those of `work`, and [`ApiError::Unavailable`] when there is no turn in time.
    pub(crate) async fn work<T, E>(
        self,
        mut work: impl FnMut(&Meter) -> Result<Option<T>, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<ApiError> + Send + 'static,
    {
        if self.units_at_once > 0
            && let Some(done) = work(&Meter::of(self.units_at_once))?
        {
            return Ok(done);
        }
        let done = self.pool.run_metered(self.caller, move |meter| work(meter)).await??;
        // In a turn the meter has no bound, and the work ends early only if the client has gone.
        done.ok_or_else(|| ApiError::Unavailable.into())
    }
}
