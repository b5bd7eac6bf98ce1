//! Cross-origin calls: which web pages may call this server from a browser
//! (`--cors ORIGIN`). Not a chapter of the contract; without the flag there is
//! nothing of it in any answer.

use std::fmt;
use std::str::FromStr;

use warp::http::{HeaderMap, HeaderValue, Method, Response, StatusCode, Uri, header};
use warp::reply::Response as Reply;

/// How long a browser may remember a preflight's answer, in seconds; two hours is
/// the most that any browser does.
const MAX_AGE: HeaderValue = HeaderValue::from_static("7200");

const REQUEST_HEADERS: HeaderValue = HeaderValue::from_static(
    "content-type, accept, x-service-apikey, x-openfigi-apikey, x-request-id",
);

const RESPONSE_HEADERS: HeaderValue = HeaderValue::from_static(
    "ratelimit-limit, ratelimit-remaining, ratelimit-reset, ratelimit-policy, retry-after, \
     x-request-id",
);

/// The origins that may call.
#[derive(Clone, Debug, Default)]
pub struct Cors(Vec<Origin>);

/// What `--cors` takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// `*`
    Any,
    /// `scheme://host[:port]`, as a browser sends it.
    One(HeaderValue),
}

impl FromStr for Origin {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "*" {
            return Ok(Self::Any);
        }
        // Browsers compare bytes: what they would never send is a slip.
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
                "invalid origin `{text}`: expected a scheme and host, such as \
                 `https://app.example.com`, or `*`"
            )
        })
    }
}

/// As `--cors` takes it.
impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("*"),
            // It was made of text, of which it took no other bytes.
            Self::One(value) => f.write_str(&String::from_utf8_lossy(value.as_bytes())),
        }
    }
}

impl Cors {
    /// The origins that may call; none when nobody may.
    pub fn origins(&self) -> &[Origin] {
        &self.0
    }

    /// Those origins, or nobody.
    ///
    /// # Errors
    /// When `*` is one of several: the others would mean nothing.
    pub fn new(origins: Vec<Origin>) -> Result<Self, String> {
        if origins.len() > 1 && origins.contains(&Origin::Any) {
            return Err("`*` means all origins: remove it, or all others".into());
        }
        Ok(Self(origins))
    }

    /// The answer to a preflight of an origin that may call an endpoint with that
    /// method; `None` for any other request, which goes its way.
    pub(crate) fn preflight(
        &self,
        method: &Method,
        headers: &HeaderMap,
        endpoint: &Method,
    ) -> Option<Reply> {
        let is_preflight = *method == Method::OPTIONS
            && headers.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
        if !is_preflight || self.allowed(headers).is_none() {
            return None;
        }
        let methods = HeaderValue::from_str(endpoint.as_str()).expect("a method is a token");
        let mut reply = Response::default();
        *reply.status_mut() = StatusCode::NO_CONTENT;
        reply.headers_mut().insert(header::ACCESS_CONTROL_ALLOW_METHODS, methods);
        reply.headers_mut().insert(header::ACCESS_CONTROL_ALLOW_HEADERS, REQUEST_HEADERS);
        reply.headers_mut().insert(header::ACCESS_CONTROL_MAX_AGE, MAX_AGE);
        Some(reply)
    }

    /// Puts on any answer what a browser asks for.
    pub(crate) fn stamp(&self, request: &HeaderMap, reply: &mut Reply) {
        if self.0.is_empty() {
            return;
        }
        let headers = reply.headers_mut();
        // Also on what other origins get: a cache must not mix them up.
        headers.append(header::VARY, HeaderValue::from_name(header::ORIGIN));
        if let Some(origin) = self.allowed(request) {
            headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
            headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, RESPONSE_HEADERS);
        }
    }

    /// What to answer the request's origin with, if it may call.
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
