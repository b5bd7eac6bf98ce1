//! `GET /` and `GET /page/{file}`: the page for people (contract 16.10). Its files count against no
//! limit. Its requests to the endpoints do: those without a key in a separate window, unless the
//! operator turns it off (contract 14.22).

use std::future::{Ready, ready};

use warp::filters::BoxedFilter;
use warp::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use warp::path::Tail;
use warp::reply::Response;
use warp::{Filter, Rejection};

use crate::callers::error::ApiError;
use crate::gate;
use crate::http::encoding::accepts_gzip;
use crate::request::Route;
use crate::site::File;

/// The content security policy. It allows only files of this server and calls to it: no inline code
/// or style, nothing from other origins, and no display in a frame.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
     connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
);

pub(super) fn route() -> BoxedFilter<(Response,)> {
    let start = warp::path::end().and_then(|| named("index.html"));
    let file = warp::path("page").and(warp::path::tail()).and_then(|path: Tail| {
        let path = path.as_str();
        // One slash at the end of a path is accepted (contract 2.2).
        named(path.strip_suffix('/').unwrap_or(path))
    });
    start
        .or(file)
        .unify()
        .and(warp::method())
        .and(warp::header::headers_cloned())
        .map(|file, method, request| answer(file, &method, &request).unwrap_or_else(Response::from))
        .boxed()
}

/// The file with this path. A path without a file is left to the last route.
fn named(path: &str) -> Ready<Result<&'static File, Rejection>> {
    ready(File::named(path).ok_or_else(warp::reject::not_found))
}

fn answer(file: &File, method: &Method, request: &HeaderMap) -> Result<Response, ApiError> {
    gate::read_only(Route::Page, method)?;
    let is_gzip = accepts_gzip(request);
    let sent = file.encoded(is_gzip);
    let is_known = is_known(request, &sent.tag);
    let mut reply = if is_known {
        let mut reply = Response::default();
        *reply.status_mut() = StatusCode::NOT_MODIFIED;
        reply
    } else {
        Response::new(sent.bytes.clone().into())
    };
    let headers = reply.headers_mut();
    if !is_known {
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(file.media_type()));
        if is_gzip {
            headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
    }
    let tag = HeaderValue::from_str(&sent.tag).expect("a tag is hexadecimal text in quotes");
    headers.insert(header::ETAG, tag);
    // The files of one release belong together. The browser asks for each again, and gets a 304 if
    // it is unchanged.
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert(header::VARY, HeaderValue::from_name(header::ACCEPT_ENCODING));
    headers.insert(header::CONTENT_SECURITY_POLICY, POLICY);
    for (name, value) in [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        // For browsers that do not support `frame-ancestors`.
        (header::X_FRAME_OPTIONS, "DENY"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    Ok(reply)
}

/// Whether the client already has this representation (RFC 9110, 13.1.2).
fn is_known(request: &HeaderMap, tag: &str) -> bool {
    let lines = request.get_all(header::IF_NONE_MATCH).iter();
    let tags = lines.filter_map(|line| line.to_str().ok()).flat_map(|line| line.split(','));
    tags.map(str::trim).any(|known| known == "*" || known.trim_start_matches("W/") == tag)
}
