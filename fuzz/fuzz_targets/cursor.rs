//! Values of `start`: any text, which is refused, or a cursor to any place, with the right
//! digest and checksum. A client could forge both, because neither depends on a secret.

#![no_main]

use std::sync::LazyLock;

use figdex_fuzz::server;
use figdex_io::{hex, unhex};
use libfuzzer_sys::fuzz_target;
use serde_json::json;
use sha2::{Digest as _, Sha256};

/// The layout of a cursor, from `src/wire/cursor.rs`.
const CURSOR_BYTES: usize = 42;
const CHECKSUM_BYTES: usize = 8;
const HEAD_BYTES: usize = 10;
const PLACE_BYTES: usize = CURSOR_BYTES - HEAD_BYTES - CHECKSUM_BYTES;

const PATHS: [&str; 2] = ["/v3/filter", "/v3/search"];

/// A valid cursor of each endpoint, for a question that has more than one page.
static GOOD: LazyLock<[[u8; CURSOR_BYTES]; 2]> = LazyLock::new(|| {
    PATHS.map(|path| {
        let page = server::post(path, json!({"marketSecDes": "Equity"}).to_string().as_bytes());
        let next = page.json()["next"].as_str().map(str::to_owned);
        unhex(&next.expect("more than one page")).expect("a cursor's text")
    })
});

fuzz_target!(|input: &[u8]| {
    let Some((choice, rest)) = input.split_first() else { return };
    let endpoint = usize::from(choice % 2);
    let start = match rest.split_first_chunk::<{ 1 + PLACE_BYTES }>() {
        Some(([pages, place @ ..], [])) => forged(&GOOD[endpoint], *pages, place),
        _ => String::from_utf8_lossy(rest).into_owned(),
    };
    let question = json!({"marketSecDes": "Equity", "start": start}).to_string();
    let answer = server::post(PATHS[endpoint], question.as_bytes());
    assert_eq!(answer.status, 200, "{}", answer.text());
    let page = answer.json();
    assert!(page["data"].is_array() || page["error"] == "Invalid start value.", "{page}");
});

/// The cursor with another number of pages and another place, and the checksum to match.
fn forged(good: &[u8; CURSOR_BYTES], pages: u8, place: &[u8]) -> String {
    let mut bytes = good.to_vec();
    bytes[1] = pages;
    bytes[HEAD_BYTES..][..PLACE_BYTES].copy_from_slice(place);
    let content = CURSOR_BYTES - CHECKSUM_BYTES;
    let checksum = Sha256::digest(&bytes[..content]);
    bytes[content..].copy_from_slice(&checksum[..CHECKSUM_BYTES]);
    hex(&bytes)
}
