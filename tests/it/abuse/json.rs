//! Bodies of JSON, or nearly JSON, that are made to hurt a parser.

use std::time::Instant;

use super::{MEMORY_MAX, assert_reveals_nothing};
use crate::support::process::{Process, status};

/// contract 13.15: deep nesting, huge numbers, long texts, many members: each body gets its
/// answer.
#[test]
fn hostile_bodies() {
    let figdex = Process::of_one(&["--no-limits", "--jobs-per-request", "100"]);
    let job = |value: &str| format!(r#"[{{"idType":"TICKER","idValue":{value}}}]"#);
    let query = |value: &str| format!(r#"{{"query":{value}}}"#);
    let deep =
        |open: &str, close: &str| format!("{}1{}", open.repeat(100_000), close.repeat(100_000));
    let digits = "9".repeat(400);
    let long = format!("\"{}\"", "a".repeat(1_000_000));
    let escapes = format!("\"{}\"", "\\u0000".repeat(150_000));
    let interval = |a: &str| format!(r#"{{"query":"a","strike":[{a},null]}}"#);
    let members: Vec<_> = (0..50_000).map(|number| format!("\"k{number}\":1")).collect();
    let members = format!("{{{}}}", members.join(","));
    let repeated = format!("{{{}}}", vec![r#""query":"a""#; 50_000].join(","));
    let jobs = format!("[{}]", vec!["{}"; 300_000].join(","));
    for (name, path, body, expected) in [
        ("arrays in arrays", "/v3/mapping", deep("[", "]"), 200),
        ("arrays that never close", "/v3/mapping", "[".repeat(100_000), 400),
        ("objects in objects", "/v3/mapping", deep("{\"a\":", "}"), 400),
        ("a deep value of a job", "/v3/mapping", job(&deep("[", "]")), 200),
        ("a deep query", "/v3/search", query(&deep("[", "]")), 200),
        ("a deep filter", "/v3/filter", query(&deep("{\"a\":", "}")), 200),
        ("a number beyond all, of a job", "/v3/mapping", job("1e999"), 200),
        ("a number of 400 digits, of a job", "/v3/mapping", job(&digits), 200),
        ("a negative one", "/v3/mapping", job(&format!("-{digits}")), 200),
        ("a tiny one", "/v3/mapping", job("1e-999"), 200),
        ("a number beyond all, in an interval", "/v3/filter", interval("1e999"), 200),
        ("a number of 400 digits, in an interval", "/v3/filter", interval(&digits), 200),
        ("a long ticker", "/v3/mapping", job(&long), 200),
        ("a long query", "/v3/search", query(&long), 200),
        ("a long filter", "/v3/filter", query(&long), 200),
        ("zeros as a ticker", "/v3/mapping", job(&escapes), 200),
        ("half of a pair of surrogates", "/v3/mapping", job("\"\\ud800\""), 200),
        ("many members", "/v3/search", members, 200),
        ("one member many times", "/v3/search", repeated, 200),
        ("many jobs", "/v3/mapping", jobs, 413),
        ("no UTF-8", "/v3/mapping", "\u{fffd}".to_owned(), 400),
    ] {
        let start = Instant::now();
        let answer = figdex.exchange(format!(
            "POST {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: \
             application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        ));
        eprintln!("{name}: {:?}: {}", start.elapsed(), &answer[answer.len().saturating_sub(90)..]);
        assert_eq!(status(&answer), expected, "{name}: {answer}");
        assert!(answer.len() < 64 << 10, "{name}: an answer of {} bytes", answer.len());
        assert_reveals_nothing(&figdex, &answer);
        figdex.assert_serves();
    }
    figdex.assert_memory_below(MEMORY_MAX);
    figdex.stop();
}
