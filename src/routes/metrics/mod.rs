//! `GET /metrics`: the metrics for Prometheus (contract 16.8). The route has no version and counts
//! against no limit. Of the gate's checks, it makes only that of the method.

mod cluster;
mod family;
mod process;
mod storage;
pub(crate) mod text;

use std::sync::Arc;

use warp::Filter;
use warp::filters::BoxedFilter;
use warp::http::{HeaderValue, Response as HttpResponse, header};
use warp::reply::Response;

use super::with;
use crate::gate;
use crate::gate::call::{Head, head};
use crate::request::Route;
use crate::state::State;

/// The OpenMetrics text format, which Prometheus prefers since version 2.5.
pub(super) const OPEN_METRICS: HeaderValue =
    HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");

pub(super) fn route(state: Arc<State>) -> BoxedFilter<(Response,)> {
    warp::path!("metrics").and(head()).and(with(state)).then(answer).boxed()
}

async fn answer(head: Head, state: Arc<State>) -> Response {
    if let Err(error) = gate::read_only(Route::Metrics, &head.method) {
        return error.into();
    }
    // Rendered off the serving threads: reading `/proc` is slow for a process with many open files.
    let (shared, caller) = (state.clone(), head.caller(state.settings().trust_proxy));
    let text = match state.pools().metrics.run(caller, move || text::render(&shared)).await {
        Ok(text) => text,
        Err(error) => return error.into(),
    };
    let mut reply = HttpResponse::new(text.into());
    reply.headers_mut().insert(header::CONTENT_TYPE, OPEN_METRICS);
    reply
}
