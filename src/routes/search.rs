//! `POST /{version}/search` and `POST /{version}/filter` find rows by words and properties, a page
//! at a time (contract 8). Both find the same rows. A search gives first those that a
//! person would want first; a filter gives them in FIGI order, with the count of all.

use std::sync::Arc;

use figdex_index::Fetched;
use figdex_index::{
    Catalogue, Hit, INLINE_UNITS_MAX, Meter, Place, RowSource, Search, TakesMore, Vocabulary,
};
use figdex_opensearch::Generation;
use warp::Filter;
use warp::filters::BoxedFilter;
use warp::reply::Response;

use super::unanswered;
use super::with;
use crate::callers::Caller;
use crate::callers::error::ApiError;
use crate::callers::limits::{INLINE_BODY_BYTES_MAX, PAGE_ROWS_MAX, PAGES_MAX, units_of_body};
use crate::callers::version::Version;
use crate::config::{SearchEnvelope, Settings, UnknownEnum};
use crate::engine::Engine;
use crate::gate::call::{Incoming, incoming};
use crate::gate::{Action, Body};
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

/// The path of an endpoint, in the versions that have it.
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
        let caller = call.admitted.caller;
        answer(caller, endpoint, version, call.body.read().await?, &state).await
    })
    .await
}

/// The answer to a body: made at once when it takes little work, else in a turn, because common
/// words match many rows.
async fn answer(
    caller: Caller,
    endpoint: Endpoint,
    version: Version,
    body: Body,
    state: &Arc<State>,
) -> Result<Vec<u8>, ApiError> {
    let catalogue = match state.engine() {
        Engine::Local(catalogue) => catalogue,
        Engine::OpenSearch(generation) => {
            let (is_small, shared, cluster) =
                (body.len() <= INLINE_BODY_BYTES_MAX, state.clone(), generation.clone());
            let read = move || {
                let (vocabulary, settings) = (cluster.vocabulary(), shared.settings());
                Question::read(endpoint, version, &body, vocabulary, settings)
            };
            let question =
                if is_small { read()? } else { state.pools().answers.run(caller, read).await?? };
            return question.answer_of(&generation).await;
        }
    };
    let answer = if body.len() > INLINE_BODY_BYTES_MAX {
        let shared = state.clone();
        let read_and_answer = move |meter: &Meter| {
            meter.charge(units_of_body(&body)).map_err(|TakesMore| ApiError::Unavailable)?;
            let (vocabulary, settings) = (catalogue.vocabulary(), shared.settings());
            let question = Question::read(endpoint, version, &body, vocabulary, settings)?;
            question.answer(&catalogue, meter)
        };
        state.pools().answers.run_metered(caller, read_and_answer).await??
    } else {
        let (vocabulary, settings) = (catalogue.vocabulary(), state.settings());
        let question = Question::read(endpoint, version, &body, vocabulary, settings)?;
        drop(body);
        match question.answer(&catalogue, &Meter::of(endpoint.inline_units()))? {
            Some(answer) => Some(answer),
            None => {
                let answer = move |meter: &Meter| question.answer(&catalogue, meter);
                state.pools().answers.run_metered(caller, answer).await??
            }
        }
    };
    // In a turn it has no bound, and ends early only when the client has gone.
    answer.ok_or(ApiError::Unavailable)
}

/// A request that was read and checked.
struct Question {
    endpoint: Endpoint,
    version: Version,
    /// The page that is asked for; or else the result without asking.
    asked: Result<Asked, SearchResult>,
    envelope: SearchEnvelope,
}

/// A page that is asked for.
struct Asked {
    search: Search,
    query: QueryDigest,
    /// The place after which it begins.
    after: Option<Place>,
    /// Its number, from 1.
    pages: u8,
}

impl Question {
    fn read(
        endpoint: Endpoint,
        version: Version,
        body: &[u8],
        vocabulary: &Vocabulary,
        settings: &Settings,
    ) -> Result<Self, ApiError> {
        let request = SearchRequest::parse(body, version)?;
        let several = if settings.strict_contract { Several::No } else { Several::Yes };
        let Checked { enums_hold, question } = request.check(vocabulary, several);
        if settings.unknown_enum == UnknownEnum::Reject && !enums_hold {
            return Err(ApiError::InvalidEnumField);
        }
        let asked = match question.and_then(|search| Ok((search, request.start()?))) {
            Ok((Some(search), start)) => {
                Asked::new(endpoint.name(version), search, start.as_deref(), vocabulary)
            }
            // A question that finds nothing has no second page (contract 11.5).
            Ok((None, Some(_))) => Err(SearchResult::Error(INVALID_START.into())),
            Ok((None, None)) => {
                let total = (endpoint == Endpoint::Filter).then_some(0);
                Err(SearchResult::Rows { hits: Vec::new(), next: None, total })
            }
            Err(fault) => Err(SearchResult::Error(fault)),
        };
        Ok(Self { endpoint, version, asked, envelope: settings.search_envelope })
    }

    /// The answer of a catalogue; `None` when it takes more work than the meter allows.
    fn answer(&self, catalogue: &Catalogue, meter: &Meter) -> Result<Option<Vec<u8>>, ApiError> {
        let asked = match &self.asked {
            Ok(asked) => asked,
            Err(result) => return Ok(Some(self.written(catalogue, result))),
        };
        let found = self.page(asked, catalogue, meter).map_err(|error| {
            tracing::error!(%error, request_id = %request::id(), "a search failed");
            ApiError::Internal
        })?;
        Ok(found.map(|found| self.written(catalogue, &asked.result(found))))
    }

    fn page(
        &self,
        Asked { search, after, .. }: &Asked,
        catalogue: &Catalogue,
        meter: &Meter,
    ) -> figdex_index::Result<Option<Found>> {
        match self.endpoint {
            Endpoint::Search => {
                let page = catalogue.search(search, *after, PAGE_ROWS_MAX, meter)?;
                Ok(page.map(|page| (page.hits, page.next, None)))
            }
            Endpoint::Filter => {
                let after = after.map(|place| place.figi);
                let Some(total) = catalogue.count(search, meter)? else { return Ok(None) };
                let page = catalogue.filter(search, after, PAGE_ROWS_MAX, meter)?;
                Ok(page.map(|page| (page.hits, page.next.map(Place::of_figi), Some(total))))
            }
        }
    }

    /// The answer of a cluster.
    async fn answer_of(&self, generation: &Generation) -> Result<Vec<u8>, ApiError> {
        let asked = match &self.asked {
            Ok(asked) => asked,
            Err(result) => return Ok(self.written(&Fetched::default(), result)),
        };
        let (search, id) = (&asked.search, request::id());
        let id = Some(id.as_str());
        let found = match self.endpoint {
            Endpoint::Search => {
                let found = generation.search(search, asked.after, PAGE_ROWS_MAX, id).await;
                found.map(|(rows, page)| (rows, (page.hits, page.next, None)))
            }
            Endpoint::Filter => {
                let after = asked.after.map(|place| place.figi);
                let found = generation.filter(search, after, PAGE_ROWS_MAX, id).await;
                found.map(|(rows, page, total)| {
                    (rows, (page.hits, page.next.map(Place::of_figi), Some(total)))
                })
            }
        };
        let (rows, found) = found.map_err(unanswered)?;
        Ok(self.written(&rows, &asked.result(found)))
    }

    fn written(&self, rows: &impl RowSource, result: &SearchResult) -> Vec<u8> {
        let mut out = Vec::new();
        search_result::write(&mut out, self.version, self.envelope, rows, result);
        out
    }
}

impl Asked {
    /// The page that a request asks for; or else the result that says why not.
    fn new(
        endpoint: &str,
        search: Search,
        start: Option<&str>,
        vocabulary: &Vocabulary,
    ) -> Result<Self, SearchResult> {
        let query = QueryDigest::new(endpoint, &search, vocabulary);
        let after = match start.map(|start| Cursor::decode(start, query)) {
            None => None,
            Some(Some(cursor)) => Some(cursor),
            Some(None) => return Err(SearchResult::Error(INVALID_START.into())),
        };
        let pages = after.map_or(0, |cursor| cursor.pages) + 1;
        Ok(Self { search, query, after: after.map(|cursor| cursor.place), pages })
    }

    fn result(&self, (hits, next, total): Found) -> SearchResult {
        request::add_rows(hits.len());
        let next = next.filter(|_| self.pages < PAGES_MAX);
        let next = next.map(|place| Cursor { pages: self.pages, place }.encode(self.query));
        SearchResult::Rows { hits, next, total }
    }
}

/// A page's hits, the place of its last row if more follow, and a filter's count of all.
type Found = (Vec<Hit>, Option<Place>, Option<u64>);

impl Endpoint {
    fn action(self, version: Version) -> Action {
        match self {
            Self::Search => Action::Search(version),
            Self::Filter => Action::Filter(version),
        }
    }

    /// The work that an answer may take on a serving thread, in units of the meter. A search may
    /// take less, so that mapping requests, which share these threads, wait less.
    fn inline_units(self) -> u64 {
        match self {
            Self::Search => INLINE_UNITS_MAX / 4,
            Self::Filter => INLINE_UNITS_MAX,
        }
    }

    /// The endpoint as a cursor names it (contract 11.5). A search of v1 does not exist.
    fn name(self, version: Version) -> &'static str {
        match (self, version) {
            (Self::Filter, _) => "v3/filter",
            (Self::Search, Version::V3) => "v3/search",
            (Self::Search, _) => "v2/search",
        }
    }
}
