//! Inputs that cannot be read: what the message says of them, and what to do.

use std::fs;
use std::path::Path;

use crate::support::ingest;

const DUMP: &str = "figi,ticker\nBBG000BLNNH6,IBM\n";

/// Runs `figdex-ingest build` with these inputs, which must fail and leave no index behind.
fn refused(folder: &Path, inputs: &[&str]) -> String {
    let arguments = [&["build", "--index", "index"], inputs].concat();
    let (code, report, error) = ingest(folder, &arguments);
    assert_eq!((code, report.as_str()), (1, ""), "{error}");
    assert!(!folder.join("index").exists());
    error
}

/// All inputs that are not dumps are reported together, those with the same fault on one line, before
/// a row of any is read. A long list is cut.
#[test]
fn all_files_that_are_not_dumps_are_reported_together() {
    let desk = tempfile::tempdir().unwrap();
    let folder = desk.path();
    fs::create_dir(folder.join("dumps")).unwrap();
    for (name, content) in [
        ("dumps/a.csv", &format!("{DUMP}BBG000B9XRY4,\"")[..]),
        ("dumps/b.xlsx", "PK\x03\x04\x14\0\x06\0\x08\0[Content_Types].xml"),
        ("dumps/c.csv", "FIGI Code,ticker\nBBG000BLNNH6,IBM\n"),
        ("dumps/notes", "Notes on these files"),
        ("dumps/read.me", "More notes"),
        ("more.pdf", "%PDF-1.7"),
    ] {
        fs::write(folder.join(name), content).unwrap();
    }
    let error = refused(folder, &["dumps", "--enrich", "more.pdf"]);
    for part in [
        "nothing is published: 5 of 6 inputs cannot be read\n",
        "\n    dumps/b.xlsx: this is a spreadsheet: save the sheet as CSV",
        "\n    dumps/c.csv, line 1: the header has no column figi, only FIGI Code,ticker",
        "\n    dumps/notes; dumps/read.me: unknown format",
        "\n    more.pdf: this is a PDF",
        "\n  correct them, or leave out those that are not dumps\n",
    ] {
        assert!(error.contains(part), "{part}\n{error}");
    }
    let error = refused(folder, &["no-such-file", "dumps/a.csv", "nor-this-one"]);
    let expected = "2 of 3 inputs cannot be read\n    no-such-file; nor-this-one: no such file";
    assert!(error.contains(expected), "{error}");
    for number in 0..30 {
        fs::write(folder.join(format!("dumps/{number}.pdf")), "%PDF-1.7").unwrap();
    }
    let error = refused(folder, &["dumps"]);
    assert!(
        error.contains("34 of 35 inputs") && error.contains("\n    … and 14 more\n"),
        "{error}"
    );
}

/// What can be read only once is not looked at before: a pipe has all its rows.
#[test]
fn pipes_are_read_once() {
    let desk = tempfile::tempdir().unwrap();
    fs::write(desk.path().join("dump.csv"), DUMP).unwrap();
    let pipe = desk.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let other = DUMP.replace("BBG000BLNNH6,IBM", "BBG000B9XRY4,AAPL");
    let writer = std::thread::spawn(move || fs::write(pipe, other));
    let arguments = ["build", "dump.csv", "pipe", "--index", "index", "--strict"];
    let (code, report, error) = ingest(desk.path(), &arguments);
    assert!(code == 0 && report.contains("generation 1: 2 instruments"), "{report}{error}");
    writer.join().unwrap().unwrap();
}
