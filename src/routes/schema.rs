//! `GET /schema` and `GET /{version}/schema`: the interface's own description. It
//! passes no gate and counts against no limit; `/schema` tells of v3.

use std::sync::Arc;

use warp::Filter;
use warp::filters::BoxedFilter;
use warp::http::Method;
use warp::reply::Response;

use super::with;
use crate::call::{Call, call};
use crate::error::ApiError;
use crate::request::{self, Route};
use crate::state::State;
use crate::version::Version;
use crate::{encoding, gate, openapi};

pub(super) fn route(state: Arc<State>) -> BoxedFilter<(Response,)> {
    let current = warp::path!("schema").map(|| Version::V3);
    let versioned = warp::path!(Version / "schema");
    current.or(versioned).unify().and(call()).and(with(state)).then(handle).boxed()
}

async fn handle(version: Version, call: Call, state: Arc<State>) -> Response {
    request::takes(Route::Schema(version));
    let cors = &state.settings().cors;
    let mut reply = match (cors.preflight(&call.method, &call.headers, &Method::GET), &call.method)
    {
        (Some(preflight), _) => preflight,
        (None, &Method::GET | &Method::HEAD) => {
            answer(version, &call, &state).await.unwrap_or_else(Response::from)
        }
        _ => ApiError::InvalidMethod { allow: "GET, HEAD" }.into(),
    };
    // Pages that show such documents fetch them from other origins.
    cors.stamp(&call.headers, &mut reply);
    reply
}

/// The document, made for each request, and with a turn: it takes a millisecond, in which
/// many small answers could be made.
async fn answer(version: Version, call: &Call, state: &Arc<State>) -> Result<Response, ApiError> {
    let (catalogue, of) = (state.catalogue(), state.clone());
    let make = move || {
        let per_request = of.limits().per_request;
        openapi::document(version, of.settings(), per_request, catalogue.vocabulary())
    };
    let document = state.blocking(make).await?;
    let who = gate::caller(call.peer, &call.headers, state.settings().trust_proxy);
    encoding::json(state, who, &call.headers, document).await
}
