//! Search and filter bodies, after a character for the endpoint. An answer is an error or a
//! page, and the `next` of a page gives the following page of the same question.

#![no_main]

use figdex_fuzz::server;
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

/// Maximum number of rows of a page.
const PAGE_ROWS_MAX: usize = 100;

fuzz_target!(|input: &[u8]| {
    let Some((endpoint, body)) = input.split_first() else { return };
    let path = match endpoint {
        b'f' => "/v3/filter",
        b'2' => "/v2/search",
        _ => "/v3/search",
    };
    let answer = server::post(path, body);
    match answer.status {
        200 => follow(path, body, &answer.json()),
        400 => {}
        other => panic!("{other} {}", answer.text()),
    }
});

fn follow(path: &str, body: &[u8], page: &Value) {
    let Some(rows) = page["data"].as_array() else {
        assert!(page["error"].is_string(), "{page}");
        return;
    };
    assert!(rows.len() <= PAGE_ROWS_MAX);
    let Some(next) = page["next"].as_str() else { return };
    assert_eq!(rows.len(), PAGE_ROWS_MAX, "only a full page is followed by another");
    let Ok(Value::Object(mut question)) = serde_json::from_slice::<Value>(body) else { return };
    question.insert("start".to_owned(), next.into());
    let question = Value::Object(question).to_string();
    let after = server::post(path, question.as_bytes()).json();
    let followed = after["data"].as_array().expect("a cursor is valid for its question");
    assert!(!followed.is_empty() && followed.iter().all(|row| !rows.contains(row)), "{question}");
}
