//! `POST /{version}/search` and `POST /{version}/filter`: find rows by words and properties, a page
//! at a time (contract 8). Both find the same rows. A search orders them by how likely people want
//! them; a filter gives them in FIGI order, with the total count.

use std::sync::Arc;

use figdex_index::{Fetched, INLINE_UNITS_MAX, Meter, Page, Place, RowSource, Vocabulary};
use warp::Filter;
use warp::filters::BoxedFilter;
use warp::reply::Response;

use super::with;
use crate::callers::error::ApiError;
use crate::callers::limits::{INLINE_BODY_BYTES_MAX, PAGES_MAX, units_of_body};
use crate::callers::version::Version;
use crate::config::{SearchEnvelope, Settings, UnknownEnum};
use crate::engine::{FoundRows, PageQuestion, Turns};
use crate::gate::Action;
use crate::gate::call::{Call, Incoming, incoming};
use crate::state::State;
use crate::wire::{
    Checked, Cursor, INVALID_START, QueryDigest, SearchRequest, SearchResult, Several,
    search_result,
};
use crate::{gate, request};

/// One of the two endpoints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Endpoint {
    Search,
    Filter,
}

pub(super) fn route(state: Arc<State>) -> BoxedFilter<(Response,)> {
    let search = path("search", Endpoint::Search, Version::has_search);
    let filter = path("filter", Endpoint::Filter, Version::has_filter);
    search.or(filter).unify().and(incoming()).and(with(state)).then(handle).boxed()
}

/// The path of an endpoint, for the versions that have the endpoint.
fn path(
    segment: &'static str,
    endpoint: Endpoint,
    has: fn(Version) -> bool,
) -> BoxedFilter<((Endpoint, Version),)> {
    let check = move |version: Version| async move {
        if has(version) { Ok((endpoint, version)) } else { Err(warp::reject::not_found()) }
    };
    let version = warp::path::param().and_then(check);
    version.and(warp::path(segment)).and(warp::path::end()).boxed()
}

async fn handle(
    (endpoint, version): (Endpoint, Version),
    request: Incoming,
    state: Arc<State>,
) -> Response {
    gate::pass(&state, request, endpoint.action(version), async |call| {
        let Call { admitted, body } = call;
        let body = body.read().await?;
        let (engine, turns) = (state.engine(), Turns::new(&state.pools().answers, admitted.caller));
        let read_at_once = if body.len() > INLINE_BODY_BYTES_MAX { 0 } else { INLINE_UNITS_MAX };
        let (of, shared) = (engine.clone(), state.clone());
        let read = move |meter: &Meter| {
            if meter.charge(units_of_body(&body)).is_err() {
                return Ok(None);
            }
            AskedPage::read(endpoint, version, &body, of.vocabulary(), shared.settings()).map(Some)
        };
        let asked = turns.beyond(read_at_once).work(read).await?;
        let envelope = state.settings().search_envelope;
        let AskedPage { question, query, pages } = match asked {
            Ok(asked) => asked,
            Err(result) => return Ok(written(version, envelope, &Fetched::default(), &result)),
        };
        let write =
            move |_: &PageQuestion, rows: FoundRows<'_>, (page, total): (Page<Place>, _)| {
                request::add_rows(page.hits.len());
                let next = page.next.filter(|_| pages < PAGES_MAX);
                let next = next.map(|place| Cursor { pages, place }.encode(query));
                let result = SearchResult::Rows { hits: page.hits, next, total };
                written(version, envelope, &rows, &result)
            };
        // Common words match many rows.
        engine.ask(turns.beyond(endpoint.inline_units()), question, write).await
    })
    .await
}

fn written(
    version: Version,
    envelope: SearchEnvelope,
    rows: &impl RowSource,
    result: &SearchResult,
) -> Vec<u8> {
    let mut out = Vec::new();
    search_result::write(&mut out, version, envelope, rows, result);
    out
}

/// A requested page.
struct AskedPage {
    question: PageQuestion,
    query: QueryDigest,
    /// The number of the page, from 1.
    pages: u8,
}

impl AskedPage {
    /// The page that a body asks for; or the result, if it is known without asking the engine.
    ///
    /// # Errors
    /// The error of the whole request.
    fn read(
        endpoint: Endpoint,
        version: Version,
        body: &[u8],
        vocabulary: &Vocabulary,
        settings: &Settings,
    ) -> Result<Result<Self, SearchResult>, ApiError> {
        let request = SearchRequest::parse(body, version)?;
        let several = if settings.strict_contract { Several::No } else { Several::Yes };
        let Checked { enums_hold, question } = request.check(vocabulary, several);
        if settings.unknown_enum == UnknownEnum::Reject && !enums_hold {
            return Err(ApiError::InvalidEnumField);
        }
        let is_filter = endpoint == Endpoint::Filter;
        let invalid_start = || SearchResult::Error(INVALID_START.into());
        Ok(match question.and_then(|search| Ok((search, request.start()?))) {
            Ok((Some(search), start)) => {
                let query = QueryDigest::new(endpoint.name(version), &search, vocabulary);
                let cursor = match start.map(|start| Cursor::decode(&start, query)) {
                    None => None,
                    Some(None) => return Ok(Err(invalid_start())),
                    Some(cursor) => cursor,
                };
                let pages = cursor.map_or(0, |cursor| cursor.pages) + 1;
                let after = cursor.map(|cursor| cursor.place);
                let question = PageQuestion { search, is_filter, after };
                Ok(Self { question, query, pages })
            }
            // A question that cannot find anything has no second page (contract 11.5).
            Ok((None, Some(_))) => Err(invalid_start()),
            Ok((None, None)) => {
                let total = is_filter.then_some(0);
                Err(SearchResult::Rows { hits: Vec::new(), next: None, total })
            }
            Err(fault) => Err(SearchResult::Error(fault)),
        })
    }
}

impl Endpoint {
    fn action(self, version: Version) -> Action {
        match self {
            Self::Search => Action::Search(version),
            Self::Filter => Action::Filter(version),
        }
    }

    /// The work that an answer may take on a serving thread, in units of the meter. Searches may
    /// take less than filters, so that mapping requests, which share these threads, wait less.
    fn inline_units(self) -> u64 {
        match self {
            Self::Search => INLINE_UNITS_MAX / 4,
            Self::Filter => INLINE_UNITS_MAX,
        }
    }

    /// The endpoint's name in a cursor (contract 11.5). A search of v1 does not exist.
    fn name(self, version: Version) -> &'static str {
        match (self, version) {
            (Self::Filter, _) => "v3/filter",
            (Self::Search, Version::V3) => "v3/search",
            (Self::Search, _) => "v2/search",
        }
    }
}
