//! `GET /suggest`: guesses what a person means who is still typing (contract 16.1 to 16.4). It
//! has a separate rate window.

use std::sync::Arc;

use figdex_index::{Begun, Catalogue, Meter};
use warp::Filter;
use warp::filters::BoxedFilter;
use warp::reply::Response;

use super::with;
use crate::error::{ApiError, OpenError};
use crate::gate::call::{Head, head};
use crate::limits::Span;
use crate::request::Route;
use crate::state::State;
use crate::wire::SuggestRequest;
use crate::{gate, request, wire};

pub(super) fn route(state: Arc<State>) -> BoxedFilter<(Response,)> {
    let query = warp::query::raw().or(warp::any().map(String::new)).unify();
    warp::path!("suggest").and(query).and(head()).and(with(state)).then(handle).boxed()
}

async fn handle(query: String, head: Head, state: Arc<State>) -> Response {
    let answer = answer(&query, &state);
    gate::open(&state, head, Route::Suggest, Some(Span::Suggest), answer).await
}

async fn answer(query: &str, state: &State) -> Result<Vec<u8>, OpenError> {
    let (catalogue, settings) = (state.catalogue(), state.settings());
    let request = SuggestRequest::parse(query, catalogue.vocabulary(), settings.unknown_enum);
    let request = request.map_err(OpenError::Invalid)?;
    let mut begun = Begun::default();
    if let Some(json) = suggestions(&catalogue, &request, &mut begun, &Meter::inline())? {
        return Ok(json);
    }
    // The turn goes on where the work stopped here.
    let json = state
        .pools()
        .answers
        .run_metered(move |meter| suggestions(&catalogue, &request, &mut begun, meter))
        .await??;
    // In a turn it has no bound, and ends early only when the client has gone.
    Ok(json.ok_or(ApiError::Unavailable)?)
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
    Ok(found.map(|found| {
        request::add_rows(found.len());
        let mut out = Vec::new();
        wire::suggestions(&mut out, catalogue, request.suggest.keywords.text(), &found);
        out
    }))
}
