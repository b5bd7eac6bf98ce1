//! What a request is called: the `X-Request-Id` that it brings, or one that is made.

use std::fmt;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

use warp::http::{HeaderMap, HeaderName, HeaderValue};

/// The header that brings an id, and takes it back.
pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The bytes that an id may have: what proxies make has 16 to 64.
const ID_BYTES_MAX: usize = 128;

/// An id: letters, digits and a few signs, so that it can stand in a header and in a line
/// of the log as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RequestId(HeaderValue);

impl RequestId {
    /// What stands in a line that belongs to no request.
    pub(crate) const NONE: Self = Self(HeaderValue::from_static("-"));

    pub(crate) fn as_str(&self) -> &str {
        self.0.to_str().expect("an id has letters, digits and signs")
    }

    pub(crate) fn to_header(&self) -> HeaderValue {
        self.0.clone()
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Gives every request an id.
///
/// Those that are made are a counter's numbers under a keyed hash: 64 bits that nobody
/// foresees and that no other server makes in the same order, for a few nanoseconds.
#[derive(Debug, Default)]
pub(crate) struct Ids {
    hasher: RandomState,
    made: AtomicU64,
}

impl Ids {
    /// The id of a request with those headers. One that is too long, or has another byte
    /// than those of an id, is not taken over.
    pub(crate) fn of(&self, headers: &HeaderMap) -> RequestId {
        let brought = headers.get(REQUEST_ID).filter(|value| is_id(value.as_bytes()));
        RequestId(brought.cloned().unwrap_or_else(|| self.make()))
    }

    fn make(&self) -> HeaderValue {
        let hash = self.hasher.hash_one(self.made.fetch_add(1, Ordering::Relaxed));
        let digits: [u8; 16] = std::array::from_fn(|place| {
            let digit = hash >> (4 * (15 - place)) & 0xf;
            b"0123456789abcdef"[digit as usize]
        });
        HeaderValue::from_bytes(&digits).expect("digits make a header")
    }
}

fn is_id(bytes: &[u8]) -> bool {
    let is_sign = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.:+/=@".contains(byte);
    (1..=ID_BYTES_MAX).contains(&bytes.len()) && bytes.iter().all(is_sign)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// contract 2.14: an id of the client's is kept when it is of the form; else one is made.
    #[test]
    fn brought_or_made() {
        let ids = Ids::default();
        let of = |bytes: &[u8]| {
            let value = HeaderValue::from_bytes(bytes).unwrap();
            ids.of(&HeaderMap::from_iter([(REQUEST_ID, value)])).to_string()
        };
        let longest = "x".repeat(ID_BYTES_MAX);
        for good in ["7", "a1b2-c3_d4", "Root=1-67891233-abcdef", "q/+w==", &longest] {
            assert_eq!(of(good.as_bytes()), good);
        }
        let longer = format!("{longest}x");
        for bad in [&b""[..], b"a b", b"a\"b", b"a\tb", b"{}", b"\xff", b"a;b", longer.as_bytes()] {
            let made = of(bad);
            assert!(
                made.len() == 16 && made.bytes().all(|byte| byte.is_ascii_hexdigit()),
                "{made}"
            );
        }
        let made: HashSet<_> = (0..10_000).map(|_| ids.of(&HeaderMap::new()).to_string()).collect();
        assert_eq!(made.len(), 10_000);
        let other = Ids::default();
        assert!(!made.contains(&other.of(&HeaderMap::new()).to_string()), "a server's own");
    }
}
