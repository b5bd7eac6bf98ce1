//! What a handler may see.

use std::sync::Arc;
use std::thread::available_parallelism;
use std::time::Duration;

use figdex_index::Catalogue;
use parking_lot::RwLock;
use tokio::sync::Semaphore;

use crate::config::Settings;
use crate::error::ApiError;

/// How long a heavy piece of work waits for its turn before the answer is 503.
const TURN_TIMEOUT: Duration = Duration::from_secs(5);

/// Shared by all requests.
pub struct State {
    catalogue: RwLock<Arc<Catalogue>>,
    settings: Settings,
    /// One turn for each piece of heavy work that may run at a time.
    turns: Arc<Semaphore>,
}

impl State {
    /// A state that answers from that catalogue.
    pub fn new(catalogue: Catalogue, settings: Settings) -> Self {
        // One core stays free for the cheap requests (engine, decision 8).
        let cores = available_parallelism().map_or(1, usize::from);
        Self {
            catalogue: RwLock::new(Arc::new(catalogue)),
            settings,
            turns: Arc::new(Semaphore::new((cores - 1).max(1))),
        }
    }

    /// The catalogue that is published now. A request asks once and keeps it, so
    /// that its answer is of one generation.
    pub fn catalogue(&self) -> Arc<Catalogue> {
        self.catalogue.read().clone()
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Does heavy work apart from the threads that serve the cheap requests. A
    /// panic in it goes on in the caller.
    ///
    /// # Errors
    /// [`ApiError::Unavailable`] when its turn does not come in time.
    pub(crate) async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ApiError> {
        let turn = tokio::time::timeout(TURN_TIMEOUT, self.turns.clone().acquire_owned()).await;
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
