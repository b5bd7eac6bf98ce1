//! `GET /suggest`, after a byte that says what narrows it. The text is UTF-8, but for runs
//! of characters: a control character, two bytes of a code point and a count stand for that
//! many characters from there on, or for one of them that many times. So a few bytes make
//! hundreds of different letters of three bytes each, which random bytes seldom do.

#![no_main]

use std::fmt::Write as _;

use figdex_fuzz::server;
use libfuzzer_sys::fuzz_target;

/// The longest text that is not refused for its length.
const QUERY_BYTES_MAX: usize = 1024;

/// Begins a run of characters that follow each other, or that repeat.
const FOLLOWING: u8 = 0x01;
const REPEATED: u8 = 0x02;

/// A count of one byte stands for up to so many characters.
const COUNT_FACTOR: u32 = 2;

fuzz_target!(|input: &[u8]| {
    let Some((narrowing, text)) = input.split_first() else { return };
    let (limit, parameters) = match narrowing {
        b'n' => (10, "&limit=10&exchCode=US&exchCode=UN"),
        b'u' => (50, "&limit=50&includeUnlistedEquities=true"),
        b'1' => (1, "&limit=1"),
        _ => (50, "&limit=50"),
    };
    let mut address = "/suggest?query=".to_owned();
    for byte in expand(text).bytes() {
        write!(address, "%{byte:02X}").expect("writing into memory does not fail");
    }
    let answer = server::ask("GET", &(address + parameters), &[], b"");
    match answer.status {
        200 => {
            let json = answer.json();
            let rows = json["data"].as_array().expect("rows");
            assert!(rows.len() <= limit, "{} rows", rows.len());
            assert!(
                rows.iter().all(|row| row["matched"].as_array().is_some_and(|why| !why.is_empty()))
            );
        }
        400 => assert!(answer.json()["error"].is_string()),
        other => panic!("{other} {}", answer.text()),
    }
});

/// The text with its runs, cut where it would be too long.
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
