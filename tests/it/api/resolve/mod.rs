//! Contract 17: lists.

mod by_url;
mod columns;
mod crosswalk;
mod names;

use std::fmt::Write as _;

use figdex::State;
use figdex::callers::limits::Rates;
use figdex::config::Settings;
use figdex_index::IdType;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};

use self::columns::csv_rows;
use crate::support::{Server, figi, one_key};

const JSON: (&str, &str) = ("content-type", "application/json");
const CSV: (&str, &str) = ("content-type", "text/csv");
const NDJSON: (&str, &str) = ("content-type", "application/x-ndjson");

const JSON_ANSWER: &str = "application/json; charset=utf-8";

/// Two composites with their venues; a WKN that is also the ticker of another company.
const ROWS: &str = "figi,compositeFIGI,shareClassFIGI,ticker,name,exchCode,micCode,marketSector,listed,ID_ISIN,ID_WERTPAPIER,ID_CUSIP,OCC_SYMBOL\n";

fn dump() -> String {
    let mut dump = ROWS.to_owned();
    for (number, composite, share_class, ticker, name, code, mic, listed, ids) in [
        (1, 1, 901, "IBM", "IBM, \"Big\" Blue", "US", "", "true", "US4592001014,851399,459200101,"),
        (2, 1, 901, "IBM", "IBM", "UN", "XNYS", "true", "US4592001014,851399,459200101,"),
        (3, 3, 901, "IBM", "IBM", "GR", "", "true", "US4592001014,851399,459200101,"),
        (4, 3, 901, "IBM", "IBM", "GY", "XETR", "true", "US4592001014,851399,459200101,"),
        (5, 5, 902, "AAPL", "APPLE", "US", "", "true", "US0378331005,,037833100,"),
        (6, 6, 903, "851399", "ANOTHER", "JP", "", "true", ",,,"),
        (7, 7, 904, "BRK/B", "BERKSHIRE", "US", "", "true", ",,,"),
        (8, 8, 905, "HIDDEN", "UNLISTED", "US", "", "false", "US5949181045,,,"),
        (9, 9, 906, "AAPL 251219C200", "CALL", "US", "", "true", ",,,AAPL  251219C00200000"),
    ] {
        let [number, composite, share_class] = [number, composite, share_class].map(figi);
        let name = format!("\"{}\"", name.replace('"', "\"\""));
        writeln!(
            dump,
            "{number},{composite},{share_class},{ticker},{name},{code},{mic},Equity,{listed},{ids}"
        )
        .unwrap();
    }
    dump
}

fn server() -> Server {
    Server::of_dump(&dump())
}

fn limited() -> (Server, String) {
    let (keys, key) = one_key();
    let settings = Settings { rates: Some(Rates::default()), ..Settings::default() };
    let server = Server::with(&dump(), |catalogue| State::new(catalogue, settings).with_keys(keys));
    (server, key)
}

fn ask(server: &Server, body: &Value) -> Value {
    let answer = server.post("/resolve", &body.to_string());
    assert_eq!((answer.status, &*answer.content_type), (200, "application/json; charset=utf-8"));
    serde_json::from_str(&answer.body).unwrap()
}

/// The result of one job.
fn result(server: &Server, job: impl Into<Value>) -> Value {
    ask(server, &json!({"jobs": [job.into()], "fields": ["figi"]}))["results"][0].take()
}

fn data(result: &Value) -> Vec<&str> {
    let rows = result["data"].as_array().map(Vec::as_slice).unwrap_or_default();
    rows.iter().map(|row| row["figi"].as_str().unwrap()).collect()
}

/// contract 17.1, 17.3, 17.6: the shape of an answer, byte for byte.
#[test]
fn the_shape_of_an_answer() {
    let server = server();
    let body = json!({
        "jobs": ["US4592001014", {"idType": "ID_ISIN", "idValue": "US0378331005"}, "851399",
                 "US0378331013", "US4592001015"],
        "prefer": ["composite", "exchCode=LN|GR|US"],
        "fields": ["figi", "exchCode", "name"],
    });
    let answer = server.post("/resolve", &body.to_string());
    assert_eq!(answer.header("figdex-generation"), "1");
    let [ibm, apple, other] = [3, 5, 6].map(figi);
    let expected = format!(
        r#"{{"generation":1,"results":[{{"status":"resolved","idType":"ID_ISIN","by":"exchCode=LN|GR|US","data":[{{"figi":"{ibm}","exchCode":"GR","name":"IBM"}}]}},{{"status":"resolved","idType":"ID_ISIN","by":"only","data":[{{"figi":"{apple}","exchCode":"US","name":"APPLE"}}]}},{{"status":"ambiguous","idTypes":["ID_WERTPAPIER","TICKER"],"matches":2,"data":[{{"figi":"{ibm}","exchCode":"GR","name":"IBM"}},{{"figi":"{other}","exchCode":"JP","name":"ANOTHER"}}]}},{{"status":"unknown"}},{{"status":"invalid","error":"ID_ISIN: the check digit should be 4","correction":"US4592001014"}}]}}"#
    );
    assert_eq!(answer.body, expected);
    assert_eq!(ask(&server, &json!({"jobs": []})), json!({"generation": 1, "results": []}));
    let ten = ask(&server, &json!({"jobs": ["AAPL"]}));
    let v3 = server.map(&json!([{"idType": "TICKER", "idValue": "AAPL"}]));
    assert_eq!(ten["results"][0]["data"], v3[0]["data"], "the ten members of a row of v3");
}

/// contract 17.2: the readings of texts.
#[test]
fn readings() {
    let server = server();
    for (text, expected) in [
        ("us0378331005", vec![5]),
        ("037833100", vec![5]),
        (" \u{feff}AAPL\u{a0}", vec![5]),
        ("AAPL US Equity", vec![5]),
        ("IBM UN", vec![2]),
        ("IBM:XETR", vec![4]),
        ("xnys:ibm", vec![2]),
        ("IBM.DE", vec![4]),
        ("brk.b", vec![7]),
        ("BRK-B US", vec![7]),
        ("AAPL251219C00200000", vec![9]),
        ("-AAPL251219C200", vec![9]),
        ("AAPL 12/19/2025 200.00 C", vec![9]),
        ("Apple Inc. (US0378331005)", vec![5]),
        ("WKN: 865985 / ISIN: US0378331005", vec![5]),
        ("US0378331005 / 865985", vec![5]),
    ] {
        let found = result(&server, text);
        let expected: Vec<String> = expected.into_iter().map(figi).collect();
        assert_eq!(
            (&found["status"], data(&found)),
            (&json!("resolved"), expected.iter().map(|f| &**f).collect()),
            "{text} {found}"
        );
    }
    for (number, id_type) in [(1, "ID_BB_GLOBAL"), (902, "ID_BB_GLOBAL_SHARE_CLASS_LEVEL")] {
        let found = result(&server, figi(number));
        assert_eq!((&found["status"], &found["idType"]), (&json!("resolved"), &json!(id_type)));
    }
}

/// contract 14.18, 17.9: an answer that its caller may never have is 413 with the number of its rows,
/// in every form; one that fits is answered, and nothing stays counted.
#[test]
fn an_answer_that_never_fits() {
    let rows = (0..4_000).map(|number| format!("{},MANY\n", figi(number)));
    let dump = format!("figi,ticker\n{}", rows.collect::<String>());
    // An address may have an eighth.
    let settings = Settings { answers_bytes_max: 32 << 20, ..Settings::default() };
    let server = Server::with(&dump, |engine| State::new(engine, settings));
    let padded = format!("MANY{}", " ".repeat(110));
    let list = |text: &str| format!("{text}\n{text}\n{text}\n");
    for (accept, lines, fits) in [
        ("text/csv", list("MANY"), true),
        ("text/csv", list(&padded), true),
        ("text/csv", list(&padded).repeat(3), false),
        ("application/x-ndjson", list("MANY").repeat(3), false),
        ("application/json", list("MANY").repeat(3), false),
        ("application/json", "MANY\n".to_owned(), true),
    ] {
        let headers = [CSV, ("accept", accept)];
        let answer = server.request("POST", "/resolve?many=all", &headers, &lines);
        let rows = 4_000 * lines.lines().count();
        if fits {
            assert_eq!(answer.status, 200, "{accept} {rows}");
            continue;
        }
        assert_eq!((answer.status, &*answer.content_type), (413, JSON_ANSWER), "{accept}");
        let said = format!("The answer has {rows} rows, which take more than {} bytes.", 4 << 20);
        assert!(answer.body.contains(&said), "{accept} {}", answer.body);
    }
    let job = json!({"idType": "TICKER", "idValue": "MANY"});
    let answer = server.post("/v3/mapping", &json!([job, job, job, job, job, job]).to_string());
    assert_eq!((answer.status, &*answer.body), (413, "Payload too large."));
    assert_eq!(answer.header("figdex-rows"), "24000");
    let metrics = server.request("GET", "/metrics", &[], "").body;
    assert!(metrics.contains("figdex_budget_used_bytes{budget=\"answers\"} 0\n"), "{metrics}");
}

/// contract 17.11: what is invalid, unknown, and corrected.
#[test]
fn statuses() {
    let server = server();
    for (job, status, reason, correction) in [
        (json!(""), "invalid", "blank", None),
        (json!("x".repeat(65)), "invalid", "65 bytes", None),
        (json!(7), "invalid", "a text or an object", None),
        (json!("US4592001015"), "invalid", "check digit should be 4", Some("US4592001014")),
        (json!("US0378330105"), "invalid", "check digit should be", Some("US0378331005")),
        (json!("GB0002634947"), "invalid", "check digit should be 6", Some("GB0002634946")),
        (json!("3.78E+08"), "invalid", "spreadsheet", None),
        (json!("ZZZZ"), "unknown", "", None),
        (json!("GB0002634946"), "unknown", "", None),
        (
            json!({"idType": "ID_ISIN", "idValue": "US459200101"}),
            "invalid",
            "expected two letters",
            None,
        ),
        (
            json!({"idType": "ID_CUSIP", "idValue": 459_200_102}),
            "invalid",
            "check digit should be 1",
            Some("459200101"),
        ),
        (
            json!({"idType": "ID_SEDOL", "idValue": 263_495}),
            "invalid",
            "check digit should be 4",
            Some("0263494"),
        ),
        (json!({"idType": "ID_NONE", "idValue": "x"}), "invalid", "Invalid value for idType", None),
        (json!({"idValue": "x"}), "invalid", "idType is required", None),
        (
            json!({"idType": "TICKER", "idValue": "IBM", "exchCode": "XX"}),
            "invalid",
            "exchCode: \"XX\" is not one of its values",
            None,
        ),
        (
            json!({"idType": "TICKER", "idValue": "IBM", "colour": "red"}),
            "invalid",
            "Invalid key 'colour'",
            None,
        ),
        (
            json!({"idType": "BASE_TICKER", "idValue": "IBM"}),
            "invalid",
            "securityType2 or marketSecDes is required",
            None,
        ),
    ] {
        let found = result(&server, job.clone());
        assert_eq!(found["status"], status, "{job} {found}");
        let error = found["error"].as_str().unwrap_or_default();
        assert!(error.contains(reason) && error.is_empty() == reason.is_empty(), "{found}");
        assert_eq!(found["correction"].as_str(), correction, "{job} {found}");
    }
}

/// contract 17.5: `includeUnlistedEquities` for all jobs.
#[test]
fn unlisted_equities() {
    let server = server();
    for job in [json!("HIDDEN"), json!({"idType": "ID_ISIN", "idValue": "US5949181045"})] {
        assert_eq!(result(&server, job.clone())["status"], "unknown");
        let body = json!({"jobs": [job], "includeUnlistedEquities": true, "fields": ["figi"]});
        assert_eq!(ask(&server, &body)["results"][0]["status"], "resolved");
    }
}

/// contract 17.5, 17.10: steps in order, each only where it fits; none by default.
#[test]
fn steps() {
    let server = server();
    for (prefer, status, by, numbers) in [
        (vec![], "ambiguous", None, vec![1, 3, 2, 4]),
        (vec!["composite"], "ambiguous", None, vec![1, 3]),
        (vec!["composite", "exchCode=US"], "resolved", Some("exchCode=US"), vec![1]),
        (vec!["exchCode=GY|US", "composite"], "resolved", Some("exchCode=GY|US"), vec![4]),
        (vec!["exchCode=ZZ|XX", "micCode=XNYS"], "resolved", Some("micCode=XNYS"), vec![2]),
        (vec!["exchCode=ZZ"], "ambiguous", None, vec![1, 3, 2, 4]),
    ] {
        let body = json!({"jobs": ["US4592001014"], "prefer": prefer, "fields": ["figi"]});
        let found = ask(&server, &body)["results"][0].take();
        assert_eq!((&found["status"], found["by"].as_str()), (&json!(status), by), "{body}");
        let mut expected: Vec<String> = numbers.into_iter().map(figi).collect();
        let mut found = data(&found);
        expected.sort();
        found.sort_unstable();
        assert_eq!(found, expected, "{body}");
    }
}

/// contract 17.5, 17.9: a wrong option, member or body is a 400 that says what is wrong.
#[test]
fn faults_of_the_whole_request() {
    let server = server();
    let check = |path: &str, header, body: &str, part: &str| {
        let answer = server.request("POST", path, &[header], body);
        assert_eq!(
            (answer.status, &*answer.content_type),
            (400, "application/json; charset=utf-8"),
            "{path} {body}"
        );
        let error: Value = serde_json::from_str(&answer.body).unwrap();
        assert!(error["error"].as_str().unwrap().contains(part), "{body} {error}");
    };
    for (body, part) in [
        ("", "JSON object"),
        ("[]", "JSON object"),
        ("{\"jobs\":[]", "JSON object"),
        ("{}", "jobs is required"),
        (r#"{"jobs":{}}"#, "jobs must be an array"),
        (r#"{"jobs":[],"prefer":["nearest"]}"#, "\"nearest\" is not a step"),
        (r#"{"jobs":[],"prefer":"composite"}"#, "prefer must be an array of at most 16 texts"),
        (r#"{"jobs":[],"fields":"figi"}"#, "fields must be an array of at most 64 texts"),
        (r#"{"jobs":[],"jobs":[]}"#, "jobs is given twice"),
        (r#"{"jobs":[],"headings":["a"]}"#, "headings are those of columns"),
        (r#"{"columns":[["a"]],"headings":[1]}"#, "headings must be an array of at most 64 texts"),
        (r#"{"jobs":[],"prefer":["colour=red"]}"#, "\"colour=red\" is not a step"),
        (r#"{"jobs":[],"prefer":["exchCode="]}"#, "empty value"),
        (r#"{"jobs":[],"fields":["price"]}"#, "\"price\" is not a field"),
        (r#"{"jobs":[],"fields":["figi","figi"]}"#, "twice"),
        (r#"{"jobs":[],"many":"some"}"#, "many must be none or all"),
        (r#"{"jobs":[],"includeUnlistedEquities":1}"#, "must be true or false"),
        (r#"{"jobs":[],"colour":1}"#, "Invalid key 'colour'"),
        (r#"{"columns":[["a"],"b"]}"#, "columns must be"),
        (r#"{"columns":[[1]]}"#, "columns must be"),
    ] {
        check("/resolve", JSON, body, part);
    }
    check("/resolve?many=all", JSON, r#"{"jobs":[],"many":"all"}"#, "many is given twice");
    check("/resolve?fields=figi&fields=name", CSV, "", "fields is given twice");
    check("/resolve?colour=red", CSV, "", "Invalid key 'colour'");
    check("/resolve", NDJSON, "\"IBM\"\nIBM\n", "Line 2");
    check("/resolve", CSV, "a,b\n1,2\n", "2 cells");
    check("/resolve", CSV, "idValue,idValue\n1,2\n", "idValue is given twice");
    check("/resolve", CSV, "IBM\n\"a\n\nb\"\n\"c\nd", "on line 5 has a quoted cell that never");
    check("/resolve", JSON, "\u{1}", "JSON object");
    for body in [r#"{"jobs":[],"prefer":["?"]}"#, r#"{"jobs":[],"prefer":["exchCode=?|"]}"#] {
        // A step is answered with each resolved job, and named in faults.
        check("/resolve", JSON, &body.replace('?', &"x".repeat(4097)), "4096 bytes are allowed");
    }
    let headers = [JSON, ("accept", "text/csv")];
    let body = r#"{"columns":[["a"]]}"#;
    let answer = server.request("POST", "/resolve", &headers, body);
    assert_eq!((answer.status, answer.body.contains("in JSON only")), (400, true));
    let answer = server.request("POST", "/resolve", &[CSV], b"\xff\n");
    assert_eq!(
        (answer.status, &*answer.body),
        (400, r#"{"error":"The body is not UTF-8. It must not be compressed either."}"#)
    );
}

/// contract 17.1: the checks and types that a request passes.
#[test]
fn checks() {
    let server = server();
    let body = r#"{"jobs":["AAPL"],"fields":["figi"]}"#;
    for (method, headers, status) in [
        ("PUT", vec![JSON], 405),
        ("POST", vec![], 415),
        ("POST", vec![("content-type", "text/plain")], 415),
        ("POST", vec![("content-type", "text/csv; charset=latin1")], 415),
        ("POST", vec![JSON, ("accept", "text/html")], 406),
        ("POST", vec![JSON, ("accept", "*/*")], 200),
        ("POST", vec![JSON, ("x-openfigi-apikey", "wrong")], 401),
    ] {
        let answer = server.request(method, "/resolve", &headers, body);
        assert_eq!(answer.status, status, "{method} {headers:?}");
        if status == 415 {
            assert_eq!(answer.content_type, "application/json; charset=utf-8");
            let text = "text/json, text/csv or application/x-ndjson, with no charset other than";
            assert!(answer.body.contains(text), "{}", answer.body);
        }
    }
    for (accept, media_type) in [
        ("text/csv", "text/csv; charset=utf-8"),
        ("application/x-ndjson", "application/x-ndjson; charset=utf-8"),
        ("text/csv;q=0.5, application/json", "application/json; charset=utf-8"),
        ("text/*", "text/csv; charset=utf-8"),
    ] {
        let answer = server.request("POST", "/resolve", &[JSON, ("accept", accept)], body);
        // `text/*` takes text/json as well: among equals the form of the body.
        let media_type =
            if accept == "text/*" { "application/json; charset=utf-8" } else { media_type };
        assert_eq!((answer.status, &*answer.content_type), (200, media_type), "{accept}");
        assert_eq!(answer.header("figdex-generation"), "1");
    }
}

/// contract 17.1, 17.6: the three forms hold the same results.
#[test]
fn forms_agree() {
    let server = server();
    let texts = ["US4592001014", "AAPL", "ZZZZ", "US4592001015", "851399"];
    let json = ask(&server, &json!({"jobs": texts, "fields": ["figi"]}));
    let lines: String = texts.iter().map(|text| format!("\"{text}\"\n\n")).collect();
    let answer = server.request("POST", "/resolve?fields=figi", &[NDJSON], &lines);
    let of_lines: Vec<Value> =
        answer.body.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(json["results"], Value::from(of_lines));
    let csv =
        server.request("POST", "/resolve?fields=figi", &[NDJSON, ("accept", "text/csv")], &lines);
    let statuses: Vec<String> =
        csv_rows(&csv).into_iter().skip(1).map(|row| row[2].clone()).collect();
    let expected: Vec<&str> = json["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["status"].as_str().unwrap())
        .collect();
    assert_eq!(statuses, expected);
    let packed = server.request(
        "POST",
        "/resolve?fields=figi",
        &[NDJSON, ("accept-encoding", "gzip")],
        &lines,
    );
    assert_eq!(packed.body, answer.body);
}

/// contract 17.8: what a list counts, and what is too much.
#[test]
fn limits() {
    let (server, key) = limited();
    let list = |jobs: usize| json!({"jobs": vec!["ZZZZ"; jobs]}).to_string();
    let from = |peer: &str, jobs: usize| {
        server.request_from(peer, "POST", "/resolve", &[JSON], list(jobs))
    };
    for (jobs, remaining) in [(1, "24"), (10, "23"), (11, "21"), (0, "20")] {
        let answer = from("192.0.2.1", jobs);
        assert_eq!((answer.status, answer.header("ratelimit-remaining")), (200, remaining));
    }
    assert_eq!(from("192.0.2.1", 201).status, 429, "21 requests, of which 20 are left");
    let answer = from("192.0.2.2", 250);
    assert_eq!((answer.status, answer.header("ratelimit-remaining")), (200, "0"));
    assert_eq!(answer.header("figdex-jobs-per-request"), "10");
    assert_eq!(answer.header("figdex-jobs-per-list"), "250", "a whole window has no more");
    assert_eq!(from("192.0.2.2", 1).status, 429);
    let answer = from("192.0.2.3", 251);
    assert_eq!(answer.status, 413);
    assert!(answer.body.contains("has 251 jobs; at most 250 are allowed"), "{}", answer.body);
    assert_eq!(answer.header("figdex-jobs-per-list"), "250");
    let answer = from("192.0.2.4", 1_001);
    assert_eq!((answer.status, answer.header("figdex-jobs-per-list")), (413, "250"));
    assert!(answer.body.contains("more than 1000 jobs; at most 250 are"), "{}", answer.body);
    let with_key = |jobs| {
        let headers = [JSON, ("x-openfigi-apikey", &*key)];
        server.request("POST", "/resolve", &headers, list(jobs))
    };
    let answer = with_key(2_500);
    assert_eq!(answer.header("ratelimit-remaining"), "0");
    assert_eq!(answer.header("figdex-jobs-per-request"), "100");
    assert_eq!(answer.header("figdex-jobs-per-list"), "2500");
    assert_eq!(with_key(2_501).status, 429);

    let server = self::server();
    let answer = server.post("/resolve", &list(1_000));
    assert_eq!((answer.status, answer.header("figdex-jobs-per-list")), (200, "1000"));
    assert!(!answer.headers.contains_key("figdex-jobs-per-request"), "none are counted");
    let answer = server.post("/resolve", &list(1_001));
    assert_eq!(answer.status, 413, "without rates the number of jobs is bounded all the same");
    assert!(answer.body.contains("more than 1000 jobs; at most 1000 are"), "{}", answer.body);
    assert_eq!(answer.header("figdex-jobs-per-list"), "1000");
}

/// contract 17.8: mapping requests of v3 count in the same window.
#[test]
fn the_window_is_that_of_mapping() {
    let (server, _) = limited();
    let peer = "192.0.2.9";
    let job = r#"[{"idType":"TICKER","idValue":"IBM"}]"#;
    let answer = server.request_from(peer, "POST", "/v3/mapping", &[JSON], job);
    assert_eq!(answer.header("ratelimit-remaining"), "24");
    let answer = server.request_from(peer, "POST", "/resolve", &[JSON], r#"{"jobs":["IBM"]}"#);
    assert_eq!(answer.header("ratelimit-remaining"), "23");
}

/// contract 17.11: each answer agrees with v3's mapping over the same index.
#[test]
fn answers_agree_with_mapping() {
    let server = server();
    let job = (
        prop::sample::select(IdType::ALL.to_vec()),
        prop::sample::select(vec![
            "US4592001014",
            "US0378331005",
            "851399",
            "459200101",
            "IBM",
            "AAPL",
            "BRK/B",
            "ZZZZ",
            "AAPL  251219C00200000",
            "US4592001015",
            "HIDDEN",
            "",
        ]),
        prop::option::of(prop::sample::select(vec!["US", "GR", "UN", "GY", "JP"])),
        any::<bool>(),
    );
    let mut runner = TestRunner::new(Config::with_cases(300));
    runner
        .run(&job, |(id_type, value, code, unlisted)| {
            let mut job = json!({"idType": id_type.name(), "idValue": value});
            if let Some(code) = code {
                job["exchCode"] = code.into();
            }
            if unlisted {
                job["includeUnlistedEquities"] = true.into();
            }
            let mapped = server.map(&json!([job]))[0].take();
            let body = json!({"jobs": [job], "many": "all"});
            let listed = ask(&server, &body)["results"][0].take();
            let sorted = |answer: &Value| {
                let mut rows: Vec<String> = answer["data"]
                    .as_array()
                    .map(Vec::as_slice)
                    .unwrap_or_default()
                    .iter()
                    .map(Value::to_string)
                    .collect();
                rows.sort();
                rows
            };
            prop_assert_eq!(sorted(&mapped), sorted(&listed), "{}", job);
            let status = match (mapped.get("error"), sorted(&mapped).len()) {
                (Some(_), _) => "invalid",
                (None, 0) => "unknown",
                (None, 1) => "resolved",
                (None, _) => "ambiguous",
            };
            prop_assert_eq!(&listed["status"], status, "{}", job);
            Ok(())
        })
        .unwrap();
}

/// contract 17.6: at most ten candidates, all rows with `many`.
#[test]
fn candidates() {
    let mut dump = ROWS.to_owned();
    for number in 1..=14 {
        let figi = figi(number);
        writeln!(dump, "{figi},,,MANY,NAME,X{number:02},,Equity,true,,,,").unwrap();
    }
    let server = Server::of_dump(&dump);
    let found = result(&server, "MANY");
    assert_eq!((&found["matches"], data(&found).len()), (&json!(14), 10));
    let all = ask(&server, &json!({"jobs": ["MANY"], "many": "all"}));
    assert_eq!(data(&all["results"][0]).len(), 14);
}
