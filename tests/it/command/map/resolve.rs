//! `figdex map` over an index and over a server of the same index gives the same.

use std::fmt::Write as _;

use figdex_ingest::Input;
use serde_json::{Value, json};

use super::{Desk, Mapped, WELL_KNOWN};
use crate::support::process::{Process, figdex};
use crate::support::{Server, build_of, figi};

/// The lines of standard error besides the advice, for which a server is not asked.
fn besides_advice(mapped: &Mapped) -> Vec<&str> {
    mapped.said.lines().filter(|line| !line.contains(" may mean several ")).collect()
}

/// Identifiers of all kinds, right and wrong, each by itself, in columns, and with conditions.
/// contract 17.2 to 17.13.
#[test]
fn an_index_and_its_server_give_the_same() {
    let desk = Desk::new();
    let mut command = figdex();
    command.arg("--index").arg(desk.path("index")).args(["--listen", "127.0.0.1:0", "--no-limits"]);
    let server = Process::start(&mut command);
    let texts = [
        "US4592001014",
        "US4592001015",
        "459200101",
        "BBG000BLNNH6",
        "BBG000BLNNH7",
        "BBG001S5S399",
        "IBM US Equity",
        "IBM UN",
        "BRK.B",
        "BRK-B",
        "VOD.L",
        "AAPL  250117C00155000",
        "851399",
        "851400",
        "2005973",
        "2005974",
        "nonsense",
        "",
        "4.59E+08",
        "TYT:LN",
        "\"a,b\"",
        "\u{fc}ber",
        "84670702",
        "G0177J108",
        "JP3633400001",
        "BBG000B9XRY4",
    ];
    let mut input = "a,isin,ticker,cusip,figi,kind,ccy\n".to_owned();
    for (place, text) in texts.iter().enumerate() {
        let isin = ["US0378331005", "JP3633400001", "US0378331006", ""][place % 4];
        let ticker = ["IBM", "BRK.B", "ABCDIO", "AAPL US"][place % 4];
        let cusip = ["459200101", "G0177J108", "459200102"][place % 3];
        let figi = ["BBG000BLNNH6", "BBG001S5S399", "BBG000BLNNH7"][place % 3];
        let kind = ["ID_ISIN", "TICKER", "ID_CUSIP", "odd", "BASE_TICKER"][place % 5];
        let ccy = ["USD", "JPY", "", "XX"][place % 4];
        input += &format!("{text},{isin},{ticker},{cusip},{figi},{kind},{ccy}\n");
    }
    desk.write("in.csv", input);
    let all: &[&[&str]] = &[
        &["--id", "a"],
        &["--id", "a:@kind"],
        &["--id", "isin"],
        &["--id", "ticker"],
        &["--id", "ticker", "--where", "currency=@ccy"],
        &["--id", "cusip"],
        &["--id", "figi"],
        &["--id", "isin:ID_ISIN", "--id", "ticker:TICKER", "--id", "a", "--where", "exchCode=US"],
        &["--id", "a", "--where", "currency=@ccy", "--include-unlisted-equities"],
        &["--id", "ticker:TICKER", "--where", "securityType2=Option"],
    ];
    for ids in all {
        for rest in [
            &["--prefer", "composite", "--prefer", "exchCode=GR|US"][..],
            &["--many", "all", "--fields", "figi,name,exchCode,compositeFIGI,metadata"],
            &["--format", "jsonl", "--prefer", "exchCode=QQ"],
        ] {
            let arguments = [&["in.csv", "--report", "r.json"], *ids, rest].concat();
            let local = desk.map(&arguments);
            let mut report = desk.json("r.json");
            let remote = desk.map(&[&arguments[..], &["--url", &server.place]].concat());
            assert_eq!(local.ok(), remote.ok(), "{arguments:?}");
            assert_eq!(besides_advice(&local), besides_advice(&remote), "{arguments:?}");
            let mut other = desk.json("r.json");
            // A server that was not asked has no generation.
            if other["generation"].is_null() {
                other["generation"] = report["generation"].clone();
                assert_eq!(other["invalid"], other["rows"]);
            }
            for report in [&mut report, &mut other] {
                report.as_object_mut().unwrap().remove("seconds");
            }
            assert_eq!(report, other);
        }
    }
}

/// Identifiers that together have more rows than one request may find, among them one with too many
/// and one that two readings share: a server gives what the index gives.
/// contract 17.6, 17.11.
#[test]
fn very_many_rows_are_the_same_from_a_server() {
    const ROWS: u32 = 15_000;
    let mut dump = "figi,ticker,ID_WERTPAPIER,ID_ISIN,name\n".to_owned();
    for number in 0..ROWS + 8_000 {
        let ticker = if number < ROWS { "MANY" } else { "851399" };
        let wertpapier = if number < 8_000 { "851399" } else { "" };
        let isin = if number <= ROWS { "US0378331005" } else { "" };
        writeln!(dump, "{},{ticker},{wertpapier},{isin},{number}", figi(number)).unwrap();
    }
    let desk = Desk(tempfile::tempdir().unwrap());
    let dump = Input::Memory("dump", dump.into_bytes().into());
    build_of(vec![dump], &desk.path("index")).run(&mut |_| {}).unwrap();
    let mut command = figdex();
    command.arg("--index").arg(desk.path("index")).args(["--listen", "127.0.0.1:0", "--no-limits"]);
    let server = Process::start(&mut command);
    let many = |count| "MANY\n".repeat(count);
    let rows = format!("{}US0378331005\n851399\n{}NONE\n", many(14), many(2));
    desk.write("all.csv", format!("identifier\n{rows}"));
    desk.write("none.csv", format!("identifier\n{}{rows}", many(130)));
    for arguments in [
        &["all.csv", "--many", "all", "--fields", "figi,name,metadata"][..],
        &["none.csv", "--fields", "figi"],
    ] {
        let arguments = [arguments, &["--id", "identifier"]].concat();
        let local = desk.map(&arguments);
        let remote = desk.map(&[&arguments[..], &["--url", &server.place]].concat());
        for part in [",invalid,0,it has more than 15000 rows,", ",ambiguous,16000,"] {
            assert!(local.ok().contains(part), "{part}");
        }
        assert!(local.text() == remote.ok(), "{arguments:?}");
        assert_eq!(besides_advice(&local), besides_advice(&remote));
    }
    // A client that reads JSON sees which jobs to ask for again.
    let body = json!({"jobs": vec!["MANY"; 14], "fields": ["figi"]}).to_string();
    let answer = server.exchange(format!(
        "POST /resolve?many=all HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n\
         content-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    ));
    assert!(answer.contains("\r\nfigdex-jobs-per-list: 1000\r\n"), "{answer:.500}");
    assert!(!answer.contains("figdex-jobs-per-request"), "without limits none are counted");
    let (_, answer) = answer.split_once("\r\n\r\n").unwrap();
    let answer: Value = serde_json::from_str(answer).unwrap();
    let results = &answer["results"];
    assert_eq!((&results[12]["matches"], &results[12]["askAgain"]), (&json!(ROWS), &Value::Null));
    assert_eq!(
        (&results[13]["status"], &results[13]["askAgain"]),
        (&json!("invalid"), &json!(true))
    );
}

/// A list that is longer than a window is cut, and the command waits for the next one.
/// contract 17.8.
#[test]
fn the_limits_of_a_server_are_kept() {
    let desk = Desk::new();
    desk.write("limits.toml", "[limits.v3.mapping]\nwithout_key = \"5/2s\"\n");
    let mut command = figdex();
    command.arg("--index").arg(desk.path("index")).args(["--listen", "127.0.0.1:0", "--config"]);
    let server = Process::start(command.arg(desk.path("limits.toml")));
    desk.write("in.csv", format!("isin\n{}", "US0846701086\n".repeat(130)));
    let mapped = desk.map(&["in.csv", "--url", &server.place]);
    mapped.ok();
    assert_eq!(mapped.sum(), "130 rows = 130 resolved + 0 ambiguous + 0 unknown + 0 invalid");
}

/// A job may be a text, and the text of a column. contract 17.13.
#[test]
fn a_job_may_be_a_text_of_a_column() {
    let server = Server::of_dump(str::from_utf8(WELL_KNOWN).unwrap());
    let ask = |job: Value| {
        let body = json!({"jobs": [job], "fields": ["figi"], "prefer": ["composite"]});
        let answer = server.post("/resolve", &body.to_string());
        assert_eq!(answer.status, 200, "{}", answer.body);
        let answer: Value = serde_json::from_str(&answer.body).unwrap();
        answer["results"][0].clone()
    };
    let resolved = ask(json!({"text": "BRK.B", "as": "TICKER", "currency": "USD"}));
    assert_eq!(resolved["data"], json!([{"figi": "BBG000DWG505"}]));
    assert_eq!(ask(json!({"text": "BRK.B"}))["data"], json!([{"figi": "BBG000DWG505"}]));
    let wrong = ask(json!({"text": "BRK.B", "as": "ID_ISIN"}));
    assert_eq!(
        wrong["error"],
        "ID_ISIN: expected two letters, nine letters or digits, and a check digit"
    );
    for (job, error) in [
        (json!({"text": "IBM", "idType": "TICKER"}), "text takes the place of idType and idValue"),
        (json!({"text": 7}), "text must be a string"),
        (json!({"text": "IBM", "as": "odd"}), "Invalid value for as"),
        (json!({"text": "IBM", "odd": 1}), "Invalid key"),
        (json!({"as": "TICKER"}), "Invalid key"),
    ] {
        let result = ask(job.clone());
        assert_eq!(result["status"], "invalid", "{job}");
        assert!(result["error"].as_str().unwrap().contains(error), "{job} {result}");
    }
    // Mapping jobs have no such members.
    let answer =
        server.map(&json!([{"text": "IBM"}, {"idType": "TICKER", "idValue": "IBM", "as": "x"}]));
    for (result, key) in answer.iter().zip(["text", "as"]) {
        let error = result["error"].as_str().unwrap();
        assert!(error.contains(key), "{error}");
    }
}
