//! `GET /about`: describes the index for the page: the number of instruments, the day of the data,
//! the names of exchanges, and examples that find something (contract 16.14). It counts against no
//! limit.

use std::sync::Arc;

use figdex_index::Vendor;
use warp::Filter;
use warp::filters::BoxedFilter;
use warp::reply::Response;

use super::with;
use crate::engine::{Example, Turns};
use crate::gate::call::{Head, head};
use crate::request::Route;
use crate::state::State;
use crate::{gate, wire};

/// The names of the inputs of the bundled sample, as a manifest has them.
const SAMPLE: [&str; 3] = ["generated sample", "well-known instruments", "names of the sample"];

pub(super) fn route(state: Arc<State>) -> BoxedFilter<(Response,)> {
    warp::path!("about").and(head()).and(with(state)).then(handle).boxed()
}

async fn handle(head: Head, state: Arc<State>) -> Response {
    let visible = gate::visible(&state, &head);
    gate::open(&state, head, Route::About, None, async |caller| {
        let engine = state.engine();
        // A block is decompressed, as for one instrument.
        let turns = Turns::new(&state.pools().instruments, caller).beyond(0);
        let of = engine.clone();
        let asked = engine.ask(turns, Example, move |_, _, example| {
            let manifest = of.manifest();
            let sources = manifest.sources.iter();
            let is_sample = sources.map(|source| source.name.as_str()).eq(SAMPLE);
            let mut out = Vec::new();
            let coverage = of.local().and_then(|index| index.coverage());
            // A list asks an index in a cluster for no symbols (contract 21.9).
            let vendors: Vec<_> = Vendor::all().filter(|_| of.local().is_some()).collect();
            let example = example.as_ref();
            wire::about(&mut out, manifest, coverage, is_sample, &vendors, example, visible);
            out
        });
        Ok(asked.await?)
    })
    .await
}
