//! The request that is being answered: its id, its route and the rows that its answer
//! has, for the log and the metrics. `observe` begins and ends it.
//!
//! It is ambient, as a span's fields are: what counts rows or tells of a fault lies deep
//! under the routes, and every function between would have to hand it down. It is no
//! span, since a span is registered and its fields are written for each request, whether
//! or not the log has a line that shows them. Outside of a request, in a test of one
//! route for example, nothing of it is kept.

mod id;
mod route;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

pub(crate) use self::id::{Ids, REQUEST_ID, RequestId};
pub(crate) use self::route::Route;

tokio::task_local! {
    static CURRENT: Arc<Request>;
}

/// What is known of a request so far.
#[derive(Debug)]
pub(crate) struct Request {
    id: RequestId,
    route: OnceLock<Route>,
    rows: AtomicU64,
}

impl Request {
    pub(crate) fn new(id: RequestId) -> Arc<Self> {
        Arc::new(Self { id, route: OnceLock::new(), rows: AtomicU64::new(0) })
    }

    pub(crate) fn id(&self) -> &RequestId {
        &self.id
    }

    /// The route that took it; [`Route::Other`] when none has.
    pub(crate) fn route(&self) -> Route {
        self.route.get().copied().unwrap_or(Route::Other)
    }

    pub(crate) fn rows(&self) -> u64 {
        self.rows.load(Ordering::Relaxed)
    }
}

/// Awaits the answer to a request, which is the current one all the while.
pub(crate) async fn answering<F: Future>(request: Arc<Request>, answer: F) -> F::Output {
    CURRENT.scope(request, answer).await
}

/// The same work for another thread, with the current request.
pub(crate) fn carried<T>(work: impl FnOnce() -> T) -> impl FnOnce() -> T {
    let request = CURRENT.try_with(Arc::clone).ok();
    move || match request {
        Some(request) => CURRENT.sync_scope(request, work),
        None => work(),
    }
}

/// Tells that a route takes the current request.
pub(crate) fn takes(route: Route) {
    // The first to take it is its route, and there is only one.
    let told = CURRENT.try_with(|request| request.route.set(route).is_ok());
    debug_assert_ne!(told, Ok(false), "two routes took a request: {route}");
}

/// Counts rows of the current request's answer.
pub(crate) fn add_rows(rows: usize) {
    // Outside of a request there is nothing to count for.
    CURRENT.try_with(|request| request.rows.fetch_add(rows as u64, Ordering::Relaxed)).ok();
}

/// The id of the current request, for a line of the log.
pub(crate) fn id() -> RequestId {
    CURRENT.try_with(|request| request.id.clone()).unwrap_or(RequestId::NONE)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is told inside stays with its own request, on another thread too.
    #[tokio::test]
    async fn one_request_at_a_time() {
        add_rows(7);
        assert_eq!(id().to_string(), "-");
        let ids = Ids::default();
        let requests = [(); 2].map(|()| Request::new(ids.of(&Default::default())));
        let work = |rows: usize, route| async move {
            takes(route);
            tokio::task::yield_now().await;
            add_rows(rows);
            tokio::task::spawn_blocking(carried(move || add_rows(1))).await.unwrap();
            id()
        };
        let [first, second] = &requests;
        let told = tokio::join!(
            answering(first.clone(), work(10, Route::Suggest)),
            answering(second.clone(), work(20, Route::Health)),
        );
        assert_eq!((&told.0, &told.1), (first.id(), second.id()));
        assert_ne!(first.id(), second.id());
        assert_eq!((first.rows(), second.rows()), (11, 21));
        assert_eq!((first.route(), second.route()), (Route::Suggest, Route::Health));
    }
}
