//! `POST /{version}/search` and `POST /{version}/filter` find rows by words and properties, a page
//! at a time (contract 8). Both find the same rows. A search gives first those that a
//! person would want first; a filter gives them in FIGI order, with the count of all.

use std::borrow::Cow;
use std::sync::Arc;

use figdex_index::{Catalogue, Hit, INLINE_UNITS_MAX, Meter, Place, Search};
use warp::Filter;
use warp::filters::BoxedFilter;
use warp::reply::Response;

use super::with;
use crate::config::{SearchEnvelope, Settings, UnknownEnum};
use crate::error::ApiError;
use crate::gate::call::{Incoming, incoming};
use crate::gate::{Action, Body};
use crate::limits::{INLINE_BODY_BYTES_MAX, PAGE_ROWS_MAX, PAGES_MAX};
use crate::state::State;
use crate::version::Version;
use crate::wire::{
    Checked, Cursor, Fault, INVALID_START, QueryDigest, SearchRequest, SearchResult, Several,
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
        answer(endpoint, version, call.body.read().await?, &state).await
    })
    .await
}

/// The answer to a body: made at once when it takes little work, else in a turn, because common
/// words match many rows.
async fn answer(
    endpoint: Endpoint,
    version: Version,
    body: Body,
    state: &Arc<State>,
) -> Result<Vec<u8>, ApiError> {
    let catalogue = state.catalogue();
    let answer = if body.len() > INLINE_BODY_BYTES_MAX {
        let shared = state.clone();
        let read_and_answer = move |meter: &Meter| {
            let settings = shared.settings();
            Question::read(endpoint, version, &body, catalogue, settings)?.answer(meter)
        };
        state.pools().answers.run_metered(read_and_answer).await??
    } else {
        let question = Question::read(endpoint, version, &body, catalogue, state.settings())?;
        drop(body);
        match question.answer(&Meter::of(endpoint.inline_units()))? {
            Some(answer) => Some(answer),
            None => {
                state.pools().answers.run_metered(move |meter| question.answer(meter)).await??
            }
        }
    };
    // In a turn it has no bound, and ends early only when the client has gone.
    answer.ok_or(ApiError::Unavailable)
}

/// A request that was read and checked, with the catalogue that answers it.
struct Question {
    endpoint: Endpoint,
    version: Version,
    /// The fault for the answer; or else the search, `None` when no row can match it, and the text
    /// of `start`, the cursor from which it continues.
    asked: Result<(Option<Search>, Option<String>), Fault>,
    envelope: SearchEnvelope,
    catalogue: Arc<Catalogue>,
}

impl Question {
    fn read(
        endpoint: Endpoint,
        version: Version,
        body: &[u8],
        catalogue: Arc<Catalogue>,
        settings: &Settings,
    ) -> Result<Self, ApiError> {
        let request = SearchRequest::parse(body, version)?;
        let several = if settings.strict_contract { Several::No } else { Several::Yes };
        let Checked { enums_hold, question } = request.check(catalogue.vocabulary(), several);
        if settings.unknown_enum == UnknownEnum::Reject && !enums_hold {
            return Err(ApiError::InvalidEnumField);
        }
        let asked = question.and_then(|search| Ok((search, request.start()?.map(Cow::into_owned))));
        Ok(Self { endpoint, version, asked, envelope: settings.search_envelope, catalogue })
    }

    /// The answer; `None` when it takes more work than the meter allows.
    fn answer(&self, meter: &Meter) -> Result<Option<Vec<u8>>, ApiError> {
        let Some(answer) = self.find(meter)? else { return Ok(None) };
        let mut out = Vec::new();
        search_result::write(&mut out, self.version, self.envelope, &self.catalogue, &answer);
        Ok(Some(out))
    }

    fn find(&self, meter: &Meter) -> Result<Option<SearchResult>, ApiError> {
        let (search, start) = match &self.asked {
            Ok((Some(search), start)) => (search, start),
            // A question that finds nothing has no second page (contract 11.5).
            Ok((None, Some(_))) => return Ok(Some(SearchResult::Error(INVALID_START.into()))),
            Ok((None, None)) => {
                let total = (self.endpoint == Endpoint::Filter).then_some(0);
                return Ok(Some(SearchResult::Rows { hits: Vec::new(), next: None, total }));
            }
            Err(fault) => return Ok(Some(SearchResult::Error(fault.clone()))),
        };
        let query =
            QueryDigest::new(self.endpoint.name(self.version), search, self.catalogue.vocabulary());
        let after = match start.as_ref().map(|start| Cursor::decode(start, query)) {
            None => None,
            Some(Some(cursor)) => Some(cursor),
            Some(None) => return Ok(Some(SearchResult::Error(INVALID_START.into()))),
        };
        let pages = after.map_or(0, |cursor| cursor.pages) + 1;
        let found = self.page(search, after.map(|cursor| cursor.place), meter);
        let found = found.map_err(|error| {
            tracing::error!(%error, request_id = %request::id(), "a search failed");
            ApiError::Internal
        })?;
        let Some((hits, next, total)) = found else { return Ok(None) };
        request::add_rows(hits.len());
        let next = next.filter(|_| pages < PAGES_MAX);
        let next = next.map(|place| Cursor { pages, place }.encode(query));
        Ok(Some(SearchResult::Rows { hits, next, total }))
    }

    fn page(
        &self,
        search: &Search,
        after: Option<Place>,
        meter: &Meter,
    ) -> figdex_index::Result<Option<Found>> {
        let catalogue = &self.catalogue;
        match self.endpoint {
            Endpoint::Search => {
                let page = catalogue.search(search, after, PAGE_ROWS_MAX, meter)?;
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
