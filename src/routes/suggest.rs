//! `GET /suggest`: what a person may mean who is still typing. Unversioned, and no
//! business of the contract: it passes no gate, and has a rate window of its own.

use std::sync::Arc;

use figdex_index::{Catalogue, Meter};
use tokio::time::Instant;
use warp::Filter;
use warp::filters::BoxedFilter;
use warp::http::{HeaderMap, Method, StatusCode};
use warp::reply::Response;

use super::with;
use crate::caller;
use crate::caller::Who;
use crate::error::ApiError;
use crate::gate::call::{Call, call};
use crate::gate::reply;
use crate::limits::Span;
use crate::limits::standing::Standing;
use crate::request::Route;
use crate::state::State;
use crate::version::Version;
use crate::wire::SuggestRequest;
use crate::{request, wire};

pub(super) fn route(state: Arc<State>) -> BoxedFilter<(Response,)> {
    let query = warp::query::raw().or(warp::any().map(String::new)).unify();
    warp::path!("suggest").and(query).and(call()).and(with(state)).then(handle).boxed()
}

async fn handle(query: String, call: Call, state: Arc<State>) -> Response {
    request::takes(Route::Suggest);
    let cors = &state.settings().cors;
    let mut reply = match (cors.preflight(&call.method, &call.headers, &Method::GET), &call.method)
    {
        (Some(preflight), _) => preflight,
        (None, &Method::GET | &Method::HEAD) => counted(&query, &call, &state).await,
        _ => ApiError::InvalidMethod { allow: "GET, HEAD" }.into(),
    };
    cors.stamp(&call.headers, &mut reply);
    reply
}

/// The answer, with the rate-limit headers.
async fn counted(query: &str, call: &Call, state: &Arc<State>) -> Response {
    let who = caller::caller(call.peer, &call.headers, state.settings().trust_proxy);
    let standing = match admit(who, state) {
        Ok(standing) => standing,
        Err(error) => return error.into(),
    };
    let mut reply = answer(query, who, &call.headers, state).await.unwrap_or_else(Response::from);
    if let Some(standing) = standing {
        standing.stamp(reply.headers_mut());
    }
    reply
}

/// Counts the request against its address, with a key or without.
fn admit(who: Who, state: &State) -> Result<Option<Standing>, ApiError> {
    let Some(limiter) = state.limiter() else { return Ok(None) };
    let now = Instant::now().into_std();
    let admitted = limiter.admit(who, Version::V3, Span::Suggest, now);
    admitted.map_err(ApiError::RateLimitReached)
}

async fn answer(
    query: &str,
    who: Who,
    headers: &HeaderMap,
    state: &Arc<State>,
) -> Result<Response, ApiError> {
    let catalogue = state.catalogue();
    let request =
        SuggestRequest::parse(query, catalogue.vocabulary(), state.settings().unknown_enum);
    let request = match request {
        Ok(request) => request,
        Err(fault) => {
            let mut reply = reply::json(state, who, headers, wire::error(&fault)).await?;
            *reply.status_mut() = StatusCode::BAD_REQUEST;
            return Ok(reply);
        }
    };
    let json = match tell(&catalogue, &request, &Meter::inline())? {
        Some(json) => json,
        None => {
            let json = state.looking_up(move |meter| tell(&catalogue, &request, meter)).await??;
            // Nothing but the caller's leaving ends it before.
            json.ok_or(ApiError::Unavailable)?
        }
    };
    reply::json(state, who, headers, json).await
}

/// The answer; `None` when it takes more than the meter allows.
fn tell(
    catalogue: &Catalogue,
    request: &SuggestRequest,
    meter: &Meter,
) -> Result<Option<Vec<u8>>, ApiError> {
    let found = match request.is_impossible {
        true => Ok(Some(Vec::new())),
        false => catalogue.suggest(&request.suggest, request.limit, meter),
    };
    let found = found.map_err(|error| {
        tracing::error!(%error, request_id = %request::id(), "a suggestion failed");
        ApiError::Internal
    })?;
    Ok(found.map(|found| {
        request::add_rows(found.len());
        let mut out = Vec::new();
        wire::suggestions(&mut out, catalogue, &found);
        out
    }))
}
