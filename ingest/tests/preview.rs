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

/// The previews of dumps. The exit code says whether a build can read all of them.
fn inspect(folder: &Path, arguments: &[&str]) -> Value {
    let printed = run(folder, &[&["inspect", "--json"], arguments].concat());
    let previews: Value = serde_json::from_slice(&printed.stdout).unwrap();
    let is_read = |one: &Value| one["problem"].is_null() || !one["enrichesAs"].is_null();
    let code = i32::from(!previews.as_array().unwrap().iter().all(is_read));
    assert_eq!(printed.status.code(), Some(code), "{previews:#}{}", text(&printed.stderr));
    previews
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

/// The exit code: 0 when a build can read every dump, 1 when not, even where a columns file is
/// proposed, and 2 for a usage error.
#[test]
fn the_exit_code_says_whether_a_build_can_read_it() {
    let folder = tempfile::tempdir().unwrap();
    for (name, dump, arguments, code) in [
        ("dump.csv", "figi,ticker\nBBG000BLNNH6,IBM\n", &[][..], 0),
        ("rejected.csv", "figi\nBBG000BLNNH5\n", &[], 0),
        ("unknown.csv", "Security;FIGI Code\nIBM;BBG000BLNNH6\n", &[], 1),
        ("letter.txt", "a letter to a friend", &[], 1),
        ("empty.csv", "", &[], 1),
        ("blank.jsonl", "\n\n", &[], 1),
        ("broken.csv", "figi\nBBG000BLNNH6\n\"", &[], 1),
        ("usage.csv", "figi\n", &["--rows", "0"], 2),
    ] {
        fs::write(folder.path().join(name), dump).unwrap();
        let printed = run(folder.path(), &[&["inspect", name], arguments].concat());
        assert_eq!(printed.status.code(), Some(code), "{name}: {}", text(&printed.stderr));
        let shown = text(&printed.stdout).replace("\n  ", " ");
        let is_blank = dump.trim().is_empty();
        assert_eq!(shown.contains("the dump is empty: expected a header row"), is_blank, "{shown}");
    }
    let printed = run(folder.path(), &["inspect", "no-such-file"]);
    assert_eq!(printed.status.code(), Some(1));
}

/// A pipe that nobody writes to is named on standard error; then it is read like a file, once.
#[test]
fn a_pipe_is_waited_for_and_read_once() {
    use std::io::{BufRead as _, BufReader};
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut reading = Command::new(env!("CARGO_BIN_EXE_figdex-ingest"))
        .args(["inspect", "pipe", "--json"])
        .current_dir(&folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = String::new();
    BufReader::new(reading.stderr.take().unwrap()).read_line(&mut said).unwrap();
    assert_eq!(said, "waiting for data from pipe: no program writes to it\n");
    fs::write(&pipe, "Security;FIGI Code\nIBM;BBG000BLNNH6\n").unwrap();
    let printed = reading.wait_with_output().unwrap();
    let previews: Value = serde_json::from_slice(&printed.stdout).unwrap();
    assert_eq!(previews[0]["input"], "pipe");
    assert!(previews[0]["proposal"].as_str().unwrap().contains("figi = \"FIGI Code\""));
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
