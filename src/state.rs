//! The state that all requests share.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use figdex_index::{BuildRecord, Publication};
use figdex_storage::Following;
use parking_lot::{Mutex, RwLock};
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::callers::auth::KeyRing;
use crate::callers::limits::{ANSWER_BYTES_MAX, Limiter, PerRequest, Rates};
use crate::capacity::budget::Budget;
use crate::capacity::pool::Pools;
use crate::config::Settings;
use crate::engine::Engine;
use crate::observe::Observer;
use crate::observe::metrics::Metrics;
use crate::serve::tls::Tls;

/// The state of a server: its engine, keys, limits and settings, and the resources that all
/// requests share.
pub struct State {
    engine: RwLock<Engine>,
    keys: Arc<KeyRing>,
    limits: RwLock<Limits>,
    pools: Pools,
    bodies: Arc<Budget>,
    answers: Arc<Budget>,
    metrics: Arc<Metrics>,
    is_stopping: AtomicBool,
    /// The last publication in which a damaged file was found.
    damaged: Mutex<Option<Publication>>,
    damage_found: Notify,
    /// The last build of the index, from the index folder.
    last_build: Mutex<Option<BuildRecord>>,
    /// Set when the index is a copy of one in object storage.
    copy: OnceLock<Arc<Mutex<Following>>>,
    /// Set when clients are served over TLS.
    tls: OnceLock<Arc<Tls>>,
    /// The settings at the start. Those in `limits` may have changed since.
    settings: Settings,
}

/// The limits in force. They may change while the server runs. A request gets them once and keeps
/// them, so that the same limits apply to all of it.
#[derive(Clone)]
pub(crate) struct Limits {
    /// `None` when no request rate is limited.
    pub(crate) limiter: Option<Arc<Limiter>>,
    /// The limits on one request.
    pub(crate) per_request: PerRequest,
}

impl State {
    /// A state that answers with this engine and has no keys.
    pub fn new(engine: impl Into<Engine>, mut settings: Settings) -> Self {
        let now = Instant::now().into_std();
        // The rates may change, so they are taken out of the settings. The limiter has the current
        // rates.
        let limiter = settings.rates.take().map(|rates| Arc::new(Limiter::new(rates, now)));
        let limits = Limits { limiter, per_request: settings.per_request() };
        Self {
            engine: RwLock::new(engine.into()),
            keys: Arc::default(),
            limits: RwLock::new(limits),
            pools: Pools::new(settings.pool_threads, settings.pool_timeout),
            bodies: Budget::of_bodies(settings.bodies_bytes_max),
            answers: Budget::of_answers(settings.answers_bytes_max, ANSWER_BYTES_MAX),
            metrics: Arc::default(),
            is_stopping: AtomicBool::new(false),
            damaged: Mutex::default(),
            damage_found: Notify::new(),
            last_build: Mutex::default(),
            copy: OnceLock::new(),
            tls: OnceLock::new(),
            settings,
        }
    }

    /// The same state with these keys.
    #[must_use]
    pub fn with_keys(self, keys: Arc<KeyRing>) -> Self {
        Self { keys, ..self }
    }

    /// The current engine. A request gets it once and keeps it, so that its whole answer is from
    /// one generation.
    pub fn engine(&self) -> Engine {
        self.engine.read().clone()
    }

    /// Replaces the engine. The memory of the previous one is freed when the last request, or the
    /// last check of its files, that uses it has ended.
    pub fn publish(&self, engine: impl Into<Engine>) {
        let before = std::mem::replace(&mut *self.engine.write(), engine.into());
        // Dropped after the lock is released: freeing much memory takes a while.
        drop(before);
    }

    /// Records the signal to stop: from now on the server is not ready.
    pub(crate) fn stop(&self) {
        self.is_stopping.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.is_stopping.load(Ordering::Relaxed)
    }

    /// Records that a file of a publication is damaged. The publication is not opened again unless
    /// an operator sends SIGHUP.
    pub(crate) fn distrust(&self, publication: Publication) {
        *self.damaged.lock() = Some(publication);
        self.damage_found.notify_one();
    }

    /// Whether this publication is the last one in which a damaged file was found.
    pub(crate) fn is_damaged(&self, publication: &Publication) -> bool {
        self.damaged.lock().as_ref() == Some(publication)
    }

    /// Records the last build of the index; `None` when the folder has no record of one.
    pub(crate) fn note_last_build(&self, build: Option<BuildRecord>) {
        *self.last_build.lock() = build;
    }

    /// The last build of the index, whether it published or not.
    pub(crate) fn last_build(&self) -> Option<BuildRecord> {
        self.last_build.lock().clone()
    }

    /// Waits until a file of the served generation is found damaged.
    pub(crate) async fn damage(&self) {
        self.damage_found.notified().await;
    }

    /// Records that the index is a copy of one in object storage.
    pub(crate) fn copies(&self, copy: Arc<Mutex<Following>>) {
        // Set once, at the start.
        let _ = self.copy.set(copy);
    }

    /// The relation of the copy to the storage; `None` when the index is not a copy.
    pub(crate) fn copy_status(&self) -> Option<Following> {
        self.copy.get().map(|copy| copy.lock().clone())
    }

    /// Records the certificate that clients are served with.
    pub(crate) fn serves_over(&self, tls: Arc<Tls>) {
        // Set once, at the start.
        let _ = self.tls.set(tls);
    }

    /// The certificate that clients are served with; `None` without TLS.
    pub(crate) fn tls(&self) -> Option<&Tls> {
        self.tls.get().map(|tls| &**tls)
    }

    /// An observer of the requests and connections of this state's service.
    pub fn observer(&self) -> Observer {
        Observer::new(self.metrics.clone(), self.settings().logged())
    }

    pub(crate) fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    pub(crate) fn pools(&self) -> &Pools {
        &self.pools
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

    /// Changes the limits. New rates keep the counts of the previous rates
    /// ([`Limiter::with_rates`]). Without `rates`, no request rate is limited, and the counts are
    /// lost.
    pub fn set_limits(&self, rates: Option<Rates>, per_request: PerRequest) {
        let now = Instant::now().into_std();
        let limiter = rates.map(|rates| match self.limiter() {
            Some(previous) => previous.with_rates(rates, now),
            None => Limiter::new(rates, now),
        });
        *self.limits.write() = Limits { limiter: limiter.map(Arc::new), per_request };
    }

    /// The memory budget for the bodies of all requests.
    pub(crate) fn bodies(&self) -> &Arc<Budget> {
        &self.bodies
    }

    /// The memory budget for all unsent answers.
    pub(crate) fn answers(&self) -> &Arc<Budget> {
        &self.answers
    }
}
