//! `GET /facets`: how many of the instruments that a search or a filter finds have each value of a
//! property (contract 16.11 to 16.13). It counts in the window of `/suggest`.

use std::sync::Arc;

use figdex_index::{Catalogue, Meter};
use figdex_opensearch::Generation;
use warp::Filter;
use warp::filters::BoxedFilter;
use warp::reply::Response;

use super::unanswered;
use super::with;
use crate::callers::Caller;
use crate::callers::error::{ApiError, OpenError};
use crate::callers::limits::Span;
use crate::engine::Engine;
use crate::gate::call::{Head, head};
use crate::request::Route;
use crate::state::State;
use crate::wire::facets::{FacetsRequest, write};
use crate::{gate, request};

pub(super) fn route(state: Arc<State>) -> BoxedFilter<(Response,)> {
    let query = warp::query::raw().or(warp::any().map(String::new)).unify();
    warp::path!("facets").and(query).and(head()).and(with(state)).then(handle).boxed()
}

async fn handle(query: String, head: Head, state: Arc<State>) -> Response {
    let answer = async |caller| answer(caller, &query, &state).await;
    gate::open(&state, head, Route::Facets, Some(Span::Suggest), answer).await
}

async fn answer(caller: Caller, query: &str, state: &State) -> Result<Vec<u8>, OpenError> {
    let (engine, settings) = (state.engine(), state.settings());
    let request = FacetsRequest::parse(query, engine.vocabulary(), settings.unknown_enum);
    let request = request.map_err(OpenError::Invalid)?;
    let catalogue = match engine {
        Engine::Local(catalogue) => catalogue,
        Engine::OpenSearch(generation) => return facets_of(&generation, &request).await,
    };
    if let Some(json) = facets(&catalogue, &request, &Meter::inline())? {
        return Ok(json);
    }
    let json = state
        .pools()
        .answers
        .run_metered(caller, move |meter| facets(&catalogue, &request, meter))
        .await??;
    // In a turn it has no bound, and ends early only when the client has gone.
    Ok(json.ok_or(ApiError::Unavailable)?)
}

/// The facets of a cluster as JSON.
async fn facets_of(generation: &Generation, request: &FacetsRequest) -> Result<Vec<u8>, OpenError> {
    let found = match request.is_impossible {
        true => None,
        false => {
            let id = request::id();
            let found = generation.facets(&request.question, Some(id.as_str())).await;
            Some(found.map_err(unanswered)?)
        }
    };
    let mut out = Vec::new();
    write(&mut out, generation.vocabulary(), request, found.as_ref());
    Ok(out)
}

/// The facets as JSON; `None` when they take more work than the meter allows.
fn facets(
    catalogue: &Catalogue,
    request: &FacetsRequest,
    meter: &Meter,
) -> Result<Option<Vec<u8>>, ApiError> {
    let mut out = Vec::new();
    if request.is_impossible {
        write(&mut out, catalogue.vocabulary(), request, None);
        return Ok(Some(out));
    }
    let found = catalogue.facets(&request.question, meter).map_err(|error| {
        tracing::error!(%error, request_id = %request::id(), "counting facets failed");
        ApiError::Internal
    })?;
    Ok(found.map(|found| {
        write(&mut out, catalogue.vocabulary(), request, Some(&found));
        out
    }))
}
