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

/// The whole server. A path that no route takes is the last one's, and a 404.
pub fn service(state: Arc<State>) -> BoxedFilter<(Response,)> {
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
        .or(health::route())
        .unify()
        .or(warp::path::tail().map(|_: Tail| ApiError::InvalidUrl.into()))
        .unify()
        .boxed()
}

fn with<T: Clone + Send + 'static>(
    value: T,
) -> impl Filter<Extract = (T,), Error = Infallible> + Clone {
    warp::any().map(move || value.clone())
}
