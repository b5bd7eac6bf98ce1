//! The request that is being answered: its id, route and key, and the number of rows in its answer.
//! The log and the metrics need these facts. The module `observe` makes a request the current one
//! until it is answered.
//!
//! The current request is task-local, because the code that counts rows or logs a failure is far
//! below the routes. A `tracing` span would reach that code too, but it is registered and formatted
//! for each request even when no line of the log shows it. Outside of a request, for example in a
//! test of one route, nothing is recorded.

mod id;
mod route;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

pub(crate) use self::id::{Ids, REQUEST_ID, RequestId};
pub(crate) use self::route::Route;

tokio::task_local! {
    static CURRENT: Arc<Request>;
}

/// The facts about a request so far.
#[derive(Debug)]
pub(crate) struct Request {
    id: RequestId,
    route: OnceLock<Route>,
    /// The name of its key.
    key: OnceLock<Arc<str>>,
    rows: AtomicU64,
}

impl Request {
    pub(crate) fn new(id: RequestId) -> Arc<Self> {
        Arc::new(Self { id, route: OnceLock::new(), key: OnceLock::new(), rows: AtomicU64::new(0) })
    }

    pub(crate) fn id(&self) -> &RequestId {
        &self.id
    }

    /// The route of the request; [`Route::Other`] when no route has its path.
    pub(crate) fn route(&self) -> Route {
        self.route.get().copied().unwrap_or(Route::Other)
    }

    /// The name of the key that came with the request.
    pub(crate) fn key(&self) -> Option<&str> {
        self.key.get().map(|name| &**name)
    }

    pub(crate) fn rows(&self) -> u64 {
        self.rows.load(Ordering::Relaxed)
    }
}

/// Awaits the answer to a request. Until then, the request is the current one.
pub(crate) async fn answering<F: Future>(request: Arc<Request>, answer: F) -> F::Output {
    CURRENT.scope(request, answer).await
}

/// Wraps work for another thread, so that the current request is also the current one there.
pub(crate) fn carried<T>(work: impl FnOnce() -> T) -> impl FnOnce() -> T {
    let request = CURRENT.try_with(Arc::clone).ok();
    move || match request {
        Some(request) => CURRENT.sync_scope(request, work),
        None => work(),
    }
}

/// The current request; `None` outside of one.
#[cfg(feature = "mcp")]
pub(crate) fn current() -> Option<Arc<Request>> {
    CURRENT.try_with(Arc::clone).ok()
}

/// Awaits the answer of a route that is asked to answer another request. The route is that of a
/// request with the same id, whose key and rows count for the other one too.
#[cfg(feature = "mcp")]
pub(crate) async fn on_behalf_of<F: Future>(other: Option<Arc<Request>>, answer: F) -> F::Output {
    let Some(other) = other else { return answer.await };
    let request = Request::new(other.id.clone());
    let answered = answering(request.clone(), answer).await;
    if let Some(key) = request.key.get() {
        other.key.get_or_init(|| key.clone());
    }
    other.rows.fetch_add(request.rows(), Ordering::Relaxed);
    answered
}

/// Sets the route of the current request.
pub(crate) fn set_route(route: Route) {
    let is_first = CURRENT.try_with(|request| request.route.set(route).is_ok());
    debug_assert_ne!(is_first, Ok(false), "a request has two routes: {route}");
}

/// Sets the name of the key of the current request.
pub(crate) fn set_key(name: Arc<str>) {
    // Outside of a request, nobody needs the key.
    CURRENT.try_with(|request| request.key.set(name).ok()).ok();
}

/// Counts rows of the current request's answer.
pub(crate) fn add_rows(rows: usize) {
    // Outside of a request there is nothing to count.
    CURRENT.try_with(|request| request.rows.fetch_add(rows as u64, Ordering::Relaxed)).ok();
}

/// The id of the current request, for a line of the log.
pub(crate) fn id() -> RequestId {
    CURRENT.try_with(|request| request.id.clone()).unwrap_or(RequestId::NONE)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Facts are recorded for their own request, also from another thread.
    #[tokio::test]
    async fn one_request_at_a_time() {
        add_rows(7);
        assert_eq!(id().to_string(), "-");
        let ids = Ids::default();
        let requests = [(); 2].map(|()| Request::new(ids.of(&Default::default())));
        let work = |rows: usize, route| async move {
            set_route(route);
            tokio::task::yield_now().await;
            add_rows(rows);
            tokio::task::spawn_blocking(carried(move || add_rows(1))).await.unwrap();
            id()
        };
        let [first, second] = &requests;
        let answered = tokio::join!(
            answering(first.clone(), work(10, Route::Suggest)),
            answering(second.clone(), work(20, Route::Health)),
        );
        assert_eq!((&answered.0, &answered.1), (first.id(), second.id()));
        assert_ne!(first.id(), second.id());
        assert_eq!((first.rows(), second.rows()), (11, 21));
        assert_eq!((first.route(), second.route()), (Route::Suggest, Route::Health));
    }
}
