//! The commands over an index in a cluster: the same words and the same bytes as over a folder.

use std::fs;
use std::path::Path;
use std::process::Command;

use figdex_io::Layout;
use serde_json::Value;

use super::in_cluster;
use crate::support::process::{figdex, run};
use crate::support::{generated, program};

/// Runs `figdex-ingest`, which must succeed. Returns what it prints.
fn ingest(folder: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new(program());
    let (code, printed, error) = run(command.current_dir(folder).args(arguments));
    assert_eq!(code, Some(0), "{arguments:?} {error}");
    printed
}

#[test]
fn a_dump_becomes_an_index_in_a_cluster() {
    let Some(cluster) = in_cluster() else { return };
    let (address, name) = (cluster.address.to_string(), &*cluster.address.name);
    let desk = tempfile::tempdir().unwrap();
    let folder = desk.path();
    fs::write(folder.join("dump.csv"), generated(1_500, Layout::Csv)).unwrap();
    let division = ["--shards", "2", "--replicas", "0", "--grace", "0"];
    let built = |dump: &str| {
        let build = ["build", dump, "--work", "work", "--index", &address];
        ingest(folder, &[&build[..], &division].concat())
    };
    let report = built("dump.csv");
    assert!(report.contains("1,500"), "{report}");
    let line = format!("published generation 1 as {name}-000001: 1,500 documents in ");
    assert!(report.lines().any(|printed| printed.starts_with(&line)), "{report}");

    // What comes back is what went there.
    for format in ["csv", "jsonl"] {
        let [theirs, ours] =
            [&*address, "work"].map(|index| ingest(folder, &["export", index, "--format", format]));
        assert!(theirs == ours, "{format}");
    }
    let written = ["export", &address, "--out", "again.csv", "--values", "values"];
    ingest(folder, &written);
    ingest(folder, &["build", "again.csv", "--strict", "--values", "values", "--index", "again"]);
    assert!(ingest(folder, &["export", "again"]) == ingest(folder, &["export", "work"]));
    let verified = ingest(folder, &["verify", &address]);
    assert_eq!(verified, "generation 1 is intact: 1500 instruments were read\n");

    // The same counts, of all that a cluster counts.
    let inspect = |index: &str| -> Value {
        serde_json::from_str(&ingest(folder, &["inspect", index, "--json"])).unwrap()
    };
    let [theirs, ours] = [&*address, "work"].map(inspect);
    for member in ["generation", "instruments", "built_at", "sources", "program", "format"] {
        assert_eq!(theirs[member], ours[member], "{member}");
    }
    let sorted = |values: &Value| {
        let mut values: Vec<String> =
            values.as_array().unwrap().iter().map(Value::to_string).collect();
        values.sort();
        values
    };
    for (property, values) in ours["values"].as_object().unwrap() {
        assert_eq!(sorted(&theirs["values"][property]), sorted(values), "{property}");
    }
    assert_eq!(theirs["shards"], serde_json::json!({"number": 2, "replicas": 0}));
    let shown = ingest(folder, &["inspect", &address]);
    assert!(shown.contains("in 2 shards, each copied 0 times"), "{shown}");

    // The next build keeps the generation before, to which `rollback` goes back.
    fs::write(folder.join("more.csv"), generated(1_600, Layout::Csv)).unwrap();
    built("more.csv");
    let shown = ingest(folder, &["inspect", &address]);
    assert!(shown.contains("1,600 instruments") && shown.contains("also there: generation 1\n"));
    let back = ingest(folder, &["rollback", &address]);
    assert!(back.starts_with("published generation 1 again: 1500 instruments"), "{back}");
}

/// Flags that do not belong to the address are refused before anything is built.
#[test]
fn flags_of_the_other_kind_of_address() {
    let Some(cluster) = in_cluster() else { return };
    let address = cluster.address.to_string();
    let desk = tempfile::tempdir().unwrap();
    for (arguments, expected) in [
        (&["build", "x.csv", "--index", &*address][..], "name it with --work DIR"),
        (
            &["build", "x.csv", "--index", "i", "--work", "w"],
            "--work is for an index that is published elsewhere",
        ),
        (
            &["build", "x.csv", "--index", "i", "--shards", "2"],
            "--shards is for an index that is published elsewhere",
        ),
        (&["inspect", &address, "--sizes"], "--sizes shows the files of a folder"),
        (&["publish", "i", "folder"], "folder is a folder"),
    ] {
        let mut command = Command::new(program());
        let (code, _, error) = run(command.current_dir(desk.path()).args(arguments));
        assert_eq!(code, Some(1), "{arguments:?} {error}");
        assert!(error.contains(expected), "{arguments:?} {error}");
        assert_eq!(fs::read_dir(desk.path()).unwrap().count(), 0, "{arguments:?}");
    }
}

/// `figdex map` writes the same file.
#[test]
fn a_file_is_mapped_as_with_a_folder() {
    let Some(cluster) = in_cluster() else { return };
    let address = cluster.address.to_string();
    let desk = tempfile::tempdir().unwrap();
    let folder = desk.path();
    let dump = generated(2_000, Layout::Csv);
    fs::write(folder.join("dump.csv"), &dump).unwrap();
    ingest(folder, &["build", "dump.csv", "--index", "index", "--quiet"]);
    cluster.publish(&folder.join("index"));
    // Names and FIGIs of the dump as a spreadsheet of three columns, some of them unknown.
    let mut sheet = "FIGI,Ticker,Exchange\nBBG000BLNNH6,NOWHERE,US\n,,\n".to_owned();
    let mut rows = csv::Reader::from_reader(&dump[..]);
    let heading = rows.headers().unwrap().clone();
    let place = |name: &str| heading.iter().position(|column| column == name).unwrap();
    let (figi, ticker, exchange) = (place("figi"), place("ticker"), place("exchCode"));
    for row in rows.records().map(Result::unwrap).step_by(3) {
        let quoted = row[ticker].replace('"', "\"\"");
        sheet += &format!("{},\"{quoted}\",{}\n", &row[figi], &row[exchange]);
    }
    fs::write(folder.join("sheet.csv"), sheet).unwrap();
    for arguments in [
        &["--id", "FIGI:ID_BB_GLOBAL"][..],
        &["--id", "Ticker:TICKER", "--where", "exchCode=@Exchange", "--prefer", "composite"],
        &["--id", "Ticker", "--many", "all", "--include-unlisted-equities"],
        &["--id", "Ticker:TICKER", "--where", "currency=USD"],
    ] {
        let mapped = |index: &str| {
            let mut command = figdex();
            command.current_dir(folder).args(["map", "sheet.csv", "--index", index]);
            let (code, printed, error) = run(command.args(arguments));
            assert_eq!(code, Some(0), "{arguments:?} {error}");
            printed
        };
        let [theirs, ours] = [&*address, "index"].map(mapped);
        assert!(theirs == ours, "{arguments:?}");
        assert!(ours.contains(",resolved,") && ours.contains(",unknown,"), "{ours}");
    }
}
