//! Header lines, each `name: value`, of an otherwise valid request: Accept, Content-Type,
//! Accept-Encoding, API keys, addresses of proxies, origins.

#![no_main]

use figdex_fuzz::server;
use libfuzzer_sys::fuzz_target;
use warp::http::{HeaderName, HeaderValue};

const BODY: &[u8] = br#"[{"idType":"ID_ISIN","idValue":"US4592001014"}]"#;

fuzz_target!(|input: &[u8]| {
    let headers: Vec<_> = input.split(|byte| *byte == b'\n').filter_map(header).collect();
    let answer = server::ask("POST", "/v3/mapping", &headers, BODY);
    assert!(matches!(answer.status, 200 | 401 | 406 | 415), "{}", answer.status);
    let address = server::ask("GET", "/v3/mapping/values/idType", &headers, b"");
    assert!(matches!(address.status, 200 | 401 | 406), "{}", address.status);
});

/// A header line that hyper would accept; `None` for others, which never reach the routes.
fn header(line: &[u8]) -> Option<(HeaderName, HeaderValue)> {
    let colon = line.iter().position(|byte| *byte == b':')?;
    let name = HeaderName::from_bytes(&line[..colon]).ok()?;
    let value = HeaderValue::from_bytes(line[colon + 1..].trim_ascii()).ok()?;
    Some((name, value))
}
