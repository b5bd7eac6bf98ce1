//! `GET /about`: what the index holds, for the page: how many instruments, of which day, the names
//! of exchanges, and examples that find something (contract 16.14). It counts against no limit.

use std::sync::Arc;

use figdex_index::{Catalogue, Instrument, Manifest};
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

/// The names of the inputs of the bundled sample, as a manifest has them.
const SAMPLE: [&str; 2] = ["generated sample", "well-known instruments"];

pub(super) fn route(state: Arc<State>) -> BoxedFilter<(Response,)> {
    warp::path!("about").and(head()).and(with(state)).then(handle).boxed()
}

async fn handle(head: Head, state: Arc<State>) -> Response {
    let answer = async |caller| answer(caller, &state).await;
    gate::open(&state, head, Route::About, None, answer).await
}

async fn answer(caller: Caller, state: &State) -> Result<Vec<u8>, OpenError> {
    let (engine, settings) = (state.engine(), state.settings());
    let identifiers =
        if settings.hide_identifiers { Identifiers::Hidden } else { Identifiers::Shown };
    let catalogue = match engine {
        Engine::Local(catalogue) => catalogue,
        Engine::OpenSearch(generation) => {
            let id = request::id();
            let example = generation.example(Some(id.as_str())).await.map_err(unanswered)?;
            let example = example.map(|stored| stored.instrument());
            return Ok(written(generation.manifest(), example.as_ref(), identifiers));
        }
    };
    // A block is decompressed, as for one instrument.
    let read = move || about(&catalogue, identifiers);
    let written = state.pools().instruments.run(caller, read).await?;
    Ok(written.map_err(|error| {
        tracing::error!(%error, request_id = %request::id(), "the example could not be read");
        ApiError::Internal
    })?)
}

fn about(catalogue: &Catalogue, identifiers: Identifiers) -> figdex_index::Result<Vec<u8>> {
    let example = catalogue.example().map(|hit| catalogue.instrument(hit)).transpose()?;
    Ok(written(catalogue.manifest(), example.as_ref(), identifiers))
}

fn written(manifest: &Manifest, example: Option<&Instrument>, identifiers: Identifiers) -> Vec<u8> {
    let sources = manifest.sources.iter();
    let is_sample = sources.map(|source| source.name.as_str()).eq(SAMPLE);
    let mut out = Vec::new();
    wire::about(&mut out, manifest, is_sample, example, identifiers);
    out
}
