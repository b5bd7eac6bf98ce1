//! The files that are read: delimiters, encodings, compression, JSON lines, Parquet.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use super::Desk;

const CSV: &str = "isin,note\nUS0846701086,\u{e9}\u{20ac}\nUS0378331005,x\n";
const MAPPED: &str = "isin,note,match,matches,reason,figi\n\
    US0846701086,\u{e9}\u{20ac},resolved,1,only,BBG000DWCFL4\n\
    US0378331005,x,ambiguous,4,4 rows may be meant,\n";
const FIELDS: &[&str] = &["--fields", "figi"];

#[test]
fn any_delimiter_is_kept() {
    let desk = Desk::new();
    for (name, delimiter) in [
        ("a.csv", ";"),
        ("b.csv", ","),
        ("c.csv", "\t"),
        ("d", "|"),
        ("e.tsv", "\t"),
        ("f.psv", "|"),
    ] {
        let mapped = desk.map_file(name, CSV.replace(',', delimiter), FIELDS);
        assert_eq!(mapped.ok(), MAPPED.replace(',', delimiter), "{name}");
    }
    for (given, delimiter) in [("^", "^"), ("tab", "\t"), (":", ":")] {
        let arguments = ["--fields", "figi", "--delimiter", given];
        let mapped = desk.map_file("x.csv", CSV.replace(',', delimiter), &arguments);
        assert_eq!(mapped.ok(), MAPPED.replace(',', delimiter), "{given}");
    }
}

/// UTF-8 keeps its bytes; other encodings come out as UTF-8, and the command says so.
#[test]
fn encodings_come_out_as_utf_8() {
    let desk = Desk::new();
    let wide = |bytes: fn(u16) -> [u8; 2]| -> Vec<u8> {
        format!("\u{feff}{CSV}").encode_utf16().flat_map(bytes).collect()
    };
    let latin: Vec<u8> = CSV.replace('\u{20ac}', "").chars().map(|c| c as u8).collect();
    let windows: Vec<u8> =
        CSV.chars().map(|c| if c == '\u{20ac}' { 0x80 } else { c as u8 }).collect();
    for (content, encoding) in [
        (wide(u16::to_le_bytes), "UTF-16LE"),
        (wide(u16::to_be_bytes), "UTF-16BE"),
        (windows, "windows-1252"),
    ] {
        let mapped = desk.map_file("in.csv", content, FIELDS);
        assert_eq!(mapped.ok(), MAPPED, "{encoding}");
        assert!(mapped.said.starts_with(&format!("in.csv: {encoding}, written as UTF-8\n")));
    }
    // Also without a byte order mark, as some programs write it.
    for bytes in [u16::to_le_bytes as fn(u16) -> [u8; 2], u16::to_be_bytes] {
        let content: Vec<u8> = CSV.encode_utf16().flat_map(bytes).collect();
        assert_eq!(desk.map_file("in.csv", content, FIELDS).ok(), MAPPED);
    }
    let mapped = desk.map_file("in.csv", latin, FIELDS);
    assert_eq!(mapped.ok(), MAPPED.replace('\u{20ac}', ""));
    let mapped = desk.map_file("in.csv", format!("\u{feff}{CSV}"), FIELDS);
    assert_eq!(mapped.ok(), format!("\u{feff}{MAPPED}"));
    assert!(!mapped.said.contains("UTF-8"));
    let mapped = desk.map_file("in.csv", b"\xff\xfea\0\0\xd8", FIELDS);
    assert_eq!(mapped.code, Some(1));
    assert!(mapped.said.contains("in.csv: the text is not valid UTF-16LE"), "{}", mapped.said);
    // Far behind the first bytes, another encoding is kept as it is, and cannot identify a row.
    let mut late = format!("isin,x\n{}", "US0846701086,1\n".repeat(10_000)).into_bytes();
    late.extend_from_slice(b"US0846701086,\xfc\nUS\xfc,1\n");
    let mapped = desk.map_file("in.csv", late, FIELDS);
    assert_eq!(mapped.code, Some(0));
    let end =
        b"US0846701086,\xfc,resolved,1,only,BBG000DWCFL4\nUS\xfc,1,invalid,0,it is not UTF-8,\n";
    assert!(mapped.out.ends_with(end));
}

#[test]
fn packed_files_are_unpacked() {
    let desk = Desk::new();
    let mut gz = GzEncoder::new(Vec::new(), Compression::default());
    gz.write_all(CSV.as_bytes()).unwrap();
    let mut bz = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::default());
    bz.write_all(CSV.as_bytes()).unwrap();
    let packed = [
        ("in.csv.gz", gz.finish().unwrap()),
        ("in.csv.zst", zstd::encode_all(CSV.as_bytes(), 1).unwrap()),
        ("in.csv.bz2", bz.finish().unwrap()),
    ];
    for (name, content) in packed {
        assert_eq!(desk.map_file(name, &content, FIELDS).ok(), MAPPED, "{name}");
        let mapped = desk.map_from(&["-", "--fields", "figi", "--out", "-"], &content);
        assert_eq!(mapped.ok(), MAPPED);
        let mapped = desk.map_file(name, &content[..content.len() - 9], FIELDS);
        assert_eq!(mapped.code, Some(1), "{name}");
    }
}

/// Objects keep their bytes; the added members come last.
#[test]
fn json_lines_keep_their_values() {
    let desk = Desk::new();
    let input = "{\"isin\": \"US0846701086\", \"n\": 1.50 }\n\
                 \n\
                 {\"isin\":\"US0378331005\",\"n\":{\"a\":[1]}}\r\n\
                 { }\n\
                 {\"n\":null,\"isin\":[\"US0378331005\"]}";
    let mapped = desk.map_file("in.jsonl", input, FIELDS);
    assert_eq!(
        mapped.ok(),
        "{\"isin\": \"US0846701086\", \"n\": 1.50 ,\"match\":\"resolved\",\"matches\":1,\"reason\":\"only\",\"figi\":\"BBG000DWCFL4\"}\n\
         {\"isin\":\"US0378331005\",\"n\":{\"a\":[1]},\"match\":\"ambiguous\",\"matches\":4,\"reason\":\"4 rows may be meant\",\"figi\":null}\r\n\
         { \"match\":null,\"matches\":null,\"reason\":\"no identifier\",\"figi\":null}\n\
         {\"n\":null,\"isin\":[\"US0378331005\"],\"match\":\"invalid\",\"matches\":0,\"reason\":\"it is neither a text nor a number\",\"figi\":null}\n"
    );
    let mapped = desk.map(&["in.jsonl", "--fields", "figi", "--format", "csv"]);
    assert_eq!(
        mapped.ok(),
        "isin,n,match,matches,reason,figi\n\
         US0846701086,1.50,resolved,1,only,BBG000DWCFL4\n\
         US0378331005,(an object or an array),ambiguous,4,4 rows may be meant,\n\
         ,,,,no identifier,\n\
         (an object or an array),,invalid,0,it is neither a text nor a number,\n"
    );
    // A number is a text of its digits.
    let mapped = desk.map_file(
        "n.jsonl",
        "{\"id\":200597300,\"match\":0}\n",
        &["--id", "id:ID_COMMON", "--many", "all", "--fields", "figi"],
    );
    let row: Value = serde_json::from_str(mapped.ok()).unwrap();
    assert_eq!(
        row,
        json!({"id": 200_597_300, "match": 0, "row": 1, "figdex_match": "unknown", "matches": 0,
            "reason": "not found", "figi": null})
    );
    // It has lost its leading zeros (contract 5.3), however the column gets its type.
    let rows = "{\"cusip\":37833100,\"type\":\"ID_CUSIP\"}\n{\"cusip\":37833100.0,\"type\":\"ID_CUSIP\"}\n\
                {\"cusip\":\"37833100\",\"type\":\"ID_CUSIP\"}\n{\"cusip\":37833101,\"type\":\"ID_CUSIP\"}\n";
    for id in ["cusip", "cusip:ID_CUSIP", "cusip:@type"] {
        let arguments =
            ["--id", id, "--format", "csv", "--fields", "figi", "--prefer", "exchCode=US"];
        let mapped = desk.map_file("n.jsonl", rows, &arguments);
        let outcomes: Vec<&str> =
            mapped.ok().lines().skip(1).map(|row| row.split_once("ID_CUSIP,").unwrap().1).collect();
        assert_eq!(
            outcomes,
            [
                "resolved,1,exchCode=US,BBG000B9XRY4",
                "resolved,1,exchCode=US,BBG000B9XRY4",
                "invalid,0,ID_CUSIP: expected eight characters and a check digit,",
                "invalid,0,ID_CUSIP: the check digit should be 0; did you mean 037833100?,",
            ],
            "{id} {}",
            mapped.said
        );
    }
    let mapped = desk.map_file("bad.jsonl", "{\"isin\":\"US0846701086\"}\n{\"isin\":}\n", FIELDS);
    assert_eq!(mapped.code, Some(1));
    assert!(
        mapped.said.contains("bad.jsonl, line 2: the line is not a JSON object: "),
        "{}",
        mapped.said
    );
    let mapped = desk.map_file("a.json", "[{\"isin\":\"US0846701086\"}]", FIELDS);
    assert!(
        mapped.said.contains("a.json: this is a JSON array: give JSON lines"),
        "{}",
        mapped.said
    );
}

/// A member that appears late must not be one of the added names.
#[test]
fn late_members_are_refused_where_there_is_no_place() {
    let desk = Desk::new();
    let first = "{\"isin\":\"US0846701086\"}\n".repeat(13_000);
    let name =
        desk.map_file("in.jsonl", format!("{first}{{\"reason\":1}}"), &["--out", "out.jsonl"]);
    assert_eq!(name.code, Some(1));
    assert!(name.said.contains("an object has a member \"reason\", which none of the first 10000 has, and which is added: rename it"), "{}", name.said);
    let late = format!("{first}{{\"late\":1}}");
    let mapped = desk.map_file("in.jsonl", &late, &["--out", "out.jsonl"]);
    mapped.ok();
    // The row of such an object is mapped like the others.
    let late_too = format!("{first}{{\"isin\":\"US0846701086\",\"late\":1}}\n");
    let mapped = desk.map_file("in.jsonl", &late_too, &["--out", "out.jsonl"]);
    mapped.ok();
    let out = desk.read("out.jsonl");
    let (others, last) = (out.lines().next().unwrap(), out.lines().last().unwrap());
    let status =
        |line: &str| line.split_once("\"match\":").unwrap().1.split(',').next().unwrap().to_owned();
    assert_eq!(status(last), status(others), "{last}");
    // A member that is there twice is not a later one.
    let twice =
        "{\"isin\":\"US0846701086\"}\n{\"isin\":\"US0846701086\",\"isin\":\"US4592001014\"}\n";
    let mapped = desk.map_file("in.jsonl", twice, &["--out", "out.jsonl"]);
    assert!(
        desk.read("out.jsonl").contains("the row has 2 cells and the heading 1"),
        "{}",
        mapped.said
    );
    let mapped = desk.map_file("in.jsonl", &late, &["--out", "out.csv", "--format", "csv"]);
    assert_eq!(mapped.code, Some(1));
    assert!(mapped.said.contains("write JSON lines with --format jsonl"), "{}", mapped.said);
    assert!(!desk.names().contains(&"out.csv".to_owned()));
}

/// Delimited text may be written as JSON lines.
#[test]
fn delimited_text_may_become_json_lines() {
    let desk = Desk::new();
    let input = "isin,\"n\"\"o\",\nUS0846701086,a\"b,c\nUS0846701086\nUS0846701086,1,2,3\n";
    let mapped = desk.map_file("in.csv", input, &["--fields", "ticker", "--format", "jsonl"]);
    let rows: Vec<Value> =
        mapped.ok().lines().map(|row| serde_json::from_str(row).unwrap()).collect();
    assert_eq!(
        rows,
        [
            json!({"isin": "US0846701086", "n\"o": "a\"b", "column_3": "c", "match": "resolved", "matches": 1, "reason": "only", "ticker": "BRK/A"}),
            json!({"isin": "US0846701086", "n\"o": null, "column_3": null, "match": "resolved", "matches": 1, "reason": "only", "ticker": "BRK/A"}),
            json!({"isin": "US0846701086", "n\"o": "1", "column_3": "2", "column_4": "3", "match": "invalid", "matches": 0, "reason": "the row has 4 cells and the heading 3", "ticker": null}),
        ]
    );
}

/// A quote that is never closed ends the command, and nothing is written.
#[test]
fn an_open_quote_is_an_error() {
    let desk = Desk::new();
    let mapped = desk.map_file("in.csv", "isin,x\nUS0846701086,\"y\n", &["--out", "out.csv"]);
    assert_eq!(mapped.code, Some(1));
    assert!(mapped.said.contains("in.csv, line 2: a quoted cell never ends"), "{}", mapped.said);
    assert_eq!(desk.names(), ["in.csv", "index"]);
}

/// The ending of `--out` chooses the layout.
#[test]
fn the_ending_of_the_output_is_its_layout() {
    let desk = Desk::new();
    desk.write("in.csv", CSV);
    desk.map(&["in.csv", "--fields", "figi", "--out", "out.jsonl"]).ok();
    let out = desk.read("out.jsonl");
    assert!(out.starts_with("{\"isin\":\"US0846701086\",\"note\":"), "{out}");
    desk.write("in.jsonl", out);
    let mapped = desk.map(&["in.jsonl", "--id", "isin", "--fields", "figi", "--out", "out.csv"]);
    mapped.ok();
    let heading = "isin,note,match,matches,reason,figi,\
                   figdex_match,figdex_matches,figdex_reason,figdex_figi\n";
    assert!(desk.read("out.csv").starts_with(heading), "{}", desk.read("out.csv"));
}

/// Two rows, as a Parquet file: an ISIN, and a weight that the second lacks.
fn parquet() -> Vec<u8> {
    let hex: Vec<u8> =
        include_bytes!("holdings.parquet.hex").iter().copied().filter(|c| *c != b'\n').collect();
    let pairs = hex.chunks(2).map(|pair| str::from_utf8(pair).unwrap());
    pairs.map(|pair| u8::from_str_radix(pair, 16).unwrap()).collect()
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_files_are_read() {
    let desk = Desk::new();
    let arguments = ["--fields", "figi", "--ambiguous", "many.jsonl"];
    let mapped = desk.map_file("in.parquet", parquet(), &arguments);
    assert_eq!(
        mapped.ok(),
        "isin,weight,match,matches,reason,figi\n\
         US0846701086,0.25,resolved,1,only,BBG000DWCFL4\n\
         US0378331005,,ambiguous,4,4 rows may be meant,\n"
    );
    assert_eq!(desk.read("many.jsonl"), "{\"isin\":\"US0378331005\",\"weight\":null}\n");
    let mapped = desk.map(&["in.parquet", "--fields", "figi", "--format", "jsonl"]);
    let first = "{\"isin\":\"US0846701086\",\"weight\":0.25,\"match\":\"resolved\",\"matches\":1,\
                 \"reason\":\"only\",\"figi\":\"BBG000DWCFL4\"}";
    assert_eq!(mapped.ok().lines().next(), Some(first));
    let mapped = desk.map_from(&["-"], &parquet());
    assert!(mapped.said.contains("cannot be read from standard input"), "{}", mapped.said);
}

/// A row as a Parquet file of the result has it: the columns of the table are texts, and of the
/// added ones counts are whole numbers and days are days.
#[cfg(feature = "parquet")]
#[test]
fn parquet_files_are_written() {
    let desk = Desk::new();
    let table = "isin,note,\nUS0846701086,\"a;\"\"b\n\",x\nUS0378331005\n,,\n";
    let fields = ["--fields", "figi,name", "--many", "all", "--add-type"];
    let out = ["--out", "out.parquet", "--unmatched", "left.csv"];
    let mapped = desk.map_file("in.csv", table, &[&fields[..], &out[..]].concat());
    assert_eq!(mapped.ok(), "");
    // Read again by the program itself.
    let again = ["out.parquet", "--format", "jsonl", "--id", "isin:ID_ISIN", "--fields", "figi"];
    let mapped = desk.map(&again);
    let rows: Vec<Value> =
        mapped.ok().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    // Each row of an ambiguous identifier, the resolved one and the blank one.
    assert_eq!(rows.len(), 6);
    let first = &rows[0];
    assert_eq!(first["note"], "a;\"b\n");
    assert_eq!(first["column_3"], "x");
    assert_eq!((&first["row"], &first["matches"]), (&json!(1), &json!(1)));
    assert_eq!((&first["match"], &first["figi"]), (&json!("resolved"), &json!("BBG000DWCFL4")));
    assert_eq!(first["idType"], "ID_ISIN");
    assert_eq!((&rows[1]["matches"], &rows[1]["note"]), (&json!(4), &Value::Null));
    assert_eq!((&rows[5]["row"], &rows[5]["matches"]), (&json!(3), &Value::Null));
    // A blank row is in the result only.
    assert_eq!(desk.read("left.csv"), "isin,note,\n");

    desk.write("wide.csv", "isin,note\nUS0846701086,x,y\n");
    let refused = desk.map(&["wide.csv", "--out", "wide.parquet"]);
    assert_eq!(refused.code, Some(1));
    assert!(refused.said.contains("a row has more cells than the heading"), "{}", refused.said);
    desk.write("twice.csv", "isin,a,a\nUS0846701086,x,y\n");
    let refused = desk.map(&["twice.csv", "--out", "twice.parquet"]);
    let what = "two columns are named a: Parquet needs different headings";
    assert!(refused.said.contains(what), "{}", refused.said);
    assert!(desk.names().iter().all(|name| !name.contains("wide.p") && !name.contains("twice.p")));
}

#[cfg(not(feature = "parquet"))]
#[test]
fn parquet_files_need_the_feature() {
    let desk = Desk::new();
    let mapped = desk.map_file("in.csv", CSV, &["--out", "out.parquet"]);
    assert_eq!(mapped.code, Some(1));
    let what = "this program was built without support for Parquet files";
    assert!(mapped.said.contains(what), "{}", mapped.said);
    assert!(!desk.path("out.parquet").exists());
    let mapped = desk.map_file("in.parquet", parquet(), &[]);
    assert_eq!(mapped.code, Some(1));
    let what = "in.parquet: this program was built without support for Parquet files";
    assert!(mapped.said.contains(what), "{}", mapped.said);
}

/// A file whose beginning is UTF-8 and a later row is not: its rows come out, and it is said.
#[test]
fn late_bytes_that_are_not_utf_8() {
    let desk = Desk::new();
    let mut file = b"isin,name\n".to_vec();
    for _ in 0..20_000 {
        file.extend_from_slice(b"US0378331005,Apple\n");
    }
    file.extend_from_slice(b"US4592001014,Caf\xe9\n");
    desk.write("late.csv", &file);
    let mapped = desk.map(&["late.csv", "--fields", "ticker"]);
    assert_eq!(mapped.code, Some(0), "{}", mapped.said);
    let lines: Vec<&[u8]> = mapped.out.split(|byte| *byte == b'\n').collect();
    assert!(lines[20_001].starts_with(b"US4592001014,Caf\xe9,"), "its bytes are kept");
    let what =
        "warning: 1 of the rows are not UTF-8, the first is row 20,001: their bytes are kept";
    assert!(mapped.said.contains(what), "{}", mapped.said);
    let mapped = desk.map(&["late.csv", "--fields", "ticker", "--format", "jsonl"]);
    assert!(mapped.ok().contains("\"Caf\u{fffd}\""));
    assert!(mapped.said.contains("the wrong bytes became \u{fffd}"), "{}", mapped.said);
}

/// Columns without a heading get members that no heading has; a table becomes tabs where the name
/// says so.
#[test]
fn names_of_members_and_of_files() {
    let desk = Desk::new();
    desk.write("in.csv", "isin,,column_2\nUS0378331005,a,b,c\n");
    let mapped = desk.map(&["in.csv", "--format", "jsonl", "--fields", "ticker"]);
    let row: serde_json::Value = serde_json::from_str(mapped.ok()).unwrap();
    let names: Vec<&String> = row.as_object().unwrap().keys().collect();
    assert!(mapped.text().starts_with(
        r#"{"isin":"US0378331005","figdex_column_2":"a","column_2":"b","figdex_column_4":"c","#
    ));
    assert_eq!(names.len(), 8, "{names:?}");
    desk.write("in.jsonl", "{\"isin\":\"US0378331005\",\"bad\":\"\\ud800\"}\n");
    assert_eq!(desk.map(&["in.jsonl", "--out", "out.TSV", "--fields", "ticker"]).code, Some(0));
    assert!(desk.read("out.TSV").starts_with("isin\tbad\tmatch\tmatches\treason\tticker\n"));
    // Messages stay short, whatever the number of columns.
    desk.write("wide.csv", format!("{}\n1\n", vec!["x"; 70_000].join(",")));
    let mapped = desk.map(&["wide.csv"]);
    assert_eq!(mapped.code, Some(1));
    assert!(mapped.said.contains("… and 69,970 more") || mapped.said.contains("… and 69970 more"));
    assert!(mapped.said.len() < 2_000, "{} bytes", mapped.said.len());
}
