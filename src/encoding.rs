//! JSON answers as bytes on the wire: gzip when the client asks for it, at any size.

use std::convert::Infallible;
use std::io::Write as _;
use std::sync::Arc;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use futures_util::stream;
use hyper::body::Body as _;
use parking_lot::Mutex;
use warp::Reply as _;
use warp::http::{HeaderMap, HeaderValue, Response, header};
use warp::reply::Response as Reply;

use crate::budget::Share;
use crate::error::ApiError;
use crate::limits::Who;
use crate::state::State;
use crate::weighted::weighted;
use crate::wire::{PIECE_BYTES, Pieces};

/// Bytes that are compressed on the thread that serves everyone: 0.1 ms for rows, and 0.5 ms
/// for a text that cannot be compressed at all. More takes a turn, so that a large answer
/// does not hold up the small ones.
pub(crate) const INLINE_BYTES_MAX: usize = 64 << 10;

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
    json: impl Into<Pieces>,
) -> Result<Reply, ApiError> {
    let mut json = json.into();
    let mut share = state.answers().share(who);
    let mut is_gzip = accepts_gzip(request);
    // While it is packed, a piece is there twice.
    let packing = if is_gzip { json.held().min(PIECE_BYTES) } else { 0 };
    share.grow_to(json.held() + packing)?;
    if is_gzip {
        (json, is_gzip) = match json.len() {
            0..=INLINE_BYTES_MAX => (packed(json), true),
            _ => packed_in_turn(state, json).await?,
        };
    }
    share.shrink_to(json.held());
    let mut reply = reply(json, share);
    let headers = reply.headers_mut();
    let kind = HeaderValue::from_static("application/json; charset=utf-8");
    headers.insert(header::CONTENT_TYPE, kind);
    headers.insert(header::VARY, HeaderValue::from_name(header::ACCEPT_ENCODING));
    if is_gzip {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    Ok(reply)
}

/// The answer packed, if its turn comes in time; whether it is packed. Else it goes out as
/// it is: it is there.
async fn packed_in_turn(state: &State, json: Pieces) -> Result<(Pieces, bool), ApiError> {
    let waiting = Arc::new(Mutex::new(Some(json)));
    let handed = waiting.clone();
    let pack = move || {
        let json = handed.lock().take();
        json.map(packed)
    };
    if let Ok(Some(packed)) = state.packing(pack).await {
        return Ok((packed, true));
    }
    let json = waiting.lock().take();
    json.map(|json| (json, false)).ok_or(ApiError::Unavailable)
}

/// The answer packed. Each of its pieces is freed as soon as it is read.
fn packed(json: Pieces) -> Pieces {
    let mut encoder = GzEncoder::new(Pieces::with_room(json.len() / 4), LEVEL);
    let written = json.into_iter().try_for_each(|piece| encoder.write_all(&piece));
    let mut packed = written.and_then(|()| encoder.finish()).expect(NO_FAULT);
    packed.shrink();
    packed
}

const NO_FAULT: &str = "compressing into memory does not fail";

/// The text, packed.
pub(crate) fn gzip(bytes: &[u8], level: Compression) -> Bytes {
    let mut encoder = GzEncoder::new(Vec::with_capacity(bytes.len() / 4), level);
    let packed = encoder.write_all(bytes).and_then(|()| encoder.finish());
    packed.expect(NO_FAULT).into()
}

/// The answer with its share of the budget, which each piece gives back when it is written.
fn reply(answer: Pieces, mut share: Share) -> Reply {
    let answer = match answer.into_only() {
        Ok(only) => return Response::new(share.hold(only).into()),
        Err(answer) => answer,
    };
    let bytes = answer.len();
    let pieces: Vec<_> = answer.into_iter().collect();
    let pieces = pieces.into_iter().map(move |piece| Ok::<_, Infallible>(share.hold(piece)));
    let mut reply = warp::reply::stream(stream::iter(pieces)).into_response();
    reply.headers_mut().insert(header::CONTENT_LENGTH, bytes.into());
    reply
}

/// The bytes of the body of any answer. One in several pieces says so in its head only.
pub(crate) fn body_bytes(reply: &Reply) -> u64 {
    let in_head = || {
        let bytes = reply.headers().get(header::CONTENT_LENGTH)?;
        bytes.to_str().ok()?.parse().ok()
    };
    let bytes = reply.body().size_hint().exact().or_else(in_head);
    bytes.unwrap_or_else(|| reply.body().size_hint().lower())
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
