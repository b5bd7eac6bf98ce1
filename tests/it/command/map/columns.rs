//! The columns of identifiers: recognised, named, and several of them.

use super::Desk;

/// The surest column is chosen, and the others are named with their flags.
#[test]
fn the_surest_column_is_chosen() {
    let desk = Desk::new();
    let input = "Ticker,CUSIP no,Isin,composite figi\nIBM,459200101,US4592001014,BBG000BLNNH6\n";
    let mapped = desk.map_file("in.csv", input, &["--fields", "figi"]);
    assert!(
        mapped.ok().ends_with(",resolved,1,only,BBG000BLNNH6\n")
            || mapped.text().contains("ambiguous")
    );
    let said = "column composite figi: COMPOSITE_ID_BB_GLOBAL, 100.0 % of its first values\n\
                also recognised, and not used: --id Isin:ID_ISIN --id 'CUSIP no':ID_CUSIP --id Ticker:TICKER\n";
    assert!(mapped.said.starts_with(said), "{}", mapped.said);
}

/// Several columns: the first that finds something counts, in the order of the flags.
#[test]
fn the_first_column_that_finds_something_counts() {
    let desk = Desk::new();
    let input = "Ticker,ISIN\n\
                 MSFT,US0846701086\n\
                 MSFT,GB00B10RZP78\n\
                 MSFT,US4592001015\n\
                 MSFT,\n\
                 NOPE,GB00B10RZP78\n\
                 NOPE,US4592001015\n\
                 ,\n";
    let arguments = [
        "--id",
        "ISIN:ID_ISIN",
        "--id",
        "Ticker:TICKER",
        "--prefer",
        "exchCode=US",
        "--fields",
        "figi",
    ];
    let mapped = desk.map_file("in.csv", input, &arguments);
    assert_eq!(
        mapped.ok(),
        "Ticker,ISIN,match,matches,reason,figi\n\
         MSFT,US0846701086,resolved,1,only,BBG000DWCFL4\n\
         MSFT,GB00B10RZP78,resolved,1,exchCode=US,BBG000BPH459\n\
         MSFT,US4592001015,resolved,1,exchCode=US,BBG000BPH459\n\
         MSFT,,resolved,1,exchCode=US,BBG000BPH459\n\
         NOPE,GB00B10RZP78,unknown,0,not found,\n\
         NOPE,US4592001015,unknown,0,not found,\n\
         ,,,,no identifier,\n"
    );
    let mapped = desk.map(&["in.csv", "--id", "2:ID_ISIN", "--id", "1", "--fields", "figi"]);
    assert!(
        mapped.said.contains("column ISIN: ID_ISIN\ncolumn Ticker: TICKER, 100.0 % of"),
        "{}",
        mapped.said
    );
}

/// A column of idTypes, named by the flag or by the names of the contract.
#[test]
fn a_column_may_name_the_types() {
    let desk = Desk::new();
    let input = "kind,value\n\
                 ID_CUSIP,084670108\n\
                 isin,US0846701086\n\
                 ID_FOO,US0846701086\n\
                 ,US0846701086\n";
    let arguments = ["--id", "value:@kind", "--fields", "figi"];
    let mapped = desk.map_file("in.csv", input, &arguments);
    assert_eq!(
        mapped.ok(),
        "kind,value,match,matches,reason,figi\n\
         ID_CUSIP,084670108,resolved,1,only,BBG000DWCFL4\n\
         isin,US0846701086,resolved,1,only,BBG000DWCFL4\n\
         ID_FOO,US0846701086,invalid,0,\"\"\"ID_FOO\"\" is not an idType\",\n\
         ,US0846701086,invalid,0,its idType is blank,\n"
    );
    let mapped = desk.map_file(
        "in.csv",
        input.replace("kind,value", "idType,idValue"),
        &["--fields", "figi"],
    );
    assert!(mapped.ok().contains("ID_CUSIP,084670108,resolved,1,only,BBG000DWCFL4\n"));
    assert!(
        mapped.said.starts_with("column idValue: of the idType in the column idType\n"),
        "{}",
        mapped.said
    );
}

/// A file of one column needs no heading.
#[test]
fn a_single_column_needs_no_heading() {
    let desk = Desk::new();
    let isins = "US0846701086\nUS0378331005\n";
    let mapped = desk.map_file("ids.txt", isins, &["--fields", "figi"]);
    assert!(mapped.ok().starts_with("identifier,match,matches,reason,figi\nUS0846701086,resolved"));
    assert!(
        mapped.said.starts_with(
            "ids.txt: no heading; the first row, US0846701086, is taken as an identifier\n\
             column identifier: ID_ISIN, 100.0 % of its first values\n"
        ),
        "{}",
        mapped.said
    );
    assert_eq!(mapped.sum(), "2 rows = 1 resolved + 1 ambiguous + 0 unknown + 0 invalid");
    // Any text is the heading of values of one type.
    let mapped = desk.map_file("ids.txt", format!("My holdings\n{isins}"), &[]);
    assert!(mapped.ok().starts_with("My holdings,match,"));
    // A heading that names a type.
    let mapped = desk.map_file("ids.txt", "Ticker\nBRK.B\n", &["--prefer", "composite"]);
    assert!(
        mapped.ok().contains("\nBRK.B,resolved,1,composite,BBG000DWG505,BRK/B,"),
        "{}",
        mapped.text()
    );
    // Texts of several types are read each by itself.
    let mapped =
        desk.map_file("ids.txt", "IBM US Equity\n084670108\nVOD US\n", &["--fields", "figi"]);
    assert!(mapped.said.contains("column identifier: each value by itself\n"), "{}", mapped.said);
    assert_eq!(
        mapped.ok(),
        "identifier,match,matches,reason,figi\n\
         IBM US Equity,resolved,1,only,BBG000BLNNH6\n\
         084670108,resolved,1,only,BBG000DWCFL4\n\
         VOD US,resolved,1,only,BBG000C4R6H6\n"
    );
}

/// An empty file has no rows. It is not an error, and a warning says so.
#[test]
fn an_empty_file_has_no_rows() {
    let desk = Desk::new();
    let (empty, only_heading) = ("is empty", "has a heading and no rows");
    for (input, out, what) in [
        ("", "", empty),
        ("\n\n", "", empty),
        ("a,b\n", "a,b,match,matches,reason,figi\n", only_heading),
        ("isin", "isin,match,matches,reason,figi\n", only_heading),
    ] {
        let mapped = desk.map_file("in.csv", input, &["--fields", "figi", "--report", "r.json"]);
        assert_eq!(mapped.ok(), out, "{input:?}");
        assert_eq!(mapped.sum(), "0 rows = 0 resolved + 0 ambiguous + 0 unknown + 0 invalid");
        let warning = format!("warning: in.csv {what}: expected a row for each identifier\n");
        assert!(mapped.said.contains(&warning), "{}", mapped.said);
        assert_eq!(desk.json("r.json")["rows"], 0);
        let mapped = desk.map_from(&["-", "--min-matched", "100%"], input.as_bytes());
        mapped.ok();
    }
}

/// Each mistake is said once, with what to do.
#[test]
fn mistakes_are_explained() {
    let desk = Desk::new();
    desk.write("in.csv", "a,b,b,with space\n1,2,3,4\n");
    desk.write("cusips.csv", "459200101,IBM\n037833100,AAPL\n");
    desk.write("ids.csv", "US0846701086,x\nUS0378331005,y\n");
    desk.write("book.xlsx", b"PK\x03\x04\x14\0\x06\0\x08\0\0\0!\0[Content_Types].xml");
    for (arguments, code, what) in [
        (
            &["in.csv"][..],
            1,
            "no column of identifiers is recognised; the columns are: a, b, b, with space. Name \
             one with --id COLUMN, or with its type as in --id COLUMN:TICKER",
        ),
        (
            &["in.csv", "--id", "c"],
            1,
            "--id c: there is no such column; the columns are: a, b, b, with space",
        ),
        (&["in.csv", "--id", "9:TICKER"], 1, "--id 9: there is no such column"),
        (
            &["in.csv", "--id", "b"],
            1,
            "--id b: the columns 2 and 3 have this heading; name one by its number",
        ),
        (&["in.csv", "--id", "a:@x"], 1, "--id x: there is no such column"),
        (
            &["in.csv", "--id", "a", "--where", "currency=@x"],
            1,
            "--where x: there is no such column",
        ),
        (
            &["in.csv", "--id", "a", "--where", "currency=eur"],
            1,
            "--where currency=eur: the index has no such value",
        ),
        (
            &["in.csv", "--id", "a", "--where", "currency=EUR", "--where", "currency=USD"],
            2,
            "--where names currency twice",
        ),
        (
            &["in.csv", "--id", "a", "--where", "exchCode=US", "--where", "micCode=XNYS"],
            2,
            "--where takes exchCode or micCode, not both",
        ),
        (&["in.csv", "--id", "a", "--fields", "figi,figi"], 2, "--fields names figi twice"),
        (
            &["in.csv", "--id", "a", "--format", "jsonl"],
            1,
            "two columns are named b: --format jsonl needs different headings",
        ),
        (&["ids.csv"], 1, "the first row holds \"US0846701086\" where a heading is expected"),
        (&["cusips.csv"], 1, "the first row holds \"459200101\" where a heading is expected"),
        (&["none.csv"], 1, "none.csv: no such file or folder"),
        (
            &["in.csv", "--id", "a", "--report", "-"],
            2,
            "--report -: only --out may be standard output; name a file",
        ),
        (&["."], 1, ".: this is a folder: name a file"),
        (
            &["in.csv", "--id", "a", "--unmatched", "x.parquet"],
            2,
            "--unmatched x.parquet: only --out may be Parquet; name a .csv or .jsonl file",
        ),
        (
            &["in.csv", "--id", "a", "--unmatched", "x.csv.gz"],
            2,
            "--unmatched x.csv.gz: the files are not compressed; leave out .gz, and compress it",
        ),
        (
            &["in.csv", "--out", "x.xlsx"],
            2,
            "--out x.xlsx: spreadsheets are not written; name a .csv",
        ),
        (&["in.csv", "--ambiguous", "x.PARQUET"], 2, "only --out may be Parquet"),
        (&["in.csv", "--report", "x.parquet"], 2, "only --out may be Parquet; name a .json file"),
        (
            &["in.csv", "--out", "x.parquet", "--format", "csv"],
            2,
            "--out x.parquet: --format names another layout; leave out --format, or name a .csv",
        ),
        (
            &["in.csv", "--format", "parquet"],
            2,
            "--format parquet is not for a terminal or a pipe; name a file with --out",
        ),
        (&["in.csv", "--out", "x.json"], 2, "one JSON document is not written, but JSON lines"),
        (&["in.csv", "--report", "x.csv"], 2, "the report is a JSON object; name a .json file"),
        (
            &["in.csv", "--id", "a", "--out", "x.tsv"],
            1,
            "--out x.tsv: the rows keep their delimiter, ','; name a .csv file",
        ),
        (
            &["in.csv", "--id", "a", "--unmatched", "x.jsonl"],
            1,
            "--unmatched x.jsonl: the rows are written as they came, as delimited text; name a .csv",
        ),
        (
            &["book.xlsx"],
            1,
            "book.xlsx: this is a spreadsheet: save the sheet as CSV (UTF-8), and give that file",
        ),
        (
            &["in.csv", "--url", "http://user:hunter2@host"],
            2,
            "--url has a user or a password, which others can read in the list of processes; give",
        ),
        (
            &["in.csv", "--id", "a:ID_FOO"],
            2,
            "\"ID_FOO\" is not an idType; the idTypes are ID_ISIN, ",
        ),
        (&["in.csv", "--id", ":TICKER"], 2, "\":TICKER\" names no column; write COLUMN:IDTYPE"),
        (&["in.csv", "--id", "a:@"], 2, "names no column of idTypes; write COLUMN:@COLUMN"),
        (&["in.csv", "--where", "ccy=EUR"], 2, "with one of the properties exchCode, micCode"),
        (&["in.csv", "--where", "currency="], 2, "expected PROPERTY=VALUE or PROPERTY=@COLUMN"),
        (
            &["in.csv", "--prefer", "best"],
            2,
            "\"best\" is not a step; a step is home, composite, or",
        ),
        (&["in.csv", "--prefer", "exchCode="], 2, "has an empty value"),
        (&["in.csv", "--fields", "figi,isin"], 2, "the fields are figi, name, ticker"),
        (&["in.csv", "--many", "some"], 2, "[possible values: none, all]"),
        (&["in.csv", "--min-matched", "101%"], 2, "expected a percentage from 0% to 100%"),
        (&["in.csv", "--min-matched", "95"], 2, "expected a percentage from 0% to 100%"),
        (&["in.csv", "--delimiter", "ab"], 2, "expected one ASCII character, or tab"),
        (&["in.csv", "--delimiter", "\""], 2, "a quote or a line end cannot be a delimiter"),
        (
            &["in.csv", "--key-file", "k"],
            2,
            "'--key-file <FILE>' cannot be used with '--index <ADDRESS>'",
        ),
        (&["in.csv", "--url", "ftp://x"], 2, "expected http:// or https:// and a host"),
        (&[], 2, "<FILE>"),
    ] {
        let mapped = desk.map(arguments);
        assert_eq!(mapped.code, Some(code), "{arguments:?} {}", mapped.said);
        assert!(mapped.said.contains(what), "{arguments:?} {}", mapped.said);
        assert!(mapped.out.is_empty());
        assert!(!mapped.said.contains("hunter2"), "{}", mapped.said);
    }
    let mapped = desk.map(&["in.csv", "--index", "nowhere"]);
    // The flag is given twice by this test; the program says so before it looks for an index.
    assert_eq!(mapped.code, Some(2));
    let mut command = crate::support::process::figdex();
    let command = command.current_dir(desk.0.path()).args(["map", "in.csv", "--id", "a"]);
    let (code, _, said) = crate::support::process::run(command);
    assert_eq!(code, Some(1));
    let missing = "figdex: there is no index at data/index; build one with: figdex-ingest build \
                   DUMP… --index data/index\n";
    assert_eq!(said, missing);
    // A folder without a published generation, as a first build leaves that was killed.
    std::fs::create_dir_all(desk.path("data/index")).unwrap();
    assert_eq!(crate::support::process::run(command).2, missing);
    let (code, ..) = crate::support::process::run(command.env("FIGDEX_INDEX", "index"));
    assert_eq!(code, Some(0));
}

/// A title above the heading is copied, the heading below it is found, and `--heading` names one
/// that is not.
#[test]
fn a_title_above_the_heading_is_copied() {
    let desk = Desk::new();
    let title = "Depot 12, M\u{fc}ller\r\nStand;30.06.2025\r\n\r\n";
    let table = "Name;ISIN;St\u{fc}ck\r\nApple;US0378331005;1,5\r\nIBM;US4592001014;2\r\n";
    let flags = ["--prefer", "exchCode=US", "--fields", "figi"];
    let mapped = desk.map_file("depot.csv", format!("{title}{table}"), &flags);
    let rows = "Name;ISIN;St\u{fc}ck;match;matches;reason;figi\r\n\
                Apple;US0378331005;1,5;resolved;1;exchCode=US;BBG000B9XRY4\r\n\
                IBM;US4592001014;2;resolved;1;exchCode=US;BBG000BLNNH6\r\n";
    assert_eq!(mapped.ok(), format!("{title}{rows}"));
    let said = "depot.csv: the heading is row 4; the rows above it are copied\n";
    assert!(mapped.said.starts_with(said), "{}", mapped.said);
    // Rows that were not found are an input again, without the title.
    let left = format!("{title}{table}Other;US0000000000;3\r\n");
    desk.map_file("left.csv", left, &[&flags[..], &["--unmatched", "left.out.csv"]].concat()).ok();
    assert_eq!(desk.read("left.out.csv"), "Name;ISIN;St\u{fc}ck\r\nOther;US0000000000;3\r\n");

    // A heading that does not look like one: the first row would be it.
    let odd = "2024;2025\nUS0378331005;1\n1;2\nUS4592001014;3\n";
    let mapped = desk.map_file("odd.csv", odd, &[&flags[..], &["--heading", "3"]].concat());
    assert_eq!(
        mapped.ok(),
        "2024;2025\nUS0378331005;1\n1;2;match;matches;reason;figi\n\
         US4592001014;3;resolved;1;exchCode=US;BBG000BLNNH6\n"
    );
    // A list of one column under a title.
    let list = "My list\n\nids\nIBM US Equity\n";
    let mapped = desk.map_file("list.csv", list, &["--heading", "3", "--fields", "figi"]);
    assert_eq!(
        mapped.ok(),
        "My list\n\nids,match,matches,reason,figi\nIBM US Equity,resolved,1,only,BBG000BLNNH6\n"
    );
    for (row, code, what) in [
        ("2", 1, "list.csv: the heading is to be row 2, which is blank"),
        ("9", 1, "list.csv: the heading is to be row 9; there are 4"),
        ("0", 2, "invalid value '0' for '--heading <ROW>'"),
        ("1001", 2, "invalid value '1001' for '--heading <ROW>'"),
    ] {
        let refused = desk.map(&["list.csv", "--heading", row]);
        assert_eq!(refused.code, Some(code), "{}", refused.said);
        assert!(refused.said.contains(what), "{}", refused.said);
    }
}

/// A file of a Japanese broker is read, and comes out as UTF-8.
#[test]
fn japanese_files_are_read() {
    let desk = Desk::new();
    // A heading that says security and quantity, in Shift_JIS.
    let content = b"\x96\xc1\x95\xbf,\x90\x94\x97\xca\r\nUS4592001014,1\r\n";
    let mapped = desk.map_file("jp.csv", content, &["--prefer", "exchCode=US", "--fields", "figi"]);
    assert_eq!(
        mapped.ok(),
        "\u{9298}\u{67c4},\u{6570}\u{91cf},match,matches,reason,figi\r\n\
         US4592001014,1,resolved,1,exchCode=US,BBG000BLNNH6\r\n"
    );
    assert!(mapped.said.starts_with("jp.csv: Shift_JIS, written as UTF-8\n"), "{}", mapped.said);
    // The heading says that the codes are tickers.
    let content = "\u{8a3c}\u{5238}\u{30b3}\u{30fc}\u{30c9},x\nIBM,1\n";
    let mapped = desk.map_file("code.csv", content, &["--prefer", "exchCode=US"]);
    assert!(mapped.said.contains("TICKER, 100.0 % of its first values"), "{}", mapped.said);
    assert!(mapped.ok().contains("IBM,1,resolved,"), "{}", mapped.text());
}
