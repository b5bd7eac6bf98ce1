//! `GET /healthz` and `GET /readyz`: unversioned, and no business of the contract.
//! A server is ready as soon as it answers, since it opens its index first. Strangers
//! are told so, and the version; operators, also how the program was built, what it
//! serves and how old that is.

use std::sync::Arc;

use figdex_index::Manifest;
use jiff::Timestamp;
use serde_json::{Value, json};
use warp::Filter;
use warp::filters::BoxedFilter;
use warp::http::{HeaderValue, Method, Response as HttpResponse, header};
use warp::reply::Response;

use super::with;
use crate::error::ApiError;
use crate::request;
use crate::request::Route;
use crate::state::State;

/// For strangers.
pub(super) fn brief() -> BoxedFilter<(Response,)> {
    let health = warp::path!("healthz")
        .map(|| (Route::Health, json!({"status": "ok", "version": figdex_build_info::VERSION})));
    let ready = warp::path!("readyz").map(|| (Route::Ready, json!({"status": "ready"})));
    health.or(ready).unify().and(warp::method()).map(answer).boxed()
}

/// For operators.
pub(super) fn detailed(state: Arc<State>) -> BoxedFilter<(Response,)> {
    let health = warp::path!("healthz").map(|| (Route::Health, build()));
    let ready = warp::path!("readyz").and(with(state)).map(|state: Arc<State>| {
        (Route::Ready, published(state.catalogue().manifest(), Timestamp::now()))
    });
    health.or(ready).unify().and(warp::method()).map(answer).boxed()
}

fn build() -> Value {
    json!({
        "status": "ok",
        "version": figdex_build_info::VERSION,
        "commit": figdex_build_info::COMMIT,
        "commit_date": figdex_build_info::COMMIT_DATE,
        "rustc": figdex_build_info::RUSTC,
        "target": figdex_build_info::TARGET,
        "profile": figdex_build_info::PROFILE,
    })
}

/// The age is since the build; a clock that went back makes it 0.
fn published(manifest: &Manifest, now: Timestamp) -> Value {
    let built: Option<Timestamp> = manifest.built_at.parse().ok();
    let age_seconds = built.map(|built| (now.as_second() - built.as_second()).max(0));
    json!({
        "status": "ready",
        "generation": manifest.generation,
        "instruments": manifest.instruments,
        "bytes": manifest.bytes(),
        "built_at": manifest.built_at,
        "program": manifest.program,
        "age_seconds": age_seconds,
    })
}

fn answer((route, told): (Route, Value), method: Method) -> Response {
    request::takes(route);
    if !matches!(method, Method::GET | Method::HEAD) {
        return ApiError::InvalidMethod { allow: "GET, HEAD" }.into();
    }
    let mut reply = HttpResponse::new(told.to_string().into());
    let headers = reply.headers_mut();
    let kind = HeaderValue::from_static("application/json; charset=utf-8");
    headers.insert(header::CONTENT_TYPE, kind);
    // Who asks wants to know how it is now.
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    reply
}
