//! Lists, after a character for the form: `j` is JSON, `n` NDJSON, `c` CSV, and in capitals the
//! same answered as NDJSON with all matches. An answer is an error, or as many results as jobs; each
//! result has a status, and rows as its status says.

#![no_main]

use figdex_fuzz::server::{self, Answer};
use figdex_index::NAME_CANDIDATES_MAX;
use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use warp::http::{HeaderName, HeaderValue};

const CANDIDATES_MAX: usize = 10;

fuzz_target!(|input: &[u8]| {
    let Some((form, body)) = input.split_first() else { return };
    let media_type = match form.to_ascii_lowercase() {
        b'n' => "application/x-ndjson",
        b'c' => "text/csv",
        _ => "application/json",
    };
    let is_many = form.is_ascii_uppercase();
    if is_many && media_type != "application/json" {
        let lines = ask("/resolve?many=all", media_type, "application/x-ndjson", body);
        if lines.status == 200 {
            let results: Vec<Value> = lines.text().lines().map(parsed).collect();
            results.iter().for_each(|result| check(result, usize::MAX));
            let rows = ask("/resolve", media_type, "text/csv", body);
            assert_eq!(rows.status, 200, "{}", rows.text());
        }
        return;
    }
    // Some lists ask for candidates too: those with a body of an even length.
    let path = if body.len() % 2 == 0 { "/resolve?candidates=true" } else { "/resolve" };
    let answer = ask(path, media_type, "application/json", body);
    match answer.status {
        200 => {
            let answer = answer.json();
            let results = answer["results"].as_array().map(Vec::as_slice).unwrap_or_default();
            results.iter().for_each(|result| check(result, CANDIDATES_MAX));
            assert!(answer["results"].is_array() || answer["columns"].is_array(), "{answer}");
        }
        400 | 413 => assert!(answer.json()["error"].is_string()),
        other => panic!("{other} {}", answer.text()),
    }
});

fn ask(path: &str, media_type: &str, accept: &str, body: &[u8]) -> Answer {
    let header = |name, value| {
        (HeaderName::from_static(name), HeaderValue::from_str(value).expect("a media type"))
    };
    server::ask("POST", path, &[header("content-type", media_type), header("accept", accept)], body)
}

fn parsed(line: &str) -> Value {
    serde_json::from_str(line).expect("each line is JSON")
}

fn check(result: &Value, candidates_max: usize) {
    let rows = result["data"].as_array().map(Vec::len);
    let is_right = match result["status"].as_str() {
        Some("resolved") => rows == Some(1) && result["by"].is_string(),
        Some("ambiguous") => {
            let matches = result["matches"].as_u64().unwrap_or_default() as usize;
            // A single row is ambiguous when the text is written like a name.
            matches > usize::from(!result["reason"].is_string())
                && rows == Some(matches.min(candidates_max))
        }
        Some("unknown") => rows.is_none() && result["error"].is_null(),
        Some("invalid") => rows.is_none() && result["error"].is_string(),
        _ => false,
    };
    assert!(is_right, "{result}");
    let candidates = result["candidates"].as_array().map_or(&[][..], Vec::as_slice);
    assert!(candidates.len() <= NAME_CANDIDATES_MAX, "{result}");
    assert!(candidates.iter().all(|row| row["figi"].is_string()), "{result}");
}
