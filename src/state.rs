//! What a handler may see.

use std::sync::Arc;

use figdex_index::{Catalogue, Meter};
use parking_lot::RwLock;
use tokio::time::Instant;

use crate::auth::KeyRing;
use crate::capacity::budget::Budget;
use crate::capacity::pool::Turns;
use crate::config::Settings;
use crate::error::ApiError;
use crate::limits::{Limiter, PerRequest, Rates};
use crate::observe::Observer;
use crate::observe::metrics::Metrics;

/// Shared by all requests.
pub struct State {
    catalogue: RwLock<Arc<Catalogue>>,
    keys: Arc<KeyRing>,
    limits: RwLock<Limits>,
    turns: Turns,
    packers: Turns,
    tellers: Turns,
    describers: Turns,
    readers: Turns,
    bodies: Arc<Budget>,
    answers: Arc<Budget>,
    metrics: Arc<Metrics>,
    /// As they were at the start: of the limits among them, `limits` has what holds now.
    settings: Settings,
}

/// The limits in force, which a running server may be told anew. A request asks once and
/// keeps them, so that all of it is held against the same ones.
#[derive(Clone)]
pub(crate) struct Limits {
    /// `None` when no request rate is limited.
    pub(crate) limiter: Option<Arc<Limiter>>,
    /// What one request may carry.
    pub(crate) per_request: PerRequest,
}

impl State {
    /// A state that answers from that catalogue, and knows no key.
    pub fn new(catalogue: Catalogue, mut settings: Settings) -> Self {
        let now = Instant::now().into_std();
        // Taken out, since they may change: the limiter knows them.
        let limiter = settings.rates.take().map(|rates| Arc::new(Limiter::new(rates, now)));
        let limits = Limits { limiter, per_request: settings.per_request() };
        Self {
            catalogue: RwLock::new(Arc::new(catalogue)),
            keys: Arc::default(),
            limits: RwLock::new(limits),
            turns: Turns::new(settings.turns, settings.turn_wait),
            packers: Turns::new(settings.turns, settings.turn_wait),
            tellers: Turns::new(Some(1), settings.turn_wait),
            describers: Turns::new(Some(1), settings.turn_wait),
            readers: Turns::new(Some(1), settings.turn_wait),
            bodies: Budget::new(settings.bodies_bytes_max),
            answers: Budget::new(settings.answers_bytes_max),
            metrics: Arc::default(),
            settings,
        }
    }

    /// The same, with keys.
    #[must_use]
    pub fn with_keys(self, keys: Arc<KeyRing>) -> Self {
        Self { keys, ..self }
    }

    /// The catalogue that is published now. A request asks once and keeps it, so
    /// that its answer is of one generation.
    pub fn catalogue(&self) -> Arc<Catalogue> {
        self.catalogue.read().clone()
    }

    /// Puts another catalogue in its place. The one before goes when the last request
    /// that asked it is answered, and with it its memory.
    pub fn publish(&self, catalogue: Catalogue) {
        let before = std::mem::replace(&mut *self.catalogue.write(), Arc::new(catalogue));
        // Only now, as giving back much memory takes a while and nobody should wait
        // for the lock meanwhile.
        drop(before);
    }

    /// Who observes the requests and connections of this state's service.
    pub fn observer(&self) -> Observer {
        Observer::new(self.metrics.clone(), self.settings.access_log)
    }

    pub(crate) fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    pub(crate) fn turns(&self) -> &Turns {
        &self.turns
    }

    pub(crate) fn packers(&self) -> &Turns {
        &self.packers
    }

    pub(crate) fn describers(&self) -> &Turns {
        &self.describers
    }

    pub(crate) fn readers(&self) -> &Turns {
        &self.readers
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    pub(crate) fn keys(&self) -> &KeyRing {
        &self.keys
    }

    pub(crate) fn limits(&self) -> Limits {
        self.limits.read().clone()
    }

    /// `None` when no request rate is limited.
    pub(crate) fn limiter(&self) -> Option<Arc<Limiter>> {
        self.limits.read().limiter.clone()
    }

    /// Holds requests against other limits from now on. Without `rates`, none is limited.
    /// Counts go on ([`Limiter::with_rates`]), unless there were no rates before: then
    /// nobody was counted.
    pub fn set_limits(&self, rates: Option<Rates>, per_request: PerRequest) {
        let now = Instant::now().into_std();
        let limiter = rates.map(|rates| match self.limiter() {
            Some(before) => before.with_rates(rates, now),
            None => Limiter::new(rates, now),
        });
        *self.limits.write() = Limits { limiter: limiter.map(Arc::new), per_request };
    }

    /// What the bodies of all requests may have.
    pub(crate) fn bodies(&self) -> &Arc<Budget> {
        &self.bodies
    }

    /// What the answers that are not written yet may have.
    pub(crate) fn answers(&self) -> &Arc<Budget> {
        &self.answers
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
        self.turns.take(work).await
    }

    /// The same for an answer that is looked up, whose work ends when nobody waits for it
    /// any more.
    ///
    /// # Errors
    /// As [`State::blocking`].
    pub(crate) async fn looking_up<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Meter) -> T + Send + 'static,
    ) -> Result<T, ApiError> {
        self.turns.take_stoppable(|stop| work(&Meter::until(stop))).await
    }

    /// Compresses a great answer. Its turns are its own: who fetches great answers
    /// must not keep others from searching.
    ///
    /// # Errors
    /// [`ApiError::Unavailable`] when its turn does not come in time.
    pub(crate) async fn packing<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ApiError> {
        self.packers.take(work).await
    }

    /// Puts together what the server tells of itself, for one reader at a time: many of
    /// them must not take the threads of those who work, and who watches is not kept
    /// waiting by heavy work, of which he wants to hear.
    ///
    /// # Errors
    /// [`ApiError::Unavailable`] when its turn does not come in time.
    pub(crate) async fn telling<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ApiError> {
        self.tellers.take(work).await
    }

    /// Makes the description of the interface, one at a time. No rate limits `/schema`, so
    /// that its turns are separate: its callers must not keep others from searching.
    ///
    /// # Errors
    /// [`ApiError::Unavailable`] when its turn does not come in time.
    pub(crate) async fn describing<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ApiError> {
        self.describers.take(work).await
    }

    /// Reads one instrument, one at a time; its turns are separate for the same reason as
    /// those of [`Self::describing`].
    ///
    /// # Errors
    /// [`ApiError::Unavailable`] when its turn does not come in time.
    pub(crate) async fn reading<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ApiError> {
        self.readers.take(work).await
    }
}
