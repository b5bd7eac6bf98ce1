//! The outcome of a build, in its report and in the records of its index: every build replaces the
//! report of an earlier one, however it ends.

use std::fs;
use std::path::Path;

use figdex_index::{BuildRecord, BuildResult};
use serde_json::Value;

use crate::support::{figi, ingest};

/// A dump of this many instruments, whose names end with a text.
fn dump(folder: &Path, rows: u32, suffix: &str) {
    let rows = (0..rows).map(|number| format!("{},COMPANY {number}{suffix}\n", figi(number)));
    let text = format!("figi,name\n{}", rows.collect::<String>());
    fs::write(folder.join("dump.csv"), text).unwrap();
}

/// Runs a build, and returns its exit code, its report and the last record of the index.
fn build(folder: &Path, input: &str, flags: &[&str]) -> (i32, Value, Option<BuildRecord>) {
    let build = ["build", input, "--index", "index", "--report", "report.json", "--quiet"];
    let (code, _, error) = ingest(folder, &[&build[..], flags].concat());
    let report = fs::read(folder.join("report.json")).unwrap_or_else(|_| panic!("{error}"));
    let records = BuildRecord::all(&folder.join("index")).unwrap_or_default();
    (code, serde_json::from_slice(&report).unwrap(), records.into_iter().next_back())
}

#[test]
fn every_build_leaves_its_own_report() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let limits = ["--max-removed", "2%", "--max-changed", "20%"];
    dump(folder, 100, "");
    let (code, report, record) = build(folder, "dump.csv", &limits);
    let record = record.unwrap();
    assert_eq!((code, report["result"].as_str()), (0, Some("published")));
    assert_eq!((record.result, record.generation), (BuildResult::Published, Some(1)));
    assert_eq!(report["ended_at"], record.ended_at.unwrap());
    dump(folder, 50, "");
    fs::write(folder.join("quote.csv"), "figi\n\"").unwrap();
    fs::write(folder.join("unlike.csv"), "a,b\n1,2\n").unwrap();
    fs::create_dir(folder.join("empty")).unwrap();
    fs::write(folder.join("wrong.csv"), "figi\nBBG000BLNNH7\n").unwrap();
    let mut before = report["started_at"].clone();
    for (input, flags, result, reason) in [
        ("dump.csv", &limits[..], "refused", "50 of 100 instruments would be removed"),
        ("quote.csv", &[], "failed", "quote.csv"),
        ("unlike.csv", &[], "failed", "unlike.csv"),
        ("missing.csv", &[], "failed", "missing.csv"),
        ("empty", &[], "failed", "empty"),
        ("dump.csv", &["--columns", "missing.toml"], "failed", "missing.toml"),
        ("dump.csv", &["--expect", "missing.jsonl"], "failed", "missing.jsonl"),
        ("dump.csv", &["--exchanges", "missing.csv"], "failed", "missing.csv"),
        ("wrong.csv", &[], "refused", "1 of 1 rows were rejected"),
    ] {
        let (code, report, record) = build(folder, input, flags);
        let record = record.unwrap();
        assert_eq!((code, report["result"].as_str()), (1, Some(result)), "{input}: {report}");
        assert!(report["reason"].as_str().unwrap().contains(reason), "{input}: {report}");
        assert_eq!(report["published"], Value::Null, "{input}");
        assert_eq!(record.result.name(), result, "{input}");
        assert_eq!(report["started_at"], record.started_at, "{input}");
        assert_eq!(report["ended_at"], record.ended_at.unwrap(), "{input}");
        assert!(report["started_at"].as_str() > before.as_str(), "{input}");
        before = report["started_at"].clone();
        if input == "dump.csv" && result == "refused" {
            assert_eq!(report["comparison"]["removed"], 50);
            assert_eq!(report["total"]["read"], 50);
        }
    }
}

/// A report that cannot be written does not leave that of an earlier build; a usage error and a report
/// that is an input change nothing.
#[test]
fn a_report_of_another_build_does_not_stay() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    dump(folder, 10, "");
    let published = build(folder, "dump.csv", &[]).1;
    assert_eq!(published["result"], "published");
    let unchanged = ingest(folder, &["build", "--report", "report.json", "--nonsense"]);
    assert_eq!(unchanged.0, 2);
    let (code, _, error) =
        ingest(folder, &["build", "report.json", "--index", "index", "--report", "report.json"]);
    assert!(code == 1 && error.contains("are the same file"), "{error}");
    let (code, _, error) = ingest(
        folder,
        &["build", "missing", "report.json", "--index", "index", "--report", "report.json"],
    );
    assert!(code == 1 && error.contains("missing"), "{error}");
    let report: Value =
        serde_json::from_slice(&fs::read(folder.join("report.json")).unwrap()).unwrap();
    assert_eq!(report, published);
    // Something is in the way of the new file: the build publishes, and says so.
    fs::create_dir(folder.join(".report.json.new")).unwrap();
    let (code, _, error) =
        ingest(folder, &["build", "dump.csv", "--index", "index", "--report", "report.json"]);
    let said = "generation 2 is published, but its report or rejects file is not written";
    assert!(code == 1 && error.contains(said) && error.contains("is in the way"), "{error}");
    assert!(!folder.join("report.json").exists());
    let records = BuildRecord::all(&folder.join("index")).unwrap();
    assert_eq!(records.last().unwrap().result, BuildResult::Published);
}

/// A build whose flags contradict each other replaces the report too. Without a folder for the index
/// there is none to note it in.
#[test]
fn a_build_that_cannot_begin_leaves_its_report() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    dump(folder, 10, "");
    assert_eq!(build(folder, "dump.csv", &[]).1["result"], "published");
    for (flags, reason) in [
        (&["--work", "work"][..], "--work is for an index that is published elsewhere"),
        (&["--shards", "2"], "--shards is for an index that is published elsewhere"),
    ] {
        let (code, report, record) = build(folder, "dump.csv", flags);
        assert_eq!((code, report["result"].as_str()), (1, Some("failed")), "{report}");
        assert!(report["reason"].as_str().unwrap().contains(reason), "{report}");
        assert_eq!(record.unwrap().result, BuildResult::Failed, "{flags:?}");
    }
    if cfg!(feature = "object-storage") {
        let arguments = ["build", "dump.csv", "--index", "s3://bucket", "--report", "report.json"];
        assert_eq!(ingest(folder, &arguments).0, 1);
        let report = fs::read(folder.join("report.json")).unwrap();
        let report: Value = serde_json::from_slice(&report).unwrap();
        assert!(report["reason"].as_str().unwrap().contains("name it with --work DIR"), "{report}");
        assert_eq!(BuildRecord::all(&folder.join("index")).unwrap().len(), 3);
    }
}

/// A dump of which a column is taken for that of a property: its values are counted, the property is
/// named, and nothing is published.
#[test]
fn too_many_values_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let rows = (0..30_000).map(|number| format!("{},{number}-{number}\n", figi(number)));
    let text = format!("figi,securityType\n{}", rows.collect::<String>());
    fs::write(folder.join("dump.csv"), text).unwrap();
    let (code, report, _) = build(folder, "dump.csv", &[]);
    let reason = report["reason"].as_str().unwrap();
    assert_eq!((code, &report["result"]), (1, &"failed".into()), "{reason}");
    for expected in
        ["different values of properties", "of them of securityType", "has room for about"]
    {
        assert!(reason.contains(expected), "{reason}");
    }
}

/// A difference that is within the limits and several times that of the builds before is warned of.
#[test]
fn an_unusual_difference_is_warned_of() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let limits = ["--max-removed", "2%", "--max-changed", "20%"];
    let night = |changed: usize| {
        let rows = (0..100).map(|number| {
            let name = if number < changed { "OTHER" } else { "COMPANY" };
            format!("{},{name} {number}\n", figi(number as u32))
        });
        fs::write(folder.join("dump.csv"), format!("figi,name\n{}", rows.collect::<String>()))
            .unwrap();
        let (code, report, _) = build(folder, "dump.csv", &limits);
        assert_eq!(code, 0, "{report}");
        let warnings = report["warnings"].as_array().unwrap().clone();
        warnings
            .into_iter()
            .filter(|one| one.as_str().unwrap().contains("(median)"))
            .collect::<Vec<_>>()
    };
    for changed in [0, 0, 1, 2, 3] {
        assert_eq!(night(changed), [Value::Null; 0]);
    }
    assert_eq!(
        night(15),
        [
            "12.00 % of the published instruments are changed; in the last 3 builds that differed it was \
             1.00 % (median)"
        ]
    );
}
