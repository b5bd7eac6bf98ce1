//! Recorded mapping jobs.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use serde_json::Value;

use super::{
    Differences, Exchange, Instrument, Instruments, differing_fields, exchanges, has, is_transient,
    why_filtered_out,
};
use crate::support::{Server, figis};

/// A mapping job, and the answer of the public service.
struct Recording {
    path: String,
    job: Value,
    answer: Value,
}

/// Replays every recorded job; returns how many recorded rows were found again.
pub(super) fn replay_all(
    server: &Server,
    instruments: &Instruments,
    folder: &Path,
    differences: &mut Differences,
) -> usize {
    let recordings = recordings(folder);
    assert!(recordings.len() > 60, "{}", recordings.len());
    recordings.iter().map(|recording| replay(server, instruments, recording, differences)).sum()
}

/// Replays one job. Counts the differences, and returns how many recorded rows were found again.
fn replay(
    server: &Server,
    instruments: &Instruments,
    recording: &Recording,
    differences: &mut Differences,
) -> usize {
    let Recording { path, job, answer: recorded } = recording;
    let mut differ = |what: String| *differences.entry(what).or_default() += 1;
    let body = Value::Array(vec![job.clone()]).to_string();
    let ours = server.post(path, &body);
    assert_eq!(ours.status, 200, "{job} {}", ours.body);
    let ours = &serde_json::from_str::<Value>(&ours.body).unwrap()[0];
    let Some(rows) = recorded["data"].as_array() else {
        if ours["data"].is_array() {
            differ("answer: the data hold what the service did not know".into());
        } else {
            assert_eq!(ours, recorded, "{job}");
        }
        return 0;
    };
    let found: BTreeSet<_> = figis(ours).into_iter().collect();
    let ours: HashMap<_, _> = ours["data"]
        .as_array()
        .map(|rows| rows.iter().map(|row| (row["figi"].as_str().unwrap(), row)).collect())
        .unwrap_or_default();
    let mut known = BTreeSet::new();
    let mut found_again = 0;
    for row in rows {
        let figi = row["figi"].as_str().unwrap();
        known.insert(figi.to_owned());
        let Some(instrument) = instruments.get(figi) else {
            differ("row: not in the data".into());
            continue;
        };
        if !found.contains(figi) {
            let reason = why_not(job, instrument);
            differ(
                reason.unwrap_or_else(|| panic!("{figi} is not found by {job}: {instrument:?}")),
            );
            continue;
        }
        found_again += 1;
        differing_fields(row, ours[figi], instrument).for_each(&mut differ);
    }
    for _ in found.difference(&known) {
        differ("row: found, and not in the recording".into());
    }
    found_again
}

/// The reason why this job cannot find this instrument in the data, if there is one.
fn why_not(job: &Value, instrument: &Instrument) -> Option<String> {
    let id_type = job["idType"].as_str().unwrap();
    let column = match id_type {
        "TICKER" => "ticker",
        "ID_BB_GLOBAL" => "figi",
        "COMPOSITE_ID_BB_GLOBAL" => "compositeFIGI",
        "ID_BB_GLOBAL_SHARE_CLASS_LEVEL" => "shareClassFIGI",
        "BASE_TICKER" => return None,
        id_type => id_type,
    };
    has(instrument, column, job["idValue"].as_str().unwrap())
        .err()
        .or_else(|| why_filtered_out(job, instrument))
}

/// Every recorded mapping job.
fn recordings(folder: &Path) -> Vec<Recording> {
    let mut recordings = Vec::new();
    for Exchange { path, request, answer } in exchanges(folder) {
        let (Value::Array(jobs), Value::Array(answers)) = (request, answer) else { continue };
        for (job, answer) in jobs.into_iter().zip(answers) {
            if !is_transient(&answer) {
                recordings.push(Recording { path: path.clone(), job, answer });
            }
        }
    }
    recordings
}
