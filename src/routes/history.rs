//! `GET /instruments/{figi}/history`: the versions of one instrument (contract 20.12 to 20.15). It
//! counts against no limit, as `GET /instruments/{figi}` does.

use std::sync::Arc;

use figdex_index::Figi;
use warp::Filter;
use warp::filters::BoxedFilter;
use warp::reply::Response;

use super::with;
use crate::callers::error::OpenError;
use crate::engine::{OneHistory, PastOfOne, Turns};
use crate::gate::call::{Head, head};
use crate::request::Route;
use crate::state::State;
use crate::wire::{History, HistoryRequest};
use crate::{gate, request, wire};

/// The FIGI in the path may be any text, so that the answer to an invalid one can give the reason.
pub(super) fn route(state: Arc<State>) -> BoxedFilter<(Response,)> {
    let query = warp::query::raw().or(warp::any().map(String::new)).unify();
    let path = warp::path!("instruments" / String / "history");
    path.and(query).and(head()).and(with(state)).then(handle).boxed()
}

async fn handle(figi: String, query: String, head: Head, state: Arc<State>) -> Response {
    let visible = gate::visible(&state, &head);
    let reply = gate::open(&state, head, Route::History, None, async |caller| {
        let figi = Figi::parse(&figi);
        let figi =
            figi.map_err(|fault| OpenError::Invalid(format!("Invalid FIGI: {fault}.").into()))?;
        let asked = HistoryRequest::parse(&query).map_err(OpenError::Invalid)?;
        // Heavy work: two blocks are decompressed, and there may be many versions.
        let turns = Turns::new(&state.pools().instruments, caller).beyond(0);
        let question = OneHistory(figi);
        let found = state.engine().ask(turns, question, move |_, _, found| match found {
            PastOfOne::NoPast => Err("This index keeps no past."),
            PastOfOne::Unknown => Err("The past knows no instrument with this FIGI."),
            PastOfOne::Known { mut versions, coverage, covered_since } => {
                versions.hide(visible);
                request::add_rows(1);
                let mut out = Vec::new();
                let history = History { versions: *versions, coverage, covered_since };
                wire::history(&mut out, &history, &asked, visible);
                Ok(out)
            }
        });
        found.await?.map_err(OpenError::NotFound)
    });
    gate::noting_hidden(reply.await, visible)
}
