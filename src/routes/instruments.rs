//! `GET /instruments/{figi}`: one instrument with all that the index knows and may show,
//! and its family. Unversioned, and no business of the contract: it passes no gate and
//! counts against no limit.

use std::sync::Arc;

use figdex_index::{Catalogue, Figi};
use warp::Filter;
use warp::filters::BoxedFilter;
use warp::http::{Method, StatusCode};
use warp::reply::Response;

use super::with;
use crate::caller;
use crate::error::ApiError;
use crate::gate::call::{Call, call};
use crate::gate::reply;
use crate::request::Route;
use crate::state::State;
use crate::wire::Identifiers;
use crate::{request, wire};

/// The FIGI is any text, so that a wrong one is told what is wrong with it.
pub(super) fn route(state: Arc<State>) -> BoxedFilter<(Response,)> {
    warp::path!("instruments" / String).and(call()).and(with(state)).then(handle).boxed()
}

async fn handle(figi: String, call: Call, state: Arc<State>) -> Response {
    request::takes(Route::Instrument);
    let cors = &state.settings().cors;
    let mut reply = match (cors.preflight(&call.method, &call.headers, &Method::GET), &call.method)
    {
        (Some(preflight), _) => preflight,
        (None, &Method::GET | &Method::HEAD) => {
            answer(&figi, &call, &state).await.unwrap_or_else(Response::from)
        }
        _ => ApiError::InvalidMethod { allow: "GET, HEAD" }.into(),
    };
    cors.stamp(&call.headers, &mut reply);
    reply
}

async fn answer(figi: &str, call: &Call, state: &Arc<State>) -> Result<Response, ApiError> {
    let (status, json) = match Figi::parse(figi) {
        Err(fault) => (StatusCode::BAD_REQUEST, wire::error(&format!("Invalid FIGI: {fault}."))),
        Ok(figi) => {
            let (catalogue, settings) = (state.catalogue(), state.settings());
            let identifiers =
                if settings.hide_identifiers { Identifiers::Hidden } else { Identifiers::Shown };
            // A block is unpacked, and a family may have many rows. No search waits for these
            // turns.
            let found = state.reading(move || tell(&catalogue, figi, identifiers)).await?;
            let found = found.map_err(|error| {
                tracing::error!(%error, request_id = %request::id(), "an instrument could not be read");
                ApiError::Internal
            })?;
            match found {
                Some(json) => (StatusCode::OK, json),
                None => (StatusCode::NOT_FOUND, wire::error("No instrument has this FIGI.")),
            }
        }
    };
    let who = caller::caller(call.peer, &call.headers, state.settings().trust_proxy);
    let mut reply = reply::json(state, who, &call.headers, json).await?;
    *reply.status_mut() = status;
    Ok(reply)
}

fn tell(
    catalogue: &Catalogue,
    figi: Figi,
    identifiers: Identifiers,
) -> figdex_index::Result<Option<Vec<u8>>> {
    let Some(hit) = catalogue.find(figi) else { return Ok(None) };
    let (instrument, family) = (catalogue.instrument(hit)?, catalogue.family(hit));
    request::add_rows(1);
    let mut out = Vec::new();
    wire::instrument(&mut out, catalogue, (hit, &instrument), &family, identifiers);
    Ok(Some(out))
}
