//! Mapping bodies, after the digit of a version. Every job of an array is answered, or the
//! whole request is refused with status 400 or 413.

#![no_main]

use figdex_fuzz::server;
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

fuzz_target!(|input: &[u8]| {
    let Some((version, body)) = input.split_first() else { return };
    let path = match version {
        b'1' => "/v1/mapping",
        b'2' => "/v2/mapping",
        _ => "/v3/mapping",
    };
    let answer = server::post(path, body);
    match answer.status {
        200 => {
            // Raw values, because the server accepts numbers of any size here.
            let jobs: Vec<Box<serde_json::value::RawValue>> =
                serde_json::from_slice(body).expect("only an array is answered so");
            let answers = answer.json();
            let answers = answers.as_array().expect("an array");
            assert_eq!(answers.len(), jobs.len());
            assert!(answers.iter().all(is_one_of_three), "{}", answer.text());
        }
        400 | 413 => {}
        other => panic!("{other} {}", answer.text()),
    }
});

/// Whether an answer is an object with `data`, `warning` or `error` only.
fn is_one_of_three(answer: &Value) -> bool {
    let Some(answer) = answer.as_object() else { return false };
    let known = ["data", "warning", "error"].iter().any(|key| answer.contains_key(*key));
    known && answer.len() == 1
}
