//! Contract, chapter 20: the past.

use std::sync::Arc;

use figdex::config::Settings;
use figdex::{Engine, State};
use figdex_index::{
    BuildOptions, Builder, Catalogue, Date, Figi, IdType, Instrument, PastOptions, Property,
    Retired, RetiredKind, RetiredOf,
};
use serde_json::{Value, json};

use crate::support::{Answer, Server, figi};

const CSV: (&str, &str) = ("content-type", "text/csv");

const ISIN: &str = "US0378331005";

/// The days of the builds.
const DAYS: [&str; 4] = ["2024-01-02", "2024-03-01", "2024-03-02", "2024-06-03"];

/// A row of an index: its number, ticker, exchange code and share class.
fn row(number: u32, ticker: &str, code: &str, share_class: u32) -> Instrument {
    let parsed = |number: u32| Figi::parse(&figi(number)).unwrap();
    let mut row = Instrument {
        ticker: Some(ticker.to_owned()),
        name: Some(format!("COMPANY {number}")),
        share_class_figi: Some(parsed(share_class)),
        listed: Some(true),
        ..Instrument::new(parsed(number))
    };
    for (property, value) in [(Property::ExchCode, code), (Property::MarketSecDes, "Equity")] {
        row.properties[property as usize] = Some(value.to_owned());
    }
    row
}

/// The rows on a day, by the place of the day.
fn rows(day: usize) -> Vec<Instrument> {
    let mut rows = vec![
        // Renamed.
        row(1, if day == 0 { "OLD" } else { "NEW" }, "US", 901),
        // A name of which the vendor learned the ISIN on the last day.
        row(5, "LEARN", "US", 905),
        // Two securities that had one ticker.
        row(7, if day < 2 { "TWIN" } else { "SEVEN" }, "US", 907),
        row(8, if day < 2 { "TWIN" } else { "EIGHT" }, "US", 908),
        // An exchange code that no row has any more.
        row(9, "MOVED", if day < 2 { "XO" } else { "US" }, 909),
        row(10, "STEP", if day < 2 { "XO" } else { "LN" }, 910),
        row(11, "STEP", "US", 910),
        row(12, "STAYS", "US", 912),
    ];
    if day == 3 {
        let learned = IdType::Isin.admit(ISIN).unwrap().into_owned();
        rows[1].identifiers.push(learned);
        // The first row of its exchange.
        rows.push(row(6, "LATE", "ZZ", 906));
    }
    if day == 0 {
        rows.push(row(2, "RECY", "US", 902));
    } else if day > 1 {
        rows.push(row(3, "RECY", "US", 903));
    }
    if day < 3 {
        rows.push(row(4, "GONE", "US", 904));
    }
    rows.sort_by_key(|row| row.figi);
    rows
}

/// Statements of an operator: two identifiers of an instrument that is gone on the last day.
fn stated() -> Vec<(RetiredOf, Retired)> {
    let of = |number| Figi::parse(&figi(number)).unwrap();
    let retired = |id_type: IdType, text, from: Option<&str>, successor| Retired {
        id_value: id_type.admit(text).unwrap().into_owned(),
        from: from.map(|day| Date::parse(day).unwrap()),
        to: Some(Date::parse("2020-01-31").unwrap()),
        kind: RetiredKind::Merger,
        successor,
    };
    vec![
        (RetiredOf::Figi(of(4)), retired(IdType::Ticker, "WENT", None, Some(of(12)))),
        (RetiredOf::Figi(of(4)), retired(IdType::Cusip, "037833100", Some("2019-02-01"), None)),
    ]
}

/// The state over an index with a build for each day.
fn state(keeps_past: bool, settings: Settings) -> Arc<State> {
    let folder = tempfile::tempdir().unwrap();
    let index = folder.path().join("index");
    for (place, day) in DAYS.iter().enumerate() {
        let date = Date::parse(day).unwrap();
        let segment_memory_bytes = 32 << 20;
        let options = BuildOptions { date, segment_memory_bytes, ..BuildOptions::default() };
        let mut builder = Builder::create(&index, options).unwrap();
        if keeps_past {
            let options = PastOptions { stated: stated(), ..PastOptions::default() };
            builder.keep_past(options);
        }
        for row in rows(place) {
            builder.add(row).unwrap();
        }
        builder.publish(Vec::new()).unwrap();
    }
    let engine: Engine = Catalogue::open(&index).unwrap().into();
    Arc::new(State::new(engine, settings))
}

fn server() -> Server {
    Server::over(&state(true, Settings::default()), Default::default())
}

fn without_past() -> Server {
    Server::over(&state(false, Settings::default()), Default::default())
}

fn ask(server: &Server, body: &Value) -> Answer {
    let answer = server.post("/resolve", &body.to_string());
    assert_eq!(answer.status, 200, "{}", answer.body);
    answer
}

/// The results of jobs, with few fields.
fn results(server: &Server, jobs: Value, options: Value) -> Vec<Value> {
    let mut body = json!({"jobs": jobs, "fields": ["figi", "ticker"]});
    body.as_object_mut().unwrap().extend(options.as_object().unwrap().clone());
    let answer: Value = serde_json::from_str(&ask(server, &body).body).unwrap();
    answer["results"].as_array().unwrap().clone()
}

/// The result of one job.
fn result(server: &Server, job: impl Into<Value>, options: Value) -> Value {
    results(server, json!([job.into()]), options).remove(0)
}

/// The result of a text as of a day.
fn on(server: &Server, text: &str, day: &str) -> Value {
    result(server, text, json!({"asOf": day}))
}

/// The number of the test's FIGI in a row.
fn number(row: &Value) -> u32 {
    let figi = row["figi"].as_str().unwrap();
    figi[3..11].parse().unwrap()
}

fn numbers(rows: &Value) -> Vec<u32> {
    rows.as_array().map(|rows| rows.iter().map(number).collect()).unwrap_or_default()
}

/// contract 20.2: the row that an identifier was of, and that row today.
#[test]
fn former_rows_of_unknown_identifiers() {
    let server = server();
    let body = json!({"jobs": ["OLD", "GONE", "NEVER"], "fields": ["figi", "ticker", "uniqueID"]});
    let [one, four, twelve] = [1, 4, 12].map(figi);
    let expected = format!(
        r#"{{"generation":4,"results":[{{"status":"historical","idType":"TICKER","former":{{"figi":"{one}","ticker":"OLD","uniqueID":null}},"today":{{"figi":"{one}","ticker":"NEW","uniqueID":null}},"validFrom":"2024-01-02","validTo":"2024-01-02","basis":"observed"}},{{"status":"gone","idType":"TICKER","former":{{"figi":"{four}","ticker":"GONE","uniqueID":null}},"today":null,"validFrom":"2024-01-02","validTo":"2024-03-02","basis":"observed","successor":"{twelve}"}},{{"status":"unknown","idType":"TICKER"}}]}}"#
    );
    assert_eq!(ask(&server, &body).body, expected);
    // Its own FIGI, and a typed job.
    let figi_of_gone = result(&server, figi(4), json!({}));
    assert_eq!(
        (&figi_of_gone["status"], &figi_of_gone["idType"]),
        (&json!("gone"), &json!("ID_BB_GLOBAL"))
    );
    let job = json!({"idType": "TICKER", "idValue": "OLD", "exchCode": "US"});
    assert_eq!(result(&server, job, json!({}))["status"], "historical");
    let job = json!({"idType": "TICKER", "idValue": "OLD", "exchCode": "LN"});
    assert_eq!(result(&server, job, json!({}))["status"], "unknown", "it was on another exchange");
    // Without fields, the members are still an object.
    let empty = result(&server, "OLD", json!({"fields": []}));
    assert_eq!((&empty["former"], &empty["today"]), (&json!({}), &json!({})));
}

/// contract 20.3: an identifier of several securities in the past is none of them.
#[test]
fn several_securities_are_ambiguous() {
    let server = server();
    for options in [json!({}), json!({"many": "all"})] {
        let twin = result(&server, "TWIN", options);
        assert_eq!((&twin["status"], &twin["matches"]), (&json!("ambiguous"), &json!(2)));
        assert!(twin.get("data").is_none() && twin.get("today").is_none());
        assert_eq!(numbers(&twin["former"]), [7, 8]);
        let first = &twin["former"][0];
        assert_eq!(first["today"], json!({"figi": figi(7), "ticker": "SEVEN"}));
        assert_eq!((&first["validFrom"], &first["validTo"]), (&json!(DAYS[0]), &json!(DAYS[1])));
        assert_eq!(first["basis"], "observed");
    }
    let fields = result(&server, "TWIN", json!({"fields": []}));
    assert_eq!(fields["former"][0]["today"], json!({}), "also without fields");
}

/// contract 20.4: the further columns of CSV.
#[test]
fn csv() {
    let server = server();
    let post = |server: &Server, query: &str, body: &str| {
        let answer = server.request("POST", &format!("/resolve{query}"), &[CSV], body);
        assert_eq!(answer.status, 200, "{}", answer.body);
        answer.body
    };
    let [one, four, seven, eight, twelve] = [1, 4, 7, 8, 12].map(figi);
    let body = "OLD\nGONE\nTWIN\nNEVER\nSTAYS\n";
    assert_eq!(
        post(&server, "?fields=figi,ticker", body),
        format!(
            "row,input,match,idType,matches,by,reason,figi,ticker,formerFigi,todayFigi,validFrom,validTo,basis,successorFigi\n\
             1,OLD,historical,TICKER,0,,it was of {one} until 2024-01-02,,,{one},{one},2024-01-02,2024-01-02,observed,\n\
             2,GONE,gone,TICKER,0,,\"it was of {four} until 2024-03-02, which is not there any more\",,,{four},,2024-01-02,2024-03-02,observed,{twelve}\n\
             3,TWIN,ambiguous,TICKER,2,,2 rows may be meant,,,{seven}|{eight},{seven}|{eight},,,,\n\
             4,NEVER,unknown,TICKER,0,,not found,,,,,,,,\n\
             5,STAYS,resolved,TICKER,1,only,,{twelve},STAYS,,,,,,\n"
        )
    );
    let heading = |query: &str| post(&server, query, "OLD\n").lines().next().unwrap().to_owned();
    let past = "formerFigi,todayFigi,validFrom,validTo,basis,successorFigi";
    assert!(
        heading("?candidates=true&formerly=true").ends_with(&format!("{past},formerly,candidates"))
    );
    assert!(
        post(&without_past(), "?fields=figi", "OLD\n")
            .starts_with("row,input,match,idType,matches,by,reason,figi\n")
    );
    // As of a day the fields are those of the row as it was.
    let of_day = post(&server, "?fields=ticker&asOf=2024-01-02", "OLD\n");
    assert_eq!(
        of_day.lines().nth(1).unwrap(),
        format!("1,OLD,resolved,TICKER,1,only,,OLD,{one},{one},2024-01-02,2024-01-02,observed,")
    );
    let many = post(&server, "?fields=ticker&asOf=2024-01-02&many=all", "TWIN\n");
    let lines: Vec<&str> = many.lines().skip(1).collect();
    assert_eq!(
        lines,
        [&seven, &eight].map(|figi| format!(
            "1,TWIN,ambiguous,TICKER,2,,2 rows may be meant,TWIN,{figi},{figi},2024-01-02,2024-03-01,observed,"
        ))
    );
    // A column of days, of which a blank one is not today.
    let table = "idValue,asOf\nOLD,2024-01-02\nOLD,2.1.2024\nOLD,\nNEW,2024-06-03\n";
    let statuses = |query: &str| -> Vec<String> {
        let answer = post(&server, query, table);
        answer.lines().skip(1).map(|line| line.split(',').nth(2).unwrap().to_owned()).collect()
    };
    assert_eq!(statuses(""), ["resolved", "invalid", "invalid", "resolved"]);
    assert_eq!(statuses("?asOf=2024-01-02"), ["resolved", "invalid", "resolved", "resolved"]);
}

/// contract 20.6: a recycled ticker means the one and then the other row.
#[test]
fn a_recycled_ticker() {
    let server = server();
    let two = on(&server, "RECY", "2024-01-02");
    assert_eq!(
        two,
        json!({"status": "resolved", "idType": "TICKER", "by": "only", "asOf": "2024-01-02",
            "data": [{"figi": figi(2), "ticker": "RECY"}], "today": null,
            "validFrom": "2024-01-02", "validTo": "2024-01-02", "basis": "observed"})
    );
    let three = on(&server, "RECY", "2024-06-03");
    assert_eq!((number(&three["data"][0]), &three["validTo"]), (3, &Value::Null));
    assert_eq!(on(&server, "RECY", "2024-03-01")["status"], "unknown", "between both");
    let now = result(&server, "RECY", json!({}));
    assert_eq!(
        now,
        json!({"status": "resolved", "idType": "TICKER", "by": "only",
        "data": [{"figi": figi(3), "ticker": "RECY"}]})
    );
    // contract 20.11.
    let formerly = result(&server, "RECY", json!({"formerly": true}));
    assert_eq!(
        formerly["formerly"],
        json!([{"figi": figi(2), "name": "COMPANY 2", "ticker": "RECY", "exchCode": "US",
            "validFrom": "2024-01-02", "validTo": "2024-01-02"}])
    );
    for text in ["STAYS", "OLD", "NEVER", "NEW"] {
        assert!(
            result(&server, text, json!({"formerly": true})).get("formerly").is_none(),
            "{text}"
        );
    }
    let dated = result(&server, "RECY", json!({"formerly": true, "asOf": "2024-06-03"}));
    assert!(dated.get("formerly").is_none());
}

/// contract 20.6: a renamed row is found by the name of the day, and shown as it is today.
#[test]
fn a_renamed_row() {
    let server = server();
    let old = on(&server, "OLD", "2024-01-02");
    assert_eq!(old["data"], json!([{"figi": figi(1), "ticker": "OLD"}]));
    assert_eq!(old["today"], json!({"figi": figi(1), "ticker": "NEW"}));
    assert_eq!(on(&server, "OLD", "2024-03-01")["status"], "unknown");
    assert_eq!(on(&server, "NEW", "2024-01-02")["status"], "unknown");
    assert_eq!(on(&server, "NEW", "2024-06-03")["status"], "resolved");
    // A job's own day wins.
    let day = json!({"asOf": "2024-06-03"});
    let job = json!({"text": "OLD", "asOf": "2024-01-02"});
    assert_eq!(result(&server, job, day.clone())["status"], "resolved");
    let both =
        results(&server, json!(["STAYS", {"text": "OLD", "asOf": "2024-01-02"}, "OLD"]), json!({}));
    let statuses: Vec<_> = both.iter().map(|one| one["status"].clone()).collect();
    assert_eq!(statuses, ["resolved", "resolved", "historical"]);
    assert!(both[0].get("asOf").is_none() && both[0].get("validFrom").is_none());
    let typed = json!({"asOf": "2024-01-02", "idType": "TICKER", "idValue": "OLD"});
    assert_eq!(result(&server, typed, json!({}))["status"], "resolved");
    // A row that never changed is from the first day of the past.
    let stays = on(&server, "STAYS", "2024-03-02");
    assert_eq!((&stays["validFrom"], &stays["validTo"]), (&json!(DAYS[0]), &Value::Null));
}

/// contract 20.8: a value that was learned later.
#[test]
fn learned_later() {
    let server = server();
    let early = on(&server, ISIN, "2024-01-02");
    assert_eq!((&early["status"], &early["basis"]), (&json!("resolved"), &json!("assumed")));
    assert_eq!(numbers(&early["data"]), [5]);
    assert_eq!(on(&server, ISIN, "2024-06-03")["basis"], "observed");
    assert_eq!(on(&server, "LEARN", "2024-01-02")["basis"], "observed", "by its ticker");
}

/// contract 20.7: a day on which nothing was observed.
#[test]
fn uncertain_days() {
    let server = server();
    let body = json!({"jobs": ["OLD", "GONE"], "fields": ["ticker"], "asOf": "2024-02-01"});
    let answer: Value = serde_json::from_str(&ask(&server, &body).body).unwrap();
    let old = &answer["results"][0];
    assert_eq!(
        *old,
        json!({"status": "uncertain", "idType": "TICKER", "asOf": "2024-02-01", "former": [
            {"ticker": "OLD", "today": {"ticker": "NEW"}, "validFrom": "2024-01-02",
             "validTo": "2024-01-02", "basis": "observed"}]})
    );
    assert_eq!(answer["results"][1]["status"], "resolved", "the same row on both sides");
    // Both sides name the same row, whose exchange differs.
    assert_eq!(on(&server, "MOVED", "2024-02-01")["status"], "resolved");
    let gone = on(&server, "GONE", "2024-04-01");
    assert_eq!((&gone["status"], numbers(&gone["former"])), (&json!("uncertain"), vec![4]));
    let gone = on(&server, "GONE", "2024-06-03");
    assert_eq!(gone["status"], "unknown");
}

/// contract 20.9: days that the past does not cover.
#[test]
fn out_of_coverage() {
    let server = server();
    for day in ["2024-01-01", "2024-06-04", "1900-01-01", "9999-12-31"] {
        let result = on(&server, "STAYS", day);
        assert_eq!(
            result,
            json!({"status": "outOfCoverage", "asOf": day,
                "coverage": {"since": "2024-01-02", "until": "2024-06-03"}})
        );
    }
    // The dumps had no rows of its exchange before.
    let late = on(&server, "LATE", "2024-03-01");
    assert_eq!(late["coverage"], json!({"since": "2024-06-03", "until": "2024-06-03"}));
    assert_eq!(on(&server, "LATE", "2024-06-03")["status"], "resolved");
    assert_eq!(on(&server, "NEVER", "2024-01-02")["status"], "unknown");
}

/// contract 20.10: filters and steps know the values that rows had.
#[test]
fn former_values() {
    let server = server();
    let job =
        |day: &str| json!({"idType": "TICKER", "idValue": "MOVED", "exchCode": "XO", "asOf": day});
    let then = result(&server, job("2024-01-02"), json!({"fields": ["figi", "exchCode"]}));
    assert_eq!(then["data"], json!([{"figi": figi(9), "exchCode": "XO"}]));
    assert_eq!(then["today"]["exchCode"], "US");
    assert_eq!(result(&server, job("2024-06-03"), json!({}))["status"], "unknown");
    let now = json!({"idType": "TICKER", "idValue": "MOVED", "exchCode": "XO"});
    let now = result(&server, now, json!({}));
    assert_eq!(now["error"], "exchCode: \"XO\" is not one of its values in this index");
    let text = result(&server, "MOVED XO", json!({"asOf": "2024-01-02"}));
    assert_eq!(numbers(&text["data"]), [9]);

    let prefer = json!(["exchCode=XO|US"]);
    for (day, number) in [("2024-03-01", 10), ("2024-03-02", 11)] {
        let step = result(&server, "STEP", json!({"asOf": day, "prefer": prefer}));
        assert_eq!((numbers(&step["data"]), &step["by"]), (vec![number], &json!("exchCode=XO|US")));
    }
    let several = on(&server, "STEP", "2024-01-02");
    assert_eq!((&several["status"], &several["matches"]), (&json!("ambiguous"), &json!(2)));
    assert_eq!(numbers(&several["data"]), [10, 11]);
    assert_eq!(several["data"][0]["validTo"], "2024-03-01");
    // A value of the past is unknown to a list without days.
    let unknown = |body: Value| ask(&server, &body).header("figdex-unknown-values").to_owned();
    assert_eq!(unknown(json!({"jobs": ["STEP"], "prefer": prefer})), "exchCode=XO");
    assert_eq!(unknown(json!({"jobs": ["STEP"], "prefer": prefer, "asOf": "2024-01-02"})), "");
}

/// contract 20.5: days in another form, and values that are not days.
#[test]
fn bad_days() {
    let server = server();
    const FAULT: &str = "asOf must be a day from 1900-01-01 on, such as 2022-06-01";
    for day in [
        json!("01.06.2022"),
        json!("06/01/2022"),
        json!("2022-6-1"),
        json!("20220601"),
        json!("2022-06-01T00:00:00Z"),
        json!("2022-06-01 "),
        json!("2022-02-30"),
        json!("1899-12-31"),
        json!("today"),
        json!(""),
        json!(20220601),
        json!(["2022-06-01"]),
    ] {
        let job = json!({"text": "OLD", "asOf": day});
        let result = result(&server, job, json!({}));
        assert_eq!(result, json!({"status": "invalid", "error": FAULT}), "{day}");
        let body = json!({"jobs": ["OLD"], "asOf": day});
        let answer = server.post("/resolve", &body.to_string());
        assert_eq!((answer.status, answer.body), (400, format!("{{\"error\":\"{FAULT}.\"}}")));
        if let Some(text) = day.as_str() {
            let path = format!("/resolve?asOf={text}").replace(' ', "%20");
            assert_eq!(server.post(&path, r#"{"jobs":["OLD"]}"#).status, 400, "{text}");
        }
    }
    let null = result(&server, json!({"text": "STAYS", "asOf": null}), json!({}));
    assert_eq!(null["status"], "resolved");
    for (path, body, fault) in [
        ("/resolve?asOf=2024-01-02", r#"{"jobs":[],"asOf":"2024-01-02"}"#, "asOf is given twice."),
        ("/resolve?formerly=1", r#"{"jobs":[]}"#, "formerly must be true or false."),
    ] {
        let answer = server.post(path, body);
        assert_eq!((answer.status, answer.body), (400, format!("{{\"error\":\"{fault}\"}}")));
    }
    // Other members next to a day.
    for (job, key) in [
        (json!({"asOf": "2024-01-02", "idType": "TICKER", "idValue": "OLD", "x": 1}), "x"),
        (json!({"asOf": "2024-01-02", "idType": "TICKER", "idValue": "OLD", "as": "TICKER"}), "as"),
        (json!({"asOf": "2024-01-02", "text": "OLD", "x": 1}), "x"),
    ] {
        assert_eq!(result(&server, job, json!({}))["error"], format!("Invalid key '{key}'"));
    }
    // A mapping job has no day.
    let mapping = json!([{"idType": "TICKER", "idValue": "NEW", "asOf": "2024-01-02"}]);
    assert_eq!(server.map(&mapping)[0], json!({"error": "Invalid key 'asOf'."}));
}

/// contract 20.1: without a past, and for what is known today, nothing changes by a byte; mapping and
/// search never show a row of the past.
#[test]
fn nothing_else_changes() {
    let (with, without) = (server(), without_past());
    let known = json!({"jobs": ["STAYS", "NEW", "RECY", "STEP", "US0378331013", "NEVER", 7, {"idType": "X"}],
        "prefer": ["composite", "exchCode=XO|LN"], "many": "all"});
    let all = json!({"jobs": ["OLD", "GONE", "TWIN"]});
    assert_eq!(ask(&with, &known).body, ask(&without, &known).body);
    let unknown: Value = serde_json::from_str(&ask(&without, &all).body).unwrap();
    for result in unknown["results"].as_array().unwrap() {
        assert_eq!(*result, json!({"status": "unknown", "idType": "TICKER"}));
    }
    let dated = result(&without, json!({"text": "OLD", "asOf": "2024-01-02"}), json!({}));
    assert_eq!(dated["error"], "this index keeps no past (build it with --history)");
    for body in [json!({"jobs": ["RECY"], "formerly": true}), json!({"jobs": ["RECY"]})] {
        let answer = ask(&without, &body).body;
        assert_eq!(answer, ask(&without, &json!({"jobs": ["RECY"]})).body);
    }
    for ticker in ["OLD", "GONE", "TWIN", "RECY", "MOVED"] {
        let job = json!([{"idType": "TICKER", "idValue": ticker}]);
        assert_eq!(with.map(&job), without.map(&job));
        for path in ["/v3/search", "/v3/filter"] {
            let body = json!({"query": ticker}).to_string();
            assert_eq!(with.post(path, &body).body, without.post(path, &body).body, "{ticker}");
        }
        let path = format!("/suggest?query={ticker}");
        let get = |server: &Server| server.request("GET", &path, &[], "").body;
        assert_eq!(get(&with), get(&without), "{ticker}");
    }
    let values =
        |server: &Server| server.request("GET", "/v3/mapping/values/exchCode", &[], "").body;
    assert_eq!(values(&with), values(&without));
}

fn history(server: &Server, number: u32, query: &str) -> (u16, Value) {
    let path = format!("/instruments/{}/history{query}", figi(number));
    let answer = server.request("GET", &path, &[], "");
    (answer.status, serde_json::from_str(&answer.body).unwrap())
}

/// contract 20.12: the versions of an instrument, newest first.
#[test]
fn versions() {
    let server = server();
    let path = format!("/instruments/{}/history", figi(1));
    let answer = server.request("GET", &path, &[], "");
    let (own, share) = (figi(1), figi(901));
    let row = |ticker: &str| {
        format!(
            r#"{{"figi":"{own}","name":"COMPANY 1","ticker":"{ticker}","exchCode":"US","compositeFIGI":null,"securityType":null,"marketSector":"Equity","shareClassFIGI":"{share}","securityType2":null,"securityDescription":null,"micCode":null,"currency":null,"stateCode":null,"optionType":null,"expiration":null,"maturity":null,"listed":true,"identifiers":{{}}}}"#
        )
    };
    let expected = format!(
        r#"{{"figi":"{own}","coverage":{{"since":"2024-01-02","until":"2024-06-03"}},"coveredSince":"2024-01-02","versions":[{{"validFrom":"2024-03-01","validTo":null,"end":null,"basis":"observed","row":{},"learned":{{}}}},{{"validFrom":"2024-01-02","validTo":"2024-01-02","end":"replaced","basis":"observed","row":{},"learned":{{}}}}],"truncated":false,"stated":[]}}"#,
        row("NEW"),
        row("OLD")
    );
    assert_eq!((answer.status, answer.body), (200, expected));
    let (_, gone) = history(&server, 4, "");
    assert_eq!(
        (&gone["versions"][0]["end"], &gone["versions"][0]["validTo"]),
        (&json!("gone"), &json!("2024-03-02"))
    );
    let (_, stays) = history(&server, 12, "");
    assert_eq!(
        (stays["versions"].as_array().unwrap().len(), &stays["versions"][0]["validTo"]),
        (1, &Value::Null)
    );
    let (_, late) = history(&server, 6, "");
    assert_eq!(late["coveredSince"], "2024-06-03");
    let (_, learned) = history(&server, 5, "");
    let version = &learned["versions"][0];
    assert_eq!(
        (&version["learned"], &version["basis"]),
        (&json!({"ID_ISIN": "2024-06-03"}), &json!("assumed"))
    );
    assert_eq!(version["row"]["identifiers"], json!({"ID_ISIN": [ISIN]}));
}

/// contract 20.13: versions that were mistakes are shown on request only.
#[test]
fn revised_versions() {
    let folder = tempfile::tempdir().unwrap();
    let index = folder.path().join("index");
    for (day, ticker) in [("2024-01-02", "RIGHT"), ("2024-01-03", "WRONG"), ("2024-01-04", "RIGHT")]
    {
        let date = Date::parse(day).unwrap();
        let segment_memory_bytes = 32 << 20;
        let options = BuildOptions { date, segment_memory_bytes, ..BuildOptions::default() };
        let mut builder = Builder::create(&index, options).unwrap();
        builder.keep_past(PastOptions::default());
        builder.add(row(1, ticker, "US", 901)).unwrap();
        builder.publish(Vec::new()).unwrap();
    }
    let engine: Engine = Catalogue::open(&index).unwrap().into();
    let state = Arc::new(State::new(engine, Settings::default()));
    let server = Server::over(&state, Default::default());
    let ends = |query: &str| -> Vec<Value> {
        let (_, history) = history(&server, 1, query);
        history["versions"].as_array().unwrap().iter().map(|one| one["end"].clone()).collect()
    };
    assert_eq!(ends(""), [Value::Null]);
    assert_eq!(ends("?revised=false"), [Value::Null]);
    assert_eq!(ends("?revised=true"), [Value::Null, json!("revised")]);
    assert_eq!(result(&server, "WRONG", json!({}))["status"], "unknown");
    for (query, fault) in [
        ("?revised=1", "revised must be true or false."),
        ("?revised=true&revised=true", "revised must not be repeated."),
        ("?other=1", "Invalid key 'other'."),
    ] {
        assert_eq!(history(&server, 1, query), (400, json!({"error": fault})));
    }
}

/// contract 20.14: FIGIs that the past does not know, and an index without a past.
#[test]
fn unknown_histories() {
    let server = server();
    let none = json!({"error": "The past knows no instrument with this FIGI."});
    assert_eq!(history(&server, 77, ""), (404, none));
    let no_past = json!({"error": "This index keeps no past."});
    assert_eq!(history(&without_past(), 1, ""), (404, no_past));
    let answer = server.request("GET", "/instruments/BBG/history", &[], "");
    assert_eq!(answer.status, 400);
    assert!(answer.body.starts_with("{\"error\":\"Invalid FIGI: "), "{}", answer.body);
    let path = format!("/instruments/{}/history", figi(1));
    assert_eq!(server.request("POST", &path, &[], "").status, 405);
}

/// contract 20.15: hidden identifiers stay hidden, and lists still answer by them.
#[test]
fn hidden_identifiers() {
    let settings = Settings { hide_identifiers: true, ..Settings::default() };
    let server = Server::over(&state(true, settings), Default::default());
    let path = format!("/instruments/{}/history", figi(5));
    let answer = server.request("GET", &path, &[], "").body;
    assert!(
        !answer.contains("ISIN") && !answer.contains(ISIN) && !answer.contains("identifiers"),
        "{answer}"
    );
    let answer: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(answer["versions"][0]["learned"], json!({}));
    let result = result(&server, ISIN, json!({"asOf": "2024-01-02", "formerly": true}));
    assert_eq!(result["status"], "resolved");
    assert!(!result["data"].to_string().contains(ISIN));
}

/// The metrics count the statuses of the past.
#[test]
fn statuses_are_counted() {
    let server = server();
    results(
        &server,
        json!(["OLD", "GONE", {"text": "OLD", "asOf": "2024-02-01"},
        {"text": "OLD", "asOf": "2023-01-01"}]),
        json!({}),
    );
    let metrics = server.request("GET", "/metrics", &[], "").body;
    for status in ["historical", "gone", "uncertain", "outOfCoverage"] {
        let line = metrics.lines().find(|line| line.contains(&format!("\"{status}\"")));
        assert!(line.is_some_and(|line| line.ends_with(" 1")), "{status}: {line:?}");
    }
}

/// contract 20.16: an index in a cluster has no past, and other jobs of a list have their answers.
#[test]
fn an_index_in_a_cluster() {
    let server = Server::of_dump(&format!("figi,ticker\n{},NOW\n", figi(1)));
    let dated = json!({"text": "NOW", "asOf": "2024-01-02"});
    let results = results(&server, json!(["NOW", dated, "NEVER"]), json!({"formerly": true}));
    let statuses: Vec<_> = results.iter().map(|one| one["status"].clone()).collect();
    assert_eq!(statuses, ["resolved", "invalid", "unknown"]);
    let reason = match server.is_in_cluster() {
        true => "an index in a cluster has no past, so asOf cannot be answered",
        false => "this index keeps no past (build it with --history)",
    };
    assert_eq!(results[1]["error"], reason);
    let no_past = json!({"error": "This index keeps no past."});
    assert_eq!(history(&server, 1, ""), (404, no_past));
}

/// contract 20.8: what the operator states has this basis, its own days and its successor, in each
/// form of an answer, and before the days of the past.
#[test]
fn stated_identifiers_are_answers() {
    let server = server();
    let (four, twelve) = (figi(4), figi(12));
    let job = json!({"idType": "TICKER", "idValue": "WENT"});
    let went = result(&server, job, json!({"fields": ["figi"]}));
    assert_eq!(
        went,
        json!({"status": "gone", "idType": "TICKER", "former": {"figi": four}, "today": null,
            "validFrom": null, "validTo": "2020-01-31", "basis": "stated", "successor": twelve})
    );
    let of_day = |text: &str, day: &str| {
        let job = json!({"text": text, "asOf": day});
        result(&server, job, json!({"fields": ["figi"]}))
    };
    let early = of_day("037833100", "2019-02-01");
    assert_eq!(
        (&early["status"], &early["data"], &early["validFrom"], &early["basis"]),
        (&json!("resolved"), &json!([{"figi": four}]), &json!("2019-02-01"), &json!("stated"))
    );
    assert_eq!(of_day("037833100", "2019-01-31")["status"], "outOfCoverage");
    let csv = server.request("POST", "/resolve?fields=figi", &[CSV], "WENT\n").body;
    assert_eq!(
        csv.lines().nth(1).unwrap(),
        format!(
            "1,WENT,gone,TICKER,0,,\"it was of {four} until 2020-01-31, which is not there any \
             more\",,{four},,,2020-01-31,stated,{twelve}"
        )
    );
}

/// contract 20.12 and 20.15: the history of an instrument lists what is stated of it, apart from what
/// was observed. Only tickers are shown by a server that hides identifiers.
#[test]
fn a_history_lists_what_is_stated() {
    let server = server();
    let (_, gone) = history(&server, 4, "");
    let ticker = json!({"idType": "TICKER", "idValue": "WENT", "validFrom": null,
        "validTo": "2020-01-31", "kind": "merger", "successor": figi(12)});
    let cusip = json!({"idType": "ID_CUSIP", "idValue": "037833100", "validFrom": "2019-02-01",
        "validTo": "2020-01-31", "kind": "merger", "successor": null});
    assert_eq!(gone["stated"], json!([ticker, cusip]));
    assert_eq!(gone["versions"][0]["basis"], "observed");
    let settings = Settings { hide_identifiers: true, ..Settings::default() };
    let hidden = Server::over(&state(true, settings), Default::default());
    assert_eq!(history(&hidden, 4, "").1["stated"], json!([ticker]));
}
