//! The route table: the endpoints of the contract (chapter 1) and the routes outside of it
//! (chapters 16, 17 and 19 to 21). Routes that differ little share a file, such as search and filter.

mod about;
mod changes;
mod facets;
mod find;
mod health;
mod history;
mod instruments;
mod mapping;
#[cfg(feature = "mcp")]
pub(crate) mod mcp;
pub(crate) mod metrics;
mod parquet;
mod resolve;
mod schema;
mod search;
mod site;
pub(crate) mod starting;
mod suggest;
mod values;

use std::convert::Infallible;
use std::sync::Arc;

use warp::Filter;
use warp::filters::BoxedFilter;
use warp::http::HeaderMap;
use warp::path::Tail;
use warp::reply::Response;

use crate::callers::error::ApiError;
use crate::state::State;

/// The whole server on one address. A path that no route takes is answered with 404.
pub fn service(state: Arc<State>) -> BoxedFilter<(Response,)> {
    let operators = operators(state.clone());
    clients(state.clone()).or(operators).unify().or(unknown_path(state)).unify().boxed()
}

/// The public address, if operators have a separate one (`--admin-listen`).
pub fn public(state: Arc<State>) -> BoxedFilter<(Response,)> {
    clients(state.clone())
        .or(health::brief(state.clone()))
        .unify()
        .or(unknown_path(state))
        .unify()
        .boxed()
}

/// The separate address of operators.
pub fn admin(state: Arc<State>) -> BoxedFilter<(Response,)> {
    operators(state.clone()).or(unknown_path(state)).unify().boxed()
}

/// The routes for clients and people.
fn clients(state: Arc<State>) -> BoxedFilter<(Response,)> {
    let answers = answers(state.clone());
    #[cfg(feature = "mcp")]
    let answers = if state.settings().mcp {
        answers.clone().or(mcp::route(state, answers)).unify().boxed()
    } else {
        answers
    };
    answers.or(site::route()).unify().boxed()
}

/// The routes that answer questions about instruments.
fn answers(state: Arc<State>) -> BoxedFilter<(Response,)> {
    mapping::route(state.clone())
        .or(values::route(state.clone()))
        .unify()
        .or(schema::route(state.clone()))
        .unify()
        .or(search::route(state.clone()))
        .unify()
        .or(instruments::route(state.clone()))
        .unify()
        .or(history::route(state.clone()))
        .unify()
        .or(resolve::route(state.clone()))
        .unify()
        .or(about::route(state.clone()))
        .unify()
        .or(facets::route(state.clone()))
        .unify()
        .or(find::route(state.clone()))
        .unify()
        .or(changes::route(state.clone()))
        .unify()
        .or(parquet::route(state.clone()))
        .unify()
        .or(suggest::route(state))
        .unify()
        .boxed()
}

/// The routes for operators.
fn operators(state: Arc<State>) -> BoxedFilter<(Response,)> {
    health::detailed(state.clone()).or(metrics::route(state)).unify().boxed()
}

/// The last route. It answers every other path with 404. Web pages of allowed origins may read that
/// answer (contract 15.3).
fn unknown_path(state: Arc<State>) -> BoxedFilter<(Response,)> {
    let answer = |_: Tail, headers: HeaderMap, state: Arc<State>| {
        let mut reply = Response::from(ApiError::InvalidUrl);
        state.settings().cors.add_to(&headers, &mut reply);
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
