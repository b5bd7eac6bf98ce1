//! Names, footers and the characters around identifiers in the file of `figdex map` (contract 17.2,
//! 17.14 to 17.17).

use figdex_ingest::Input;

use super::Desk;
use crate::support::process::{Process, figdex};
use crate::support::{build_of, figi};

/// A desk with companies, one of which has the name of another as its ticker.
fn desk() -> Desk {
    let desk = Desk(tempfile::tempdir().unwrap());
    let [pakistan, nestle, telekom, total, ibm] = [1, 2, 3, 4, 5].map(figi);
    let dump = format!(
        "figi,compositeFIGI,ticker,name,exchCode,currency,ID_ISIN\n\
         {pakistan},{pakistan},NESTLE,Nestle Pakistan Ltd,PA,PKR,\n\
         {nestle},{nestle},NESN,NESTLE SA-REG,SW,CHF,\n\
         {telekom},{telekom},DTE,DEUTSCHE TELEKOM AG-REG,GR,EUR,\n\
         {total},{total},TOTAL,TOTAL TRANSPORT SYSTEMS LTD,IN,INR,\n\
         {ibm},{ibm},IBM,INTL BUSINESS MACHINES CORP,US,USD,US4592001014\n"
    );
    let dump = Input::Memory("dump", dump.into_bytes().into());
    build_of(vec![dump], &desk.path("index")).run(&mut |_| {}).unwrap();
    desk
}

/// contract 17.14, 17.15: names that are not resolved have candidates, from a folder as from a
/// server, and the command says what the option is for.
#[test]
fn names_have_candidates() {
    let desk = desk();
    let mut command = figdex();
    command.arg("--index").arg(desk.path("index")).args(["--listen", "127.0.0.1:0"]);
    let server = Process::start(&mut command);
    desk.write("in.csv", "Name,Qty\nNestle,1\nIBM,2\nDeutsche Telekom,3\nZZZZ,4\n");
    let arguments = ["in.csv", "--id", "Name", "--fields", "figi"];
    let mapped = desk.map(&arguments);
    let reason = "it is written like a name, and found only as a ticker";
    let [pakistan, nestle, telekom, _, ibm] = [1, 2, 3, 4, 5].map(figi);
    let expected = format!(
        "Name,Qty,match,matches,reason,figi\n\
         Nestle,1,ambiguous,1,\"{reason}\",\n\
         IBM,2,resolved,1,only,{ibm}\n\
         Deutsche Telekom,3,unknown,0,not found,\n\
         ZZZZ,4,unknown,0,not found,\n"
    );
    assert_eq!(mapped.ok(), expected);
    let advice =
        "1 row written like a name, and found only as a ticker: --names-as-candidates says";
    assert!(mapped.said.contains(advice), "{}", mapped.said);
    assert!(!mapped.said.contains("several listings"), "{}", mapped.said);

    let arguments = [&arguments[..], &["--names-as-candidates"]].concat();
    let mapped = desk.map(&arguments);
    let expected = format!(
        "Name,Qty,match,matches,reason,figi,candidates\n\
         Nestle,1,ambiguous,1,\"{reason}\",,{nestle}|{pakistan}\n\
         IBM,2,resolved,1,only,{ibm},\n\
         Deutsche Telekom,3,unknown,0,not found,,{telekom}\n\
         ZZZZ,4,unknown,0,not found,,\n"
    );
    assert_eq!(mapped.ok(), expected);
    let remote = desk.map(&[&arguments[..], &["--url", &server.place]].concat());
    assert_eq!(remote.ok(), expected);
    assert_eq!(remote.sum(), mapped.sum());

    // A condition narrows the candidates, JSON lines have them as a member, and only the columns
    // that are read without a type have any.
    let arguments = ["--id", "a:ID_ISIN", "--id", "Name", "--where", "currency=@ccy"];
    let rest = ["--fields", "figi", "--names-as-candidates", "--format", "jsonl"];
    desk.write("narrow.csv", "a,Name,ccy\n,nestle reg,CHF\nUS4592001014,Nestle,USD\nNestle,,\n");
    let arguments = [&["narrow.csv"], &arguments[..], &rest].concat();
    let mapped = desk.map(&arguments);
    let candidates: Vec<String> = mapped
        .ok()
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["candidates"].take())
        .map(|candidates| candidates.as_str().unwrap().to_owned())
        .collect();
    assert_eq!(candidates, [nestle, String::new(), String::new()]);
    let remote = desk.map(&[&arguments[..], &["--url", &server.place]].concat());
    assert_eq!(remote.ok(), mapped.ok());
}

/// contract 17.16: a last row that begins with a word for "total" is kept, not asked and counted.
#[test]
fn a_last_row_may_be_a_footer() {
    let desk = desk();
    for footer in ["Total", "TOTAL:", "Summe", "Total général", "合計", "\"Grand total\""] {
        for blank in ["", "\n", ";;\n \n"] {
            let content = format!("Name;Qty\nTotal;1\nIBM;2\n{footer};3\n{blank}");
            let arguments = ["--id", "Name", "--fields", "figi", "--report", "r.json"];
            let files = ["--unmatched", "left.csv", "--ambiguous", "many.csv"];
            let mapped = desk.map_file("in.csv", &content, &[&arguments[..], &files].concat());
            let rows: Vec<&str> = mapped.ok().lines().collect();
            assert!(rows[1].starts_with("Total;1;ambiguous;1;"), "not the last row: {}", rows[1]);
            let expected = format!("{footer};3;;;footer: a total;");
            assert_eq!(rows[3], expected);
            let sum = mapped.sum();
            let blanks = blank.lines().count().saturating_sub(1);
            let rest = if blanks > 0 { ", and 2 rows without an identifier" } else { "" };
            assert!(sum.ends_with(&format!(" invalid, and a footer{rest}")), "{sum}");
            let report = desk.json("r.json");
            assert_eq!((&report["footers"], &report["resolved"]), (&1.into(), &1.into()));
            let left = desk.read("left.csv") + &desk.read("many.csv");
            assert!(!left.contains(&format!("{footer};3")), "{left}");
        }
    }
    // Not a footer: another first cell, a row of objects, a ticker of a list of tickers.
    for (name, content, id) in [
        ("in.csv", "Name;Qty\nIBM;2\nTotalEnergies;3\n", "Name"),
        ("in.csv", "Qty;Name\n2;IBM\n3;Total\n", "Name"),
        ("in.jsonl", "{\"Name\":\"IBM\"}\n{\"Name\":\"Total\"}\n", "Name"),
        ("in.csv", "Ticker\nIBM\nTOTAL\n", "Ticker:TICKER"),
    ] {
        let mapped = desk.map_file(name, content, &["--id", id, "--report", "r.json"]);
        assert_eq!(mapped.code, Some(0), "{}", mapped.said);
        assert_eq!(desk.json("r.json")["footers"], 0, "{content}");
        assert!(!mapped.said.contains("footer"), "{}", mapped.said);
    }
    // In a column of a type it is one too, as is the only row of a list of texts.
    let mapped =
        desk.map_file("in.csv", "Ticker,Qty\nIBM,1\nTotal,2\n", &["--id", "Ticker:TICKER"]);
    assert_eq!(
        mapped.sum(),
        "1 rows = 1 resolved + 0 ambiguous + 0 unknown + 0 invalid, and a footer"
    );
}

/// contract 17.16: notes below a total, the word in the second cell or with other words, and rows
/// that are not asked; every row comes out.
#[test]
fn rows_without_an_identifier_are_not_asked() {
    let desk = desk();
    let rows_of = |content: &str, id: &str| -> (Vec<String>, String) {
        let arguments = ["--id", id, "--fields", "figi", "--report", "r.json"];
        let mapped = desk.map_file("in.csv", content, &arguments);
        let rows = mapped.ok().lines().map(str::to_owned).collect();
        (rows, mapped.sum().to_owned())
    };
    let (rows, sum) = rows_of(
        "Symbol,Name,Qty\nIBM,Ibm,1\n,Cash,5\n,,\nBonds,,\nSymbol,Name,Qty\nNESN,Nestle,2\n\
         Account Total,--,8\n\n\"All of this, and more, is for you only.\"\nDate 06/30/2025,,\n",
        "Symbol:TICKER",
    );
    let (ibm, nestle) = (figi(5), figi(2));
    let expected = [
        "Symbol,Name,Qty,match,matches,reason,figi",
        &format!("IBM,Ibm,1,resolved,1,only,{ibm}"),
        ",Cash,5,,,no identifier,",
        ",,,,,no identifier,",
        "Bonds,,,unknown,0,not found,",
        "Symbol,Name,Qty,,,no identifier: the heading again,",
        &format!("NESN,Nestle,2,resolved,1,only,{nestle}"),
        "Account Total,--,8,,,footer: a total,",
        ",,,,,no identifier,",
        "\"All of this, and more, is for you only.\",,,,,footer: below the total,",
        "Date 06/30/2025,,,,,footer: below the total,",
    ];
    assert_eq!(rows, expected);
    assert_eq!(
        sum,
        "3 rows = 2 resolved + 0 ambiguous + 1 unknown + 0 invalid, and a footer of 3 rows, and 4 \
         rows without an identifier"
    );
    let report = desk.json("r.json");
    assert_eq!((&report["footers"], &report["withoutIdentifier"]), (&3.into(), &4.into()));
    for (content, footers) in [
        (",Stock,ISIN,Value\nx,Ibm,US4592001014,1\n,Totals,,1\n", 1),
        ("Art;ISIN;Wert\nAktien;US4592001014;1\nTotal Wertschriften;;1\nKonto;;2\n", 0),
        ("Art;ISIN;Wert\nAktien;US4592001014;1\nTotal Wertschriften;;1\nTotal;;2\nHinweis\n", 3),
        ("種類,ISIN,額\n株,US4592001014,1\n国内株式合計,,1\n", 1),
        // A company with an identifier, whatever its name is.
        ("Name,ISIN,Value\nIbm,US4592001014,1\nTotal,FR0000120271,1\n", 0),
        ("Name,ISIN,Value\nIbm,US4592001014,1\nTotal SE,FR0000120271,\n", 0),
        // An identifier alone in its row is not a note.
        ("ISIN,Value\nTotal,1\nUS4592001014,\n", 0),
    ] {
        let (rows, sum) = rows_of(content, "ISIN");
        assert_eq!(desk.json("r.json")["footers"], footers, "{content}: {sum}");
        assert_eq!(rows.len(), content.lines().count(), "{content}");
    }
}

/// contract 17.4: a column of tickers has the CUSIPs of bonds too.
#[test]
fn other_identifiers_in_a_column_of_tickers() {
    let desk = desk();
    let mapped = desk.map_file(
        "in.csv",
        "Symbol,Qty\nIBM,1\nUS4592001014,2\nNOPE,3\n",
        &["--fields", "figi"],
    );
    let ibm = figi(5);
    let expected = format!(
        "Symbol,Qty,match,matches,reason,figi\nIBM,1,resolved,1,only,{ibm}\n\
         US4592001014,2,resolved,1,only,{ibm}\nNOPE,3,unknown,0,not found,\n"
    );
    assert_eq!(mapped.ok(), expected);
    // A type that is given is meant.
    let mapped = desk.map(&["in.csv", "--id", "Symbol:TICKER", "--fields", "figi"]);
    assert!(mapped.ok().contains("US4592001014,2,unknown,0,not found,"), "{}", mapped.ok());
}

/// contract 17.6: a column says as which type each row was read, after the other added columns of
/// the outcome.
#[test]
fn the_type_of_each_row() {
    let desk = desk();
    let rows = "Security,Qty\nIBM,1\nISIN: US4592001014 / 851399,2\nUS4592001015,3\n,4\n";
    let flags = ["--id", "Security", "--add-type", "--fields", "figi"];
    let mapped = desk.map_file("in.csv", rows, &flags);
    let ibm = figi(5);
    let mapped = mapped.ok();
    let lines: Vec<&str> = mapped.lines().collect();
    assert_eq!(lines[0], "Security,Qty,match,matches,reason,idType,figi");
    assert_eq!(lines[1], format!("IBM,1,resolved,1,only,TICKER,{ibm}"));
    let second = format!("ISIN: US4592001014 / 851399,2,resolved,1,only,ID_ISIN,{ibm}");
    assert_eq!(lines[2], second);
    assert!(lines[3].starts_with("US4592001015,3,invalid,0,"), "{}", lines[3]);
    assert_eq!(lines[4], ",4,,,no identifier,,");
}

/// contract 17.16: the last row of a batch is not a footer while others follow.
#[test]
fn a_footer_is_the_last_row_of_the_file() {
    let desk = desk();
    for (notes, following) in [(0, 0), (0, 1), (0, 5_000), (1, 0), (6_000, 0), (6_000, 1)] {
        let mut content = "Name,Qty\n".to_owned();
        content += &"IBM,1\n".repeat(4_095);
        content += "Total,2\n";
        content += &"A note,\n".repeat(notes);
        content += &"IBM,3\n".repeat(following);
        let mapped = desk.map_file("in.csv", content, &["--id", "Name", "--out", "out.csv"]);
        let rows = desk.read("out.csv");
        assert_eq!(rows.lines().count(), 1 + 4_096 + notes + following, "{}", mapped.said);
        assert_eq!(mapped.sum().contains("footer"), following == 0, "{}", mapped.sum());
    }
}

/// contract 17.2: characters around an identifier do not count, whatever says its type.
#[test]
fn characters_around_identifiers() {
    let desk = desk();
    let ibm = figi(5);
    let cells = [
        "'US4592001014",
        "ＵＳ４５９２００１０１４",
        "“US4592001014”",
        "us 459200 1014",
        "US-459200-101-4",
        "US\u{a0}4592\u{2009}0010\u{202f}14",
        "\"=\"\"US4592001014\"\"\"",
    ];
    for id in ["x", "x:ID_ISIN", "x:@kind"] {
        for cell in cells {
            let content = format!("x,kind\n{cell},ID_ISIN\n");
            let mapped = desk.map_file("in.csv", content, &["--id", id, "--fields", "figi"]);
            let expected =
                format!("x,kind,match,matches,reason,figi\n{cell},ID_ISIN,resolved,1,only,{ibm}\n");
            assert_eq!(mapped.ok(), expected, "{id}");
        }
    }
    let content = format!("x,y\n{},1\n", cells.join(",1\n"));
    let mapped = desk.map_file("in.csv", content, &[]);
    assert!(mapped.said.contains("column x: ID_ISIN, 100.0 %"), "{}", mapped.said);
}
