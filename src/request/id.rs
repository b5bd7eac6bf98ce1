//! The id of a request: its `X-Request-Id`, or a new one (contract 2.14).

use std::fmt;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

use warp::http::{HeaderMap, HeaderName, HeaderValue};

/// The header of an id, in requests and answers.
pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The length of the longest valid id, in bytes. Ids of proxies have 16 to 64.
const ID_BYTES_MAX: usize = 128;

/// An id: letters, digits and a few signs, which need no escape in a header or a line of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RequestId(HeaderValue);

impl RequestId {
    /// The id in a log line that does not belong to a request.
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
/// A new id is the keyed hash of a counter: 64 bits that are unpredictable and differ from the ids
/// of other servers. It costs a few nanoseconds.
#[derive(Debug, Default)]
pub(crate) struct Ids {
    hasher: RandomState,
    count: AtomicU64,
}

impl Ids {
    /// The id of a request with these headers: its own, if that is valid, else a new one.
    pub(crate) fn of(&self, headers: &HeaderMap) -> RequestId {
        let brought = headers.get(REQUEST_ID).filter(|value| is_id(value.as_bytes()));
        RequestId(brought.cloned().unwrap_or_else(|| self.make()))
    }

    fn make(&self) -> HeaderValue {
        let hash = self.hasher.hash_one(self.count.fetch_add(1, Ordering::Relaxed));
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

    /// contract 2.14: a valid id of the client is kept, else a new one is made.
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
