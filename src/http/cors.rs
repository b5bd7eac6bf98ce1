//! Cross-origin requests: the web pages that may call this server from a browser, `--cors ORIGIN`
//! (contract 15). Without the flag, no answer has cross-origin headers.

use std::fmt;
use std::str::FromStr;

use warp::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use warp::reply::Response;

/// The time for which a browser may remember the answer to a preflight, in seconds. Chromium
/// remembers it for two hours at most.
const MAX_AGE_SECONDS: HeaderValue = HeaderValue::from_static("7200");

/// The request headers that a web page may send.
const REQUEST_HEADERS: HeaderValue = HeaderValue::from_static(
    "content-type, accept, x-service-apikey, x-openfigi-apikey, x-request-id",
);

/// The response headers that a web page may read.
const RESPONSE_HEADERS: HeaderValue = HeaderValue::from_static(
    "ratelimit-limit, ratelimit-remaining, ratelimit-reset, ratelimit-policy, retry-after, \
     x-request-id, figdex-generation, figdex-jobs-per-list, figdex-jobs-per-request, \
     figdex-rows, figdex-unknown-values, figdex-token, figdex-cursor, figdex-not-shown",
);

/// The allowed origins.
#[derive(Clone, Debug, Default)]
pub struct Cors(Vec<Origin>);

/// A value of `--cors`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// All origins, `*`.
    Any,
    /// One origin, `scheme://host[:port]`, as a browser sends it.
    One(HeaderValue),
}

impl FromStr for Origin {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "*" {
            return Ok(Self::Any);
        }
        // Origins are compared byte for byte. A spelling that no browser sends would never match.
        let is_origin = text.parse::<Uri>().is_ok_and(|uri| {
            let whole = uri.scheme_str().zip(uri.authority());
            whole.is_some_and(|(scheme, authority)| {
                text == format!("{scheme}://{authority}").to_ascii_lowercase()
                    && !authority.as_str().contains('@')
            })
        });
        let value = HeaderValue::from_str(text).ok().filter(|_| is_origin);
        value.map(Self::One).ok_or_else(|| {
            format!(
                "invalid origin `{text}`: expected one such as `https://app.example.com`, or `*`"
            )
        })
    }
}

/// Writes the value of `--cors`.
impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("*"),
            // The value was made from a text, so nothing is lost.
            Self::One(value) => f.write_str(&String::from_utf8_lossy(value.as_bytes())),
        }
    }
}

impl Cors {
    /// The allowed origins; empty without `--cors`.
    pub fn origins(&self) -> &[Origin] {
        &self.0
    }

    /// Allows these origins.
    ///
    /// # Errors
    /// A message if `*` is one of several origins: the others would have no effect.
    pub fn new(origins: Vec<Origin>) -> Result<Self, String> {
        if origins.len() > 1 && origins.contains(&Origin::Any) {
            return Err("`*` allows all origins: give it without any other origin".into());
        }
        Ok(Self(origins))
    }

    /// The answer to a preflight of an allowed origin, for an endpoint with that method; `None` for
    /// any other request.
    pub(crate) fn preflight(
        &self,
        method: &Method,
        headers: &HeaderMap,
        endpoint: &Method,
    ) -> Option<Response> {
        self.preflight_of(method, headers, endpoint.as_str())
    }

    /// As [`Self::preflight`], for an endpoint with these methods.
    pub(crate) fn preflight_of(
        &self,
        method: &Method,
        headers: &HeaderMap,
        methods: &str,
    ) -> Option<Response> {
        let is_preflight = *method == Method::OPTIONS
            && headers.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
        if !is_preflight || self.allowed(headers).is_none() {
            return None;
        }
        let methods = HeaderValue::from_str(methods).expect("methods are tokens");
        let mut reply = Response::default();
        *reply.status_mut() = StatusCode::NO_CONTENT;
        reply.headers_mut().insert(header::ACCESS_CONTROL_ALLOW_METHODS, methods);
        reply.headers_mut().insert(header::ACCESS_CONTROL_ALLOW_HEADERS, REQUEST_HEADERS);
        reply.headers_mut().insert(header::ACCESS_CONTROL_MAX_AGE, MAX_AGE_SECONDS);
        Some(reply)
    }

    /// Adds the headers of contract 15.3 and 15.4 to an answer.
    pub(crate) fn add_to(&self, request: &HeaderMap, reply: &mut Response) {
        if self.0.is_empty() {
            return;
        }
        let headers = reply.headers_mut();
        // Added for all origins, so that a cache keeps the answers to different origins apart.
        headers.append(header::VARY, HeaderValue::from_name(header::ORIGIN));
        if let Some(origin) = self.allowed(request) {
            headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
            headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, RESPONSE_HEADERS);
        }
    }

    /// Whether a request comes from a web page of an origin that is not allowed.
    #[cfg(feature = "mcp")]
    pub(crate) fn forbids(&self, headers: &HeaderMap) -> bool {
        headers.contains_key(header::ORIGIN) && self.allowed(headers).is_none()
    }

    /// The value of `Access-Control-Allow-Origin`, if the request's origin is allowed.
    fn allowed(&self, headers: &HeaderMap) -> Option<HeaderValue> {
        let origin = headers.get(header::ORIGIN)?;
        self.0.iter().find_map(|allowed| match allowed {
            Origin::Any => Some(HeaderValue::from_static("*")),
            Origin::One(allowed) => (allowed == origin).then(|| allowed.clone()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_as_browsers_send_them() {
        for text in ["*", "https://a.example", "http://localhost:3000", "http://[::1]:80"] {
            assert!(text.parse::<Origin>().is_ok(), "{text}");
        }
        for text in [
            "",
            "a.example",
            "https://",
            "https://a.example/",
            "https://a.example/x",
            "https://A.example",
            "https://u@a.example",
            "https://a.example?x",
            "null",
        ] {
            assert!(text.parse::<Origin>().is_err(), "{text}");
        }
        let any = || "*".parse::<Origin>().unwrap();
        let one = "https://a.example".parse::<Origin>().unwrap();
        assert!(Cors::new(vec![any()]).is_ok() && Cors::new(vec![any(), one]).is_err());
    }
}
