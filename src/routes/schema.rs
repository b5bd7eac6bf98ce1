//! `GET /schema` and `GET /{version}/schema`: the description of the interface in one version; v3
//! if the path has none (contract 1.9 to 1.11). It counts against no limit.

use std::sync::Arc;

use warp::Filter;
use warp::filters::BoxedFilter;
use warp::reply::Response;

use super::with;
use crate::callers::version::Version;
use crate::gate::call::{Head, head};
use crate::request::Route;
use crate::state::State;
use crate::{gate, openapi};

pub(super) fn route(state: Arc<State>) -> BoxedFilter<(Response,)> {
    let current = warp::path!("schema").map(|| Version::V3);
    let versioned = warp::path!(Version / "schema");
    current.or(versioned).unify().and(head()).and(with(state)).then(handle).boxed()
}

async fn handle(version: Version, head: Head, state: Arc<State>) -> Response {
    gate::open(&state, head, Route::Schema(version), None, async |caller| {
        let (engine, shared) = (state.engine(), state.clone());
        // The document is made for each request. This heavy work takes a millisecond, in which many
        // small answers could be made.
        let make = move || {
            let per_request = shared.limits().per_request;
            openapi::document(version, shared.settings(), per_request, engine.vocabulary())
        };
        Ok(state.pools().schema.run(caller, make).await?)
    })
    .await
}
