//! Tests the dry run of `figdex-ingest inspect` over dumps, and that what it proposes works: the
//! proposal is saved, a build takes it, and the index has the instruments.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn run(folder: &Path, arguments: &[&str]) -> Output {
    let program = env!("CARGO_BIN_EXE_figdex-ingest");
    Command::new(program).args(arguments).current_dir(folder).output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    str::from_utf8(bytes).unwrap()
}

/// The previews of the dump `name`.
fn inspect(folder: &Path, arguments: &[&str]) -> Value {
    let printed = run(folder, &[&["inspect", "--json"], arguments].concat());
    assert!(printed.status.success(), "{}", text(&printed.stderr));
    serde_json::from_slice(&printed.stdout).unwrap()
}

/// Builds the dump as its proposal says, and returns the instruments as CSV.
fn built_as_proposed(folder: &Path, name: &str, dump: &[u8]) -> String {
    fs::write(folder.join(name), dump).unwrap();
    let previews = inspect(folder, &[name]);
    let proposal = previews[0]["proposal"].as_str().unwrap_or_else(|| panic!("{previews:#}"));
    assert!(!proposal.contains("compositeFIGI"), "{name} has no composites: {proposal}");
    fs::write(folder.join("columns.toml"), proposal).unwrap();
    let flags = ["build", name, "--columns", "columns.toml", "--index", "index", "--strict"];
    let built = run(folder, &flags);
    assert!(built.status.success(), "{proposal}\n{}", text(&built.stderr));
    let exported = run(folder, &["export", "index"]);
    text(&exported.stdout).to_owned()
}

#[test]
fn a_proposal_works_when_saved() {
    let windows = b"Security;FIGI Code;Isin No;Ccy;Due\r\nM\xfcller;BBG000BLNNH6;US4592001014;USD;01.08.2027\r\n";
    let document = br#"{"page": 1, "results": [{"Label": "IBM Corp", "ids": {"global": "BBG000BLNNH6", "isin": "US4592001014"}, "maturity_date": "2027-08-01"}]}"#;
    let lines = b"{\"Security Name\": \"IBM Corp\", \"id\": \"BBG000BLNNH6\", \"code\": \"US4592001014\", \"maturity\": \"20270801\"}\n";
    let headless = b"BBG000BLNNH6|US4592001014|x\nBBG000BLNQ16|US0378331005|y\n";
    for (name, dump) in [
        ("windows.csv", &windows[..]),
        ("document.json", document),
        ("lines.jsonl", lines),
        ("headless.psv", headless),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let exported = built_as_proposed(folder.path(), name, dump);
        let row = exported.lines().find(|line| line.starts_with("BBG000BLNNH6")).unwrap();
        assert!(row.contains("US4592001014"), "{name}: {exported}");
        assert!(
            name == "headless.psv" || name == "windows.csv" || row.contains("2027-08-01"),
            "{row}"
        );
    }
}

/// The numbers, samples and hints of a dry run are those of the dump, and nothing is written.
#[test]
fn a_dry_run_says_how_rows_fare() {
    let folder = tempfile::tempdir().unwrap();
    let dump = "figi,Tickr,exchange,coupon,cik\nBBG000BLNNH6,IBM,US,6.22,1\nBBG000BLNNH5,IBN,US,1,2\n\
                BBG000BLNQ16,IBM,UN,7 5/8,3\n,X,US,,4\n";
    fs::write(folder.path().join("dump.csv"), dump).unwrap();
    let previews = inspect(folder.path(), &["dump.csv"]);
    let found = &previews[0];
    assert_eq!(found["format"], "canonical");
    let counts =
        ["read", "accepted", "rejected", "skipped"].map(|key| found[key].as_u64().unwrap());
    assert_eq!(counts, [4, 2, 2, 0], "{found:#}");
    assert_eq!(found["isWhole"], true);
    let hints = found["ignored"].as_array().unwrap().iter();
    let hints: Vec<_> =
        hints.map(|one| (one["name"].as_str().unwrap(), one["didYouMean"].as_str())).collect();
    assert_eq!(hints, [("Tickr", Some("ticker")), ("exchange", Some("exchCode")), ("cik", None)]);
    let check_digit = found["rejects"].as_array().unwrap().iter();
    let sample = check_digit.map(|one| &one["samples"][0]).find(|one| one["line"] == 3).unwrap();
    assert_eq!(sample["value"], "BBG000BLNNH5");
    assert_eq!(found["dropped"][0]["column"], "coupon");
    assert_eq!(found["dropped"][0]["samples"][0]["value"], "7 5/8");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);

    let few = inspect(folder.path(), &["dump.csv", "--rows", "1"]);
    assert_eq!((&few[0]["read"], &few[0]["isWhole"]), (&1.into(), &false.into()));
    let printed = run(folder.path(), &["inspect", "dump.csv"]);
    assert!(text(&printed.stdout).lines().all(|line| line.chars().count() <= 80));
}

/// Standard input, a folder, and a file that is not a dump among others.
#[test]
fn dumps_come_from_anywhere() {
    let folder = tempfile::tempdir().unwrap();
    let mut reading = Command::new(env!("CARGO_BIN_EXE_figdex-ingest"))
        .args(["inspect", "-", "--json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = reading.stdin.take().unwrap();
    input.write_all(b"figi,ticker\nBBG000BLNNH6,IBM\n").unwrap();
    drop(input);
    let printed = reading.wait_with_output().unwrap();
    let previews: Value = serde_json::from_slice(&printed.stdout).unwrap();
    assert_eq!(previews[0]["accepted"], 1);

    let dumps = folder.path().join("dumps");
    fs::create_dir(&dumps).unwrap();
    fs::write(dumps.join("a.csv"), "figi\nBBG000BLNNH6\n").unwrap();
    fs::write(dumps.join("b.txt"), "a letter to a friend").unwrap();
    let printed = run(folder.path(), &["inspect", "dumps"]);
    assert_eq!(printed.status.code(), Some(1));
    let shown = text(&printed.stdout);
    assert!(shown.contains("a.csv") && shown.contains("b.txt"), "{shown}");
    assert!(text(&printed.stderr).contains("1 of 2 files"));
}

/// The lists are readable on a terminal, and hold every column and format as JSON.
#[test]
fn columns_and_formats_are_listed() {
    let folder = tempfile::tempdir().unwrap();
    for (command, name) in [("columns", "ID_BB_GLOBAL_SHARE_CLASS_LEVEL"), ("formats", "kaiko")] {
        let shown = run(folder.path(), &[command]);
        assert!(text(&shown.stdout).contains(name));
        assert!(text(&shown.stdout).lines().all(|line| line.chars().count() <= 80));
        let json = run(folder.path(), &[command, "--json"]);
        let list: Vec<Value> = serde_json::from_slice(&json.stdout).unwrap();
        assert!(list.iter().any(|entry| entry["name"] == name));
    }
}
