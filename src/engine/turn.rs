//! Small work is done at once, on the thread that serves the connection; heavy work waits for a
//! turn in a pool (engine 8). Only this code decides between the two, except for the packing of
//! answers, where `gate::reply` decides.

use figdex_index::{INLINE_UNITS_MAX, Meter};

use crate::callers::Caller;
use crate::callers::error::ApiError;
use crate::capacity::pool::Pool;

/// The turns of one caller in a pool.
#[derive(Clone, Copy)]
pub(crate) struct Turns<'a> {
    pool: &'a Pool,
    caller: Caller,
    /// The most work that is done without a turn, in units of the meter.
    units_at_once: u64,
}

impl<'a> Turns<'a> {
    /// The turns of a caller, for work beyond [`INLINE_UNITS_MAX`].
    pub(crate) fn new(pool: &'a Pool, caller: Caller) -> Self {
        Self { pool, caller, units_at_once: INLINE_UNITS_MAX }
    }

    /// The same turns, for work beyond `units_at_once`. With 0, all work waits for a turn:
    /// it is for short work, which is charged with its time.
    pub(crate) fn beyond(self, units_at_once: u64) -> Self {
        Self { units_at_once, ..self }
    }

    /// Does work at once, or else in a turn. `work` returns `None` when it takes more than its
    /// meter allows. Then `work` is called again in a turn, where it may continue or begin again.
    ///
    /// # Errors
    /// Those of `work`. [`ApiError::Unavailable`] when there is no turn in time, or the client has
    /// gone.
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
        // Work that always has a turn need not charge its meter: its time is charged.
        let done = match self.units_at_once {
            0 => self.pool.run(self.caller, move || work(&Meter::unlimited())).await??,
            _ => self.pool.run_metered(self.caller, move |meter| work(meter)).await??,
        };
        // In a turn the meter has no bound, and the work ends early only if the client has gone.
        done.ok_or_else(|| ApiError::Unavailable.into())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use figdex_index::SLICE_UNITS;
    use tokio::task::JoinHandle;

    use super::*;
    use crate::capacity::pool::Pools;

    /// engine 8: work that always has a turn is charged with its time, so that however much of it
    /// a caller has, another one gets its turns. Each such work takes as long as a slice.
    #[tokio::test]
    async fn work_that_always_has_a_turn_is_charged() {
        const SLICES: usize = 4;
        let pools = Arc::new(Pools::new(None, Duration::from_secs(60)));
        let sleep = |_: &Meter| {
            std::thread::sleep(Duration::from_millis(20));
            Ok::<_, ApiError>(Some(()))
        };
        let others: Vec<_> = (0..100)
            .map(|_| {
                let pools = pools.clone();
                tokio::spawn(async move {
                    Turns::new(&pools.instruments, Caller::Socket).beyond(0).work(sleep).await
                })
            })
            .collect();
        while !others.iter().any(JoinHandle::is_finished) {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let metered = |meter: &Meter| {
            let charged = (0..SLICES as u64 * SLICE_UNITS / 100).all(|_| meter.charge(100).is_ok());
            Ok::<_, ApiError>(charged.then_some(()))
        };
        let other = Caller::at("192.0.2.1".parse().unwrap());
        Turns::new(&pools.instruments, other).work(metered).await.unwrap();
        let done = others.iter().filter(|other| other.is_finished()).count();
        others.iter().for_each(JoinHandle::abort);
        assert!(done <= 3 * SLICES, "{done} tasks had turns in the time of {SLICES} slices");
    }
}
