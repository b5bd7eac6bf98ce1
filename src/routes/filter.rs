//! `POST /{version}/filter`: the same as search in FIGI order, with the count of all.

use std::sync::Arc;

use warp::Filter;
use warp::filters::BoxedFilter;
use warp::reply::Response;

use super::paging::Endpoint;
use super::{paging as pages, with};
use crate::gate;
use crate::gate::Action;
use crate::gate::call::{Call, call};
use crate::state::State;
use crate::version::Version;

pub(super) fn route(state: Arc<State>) -> BoxedFilter<(Response,)> {
    pages::version(Version::has_filter)
        .and(warp::path!("filter"))
        .and(call())
        .and(with(state))
        .then(handle)
        .boxed()
}

async fn handle(version: Version, call: Call, state: Arc<State>) -> Response {
    gate::pass(&state, call, Action::Filter(version), async |mut call, caller| {
        let body = call.body(caller.body_bytes_max).await?;
        pages::answer(Endpoint::Filter, version, body, &state).await
    })
    .await
}
