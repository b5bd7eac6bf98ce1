//! The state of a caller's window, and the headers that report it.

use warp::http::{HeaderMap, HeaderValue};

/// The state of a caller's window, as the rate-limit headers report it (contract 14.12).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// `ratelimit-limit`
    pub limit: u32,
    /// `ratelimit-remaining`
    pub remaining: u32,
    /// `ratelimit-reset`: the seconds until the window ends. They are rounded up, so that a caller
    /// that waits this long is admitted.
    pub reset_seconds: u64,
    /// The `w` of `ratelimit-policy`.
    pub window_seconds: u64,
}

impl Standing {
    /// Adds the four headers of contract 14.12.
    pub(crate) fn add_to(&self, headers: &mut HeaderMap) {
        let Self { limit, remaining, reset_seconds, window_seconds } = *self;
        let policy = HeaderValue::try_from(format!("{limit};w={window_seconds}"));
        headers.insert("ratelimit-limit", limit.into());
        headers.insert("ratelimit-remaining", remaining.into());
        headers.insert("ratelimit-reset", reset_seconds.into());
        headers.insert("ratelimit-policy", policy.expect("digits and signs make a header"));
    }
}
