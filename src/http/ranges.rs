//! The conditions and the range of a request for a file (RFC 9110, 13 and 14). The file has a strong
//! entity tag and no date of modification, so conditions on dates are false.

use std::ops::Range;

use warp::http::{HeaderMap, HeaderName, Method, header};

/// The part of a file that a request asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// The whole file.
    Whole,
    /// These bytes. They are in the file, and at least one.
    Bytes(Range<u64>),
    /// Nothing, since the client has this file: a 304.
    Unchanged,
    /// Nothing, since the client has another file: a 412.
    Changed,
    /// Nothing, since the range begins after the end of the file: a 416.
    Beyond,
}

/// The part of a file with that entity tag, in quotes, and that size.
pub(crate) fn part(method: &Method, request: &HeaderMap, tag: &str, bytes: u64) -> Part {
    if request.contains_key(header::IF_MATCH)
        && !tags(request, header::IF_MATCH).any(|known| known == "*" || known == tag)
    {
        return Part::Changed;
    }
    let is_known = |known: &str| known == "*" || known.trim_start_matches("W/") == tag;
    if tags(request, header::IF_NONE_MATCH).any(is_known) {
        return Part::Unchanged;
    }
    // Only GET has ranges.
    let Some(range) = request.get(header::RANGE).filter(|_| *method == Method::GET) else {
        return Part::Whole;
    };
    if let Some(condition) = request.get(header::IF_RANGE)
        && condition.as_bytes() != tag.as_bytes()
    {
        return Part::Whole;
    }
    range.to_str().ok().and_then(|range| single(range, bytes)).unwrap_or(Part::Whole)
}

/// The tags of all lines of a header.
fn tags(request: &HeaderMap, name: HeaderName) -> impl Iterator<Item = &str> {
    let lines = request.get_all(name).into_iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).map(str::trim)
}

/// The bytes of a single range; `None` for several ranges, other units, and an invalid range:
/// these are ignored, as the standard allows.
fn single(range: &str, bytes: u64) -> Option<Part> {
    let (unit, range) = range.split_once('=')?;
    let (first, last) = range.trim().split_once('-')?;
    if !unit.trim().eq_ignore_ascii_case("bytes") {
        return None;
    }
    let (start, end) = match (first, last) {
        ("", "") => return None,
        ("", last) => (bytes.saturating_sub(number(last)?), bytes),
        (first, "") => (number(first)?, bytes),
        (first, last) => {
            let (first, last) = (number(first)?, number(last)?);
            if last < first {
                return None;
            }
            (first, last.saturating_add(1).min(bytes))
        }
    };
    Some(if start < end { Part::Bytes(start..end) } else { Part::Beyond })
}

/// A number of digits only. One beyond 64 bits is as good as the largest.
fn number(digits: &str) -> Option<u64> {
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.parse().unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use warp::http::HeaderValue;

    use super::*;

    const TAG: &str = "\"abc\"";

    fn asked(method: Method, headers: &[(HeaderName, &str)]) -> Part {
        let mut request = HeaderMap::new();
        for (name, value) in headers {
            request.append(name.clone(), HeaderValue::from_str(value).unwrap());
        }
        part(&method, &request, TAG, 1000)
    }

    /// contract 22.4: single ranges of bytes; whatever else is ignored.
    #[test]
    fn ranges() {
        for (range, expected) in [
            ("bytes=0-0", Part::Bytes(0..1)),
            ("bytes=0-999", Part::Bytes(0..1000)),
            ("bytes=5-", Part::Bytes(5..1000)),
            ("Bytes = 990-5000", Part::Bytes(990..1000)),
            ("bytes=-8", Part::Bytes(992..1000)),
            ("bytes=-5000", Part::Bytes(0..1000)),
            ("bytes=-0", Part::Beyond),
            ("bytes=1000-", Part::Beyond),
            ("bytes=1000-2000", Part::Beyond),
            ("bytes=18446744073709551615-18446744073709551615", Part::Beyond),
            ("bytes=99999999999999999999999-", Part::Beyond),
            ("bytes=0-18446744073709551615", Part::Bytes(0..1000)),
            ("bytes=5-4", Part::Whole),
            ("bytes=0-1,4-5", Part::Whole),
            ("bytes=-", Part::Whole),
            ("bytes=+1-2", Part::Whole),
            ("bytes=a-b", Part::Whole),
            ("rows=0-5", Part::Whole),
            ("", Part::Whole),
        ] {
            assert_eq!(asked(Method::GET, &[(header::RANGE, range)]), expected, "{range}");
            assert_eq!(asked(Method::HEAD, &[(header::RANGE, range)]), Part::Whole, "{range}");
        }
        let request = HeaderMap::from_iter([(header::RANGE, HeaderValue::from_static("bytes=0-"))]);
        assert_eq!(part(&Method::GET, &request, TAG, 0), Part::Beyond);
    }

    /// contract 22.5: a condition is about the bytes of the file, and comes before the range.
    #[test]
    fn conditions() {
        let range = (header::RANGE, "bytes=1-2");
        for (condition, expected) in [
            ((header::IF_MATCH, TAG), Part::Bytes(1..3)),
            ((header::IF_MATCH, "*"), Part::Bytes(1..3)),
            ((header::IF_MATCH, "\"x\", \"abc\""), Part::Bytes(1..3)),
            ((header::IF_MATCH, "\"x\""), Part::Changed),
            // A weak tag never matches strongly.
            ((header::IF_MATCH, "W/\"abc\""), Part::Changed),
            ((header::IF_NONE_MATCH, TAG), Part::Unchanged),
            ((header::IF_NONE_MATCH, "W/\"abc\""), Part::Unchanged),
            ((header::IF_NONE_MATCH, "*"), Part::Unchanged),
            ((header::IF_NONE_MATCH, "\"x\""), Part::Bytes(1..3)),
            ((header::IF_RANGE, TAG), Part::Bytes(1..3)),
            ((header::IF_RANGE, "\"x\""), Part::Whole),
            ((header::IF_RANGE, "W/\"abc\""), Part::Whole),
            ((header::IF_RANGE, "Sat, 28 Nov 2026 00:00:00 GMT"), Part::Whole),
        ] {
            let shown = format!("{condition:?}");
            assert_eq!(asked(Method::GET, &[condition, range.clone()]), expected, "{shown}");
        }
    }
}
