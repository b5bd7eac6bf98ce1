//! Chapter "Endpoints": the route table.

mod filter;
mod health;
mod instruments;
mod mapping;
pub(crate) mod metrics;
mod paging;
mod schema;
mod search;
mod site;
mod suggest;
mod values;

use std::convert::Infallible;
use std::sync::Arc;

use warp::Filter;
use warp::filters::BoxedFilter;
use warp::http::HeaderMap;
use warp::path::Tail;
use warp::reply::Response;

use crate::error::ApiError;
use crate::state::State;

/// The whole server on one address. A path that no route takes is the last one's, and
/// a 404.
pub fn service(state: Arc<State>) -> BoxedFilter<(Response,)> {
    let operators = operators(state.clone());
    clients(state.clone()).or(operators).unify().or(nowhere(state)).unify().boxed()
}

/// What strangers may reach, where operators have an address of their own
/// (`--admin-listen`).
pub fn public(state: Arc<State>) -> BoxedFilter<(Response,)> {
    clients(state.clone()).or(health::brief()).unify().or(nowhere(state)).unify().boxed()
}

/// What is served on the operators' own address, and only there.
pub fn admin(state: Arc<State>) -> BoxedFilter<(Response,)> {
    operators(state.clone()).or(nowhere(state)).unify().boxed()
}

/// The routes for clients and people.
fn clients(state: Arc<State>) -> BoxedFilter<(Response,)> {
    mapping::route(state.clone())
        .or(values::route(state.clone()))
        .unify()
        .or(schema::route(state.clone()))
        .unify()
        .or(search::route(state.clone()))
        .unify()
        .or(filter::route(state.clone()))
        .unify()
        .or(instruments::route(state.clone()))
        .unify()
        .or(suggest::route(state))
        .unify()
        .or(site::route())
        .unify()
        .boxed()
}

/// The routes for operators.
fn operators(state: Arc<State>) -> BoxedFilter<(Response,)> {
    health::detailed(state.clone()).or(metrics::route(state)).unify().boxed()
}

/// The last route, which takes every path that is left. A page of another origin may read
/// that it is wrong.
fn nowhere(state: Arc<State>) -> BoxedFilter<(Response,)> {
    let answer = |_: Tail, headers: HeaderMap, state: Arc<State>| {
        let mut reply = Response::from(ApiError::InvalidUrl);
        state.settings().cors.stamp(&headers, &mut reply);
        reply
    };
    let facts = warp::path::tail().and(warp::header::headers_cloned());
    facts.and(with(state)).map(answer).boxed()
}

fn with<T: Clone + Send + 'static>(
    value: T,
) -> impl Filter<Extract = (T,), Error = Infallible> + Clone {
    warp::any().map(move || value.clone())
}

#[cfg(test)]
mod tests;
