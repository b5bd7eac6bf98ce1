//! Where a caller stands in a window, and the headers that say so.

use warp::http::{HeaderMap, HeaderValue};

/// Where a caller stands in a window: what the rate-limit headers say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// `ratelimit-limit`
    pub limit: u32,
    /// `ratelimit-remaining`
    pub remaining: u32,
    /// `ratelimit-reset`: seconds, rounded up, so that who waits them is admitted.
    pub reset_seconds: u64,
    /// The `w` of `ratelimit-policy`.
    pub window_seconds: u64,
}

impl Standing {
    /// Writes the headers of "Rate-limit headers", and the policy beside them.
    pub(crate) fn stamp(&self, headers: &mut HeaderMap) {
        let Self { limit, remaining, reset_seconds, window_seconds } = *self;
        let policy = HeaderValue::try_from(format!("{limit};w={window_seconds}"));
        headers.insert("ratelimit-limit", limit.into());
        headers.insert("ratelimit-remaining", remaining.into());
        headers.insert("ratelimit-reset", reset_seconds.into());
        headers.insert("ratelimit-policy", policy.expect("digits and signs make a header"));
    }
}
