//! `GET /schema` and `GET /{version}/schema`: the interface's own description. It
//! passes no gate and counts against no limit; `/schema` tells of v3.

use std::sync::Arc;

use warp::Filter;
use warp::filters::BoxedFilter;
use warp::http::{HeaderValue, Method, Response as HttpResponse, header};
use warp::reply::Response;

use super::with;
use crate::error::ApiError;
use crate::openapi;
use crate::state::State;
use crate::version::Version;

pub(super) fn route(state: Arc<State>) -> BoxedFilter<(Response,)> {
    let current = warp::path!("schema").map(|| Version::V3);
    let versioned = warp::path!(Version / "schema");
    current.or(versioned).unify().and(warp::method()).and(with(state)).map(answer).boxed()
}

fn answer(version: Version, method: Method, state: Arc<State>) -> Response {
    if !matches!(method, Method::GET | Method::HEAD) {
        return ApiError::InvalidMethod { allow: "GET, HEAD" }.into();
    }
    let catalogue = state.catalogue();
    let document = openapi::document(version, state.settings(), catalogue.vocabulary());
    let mut reply = HttpResponse::new(document.into());
    let kind = HeaderValue::from_static("application/json; charset=utf-8");
    reply.headers_mut().insert(header::CONTENT_TYPE, kind);
    reply
}
