//! What search and filter have in common: a question, a cursor, a page.

use std::sync::Arc;

use figdex_index::{Catalogue, Place, Search};
use warp::Filter;
use warp::filters::BoxedFilter;

use crate::config::{Settings, UnknownEnum};
use crate::cursor::{Cursor, QueryDigest};
use crate::error::ApiError;
use crate::limits::{PAGE_ROWS_MAX, PAGES_MAX};
use crate::state::State;
use crate::version::Version;
use crate::wire::{self, INVALID_START, PageAnswer, SearchRequest};

/// Which of the two endpoints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Endpoint {
    Search,
    Filter,
}

/// The version of a path whose endpoint it has; the others have no such path.
pub(super) fn version(has: fn(Version) -> bool) -> BoxedFilter<(Version,)> {
    let check = move |version: Version| async move {
        if has(version) { Ok(version) } else { Err(warp::reject::not_found()) }
    };
    warp::path::param().and_then(check).boxed()
}

/// The answer to a body. It is heavy: common words match many rows.
pub(super) async fn answer(
    endpoint: Endpoint,
    version: Version,
    body: Vec<u8>,
    state: &Arc<State>,
) -> Result<Vec<u8>, ApiError> {
    let (catalogue, settings) = (state.catalogue(), state.settings().clone());
    state.blocking(move || write(endpoint, version, &body, &settings, &catalogue)).await?
}

fn write(
    endpoint: Endpoint,
    version: Version,
    body: &[u8],
    settings: &Settings,
    catalogue: &Catalogue,
) -> Result<Vec<u8>, ApiError> {
    let request = SearchRequest::parse(body, version)?;
    let vocabulary = catalogue.vocabulary();
    if settings.unknown_enum == UnknownEnum::Reject && !request.enum_fields_hold(vocabulary) {
        return Err(ApiError::InvalidEnumField);
    }
    let answer = find(endpoint, version, &request, catalogue)?;
    let mut out = Vec::with_capacity(256 * PAGE_ROWS_MAX);
    wire::page(&mut out, version, settings.search_envelope, catalogue, &answer);
    Ok(out)
}

fn find(
    endpoint: Endpoint,
    version: Version,
    request: &SearchRequest<'_>,
    catalogue: &Catalogue,
) -> Result<PageAnswer, ApiError> {
    let checked = request.check(catalogue.vocabulary());
    let (search, start) = match checked.and_then(|search| Ok((search, request.start()?))) {
        Ok((Some(search), start)) => (search, start),
        // Of what finds nothing there is no second page.
        Ok((None, Some(_))) => return Ok(PageAnswer::Error(INVALID_START.into())),
        Ok((None, None)) => {
            let total = (endpoint == Endpoint::Filter).then_some(0);
            return Ok(PageAnswer::Rows { hits: Vec::new(), next: None, total });
        }
        Err(fault) => return Ok(PageAnswer::Error(fault)),
    };
    let query = QueryDigest::new(endpoint.name(version), &search, catalogue.vocabulary());
    let after = match start.map(|start| Cursor::decode(&start, query)) {
        None => None,
        Some(Some(cursor)) => Some(cursor),
        Some(None) => return Ok(PageAnswer::Error(INVALID_START.into())),
    };
    let pages = after.map_or(0, |cursor| cursor.pages) + 1;
    let (hits, next, total) = page(endpoint, &search, after.map(|cursor| cursor.place), catalogue)
        .map_err(|error| {
            tracing::error!(%error, "a search failed");
            ApiError::Internal
        })?;
    let next = next.filter(|_| pages < PAGES_MAX);
    let next = next.map(|place| Cursor { pages, place }.encode(query));
    Ok(PageAnswer::Rows { hits, next, total })
}

/// A page's hits, the place of its last row if more follow, and the count that
/// filter tells.
type Found = (Vec<figdex_index::Hit>, Option<Place>, Option<u64>);

fn page(
    endpoint: Endpoint,
    search: &Search,
    after: Option<Place>,
    catalogue: &Catalogue,
) -> figdex_index::Result<Found> {
    match endpoint {
        Endpoint::Search => {
            let page = catalogue.search(search, after, PAGE_ROWS_MAX)?;
            Ok((page.hits, page.next, None))
        }
        Endpoint::Filter => {
            let page = catalogue.filter(search, after.map(|place| place.figi), PAGE_ROWS_MAX)?;
            let next = page.next.map(|figi| Place { standing: 0, figi });
            Ok((page.hits, next, Some(catalogue.count(search)?)))
        }
    }
}

impl Endpoint {
    /// What a cursor is bound to, besides its query.
    fn name(self, version: Version) -> &'static str {
        match (self, version) {
            (Self::Filter, _) => "v3/filter",
            (Self::Search, Version::V3) => "v3/search",
            (Self::Search, _) => "v2/search",
        }
    }
}
