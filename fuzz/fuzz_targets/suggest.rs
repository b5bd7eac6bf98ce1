//! Texts for `GET /suggest` and `GET /find`, after a byte that selects further parameters. The text is UTF-8
//! with runs of characters: a control character, two bytes of a code point and a count stand
//! for consecutive characters from that code point on, or for one character repeated. So a few
//! bytes give hundreds of different letters of three bytes each, which random bytes seldom do.

#![no_main]

use std::fmt::Write as _;

use figdex_fuzz::server;
use libfuzzer_sys::fuzz_target;

/// The longest text that is accepted.
const QUERY_BYTES_MAX: usize = 1024;

/// The suggestions and the rows of a page of `/find`.
const SECURITIES_MAX: usize = 110;

/// Bytes that begin a run: of consecutive characters, or of one character repeated.
const FOLLOWING: u8 = 0x01;
const REPEATED: u8 = 0x02;

/// Number of characters for each 1 of a count, so that its one byte reaches 510.
const COUNT_FACTOR: u32 = 2;

fuzz_target!(|input: &[u8]| {
    let Some((narrowing, text)) = input.split_first() else { return };
    let (limit, parameters) = match narrowing {
        b'n' => (10, "&limit=10&exchCode=US&exchCode=UN"),
        b'u' => (50, "&limit=50&includeUnlistedEquities=true"),
        b'1' => (1, "&limit=1"),
        b'F' => (SECURITIES_MAX, ""),
        b'A'..=b'Z' => (SECURITIES_MAX, "&strike=100..&exchCode=US&level=composite"),
        _ => (50, "&limit=50"),
    };
    let is_find = narrowing.is_ascii_uppercase();
    let mut address = if is_find { "/find?query=" } else { "/suggest?query=" }.to_owned();
    for byte in expand(text).bytes() {
        write!(address, "%{byte:02X}").expect("writing into memory does not fail");
    }
    let answer = server::ask("GET", &(address + parameters), &[], b"");
    match answer.status {
        200 => {
            let json = answer.json();
            let rows = json[if is_find { "securities" } else { "data" }].as_array().expect("rows");
            assert!(rows.len() <= limit, "{} rows", rows.len());
            assert!(
                rows.iter().all(|row| row["matched"].as_array().is_some_and(|why| !why.is_empty()))
            );
        }
        400 => assert!(answer.json()["error"].is_string()),
        other => panic!("{other} {}", answer.text()),
    }
});

/// The text with its runs expanded, cut to the longest text that is accepted.
fn expand(input: &[u8]) -> String {
    let mut text = String::new();
    let mut rest = input;
    while let Some(first) = rest.first() {
        let run = match (first, rest) {
            (&FOLLOWING | &REPEATED, [how, high, low, count, after @ ..]) => {
                rest = after;
                let from = u32::from(*high) << 8 | u32::from(*low);
                let step = u32::from(*how == FOLLOWING);
                let places = 0..u32::from(*count) * COUNT_FACTOR;
                places.filter_map(|place| char::from_u32(from + step * place)).collect()
            }
            _ => {
                let end =
                    rest.iter().skip(1).position(|byte| matches!(*byte, FOLLOWING | REPEATED));
                let (plain, after) = rest.split_at(end.map_or(rest.len(), |end| end + 1));
                rest = after;
                String::from_utf8_lossy(plain).into_owned()
            }
        };
        text.push_str(&run);
    }
    let end = (0..=text.len().min(QUERY_BYTES_MAX)).rev().find(|end| text.is_char_boundary(*end));
    text.truncate(end.unwrap_or(0));
    text
}
