//! `GET /facets`: counts the instruments that a search or filter finds, by the values of properties
//! (contract 16.11 to 16.13). The request counts in the window of `/suggest`.

use std::sync::Arc;

use figdex_index::FacetQuestion;
use warp::Filter;
use warp::filters::BoxedFilter;
use warp::reply::Response;

use super::with;
use crate::callers::error::OpenError;
use crate::callers::limits::Span;
use crate::engine::Turns;
use crate::gate;
use crate::gate::call::{Head, head};
use crate::request::Route;
use crate::state::State;
use crate::wire::facets::{FacetsRequest, write};

pub(super) fn route(state: Arc<State>) -> BoxedFilter<(Response,)> {
    let query = warp::query::raw().or(warp::any().map(String::new)).unify();
    warp::path!("facets").and(query).and(head()).and(with(state)).then(handle).boxed()
}

async fn handle(query: String, head: Head, state: Arc<State>) -> Response {
    gate::open(&state, head, Route::Facets, Some(Span::Suggest), async |caller| {
        let (engine, settings) = (state.engine(), state.settings());
        let request = FacetsRequest::parse(&query, engine.vocabulary(), settings.unknown_enum);
        let request = request.map_err(OpenError::Invalid)?;
        let FacetsRequest { question, limit, is_impossible } = request;
        if is_impossible {
            return Ok(write(engine.vocabulary(), &question, limit, None));
        }
        let (of, turns) = (engine.clone(), Turns::new(&state.pools().answers, caller));
        let asked = engine.ask(turns, question, move |question: &FacetQuestion, _, found| {
            write(of.vocabulary(), question, limit, Some(&found))
        });
        Ok(asked.await?)
    })
    .await
}
