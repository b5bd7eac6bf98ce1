//! `GET /instruments/{figi}`: one instrument with all that the index knows and may show,
//! and its family (contract 16.5 to 16.7). It counts against no limit.

use std::sync::Arc;

use figdex_index::{Catalogue, Figi};
use figdex_opensearch::Generation;
use warp::Filter;
use warp::filters::BoxedFilter;
use warp::reply::Response;

use super::unanswered;
use super::with;
use crate::callers::Caller;
use crate::callers::error::{ApiError, OpenError};
use crate::engine::Engine;
use crate::gate::call::{Head, head};
use crate::request::Route;
use crate::state::State;
use crate::wire::Identifiers;
use crate::{gate, request, wire};

/// The FIGI of the path is any text, so that the answer to an invalid one gives the reason.
pub(super) fn route(state: Arc<State>) -> BoxedFilter<(Response,)> {
    warp::path!("instruments" / String).and(head()).and(with(state)).then(handle).boxed()
}

async fn handle(figi: String, head: Head, state: Arc<State>) -> Response {
    let answer = async |caller| answer(caller, &figi, &state).await;
    gate::open(&state, head, Route::Instrument, None, answer).await
}

async fn answer(caller: Caller, figi: &str, state: &State) -> Result<Vec<u8>, OpenError> {
    let figi = Figi::parse(figi);
    let figi =
        figi.map_err(|fault| OpenError::Invalid(format!("Invalid FIGI: {fault}.").into()))?;
    let (engine, settings) = (state.engine(), state.settings());
    let identifiers =
        if settings.hide_identifiers { Identifiers::Hidden } else { Identifiers::Shown };
    let catalogue = match engine {
        Engine::Local(catalogue) => catalogue,
        Engine::OpenSearch(generation) => {
            let found = instrument_of(&generation, figi, identifiers).await.map_err(unanswered)?;
            return found.ok_or(NONE);
        }
    };
    // Heavy work: a block is decompressed, and a family may have many rows.
    let read = move || instrument(&catalogue, figi, identifiers);
    let found = state.pools().instruments.run(caller, read).await?;
    let found = found.map_err(|error| {
        tracing::error!(%error, request_id = %request::id(), "an instrument could not be read");
        ApiError::Internal
    })?;
    found.ok_or(NONE)
}

const NONE: OpenError = OpenError::NotFound("No instrument has this FIGI.");

/// As [`instrument`], of a cluster.
async fn instrument_of(
    generation: &Generation,
    figi: Figi,
    identifiers: Identifiers,
) -> figdex_opensearch::Result<Option<Vec<u8>>> {
    let id = request::id();
    let id = Some(id.as_str());
    let mut out = Vec::new();
    if let Some(stored) = generation.find(figi, id).await? {
        let (rows, hit, family) = generation.family(stored, id).await?;
        let instrument = rows.stored(hit).instrument();
        request::add_rows(1);
        wire::instrument(&mut out, &rows, (hit, &instrument), &family, identifiers);
    } else if let Some(kin) = generation.find_kin(figi, id).await? {
        let (rows, _, family) = generation.family(kin, id).await?;
        wire::family(&mut out, &rows, &family);
    } else {
        return Ok(None);
    }
    Ok(Some(out))
}

/// The instrument and its family as JSON, or only the family for the FIGI of a share class or of a
/// composite without a row; `None` when no instrument has the FIGI in any of these ways.
fn instrument(
    catalogue: &Catalogue,
    figi: Figi,
    identifiers: Identifiers,
) -> figdex_index::Result<Option<Vec<u8>>> {
    let mut out = Vec::new();
    if let Some(hit) = catalogue.find(figi) {
        let (instrument, family) = (catalogue.instrument(hit)?, catalogue.family(hit));
        request::add_rows(1);
        wire::instrument(&mut out, catalogue, (hit, &instrument), &family, identifiers);
    } else if let Some(kin) = catalogue.find_kin(figi) {
        wire::family(&mut out, catalogue, &catalogue.family(kin));
    } else {
        return Ok(None);
    }
    Ok(Some(out))
}
