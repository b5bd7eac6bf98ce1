//! The checks that a request passes before its endpoint sees it. [`pass`] is the gate of the
//! contract's endpoints. [`open`] is that of `/schema`, `/suggest` and `/instruments`, which need
//! fewer checks.
//!
//! The path is checked before, by the routes, and the body after, by the endpoint: together the
//! checks come in the order of contract 13.12. The answer to a preflight of `--cors` precedes
//! them all (contract 15.2).

mod body;
pub(crate) mod call;
mod media;
pub(crate) mod reply;

use std::panic::AssertUnwindSafe;

use futures_util::FutureExt as _;
use tokio::time::Instant;
use warp::http::{Method, StatusCode, header};
use warp::reply::Response;

pub(crate) use self::body::Body;
use self::body::{BodyStream, UnreadBody};
use self::call::{Admitted, Call, Head, Incoming};
use self::media::{accepts_json, is_json};
use crate::caller::Caller;
use crate::error::{ApiError, OpenError};
use crate::limits::standing::Standing;
use crate::limits::{Limiter, PerRequest, Span};
use crate::pieces::Pieces;
use crate::request::Route;
use crate::state::{Limits, State};
use crate::version::Version;
use crate::{request, wire};

/// An endpoint of the contract, in one version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Mapping(Version),
    Values(Version),
    Search(Version),
    Filter(Version),
}

impl Action {
    /// The endpoint's only method (contract 2.1).
    fn method(self) -> Method {
        match self {
            Self::Values(_) => Method::GET,
            Self::Mapping(_) | Self::Search(_) | Self::Filter(_) => Method::POST,
        }
    }

    fn version(self) -> Version {
        match self {
            Self::Mapping(version)
            | Self::Values(version)
            | Self::Search(version)
            | Self::Filter(version) => version,
        }
    }

    fn route(self) -> Route {
        match self {
            Self::Mapping(version) => Route::Mapping(version),
            Self::Values(version) => Route::Values(version),
            Self::Search(version) => Route::Search(version),
            Self::Filter(version) => Route::Filter(version),
        }
    }

    /// The window that counts it, besides the total of its version.
    fn span(self) -> Span {
        match self {
            Self::Mapping(_) | Self::Values(_) => Span::Mapping,
            Self::Search(_) | Self::Filter(_) => Span::Search,
        }
    }
}

/// Passes a request on to an endpoint of the contract, whose answer is JSON. Whatever happens,
/// the caller gets an answer: a panic is a 500.
pub(crate) async fn pass<J: Into<Pieces>>(
    state: &State,
    request: Incoming,
    action: Action,
    endpoint: impl AsyncFnOnce(Call) -> Result<J, ApiError>,
) -> Response {
    request::set_route(action.route());
    let cors = &state.settings().cors;
    let Incoming { head, body } = request;
    let mut reply = match cors.preflight(&head.method, &head.headers, &action.method()) {
        Some(reply) => reply,
        None => answer(state, &head, body, action, endpoint).await,
    };
    cors.stamp(&head.headers, &mut reply);
    reply
}

async fn answer<J: Into<Pieces>>(
    state: &State,
    head: &Head,
    body: BodyStream,
    action: Action,
    endpoint: impl AsyncFnOnce(Call) -> Result<J, ApiError>,
) -> Response {
    let mut counted = None;
    let answered = async {
        let call = admit(state, head, body, action, &mut counted)?;
        let caller = call.admitted.caller;
        let json = endpoint(call).await?;
        reply::json(state, caller, &head.headers, json).await
    };
    let answer = AssertUnwindSafe(answered).catch_unwind().await.unwrap_or_else(|_panic| {
        tracing::error!(request_id = %request::id(), "a request made its handler panic");
        Err(ApiError::Internal)
    });
    stamped(answer, counted)
}

/// Makes the checks, in their order. `counted` is set as soon as the request is counted.
fn admit(
    state: &State,
    head: &Head,
    body: BodyStream,
    action: Action,
    counted: &mut Option<Standing>,
) -> Result<Call, ApiError> {
    let (settings, method, headers) = (state.settings(), action.method(), &head.headers);
    if head.method != method {
        let allow = if method == Method::GET { "GET" } else { "POST" };
        return Err(ApiError::InvalidMethod { allow });
    }
    let key = state.keys().admit(headers)?;
    if !accepts_json(headers) {
        return Err(ApiError::UnsupportedAccept);
    }
    if method == Method::POST && !is_json(headers) {
        return Err(ApiError::InvalidContentType);
    }
    let caller = key
        .map_or_else(|| Caller::without_key(head.peer, headers, settings.trust_proxy), Caller::Key);
    let version = action.version();
    let Limits { limiter, per_request } = state.limits();
    *counted = count(limiter.as_deref(), caller, version, action.span())?;
    let PerRequest { jobs_max, jobs_max_with_key, body_bytes_max } = per_request;
    let jobs_max = if key.is_some() { jobs_max_with_key } else { jobs_max };
    let (wait, share) = (settings.body_timeout, state.bodies().share(caller));
    let bytes_announced = headers.get(header::CONTENT_LENGTH);
    let bytes_announced = bytes_announced.and_then(|bytes| bytes.to_str().ok()?.parse().ok());
    Ok(Call {
        admitted: Admitted { jobs_max, caller, version, limiter },
        body: UnreadBody { stream: body, bytes_max: body_bytes_max, bytes_announced, wait, share },
    })
}

/// Counts a request in the windows of its caller.
///
/// # Errors
/// [`ApiError::RateLimitReached`] when one of them is full.
fn count(
    limiter: Option<&Limiter>,
    caller: Caller,
    version: Version,
    span: Span,
) -> Result<Option<Standing>, ApiError> {
    let Some(limiter) = limiter else { return Ok(None) };
    let counted = limiter.admit(caller, version, span, Instant::now().into_std());
    counted.map_err(ApiError::RateLimitReached)
}

/// The answer with the rate-limit headers, if its request was counted.
fn stamped(answer: Result<Response, ApiError>, counted: Option<Standing>) -> Response {
    // A 429 has them already: they describe the full window (contract 14.13).
    let is_refused = matches!(answer, Err(ApiError::RateLimitReached(_)));
    let mut reply = answer.unwrap_or_else(Response::from);
    if let Some(standing) = counted.filter(|_| !is_refused) {
        standing.stamp(reply.headers_mut());
    }
    reply
}

/// Answers a request to `/schema`, `/suggest` or `/instruments`, which web pages of other origins
/// may read too. `answer` gives the JSON. With a `span` the request counts in that window of its
/// address, with a key or without (contract 16.4).
pub(crate) async fn open(
    state: &State,
    head: Head,
    route: Route,
    span: Option<Span>,
    answer: impl Future<Output = Result<Vec<u8>, OpenError>>,
) -> Response {
    let Head { peer, method, headers } = head;
    let readable = read_only(route, &method);
    let cors = &state.settings().cors;
    let mut reply = match cors.preflight(&method, &headers, &Method::GET) {
        Some(reply) => reply,
        None => {
            let mut counted = None;
            let answered = async {
                readable?;
                let caller = Caller::without_key(peer, &headers, state.settings().trust_proxy);
                if let Some(span) = span {
                    // The windows of these routes are kept among those of v3.
                    counted = count(state.limiter().as_deref(), caller, Version::V3, span)?;
                }
                let (status, json) = match answer.await {
                    Ok(json) => (StatusCode::OK, json),
                    Err(error) => {
                        let (status, text) = error.json()?;
                        (status, wire::error(&text))
                    }
                };
                let mut reply = reply::json(state, caller, &headers, json).await?;
                *reply.status_mut() = status;
                Ok(reply)
            };
            let answer = answered.await;
            stamped(answer, counted)
        }
    };
    cors.stamp(&headers, &mut reply);
    reply
}

/// Sets the route of a request for `/schema`, or for a route outside of the contract, and checks
/// its method: these routes are only read (contract 1.11, 16).
///
/// # Errors
/// [`ApiError::InvalidMethod`] unless the method is GET or HEAD.
pub(crate) fn read_only(route: Route, method: &Method) -> Result<(), ApiError> {
    request::set_route(route);
    match *method {
        Method::GET | Method::HEAD => Ok(()),
        _ => Err(ApiError::InvalidMethod { allow: "GET, HEAD" }),
    }
}

#[cfg(test)]
mod tests;
