//! `GET /instruments/{figi}`: one instrument with all that the index knows and may show,
//! and its family (contract 16.5 to 16.7). It counts against no limit.

use std::sync::Arc;

use figdex_index::{Catalogue, Figi};
use warp::Filter;
use warp::filters::BoxedFilter;
use warp::reply::Response;

use super::with;
use crate::error::{ApiError, OpenError};
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
    gate::open(&state, head, Route::Instrument, None, answer(&figi, &state)).await
}

async fn answer(figi: &str, state: &State) -> Result<Vec<u8>, OpenError> {
    let figi = Figi::parse(figi);
    let figi =
        figi.map_err(|fault| OpenError::Invalid(format!("Invalid FIGI: {fault}.").into()))?;
    let (catalogue, settings) = (state.catalogue(), state.settings());
    let identifiers =
        if settings.hide_identifiers { Identifiers::Hidden } else { Identifiers::Shown };
    // Heavy work: a block is decompressed, and a family may have many rows.
    let found =
        state.pools().instruments.run(move || instrument(&catalogue, figi, identifiers)).await?;
    let found = found.map_err(|error| {
        tracing::error!(%error, request_id = %request::id(), "an instrument could not be read");
        ApiError::Internal
    })?;
    found.ok_or(OpenError::NotFound("No instrument has this FIGI."))
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
