//! The commands about an existing index: `inspect`, `export`, which loses nothing, `rollback`, and
//! `--keep`.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use figdex_index::{Catalogue, Date, Error, IdValue};
use figdex_io::Layout;
use rustix::fs::OFlags;
use serde_json::{Value, json};

use crate::support::process::PATIENCE;
use crate::support::{generated, ingest, program};

/// Rows with everything that an index does not need to answer questions.
const ODD: &str = concat!(
    r#"{"figi":"BBG000BLNNH6","ticker":"IBM","marketSector":"Equity","listed":false,"#,
    r#""alias":["Big Blue","a \"quoted\", one"],"ID_ISIN":["US4592001014","JP3633400001"]}"#,
    "\n",
    r#"{"figi":"BBG000B9XRY4","ticker":" aapl ","expiration":"2030-01-01","name":"two\nlines"}"#,
    "\n",
    r#"{"figi":"BBG000BPH459","maturity":"2030-01-01","listed":true,"strike":0.30000000000000004,"#,
    r#""coupon":2.2250738585072014e-308,"stateCode":"NY","metadata":"Metadata N/A"}"#,
    "\n",
    r#"{"figi":"BBG001S5S399","expiration":"2030-01-01","maturity":"2030-01-01","uniqueID":"x y"}"#,
    "\n",
);

/// Build, export and build again give the same instruments, in both layouts.
#[test]
fn an_export_is_the_same_index_again() {
    let desk = tempfile::tempdir().unwrap();
    let folder = desk.path();
    fs::write(folder.join("generated.csv"), generated(1_500, Layout::Csv)).unwrap();
    fs::write(folder.join("odd.jsonl"), ODD).unwrap();
    fs::create_dir(folder.join("lists")).unwrap();
    fs::write(folder.join("lists/exchCode.json"), r#"{"values":["NOWHERE"]}"#).unwrap();
    let run = |arguments: &str| {
        let arguments: Vec<_> = arguments.split(' ').collect();
        let (code, printed, error) = ingest(folder, &arguments);
        assert_eq!(code, 0, "{arguments:?} {error}");
        printed
    };
    run("build generated.csv odd.jsonl --strict --values lists --index first");
    run("export first --out first.csv --values values");
    run("export first --out first.jsonl --format jsonl");
    for dump in ["first.csv", "first.jsonl"] {
        let report = run(&format!("build {dump} --strict --values values --index second"));
        assert!(!report.contains("dropped") && !report.contains("ignored"), "{report}");
        let [first, second] = ["first", "second"].map(|index| {
            let catalogue = Catalogue::open(&folder.join(index)).unwrap();
            let mut instruments = Vec::new();
            let read = catalogue.instruments(|instrument| {
                let mut instrument = instrument.clone();
                // Identifiers of one kind keep their order; the kinds are in the order of the columns.
                instrument.identifiers.sort_by_key(IdValue::id_type);
                instruments.push(instrument);
                Ok::<_, Error>(())
            });
            read.unwrap();
            (instruments, catalogue.vocabulary().clone())
        });
        assert_eq!(first.0.len(), 1_504);
        assert!(first == second, "an index of {dump} is another");
        assert_eq!(run("export second"), fs::read_to_string(folder.join("first.csv")).unwrap());
        run("verify second");
    }
}

/// CSV cannot write a `;` within one of several values; JSON lines can.
#[test]
fn values_that_csv_cannot_write_are_refused() {
    let desk = tempfile::tempdir().unwrap();
    let dump = r#"{"figi":"BBG000BLNNH6","alias":["a;b"]}"#;
    fs::write(desk.path().join("dump.jsonl"), dump).unwrap();
    assert_eq!(ingest(desk.path(), &["build", "dump.jsonl", "--index", "index"]).0, 0);
    let (code, _, error) = ingest(desk.path(), &["export", "index"]);
    assert_eq!(code, 1);
    assert!(error.contains("a value of alias of BBG000BLNNH6 contains ';'"), "{error}");
    let (code, printed, _) = ingest(desk.path(), &["export", "index", "--format", "jsonl"]);
    assert_eq!((code, &*printed), (0, "{\"figi\":\"BBG000BLNNH6\",\"alias\":\"a;b\"}\n"));
}

#[test]
fn inspecting() {
    let desk = tempfile::tempdir().unwrap();
    fs::write(desk.path().join("odd.jsonl"), ODD).unwrap();
    assert_eq!(ingest(desk.path(), &["build", "odd.jsonl", "--index", "index"]).0, 0);
    let (code, printed, _) = ingest(desk.path(), &["inspect", "index", "--json"]);
    assert_eq!(code, 0);
    let printed: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!((&printed["instruments"], &printed["parts"]), (&json!(4), &json!(1)));
    assert_eq!(printed["values"]["marketSector"], json!([{"value": "Equity", "instruments": 1}]));
    assert_eq!(printed["sources"][0]["name"], "odd.jsonl");
    assert_eq!(printed["sources"][0]["rows"], 4);
    let components = printed["components"].as_object().unwrap().values();
    let sum: u64 = components.map(|bytes| bytes.as_u64().unwrap()).sum();
    assert_eq!(printed["bytes"], sum);
    let filled = printed["filled"].as_array().unwrap();
    for (column, instruments) in [
        ("figi", 4),
        ("ticker", 2),
        ("expiration", 2),
        ("maturity", 2),
        ("listed", 2),
        ("alias", 1),
        ("importance", 0),
        ("ID_ISIN", 1),
        ("marketSector", 1),
        ("currency", 0),
    ] {
        let expected = json!({"column": column, "instruments": instruments});
        assert!(filled.contains(&expected), "{expected} {filled:?}");
    }
    let (code, printed, _) = ingest(desk.path(), &["inspect", "index"]);
    assert_eq!(code, 0);
    let today = Date::today();
    for line in [
        &*format!("index: 4 instruments of {today}, built at "),
        "              1   25.00 %  Equity\n              3   75.00 %  without a value\n",
        "              2   50.00 %  listed\n",
        "in one part; ",
    ] {
        assert!(printed.contains(line), "{line}\n{printed}");
    }
    // What one wants comes first, within the width of a terminal; sizes when asked for.
    let place = |text: &str| printed.find(text).unwrap_or_else(|| panic!("{text}: {printed}"));
    assert!(place("marketSector") < place("filled") && place("filled") < place("SHA-256"));
    assert!(printed.lines().all(|line| line.chars().count() <= 80), "{printed}");
    assert!(!printed.contains("component"), "{printed}");
    let (code, sizes, _) = ingest(desk.path(), &["inspect", "index", "--sizes"]);
    assert!(code == 0 && sizes.starts_with(&printed) && sizes.contains("  component\n"), "{sizes}");
    let (code, _, error) = ingest(desk.path(), &["inspect", "odd.jsonl", "--sizes"]);
    assert!(code == 1 && error.contains("odd.jsonl is none"), "{code} {error}");
    // A folder that is not an index holds dumps.
    let (code, printed, _) = ingest(desk.path(), &["inspect", "."]);
    assert!(code == 0 && printed.contains("recognised as canonical"), "{printed}");
    fs::create_dir(desk.path().join("empty")).unwrap();
    let (code, _, error) = ingest(desk.path(), &["inspect", "empty"]);
    assert!(
        code == 1 && error.contains("empty: the folder contains no files; expected"),
        "{error}"
    );
}

#[test]
fn keeping_and_rolling_back() {
    let desk = tempfile::tempdir().unwrap();
    for (name, ticker) in [("a.csv", "A"), ("b.csv", "B"), ("c.csv", "C")] {
        let dump = format!("figi,ticker\nBBG000BLNNH6,{ticker}\n");
        fs::write(desk.path().join(name), dump).unwrap();
        let build = ["build", name, "--index", "index", "--keep", "2"];
        assert_eq!(ingest(desk.path(), &build).0, 0);
    }
    let (_, printed, _) = ingest(desk.path(), &["inspect", "index"]);
    assert!(printed.contains("\nalso there: generation 1, 2\n"), "{printed}");
    for (generation, ticker) in [(2, "B"), (1, "A")] {
        let (code, printed, _) = ingest(desk.path(), &["rollback", "index"]);
        assert_eq!(code, 0);
        let expected = format!("published generation {generation} again: 1 instruments, built at ");
        assert!(printed.starts_with(&expected), "{printed}");
        if generation == 2 {
            // Going forward again is what it says, until the next build.
            assert!(printed.contains("until the next build removes it"), "{printed}");
            let forward: Vec<_> =
                printed.lines().filter_map(|line| line.strip_prefix("  ")).collect();
            let mut shell = Command::new("sh");
            let ran = shell.current_dir(desk.path()).args(["-ec", &forward.join("\n")]).status();
            assert!(ran.unwrap().success());
            let (_, dump, _) = ingest(desk.path(), &["export", "index", "--format", "jsonl"]);
            assert!(dump.contains("\"ticker\":\"C\""), "{dump}");
            assert_eq!(ingest(desk.path(), &["rollback", "index"]).0, 0);
        }
        let (_, dump, _) = ingest(desk.path(), &["export", "index", "--format", "jsonl"]);
        assert!(dump.contains(&format!("\"ticker\":\"{ticker}\"")), "{dump}");
    }
    let (code, _, error) = ingest(desk.path(), &["rollback", "index"]);
    assert_eq!(code, 1);
    assert_eq!(error, "figdex-ingest: index has no generation before 1 to roll back to\n");
}

/// When a build publishes between the start of a rollback and its lock, the rollback reads the
/// published generation again under the lock, and publishes the one before it.
#[test]
fn a_rollback_goes_back_from_what_is_published_when_it_has_the_lock() {
    let desk = tempfile::tempdir().unwrap();
    let folder = desk.path();
    for ticker in ["A", "B", "C"] {
        fs::write(folder.join("dump.csv"), format!("figi,ticker\nBBG000BLNNH6,{ticker}\n"))
            .unwrap();
        assert_eq!(ingest(folder, &["build", "dump.csv", "--index", "index", "--keep", "2"]).0, 0);
    }
    // Pipes in place of files show where the rollback is, and make it wait there.
    let [current, next, lock] =
        ["CURRENT", "CURRENT.next", "LOCK"].map(|name| folder.join("index").join(name));
    fs::remove_file(&lock).unwrap();
    fs::remove_file(&current).unwrap();
    let pipes = Command::new("mkfifo").args([&current, &next, &lock]).status().unwrap();
    assert!(pipes.success());
    let child = Command::new(program())
        .current_dir(folder)
        .args(["rollback", "index"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The rollback reads twice that generation 2 is published: for its report, and before it takes
    // the lock. What it reads next takes the place of a pipe before the pipe ends.
    let mut pipe = writer(&current);
    fs::rename(&next, &current).unwrap();
    pipe.write_all(b"generation-000002\n").unwrap();
    drop(pipe);
    // Now a build publishes generation 3.
    let mut pipe = writer(&current);
    fs::write(&next, "generation-000003\n").unwrap();
    fs::rename(&next, &current).unwrap();
    pipe.write_all(b"generation-000002\n").unwrap();
    drop(pipe);
    // Then the rollback gets the lock.
    let reader = fs::File::open(&lock).unwrap();
    let output = child.wait_with_output().unwrap();
    drop(reader);
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(printed.starts_with("published generation 2 again: 1 instruments"), "{printed}");
}

/// Opens a pipe for writing, as soon as another program reads it.
fn writer(pipe: &Path) -> fs::File {
    let start = Instant::now();
    loop {
        let flags = OFlags::NONBLOCK.bits() as i32;
        match fs::File::options().write(true).custom_flags(flags).open(pipe) {
            Ok(file) => return file,
            Err(error) => assert!(start.elapsed() < PATIENCE, "nothing reads {pipe:?}: {error}"),
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}
