//! The rows that come out: their bytes, their order, their outcome.

use figdex_ingest::Input;
use figdex_ingest::table::{Batch, Heading, Table};
use proptest::prelude::*;
use serde_json::json;

use super::Desk;

const FIELDS: &[&str] = &["--fields", "figi", "--prefer", "composite"];

/// The row's own cells keep their bytes, whatever the quotes, blanks and line ends are.
#[test]
fn rows_come_out_in_order_with_their_bytes() {
    let desk = Desk::new();
    let input = "isin,\"no\"\"te\" \r\n\
                 \"US4592001014\",\"two\r\nlines, quoted\"\r\n\
                 US0378331005, \"odd\" \r\n\
                 US4592001014,=1+1\n\
                 GB00B10RZP78,\u{e9}\r\n";
    let expected = "isin,\"no\"\"te\" ,match,matches,reason,figi\r\n\
                    \"US4592001014\",\"two\r\nlines, quoted\",resolved,1,exchCode=US,BBG000BLNNH6\r\n\
                    US0378331005, \"odd\" ,resolved,1,exchCode=US,BBG000B9XRY4\r\n\
                    US4592001014,=1+1,resolved,1,exchCode=US,BBG000BLNNH6\n\
                    GB00B10RZP78,\u{e9},unknown,0,not found,\r\n";
    let mapped = desk.map_file("in.csv", input, &["--fields", "figi", "--prefer", "exchCode=US"]);
    assert_eq!(mapped.ok(), expected);
    assert_eq!(
        mapped.said,
        "column isin: ID_ISIN, 100.0 % of its first values\n\
         4 rows = 3 resolved + 0 ambiguous + 1 unknown + 0 invalid\n"
    );
    // Without a line end, the last row gets none.
    let mapped = desk.map_file("in.csv", input.trim_end(), &[]);
    assert!(mapped.ok().ends_with(",unknown,0,not found,,,,"), "{}", mapped.text());
}

/// Short rows are padded, long ones are invalid, and blank ones are not asked. A blank line is a row, except at the
/// end of the file.
#[test]
fn every_row_has_a_status() {
    let desk = Desk::new();
    let input = "isin,a,b\n\
                 US0846701086\n\
                 \n\
                 US0846701086,1,2,3\n\
                 ,1,2\n\
                 \u{a0},1,2\n\
                 US4592001014,1,2\n\
                 US4592001015,1,2\n\
                 US4592000114,1,2\n\
                 US0846701086,1,2\n\n\n";
    let mapped = desk.map_file("in.csv", input, &["--fields", "figi"]);
    let expected = "isin,a,b,match,matches,reason,figi\n\
        US0846701086,,,resolved,1,only,BBG000DWCFL4\n\
        ,,,,,no identifier,\n\
        US0846701086,1,2,3,invalid,0,the row has 4 cells and the heading 3,\n\
        ,1,2,,,no identifier,\n\
        \u{a0},1,2,,,no identifier,\n\
        US4592001014,1,2,ambiguous,11,11 rows may be meant,\n\
        US4592001015,1,2,invalid,0,ID_ISIN: the check digit should be 4; did you mean US4592001014?,\n\
        US4592000114,1,2,invalid,0,ID_ISIN: the check digit should be 5; did you mean US4592001014?,\n\
        US0846701086,1,2,resolved,1,only,BBG000DWCFL4\n";
    assert_eq!(mapped.ok(), expected);
    assert_eq!(
        mapped.sum(),
        "6 rows = 2 resolved + 1 ambiguous + 0 unknown + 3 invalid, and 3 rows without an identifier"
    );
}

/// `--many all` writes a row for each match, with the number of the input row.
#[test]
fn all_matches() {
    let desk = Desk::new();
    let input = "sedol,isin\nx,US0846701086\n\ny,US0378331005";
    let arguments = ["--many", "all", "--fields", "figi,exchCode", "--id", "isin:ID_ISIN"];
    let mapped = desk.map_file("in.csv", input, &arguments);
    let expected = "sedol,isin,row,match,matches,reason,figi,exchCode\n\
        x,US0846701086,1,resolved,1,only,BBG000DWCFL4,US\n\
        ,,2,,,no identifier,,\n\
        y,US0378331005,3,ambiguous,4,4 rows may be meant,BBG000B9XRY4,US\n\
        y,US0378331005,3,ambiguous,4,4 rows may be meant,BBG000DGZJ27,GR\n\
        y,US0378331005,3,ambiguous,4,4 rows may be meant,BBG000B9Y5X2,UW\n\
        y,US0378331005,3,ambiguous,4,4 rows may be meant,BBG000DH0LL7,GY";
    assert_eq!(mapped.ok(), expected);
    assert_eq!(
        mapped.sum(),
        "2 rows = 1 resolved + 1 ambiguous + 0 unknown + 0 invalid, and a row without an identifier"
    );
}

/// A step keeps the rows that fit; nothing is chosen that no step asked for.
#[test]
fn steps_choose_and_nothing_else() {
    let desk = Desk::new();
    let input = "isin\nUS0378331005\nUS4592001014\nUS0846701086\n";
    let reasons = |arguments: &[&str]| {
        let mapped = desk.map_file("in.csv", input, &[&["--fields", "figi"], arguments].concat());
        let rows = mapped.ok().lines().skip(1);
        rows.map(|row| row.split_once(',').unwrap().1.to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(
        reasons(&[]),
        [
            "ambiguous,4,4 rows may be meant,",
            "ambiguous,11,11 rows may be meant,",
            "resolved,1,only,BBG000DWCFL4"
        ]
    );
    assert_eq!(
        reasons(&["--prefer", "composite", "--prefer", "exchCode=GR|US"]),
        [
            "resolved,1,exchCode=GR|US,BBG000DGZJ27",
            "resolved,1,exchCode=GR|US,BBG000K23JG0",
            "resolved,1,only,BBG000DWCFL4"
        ]
    );
    // A value that no row of the index has is said; the step is skipped.
    let mapped = desk.map_file("in.csv", input, &["--prefer", "exchCode=QQ|LN"]);
    assert!(mapped.ok().contains("US4592001014,resolved,1,exchCode=QQ|LN,BBG000NP2WB3"));
    assert!(
        mapped.said.contains("warning: --prefer exchCode=QQ|LN: the index has no exchCode QQ\n"),
        "{}",
        mapped.said
    );
}

/// Conditions narrow what an identifier finds; a row's own value is taken from a column.
#[test]
fn conditions_narrow() {
    let desk = Desk::new();
    let input = "isin,ccy\nJP3633400001,JPY\nJP3633400001,EUR\nJP3633400001,\nJP3633400001,eur\n";
    let arguments = ["--fields", "figi", "--where", "currency=@ccy"];
    let mapped = desk.map_file("in.csv", input, &arguments);
    assert_eq!(
        mapped.ok(),
        "isin,ccy,match,matches,reason,figi\n\
         JP3633400001,JPY,resolved,1,only,BBG000BPHN57\n\
         JP3633400001,EUR,resolved,1,only,BBG000BK4828\n\
         JP3633400001,,ambiguous,2,2 rows may be meant,\n\
         JP3633400001,eur,invalid,0,\"\"\"eur\"\" is not a value of currency\",\n"
    );
    let mapped = desk.map(&["in.csv", "--fields", "figi", "--where", "exchCode=LN"]);
    assert!(mapped.ok().ends_with("JP3633400001,eur,resolved,1,only,BBG000BPHN57\n"));
}

/// `--guard-formulas` guards the row's own cells and the added ones.
#[test]
fn formulas_are_guarded() {
    let desk = Desk::new();
    let input = "=isin,a\n=x,\"1,2\"\n\"\tx\",-1\nUS0846701086,\"kept\"\n＠x,1\n";
    let mapped =
        desk.map_file("in.csv", input, &["--guard-formulas", "--id", "1", "--fields", "figi"]);
    assert_eq!(
        mapped.ok(),
        "'=isin,a,match,matches,reason,figi\n\
         '=x,\"1,2\",unknown,0,not found,\n\
         '\tx,'-1,unknown,0,not found,\n\
         US0846701086,\"kept\",resolved,1,only,BBG000DWCFL4\n\
         '＠x,1,unknown,0,not found,\n"
    );
    let mapped = desk.map(&["in.csv", "--id", "1", "--fields", "figi"]);
    assert!(mapped.ok().contains("\n=x,\"1,2\",unknown"));
}

/// A name that the file has already gets a prefix.
#[test]
fn taken_names_get_a_prefix() {
    let desk = Desk::new();
    let input = "isin,figi,match,figdex_match\nUS0846701086,1,2,3\n";
    let mapped = desk.map_file("in.csv", input, FIELDS);
    assert!(
        mapped.ok().starts_with(
            "isin,figi,match,figdex_match,figdex_figdex_match,matches,reason,figdex_figi\n"
        ),
        "{}",
        mapped.text()
    );
}

/// The sums of the report are those of the rows.
#[test]
fn the_report_counts_every_row() {
    let desk = Desk::new();
    let input = "isin,ticker\nUS0378331005,a\nUS4592001014,b\nUS0846701086,c\nGB00B10RZP78,d\n,e\n";
    let arguments = [
        "--prefer",
        "exchCode=UW",
        "--prefer",
        "composite",
        "--where",
        "currency=USD",
        "--report",
        "report.json",
    ];
    let mapped = desk.map_file("in.csv", input, &arguments);
    assert_eq!(
        mapped.sum(),
        "4 rows = 3 resolved + 0 ambiguous + 1 unknown + 0 invalid, and a row without an identifier"
    );
    assert!(
        mapped.said.contains("also recognised, and not used: --id ticker:TICKER\n"),
        "{}",
        mapped.said
    );
    let mut report = desk.json("report.json");
    let seconds = report.as_object_mut().unwrap().remove("seconds").unwrap();
    assert!((0.0..60.0).contains(&seconds.as_f64().unwrap()));
    let expected = json!({
        "rows": 4, "resolved": 3, "ambiguous": 0, "unknown": 1, "invalid": 0, "footers": 0,
        "withoutIdentifier": 1,
        "generation": 1,
        "byStep": {"only": 1, "composite": 1, "exchCode=UW": 1},
        "columns": [
            {"column": "isin", "idType": "ID_ISIN", "share": 1.0, "used": true},
            {"column": "ticker", "idType": "TICKER", "share": 1.0, "used": false},
        ],
    });
    assert_eq!(report, expected);
    assert_eq!(desk.read("report.json").lines().nth(1), Some("  \"rows\": 4,"));
}

/// The share of resolved rows decides the exit code; the files are written all the same.
#[test]
fn too_few_resolved_rows_are_a_failure() {
    let desk = Desk::new();
    let input = "isin\nUS0846701086\nGB00B10RZP78\n";
    for (min, code) in [("50%", 0), ("0%", 0), ("50.1%", 1), ("100%", 1)] {
        let arguments = ["--min-matched", min, "--out", "out.csv", "--report", "report.json"];
        let mapped = desk.map_file("in.csv", input, &arguments);
        assert_eq!(mapped.code, Some(code), "{min} {}", mapped.said);
        assert_eq!(mapped.sum(), "2 rows = 1 resolved + 0 ambiguous + 1 unknown + 0 invalid");
        let says = format!("50.0 % of the rows are resolved, fewer than --min-matched {min}");
        assert_eq!(mapped.said.contains(&says), code == 1, "{}", mapped.said);
        assert!(desk.read("out.csv").starts_with("isin,match"));
        std::fs::remove_file(desk.path("out.csv")).unwrap();
        std::fs::remove_file(desk.path("report.json")).unwrap();
    }
}

/// The rows that were left are valid inputs again, with their bytes.
#[test]
fn what_is_left_can_be_mapped_again() {
    let desk = Desk::new();
    let input = "\u{feff}isin;\"n\"\r\nUS0378331005;\"a\r\nb\"\r\nUS0846701086;x\r\nGB00B10RZP78;\"y\"\r\n\r\nUS0378331005";
    let arguments = ["--unmatched", "left.csv", "--ambiguous", "many.csv", "--out", "out.csv"];
    let mapped = desk.map_file("in.csv", input, &arguments);
    assert_eq!(
        mapped.sum(),
        "4 rows = 1 resolved + 2 ambiguous + 1 unknown + 0 invalid, and a row without an identifier"
    );
    assert!(desk.read("out.csv").starts_with("\u{feff}isin;\"n\";match;matches;"));
    assert_eq!(desk.read("left.csv"), "\u{feff}isin;\"n\"\r\nGB00B10RZP78;\"y\"\r\n");
    let many = "\u{feff}isin;\"n\"\r\nUS0378331005;\"a\r\nb\"\r\nUS0378331005\r\n";
    assert_eq!(desk.read("many.csv"), many);
    let mapped = desk.map(&["many.csv", "--prefer", "exchCode=US"]);
    mapped.ok();
    assert_eq!(mapped.sum(), "2 rows = 2 resolved + 0 ambiguous + 0 unknown + 0 invalid");
    assert_eq!(
        desk.map(&["left.csv"]).sum(),
        "1 rows = 0 resolved + 0 ambiguous + 1 unknown + 0 invalid"
    );
    // A file without a heading stays one.
    desk.map_file("ids.txt", "US0846701086\nGB00B10RZP78\n", &["--unmatched", "left.txt"]).ok();
    assert_eq!(desk.read("left.txt"), "GB00B10RZP78\n");
}

/// More rows than a batch holds come out in order.
#[test]
fn many_rows_keep_their_order() {
    let desk = Desk::new();
    let ids = ["US0846701086", "GB00B10RZP78", "US0378331005", "nonsense", ""];
    let mut input = "n,isin\n".to_owned();
    for number in 0..20_000_usize {
        input += &format!("{number},{}\n", ids[number * number % 5]);
    }
    let mapped = desk.map_file("in.csv", &input, &["--fields", "figi"]);
    let rows = mapped.ok().lines().zip(input.lines());
    assert_eq!(rows.clone().count(), 20_001);
    for (out, row) in rows {
        assert!(out.starts_with(row), "{out} {row}");
    }
}

/// A batch whose matches fill several pieces comes out in order, each match once.
#[test]
fn many_matches_keep_their_order() {
    let desk = Desk::new();
    let note = "x".repeat(20_000);
    let mut input = "n,isin,note\n".to_owned();
    for number in 0..200 {
        input += &format!("{number},US4592001014,{note}\n");
    }
    let mapped = desk.map_file("in.csv", &input, &["--many", "all", "--fields", "figi"]);
    let mut rows = mapped.ok().lines().skip(1).zip(0..);
    let first: Vec<String> =
        rows.clone().take(11).map(|(row, _)| row.rsplit_once(',').unwrap().1.to_owned()).collect();
    for (row, place) in rows.by_ref() {
        let own = format!("{},US4592001014,{note},", place / 11);
        let added = row.strip_prefix(&own).unwrap();
        let figi = &first[place % 11];
        assert_eq!(added, format!("{},ambiguous,11,11 rows may be meant,{figi}", place / 11 + 1));
    }
    assert_eq!(mapped.ok().lines().count(), 1 + 200 * 11);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// For any bytes of a file, each row comes out once, in order, and begins with its bytes.
    #[test]
    fn any_rows_come_out(
        pieces in proptest::collection::vec(
            prop_oneof![
                prop::sample::select(vec![
                    &b"US0378331005"[..], b"US0378331006", b"IBM US Equity", b"BRK.B", b",", b",,",
                    b"\n", b"\r\n", b"\r", b"\"a,\n\"", b"\"\"", b" ", b"\xff", b"\xc3\xa9", b"\0", b"'",
                ])
                .prop_map(<[u8]>::to_vec),
                proptest::collection::vec(any::<u8>().prop_filter("a quote", |b| *b != b'"'), 1..4),
            ],
            0..60,
        ),
    ) {
        use std::sync::OnceLock;
        static DESK: OnceLock<Desk> = OnceLock::new();
        let desk = DESK.get_or_init(Desk::new);
        // ASCII first, so that it is UTF-8 or has a row that is not.
        let mut content = b"id,x\n".to_vec();
        content.extend(pieces.concat());
        let mapped = desk.map_from(&["-", "--id", "id", "--delimiter", ",", "--heading", "1", "--fields", "figi"], &content);
        if mapped.code == Some(1) {
            prop_assert!(mapped.said.contains("a quoted cell never ends"), "{}", mapped.said);
            return Ok(());
        }
        prop_assert_eq!(mapped.code, Some(0), "{}", mapped.said);
        let is_converted = mapped.said.contains("written as UTF-8");
        let input = Input::Memory("in", content.as_slice().into());
        let mut table = Table::open(&input, Some(b','), Heading::First).unwrap();
        let mut batch = Batch::default();
        let mut rest = mapped.out.strip_prefix(b"id,x,match,matches,reason,figi\n").unwrap();
        let (mut rows, mut left_out) = (0, 0);
        while table.read(&mut batch).unwrap() {
            for place in 0..batch.rows() {
                let own = batch.row(place);
                prop_assert!(rest.starts_with(own.content()), "{is_converted}");
                rest = &rest[own.content().len()..];
                // The added cells have no line ends, and the row keeps its own.
                let statuses = ["resolved,1,", "ambiguous,", "unknown,0,", "invalid,0,", "no identifier", "footer: "];
                let added = rest.trim_ascii_start().iter().take_while(|byte| **byte == b',').count();
                prop_assert!(added > 0 || !own.content().is_empty());
                let text = String::from_utf8_lossy(rest.split(|b| matches!(b, b'\r' | b'\n')).next().unwrap());
                prop_assert!(statuses.iter().any(|s| text.trim_start_matches(',').starts_with(s)), "{text}");
                let is_left_out = text.contains("no identifier") || text.contains("footer: ");
                *(if is_left_out { &mut left_out } else { &mut rows }) += 1;
                rest = &rest[text.len()..];
                prop_assert!(rest.starts_with(own.line_end()));
                rest = &rest[own.line_end().len()..];
            }
        }
        prop_assert!(rest.is_empty());
        prop_assert!(mapped.sum().starts_with(&format!("{rows} rows = ")), "{}", mapped.sum());
        prop_assert_eq!(mapped.sum().contains(", and "), left_out > 0, "{}", mapped.sum());
    }
}
