//! `GET /healthz` and `GET /readyz` (contract 16.8, 16.9). A server opens its index before it
//! answers here, so it is usually ready at once; `starting` answers while a first copy is fetched.
//! A server is not ready while the cluster does not answer for the whole index, nor after the
//! signal to stop: then balancers leave it. The answers for operators also describe the build of
//! the program, the served generation and its age, and the copy if the index is one. If operators
//! have a separate address, the public answers have only the status, and `/healthz` also the
//! version.

use std::sync::Arc;

use figdex_index::Manifest;
use figdex_storage::Following;
use jiff::Timestamp;
use serde_json::{Value, json};
use warp::Filter;
use warp::filters::BoxedFilter;
use warp::http::{HeaderValue, Method, StatusCode, header};
use warp::reply::Response;

use super::with;
use crate::callers::error::ApiError;
use crate::engine::Engine;
use crate::gate;
use crate::gate::reply::JSON;
use crate::request::Route;
use crate::state::State;

/// The routes on the public address, if operators have a separate one.
pub(super) fn brief(state: Arc<State>) -> BoxedFilter<(Response,)> {
    let health = warp::path!("healthz").map(|| (Route::Health, version()));
    let ready = warp::path!("readyz").and(with(state)).map(|state: Arc<State>| {
        (Route::Ready, json!({"status": status(&state, &state.engine())}))
    });
    answering(health.or(ready).unify().boxed())
}

/// The status of a server in `/readyz`.
fn status(state: &State, engine: &Engine) -> &'static str {
    match (state.is_stopping(), engine.answers()) {
        (true, _) => "stopping",
        (false, false) => "unavailable",
        (false, true) => READY,
    }
}

const READY: &str = "ready";

/// The routes for operators.
pub(super) fn detailed(state: Arc<State>) -> BoxedFilter<(Response,)> {
    let health = warp::path!("healthz").map(|| (Route::Health, build()));
    let ready = warp::path!("readyz").and(with(state)).map(|state: Arc<State>| {
        let engine = state.engine();
        let mut facts = published(engine.manifest(), Timestamp::now());
        facts["status"] = status(&state, &engine).into();
        if let Some(copy) = state.copy_status() {
            facts["storage"] = storage(&copy);
        }
        (Route::Ready, facts)
    });
    answering(health.or(ready).unify().boxed())
}

/// The relation of the copy to the storage, as JSON.
pub(super) fn storage(copy: &Following) -> Value {
    json!({
        "state": copy.state.name(),
        "reason": copy.state.reason(),
        "published": copy.published,
        "behind_seconds": copy.behind().as_secs(),
        "fetched_bytes": copy.fetched_bytes,
        "missing_bytes": copy.missing_bytes,
    })
}

pub(super) fn version() -> Value {
    json!({"status": "ok", "version": figdex_build_info::VERSION})
}

pub(super) fn build() -> Value {
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

/// The served generation. Its age counts from its build. The age is 0 if the clock went back, and
/// null if the time of the build is unreadable.
fn published(manifest: &Manifest, now: Timestamp) -> Value {
    let built: Option<Timestamp> = manifest.built_at.parse().ok();
    let age_seconds = built.map(|built| (now.as_second() - built.as_second()).max(0));
    json!({
        "status": READY,
        "generation": manifest.generation,
        "instruments": manifest.instruments,
        "bytes": manifest.bytes(),
        "built_at": manifest.built_at,
        "program": manifest.program,
        "age_seconds": age_seconds,
    })
}

pub(super) fn answering(facts: BoxedFilter<((Route, Value),)>) -> BoxedFilter<(Response,)> {
    let answer = |facts, method| answer(facts, &method).unwrap_or_else(Response::from);
    facts.and(warp::method()).map(answer).boxed()
}

fn answer((route, facts): (Route, Value), method: &Method) -> Result<Response, ApiError> {
    gate::read_only(route, method)?;
    let is_ready = route != Route::Ready || facts["status"] == READY;
    let mut reply = Response::new(facts.to_string().into());
    if !is_ready {
        *reply.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
    }
    let headers = reply.headers_mut();
    headers.insert(header::CONTENT_TYPE, JSON);
    // A cached answer would hide the current state.
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(reply)
}
