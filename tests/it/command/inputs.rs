//! Inputs that cannot be read: what the message says of them, and what to do.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use figdex_io::Layout;

use crate::support::process::{figdex, run};
use crate::support::{generated, ingest};

const DUMP: &str = "figi,ticker\nBBG000BLNNH6,IBM\n";

/// Runs `figdex-ingest build` with these inputs, which must fail and publish nothing.
fn refused(folder: &Path, inputs: &[&str]) -> String {
    let arguments = [&["build", "--index", "index"], inputs].concat();
    let (code, report, error) = ingest(folder, &arguments);
    assert_eq!((code, report.as_str()), (1, ""), "{error}");
    assert!(!folder.join("index/CURRENT").exists());
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
    assert!(!folder.join("index").exists(), "the build did not begin");
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

/// A pipe can be read only once, so it is not looked at before: it has all its rows.
#[test]
fn pipes_are_read_once() {
    let desk = tempfile::tempdir().unwrap();
    fs::write(desk.path().join("dump.csv"), DUMP).unwrap();
    let pipe = desk.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let other = DUMP.replace("BBG000BLNNH6,IBM", "BBG000B9XRY4,AAPL");
    let writer = std::thread::spawn(move || fs::write(pipe, other));
    let arguments = ["build", "dump.csv", "pipe", "--index", "index", "--strict"];
    let (code, report, error) = ingest(desk.path(), &arguments);
    assert!(code == 0 && report.contains("generation 1: 2 instruments"), "{report}{error}");
    writer.join().unwrap().unwrap();
}

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(content).unwrap();
    packed.finish().unwrap()
}

/// Compressed files that are cut off or damaged, and files that are not compressed although their
/// names say so: the message says which, and what to do.
#[test]
fn compressed_files_that_cannot_be_unpacked() {
    let desk = tempfile::tempdir().unwrap();
    let folder = desk.path();
    let dump = generated(2_000, Layout::Csv);
    let mut bzip2 = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    bzip2.write_all(&dump).unwrap();
    let packed = [
        ("gz", "gzip", gzip(&dump)),
        ("zst", "zstd", zstd::encode_all(&dump[..], 1).unwrap()),
        ("bz2", "bzip2", bzip2.finish().unwrap()),
    ];
    for (ending, name, whole) in packed {
        let file = &format!("dump.csv.{ending}");
        fs::write(folder.join(file), &whole[..whole.len() / 2]).unwrap();
        let error = refused(folder, &[file]);
        assert!(error.contains("is cut off: copy or download it again"), "{name}: {error}");
        let mut damaged = whole.clone();
        damaged[20..60].fill(0xFF);
        fs::write(folder.join(file), damaged).unwrap();
        let error = refused(folder, &[file]);
        let expected = format!("begins as {name} does, but its bytes are damaged (");
        assert!(error.contains(&expected), "{name}: {error}");
        fs::write(folder.join(file), "<!DOCTYPE html><title>Sign in</title>\n").unwrap();
        let error = refused(folder, &[file]);
        assert!(error.contains("its bytes are neither gzip, zstd nor bzip2"), "{name}: {error}");
        // Text that reads well is read, whatever its name is.
        fs::write(folder.join(file), DUMP).unwrap();
        let (code, _, error) = ingest(folder, &["build", file, "--index", "plain"]);
        assert_eq!(code, 0, "{name}: {error}");
    }
}

/// The message about a path says what an index and a dump would be, when it is neither.
#[test]
fn inspect_of_neither() {
    let desk = tempfile::tempdir().unwrap();
    fs::create_dir(desk.path().join("empty")).unwrap();
    for (name, what) in [("nope", "no such file or folder"), ("empty", "the folder contains no")] {
        let (code, _, error) = ingest(desk.path(), &["inspect", name]);
        assert_eq!(code, 1);
        for part in [what, "the folder of an index (it has a file CURRENT), or a dump"] {
            assert!(error.contains(part), "{part}: {error}");
        }
    }
}

/// A refusal of the system names the user that the program runs as.
#[test]
fn permission_denied() {
    let desk = tempfile::tempdir().unwrap();
    let folder = desk.path();
    fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
    let dump = folder.join("dump.csv");
    fs::write(&dump, DUMP).unwrap();
    assert_eq!(ingest(folder, &["build", "dump.csv", "--index", "index"]).0, 0);
    for path in [dump, folder.join("index")] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o000)).unwrap();
    }
    let program = folder.join("program");
    fs::copy(crate::support::program(), &program).unwrap();
    for arguments in [&["build", "dump.csv", "--index", "other"][..], &["verify", "index"]] {
        let mut command = Command::new(&program);
        // Only root may run a program as somebody else; anybody else is refused as it is.
        if fs::metadata("/proc/self").unwrap().uid() == 0 {
            command.uid(65_534).gid(65_534);
        }
        let output = command.current_dir(folder).args(arguments).output().unwrap();
        let said =
            String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains("Permission denied"), "{said}");
        assert!(said.contains("this program runs as the user "), "{said}");
    }
}

/// A number that is not one: what is expected, and exit code 2.
#[test]
fn numbers_are_asked_for_in_plain_words() {
    let desk = tempfile::tempdir().unwrap();
    for arguments in [
        &["generate", "--count", "1k", "--seed", "1"][..],
        &["inspect", "dump.csv", "--rows", "many"],
        &["build", "dump.csv", "--index", "index", "--keep", "two"],
    ] {
        let (code, _, error) = ingest(desk.path(), arguments);
        assert_eq!(code, 2, "{error}");
        assert!(error.contains("expected a whole number in digits, such as 1000"), "{error}");
    }
}

/// The value of a switch after a blank, and a column that is named differently in the file: what was
/// meant.
#[test]
fn what_was_meant() {
    let desk = tempfile::tempdir().unwrap();
    for (value, meant) in [("yes", "true"), ("off", "false")] {
        let (code, _, error) = run(figdex().args(["--no-limits", value]));
        assert_eq!(code, Some(2), "{error}");
        assert!(error.contains(&format!("as in --no-limits={meant}\n")), "{error}");
    }
    fs::write(desk.path().join("dump.csv"), DUMP).unwrap();
    fs::write(desk.path().join("list.csv"), "FIGI Code,name\nBBG000BLNNH6,IBM\n").unwrap();
    assert_eq!(ingest(desk.path(), &["build", "dump.csv", "--index", "index"]).0, 0);
    let mut map = figdex();
    map.current_dir(desk.path()).args(["map", "list.csv", "--index", "index", "--id", "figi"]);
    let (code, _, error) = run(&mut map);
    assert_eq!(code, Some(1), "{error}");
    assert!(error.contains("no such column (did you mean \"FIGI Code\"?); the columns"), "{error}");
}

/// Headings are compared without letter case. A name that the dump has exactly comes first, and two
/// headings for one column are refused.
#[test]
fn headings_in_another_letter_case() {
    let desk = tempfile::tempdir().unwrap();
    let folder = desk.path();
    let build = |dump: &str, flags: &[&str]| {
        fs::write(folder.join("dump.csv"), dump).unwrap();
        ingest(folder, &[&["build", "dump.csv", "--index", "index", "--quiet"], flags].concat())
    };
    let exported = || ingest(folder, &["export", "index"]).1;
    let (code, _, error) = build("FIGI,Ticker,ISIN\nBBG000BLNNH6,IBM,US4592001014\n", &[]);
    assert_eq!(code, 0, "{error}");
    assert!(exported().contains("BBG000BLNNH6,,,IBM,"), "{}", exported());
    let (code, _, error) = build("Figi,TICKER,ticker\nBBG000BLNNH6,BRK.B,BRK.B\n", &["--strict"]);
    assert_eq!((code, error.as_str()), (0, ""));
    let (code, _, error) = build("Figi,FIGI\nBBG000BLNNH6,BBG000B9XRY4\n", &[]);
    assert!(
        code == 1 && error.contains("dump.csv, line 1: the header names figi twice"),
        "{error}"
    );
    let (code, _, error) = build("figi,FIGI\nBBG000BLNNH6,BBG000B9XRY4\n", &[]);
    assert_eq!((code, error.as_str()), (0, ""));
    assert!(exported().contains("BBG000BLNNH6"));
}

/// A column that is ignored and resembles a known one is a warning of a build, too; the number of
/// warnings is bounded.
#[test]
fn columns_that_resemble_known_ones_are_warned_of() {
    let desk = tempfile::tempdir().unwrap();
    let folder = desk.path();
    fs::write(folder.join("dump.csv"), "figi,isin,cik\nBBG000BLNNH6,US4592001014,1\n").unwrap();
    let build = ["build", "dump.csv", "--index", "index", "--quiet"];
    let (code, _, error) = ingest(folder, &build);
    let expected = "figdex-ingest: warning: dump.csv: the column isin is ignored: did you mean \
                    ID_ISIN? rename it, or describe the dump with --columns\n";
    assert_eq!((code, error.as_str()), (0, expected));
    let many: Vec<_> = (0..50).map(|number| format!("isin{}", "_".repeat(number))).collect();
    let dump = format!("figi,{}\nBBG000BLNNH6{}\n", many.join(","), ",x".repeat(50));
    fs::write(folder.join("dump.csv"), dump).unwrap();
    let (code, _, error) = ingest(folder, &build);
    assert_eq!((code, error.lines().count()), (0, 11), "{error}");
    assert!(error.contains("40 more columns are ignored and resemble known ones"), "{error}");
}
