//! Observes requests and connections. Each answer gets the request's id as a header, a count in the
//! metrics and, unless the operator turns it off, a line in the log; a panic becomes a 500. The log
//! and the metrics record the request's method, route template, status, rows, time, id and the name
//! of its key. They never record its path, its key, its query or its body. The log also has the
//! client's address if the operator asks for it.

pub(crate) mod contained;
pub(crate) mod jobs;
mod labels;
pub(crate) mod log;
pub(crate) mod metrics;

use std::net::IpAddr;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;

use futures_util::FutureExt as _;
use tokio::time::Instant;
use tracing::field::{DisplayValue, display};
use warp::http::{HeaderMap, Method, Response, StatusCode};
use warp::reply::Response as Reply;

use self::log::ACCESS;
use self::metrics::{ConnectionMetrics, Metrics};
use crate::callers::Peer;
use crate::callers::error::ApiError;
use crate::request;
use crate::request::{Ids, REQUEST_ID, Request, Route};

/// The status logged when the client disconnects before the answer. 499 is not an HTTP status;
/// nginx uses it the same way.
const CLIENT_CLOSED_REQUEST: u16 = 499;

/// Observes the requests and connections of a listener.
#[derive(Clone)]
pub struct Observer {
    metrics: Arc<Metrics>,
    connections: Arc<ConnectionMetrics>,
    /// The source of request ids; `None` for an observer that ignores requests.
    ids: Option<Arc<Ids>>,
    log: Logged,
}

/// The requests that are logged, and the optional parts of their lines.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Logged {
    /// Whether requests are logged, except those for the files of the page.
    pub(crate) requests: bool,
    /// Whether requests for the files of the page are logged too.
    pub(crate) page: bool,
    /// Whether the lines of requests and connections have the address of the client.
    pub(crate) address: bool,
    /// Whether the logged address is the one that a proxy names.
    pub(crate) trust_proxy: bool,
}

impl Observer {
    /// An observer that counts in `metrics`.
    pub(crate) fn new(metrics: Arc<Metrics>, log: Logged) -> Self {
        let connections = metrics.connections.clone();
        Self { metrics, connections, ids: Some(Arc::default()), log }
    }

    /// The observer of the operators' listener. The metrics describe only the connections of
    /// clients and their bound, so those of operators are not counted there. No proxy is trusted:
    /// operators connect directly.
    #[must_use]
    pub fn for_operators(self) -> Self {
        let log = Logged { trust_proxy: false, ..self.log };
        Self { connections: Arc::default(), log, ..self }
    }

    /// The observer of a service other than Figdex. Its requests get no id and are not counted.
    pub fn none() -> Self {
        Self {
            metrics: Arc::default(),
            connections: Arc::default(),
            ids: None,
            log: Logged::default(),
        }
    }

    /// The address of a connection or a request for its line in the log. `None` if the operator
    /// does not ask for it, or if the peer has no address.
    pub(crate) fn address(&self, peer: Peer) -> Option<DisplayValue<IpAddr>> {
        if self.log.address { peer.address().map(display) } else { None }
    }

    pub(crate) fn connections(&self) -> &Arc<ConnectionMetrics> {
        &self.connections
    }

    /// Begins to observe a request. Called once its head is read.
    pub fn begin(&self, peer: Peer, method: &Method, headers: &HeaderMap) -> Observed {
        Observed(self.ids.as_ref().map(|ids| {
            self.metrics.requests_in_flight.inc();
            let Logged { address, trust_proxy, .. } = self.log;
            let client = if address { peer.client(headers, trust_proxy) } else { peer };
            Facts {
                request: Request::new(ids.of(headers)),
                method: method.clone(),
                address: self.address(client),
                status: None,
                began: Instant::now(),
                metrics: self.metrics.clone(),
                log: self.log,
            }
        }))
    }
}

/// A request that is being answered; `None` when it is not observed.
pub struct Observed(Option<Facts>);

impl Observed {
    /// Awaits the answer, adds the request's id to it, and reports it. A panic in any route
    /// becomes a 500; the gate catches panics too, because a 500 of the contract has further
    /// headers.
    pub async fn answering<B: From<&'static str>>(
        self,
        answer: impl Future<Output = Response<B>>,
    ) -> Response<B> {
        // Pinned here, because the futures around it would copy it.
        let answer = pin!(answer);
        let answer = async {
            AssertUnwindSafe(answer).catch_unwind().await.unwrap_or_else(|_panic| {
                tracing::error!(request_id = %request::id(), "a request made its handler panic");
                let (_, text) = ApiError::Internal.line();
                Reply::from(ApiError::Internal).map(|_| text.into())
            })
        };
        let Some(mut facts) = self.0 else { return answer.await };
        let mut answer = request::answering(facts.request.clone(), answer).await;
        facts.status = Some(answer.status());
        answer.headers_mut().insert(REQUEST_ID, facts.request.id().to_header());
        answer
    }
}

/// The facts of a request for the log and the metrics. The drop reports them, so a request whose
/// client disconnected is reported too.
struct Facts {
    /// The request's id, and the facts that gate and routes add: the route, the key's name and the
    /// rows.
    request: Arc<Request>,
    method: Method,
    /// The address of the client, if the log has it.
    address: Option<DisplayValue<IpAddr>>,
    /// `None` until the request is answered.
    status: Option<StatusCode>,
    began: Instant,
    metrics: Arc<Metrics>,
    log: Logged,
}

impl Drop for Facts {
    fn drop(&mut self) {
        let (route, rows, elapsed) =
            (self.request.route(), self.request.rows(), self.began.elapsed());
        let status = self.status.map_or(CLIENT_CLOSED_REQUEST, |status| status.as_u16());
        self.metrics.requests_in_flight.dec();
        self.metrics.count_request(route, status, rows, elapsed);
        // Requests for the files of the page come by the dozen and say little about the server.
        let is_logged =
            self.log.requests && (self.log.page || route != Route::Page || status >= 400);
        if is_logged {
            tracing::info!(
                target: ACCESS,
                message = "answered",
                method = name(&self.method),
                route = route.path(),
                status,
                rows,
                elapsed_us = elapsed.as_micros() as u64,
                key = self.request.key(),
                address = self.address,
                request_id = self.request.id().as_str(),
            );
        }
    }
}

/// The name of an HTTP method; `other` for an invented one.
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

    /// A request is in flight until it ends, and is counted once, however it ends.
    #[tokio::test]
    async fn every_request_is_counted_once() {
        let metrics = Arc::<Metrics>::default();
        let observer = Observer::new(metrics.clone(), Logged::default());
        let begin = || observer.begin(Peer::Socket, &Method::GET, &HeaderMap::new());
        let answered = begin().answering(async { Reply::default() }).await;
        assert!(answered.headers().contains_key(REQUEST_ID));

        let mut abandoned = Box::pin(begin().answering(async {
            request::set_route(Route::Suggest);
            pending::<Reply>().await
        }));
        assert!((&mut abandoned).now_or_never().is_none());
        assert_eq!(metrics.requests_in_flight.get(), 1);
        drop(abandoned);

        let panicked = begin().answering::<&str>(async { panic!("a test's panic") }).await;
        assert_eq!(panicked.status(), 500);
        assert!(panicked.headers().contains_key(REQUEST_ID));
        assert_eq!(metrics.requests_in_flight.get(), 0);
        let counts = [(Route::Other, 200), (Route::Suggest, 499), (Route::Other, 500)];
        assert_eq!(counts.map(|(route, status)| metrics.count(route, status)), [1, 1, 1]);

        let unobserved = Observer::none().begin(Peer::Socket, &Method::GET, &HeaderMap::new());
        let answered = unobserved.answering(async { Reply::default() }).await;
        assert!(answered.headers().is_empty());
    }
}
