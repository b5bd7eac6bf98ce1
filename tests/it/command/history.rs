//! `figdex-ingest build --history` and `export --history`: the past of the instruments is kept,
//! carried on, replaced, dropped and moved, and never lost silently.

use std::fs;
use std::path::Path;

use figdex_index::{Manifest, PastEntry, PastLog};
use serde_json::Value;

use crate::support::{decay, figi, ingest};

const LIMITS: [&str; 6] =
    ["--max-removed", "100%", "--max-changed", "100%", "--max-column-loss", "100%"];

/// Writes the dump of a night: rows of `figi,ticker,name,securityType2`.
fn dump(folder: &Path, rows: impl IntoIterator<Item = String>) {
    let rows: String = rows.into_iter().map(|row| row + "\n").collect();
    fs::write(folder.join("dump.csv"), format!("figi,ticker,name,securityType2\n{rows}")).unwrap();
}

/// Rows with a number each, whose tickers are made of it.
fn rows(numbers: impl IntoIterator<Item = u32>, ticker: impl Fn(u32) -> String) -> Vec<String> {
    let row = |number| format!("{},{},NAME {number},Common Stock", figi(number), ticker(number));
    numbers.into_iter().map(row).collect()
}

/// The rows of a night of a small universe: some come and go, some change, and some are options.
fn night(number: u32) -> Vec<String> {
    let is_there = |row: &u32| !(row * 7 + number / 3).is_multiple_of(11);
    let row = |row: u32| {
        let ticker = if (row + number).is_multiple_of(17) { "" } else { "T" };
        let kind = if row.is_multiple_of(5) { "Option" } else { "Common Stock" };
        format!("{},{ticker}{},NAME {row},{kind}", figi(row), (row * 3 + number / 4) / 10)
    };
    (0..60).filter(is_there).map(row).collect()
}

fn build_in(folder: &Path, index: &str, flags: &[&str]) -> (i32, String, String) {
    ingest(folder, &[&["build", "dump.csv", "--index", index], flags].concat())
}

fn build(folder: &Path, day: &str, flags: &[&str]) -> (i32, String, String) {
    build_in(folder, "index", &[&["--date", day], flags].concat())
}

/// A build that keeps the past, which succeeds. Returns its report.
fn kept(folder: &Path, index: &str, day: &str, flags: &[&str]) -> String {
    let flags = [&["--history", "--date", day], &LIMITS[..], flags].concat();
    let (code, report, error) = build_in(folder, index, &flags);
    assert_eq!(code, 0, "{error}");
    report
}

fn published(folder: &Path, index: &str) -> Manifest {
    Manifest::published(&folder.join(index)).unwrap()
}

fn past(folder: &Path, index: &str) -> PastEntry {
    published(folder, index).past.unwrap()
}

/// The bytes of the published log.
fn log(folder: &Path, index: &str) -> Vec<u8> {
    let generation = published(folder, index).generation;
    let path = format!("{index}/generation-{generation:06}/past/versions.log");
    fs::read(folder.join(path)).unwrap()
}

/// The exported past of an index.
fn exported(folder: &Path, index: &str) -> Vec<u8> {
    let (code, _, error) = ingest(folder, &["export", index, "--history", "exported"]);
    assert_eq!(code, 0, "{error}");
    fs::read(folder.join("exported")).unwrap()
}

fn day(number: u32) -> String {
    format!("2026-01-{number:02}")
}

/// Flags that contradict each other or lack another are wrong usage, and the message names what is
/// missing.
#[test]
fn flags_of_the_past() {
    let desk = tempfile::tempdir().unwrap();
    let folder = desk.path();
    dump(folder, night(0));
    for (flags, expected) in [
        (&["--history"][..], "needs --max-removed and --max-changed and --max-column-loss: a bad"),
        (
            &["--history", "--max-changed", "5%"],
            "needs --max-removed and --max-column-loss: a bad dump would be part of the past (100%",
        ),
        (&[&["--history"], &LIMITS[..4]].concat(), "needs --max-column-loss: a bad dump"),
        (&["--history", "--without-history"], "cannot be used with"),
        (&["--mend", "7d"], "--history"),
        (&["--history-derivatives"], "--history"),
        (&["--history-from", "file"], "--history"),
        (&["--history", "--mend", "7"], "a number of days is expected"),
    ] {
        let (code, _, error) = build_in(folder, "index", flags);
        assert!(code == 2 && error.contains(expected), "{expected}: {error}");
    }
    for flag in ["--out", "--values", "--token", "--format"] {
        let flags = ["export", "index", "--history", "file", flag, "csv"];
        let (code, _, error) = ingest(folder, &flags);
        assert!(code == 2 && error.contains("cannot be used with"), "{error}");
    }
    assert!(!folder.join("index").exists());
}

/// The report, its JSON and `inspect` say what became of the past. A past of nothing but unchanged
/// rows begins, goes on, and is verified.
#[test]
fn the_past_is_reported() {
    let desk = tempfile::tempdir().unwrap();
    let folder = desk.path();
    dump(folder, rows(0..10, |number| format!("T{number}")));
    let report = kept(folder, "index", &day(1), &[]);
    let expected =
        "\npast: 2026-01-01 to 2026-01-01 (days: 1, earlier versions: 0)\n  0 came, 0 gone";
    assert!(report.contains(expected), "{report}");
    let changed = |number: u32| if number == 3 { "OTHER".to_owned() } else { format!("T{number}") };
    dump(folder, rows(1..12, changed));
    let report = kept(folder, "index", &day(3), &["--report", "report.json"]);
    let lines = "\npast: 2026-01-01 to 2026-01-03 (days: 2, earlier versions: 2)\n  \
                 2 came, 1 gone, 0 expired, 1 replaced, 0 returned\n";
    assert!(report.contains(lines), "{report}");
    let text = fs::read_to_string(folder.join("report.json")).unwrap();
    let json: Value = serde_json::from_str(&text).unwrap();
    let json = &json["published"]["past"];
    for (name, value) in [("days", 2), ("versions", 2), ("came", 2), ("gone", 1), ("replaced", 1)] {
        assert_eq!(json[name], value, "{name}");
    }
    assert_eq!((&json["since"], &json["until"]), (&day(1).into(), &day(3).into()));
    let (_, inspected, _) = ingest(folder, &["inspect", "index"]);
    let line = "\npast: 2026-01-01 to 2026-01-03 (days: 2, earlier versions: 2), ";
    assert!(inspected.contains(line), "{inspected}");
    assert!(
        inspected.lines().chain(report.lines()).filter(|it| it.starts_with("past")).count() == 2
    );
    let (_, inspected, _) = ingest(folder, &["inspect", "index", "--json"]);
    let json: Value = serde_json::from_str(&inspected).unwrap();
    assert_eq!(json["past"]["versions"], 2);
    let entry = past(folder, "index");
    let bytes: u64 = entry.files.iter().map(|file| file.bytes).sum();
    assert_eq!(
        (&json["past"]["bytes"], &json["components"]["past"]),
        (&bytes.into(), &bytes.into())
    );
    assert_eq!(ingest(folder, &["verify", "index"]).0, 0);
    // A row that comes back soon had not gone; with --mend 1d it had.
    dump(folder, rows(0..12, changed));
    let report = kept(folder, "index", &day(4), &["--mend", "1d"]);
    assert!(report.contains("  1 came, 0 gone, 0 expired, 0 replaced, 0 returned\n"), "{report}");
    let report = kept(folder, "index", &day(4), &[]);
    assert!(report.contains("  0 came, 0 gone, 0 expired, 0 replaced, 1 returned\n"), "{report}");
}

/// A build without the flags says nothing of a past.
#[test]
fn no_past_is_kept_unless_asked_for() {
    let desk = tempfile::tempdir().unwrap();
    let folder = desk.path();
    dump(folder, night(0));
    let (code, report, _) = build(folder, &day(1), &["--report", "report.json"]);
    assert!(code == 0 && !report.contains("past"), "{report}");
    assert!(!fs::read_to_string(folder.join("report.json")).unwrap().contains("\"past\""));
    assert!(!ingest(folder, &["inspect", "index", "--json"]).1.contains("\"past\""));
    assert_eq!(published(folder, "index").past, None);
    assert!(!folder.join("index/generation-000001/past").exists());
    let (code, _, error) = ingest(folder, &["export", "index", "--history", "file"]);
    assert!(code == 1 && error.contains("keeps no past: build it with --history"), "{error}");
    assert!(!folder.join("file").exists());
    let (code, _, error) = ingest(folder, &["export", "index", "--history", "/dev/stdout"]);
    assert_eq!(code, 1, "{error}");
    // The past begins with the first build that keeps it.
    dump(folder, night(5));
    kept(folder, "index", &day(2), &[]);
    assert_eq!((past(folder, "index").since.to_string(), past(folder, "index").days), (day(2), 1));
}

/// A build says what becomes of the past before it reads a dump. `--without-history` drops it.
#[test]
fn a_past_is_not_dropped_silently() {
    let desk = tempfile::tempdir().unwrap();
    let folder = desk.path();
    dump(folder, night(0));
    kept(folder, "index", &day(1), &[]);
    let before = published(folder, "index");
    // A dump without a valid row is not read.
    fs::write(folder.join("dump.csv"), "figi\nwrong\nwrong\n").unwrap();
    let (code, _, error) = build(folder, &day(2), &[]);
    let expected = "the published generation has a past since 2026-01-01: nothing is published \
                    (keep it with --history, or drop it with --without-history)";
    assert!(code == 1 && error.contains(expected), "{error}");
    let (code, _, error) = build(folder, &day(2), &["--without-history"]);
    assert!(code == 1 && !error.contains(expected), "{error}");
    assert_eq!(published(folder, "index"), before);
    dump(folder, night(1));
    let (code, report, _) = build(folder, &day(2), &["--without-history"]);
    assert!(code == 0 && !report.contains("past:"), "{report}");
    assert_eq!(published(folder, "index").past, None);
    assert_eq!(build(folder, &day(3), &[]).0, 0);
    // After a rollback it is there again.
    assert_eq!(build(folder, &day(3), &["--keep", "9"]).0, 0);
    kept(folder, "index", &day(4), &[]);
    assert_eq!(past(folder, "index").days, 1);
}

/// A second build of a day replaces what the first one observed, as if the first had never been.
#[test]
fn a_second_build_replaces_the_day() {
    let desk = tempfile::tempdir().unwrap();
    let folder = desk.path();
    for number in 1..=12 {
        dump(folder, night(number * 2 + 40));
        for attempt in 0..number % 3 {
            kept(folder, "index", &day(number), &[]);
            assert_eq!(past(folder, "index").days, u64::from(number), "{attempt}");
            dump(folder, night(number * 5 + attempt));
        }
        dump(folder, night(number));
        kept(folder, "index", &day(number), &[]);
        kept(folder, "direct", &day(number), &[]);
        assert_eq!(log(folder, "index"), log(folder, "direct"), "{number}");
        assert_eq!(exported(folder, "index"), exported(folder, "direct"), "{number}");
    }
    assert!(past(folder, "index").versions > 20);
    assert_eq!(ingest(folder, &["verify", "index"]).0, 0);
}

/// A column that is lost for a night changes nothing, and the report warns of it.
#[test]
fn a_column_is_lost_for_a_night() {
    let desk = tempfile::tempdir().unwrap();
    let folder = desk.path();
    let ticker = |number| format!("T{number}");
    dump(folder, rows(0..100, ticker));
    kept(folder, "index", &day(1), &[]);
    // What is left of the column is wrong too.
    dump(folder, rows(0..100, |number| if number < 20 { "X".to_owned() } else { String::new() }));
    let report = kept(folder, "index", &day(2), &[]);
    let warning = "warning: ticker is more than a tenth less filled than on the day before, so it \
                   changed nothing in the past\n";
    assert!(report.contains(warning), "{report}");
    assert!(report.contains("0 gone, 0 expired, 0 replaced"), "{report}");
    dump(folder, rows(0..100, ticker));
    let report = kept(folder, "index", &day(3), &[]);
    assert!(!report.contains("warning: ticker"), "{report}");
    assert_eq!(past(folder, "index").versions, 0);
    // A tenth is not a loss.
    dump(folder, rows(0..100, |number| if number < 10 { String::new() } else { ticker(number) }));
    let report = kept(folder, "index", &day(4), &["--report", "report.json"]);
    assert!(!report.contains("warning: ticker"), "{report}");
}

/// A build that is refused leaves the past alone, and the past goes on from before a rollback.
#[test]
fn refused_builds_and_rollbacks() {
    let desk = tempfile::tempdir().unwrap();
    let folder = desk.path();
    for number in 1..=3 {
        dump(folder, night(number));
        for index in ["index", "direct"] {
            kept(folder, index, &day(number), &["--keep", "5"]);
        }
    }
    let (before, bytes) = (published(folder, "index"), log(folder, "index"));
    dump(folder, night(4).into_iter().take(9));
    let mut limits = LIMITS;
    limits[1] = "5%";
    let flags = [&["--history"], &limits[..]].concat();
    let (code, _, error) = build(folder, &day(4), &flags);
    assert!(code == 1 && error.contains("--max-removed"), "{error}");
    let unexpected = r#"{"idType":"TICKER","idValue":"NONE","figi":"BBG000BLNNH6"}"#;
    fs::write(folder.join("known.jsonl"), unexpected).unwrap();
    dump(folder, night(4));
    let flags = [&["--history", "--expect", "known.jsonl"], &LIMITS[..]].concat();
    assert_eq!(build(folder, &day(4), &flags).0, 1);
    assert_eq!((published(folder, "index"), log(folder, "index")), (before, bytes));
    // A bad night that was published is taken back.
    dump(folder, night(40));
    kept(folder, "index", &day(4), &["--keep", "5"]);
    assert_eq!(ingest(folder, &["rollback", "index"]).0, 0);
    assert_eq!(past(folder, "index").until.to_string(), day(3));
    dump(folder, night(4));
    for index in ["index", "direct"] {
        kept(folder, index, &day(4), &["--keep", "5"]);
    }
    assert_eq!(exported(folder, "index"), exported(folder, "direct"));
}

/// A past that cannot be read is neither carried on nor dropped, and the message says what to do.
#[test]
fn a_past_that_cannot_be_read() {
    let desk = tempfile::tempdir().unwrap();
    let folder = desk.path();
    dump(folder, night(1));
    kept(folder, "index", &day(1), &[]);
    dump(folder, night(2));
    kept(folder, "index", &day(2), &[]);
    let history = [&["--history"], &LIMITS[..]].concat();
    decay(&folder.join("index"), 2);
    let (code, _, error) = build(folder, &day(3), &history);
    let cannot = "the past of index cannot be carried on: nothing is published (";
    assert!(code == 1 && error.contains(cannot), "{error}");
    assert!(error.contains("figdex-ingest rollback`") && error.contains("damaged"), "{error}");
    assert_eq!(ingest(folder, &["rollback", "index"]).0, 0);
    kept(folder, "index", &day(3), &[]);
    assert_eq!(past(folder, "index").days, 2);

    // Another format. The manifest is of its format from the first line on.
    let manifest = folder.join("index/generation-000003/manifest.toml");
    let right = fs::read_to_string(&manifest).unwrap();
    fs::write(&manifest, right.replacen("format = 10", "format = 11", 1)).unwrap();
    let (code, _, error) = build(folder, &day(4), &history);
    assert!(code == 1 && error.contains(cannot), "{error}");
    assert!(error.contains("that built it, `figdex-ingest export --history FILE`"), "{error}");
    assert!(error.contains("index format 11"), "{error}");
    let (code, _, error) = build(folder, &day(4), &[]);
    assert!(code == 1 && error.contains(cannot), "its folder has a past: {error}");
    // A damaged manifest.
    fs::write(&manifest, "nonsense").unwrap();
    let (code, _, error) = build(folder, &day(4), &[]);
    assert!(code == 1 && error.contains(cannot), "{error}");
    assert_eq!(build(folder, &day(4), &["--without-history"]).0, 0);
    // An earlier format had none.
    kept(folder, "index", &day(5), &[]);
    let manifest = folder.join("index/generation-000005/manifest.toml");
    let right = fs::read_to_string(&manifest).unwrap();
    fs::write(&manifest, right.replacen("format = 10", "format = 8", 1)).unwrap();
    kept(folder, "index", &day(6), &[]);
    assert_eq!(past(folder, "index").since.to_string(), day(6));
}

/// An exported past begins another index, which then goes on as the first one does.
#[test]
fn an_exported_past_begins_another_index() {
    let desk = tempfile::tempdir().unwrap();
    let folder = desk.path();
    let moved = |index: &str, from: &str, number: u32| {
        dump(folder, night(number));
        kept(folder, index, &day(number), &["--history-from", from]);
    };
    for number in 1..=20 {
        dump(folder, night(number));
        let derivatives = if number < 6 { &[][..] } else { &["--history-derivatives"] };
        kept(folder, "index", &day(number), derivatives);
        let all = exported(folder, "index");
        if matches!(number, 5 | 12) {
            fs::write(folder.join(format!("past-{number}.log")), &all).unwrap();
            // With the same dumps and the same day, it is the same past.
            let same = format!("same-{number}");
            moved(&same, &format!("past-{number}.log"), number);
            assert_eq!(log(folder, &same), log(folder, "index"));
            assert_eq!(exported(folder, &same), all);
        }
        if number == 13 {
            // With later dumps, it is as if it were carried on.
            moved("later", "past-12.log", number);
        }
        for index in ["same-12", "later"] {
            if number > 13 {
                kept(folder, index, &day(number), &[]);
            }
            if number >= 13 && index == "later" || number > 13 {
                assert_eq!(log(folder, index) == log(folder, "index"), index == "later");
            }
        }
        let summary = PastLog::open(&folder.join("exported")).unwrap().summary().clone();
        assert!(summary.is_whole);
        assert_eq!(summary.has_derivatives, number >= 6);
        assert_eq!(summary.days.count(), u64::from(number));
        assert_eq!(summary.versions, past(folder, "index").versions);
        // Every FIGI that was ever there, without options until they are asked for.
        let nights = if number < 6 { 1..=number } else { 6..=number };
        let with_options = nights.clone().flat_map(night).filter(|row| row.ends_with("Option"));
        let others = (1..=number).flat_map(night).filter(|row| !row.ends_with("Option"));
        let mut figis: Vec<_> = others.map(|row| row[..12].to_owned()).collect();
        if number >= 6 {
            figis.extend(with_options.map(|row| row[..12].to_owned()));
        }
        figis.sort_unstable();
        figis.dedup();
        assert_eq!(summary.figis, figis.len() as u64, "{number}");
    }
}

/// An exported past that does not fit is refused before the dumps are read.
#[test]
fn an_exported_past_that_does_not_fit() {
    let desk = tempfile::tempdir().unwrap();
    let folder = desk.path();
    for number in 1..=2 {
        dump(folder, night(number));
        kept(folder, "index", &day(number), &[]);
    }
    exported(folder, "index");
    let from = |index: &str, date: &str, file: &str| {
        let flags = [&["--history", "--history-from", file, "--date", date], &LIMITS[..]].concat();
        let (code, _, error) = build_in(folder, index, &flags);
        assert_eq!(code, 1);
        error
    };
    let error = from("index", &day(3), "exported");
    assert!(error.contains("is for an index without a past, and index has one"), "{error}");
    let error = from("other", &day(1), "exported");
    assert!(
        error.contains("exported ends on 2026-01-02, and the dumps are of 2026-01-01"),
        "{error}"
    );
    let error = from("other", &day(3), "index/generation-000002/past/versions.log");
    assert!(error.contains("is not an exported past: it lacks the rows"), "{error}");
    let error = from("other", &day(3), "dump.csv");
    assert!(error.contains("it is not a log of the past"), "{error}");
    let error = from("other", &day(3), "nowhere");
    assert!(error.contains("nowhere: "), "{error}");
    let flags = [&["--history", "--history-from", "exported", "--report", "exported"], &LIMITS[..]];
    let (code, _, error) = build_in(folder, "other", &flags.concat());
    assert!(code == 1 && error.contains("--history-from"), "{error}");
    // Other dumps of its last day contradict it, also later.
    dump(folder, night(9));
    let error = from("other", &day(2), "exported");
    assert!(error.contains("on its last day than the dumps"), "{error}");
    assert!(Manifest::published(&folder.join("other")).is_err());
    dump(folder, night(2));
    kept(folder, "other", &day(2), &["--history-from", "exported"]);
    dump(folder, night(9));
    let flags = [&["--history"], &LIMITS[..]].concat();
    let (code, _, error) =
        build_in(folder, "other", &[&flags[..], &["--date", "2026-01-02"]].concat());
    assert!(code == 1 && error.contains("on its last day than the dumps"), "{error}");
    kept(folder, "other", &day(3), &[]);
    // A file that is there is replaced only by a whole one.
    let whole = fs::read(folder.join("exported")).unwrap();
    decay(&folder.join("index"), 2);
    assert_eq!(ingest(folder, &["export", "index", "--history", "exported"]).0, 1);
    assert_eq!(fs::read(folder.join("exported")).unwrap(), whole);
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(!names.into_iter().any(|name| name.to_string_lossy().ends_with(".new")));
}

/// Options, warrants and futures come on the day from which they are kept, and stay.
#[test]
fn derivatives_are_kept_when_asked_for() {
    let desk = tempfile::tempdir().unwrap();
    let folder = desk.path();
    let kinds = ["Common Stock", "Option", "Future", "Warrant"];
    let all = |ticker: &str| {
        let row = |number: usize| {
            format!("{},{ticker}{number},NAME,{}", figi(number as u32), kinds[number])
        };
        dump(folder, (0..kinds.len()).map(row));
    };
    all("A");
    kept(folder, "index", &day(1), &[]);
    all("B");
    let report = kept(folder, "index", &day(2), &[]);
    assert!(report.contains("  0 came, 0 gone, 0 expired, 1 replaced, "), "{report}");
    // The same rows.
    let report = kept(folder, "index", &day(3), &["--history-derivatives"]);
    assert!(report.contains("  3 came, 0 gone, 0 expired, 0 replaced, "), "{report}");
    all("C");
    let report = kept(folder, "index", &day(9), &[]);
    assert!(report.contains("  0 came, 0 gone, 0 expired, 4 replaced, "), "{report}");
    // A second build of the day from which they are kept.
    let report = kept(folder, "again", &day(1), &[]);
    assert!(report.contains("earlier versions: 0"), "{report}");
    kept(folder, "again", &day(2), &["--history-derivatives"]);
    let report = kept(folder, "again", &day(2), &["--history-derivatives"]);
    assert!(report.contains("  3 came, 0 gone, 0 expired, 0 replaced, "), "{report}");
    let report = kept(folder, "again", &day(2), &[]);
    assert!(report.contains("  0 came, 0 gone, 0 expired, 0 replaced, "), "{report}");
    all("D");
    let report = kept(folder, "again", &day(3), &[]);
    assert!(report.contains("  0 came, 0 gone, 0 expired, 1 replaced, "), "{report}");
}
