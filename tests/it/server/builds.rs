//! The last build among the metrics of a server: also one that published nothing, and one that was
//! killed.

use std::fs;
use std::time::Instant;

use figdex_index::{BuildRecord, BuildResult};

use crate::support::ingest;
use crate::support::process::{PATIENCE, Process};

const METRICS: &str = "GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";

/// Waits until the metrics have a line.
fn wait_for(server: &Process, line: &str) -> String {
    let start = Instant::now();
    loop {
        let page = server.exchange(METRICS);
        if page.lines().any(|one| one == line) {
            return page;
        }
        assert!(start.elapsed() < PATIENCE, "{line}: {page}");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

#[test]
fn the_last_build_is_among_the_metrics() {
    let server = Process::of_one(&[]);
    let index = server.index();
    let result = |result: &str| format!("figdex_last_build_result{{result=\"{result}\"}} 1");
    let page = wait_for(&server, &result("published"));
    assert!(page.contains("figdex_last_build_result{result=\"refused\"} 0"), "{page}");
    let record = BuildRecord::all(&index).unwrap().pop().unwrap();
    let ended: jiff::Timestamp = record.ended_at.unwrap().parse().unwrap();
    let line = format!("figdex_last_build_timestamp_seconds {}", ended.as_second());
    assert!(page.lines().any(|one| one == line), "{line}: {page}");

    let folder = index.parent().unwrap();
    fs::write(folder.join("other.csv"), "figi,ticker\nBBG000B9XRY4,AAPL\n").unwrap();
    let index_name = index.to_str().unwrap();
    let build = ["build", "other.csv", "--index", index_name, "--max-removed", "2%"];
    assert_eq!(ingest(folder, &build).0, 1);
    wait_for(&server, &result("refused"));
    assert_eq!(ingest(folder, &["build", "missing.csv", "--index", index_name]).0, 1);
    wait_for(&server, &result("failed"));
    // As a build that was killed leaves it.
    let started_at = "2026-03-02T03:30:00.000000Z".to_owned();
    let running = BuildRecord { started_at, ..BuildRecord::default() };
    running.begin(&index).unwrap();
    assert_eq!(running.result, BuildResult::Running);
    let page = wait_for(&server, &result("running"));
    assert!(page.contains("figdex_last_build_timestamp_seconds 1772422200"), "{page}");
    // Records that cannot be read are one line in the log, and no metric.
    fs::write(index.join("builds.jsonl"), "{").unwrap();
    server.wait_for("the records of the last builds cannot be read", 1);
    let start = Instant::now();
    while server.exchange(METRICS).contains("figdex_last_build") {
        assert!(start.elapsed() < PATIENCE);
    }
    assert_eq!(server.count("the records of the last builds cannot be read"), 1);
}
