//! `GET /metrics`: what the server counts of itself, for Prometheus. Unversioned, and no
//! business of the contract: it passes no gate and counts against no limit.

mod process;
pub(crate) mod text;

use std::sync::Arc;

use warp::Filter;
use warp::filters::BoxedFilter;
use warp::http::{HeaderValue, Method, Response as HttpResponse, header};
use warp::reply::Response;

use super::with;
use crate::gate;
use crate::request::Route;
use crate::state::State;

/// What Prometheus has read since its version 2.5, and asks for first.
const OPEN_METRICS: HeaderValue =
    HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");

pub(super) fn route(state: Arc<State>) -> BoxedFilter<(Response,)> {
    warp::path!("metrics").and(warp::method()).and(with(state)).then(answer).boxed()
}

async fn answer(method: Method, state: Arc<State>) -> Response {
    if let Err(error) = gate::read_only(Route::Metrics, &method) {
        return error.into();
    }
    // Reading `/proc` takes a while for a process with many files.
    let of = state.clone();
    let text = match state.telling(move || text::text(&of)).await {
        Ok(text) => text,
        Err(error) => return error.into(),
    };
    let mut reply = HttpResponse::new(text.into());
    reply.headers_mut().insert(header::CONTENT_TYPE, OPEN_METRICS);
    reply
}
