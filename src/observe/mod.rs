//! The frame of every answer: the request's id in its header, its line in the log, its count
//! in the metrics, and a 500 where a panic left none. The log and the metrics name the
//! method, the route's template, status, rows, time and id of a request; never a path, a
//! key, a query or a body.

mod labels;
pub(crate) mod log;
pub(crate) mod metrics;

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt as _;
use tokio::time::Instant;
use warp::http::{HeaderMap, Method, Response, StatusCode};
use warp::reply::Response as Reply;

use self::log::ACCESS;
use self::metrics::{ConnectionMetrics, Metrics};
use crate::error::ApiError;
use crate::request;
use crate::request::{Ids, REQUEST_ID, Request};

/// The status logged when the client disconnects before the answer. 499 is not a status of
/// HTTP; proxies use it in the same way.
const CLIENT_CLOSED_REQUEST: u16 = 499;

/// Observes the requests and connections of a server.
#[derive(Clone)]
pub struct Observer {
    metrics: Arc<Metrics>,
    connections: Arc<ConnectionMetrics>,
    /// `None` observes no requests.
    requests: Option<Requests>,
}

#[derive(Clone)]
struct Requests {
    ids: Arc<Ids>,
    has_log: bool,
}

impl Observer {
    /// Counts for `metrics`; `has_log` writes a line for each request.
    pub(crate) fn new(metrics: Arc<Metrics>, has_log: bool) -> Self {
        let connections = metrics.connections.clone();
        Self { metrics, connections, requests: Some(Requests { ids: Arc::default(), has_log }) }
    }

    /// The same for the listener of operators, whose connections are not counted: they have
    /// a bound of their own, and none that anyone watches.
    #[must_use]
    pub fn for_operators(self) -> Self {
        Self { connections: Arc::default(), ..self }
    }

    /// For a service that is not Figdex's own: its requests have no id and are not counted.
    pub fn none() -> Self {
        Self { metrics: Arc::default(), connections: Arc::default(), requests: None }
    }

    pub(crate) fn connections(&self) -> &Arc<ConnectionMetrics> {
        &self.connections
    }

    /// Begins a request, whose head is there.
    pub fn begin(&self, method: &Method, headers: &HeaderMap) -> Observed {
        Observed(self.requests.as_ref().map(|requests| {
            self.metrics.requests_in_flight.inc();
            Begun {
                request: Request::new(requests.ids.of(headers)),
                method: method.clone(),
                status: None,
                at: Instant::now(),
                metrics: self.metrics.clone(),
                has_log: requests.has_log,
            }
        }))
    }
}

/// A request that is being answered, if it is observed.
pub struct Observed(Option<Begun>);

impl Observed {
    /// Awaits the answer, gives it the request's id, and reports it. A panic in any route is
    /// a 500: the gate has its own guard only because it knows which headers a 500 of the
    /// contract has.
    pub async fn answering<B: From<&'static str>>(
        self,
        answer: impl Future<Output = Response<B>>,
    ) -> Response<B> {
        let answer = async {
            AssertUnwindSafe(answer).catch_unwind().await.unwrap_or_else(|_panic| {
                tracing::error!(request_id = %request::id(), "a request made its handler panic");
                let (_, text) = ApiError::Internal.line();
                Reply::from(ApiError::Internal).map(|_| text.into())
            })
        };
        let Some(mut begun) = self.0 else { return answer.await };
        let mut answer = request::answering(begun.request.clone(), answer).await;
        begun.status = Some(answer.status());
        answer.headers_mut().insert(REQUEST_ID, begun.request.id().to_header());
        answer
    }
}

/// What is known of a request from its beginning on; it is told when this is dropped,
/// for a client that goes away takes its request along.
struct Begun {
    request: Arc<Request>,
    method: Method,
    /// `None` until it is answered.
    status: Option<StatusCode>,
    at: Instant,
    metrics: Arc<Metrics>,
    has_log: bool,
}

impl Drop for Begun {
    fn drop(&mut self) {
        let (route, rows, elapsed) = (self.request.route(), self.request.rows(), self.at.elapsed());
        let status = self.status.map_or(CLIENT_CLOSED_REQUEST, |status| status.as_u16());
        self.metrics.requests_in_flight.dec();
        self.metrics.answered(route, status, rows, elapsed);
        if self.has_log {
            tracing::info!(
                target: ACCESS,
                message = "answered",
                method = name(&self.method),
                route = route.path(),
                status,
                rows,
                elapsed_us = elapsed.as_micros() as u64,
                request_id = self.request.id().as_str(),
            );
        }
    }
}

/// A method's name; one that a client made up has none.
fn name(method: &Method) -> &str {
    match *method {
        Method::GET
        | Method::HEAD
        | Method::POST
        | Method::PUT
        | Method::PATCH
        | Method::DELETE
        | Method::OPTIONS
        | Method::TRACE
        | Method::CONNECT => method.as_str(),
        _ => "other",
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use super::*;
    use crate::request::Route;

    /// A request is counted once, however it ends, and is in flight until then.
    #[tokio::test]
    async fn every_request_ends() {
        let metrics = Arc::<Metrics>::default();
        let observer = Observer::new(metrics.clone(), false);
        let begin = || observer.begin(&Method::GET, &HeaderMap::new());
        let answered = begin().answering(async { Reply::default() }).await;
        assert!(answered.headers().contains_key(REQUEST_ID));

        let mut gone = Box::pin(begin().answering(async {
            request::set_route(Route::Suggest);
            pending::<Reply>().await
        }));
        assert!((&mut gone).now_or_never().is_none());
        assert_eq!(metrics.requests_in_flight.get(), 1);
        drop(gone);

        let broken = begin().answering::<&str>(async { panic!("a test's panic") }).await;
        assert_eq!(broken.status(), 500);
        assert!(broken.headers().contains_key(REQUEST_ID));
        assert_eq!(metrics.requests_in_flight.get(), 0);
        let counts = [(Route::Other, 200), (Route::Suggest, 499), (Route::Other, 500)];
        assert_eq!(counts.map(|(route, status)| metrics.count(route, status)), [1, 1, 1]);

        let unseen = Observer::none().begin(&Method::GET, &HeaderMap::new());
        let answered = unseen.answering(async { Reply::default() }).await;
        assert!(answered.headers().is_empty());
    }
}
