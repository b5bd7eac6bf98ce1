//! The conditions and the range of a request for a file (RFC 9110, 13 and 14). The file has a strong
//! entity tag and no date of modification, so conditions on dates are false.

use std::ops::Range;

use warp::http::{HeaderMap, HeaderName, Method, header};

/// The part of a file that a request asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FilePart {
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
pub(crate) fn part(method: &Method, request: &HeaderMap, tag: &str, bytes: u64) -> FilePart {
    if request.contains_key(header::IF_MATCH)
        && !tags(request, header::IF_MATCH).any(|known| known == "*" || known == tag)
    {
        return FilePart::Changed;
    }
    let is_known = |known: &str| known == "*" || known.trim_start_matches("W/") == tag;
    if tags(request, header::IF_NONE_MATCH).any(is_known) {
        return FilePart::Unchanged;
    }
    // Only GET has ranges.
    let Some(range) = request.get(header::RANGE).filter(|_| *method == Method::GET) else {
        return FilePart::Whole;
    };
    if let Some(condition) = request.get(header::IF_RANGE)
        && condition.as_bytes() != tag.as_bytes()
    {
        return FilePart::Whole;
    }
    range.to_str().ok().and_then(|range| single(range, bytes)).unwrap_or(FilePart::Whole)
}

/// The tags of all lines of a header.
fn tags(request: &HeaderMap, name: HeaderName) -> impl Iterator<Item = &str> {
    let lines = request.get_all(name).into_iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).map(str::trim)
}

/// The bytes of a single range; `None` for several ranges, other units, and an invalid range:
/// these are ignored, as the standard allows.
fn single(range: &str, bytes: u64) -> Option<FilePart> {
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
    Some(if start < end { FilePart::Bytes(start..end) } else { FilePart::Beyond })
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

    fn asked(method: Method, headers: &[(HeaderName, &str)]) -> FilePart {
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
            ("bytes=0-0", FilePart::Bytes(0..1)),
            ("bytes=0-999", FilePart::Bytes(0..1000)),
            ("bytes=5-", FilePart::Bytes(5..1000)),
            ("Bytes = 990-5000", FilePart::Bytes(990..1000)),
            ("bytes=-8", FilePart::Bytes(992..1000)),
            ("bytes=-5000", FilePart::Bytes(0..1000)),
            ("bytes=-0", FilePart::Beyond),
            ("bytes=1000-", FilePart::Beyond),
            ("bytes=1000-2000", FilePart::Beyond),
            ("bytes=18446744073709551615-18446744073709551615", FilePart::Beyond),
            ("bytes=99999999999999999999999-", FilePart::Beyond),
            ("bytes=0-18446744073709551615", FilePart::Bytes(0..1000)),
            ("bytes=5-4", FilePart::Whole),
            ("bytes=0-1,4-5", FilePart::Whole),
            ("bytes=-", FilePart::Whole),
            ("bytes=+1-2", FilePart::Whole),
            ("bytes=a-b", FilePart::Whole),
            ("rows=0-5", FilePart::Whole),
            ("", FilePart::Whole),
        ] {
            assert_eq!(asked(Method::GET, &[(header::RANGE, range)]), expected, "{range}");
            assert_eq!(asked(Method::HEAD, &[(header::RANGE, range)]), FilePart::Whole, "{range}");
        }
        let request = HeaderMap::from_iter([(header::RANGE, HeaderValue::from_static("bytes=0-"))]);
        assert_eq!(part(&Method::GET, &request, TAG, 0), FilePart::Beyond);
    }

    /// contract 22.5: a condition is about the bytes of the file, and comes before the range.
    #[test]
    fn conditions() {
        let range = (header::RANGE, "bytes=1-2");
        for (condition, expected) in [
            ((header::IF_MATCH, TAG), FilePart::Bytes(1..3)),
            ((header::IF_MATCH, "*"), FilePart::Bytes(1..3)),
            ((header::IF_MATCH, "\"x\", \"abc\""), FilePart::Bytes(1..3)),
            ((header::IF_MATCH, "\"x\""), FilePart::Changed),
            // A weak tag never matches strongly.
            ((header::IF_MATCH, "W/\"abc\""), FilePart::Changed),
            ((header::IF_NONE_MATCH, TAG), FilePart::Unchanged),
            ((header::IF_NONE_MATCH, "W/\"abc\""), FilePart::Unchanged),
            ((header::IF_NONE_MATCH, "*"), FilePart::Unchanged),
            ((header::IF_NONE_MATCH, "\"x\""), FilePart::Bytes(1..3)),
            ((header::IF_RANGE, TAG), FilePart::Bytes(1..3)),
            ((header::IF_RANGE, "\"x\""), FilePart::Whole),
            ((header::IF_RANGE, "W/\"abc\""), FilePart::Whole),
            ((header::IF_RANGE, "Sat, 28 Nov 2026 00:00:00 GMT"), FilePart::Whole),
        ] {
            let shown = format!("{condition:?}");
            assert_eq!(asked(Method::GET, &[condition, range.clone()]), expected, "{shown}");
        }
    }
}
