//! `figdex-ingest build`: every row is accounted for; a bad input is reported with file and line,
//! and nothing is published or lost.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use figdex_index::{Catalogue, Manifest};
use figdex_ingest::{Build, Format, Input};
use figdex_io::Layout;
use proptest::prelude::*;

use crate::support::{Server, build_of, figi, figis, program};

const HEADER: &str = "figi,ticker,ID_ISIN\n";
const IBM: &str = "BBG000BLNNH6,IBM,US4592001014\n";

/// A folder to work in; the command is run there.
struct Desk(tempfile::TempDir);

impl Desk {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.path().join(name);
        fs::write(&path, content).unwrap();
        path
    }

    fn index(&self) -> PathBuf {
        self.0.path().join("index")
    }

    /// Runs `figdex-ingest build` with these arguments.
    fn build(&self, arguments: &[&str], stdin: &[u8]) -> (i32, String, String) {
        let mut command = Command::new(program());
        command.current_dir(self.0.path()).arg("build").args(arguments).args(["--index", "index"]);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // A build that refuses its flags does not read standard input.
        let _ = child.stdin.take().unwrap().write_all(stdin);
        let Output { status, stdout, stderr } = child.wait_with_output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (status.code().unwrap(), text(stdout), text(stderr))
    }

    fn tickers(&self) -> Vec<String> {
        let catalogue = Catalogue::open(&self.index()).unwrap();
        let mut tickers = Vec::new();
        for ticker in ["IBM", "AAPL", "MSFT", "OLD"] {
            let lookup = figdex_index::Lookup::new(
                figdex_index::IdType::Ticker.admit(ticker).unwrap(),
                figdex_index::Filters::default(),
            );
            if !catalogue.lookup(&lookup, 10).unwrap().is_empty() {
                tickers.push(ticker.to_owned());
            }
        }
        tickers
    }
}

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(content).unwrap();
    packed.finish().unwrap()
}

fn bzip2(content: &[u8]) -> Vec<u8> {
    let mut packed = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    packed.write_all(content).unwrap();
    packed.finish().unwrap()
}

#[test]
fn every_way_to_give_a_dump() {
    let csv = format!("{HEADER}{IBM}");
    let json = r#"{"figi":"BBG000BLNNH6","ticker":"IBM","ID_ISIN":["US4592001014"],"strike":null}"#;
    let two_members = [gzip(HEADER.as_bytes()), gzip(IBM.as_bytes())].concat();
    let dumps: &[(&str, Vec<u8>)] = &[
        ("dump.csv", csv.clone().into()),
        ("windows.csv", format!("\u{feff}{}", csv.replace('\n', "\r\n")).into()),
        ("no-end.csv", csv.trim_end().into()),
        ("blank-lines.csv", csv.replace('\n', "\n\n").into()),
        ("dump.tsv", csv.replace(',', "\t").into()),
        ("unnamed", csv.replace(',', "|").into()),
        ("quoted.csv", csv.replace("IBM", "\"IBM\"").into()),
        ("dump.jsonl", json.into()),
        ("unnamed-json", format!("\n{json}\n").into()),
        ("array.json", format!("[\n{json}\n]").into()),
        ("semicolons.csv", csv.replace(',', ";").into()),
        ("dump.csv.gz", gzip(csv.as_bytes())),
        ("two-members.gz", two_members),
        ("dump.csv.bz2", bzip2(csv.as_bytes())),
        ("dump.jsonl.zst", zstd::encode_all(json.as_bytes(), 1).unwrap()),
    ];
    for (name, content) in dumps {
        let desk = Desk::new();
        desk.write(name, content);
        let (code, report, error) = desk.build(&[name, "--strict"], b"");
        assert_eq!((code, desk.tickers()), (0, vec!["IBM".to_owned()]), "{name}: {report}{error}");
        let (code, ..) = desk.build(&["-"], content);
        assert_eq!(code, 0, "{name} through standard input");
        let catalogue = Catalogue::open(&desk.index()).unwrap();
        let source = &catalogue.manifest().sources[0];
        assert_eq!((source.bytes, source.rows), (content.len() as u64, 1), "{name}");
    }
}

/// Later inputs fill what earlier ones left empty and win where they differ; files of a folder
/// count by name.
#[test]
fn several_dumps_are_one_universe() {
    let desk = Desk::new();
    fs::create_dir(desk.0.path().join("folder")).unwrap();
    desk.write("folder/b.csv", "figi,ticker\nBBG000BLNNH6,IBM\n");
    desk.write("folder/a.csv", "figi,ticker,name\nBBG000BLNNH6,OLD,NAME\nBBG000B9XRY4,AAPL,\n");
    desk.write("later.csv", "figi,ticker,unheard of\nBBG000BPH459,MSFT,x\n");
    let (code, report, _) = desk.build(&["folder", "later.csv"], b"");
    assert_eq!((code, desk.tickers()), (0, ["IBM", "AAPL", "MSFT"].map(String::from).to_vec()));
    for line in [
        "input         read  instruments  merged  rejected  skipped\n",
        "folder/a.csv     2            2       0         0        0\n",
        "folder/b.csv     1            0       1         0        0\n",
        "total            4            3       1         0        0\n",
        "           1  ticker\n",
        "              BBG000BLNNH6: kept \"IBM\", folder/b.csv line 2\n",
        "                             not  \"OLD\", folder/a.csv line 2\n",
        "ignored columns\n  later.csv: unheard of\n",
        "published generation 1: 3 instruments",
    ] {
        assert!(report.contains(line), "{line}\n{report}");
    }
}

/// For an input of `--enrich`, read = enriched + unmatched + ambiguous + rejected. Rows that enriched
/// nothing are kept unchanged in the rejects file, and the JSON report has the same counts.
#[test]
fn other_dumps_enrich_and_are_accounted_for() {
    let desk = Desk::new();
    desk.write("dump.csv", format!("{HEADER}{IBM}BBG000B9XRY4,AAPL,\n"));
    desk.write(
        "more",
        "ID_ISIN,ID_CUSIP,name,TICKER\n\
         US4592001014,459200101,INTL BUSINESS MACHINES CORP,MSFT\n\
         JP3633400001,,TOYOTA MOTOR CORP,\n\
         US4592001015,,WRONG,\n",
    );
    desk.write("quote.csv", "figi\n\"");
    desk.write("again.jsonl", "{\"ID_CUSIP\":\"459200101\",\"ticker\":\"OLD\"}\n");
    let flags =
        ["dump.csv", "--enrich", "more", "--enrich", "again.jsonl", "--report", "report.json"];
    let (code, report, error) = desk.build(&[&flags[..], &["--max-rejects", "1"]].concat(), b"");
    assert_eq!(code, 0, "{report}{error}");
    assert_eq!(desk.tickers(), ["IBM", "AAPL"], "an ISIN gives no ticker");
    for line in [
        "enriched with  read  enriched  unmatched  ambiguous  rejected  skipped\n",
        "more              3         1          1          0         1        0\n",
        "again.jsonl       1         0          1          0         0        0\n",
        "fields filled by --enrich\n           1  name\n           1  ID_CUSIP\n",
        "           2  unmatched: no instrument has its identifiers (first: more, line 3)",
    ] {
        assert!(report.contains(line), "{line}\n{report}");
    }
    let rejects = fs::read_to_string(desk.0.path().join("index.rejects.csv")).unwrap();
    assert!(
        rejects.contains("more,3,,unmatched: no instrument has its identifiers,\"JP3633400001,")
    );
    let json = fs::read(desk.0.path().join("report.json")).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    assert_eq!(json["published"]["instruments"], 2);
    assert_eq!(json["total"]["read"], 2);
    assert_eq!(json["enrich"][0]["name"], "more");
    assert_eq!(json["enrich_total"]["unmatched"], 2);
    assert_eq!(json["not_joined"][0]["first"]["line"], 3);
    assert_eq!(json["rejects_file"], "index.rejects.csv");
    let server = Catalogue::open(&desk.index()).unwrap();
    assert_eq!(server.manifest().sources.len(), 3);
}

/// Dumps to enrich with may have a columns file, separate from that of the other dumps.
#[test]
fn dumps_to_enrich_with_may_have_another_format() {
    let desk = Desk::new();
    desk.write("dump.csv", format!("{HEADER}{IBM}"));
    desk.write("cusips.txt", "US4592001014~459200101\n");
    desk.write(
        "cusips.toml",
        "format = 'delimited'\ndelimiter = '~'\nheader = false\n\
         [columns]\nID_ISIN = 1\nID_CUSIP = 2\n",
    );
    let flags = ["dump.csv", "--enrich", "cusips.txt", "--enrich-columns", "cusips.toml"];
    let (code, report, error) = desk.build(&flags, b"");
    assert_eq!(code, 0, "{report}{error}");
    assert!(report.contains("fields filled by --enrich\n           1  ID_CUSIP\n"), "{report}");
    let (code, _, error) = desk.build(&["dump.csv", "--enrich-format", "csv"], b"");
    assert!(code == 2 && error.contains("--enrich"), "{error}");
}

/// With `--quiet` only errors are printed.
#[test]
fn quiet_prints_nothing_but_faults() {
    let desk = Desk::new();
    desk.write("dump.csv", format!("{HEADER}{IBM}"));
    let (code, report, error) = desk.build(&["dump.csv", "--quiet"], b"");
    assert_eq!((code, report.as_str(), error.as_str()), (0, "", ""));
    let (code, _, error) = desk.build(&["-", "--enrich", "-", "--quiet"], b"");
    assert!(code == 1 && error.contains("standard input (-) is given twice"), "{error}");
}

/// A bad row is rejected and a bad cell is dropped; the rejects file keeps both unchanged.
#[test]
fn rejected_rows_and_dropped_cells_are_kept() {
    let desk = Desk::new();
    desk.write(
        "dump.csv",
        b"figi,ticker,ID_ISIN\n\
          BBG000BLNNH5,\"I,BM\",US4592001014\n\
          BBG000BLNNH6,IBM,US4592001015\n\
          BBG000B9XRY4,\"two\nlines\"\n\
          ,AAPL,\n\
          BBG000BPH459,\xff,\n",
    );
    let (code, report, _) = desk.build(&["dump.csv", "--max-rejects", "4"], b"");
    assert_eq!((code, desk.tickers()), (0, vec!["IBM".to_owned()]), "{report}");
    let rejects = fs::read(desk.0.path().join("index.rejects.csv")).unwrap();
    let expected = b"input,line,column,reason,raw\n\
        dump.csv,2,,wrong figi: the check digit is wrong,\"BBG000BLNNH5,\"\"I,BM\"\",US4592001014\"\n\
        dump.csv,3,ID_ISIN,not of the form of its idType,\"BBG000BLNNH6,IBM,US4592001015\"\n\
        dump.csv,4,,\"found 2 cells, but the header has 3\",\"BBG000B9XRY4,\"\"two\nlines\"\"\"\n\
        dump.csv,6,,no figi,\",AAPL,\"\n\
        dump.csv,7,,not UTF-8,\"BBG000BPH459,\xff,\"\n";
    assert_eq!(String::from_utf8_lossy(&rejects), String::from_utf8_lossy(expected));
    assert!(report.contains("1  wrong figi: check digit (first: dump.csv, line 2)"), "{report}");
    assert!(report.contains("1  ID_ISIN: not of the form of its idType (first: dump.csv, line 3)"));
}

#[test]
fn too_many_rejects_publish_nothing() {
    let dump = format!("{HEADER}{IBM}BBG000BLNNH5,,\n");
    for (flags, code) in [
        (&["--max-rejects", "1"][..], 0),
        (&["--max-rejects", "50%"], 0),
        (&["--max-rejects", "49.9%"], 1),
        (&["--max-rejects", "0"], 1),
        (&["--strict"], 1),
        (&[], 1),
        (&["--max-rejects", "many"], 2),
        (&["--strict", "--max-rejects", "1"], 2),
    ] {
        let desk = Desk::new();
        desk.write("old.csv", "figi,ticker\nBBG000BPH459,OLD\n");
        assert_eq!(desk.build(&["old.csv"], b"").0, 0);
        desk.write("dump.csv", &dump);
        let (found, _, error) = desk.build(&[&["dump.csv"], flags].concat(), b"");
        assert_eq!(found, code, "{flags:?} {error}");
        let expected = if code == 0 { "IBM" } else { "OLD" };
        assert_eq!(desk.tickers(), [expected], "{flags:?}");
    }
}

/// The advice is a limit that lets this dump through, and works; of a dump of which much is rejected
/// it is to look at the rejects.
#[test]
fn too_many_rejects_are_advised_on() {
    let rows = |bad: u32| {
        let row = |number| match number < bad {
            true => "BBG000BLNNH5,,\n".to_owned(),
            false => format!("{},T{number},\n", figi(number)),
        };
        HEADER.to_owned() + &(0..100).map(row).collect::<String>()
    };
    let desk = Desk::new();
    desk.write("dump.csv", rows(7));
    let (code, _, error) = desk.build(&["dump.csv"], b"");
    assert!(code == 1 && error.contains("with --max-rejects 8%: their instruments"), "{error}");
    assert_eq!(desk.build(&["dump.csv", "--max-rejects", "8%"], b"").0, 0);
    desk.write("dump.csv", rows(60));
    let (code, _, error) = desk.build(&["dump.csv"], b"");
    assert!(code == 1 && error.contains("these are 60.0 % of the rows: see why"), "{error}");
}

/// Each fault of an input gives one clear message with file and line and exit code 1, and leaves the
/// old index unchanged.
#[test]
fn bad_inputs() {
    let packed = gzip(format!("{HEADER}{}", IBM.repeat(2_000)).as_bytes());
    let cut_zst = zstd::encode_all(format!("{HEADER}{IBM}").as_bytes(), 1).unwrap();
    let faults: &[(&str, &[u8], &str)] = &[
        ("empty.csv", b"", "empty.csv: the dump is empty: expected a header row"),
        ("empty", b"", "empty: the dump is empty"),
        (
            "no-figi.csv",
            b"ticker,name\nIBM,x\n",
            "no-figi.csv, line 1: the header has no column figi, only ticker,name",
        ),
        ("twice.csv", b"figi,figi\n", "twice.csv, line 1: the header names figi twice"),
        (
            "unknown",
            b"hello\nworld\n",
            "unknown: unknown format: the dump has neither a header row with figi nor JSON lines",
        ),
        (
            "array.json",
            b"[{\"figi\":1}]",
            "wrong figi: not 12 characters (first: array.json, line 1)",
        ),
        (
            "cut.json",
            b"[{\"figi\":\"BBG000BLNNH6\"},\n{",
            "cut.json, line 2: the JSON ends in the middle",
        ),
        ("list.json", b"[{\"figi\":[\"BBG000BLNNH6\"]}]", "wrong figi: not a plain value"),
        ("utf16", b"\xff\xfef\0i\0g\0i\0", "utf16: the dump is UTF-16"),
        (
            "quote.csv",
            b"figi,ticker\nBBG000BLNNH6,\"IBM\nBBG000B9XRY4,AAPL\n",
            "quote.csv, line 2: a quoted cell never ends",
        ),
        ("cut.csv.gz", &packed[..packed.len() / 2], "cut.csv.gz"),
        ("cut.zst", &cut_zst[..cut_zst.len() - 3], "cut.zst"),
        ("header-only.csv", b"figi,ticker\n", "the inputs contain no instruments"),
        ("array.jsonl", b"[1]\n", "1 of 1 rows were rejected, more than --max-rejects 5 %"),
        ("array.jsonl", b"[1]\n", "a JSON array, not an object (first: array.jsonl, line 1)"),
        ("bad.jsonl", b"{\"figi\":\"BBG000BLNNH6\"\n", "not JSON (first: bad.jsonl, line 1)"),
        ("bad.csv", b"figi\nBBG000BLNNH5\n", "wrong figi: check digit (first: bad.csv, line 2)"),
    ];
    for (name, content, message) in faults {
        let desk = Desk::new();
        desk.write("old.csv", "figi,ticker\nBBG000BPH459,OLD\n");
        assert_eq!(desk.build(&["old.csv"], b"").0, 0);
        desk.write(name, content);
        let (code, _, error) = desk.build(&[name], b"");
        assert_eq!(code, 1, "{name}: {error}");
        assert!(error.contains(message), "{name}: {error}");
        assert_eq!(desk.tickers(), ["OLD"], "{name}");
    }
    let desk = Desk::new();
    let (code, _, error) = desk.build(&["absent.csv"], b"");
    assert_eq!((code, error.as_str()), (1, "figdex-ingest: absent.csv: no such file or folder\n"));
    assert_eq!(desk.build(&[], b"").0, 2, "no input is a fault of usage");
}

/// The values of the `--values` lists are allowed besides those of the data.
#[test]
fn value_lists() {
    let lists = tempfile::tempdir().unwrap();
    fs::write(lists.path().join("exchCode.json"), r#"{"values":["LN"]}"#).unwrap();
    fs::write(lists.path().join("idType.json"), "left alone").unwrap();
    let server = Server::build(|index| Build {
        values: Some(lists.path().to_owned()),
        ..build_of(
            vec![Input::Memory("dump", b"figi,exchCode\nBBG000BLNNH6,US\n"[..].into())],
            index,
        )
    });
    for (exch_code, status) in [("US", 200), ("LN", 200), ("GR", 400)] {
        let job = format!(r#"[{{"idType":"TICKER","idValue":"x","exchCode":"{exch_code}"}}]"#);
        assert_eq!(server.post("/v3/mapping", &job).status, status, "{exch_code}");
    }
    for (content, message) in [("[]", "invalid value list"), ("", "invalid value list")] {
        let desk = Desk::new();
        desk.write("dump.csv", format!("{HEADER}{IBM}"));
        desk.write("currency.json", content);
        let (code, _, error) = desk.build(&["dump.csv", "--values", "."], b"");
        assert!(
            code == 1 && error.contains("currency.json, line 1") && error.contains(message),
            "{error}"
        );
    }
}

/// Every row of a generated universe is taken and found.
#[test]
fn a_generated_universe_is_taken_whole() {
    for layout in [Layout::Csv, Layout::JsonLines] {
        let universe = figdex_universe::Universe::new(3_000, 9);
        let mut dump = Vec::new();
        universe.write(layout, &mut dump).unwrap();
        let input = Input::Memory("generated", dump.into());
        let server = Server::build(|index| build_of(vec![input], index));
        assert_eq!(server.report.total().instruments, 3_000, "{}", server.report);
        assert!(server.report.dropped.is_empty(), "{}", server.report);
    }
}

/// A night keeps the hash of identifiers that the previous night has, so that copies need not fetch those that
/// stay as they were. An index in another folder has another hash.
#[test]
fn a_night_keeps_the_hash_of_identifiers() {
    let (desk, other) = (Desk::new(), Desk::new());
    let entries = |desk: &Desk| {
        let manifest = Manifest::published(&desk.index()).unwrap();
        let entries = manifest.files().find(|(name, _)| name.ends_with("/identifiers.entries"));
        entries.unwrap().1.sha256.clone()
    };
    let first = format!("{HEADER}{IBM}");
    let second = "figi,ticker,ID_ISIN,strike\nBBG000BLNNH6,IBM,US4592001014,7\n";
    desk.write("dump.csv", first);
    assert_eq!(desk.build(&["dump.csv"], b"").0, 0);
    let before = entries(&desk);
    for desk in [&desk, &other] {
        desk.write("dump.csv", second);
        assert_eq!(desk.build(&["dump.csv"], b"").0, 0);
    }
    assert_eq!(entries(&desk), before);
    assert_ne!(entries(&other), before);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// No bytes make a build panic; and if it publishes an index, every row read is accounted for and
    /// the index holds as many instruments as the report says.
    #[test]
    fn any_dump_is_accounted_for(
        lines in proptest::collection::vec(prop_oneof![
            Just("BBG000BLNNH6,IBM,US4592001014".to_owned()),
            Just("BBG000B9XRY4,AAPL,".to_owned()),
            Just("BBG000BLNNH5,x,y".to_owned()),
            Just("\"BBG000BPH459\",\"a\"\"b\",".to_owned()),
            ".{0,20}",
            "[\",;\r\n]{0,5}",
        ], 0..12),
        shape in 0..3,
        name in proptest::sample::select(Format::names().collect::<Vec<_>>()),
    ) {
        let (name, dump) = match shape {
            0 => ("csv", format!("{HEADER}{}", lines.join("\n"))),
            1 => ("jsonl", lines.iter().map(|line| format!("{{\"figi\":\"{line}\"}}\n")).collect()),
            // Rows of another format, or of none.
            _ => (name, lines.join("\n")),
        };
        let folder = tempfile::tempdir().unwrap();
        let build = Build {
            max_rejects: figdex_ingest::MaxRejects::Percent(100.0),
            format: Some(name.parse().unwrap()),
            ..build_of(vec![Input::Memory("dump", dump.into_bytes().into())], &folder.path().join("index"))
        };
        if let Ok(report) = build.run(&mut |_| {}) {
            prop_assert!(report.adds_up());
            let catalogue = Catalogue::open(&folder.path().join("index")).unwrap();
            prop_assert_eq!(catalogue.manifest().instruments, report.total().instruments);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// The same for dumps to enrich with: read = enriched + unmatched + ambiguous + rejected, and no
    /// instrument is made or lost.
    #[test]
    fn any_dump_to_enrich_with_is_accounted_for(
        lines in proptest::collection::vec(prop_oneof![
            Just("US4592001014,IBM,name".to_owned()),
            Just("US4592001014,,other".to_owned()),
            Just("JP3633400001,AAPL,name".to_owned()),
            Just(",,".to_owned()),
            ".{0,20}",
            "[\",;\r\n]{0,5}",
        ], 0..12),
    ) {
        let more = format!("ID_ISIN,ticker,name\n{}", lines.join("\n"));
        let folder = tempfile::tempdir().unwrap();
        let dump = format!("{HEADER}{IBM}BBG000B9XRY4,AAPL,\n");
        let build = Build {
            max_rejects: figdex_ingest::MaxRejects::Percent(100.0),
            format: Some("csv".parse().unwrap()),
            enrich: vec![Input::Memory("more", more.into_bytes().into())],
            ..build_of(vec![Input::Memory("dump", dump.into_bytes().into())], &folder.path().join("index"))
        };
        if let Ok(report) = build.run(&mut |_| {}) {
            prop_assert!(report.adds_up());
            prop_assert_eq!(report.total().instruments, 2);
            let joined: u64 = report.not_joined.values().map(|tally| tally.count).sum();
            let counts = report.enrich_total();
            prop_assert_eq!(joined, counts.unmatched + counts.ambiguous);
        }
    }
}

/// A build survives the faults of real dumps, counts them and keeps them; few reject a row.
#[test]
fn the_faults_of_a_dirty_universe_are_reported() {
    use figdex_universe::Universe;
    let universe = Universe { dirt: "5%".parse().unwrap(), ..Universe::new(20_000, 3) };
    let mut dump = Vec::new();
    universe.write(Layout::Csv, &mut dump).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let input = Input::Memory("generated", dump.into());
    let build = Build {
        max_rejects: figdex_ingest::MaxRejects::default(),
        ..build_of(vec![input], &folder.path().join("index"))
    };
    let report = build.run(&mut |_| {}).unwrap();
    let total = report.total();
    assert!(report.adds_up() && total.read == 20_000, "{report}");
    assert!((20..100).contains(&total.rejected), "{report}");
    assert!((150..400).contains(&total.merged), "{report}");
    for text in [
        "wrong figi: check digit",
        "wrong figi: characters",
        "ID_ISIN: not of the form of its idType",
        "conflicts: rows of one instrument with different values",
        "(OLD)",
    ] {
        assert!(report.to_string().contains(text), "{text}\n{report}");
    }
}

/// contract 5.15 to 5.17: identifiers that are derived from a dump are found over HTTP as well.
#[test]
fn derived_identifiers_are_found() {
    let server = Server::of_dump("figi,ID_CUSIP\nBBG000BLNNH6,G0177J108\n");
    for (id_type, id_value) in [("ID_CINS", "G0177J108"), ("ID_CUSIP_8_CHR", "G0177J10")] {
        let answers = server.map(&serde_json::json!([{"idType": id_type, "idValue": id_value}]));
        assert_eq!(figis(&answers[0]), ["BBG000BLNNH6"], "{id_type}");
    }
}
