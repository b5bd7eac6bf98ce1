//! Recorded search and filter requests.
//!
//! The service's order is undocumented and its universe is a thousand times larger. So this asks
//! only whether each recorded row that the data hold is found.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use serde_json::Value;

use super::{
    Differences, Exchange, Instrument, Instruments, differing_fields, exchanges, is_transient,
    why_filtered_out,
};
use crate::support::{Server, figis};

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
    recording: &Exchange,
    found: &mut HashMap<String, HashMap<String, Value>>,
    differences: &mut Differences,
) -> usize {
    let Exchange { path, request, answer: recorded } = recording;
    let mut differ = |what: String| *differences.entry(what).or_default() += 1;
    let first = server.post(path, &request.to_string());
    if first.status == 400 {
        // The service knew more types in 2020 than its lists of 2025 have.
        assert_eq!(first.body, "Invalid enum field.", "{request}");
        differ("answer: an enum value outside the lists of 2025 is refused".into());
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
    let last = rows.iter().map(|row| row["figi"].as_str().unwrap()).max().unwrap();
    let ours = found
        .entry(format!("{request} {last}"))
        .or_insert_with(|| pages_until(server, request, last));
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
    // A recorded filter answer of one page is complete.
    if recorded["total"].as_u64() == Some(rows.len() as u64) {
        let known: BTreeSet<_> = rows.iter().map(|row| row["figi"].as_str().unwrap()).collect();
        let unknown = ours.keys().filter(|figi| !known.contains(figi.as_str()));
        unknown.for_each(|_| differ("row: found, and not in the recording".into()));
    }
    found_again
}

/// The rows that answer the request, page by page up to the page where `last` is or would be.
fn pages_until(server: &Server, request: &Value, last: &str) -> HashMap<String, Value> {
    let mut body = request.clone();
    let mut all = HashMap::new();
    loop {
        let page = server.post("/v3/filter", &body.to_string());
        let mut page: Value = serde_json::from_str(&page.body).unwrap();
        let Value::Array(rows) = page["data"].take() else { panic!("{body} {page}") };
        let is_passed = rows.iter().any(|row| row["figi"].as_str().unwrap() > last);
        all.extend(rows.into_iter().map(|row| (row["figi"].as_str().unwrap().to_owned(), row)));
        match page.get("next") {
            Some(next) if !is_passed => body["start"] = next.clone(),
            _ => return all,
        }
    }
}

/// The reason why this request cannot find this instrument in the data, if there is one.
fn why_not(request: &Value, instrument: &Instrument) -> Option<String> {
    let texts = ["ticker", "name", "securityDescription"].map(|column| &*instrument[column]);
    let held: BTreeSet<String> =
        texts.iter().flat_map(|text| text.split_whitespace()).flat_map(parts).collect();
    let query = request["query"].as_str().unwrap_or_default();
    for word in query.split_whitespace() {
        let parts = parts(word);
        if !held.contains(&parts[0]) && !parts[1..].iter().all(|part| held.contains(part)) {
            return Some("row: its texts do not hold the words".into());
        }
    }
    why_filtered_out(request, instrument)
}

/// A word without punctuation, then its runs of letters and of digits.
fn parts(word: &str) -> Vec<String> {
    let word = word.to_lowercase();
    let characters: Vec<char> = word.chars().collect();
    let kind = |c: char| (c.is_alphanumeric(), c.is_numeric());
    let runs = characters.chunk_by(|a, b| kind(*a) == kind(*b));
    let runs = runs.filter(|run| run[0].is_alphanumeric()).map(|run| run.iter().collect());
    let whole = word.chars().filter(|c| c.is_alphanumeric()).collect();
    std::iter::once(whole).chain(runs).collect()
}

/// Every recorded search and filter request.
fn recordings(folder: &Path) -> Vec<Exchange> {
    let mut recordings = exchanges(folder);
    // Some requests are only described in prose.
    recordings.retain(|Exchange { path, request, answer }| {
        (path.ends_with("/search") || path.ends_with("/filter"))
            && request.is_object()
            && !is_transient(answer)
    });
    for Exchange { request, answer, .. } in &mut recordings {
        // The service's cursors are unknown here, so only the request without one is replayed.
        if answer["data"].is_array() {
            request.as_object_mut().unwrap().remove("start");
        }
    }
    recordings
}
