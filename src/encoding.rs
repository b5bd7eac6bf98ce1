//! JSON answers as bytes on the wire: gzip when the client asks for it, at any size
//! (decisions, "JSON answers").

use std::io::Write as _;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use warp::http::{HeaderMap, HeaderValue, Response, header};
use warp::reply::Response as Reply;

use crate::error::ApiError;
use crate::limits::Who;
use crate::state::State;
use crate::weighted::weighted;

/// What is compressed on the async thread: a fraction of a millisecond's work. More
/// takes a turn, so that a great answer does not hold up the small ones.
const INLINE_BYTES_MAX: usize = 64 << 10;

/// The fastest: answers repeat themselves so much that it gains most there is.
const LEVEL: Compression = Compression::new(1);

/// An answer of JSON to a caller, in the encoding that the request's headers ask for.
///
/// # Errors
/// [`ApiError::Unavailable`] when the answers to slow readers leave no room for it.
pub(crate) async fn json(
    state: &State,
    who: Who,
    request: &HeaderMap,
    json: Vec<u8>,
) -> Result<Reply, ApiError> {
    let mut share = state.answers().share(who);
    share.grow_to(json.len())?;
    let mut json = Bytes::from(json);
    let mut is_gzip = false;
    if accepts_gzip(request) {
        let packed = if json.len() <= INLINE_BYTES_MAX {
            Some(gzip(&json, LEVEL))
        } else {
            let json = json.clone();
            // Without a turn in time the answer goes out as it is: it is there.
            state.packing(move || gzip(&json, LEVEL)).await.ok()
        };
        if let Some(packed) = packed {
            json = packed;
            is_gzip = true;
        }
    }
    let json = share.hold(json);
    let mut reply = Response::new(json.into());
    let headers = reply.headers_mut();
    let kind = HeaderValue::from_static("application/json; charset=utf-8");
    headers.insert(header::CONTENT_TYPE, kind);
    headers.insert(header::VARY, HeaderValue::from_name(header::ACCEPT_ENCODING));
    if is_gzip {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    Ok(reply)
}

/// The text, packed.
pub(crate) fn gzip(bytes: &[u8], level: Compression) -> Bytes {
    let mut encoder = GzEncoder::new(Vec::with_capacity(bytes.len() / 4), level);
    let packed = encoder.write_all(bytes).and_then(|()| encoder.finish());
    packed.expect("compressing into memory does not fail").into()
}

/// Whether the client asks for gzip (RFC 9110, 12.5.3): by name or else by `*`, with
/// a quality above 0 and not below one that it gives the plain text.
pub(crate) fn accepts_gzip(headers: &HeaderMap) -> bool {
    let (mut gzip, mut any, mut identity) = (None, None, None);
    for (coding, quality) in weighted(headers, header::ACCEPT_ENCODING) {
        // In thousandths; in range, so that the cast is exact.
        let quality = if quality > 1.0 { 0 } else { (quality * 1000.0).round() as u16 };
        match &*coding {
            "gzip" | "x-gzip" => gzip = gzip.max(Some(quality)),
            "*" => any = any.max(Some(quality)),
            "identity" => identity = Some(quality),
            _ => {}
        }
    }
    let gzip = gzip.or(any);
    gzip.is_some_and(|gzip| gzip > 0) && gzip >= identity
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_asks_for_gzip() {
        for (value, wanted) in [
            ("gzip", true),
            ("GZIP", true),
            ("x-gzip", true),
            ("gzip, deflate, br", true),
            ("br;q=1.0, gzip;q=0.8, *;q=0.1", true),
            ("deflate, gzip; q=0.001", true),
            ("*", true),
            ("*;q=0.5, identity;q=0.1", true),
            ("gzip;q=1.0, identity; q=0.5, *;q=0", true),
            ("gzip, identity", true),
            ("", false),
            ("identity", false),
            ("br", false),
            ("gzip;q=0", false),
            ("gzip;q=0.000, *", false),
            ("*;q=0", false),
            ("gzip;q=0.5, identity", false),
            ("gzip;q=x", false),
            ("gzip;q=-1", false),
            ("gzip;q=7", false),
            ("not-gzip", false),
        ] {
            let value = HeaderValue::from_static(value);
            let headers = HeaderMap::from_iter([(header::ACCEPT_ENCODING, value.clone())]);
            assert_eq!(accepts_gzip(&headers), wanted, "{value:?}");
        }
        assert!(!accepts_gzip(&HeaderMap::new()));
    }
}
