//! `GET /suggest`: guesses the securities that an unfinished text means (contract 16.1 to 16.4). It
//! has a separate rate window, which `/facets` and `/find` share.

use std::sync::Arc;

use figdex_index::{Fetched, QuestionReading, RowSource, Suggestion, Visible, Vocabulary};
use warp::Filter;
use warp::filters::BoxedFilter;
use warp::reply::Response;

use super::with;
use crate::callers::error::OpenError;
use crate::callers::limits::Span;
use crate::engine::{Suggestions, Turns};
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
    let visible = gate::visible(&state, &head);
    gate::open(&state, head, Route::Suggest, Some(Span::Suggest), async |caller| {
        let (engine, settings) = (state.engine(), state.settings());
        let request = SuggestRequest::parse(&query, engine.vocabulary(), settings.unknown_enum);
        let request = request.map_err(OpenError::Invalid)?;
        let SuggestRequest { suggest, limit, is_impossible } = request;
        if is_impossible {
            let text = suggest.keywords.text();
            return Ok(written(
                (&Fetched::default(), engine.vocabulary()),
                (text, None),
                &[],
                visible,
            ));
        }
        let (of, turns) = (engine.clone(), Turns::new(&state.pools().answers, caller));
        let question = Suggestions::new(suggest, limit);
        let asked = engine.ask(turns, question, move |question: &Suggestions, rows, found| {
            let ((read, found), text) = (found, question.suggest.keywords.text());
            written((&rows, of.vocabulary()), (text, read.as_deref()), &found, visible)
        });
        Ok(asked.await?)
    })
    .await
}

fn written(
    rows: (&impl RowSource, &Vocabulary),
    text: (&str, Option<&QuestionReading>),
    found: &[Suggestion],
    visible: Visible,
) -> Vec<u8> {
    request::add_rows(found.len());
    let mut out = Vec::new();
    wire::suggestions(&mut out, rows, text, found, visible);
    out
}
