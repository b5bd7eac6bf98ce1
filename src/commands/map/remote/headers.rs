//! The figures in the headers of an answer.

use figdex_index::IdType;
use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimeParser;
use ureq::http::{HeaderMap, HeaderValue};

/// The window of a rate limit (contract 14.12).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StatedWindow {
    pub(super) limit: u32,
    pub(super) remaining: u32,
    pub(super) reset_seconds: u64,
}

/// The figures in the headers of an answer.
#[derive(Clone, Debug, Default)]
pub(super) struct Stated {
    /// The window of the rate limit; `None` if the answer does not state one.
    pub(super) window: Option<StatedWindow>,
    /// The number of identifiers that a list may have, and the number that counts as one request
    /// (contract 17.8).
    pub(super) jobs_per_list: Option<usize>,
    pub(super) jobs_per_request: Option<usize>,
    /// The idTypes that were asked for and that the server does not show (contract 23.5).
    pub(super) not_shown: Vec<IdType>,
}

impl Stated {
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let count = |name| header(headers, name).and_then(|number| usize::try_from(number).ok());
        Self {
            window: window(headers),
            jobs_per_list: count("figdex-jobs-per-list"),
            jobs_per_request: count("figdex-jobs-per-request"),
            not_shown: id_types(headers.get("figdex-not-shown")),
        }
    }
}

/// The idTypes of a header; other texts, which a server may send, are left out.
fn id_types(header: Option<&HeaderValue>) -> Vec<IdType> {
    let names = header.and_then(|names| names.to_str().ok()).unwrap_or_default();
    names.split(',').filter_map(|name| IdType::from_name(name.trim())).collect()
}

fn window(headers: &HeaderMap) -> Option<StatedWindow> {
    let whole = |name| header(headers, name).and_then(|number| u32::try_from(number).ok());
    Some(StatedWindow {
        limit: whole("ratelimit-limit")?,
        remaining: whole("ratelimit-remaining")?,
        reset_seconds: header(headers, "ratelimit-reset")?,
    })
}

fn header(headers: &HeaderMap, name: &str) -> Option<u64> {
    headers.get(name)?.to_str().ok()?.trim().parse().ok()
}

/// The seconds that the header `Retry-After` asks to wait, at least one. The header has a number or
/// a date (RFC 9110, 10.2.3). A date is compared with the header `Date` or, without one, with
/// `now`.
pub(super) fn retry_after(headers: &HeaderMap, now: Timestamp) -> Option<u64> {
    let date = |name| {
        let text = headers.get(name)?.to_str().ok()?;
        DateTimeParser::new().parse_timestamp(text.trim()).ok()
    };
    let seconds = header(headers, "retry-after").or_else(|| {
        let seconds = date("retry-after")?.as_second() - date("date").unwrap_or(now).as_second();
        Some(u64::try_from(seconds).unwrap_or(0))
    });
    seconds.map(|seconds| seconds.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Seconds, and a date by the server's clock or else by that of this machine.
    #[test]
    fn a_wait_may_be_a_date() {
        let now: Timestamp = "1994-11-06T08:49:00Z".parse().unwrap();
        let wait = |retry: &str, date: Option<&str>| {
            let mut headers = HeaderMap::new();
            headers.insert("retry-after", retry.parse().unwrap());
            date.map(|date| headers.insert("date", date.parse().unwrap()));
            retry_after(&headers, now)
        };
        const LATER: &str = "Sun, 06 Nov 1994 08:49:37 GMT";
        assert_eq!(wait("7", None), Some(7));
        assert_eq!(wait("0", None), Some(1));
        assert_eq!(wait(LATER, None), Some(37));
        assert_eq!(wait(LATER, Some("Sun, 06 Nov 1994 08:49:30 GMT")), Some(7));
        assert_eq!(wait(LATER, Some("Sun, 06 Nov 1994 09:00:00 GMT")), Some(1));
        assert_eq!(wait(LATER, Some("yesterday")), Some(37));
        assert_eq!(wait("Fri, 24 Dec 9999 23:59:59 GMT", None), Some(252_617_584_259));
        for odd in ["soon", "-1", "", "1.5", "Sun, 99 Nov 1994 08:49:37 GMT"] {
            assert_eq!(wait(odd, None), None, "{odd}");
        }
    }
}
