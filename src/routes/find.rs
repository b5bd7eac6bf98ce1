//! `GET /find`: what a person means by a text, and the rows that a search for it finds (contract
//! 16.18 to 16.21). The request counts in the window of `/suggest`.

use std::sync::Arc;

use figdex_index::{
    Fetched, INLINE_UNITS_MAX, QuestionReading, RowSource, Suggest, Visible, Vocabulary, readings,
};
use warp::Filter;
use warp::filters::BoxedFilter;
use warp::reply::Response;

use super::with;
use crate::callers::error::OpenError;
use crate::callers::limits::{PAGES_MAX, Span};
use crate::engine::{Find, FoundPage, TextReading, Turns};
use crate::gate::call::{Head, head};
use crate::request::Route;
use crate::state::State;
use crate::wire::{Cursor, FindAnswer, FindRequest, INVALID_START, QueryDigest};
use crate::{gate, request, wire};

/// The endpoint's name in a cursor.
const ENDPOINT: &str = "find";

/// The work that an answer may take on a serving thread, in units of the meter: as for a search.
const INLINE_UNITS: u64 = INLINE_UNITS_MAX / 4;

pub(super) fn route(state: Arc<State>) -> BoxedFilter<(Response,)> {
    let query = warp::query::raw().or(warp::any().map(String::new)).unify();
    warp::path!("find").and(query).and(head()).and(with(state)).then(handle).boxed()
}

async fn handle(query: String, head: Head, state: Arc<State>) -> Response {
    let visible = gate::visible(&state, &head);
    gate::open(&state, head, Route::Find, Some(Span::Suggest), async |caller| {
        let (engine, settings) = (state.engine(), state.settings());
        let request = FindRequest::parse(&query, engine.vocabulary(), settings.unknown_enum);
        let FindRequest { typed, start, is_impossible } = request.map_err(OpenError::Invalid)?;
        let (question, pages) = match start {
            None if is_impossible => {
                let rows = (&Fetched::default(), engine.vocabulary());
                let text = Some(typed.keywords.text());
                return Ok(written(rows, text, &FindAnswer::default(), visible));
            }
            None => (Find::first(typed), 0),
            Some(start) => {
                let later = later(typed, &start, engine.vocabulary()).filter(|_| !is_impossible);
                later.ok_or(OpenError::Invalid(INVALID_START.into()))?
            }
        };
        let pages = pages + 1;
        let (of, turns) = (engine.clone(), Turns::new(&state.pools().answers, caller));
        let asked = engine.ask(
            turns.beyond(INLINE_UNITS),
            question,
            move |question: &Find, rows, found| {
                let FoundPage { read, securities, page } = found;
                let rows = (&rows, of.vocabulary());
                let next = page.next.filter(|_| pages < PAGES_MAX).map(|place| {
                    let form = form(question.typed(), read.as_deref(), of.vocabulary());
                    Cursor { pages, place }.encode(digest(question.typed(), &form, of.vocabulary()))
                });
                let (reading, hits) = (read.as_deref(), &page.hits[..]);
                let answer = FindAnswer { reading, securities: &securities, hits, next };
                let text = (pages == 1).then(|| question.typed().keywords.text());
                written(rows, text, &answer, visible)
            },
        );
        Ok(asked.await?)
    })
    .await
}

/// The page after a cursor, and the number of pages before it. The cursor says by which reading the
/// pages before were found, so a later page has the same reading in a new index.
fn later(typed: Suggest, start: &str, vocabulary: &Vocabulary) -> Option<(Find, u8)> {
    let at = |form: &str| Cursor::decode(start, digest(&typed, form, vocabulary));
    if let Some(Cursor { pages, place }) = at("") {
        return Some((Find::later(typed, None, place), pages));
    }
    let readings = readings(typed.keywords.text(), &typed.filters, vocabulary);
    readings.iter().find_map(|reading| {
        let Cursor { pages, place } = at(&form(&typed, Some(reading), vocabulary))?;
        let read: TextReading = Some(Arc::new(reading.clone()));
        Some((Find::later(typed.clone(), read, place), pages))
    })
}

/// The form of a reading, and its number among the readings of this form; empty without a reading.
fn form(typed: &Suggest, read: Option<&QuestionReading>, vocabulary: &Vocabulary) -> String {
    let Some(reading) = read else { return String::new() };
    let form = reading.form();
    let all = readings(typed.keywords.text(), &typed.filters, vocabulary);
    let before = all.iter().take_while(|other| *other != reading);
    let number = before.filter(|other| other.form() == form).count();
    format!("{number} {form}")
}

fn digest(typed: &Suggest, form: &str, vocabulary: &Vocabulary) -> QueryDigest {
    QueryDigest::new(&format!("{ENDPOINT} {form}"), &typed.search(), vocabulary)
}

fn written(
    rows: (&impl RowSource, &Vocabulary),
    text: Option<&str>,
    answer: &FindAnswer<'_>,
    visible: Visible,
) -> Vec<u8> {
    request::add_rows(answer.securities.len() + answer.hits.len());
    let mut out = Vec::new();
    wire::find(&mut out, rows, text, answer, visible);
    out
}
