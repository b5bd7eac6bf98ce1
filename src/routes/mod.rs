//! Chapter "Endpoints": the route table.

mod filter;
mod health;
mod instruments;
mod mapping;
mod page;
mod pages;
mod schema;
mod search;
mod suggest;
mod values;

use std::convert::Infallible;
use std::sync::Arc;

use warp::Filter;
use warp::filters::BoxedFilter;
use warp::path::Tail;
use warp::reply::Response;

use crate::error::ApiError;
use crate::state::State;

/// The whole server on one address. A path that no route takes is the last one's, and
/// a 404.
pub fn service(state: Arc<State>) -> BoxedFilter<(Response,)> {
    clients(state.clone()).or(operators(state)).unify().or(unknown()).unify().boxed()
}

/// What strangers may reach, where operators have an address of their own
/// (`--admin-listen`).
pub fn public(state: Arc<State>) -> BoxedFilter<(Response,)> {
    clients(state).or(health::brief()).unify().or(unknown()).unify().boxed()
}

/// What is served on the operators' own address, and only there.
pub fn admin(state: Arc<State>) -> BoxedFilter<(Response,)> {
    operators(state).or(unknown()).unify().boxed()
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
        .or(page::route())
        .unify()
        .boxed()
}

/// The routes for operators.
fn operators(state: Arc<State>) -> BoxedFilter<(Response,)> {
    health::detailed(state)
}

fn unknown() -> BoxedFilter<(Response,)> {
    warp::path::tail().map(|_: Tail| ApiError::InvalidUrl.into()).boxed()
}

fn with<T: Clone + Send + 'static>(
    value: T,
) -> impl Filter<Extract = (T,), Error = Infallible> + Clone {
    warp::any().map(move || value.clone())
}
