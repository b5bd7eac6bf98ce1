//! What search and filter have in common: a question, a cursor, a page.

use std::borrow::Cow;
use std::sync::Arc;

use figdex_index::{Catalogue, Hit, INLINE_UNITS_MAX, Meter, Place, Search};
use warp::Filter;
use warp::filters::BoxedFilter;

use crate::config::{Settings, UnknownEnum};
use crate::error::ApiError;
use crate::gate::call::Body;
use crate::limits::{INLINE_BODY_BYTES_MAX, PAGE_ROWS_MAX, PAGES_MAX};
use crate::state::State;
use crate::version::Version;
use crate::wire::cursor::{Cursor, QueryDigest};
use crate::wire::{Checked, Fault, INVALID_START, PageAnswer, SearchRequest, Several};
use crate::{request, wire};

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

/// The answer to a body: at once when it takes little, and else when its turn comes,
/// for common words match many rows.
pub(super) async fn answer(
    endpoint: Endpoint,
    version: Version,
    body: Body,
    state: &Arc<State>,
) -> Result<Vec<u8>, ApiError> {
    let catalogue = state.catalogue();
    let settings = state.settings();
    if body.len() > INLINE_BODY_BYTES_MAX {
        let settings = settings.clone();
        let answer = move |meter: &Meter| {
            let question = Question::read(endpoint, version, &body, catalogue, &settings)?;
            question.answer(&settings, meter)
        };
        return state.looking_up(answer).await??.ok_or(ApiError::Unavailable);
    }
    let question = Question::read(endpoint, version, &body, catalogue, settings)?;
    drop(body);
    if let Some(answer) = question.answer(settings, &Meter::of(endpoint.inline_units()))? {
        return Ok(answer);
    }
    let settings = settings.clone();
    let answer = state.looking_up(move |meter| question.answer(&settings, meter)).await??;
    // Nothing but the caller's leaving ends it before.
    answer.ok_or(ApiError::Unavailable)
}

/// A request that was read and checked, with the catalogue that answers it.
struct Question {
    endpoint: Endpoint,
    version: Version,
    /// The search, unless nothing can match it, and the cursor that it goes on from; or
    /// the fault for the answer.
    asked: Result<(Option<Search>, Option<String>), Fault>,
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
        Ok(Self { endpoint, version, asked, catalogue })
    }

    /// The answer; `None` when it takes more than the meter allows.
    fn answer(&self, settings: &Settings, meter: &Meter) -> Result<Option<Vec<u8>>, ApiError> {
        let Some(answer) = self.find(meter)? else { return Ok(None) };
        let mut out = Vec::new();
        wire::page(&mut out, self.version, settings.search_envelope, &self.catalogue, &answer);
        Ok(Some(out))
    }

    fn find(&self, meter: &Meter) -> Result<Option<PageAnswer>, ApiError> {
        let (search, start) = match &self.asked {
            Ok((Some(search), start)) => (search, start),
            // Of what finds nothing there is no second page.
            Ok((None, Some(_))) => return Ok(Some(PageAnswer::Error(INVALID_START.into()))),
            Ok((None, None)) => {
                let total = (self.endpoint == Endpoint::Filter).then_some(0);
                return Ok(Some(PageAnswer::Rows { hits: Vec::new(), next: None, total }));
            }
            Err(fault) => return Ok(Some(PageAnswer::Error(fault.clone()))),
        };
        let query =
            QueryDigest::new(self.endpoint.name(self.version), search, self.catalogue.vocabulary());
        let after = match start.as_ref().map(|start| Cursor::decode(start, query)) {
            None => None,
            Some(Some(cursor)) => Some(cursor),
            Some(None) => return Ok(Some(PageAnswer::Error(INVALID_START.into()))),
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
        Ok(Some(PageAnswer::Rows { hits, next, total }))
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
                Ok(page.map(|page| {
                    let next = page.next.map(|figi| Place { sort_key: 0, figi });
                    (page.hits, next, Some(total))
                }))
            }
        }
    }
}

/// A page's hits, the place of its last row if more follow, and the count that
/// filter tells.
type Found = (Vec<Hit>, Option<Place>, Option<u64>);

impl Endpoint {
    /// The work of an answer that is looked up on a thread that serves everyone. Searches
    /// have the least of it: they have turns, and mapping, for which others wait, has none.
    fn inline_units(self) -> u64 {
        match self {
            Self::Search => INLINE_UNITS_MAX / 4,
            Self::Filter => INLINE_UNITS_MAX,
        }
    }

    /// What a cursor is bound to, besides its query.
    fn name(self, version: Version) -> &'static str {
        match (self, version) {
            (Self::Filter, _) => "v3/filter",
            (Self::Search, Version::V3) => "v3/search",
            (Self::Search, _) => "v2/search",
        }
    }
}
