//! Recorded search and filter requests.
//!
//! The service's order is its own affair and its universe is a thousand times
//! larger, so this asks of each recorded row that the data hold: is it found?

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use serde_json::Value;

use super::{Differences, Instrument, Instruments, differing_fields, read, why_filtered_out};
use crate::support::{Server, figis};

/// A request and what the public service answered.
struct Recording {
    path: String,
    request: Value,
    answer: Value,
}

/// Replays every recorded request; returns how many recorded rows were found
/// again.
pub(super) fn replay_all(
    server: &Server,
    instruments: &Instruments,
    folder: &Path,
    differences: &mut Differences,
) -> usize {
    let recordings = recordings(folder);
    assert!(recordings.len() > 60, "{}", recordings.len());
    let mut found = HashMap::new();
    let replays = recordings
        .iter()
        .map(|recording| replay(server, instruments, recording, &mut found, differences));
    replays.sum()
}

fn replay(
    server: &Server,
    instruments: &Instruments,
    recording: &Recording,
    found: &mut HashMap<String, HashMap<String, Value>>,
    differences: &mut Differences,
) -> usize {
    let Recording { path, request, answer: recorded } = recording;
    let mut differ = |what: String| *differences.entry(what).or_default() += 1;
    let first = server.post(path, &request.to_string());
    if first.status == 400 {
        assert_eq!(recorded, &serde_json::json!({"data": []}), "{request} {}", first.body);
        differ("answer: an enum value outside its set is refused".into());
        return 0;
    }
    let first: Value = serde_json::from_str(&first.body).unwrap();
    assert_eq!(first.get("error"), recorded.get("error"), "{path} {request}");
    let Some(rows) = recorded["data"].as_array() else { return 0 };
    if rows.is_empty() {
        if !figis(&first).is_empty() {
            differ("answer: the data hold what the service did not know".into());
        } else {
            assert_eq!(&first, recorded, "{path} {request}");
        }
        return 0;
    }
    let ours = found
        .entry(request.to_string())
        .or_insert_with(|| all_pages(server, request, rows.last().unwrap()["figi"].as_str()));
    let mut found_again = 0;
    for row in rows {
        let figi = row["figi"].as_str().unwrap();
        let Some(instrument) = instruments.get(figi) else {
            differ("row: not in the data".into());
            continue;
        };
        let Some(ours) = ours.get(figi) else {
            let reason = why_not(request, instrument);
            differ(
                reason
                    .unwrap_or_else(|| panic!("{figi} is not found by {request}: {instrument:?}")),
            );
            continue;
        };
        found_again += 1;
        differing_fields(row, ours, instrument).for_each(&mut differ);
    }
    // A recorded filter answer on one page is the whole one.
    if recorded["total"].as_u64() == Some(rows.len() as u64) {
        let known: BTreeSet<_> = rows.iter().map(|row| row["figi"].as_str().unwrap()).collect();
        let unknown = ours.keys().filter(|figi| !known.contains(figi.as_str()));
        unknown.for_each(|_| differ("row: found, and not in the recording".into()));
    }
    found_again
}

/// Every row that answers the request, up to and with the page where `last` is or
/// would be.
fn all_pages(server: &Server, request: &Value, last: Option<&str>) -> HashMap<String, Value> {
    let mut body = request.clone();
    let mut all = HashMap::new();
    loop {
        let page = server.post("/v3/filter", &body.to_string());
        let mut page: Value = serde_json::from_str(&page.body).unwrap();
        let Value::Array(rows) = page["data"].take() else { panic!("{body} {page}") };
        all.extend(rows.into_iter().map(|row| (row["figi"].as_str().unwrap().to_owned(), row)));
        // Only a filter's pages end where FIGI order says so.
        let passed = last.is_some_and(|last| all.keys().any(|figi| figi.as_str() > last));
        match page.get("next") {
            Some(next) if request.get("query").is_some() || !passed => body["start"] = next.clone(),
            _ => return all,
        }
    }
}

/// Why the data do not let this request find this instrument, if they do not.
fn why_not(request: &Value, instrument: &Instrument) -> Option<String> {
    let letters = |text: &str| -> String {
        text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    let texts =
        ["ticker", "name", "securityDescription"].map(|column| letters(&instrument[column]));
    let query = request["query"].as_str().unwrap_or_default();
    let mut words = query.split_whitespace().map(letters);
    if words.any(|word| !texts.iter().any(|text| text.contains(&word))) {
        return Some("row: its texts do not hold the words".into());
    }
    why_filtered_out(request, instrument)
}

/// Every recorded search and filter request that was answered with 200.
fn recordings(folder: &Path) -> Vec<Recording> {
    let mut recordings = Vec::new();
    let mut add = |path: &str, request: &Value, answer: &Value| {
        // A transient fault of the service is no answer, and some requests are only told of.
        let transient = answer["error"].as_str().is_some_and(|text| text.starts_with("There was"));
        let Some(mut request) = request.as_object().cloned() else { return };
        // The service's own cursors mean nothing here; the request itself does.
        if !answer["data"].is_null() {
            request.remove("start");
        }
        if !transient {
            let (path, request) = (path.to_owned(), Value::Object(request));
            recordings.push(Recording { path, request, answer: answer.clone() });
        }
    };
    for pair in read(&folder.join("real/recorded-pairs.json")).as_array().unwrap() {
        let path = pair["path"].as_str().unwrap_or_default();
        if (path.ends_with("/search") || path.ends_with("/filter")) && pair["status"] == 200 {
            add(path, &pair["request"], &pair["response"]);
        }
    }
    for entry in read(&folder.join("real/recorded/index.json")).as_array().unwrap() {
        let request = entry["request"].as_str().unwrap();
        let Some((path, body)) = request.strip_prefix("POST ").and_then(|it| it.split_once(' '))
        else {
            continue;
        };
        let Some(body) = body.find('}').map(|end| &body[..=end]) else { continue };
        let Ok(body) = serde_json::from_str(body) else { continue };
        let file = entry["file"].as_str().unwrap();
        let content = read(&folder.join("real/recorded").join(file));
        match content.get("response") {
            Some(response) => add(path, &body, &response["bodyJson"]),
            None => add(path, &body, &content),
        }
    }
    recordings
}
