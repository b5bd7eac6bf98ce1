//! The media types of a request: the accepted ones (contract 2.4), and that of its body (contract
//! 2.5).

use warp::http::{HeaderMap, header};

use crate::http::weighted::weighted;
use crate::wire::list::Form;

/// Whether the client accepts JSON (RFC 9110, 12.5.1) under either of its names. For each name, the
/// most specific range that covers it decides; a quality of 0 refuses.
pub(super) fn accepts_json(headers: &HeaderMap) -> bool {
    let ranges: Vec<(String, f32)> = weighted(headers, header::ACCEPT).collect();
    ranges.is_empty() || quality_of_json(&ranges) > 0.0
}

fn quality_of_json(ranges: &[(String, f32)]) -> f32 {
    quality(ranges, "application/json").max(quality(ranges, "text/json"))
}

/// The quality of a media type, from the most specific range that covers it; 0 if none does.
fn quality(ranges: &[(String, f32)], media_type: &str) -> f32 {
    let family = media_type.split_once('/').map(|(family, _)| format!("{family}/*"));
    let by_specificity = ["*/*", family.as_deref().unwrap_or_default(), media_type];
    let covering = ranges.iter().filter_map(|(range, quality)| {
        let specificity = by_specificity.iter().position(|covering| covering == range)?;
        Some((specificity, *quality))
    });
    // If two ranges are equally specific, the higher quality counts.
    covering.max_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))).map_or(0.0, |(_, best)| best)
}

/// The form of a list's answer that the client prefers. Among equals, the form of the body comes
/// first, then JSON. `None` if the client accepts none.
pub(super) fn form_of_answer(headers: &HeaderMap, body: Form) -> Option<Form> {
    let ranges: Vec<(String, f32)> = weighted(headers, header::ACCEPT).collect();
    if ranges.is_empty() {
        return Some(body);
    }
    let forms = [
        (Form::Ndjson, quality(&ranges, "application/x-ndjson")),
        (Form::Csv, quality(&ranges, "text/csv")),
        (Form::Json, quality_of_json(&ranges)),
    ];
    let wanted = forms.into_iter().filter(|(_, quality)| *quality > 0.0);
    let best = wanted
        .max_by(|(one, a), (other, b)| a.total_cmp(b).then((*one == body).cmp(&(*other == body))));
    best.map(|(form, _)| form)
}

/// Whether the body is declared as JSON. A charset, if given, must be UTF-8 or its subset US-ASCII.
pub(super) fn is_json(headers: &HeaderMap) -> bool {
    form_of_body(headers) == Some(Form::Json)
}

/// The form of a body, by its `Content-Type`; `None` for any other type, and for a charset other
/// than UTF-8 and US-ASCII.
pub(super) fn form_of_body(headers: &HeaderMap) -> Option<Form> {
    let value = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok())?;
    let mut parts = value.split(';').map(str::trim);
    let kind = parts.next().expect("a split has a first part");
    let is_one_of =
        |text: &str, names: [&str; 2]| names.iter().any(|name| text.eq_ignore_ascii_case(name));
    let is_known_charset = |parameter: &str| match parameter.split_once('=') {
        Some((name, charset)) if name.trim().eq_ignore_ascii_case("charset") => {
            is_one_of(charset.trim().trim_matches('"'), ["utf-8", "us-ascii"])
        }
        _ => true,
    };
    let form = if is_one_of(kind, ["application/json", "text/json"]) {
        Form::Json
    } else if is_one_of(kind, ["application/x-ndjson", "application/ndjson"]) {
        Form::Ndjson
    } else if kind.eq_ignore_ascii_case("text/csv") {
        Form::Csv
    } else {
        return None;
    };
    parts.all(is_known_charset).then_some(form)
}

#[cfg(test)]
mod tests {
    use warp::http::HeaderValue;

    use super::*;

    fn headers(name: header::HeaderName, value: &str) -> HeaderMap {
        HeaderMap::from_iter([(name, HeaderValue::from_str(value).unwrap())])
    }

    /// contract 2.4: for each name of JSON the most specific range decides, and a quality of 0
    /// refuses.
    #[test]
    fn accept() {
        assert!(accepts_json(&HeaderMap::new()));
        for value in [
            "",
            "*/*",
            "application/*",
            "Application/JSON",
            "text/*",
            "text/json",
            "text/html, */*;q=0.1",
            "application/json;q=0.5",
            "text/html, application/json",
            "text/json;q=0, */*",
            "text/*;q=0, */*",
            "application/json;q=0, text/json",
            "application/json;q=0, */*",
        ] {
            assert!(accepts_json(&headers(header::ACCEPT, value)), "{value}");
        }
        for value in [
            "text/html",
            "application/xml",
            "*/*;q=0",
            "application/json;q=0, text/html",
            "*/*; q = 0",
            "text/json;q=0, application/*;q=0, */*",
            "application/json;q=0.0",
        ] {
            assert!(!accepts_json(&headers(header::ACCEPT, value)), "{value}");
        }
    }

    /// contract 2.5: JSON under either name, with no charset or a valid one.
    #[test]
    fn content_type() {
        assert!(!is_json(&HeaderMap::new()));
        for value in [
            "application/json",
            "Application/json",
            "text/json",
            "application/json; charset=utf-8",
            "text/json;charset=\"UTF-8\"",
            "application/json; charset=us-ascii",
            "application/json; profile=x",
        ] {
            assert!(is_json(&headers(header::CONTENT_TYPE, value)), "{value}");
        }
        for value in [
            "text/plain",
            "application/json; charset=latin-1",
            "null",
            "",
            "application/x-www-form-urlencoded",
        ] {
            assert!(!is_json(&headers(header::CONTENT_TYPE, value)), "{value}");
        }
    }
}
