//! Turns for heavy work: so many pieces at a time, each apart from the threads that
//! serve the cheap requests, and a bounded wait for the rest (engine, decision 8).

use std::sync::Arc;
use std::thread::available_parallelism;
use std::time::Duration;

use tokio::sync::Semaphore;

use crate::error::ApiError;

pub(crate) struct Turns {
    free: Arc<Semaphore>,
    wait: Duration,
}

impl Turns {
    /// `count` turns at a time; without one, a core stays free for cheap requests.
    pub(crate) fn new(count: Option<usize>, wait: Duration) -> Self {
        let cores = available_parallelism().map_or(1, usize::from);
        let count = count.unwrap_or(cores - 1).max(1);
        Self { free: Arc::new(Semaphore::new(count)), wait }
    }

    /// Does the work when its turn comes. A panic in it goes on in the caller.
    ///
    /// # Errors
    /// [`ApiError::Unavailable`] when its turn does not come in time.
    pub(crate) async fn take<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ApiError> {
        let turn = tokio::time::timeout(self.wait, self.free.clone().acquire_owned()).await;
        let Ok(Ok(turn)) = turn else { return Err(ApiError::Unavailable) };
        let work = tokio::task::spawn_blocking(move || {
            // The turn is over when the work is, even if the caller has gone.
            let _turn = turn;
            work()
        });
        match work.await {
            Ok(done) => Ok(done),
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            Err(_cancelled) => Err(ApiError::Unavailable),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::panic::AssertUnwindSafe;
    use std::sync::mpsc;

    use futures_util::FutureExt as _;

    use super::*;

    /// "Temporary resource shortage": 503 after the wait, and an answer again when
    /// the turn is free, which a panic does not keep.
    #[tokio::test]
    async fn one_turn() {
        let turns = Arc::new(Turns::new(Some(1), Duration::from_millis(20)));
        let (release, released) = mpsc::channel::<()>();
        let (begin, begun) = mpsc::channel();
        let long = tokio::spawn({
            let turns = turns.clone();
            async move {
                turns
                    .take(move || {
                        begin.send(()).unwrap();
                        released.recv().unwrap();
                        1
                    })
                    .await
            }
        });
        tokio::task::spawn_blocking(move || begun.recv().unwrap()).await.unwrap();
        assert_eq!(turns.take(|| 2).await, Err(ApiError::Unavailable));
        release.send(()).unwrap();
        assert_eq!(long.await.unwrap(), Ok(1));
        let panic = AssertUnwindSafe(turns.take(|| panic!("a test's"))).catch_unwind().await;
        assert!(panic.is_err());
        assert_eq!(turns.take(|| 3).await, Ok(3));
    }
}
