//! `GET /instruments/{figi}`: one instrument with everything that the index knows and may show, and
//! its family (contract 16.5 to 16.7). It counts against no limit.

use std::sync::Arc;

use figdex_index::Figi;
use warp::Filter;
use warp::filters::BoxedFilter;
use warp::reply::Response;

use super::with;
use crate::callers::error::OpenError;
use crate::engine::{OneInstrument, Turns};
use crate::gate::call::{Head, head};
use crate::request::Route;
use crate::state::State;
use crate::{gate, request, wire};

/// The FIGI in the path may be any text, so that the answer to an invalid one can give the reason.
pub(super) fn route(state: Arc<State>) -> BoxedFilter<(Response,)> {
    warp::path!("instruments" / String).and(head()).and(with(state)).then(handle).boxed()
}

async fn handle(figi: String, head: Head, state: Arc<State>) -> Response {
    let visible = gate::visible(&state, &head);
    let reply = gate::open(&state, head, Route::Instrument, None, async |caller| {
        let figi = Figi::parse(&figi);
        let figi =
            figi.map_err(|fault| OpenError::Invalid(format!("Invalid FIGI: {fault}.").into()))?;
        // Heavy work: a block is decompressed, and a family may have many rows.
        let turns = Turns::new(&state.pools().instruments, caller).beyond(0);
        let asked = state.engine().ask(turns, OneInstrument(figi), move |_, rows, found| {
            let (own, family) = found?;
            let mut out = Vec::new();
            match own {
                Some((hit, instrument)) => {
                    request::add_rows(1);
                    wire::instrument(&mut out, &rows, (hit, &instrument), &family, visible);
                }
                // The FIGI of a share class, or of a composite without a row.
                None => wire::family(&mut out, &rows, &family),
            }
            Some(out)
        });
        asked.await?.ok_or(OpenError::NotFound("No instrument has this FIGI."))
    });
    gate::noting_hidden(reply.await, visible)
}
