//! `GET /schema` and `GET /{version}/schema`: the interface's own description. It
//! passes no gate and counts against no limit; `/schema` tells of v3.

use std::sync::Arc;

use warp::Filter;
use warp::filters::BoxedFilter;
use warp::http::{HeaderMap, Method};
use warp::reply::Response;

use super::with;
use crate::encoding;
use crate::error::ApiError;
use crate::openapi;
use crate::request::{self, Route};
use crate::state::State;
use crate::version::Version;

pub(super) fn route(state: Arc<State>) -> BoxedFilter<(Response,)> {
    let current = warp::path!("schema").map(|| Version::V3);
    let versioned = warp::path!(Version / "schema");
    current
        .or(versioned)
        .unify()
        .and(warp::method())
        .and(warp::header::headers_cloned())
        .and(with(state))
        .then(answer)
        .boxed()
}

async fn answer(
    version: Version,
    method: Method,
    headers: HeaderMap,
    state: Arc<State>,
) -> Response {
    request::takes(Route::Schema(version));
    let cors = &state.settings().cors;
    let mut reply = match (cors.preflight(&method, &headers, &Method::GET), &method) {
        (Some(preflight), _) => preflight,
        (None, &Method::GET | &Method::HEAD) => {
            let catalogue = state.catalogue();
            let (settings, per_request) = (state.settings(), state.limits().per_request);
            let document =
                openapi::document(version, settings, per_request, catalogue.vocabulary());
            encoding::json(&state, &headers, document).await.unwrap_or_else(Response::from)
        }
        _ => ApiError::InvalidMethod { allow: "GET, HEAD" }.into(),
    };
    // Pages that show such documents fetch them from other origins.
    cors.stamp(&headers, &mut reply);
    reply
}
