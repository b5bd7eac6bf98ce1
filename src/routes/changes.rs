//! `GET /changes`: every instrument that changed since a generation that the caller has, up to the
//! served one (contract 19).

use std::sync::Arc;

use warp::Filter;
use warp::filters::BoxedFilter;
use warp::reply::Response;

use super::with;
use crate::engine::{ChangesAsked, Turns};
use crate::gate::ChangesPage;
use crate::gate::call::{Head, head};
use crate::http::pieces::Pieces;
use crate::state::State;
use crate::wire::Token;
use crate::wire::changes::{ChangesRequest, ChangesWriter, Target, WrittenChanges};
use crate::{gate, request};

/// The room for the beginning of a page, in bytes.
const ROOM_BYTES: usize = 16 << 10;

pub(super) fn route(state: Arc<State>) -> BoxedFilter<(Response,)> {
    let query = warp::query::raw().or(warp::any().map(String::new)).unify();
    warp::path!("changes").and(query).and(head()).and(with(state)).then(handle).boxed()
}

async fn handle(query: String, head: Head, state: Arc<State>) -> Response {
    gate::changes(&state, head, async |caller, visible, form| {
        let engine = state.engine();
        let request = ChangesRequest::parse(&query, Target::of(engine.manifest())?, visible)?;
        let ChangesRequest { since, target, first, .. } = request;
        let asked = ChangesAsked { since, target: target.id, first, visible };
        let turns = Turns::new(&state.pools().answers, caller);
        let of = state.clone();
        let new = move || {
            let share = of.answers().share(caller);
            ChangesWriter::new(Pieces::charged(share, ROOM_BYTES, 0), form, request)
        };
        let (page, next) = engine.changes(turns, asked, new, ChangesWriter::add).await?;
        let WrittenChanges { out, instruments, cursor } = page.finish(next);
        request::add_rows(instruments);
        let token = Token { generation: target.id, visible };
        Ok(ChangesPage { written: out, generation: (target.number, token), cursor })
    })
    .await
}
