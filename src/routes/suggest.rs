//! `GET /suggest`: guesses what a person means who is still typing (contract 16.1 to 16.4). It
//! has a separate rate window.

use std::sync::Arc;

use figdex_index::{Begun, Catalogue, Meter, RowSource, Suggestion, Vocabulary};
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
use crate::wire::SuggestRequest;
use crate::{gate, request, wire};

pub(super) fn route(state: Arc<State>) -> BoxedFilter<(Response,)> {
    let query = warp::query::raw().or(warp::any().map(String::new)).unify();
    warp::path!("suggest").and(query).and(head()).and(with(state)).then(handle).boxed()
}

async fn handle(query: String, head: Head, state: Arc<State>) -> Response {
    let answer = async |caller| answer(caller, &query, &state).await;
    gate::open(&state, head, Route::Suggest, Some(Span::Suggest), answer).await
}

async fn answer(caller: Caller, query: &str, state: &State) -> Result<Vec<u8>, OpenError> {
    let (engine, settings) = (state.engine(), state.settings());
    let request = SuggestRequest::parse(query, engine.vocabulary(), settings.unknown_enum);
    let request = request.map_err(OpenError::Invalid)?;
    let catalogue = match engine {
        Engine::Local(catalogue) => catalogue,
        Engine::OpenSearch(generation) => return suggestions_of(&generation, &request).await,
    };
    let mut begun = Begun::default();
    if let Some(json) = suggestions(&catalogue, &request, &mut begun, &Meter::inline())? {
        return Ok(json);
    }
    // The turn goes on where the work stopped here.
    let json = state
        .pools()
        .answers
        .run_metered(caller, move |meter| suggestions(&catalogue, &request, &mut begun, meter))
        .await??;
    // In a turn it has no bound, and ends early only when the client has gone.
    Ok(json.ok_or(ApiError::Unavailable)?)
}

/// The suggestions of a cluster as JSON.
async fn suggestions_of(
    generation: &Generation,
    request: &SuggestRequest,
) -> Result<Vec<u8>, OpenError> {
    let (rows, found) = match request.is_impossible {
        true => Default::default(),
        false => {
            let id = request::id();
            let found = generation.suggest(&request.suggest, request.limit, Some(id.as_str()));
            found.await.map_err(unanswered)?
        }
    };
    Ok(written((&rows, generation.vocabulary()), request, &found))
}

/// The suggestions as JSON; `None` when they take more work than the meter allows.
fn suggestions(
    catalogue: &Catalogue,
    request: &SuggestRequest,
    begun: &mut Begun,
    meter: &Meter,
) -> Result<Option<Vec<u8>>, ApiError> {
    let found = match request.is_impossible {
        true => Ok(Some(Vec::new())),
        false => catalogue.suggest(&request.suggest, request.limit, begun, meter),
    };
    let found = found.map_err(|error| {
        tracing::error!(%error, request_id = %request::id(), "a suggestion failed");
        ApiError::Internal
    })?;
    Ok(found.map(|found| written((catalogue, catalogue.vocabulary()), request, &found)))
}

fn written(
    rows: (&impl RowSource, &Vocabulary),
    request: &SuggestRequest,
    found: &[Suggestion],
) -> Vec<u8> {
    request::add_rows(found.len());
    let mut out = Vec::new();
    wire::suggestions(&mut out, rows, request.suggest.keywords.text(), found);
    out
}
