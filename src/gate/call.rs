//! A request before the gate, as its route passes it on, and after the gate, as its endpoint gets
//! it.

use std::convert::Infallible;
use std::fmt::Display;
use std::net::Ipv4Addr;
use std::sync::Arc;

use figdex_index::Visible;
use tokio::time::Instant;
use warp::Filter;
use warp::filters::BoxedFilter;
use warp::http::{HeaderMap, Method};

use super::body::{BodyStream, UnreadBody, boxed};
use crate::callers::error::{ApiError, OpenError};
use crate::callers::limits::standing::Standing;
use crate::callers::limits::{CANDIDATE_JOB_PRICE, CANDIDATE_JOBS_MAX, Limiter, Span};
use crate::callers::version::Version;
use crate::callers::{Caller, Peer};

/// The head of a request that has found its route.
pub(crate) struct Head {
    pub(super) peer: Peer,
    pub(crate) method: Method,
    pub(super) headers: HeaderMap,
}

impl Head {
    /// The caller, without looking at its key.
    pub(crate) fn caller(&self, trust_proxy: bool) -> Caller {
        Caller::without_key(self.peer, &self.headers, trust_proxy)
    }
}

/// A request that has found its route: its head and its unread body.
pub(crate) struct Incoming {
    pub(super) head: Head,
    pub(super) body: BodyStream,
}

/// A request that passed all checks of the gate, as its endpoint gets it.
pub(crate) struct Call {
    pub(crate) admitted: Admitted,
    pub(crate) body: UnreadBody,
}

/// The caller that the gate admitted, with the limits for its request.
pub(crate) struct Admitted {
    /// The most mapping jobs of the request. This many jobs of a list count as one request.
    pub(crate) jobs_max: usize,
    /// The most jobs of a list.
    pub(crate) list_jobs_max: usize,
    pub(crate) caller: Caller,
    /// The idTypes whose values the caller may see (contract 23).
    pub(crate) visible: Visible,
    /// The window that counts the request, and the version that the window belongs to.
    pub(super) counted_by: (Version, Span),
    pub(super) limiter: Option<Arc<Limiter>>,
}

impl Admitted {
    /// Counts the jobs of this request, if its version has a window for jobs (contract 14.9,
    /// 14.11). Jobs of a request that counts in the page's window are not counted.
    ///
    /// # Errors
    /// [`ApiError::RateLimitReached`] when the window has room for fewer jobs. The request itself
    /// stays counted.
    pub(crate) fn charge_jobs(&self, jobs: usize) -> Result<(), ApiError> {
        let (version, span) = self.counted_by;
        let Some(limiter) = self.limiter.as_ref().filter(|_| span != Span::Page) else {
            return Ok(());
        };
        let jobs = u32::try_from(jobs).unwrap_or(u32::MAX);
        limiter
            .charge_jobs(self.caller, version, jobs, Instant::now().into_std())
            .map_err(ApiError::RateLimitReached)
    }
}

/// The jobs that a list may have, and those that count as one request (contract 17.8, 17.15).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct JobsOfList {
    /// The most jobs of a list. No list may have more jobs than a whole window has room for.
    pub(crate) per_list: usize,
    /// The number of jobs that count as one request; `None` without rate limits.
    pub(super) per_request: Option<usize>,
}

impl Admitted {
    /// The jobs of a list, with or without candidates for its names.
    pub(crate) fn list_jobs(&self, has_candidates: bool) -> JobsOfList {
        let (most, per_request) = match has_candidates {
            true => {
                let per_request = (self.jobs_max / CANDIDATE_JOB_PRICE).max(1);
                (self.list_jobs_max.min(CANDIDATE_JOBS_MAX), per_request)
            }
            false => (self.list_jobs_max, self.jobs_max),
        };
        let (version, span) = self.counted_by;
        let limiter = self.limiter.as_ref();
        let window = limiter.and_then(|limiter| limiter.whole_window(self.caller, version, span));
        let in_window = window.map(|requests| (requests as usize).saturating_mul(per_request));
        JobsOfList {
            per_list: in_window.map_or(most, |jobs| jobs.min(most)),
            per_request: limiter.map(|_| per_request),
        }
    }

    /// Counts a list: one request for every [`JobsOfList::per_request`] jobs. The first of these
    /// requests was counted when the request was admitted (contract 17.8). Returns the state of the
    /// window if the list counts as more than one request.
    ///
    /// # Errors
    /// - [`OpenError::TooLarge`] when it has too many jobs, or a whole window has no room for it.
    /// - [`ApiError::RateLimitReached`] when the window has no room for it now.
    pub(crate) fn charge_list(
        &self,
        jobs: usize,
        has_candidates: bool,
    ) -> Result<Option<Standing>, OpenError> {
        let JobsOfList { per_list, per_request } = self.list_jobs(has_candidates);
        if jobs > per_list {
            return Err(too_many_jobs(jobs, per_list));
        }
        let (Some(limiter), Some(per_request)) = (&self.limiter, per_request) else {
            return Ok(None);
        };
        let (version, span) = self.counted_by;
        let requests = jobs.div_ceil(per_request);
        let others = u32::try_from(requests.saturating_sub(1)).unwrap_or(u32::MAX);
        let now = Instant::now().into_std();
        limiter
            .admit_several(self.caller, version, span, others, now)
            .map_err(|standing| ApiError::RateLimitReached(standing).into())
    }
}

/// The error for a list with too many jobs. `jobs` gives their number.
pub(crate) fn too_many_jobs(jobs: impl Display, fitting: usize) -> OpenError {
    let text = format!(
        "This request has {jobs} jobs; at most {fitting} are allowed. Send the list in parts."
    );
    OpenError::TooLarge { text, jobs_per_list: fitting }
}

/// Extracts the head of a request. A request without a socket, as in tests, counts as one from this
/// machine.
pub(crate) fn head()
-> impl Filter<Extract = (Head,), Error = Infallible> + Clone + Send + Sync + 'static {
    warp::ext::optional().and(warp::method()).and(warp::header::headers_cloned()).map(
        |peer: Option<Peer>, method, headers| {
            let peer = peer.unwrap_or(Peer::Address(Ipv4Addr::LOCALHOST.into()));
            Head { peer, method, headers }
        },
    )
}

/// Extracts a request for an endpoint of the contract.
pub(crate) fn incoming() -> BoxedFilter<(Incoming,)> {
    head().and(warp::body::stream()).map(|head, body| Incoming { head, body: boxed(body) }).boxed()
}
