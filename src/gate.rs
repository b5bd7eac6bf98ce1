//! What a call passes before its endpoint sees it, in the decided order: method,
//! Accept, Content-Type. (The key stands after the method and the rate after the
//! Content-Type, once there are keys and rates.)

use std::panic::AssertUnwindSafe;

use futures_util::FutureExt as _;
use warp::http::{HeaderMap, HeaderValue, Method, Response, header};
use warp::reply::Response as Reply;

use crate::call::Call;
use crate::error::ApiError;
use crate::limits::JOBS_MAX;
use crate::state::State;
use crate::version::Version;

/// What a call asks for: an endpoint of the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Mapping(Version),
    Values(Version),
    Search(Version),
    Filter(Version),
}

impl Action {
    /// The endpoint's only method.
    fn method(self) -> Method {
        match self {
            Self::Values(_) => Method::GET,
            Self::Mapping(_) | Self::Search(_) | Self::Filter(_) => Method::POST,
        }
    }
}

/// What the gate found out about who calls.
pub(crate) struct Caller {
    /// The mapping jobs that one request of this caller may carry.
    pub(crate) jobs_max: usize,
}

/// Lets a call through to `endpoint`, whose answer is JSON. Whatever happens, the
/// caller gets an answer: a panic is a 500.
pub(crate) async fn pass(
    _state: &State,
    call: Call,
    action: Action,
    endpoint: impl AsyncFnOnce(Call, Caller) -> Result<Vec<u8>, ApiError>,
) -> Reply {
    let checked = async {
        let method = action.method();
        if call.method != method {
            let allow = if method == Method::GET { "GET" } else { "POST" };
            return Err(ApiError::InvalidMethod { allow });
        }
        if !accepts_json(&call.headers) {
            return Err(ApiError::UnsupportedAccept);
        }
        if method == Method::POST && !is_json(&call.headers) {
            return Err(ApiError::InvalidContentType);
        }
        endpoint(call, Caller { jobs_max: JOBS_MAX }).await
    };
    match AssertUnwindSafe(checked).catch_unwind().await {
        Ok(Ok(json)) => {
            let mut reply = Response::new(json.into());
            let kind = HeaderValue::from_static("application/json; charset=utf-8");
            reply.headers_mut().insert(header::CONTENT_TYPE, kind);
            reply
        }
        Ok(Err(error)) => error.into(),
        Err(_panic) => {
            tracing::error!("a request made its handler panic");
            ApiError::Internal.into()
        }
    }
}

/// Whether the caller takes JSON (RFC 9110, 12.5.1): the most specific range that
/// covers a JSON type decides, and a quality of 0 refuses.
fn accepts_json(headers: &HeaderMap) -> bool {
    let mut best: Option<(u8, bool)> = None;
    let mut any = false;
    for value in headers.get_all(header::ACCEPT) {
        let Ok(value) = value.to_str() else { continue };
        for range in value.split(',').map(str::trim).filter(|range| !range.is_empty()) {
            any = true;
            let mut parts = range.split(';').map(str::trim);
            let kind = parts.next().unwrap_or_default().to_ascii_lowercase();
            let specific = match kind.as_str() {
                "application/json" | "text/json" => 2,
                "application/*" | "text/*" => 1,
                "*/*" => 0,
                _ => continue,
            };
            let wanted = parts.all(|parameter| {
                let quality = parameter.strip_prefix("q=").or(parameter.strip_prefix("Q="));
                quality.is_none_or(|quality| quality.parse().is_ok_and(|q: f32| q > 0.0))
            });
            // Of two ranges that are equally specific, one that is wanted is enough.
            best = best.max(Some((specific, wanted)));
        }
    }
    !any || best.is_some_and(|(_, wanted)| wanted)
}

/// Whether the body is declared as JSON, in a charset that is UTF-8 or part of it.
fn is_json(headers: &HeaderMap) -> bool {
    let Some(value) = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok())
    else {
        return false;
    };
    let mut parts = value.split(';').map(|part| part.trim().to_ascii_lowercase());
    let kind = parts.next().unwrap_or_default();
    let is_known_charset = |parameter: String| match parameter.split_once('=') {
        Some((name, charset)) if name.trim() == "charset" => {
            matches!(charset.trim().trim_matches('"'), "utf-8" | "us-ascii")
        }
        _ => true,
    };
    matches!(kind.as_str(), "application/json" | "text/json") && parts.all(is_known_charset)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: header::HeaderName, value: &str) -> HeaderMap {
        HeaderMap::from_iter([(name, HeaderValue::from_str(value).unwrap())])
    }

    /// Decisions, "Accept".
    #[test]
    fn accept() {
        assert!(accepts_json(&HeaderMap::new()));
        for value in [
            "",
            "*/*",
            "application/*",
            "Application/JSON",
            "text/*",
            "text/json",
            "text/html, */*;q=0.1",
            "application/json;q=0.5",
            "text/html, application/json",
        ] {
            assert!(accepts_json(&headers(header::ACCEPT, value)), "{value}");
        }
        for value in [
            "text/html",
            "application/xml",
            "*/*;q=0",
            "application/json;q=0, */*",
            "application/json;q=0.0",
        ] {
            assert!(!accepts_json(&headers(header::ACCEPT, value)), "{value}");
        }
    }

    /// Decisions, "Content-Type".
    #[test]
    fn content_type() {
        assert!(!is_json(&HeaderMap::new()));
        for value in [
            "application/json",
            "Application/json",
            "text/json",
            "application/json; charset=utf-8",
            "text/json;charset=\"UTF-8\"",
            "application/json; charset=us-ascii",
            "application/json; profile=x",
        ] {
            assert!(is_json(&headers(header::CONTENT_TYPE, value)), "{value}");
        }
        for value in [
            "text/plain",
            "application/json; charset=latin-1",
            "null",
            "",
            "application/x-www-form-urlencoded",
        ] {
            assert!(!is_json(&headers(header::CONTENT_TYPE, value)), "{value}");
        }
    }
}
