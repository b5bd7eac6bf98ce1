//! A server over an index in a cluster: it follows what is published, and when the index cannot be
//! asked it says so, and recovers without help. No answer is ever wrong or short.

use std::path::Path;

use figdex_opensearch::client::Request;
use figdex_opensearch::rollback;
use serde_json::json;

use super::{ask, in_cluster};
use crate::support::cluster::{InCluster, wait_for};
use crate::support::process::{PATIENCE, Process, REQUEST, build_index, figdex, get, status};
use crate::support::{build_of, figi};

/// Starts a server over the index of a test.
fn served(cluster: &InCluster) -> Process {
    let address = cluster.address.to_string();
    Process::start(figdex().args(["--index", &address, "--listen", "127.0.0.1:0", "--no-limits"]))
}

/// Publishes an index of one instrument.
fn publish_one(cluster: &InCluster) {
    let folder = tempfile::tempdir().unwrap();
    let index = folder.path().join("index");
    build_index(&index);
    cluster.publish(&index);
}

/// Publishes an index of `count` instruments, which all have the ticker `IBM`.
fn publish_many(cluster: &InCluster, count: u32) {
    let folder = tempfile::tempdir().unwrap();
    let index: &Path = &folder.path().join("index");
    let rows = (0..count).map(|number| format!("{},IBM\n", figi(number)));
    let dump = format!("figi,ticker\n{}", rows.collect::<String>());
    let input = figdex_ingest::Input::Memory("dump", dump.into_bytes().into());
    build_of(vec![input], index).run(&mut |_| {}).unwrap();
    cluster.publish(index);
}

/// The number of rows of an answer to [`REQUEST`]; `None` when it is a 503 that says when to ask
/// again.
fn rows(figdex: &Process) -> Option<usize> {
    let answer = figdex.exchange(REQUEST);
    match status(&answer) {
        200 => Some(answer.matches(r#"{"figi":"#).count()),
        503 => {
            assert!(answer.to_lowercase().contains("\r\nretry-after: 1\r\n"), "{answer}");
            assert!(answer.ends_with("\r\n\r\nService Unavailable."), "{answer}");
            None
        }
        other => panic!("{other}: {answer}"),
    }
}

/// Waits until an answer has `expected` rows. Until then it may have those of `before`, or be a 503.
fn wait_for_rows(figdex: &Process, expected: usize, before: &[usize]) {
    let start = std::time::Instant::now();
    loop {
        match rows(figdex) {
            Some(found) if found == expected => return,
            Some(found) => assert!(before.contains(&found), "{found} rows"),
            None => {}
        }
        assert!(start.elapsed() < PATIENCE, "there are no {expected} rows");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

/// Contract 16.8: waits until the answer to `/readyz` has this status.
fn wait_for_readiness(figdex: &Process, status: u16) {
    let start = std::time::Instant::now();
    while get(figdex.address(), "/readyz").0 != status {
        assert!(start.elapsed() < PATIENCE, "/readyz is not {status}");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}

#[test]
fn a_new_generation_is_loaded() {
    let Some(cluster) = in_cluster() else { return };
    publish_one(&cluster);
    let figdex = served(&cluster);
    assert_eq!(rows(&figdex), Some(1));
    publish_many(&cluster, 70);
    wait_for_rows(&figdex, 70, &[1]);
    figdex.wait_for("loaded a new generation", 1);
    let (code, ready) = get(figdex.address(), "/readyz");
    assert_eq!((code, &ready["generation"], &ready["instruments"]), (200, &json!(2), &json!(70)));
    // The generation before is gone: a rollback says so, and nothing changes.
    let none = wait_for(rollback(&cluster.client, &cluster.address.name)).unwrap_err();
    assert!(none.to_string().contains("has no generation before 2"), "{none}");
    assert_eq!(rows(&figdex), Some(70));
    figdex.stop();
}

/// Contract 4.1: jobs that ask for the same are answered alike, with filters and without.
#[test]
fn equal_jobs_have_equal_answers() {
    let Some(cluster) = in_cluster() else { return };
    publish_many(&cluster, 3);
    let figdex = served(&cluster);
    let ibm = json!({"idType": "TICKER", "idValue": "IBM"});
    let unlisted = json!({"idType": "TICKER", "idValue": "IBM", "includeUnlistedEquities": true});
    for jobs in [json!([ibm, ibm]), json!([unlisted, unlisted]), json!([ibm, unlisted, ibm])] {
        let answer = figdex.map("", &jobs.to_string());
        assert_eq!(status(&answer), 200, "{answer}");
        let found = answer.matches(r#"{"figi":"#).count();
        assert_eq!(found, 3 * jobs.as_array().unwrap().len(), "{jobs}: {answer}");
    }
    figdex.stop();
}

/// The index is deleted, and published again.
#[test]
fn a_deleted_index_is_missed_until_it_is_back() {
    let Some(cluster) = in_cluster() else { return };
    publish_one(&cluster);
    let figdex = served(&cluster);
    let index = format!("{}-000001", cluster.address.name);
    ask(&cluster, Request::delete(&[&index])).unwrap();
    assert_eq!(rows(&figdex), None);
    figdex.wait_for("the cluster did not answer", 1);
    wait_for_readiness(&figdex, 503);
    figdex.wait_for("the published generation cannot be looked at", 1);
    publish_many(&cluster, 60);
    wait_for_rows(&figdex, 60, &[]);
    wait_for_readiness(&figdex, 200);
    figdex.stop();
}

/// An index that is closed, and opened again.
#[test]
fn a_closed_index_is_a_503_until_it_is_open() {
    let Some(cluster) = in_cluster() else { return };
    publish_many(&cluster, 60);
    let figdex = served(&cluster);
    let index = format!("{}-000001", cluster.address.name);
    ask(&cluster, Request::post(&[&index, "_close"])).unwrap();
    assert_eq!(rows(&figdex), None);
    ask(&cluster, Request::post(&[&index, "_open"])).unwrap();
    wait_for_rows(&figdex, 60, &[]);
    figdex.stop();
}

/// One of two shards is on no node: an answer of the other one would be short, so it is a 503.
#[test]
fn a_missing_shard_is_a_503() {
    let Some(cluster) = in_cluster() else { return };
    publish_many(&cluster, 60);
    let figdex = served(&cluster);
    let name = &cluster.address.name;
    let [whole, red] = ["000001", "000002"].map(|number| format!("{name}-{number}"));
    let mapping = ask(&cluster, Request::get(&[&whole, "_mapping"])).unwrap();
    // Both shards may only be on the first node, which may have only one of them.
    let body = json!({
        "mappings": mapping[&whole]["mappings"],
        "settings": {"index": {
            "number_of_shards": 2,
            "number_of_replicas": 0,
            "routing.allocation.include._name": "node-1",
            "routing.allocation.total_shards_per_node": 1,
            "blocks.write": true,
        }},
    });
    let create = Request::put(&[&red]).with("wait_for_active_shards", 0).json(&body);
    ask(&cluster, create).unwrap();
    let actions = json!({"actions": [
        {"remove": {"index": whole, "alias": name}},
        {"add": {"index": red, "alias": name}},
    ]});
    ask(&cluster, Request::post(&["_aliases"]).json(&actions)).unwrap();
    figdex.wait_for("loaded a new generation", 1);
    for path in ["/facets?query=ibm", "/suggest?query=ibm", "/instruments/BBG000BLNNH6", "/readyz"]
    {
        let (code, _) = get(figdex.address(), path);
        assert_eq!(code, 503, "{path}");
    }
    // A line in a while says so, not one for each question.
    for _ in 0..20 {
        rows(&figdex);
    }
    assert!(figdex.count("the cluster did not answer") < 5);
    assert_eq!(rows(&figdex), None);
    publish_many(&cluster, 70);
    wait_for_rows(&figdex, 70, &[]);
    figdex.stop();
}

/// A server that starts while nothing is published says what to do.
#[test]
fn nothing_is_published() {
    let Some(cluster) = in_cluster() else { return };
    let address = cluster.address.to_string();
    let mut command = figdex();
    command.args(["--index", &address, "--listen", "127.0.0.1:0"]);
    let (code, _, error) = crate::support::process::run(&mut command);
    assert_eq!(code, Some(1), "{error}");
    let name = &cluster.address.name;
    assert!(error.contains(&format!("the cluster has no index {name}; publish one")), "{error}");
}
