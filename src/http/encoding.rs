//! gzip: detects whether a client asks for it, and compresses answers and files.

use std::io::Write as _;

use bytes::Bytes;
use figdex_index::{Meter, TakesMore};
use flate2::Compression;
use flate2::write::GzEncoder;
use hyper::body::Body as _;
use warp::http::{HeaderMap, header};
use warp::reply::Response;

use crate::http::pieces::Pieces;
use crate::http::weighted::weighted;

/// The fastest level. Answers are so repetitive that higher levels gain little.
const LEVEL: Compression = Compression::new(1);

/// The number of bytes of an answer that are packed between two charges. `CHARGED_UNITS` is the
/// units of work for them: 0.1 to 0.5 ms.
const CHARGED_BYTES: usize = 64 << 10;
const CHARGED_UNITS: u64 = 25_000;

/// Packs an answer. Each of its pieces is freed as soon as it is packed.
pub(crate) fn packed(json: Pieces) -> Pieces {
    packed_within(json, &Meter::unlimited()).expect("the meter allows any work")
}

/// As [`packed`], within the limit of a meter.
///
/// # Errors
/// [`TakesMore`] when it takes more work than the meter allows.
pub(crate) fn packed_within(json: Pieces, meter: &Meter) -> Result<Pieces, TakesMore> {
    let mut encoder = GzEncoder::new(Pieces::with_room(json.len() / 4), LEVEL);
    for piece in json {
        for bytes in piece.chunks(CHARGED_BYTES) {
            meter.charge(CHARGED_UNITS)?;
            encoder.write_all(bytes).expect(INFALLIBLE);
        }
    }
    let mut packed = encoder.finish().expect(INFALLIBLE);
    packed.shrink();
    Ok(packed)
}

const INFALLIBLE: &str = "compressing into memory does not fail";

/// Packs a file.
pub(crate) fn gzip(bytes: &[u8], level: Compression) -> Bytes {
    let mut encoder = GzEncoder::new(Vec::with_capacity(bytes.len() / 4), level);
    let packed = encoder.write_all(bytes).and_then(|()| encoder.finish());
    packed.expect(INFALLIBLE).into()
}

/// The length of the body of any answer, in bytes. For an answer in several pieces, it comes from
/// the header `Content-Length`.
pub(crate) fn body_bytes(reply: &Response) -> u64 {
    let in_head = || {
        let bytes = reply.headers().get(header::CONTENT_LENGTH)?;
        bytes.to_str().ok()?.parse().ok()
    };
    let bytes = reply.body().size_hint().exact().or_else(in_head);
    bytes.unwrap_or_else(|| reply.body().size_hint().lower())
}

/// Whether the client asks for gzip (RFC 9110, 12.5.3; contract 12.1). Its quality, given by name
/// or else by `*`, must be above 0 and at least that of `identity`.
pub(crate) fn accepts_gzip(headers: &HeaderMap) -> bool {
    let (mut gzip, mut any, mut identity) = (None, None, None);
    for (coding, quality) in weighted(headers, header::ACCEPT_ENCODING) {
        // The quality in thousandths. It is in range, so the cast is exact.
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
    use warp::http::HeaderValue;

    use super::*;

    #[test]
    fn gzip_when_asked_for() {
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
