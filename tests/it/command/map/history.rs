//! `figdex map` over an index with a past: identifiers that no row has now, and rows as of a day.

use figdex_index::{
    BuildOptions, Builder, Date, Figi, IdType, Instrument, PastOptions, Property, Retired,
    RetiredKind, RetiredOf,
};
use serde_json::json;

use super::{Desk, Mapped};
use crate::support::process::{Process, figdex};

const META: &str = "BBG000MM2P62";
const META_LN: &str = "BBG000BLNNH6";
const TWX: &str = "BBG000BPH459";
const AOL: &str = "BBG000B9XRY4";

/// A row: its FIGI, ticker, name, exchange code and ISIN.
type Row = (&'static str, &'static str, &'static str, &'static str, &'static str);

const FB: Row = (META, "FB", "FACEBOOK INC-A", "US", "US30303M1027");
const FB_LN: Row = (META_LN, "FB0", "FACEBOOK INC-A", "LN", "");
const TIME: Row = (TWX, "TWX", "TIME WARNER INC", "US", "US8873173038");
const AOL_TIME: Row = (AOL, "AOL", "AOL TIME WARNER", "US", "");

/// The nights of the archive: the days of the data and their rows. `FB` becomes `META`, whose ISIN
/// stays; `TWX` is delisted; `AOL` is blank for a night, and so is nothing else.
const NIGHTS: [(&str, &[Row]); 4] = [
    ("2022-06-08", &[FB, FB_LN, TIME, AOL_TIME]),
    (
        "2022-06-09",
        &[
            (META, "META", "META PLATFORMS INC-CLASS A", "US", "US30303M1027"),
            FB_LN,
            TIME,
            AOL_TIME,
        ],
    ),
    (
        "2022-06-20",
        &[(META, "META", "META PLATFORMS INC-CLASS A", "US", "US30303M1027"), FB_LN, AOL_TIME],
    ),
    (
        "2022-06-21",
        &[
            (META, "META", "META PLATFORMS INC-CLASS A", "US", "US30303M1027"),
            (META_LN, "META0", "META PLATFORMS INC-CLASS A", "LN", ""),
            AOL_TIME,
        ],
    ),
];

fn instrument((figi, ticker, name, exch_code, isin): Row) -> Instrument {
    let mut instrument = Instrument {
        ticker: Some(ticker.into()),
        name: Some(name.into()),
        composite_figi: (exch_code == "US").then(|| Figi::parse(figi).unwrap()),
        ..Instrument::new(Figi::parse(figi).unwrap())
    };
    instrument.properties[Property::ExchCode as usize] = Some(exch_code.into());
    instrument.properties[Property::MarketSecDes as usize] = Some("Equity".into());
    if !isin.is_empty() {
        instrument.identifiers.push(IdType::Isin.admit(isin).unwrap().into_owned());
    }
    instrument
}

/// A folder with an index of these nights, with or without a past.
fn desk_of(nights: &[(&str, &[Row])], has_past: bool) -> Desk {
    desk_with(nights, has_past, &[])
}

/// The same folder. The files of each night state these identifiers.
fn desk_with(nights: &[(&str, &[Row])], has_past: bool, stated: &[(RetiredOf, Retired)]) -> Desk {
    let desk = Desk(tempfile::tempdir().unwrap());
    for (day, rows) in nights {
        let date = Date::parse(day).unwrap();
        let options = BuildOptions { date, ..BuildOptions::default() };
        let mut builder = Builder::create(&desk.path("index"), options).unwrap();
        if has_past {
            builder.keep_past(PastOptions { stated: stated.to_vec(), ..PastOptions::default() });
        }
        let mut rows: Vec<Instrument> = rows.iter().copied().map(instrument).collect();
        rows.sort_by_key(|row| row.figi);
        rows.into_iter().for_each(|row| builder.add(row).unwrap());
        builder.publish(Vec::new()).unwrap();
    }
    desk
}

fn desk() -> Desk {
    desk_of(&NIGHTS, true)
}

fn lines(mapped: &Mapped) -> Vec<&str> {
    mapped.ok().lines().collect()
}

const LIST: &str = "Ticker,n\nFB,1\nMETA,2\nTWX,3\nNOPE,4\n";

/// An identifier that no row has now is unmatched, and the row says what it was.
#[test]
fn former_identifiers_say_what_they_were() {
    let desk = desk();
    let flags = ["--fields", "figi", "--unmatched", "left.csv", "--report", "report.json"];
    let mapped = desk.map_file("in.csv", LIST, &flags);
    assert_eq!(
        lines(&mapped),
        [
            "Ticker,n,match,matches,reason,figi,formerFigi,todayFigi,validFrom,validTo,basis,successorFigi",
            "FB,1,historical,0,it was of BBG000MM2P62 until 2022-06-08,,BBG000MM2P62,BBG000MM2P62,\
             2022-06-08,2022-06-08,observed,",
            "META,2,resolved,1,only,BBG000MM2P62,,,,,,",
            "TWX,3,gone,0,\"it was of BBG000BPH459 until 2022-06-09, which is not there any more\",,\
             BBG000BPH459,,2022-06-08,2022-06-09,observed,",
            "NOPE,4,unknown,0,not found,,,,,,,",
        ]
    );
    assert_eq!(
        mapped.sum(),
        "4 rows = 1 resolved + 0 ambiguous + 1 unknown + 0 invalid + 1 historical + 1 gone"
    );
    assert!(mapped.said.contains("1 row is historical: --accept historical "), "{}", mapped.said);
    assert_eq!(desk.read("left.csv"), "Ticker,n\nFB,1\nTWX,3\nNOPE,4\n");
    let report = desk.json("report.json");
    for (member, expected) in [
        ("rows", json!(4)),
        ("resolved", json!(1)),
        ("historical", json!(1)),
        ("gone", json!(1)),
        ("uncertain", json!(0)),
        ("outOfCoverage", json!(0)),
        ("pastSince", json!("2022-06-08")),
        ("pastUntil", json!("2022-06-21")),
    ] {
        assert_eq!(report[member], expected, "{member}: {report}");
    }
    let few = desk.map(&["in.csv", "--min-matched", "50%"]);
    assert_eq!(few.code, Some(1));
    assert!(few.said.contains("25.0 % of the rows are resolved, fewer"), "{}", few.said);
}

/// Accepted rows have the fields of the row that their FIGI has now, and count as matched.
#[test]
fn historical_rows_may_be_accepted() {
    let desk = desk();
    let flags = ["--accept", "historical", "--fields", "figi,ticker", "--unmatched", "left.csv"];
    let mapped = desk.map_file("in.csv", LIST, &[&flags[..], &["--min-matched", "50%"]].concat());
    assert_eq!(
        lines(&mapped)[1],
        "FB,1,historical,1,it was of BBG000MM2P62 until 2022-06-08,BBG000MM2P62,META,BBG000MM2P62,\
         BBG000MM2P62,2022-06-08,2022-06-08,observed,"
    );
    assert_eq!(desk.read("left.csv"), "Ticker,n\nTWX,3\nNOPE,4\n");
    assert!(!mapped.said.contains("--accept"), "{}", mapped.said);
    let few = desk.map(&["in.csv", "--accept", "historical", "--min-matched", "51%"]);
    assert!(few.said.contains("50.0 % of the rows are resolved or historical"), "{}", few.said);
}

/// A further column that finds a row of today wins over what the first one was.
#[test]
fn a_row_of_today_wins_over_a_former_one() {
    let desk = desk();
    let rows = "Old,Isin\nFB,US30303M1027\nFB,\n";
    let flags = ["--id", "Old:TICKER", "--id", "Isin:ID_ISIN", "--fields", "ticker"];
    let mapped = desk.map_file("in.csv", rows, &flags);
    let lines = lines(&mapped);
    assert_eq!(lines[1], "FB,US30303M1027,resolved,1,only,META,,,,,,");
    assert!(lines[2].starts_with("FB,,historical,0,"), "{}", lines[2]);
}

/// Columns of the table that are named like an added one keep their names.
#[test]
fn the_columns_of_the_past_are_named_like_the_others() {
    let desk = desk();
    let flags = ["--fields", "figi", "--format", "jsonl"];
    let mapped = desk.map_file("in.csv", "Ticker,basis\nFB,x\nMETA,y\n", &flags);
    assert_eq!(
        lines(&mapped),
        [
            r#"{"Ticker":"FB","basis":"x","match":"historical","matches":0,"reason":"it was of BBG000MM2P62 until 2022-06-08","figi":null,"formerFigi":"BBG000MM2P62","todayFigi":"BBG000MM2P62","validFrom":"2022-06-08","validTo":"2022-06-08","figdex_basis":"observed","successorFigi":null}"#,
            r#"{"Ticker":"META","basis":"y","match":"resolved","matches":1,"reason":"only","figi":"BBG000MM2P62","formerFigi":null,"todayFigi":null,"validFrom":null,"validTo":null,"figdex_basis":null,"successorFigi":null}"#,
        ]
    );
}

/// An index without a past gives what it always gave, and refuses a day before it reads a row.
#[test]
fn without_a_past_nothing_is_added() {
    let desk = desk_of(&NIGHTS, false);
    let mapped = desk.map_file("in.csv", LIST, &["--fields", "figi", "--report", "report.json"]);
    assert_eq!(
        lines(&mapped)[..2],
        ["Ticker,n,match,matches,reason,figi", "FB,1,unknown,0,not found,"]
    );
    assert_eq!(mapped.sum(), "4 rows = 1 resolved + 0 ambiguous + 3 unknown + 0 invalid");
    assert!(!desk.read("report.json").contains("historical"));
    let refused = desk.map(&["in.csv", "--as-of", "2022-06-08", "--out", "out.csv"]);
    assert_eq!(refused.code, Some(1));
    assert_eq!(
        refused.said,
        "figdex: index keeps no past, which --as-of asks for: build it with --history\n"
    );
    assert!(!desk.names().contains(&"out.csv".to_owned()));
}

/// One day for all rows: the rows are those of that day.
#[test]
fn rows_are_answered_as_of_a_day() {
    let desk = desk();
    let map =
        |day| desk.map_file("in.csv", LIST, &["--as-of", day, "--fields", "figi,ticker,name"]);
    let mapped = map("2022-06-08");
    assert_eq!(
        lines(&mapped),
        [
            "Ticker,n,match,matches,reason,figi,ticker,name,todayFigi,validFrom,validTo,basis,successorFigi",
            "FB,1,resolved,1,only,BBG000MM2P62,FB,FACEBOOK INC-A,BBG000MM2P62,2022-06-08,\
             2022-06-08,observed,",
            "META,2,unknown,0,not found,,,,,,,,",
            "TWX,3,resolved,1,only,BBG000BPH459,TWX,TIME WARNER INC,,2022-06-08,2022-06-09,observed,",
            "NOPE,4,unknown,0,not found,,,,,,,,",
        ]
    );
    let said = "as of 2022-06-08; the past is from 2022-06-08 to 2022-06-21";
    assert!(mapped.said.lines().any(|line| line == said), "{}", mapped.said);
    let mapped = map("2022-06-21");
    assert_eq!(
        lines(&mapped)[2],
        "META,2,resolved,1,only,BBG000MM2P62,META,META PLATFORMS INC-CLASS A,BBG000MM2P62,\
         2022-06-09,,observed,"
    );
    // Between two days on which it was observed, it may have been there or not.
    let mapped = map("2022-06-15");
    assert!(lines(&mapped)[3].starts_with("TWX,3,uncertain,0,"), "{}", mapped.text());
    assert_eq!(
        mapped.sum(),
        "4 rows = 1 resolved + 0 ambiguous + 2 unknown + 0 invalid + 1 uncertain"
    );
    for day in ["2022-06-07", "2022-06-22"] {
        let mapped = map(day);
        assert_eq!(
            lines(&mapped)[1],
            "FB,1,outOfCoverage,0,the past that could answer is from 2022-06-08 to 2022-06-21\
             ,,,,,,,,"
        );
        assert!(mapped.sum().ends_with(" + 4 outOfCoverage"), "{}", mapped.sum());
    }
}

/// A day for each row, in a column: ISO days, or as the format says.
#[test]
fn each_row_may_have_its_day() {
    let desk = desk();
    let rows = "Ticker,TradeDate\nFB,2022-06-08\nFB,2022-06-09\nMETA,2022-06-09\nTWX,\n\
                TWX,09.06.2022\nTWX,2022-06-08T10:00:00Z\nTWX,1899-12-31\nTWX,2022-02-30\n,\n";
    let flags = ["--as-of", "@TradeDate", "--fields", "ticker"];
    let mapped = desk.map_file("in.csv", rows, &flags);
    let cells = |line: &str| line.split(',').skip(2).take(4).collect::<Vec<_>>().join(",");
    let found: Vec<String> = lines(&mapped)[1..].iter().map(|line| cells(line)).collect();
    assert_eq!(
        found,
        [
            "resolved,1,only,FB",
            "unknown,0,not found,",
            "resolved,1,only,META",
            "invalid,0,it has no day: TradeDate is blank,",
            "invalid,0,\"\"\"09.06.2022\"\" is not a day as YYYY-MM-DD\",",
            "invalid,0,\"\"\"2022-06-08T10:00:00Z\"\" has a time with a zone, on which its day depends\"",
            "invalid,0,1899-12-31 is before 1900-01-01,",
            "invalid,0,\"\"\"2022-02-30\"\" is not a day as YYYY-MM-DD\",",
            ",,no identifier,",
        ]
    );
    let said = "as of the day in the column TradeDate; the past is from 2022-06-08 to 2022-06-21";
    assert!(mapped.said.lines().any(|line| line == said), "{}", mapped.said);
    let rows = "Ticker;Tag\nFB;08.06.2022\nFB;2022-06-08\n";
    let flags = ["--as-of", "@Tag", "--as-of-format", "%d.%m.%Y", "--fields", "ticker"];
    let mapped = desk.map_file("in.csv", rows, &flags);
    let lines = lines(&mapped);
    assert!(lines[1].starts_with("FB;08.06.2022;resolved;1;only;FB;"), "{}", lines[1]);
    assert!(lines[2].contains("is not a day as %d.%m.%Y"), "{}", lines[2]);
}

/// A wrong flag names what was expected.
#[test]
fn wrong_flags_are_refused() {
    let desk = desk();
    desk.write("in.csv", LIST);
    for (code, flags, what) in [
        (
            1,
            &["--as-of", "@Day"][..],
            "--as-of Day: there is no such column; the columns are: Ticker, n",
        ),
        (2, &["--as-of", "01.06.2022"], "is not a day as YYYY-MM-DD"),
        (2, &["--as-of-format", "%Y%m%d"], "--as-of"),
        (2, &["--as-of", "2022-06-08", "--as-of-format", "%Y%m%d"], "is for --as-of @COLUMN"),
        (2, &["--as-of", "@n", "--as-of-format", "%d.%m.%y"], "two digits"),
        (2, &["--as-of", "2022-06-08", "--accept", "historical"], "cannot be used with"),
        (2, &["--as-of", "2022-06-08", "--names-as-candidates"], "cannot be used with"),
        (2, &["--as-of", "2022-06-08", "--fields", "uniqueID"], "the past does not keep it"),
        (2, &["--accept", "gone"], "historical"),
    ] {
        let mapped = desk.map(&[&["in.csv"][..], flags].concat());
        assert_eq!(mapped.code, Some(code), "{flags:?}: {}", mapped.said);
        assert!(mapped.said.contains(what), "{flags:?}: {}", mapped.said);
        assert!(mapped.out.is_empty());
    }
}

/// Filters and steps know the values that rows had, and `--many all` writes each row.
#[test]
fn former_rows_of_several_securities_are_ambiguous() {
    let one: Row = (TWX, "OLD", "ONE", "US", "");
    let other: Row = (AOL, "OLD", "OTHER", "LN", "");
    let now = [(TWX, "NEW", "ONE", "US", ""), (AOL, "NEWER", "OTHER", "GY", "")];
    let desk = desk_of(&[("2022-01-03", &[one, other]), ("2022-01-04", &now)], true);
    let mapped = desk.map_file("in.csv", "Ticker,n\nOLD,1\n", &["--fields", "figi"]);
    let reason = "\"not found, and it was of several securities\"";
    assert_eq!(lines(&mapped)[1..], [format!("OLD,1,ambiguous,2,{reason},,,,,,,")]);
    assert!(!mapped.said.contains("may mean several listings"), "{}", mapped.said);
    let mapped = desk.map(&["in.csv", "--fields", "figi", "--many", "all"]);
    let mut found: Vec<String> = lines(&mapped)[1..].iter().map(|&line| line.to_owned()).collect();
    found.sort();
    let was = |figi| {
        format!("OLD,1,1,ambiguous,2,{reason},,{figi},{figi},2022-01-03,2022-01-03,observed,")
    };
    assert_eq!(found, [was(AOL), was(TWX)]);
    // A value that only rows of the past have.
    let flags = ["--as-of", "2022-01-03", "--fields", "figi,exchCode"];
    let mapped = desk.map(&[&["in.csv", "--prefer", "exchCode=LN"][..], &flags].concat());
    assert!(lines(&mapped)[1].contains(&format!("exchCode=LN,{AOL},LN,")), "{}", mapped.text());
    assert!(!mapped.said.contains("warning"), "{}", mapped.said);
    let mapped = desk.map(&[&["in.csv", "--where", "exchCode=LN"][..], &flags].concat());
    assert!(lines(&mapped)[1].contains(&format!("only,{AOL},LN,")), "{}", mapped.text());
    let mapped = desk.map(&[&["in.csv", "--many", "all"][..], &flags].concat());
    let rows = lines(&mapped);
    assert_eq!(rows.len(), 3, "{}", mapped.text());
    assert!(rows[1..].iter().all(|row| row.contains(",2022-01-03,2022-01-03,observed,")));
}

/// A folder of an index whose operator states that `TWX` was `TW` until it became part of `META`.
fn desk_with_a_statement() -> Desk {
    let retired = Retired {
        id_value: IdType::Ticker.admit("TW").unwrap().into_owned(),
        from: None,
        to: Some(Date::parse("2001-01-10").unwrap()),
        kind: RetiredKind::Merger,
        successor: Some(Figi::parse(META).unwrap()),
    };
    desk_with(&NIGHTS, true, &[(RetiredOf::Figi(Figi::parse(TWX).unwrap()), retired)])
}

/// A statement of the operator is an answer, and says so.
#[test]
fn a_stated_identifier_says_so() {
    let desk = desk_with_a_statement();
    let mapped = desk.map_file("in.csv", "Ticker,n\nTW,1\n", &["--fields", "figi"]);
    assert_eq!(
        lines(&mapped)[1],
        format!(
            "TW,1,gone,0,\"it was of {TWX} until 2001-01-10, which is not there any more\",,{TWX},,,\
             2001-01-10,stated,{META}"
        )
    );
    // Before the days of the past, too.
    let flags = ["in.csv", "--fields", "figi", "--as-of"];
    let mapped = desk.map(&[&flags[..], &["2000-05-05"]].concat());
    assert_eq!(lines(&mapped)[1], format!("TW,1,resolved,1,only,{TWX},,,2001-01-10,stated,{META}"));
    let mapped = desk.map(&[&flags[..], &["2001-01-11"]].concat());
    assert!(lines(&mapped)[1].starts_with("TW,1,outOfCoverage,"), "{}", mapped.text());
}

/// A server gives what the index in a folder gives, byte for byte.
#[test]
fn a_server_answers_alike() {
    let desk = desk_with_a_statement();
    let mut command = figdex();
    command.arg("--index").arg(desk.path("index")).args(["--listen", "127.0.0.1:0", "--no-limits"]);
    let server = Process::start(&mut command);
    let days =
        ["2022-06-07", "2022-06-08", "2022-06-09", "2022-06-15", "2022-06-20", "2000-05-05", ""];
    let tickers = ["TW", "FB", "META", "TWX", "AOL", "FB0", "META0", "NOPE"];
    let rows = tickers.iter().flat_map(|ticker| days.map(|day| format!("{ticker},{day}\n")));
    desk.write("in.csv", format!("Ticker,day\n{}", rows.collect::<String>()));
    for flags in [
        &[][..],
        &["--accept", "historical", "--fields", "ticker,name"],
        &["--many", "all"],
        &["--as-of", "@day"],
        &["--as-of", "@day", "--fields", "ticker", "--many", "all"],
        &["--as-of", "2022-06-15", "--many", "all"],
        &["--as-of", "2022-06-09", "--add-type", "--where", "exchCode=US"],
    ] {
        let flags = [&["in.csv", "--id", "Ticker:TICKER"][..], flags].concat();
        let here = desk.map(&flags);
        let there = desk.map(&[&flags[..], &["--url", &server.place]].concat());
        assert_eq!(here.ok(), there.ok(), "{flags:?}");
        assert_eq!(here.sum(), there.sum(), "{flags:?}");
    }
}

/// A server without a past refuses a day before it is asked about a row.
#[test]
fn a_server_without_a_past_refuses_a_day() {
    let desk = desk_of(&NIGHTS[..1], false);
    let mut command = figdex();
    command.arg("--index").arg(desk.path("index")).args(["--listen", "127.0.0.1:0", "--no-limits"]);
    let server = Process::start(&mut command);
    let mapped = desk.map_file("in.csv", LIST, &["--as-of", "2022-06-08", "--url", &server.place]);
    assert_eq!(mapped.code, Some(1));
    let said = "figdex: the index of the server keeps no past, which --as-of asks for\n";
    assert!(mapped.said.ends_with(said), "{}", mapped.said);
    let mapped = desk.map(&["in.csv", "--fields", "figi", "--url", &server.place]);
    assert_eq!(lines(&mapped)[0], "Ticker,n,match,matches,reason,figi");
}
