//! Recorded value lists: Figdex lists the values that the service listed, in the same order.

use std::path::Path;

use serde_json::Value;

use super::{Differences, read};
use crate::support::Server;

/// Replays every recorded list.
pub(super) fn replay_all(server: &Server, folder: &Path, differences: &mut Differences) {
    let mut replayed = 0;
    for pair in read(&folder.join("real/recorded-pairs.json")).as_array().unwrap() {
        let path = pair["path"].as_str().unwrap_or_default();
        let Some((_, key)) = path.split_once("/mapping/values/") else { continue };
        let texts = |values: &Value| -> Vec<String> {
            let values = values["values"].as_array().unwrap();
            values.iter().map(|value| value.as_str().unwrap().to_owned()).collect()
        };
        let answer = server.request("GET", path, &[], "");
        assert_eq!(answer.status, 200, "{path}");
        let ours = texts(&serde_json::from_str(&answer.body).unwrap());
        let (listed, gone): (Vec<_>, Vec<_>) =
            texts(&pair["response"]).into_iter().partition(|value| ours.contains(value));
        for _ in gone {
            *differences.entry(format!("value of {key}: not in the lists of 2025")).or_default() +=
                1;
        }
        assert!(!listed.is_empty(), "{path}");
        let places = listed.iter().map(|value| ours.iter().position(|our| our == value));
        if !places.collect::<Vec<_>>().is_sorted() {
            *differences.entry(format!("values of {key}: another order")).or_default() += 1;
        }
        replayed += 1;
    }
    assert!(replayed > 10, "{replayed}");
}
