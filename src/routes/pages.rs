//! What search and filter have in common: a question, a cursor, a page.

use std::borrow::Cow;
use std::sync::Arc;

use figdex_index::{Catalogue, Effort, Hit, Place, Search};
use warp::Filter;
use warp::filters::BoxedFilter;

use crate::call::Body;
use crate::config::{Settings, UnknownEnum};
use crate::cursor::{Cursor, QueryDigest};
use crate::error::ApiError;
use crate::limits::{INLINE_BODY_BYTES_MAX, PAGE_ROWS_MAX, PAGES_MAX};
use crate::request;
use crate::state::State;
use crate::version::Version;
use crate::wire::{self, Checked, Fault, INVALID_START, PageAnswer, SearchRequest, Several};

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
        let answer = move || {
            let question = Question::read(endpoint, version, &body, catalogue, &settings)?;
            question.answer(&settings, Effort::Any)
        };
        let answer = state.blocking(answer).await??;
        return answer.ok_or_else(|| unreachable!("any effort is allowed"));
    }
    let question = Question::read(endpoint, version, &body, catalogue, settings)?;
    drop(body);
    if let Some(answer) = question.answer(settings, Effort::Little)? {
        return Ok(answer);
    }
    let settings = settings.clone();
    let answer = state.blocking(move || question.answer(&settings, Effort::Any)).await??;
    answer.ok_or_else(|| unreachable!("any effort is allowed"))
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

    /// The answer; `None` when it takes more than `effort`.
    fn answer(&self, settings: &Settings, effort: Effort) -> Result<Option<Vec<u8>>, ApiError> {
        let Some(answer) = self.find(effort)? else { return Ok(None) };
        let mut out = Vec::new();
        wire::page(&mut out, self.version, settings.search_envelope, &self.catalogue, &answer);
        Ok(Some(out))
    }

    fn find(&self, effort: Effort) -> Result<Option<PageAnswer>, ApiError> {
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
        let found = self.page(search, after.map(|cursor| cursor.place), effort);
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
        effort: Effort,
    ) -> figdex_index::Result<Option<Found>> {
        let catalogue = &self.catalogue;
        match self.endpoint {
            Endpoint::Search => {
                let page = catalogue.search(search, after, PAGE_ROWS_MAX, effort)?;
                Ok(page.map(|page| (page.hits, page.next, None)))
            }
            Endpoint::Filter => {
                let after = after.map(|place| place.figi);
                let Some(total) = catalogue.count(search, effort)? else { return Ok(None) };
                let page = catalogue.filter(search, after, PAGE_ROWS_MAX, effort)?;
                Ok(page.map(|page| {
                    let next = page.next.map(|figi| Place { standing: 0, figi });
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
    /// What a cursor is bound to, besides its query.
    fn name(self, version: Version) -> &'static str {
        match (self, version) {
            (Self::Filter, _) => "v3/filter",
            (Self::Search, Version::V3) => "v3/search",
            (Self::Search, _) => "v2/search",
        }
    }
}
