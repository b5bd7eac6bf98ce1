//! What a call passes before its endpoint sees it, in the decided order: method,
//! key, Accept, Content-Type, rate. (The path comes first, with the routes, and the
//! body last, with the endpoint.) A preflight of `--cors` stands before them all.

pub(crate) mod call;
mod media;
pub(crate) mod reply;

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt as _;
use tokio::time::Instant;
use warp::http::{HeaderMap, Method};
use warp::reply::Response as Reply;

use self::call::Call;
use self::media::{accepts_json, is_json};
use crate::caller::{Who, caller};
use crate::error::ApiError;
use crate::limits::standing::Standing;
use crate::limits::{Limiter, PerRequest, Span};
use crate::pieces::Pieces;
use crate::request;
use crate::request::Route;
use crate::state::{Limits, State};
use crate::version::Version;

/// What a call asks for: an endpoint of the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Mapping(Version),
    Values(Version),
    Search(Version),
    Filter(Version),
}

impl Action {
    /// The endpoint's only method.
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

    /// Which window counts it, beside the total.
    fn span(self) -> Span {
        match self {
            Self::Mapping(_) | Self::Values(_) => Span::Mapping,
            Self::Search(_) | Self::Filter(_) => Span::Search,
        }
    }
}

/// What the gate found out about who calls.
pub(crate) struct Caller {
    /// The mapping jobs that one request of this caller may carry.
    pub(crate) jobs_max: usize,
    /// The bytes that its body may have.
    pub(crate) body_bytes_max: usize,
    who: Who,
    version: Version,
    limiter: Option<Arc<Limiter>>,
}

impl Caller {
    /// Counts the jobs of this request, where a version limits jobs a minute.
    ///
    /// # Errors
    /// [`ApiError::RateLimitReached`] when they are more than are left. The request
    /// itself stays counted: it was one.
    pub(crate) fn charge_jobs(&self, jobs: usize) -> Result<(), ApiError> {
        let Some(limiter) = &self.limiter else { return Ok(()) };
        let jobs = u32::try_from(jobs).unwrap_or(u32::MAX);
        limiter
            .charge_jobs(self.who, self.version, jobs, Instant::now().into_std())
            .map_err(ApiError::RateLimitReached)
    }
}

/// Lets a call through to `endpoint`, whose answer is JSON. Whatever happens, the
/// caller gets an answer: a panic is a 500.
pub(crate) async fn pass<J: Into<Pieces>>(
    state: &State,
    mut call: Call,
    action: Action,
    endpoint: impl AsyncFnOnce(Call, Caller) -> Result<J, ApiError>,
) -> Reply {
    request::takes(action.route());
    call.body_timeout = state.settings().body_timeout;
    let cors = &state.settings().cors;
    // The body goes with the call; what the answer depends on stays here.
    let headers = std::mem::take(&mut call.headers);
    let preflight = cors.preflight(&call.method, &headers, &action.method());
    let mut reply = match preflight {
        Some(reply) => reply,
        None => answer(state, call, &headers, action, endpoint).await,
    };
    cors.stamp(&headers, &mut reply);
    reply
}

/// The answer to a call, with the rate-limit headers if it was counted.
async fn answer<J: Into<Pieces>>(
    state: &State,
    mut call: Call,
    headers: &HeaderMap,
    action: Action,
    endpoint: impl AsyncFnOnce(Call, Caller) -> Result<J, ApiError>,
) -> Reply {
    let mut counted = None;
    let answered = async {
        let caller = admit(state, &call, headers, action, &mut counted)?;
        let who = caller.who;
        call.share = state.bodies().share(who);
        let json = endpoint(call, caller).await?;
        reply::json(state, who, headers, json).await
    };
    let answer = AssertUnwindSafe(answered).catch_unwind().await.unwrap_or_else(|_panic| {
        tracing::error!(request_id = %request::id(), "a request made its handler panic");
        Err(ApiError::Internal)
    });
    // One that was refused tells of the window that refused it, and has done so.
    let is_refused = matches!(answer, Err(ApiError::RateLimitReached(_)));
    let mut reply = answer.unwrap_or_else(Reply::from);
    if let Some(standing) = counted.filter(|_| !is_refused) {
        standing.stamp(reply.headers_mut());
    }
    reply
}

/// The checks, in their order; `counted` is where the caller stands afterwards.
fn admit(
    state: &State,
    call: &Call,
    headers: &HeaderMap,
    action: Action,
    counted: &mut Option<Standing>,
) -> Result<Caller, ApiError> {
    let (settings, method) = (state.settings(), action.method());
    if call.method != method {
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
    let who = key.map_or_else(|| caller(call.peer, headers, settings.trust_proxy), Who::Key);
    let version = action.version();
    let Limits { limiter, per_request } = state.limits();
    if let Some(limiter) = &limiter {
        let now = Instant::now().into_std();
        let admitted = limiter.admit(who, version, action.span(), now);
        *counted = admitted.map_err(ApiError::RateLimitReached)?;
    }
    let PerRequest { jobs_max, jobs_max_with_key, body_bytes_max } = per_request;
    let jobs_max = if key.is_some() { jobs_max_with_key } else { jobs_max };
    Ok(Caller { jobs_max, body_bytes_max, who, version, limiter })
}

#[cfg(test)]
mod tests;
