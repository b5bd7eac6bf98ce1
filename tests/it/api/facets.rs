//! Contract 16.11 to 16.13, and 8.17: the rows that a question finds in numbers, and levels.

use std::collections::BTreeMap;

use figdex::State;
use figdex::callers::limits::Rates;
use figdex::config::Settings;
use figdex_io::Layout;
use figdex_universe::Universe;
use serde_json::{Value, json};

use super::search::dump;
use crate::support::{Answer, Server, figis};

fn get(server: &Server, query: &str) -> Answer {
    server.request("GET", &format!("/facets{query}"), &[], "")
}

/// An answer with status 200.
fn facets(server: &Server, query: &str) -> Value {
    let answer = get(server, query);
    assert_eq!(answer.status, 200, "{query} {}", answer.body);
    serde_json::from_str(&answer.body).unwrap()
}

/// The rows of all pages of a filter, with the properties that are not in a row.
fn filtered(server: &Server, body: &Value) -> Vec<Value> {
    let mut rows = Vec::new();
    let mut body = body.clone();
    loop {
        let json = [("content-type", "application/json")];
        let answer = server.request("POST", "/v3/filter", &json, body.to_string());
        let answer: Value = serde_json::from_str(&answer.body).unwrap();
        for row in answer["data"].as_array().unwrap_or_else(|| panic!("{answer}")) {
            let figi = row["figi"].as_str().unwrap();
            let path = format!("/instruments/{figi}");
            let whole = server.request("GET", &path, &[], "").body;
            rows.push(serde_json::from_str::<Value>(&whole).unwrap()["instrument"].clone());
        }
        match answer.get("next") {
            Some(next) => body["start"] = next.clone(),
            None => return rows,
        }
    }
}

fn level(row: &Value) -> &'static str {
    match (&row["compositeFIGI"], &row["shareClassFIGI"]) {
        (composite, _) if *composite == row["figi"] => "composite",
        (Value::String(_), _) => "venue",
        (_, Value::String(_)) => "listing",
        _ => "single",
    }
}

/// contract 16.11, 16.12, 8.17: what is counted is what a filter with the same question finds.
#[test]
fn counts_are_those_of_the_rows() {
    let server = Server::of_dump(&dump());
    let names = ["level", "exchCode", "marketSecDes", "currency", "securityType", "micCode"];
    let mut found = 0;
    for (query, body) in [
        ("", json!({"includeUnlistedEquities": false})),
        ("&includeUnlistedEquities=true", json!({"includeUnlistedEquities": true})),
        ("&query=ibm", json!({"query": "ibm"})),
        ("&query=deutsche+bank", json!({"query": "deutsche bank"})),
        ("&exchCode=US", json!({"exchCode": "US"})),
        ("&exchCode=US&exchCode=GR", json!({"exchCode": ["US", "GR"]})),
        ("&marketSecDes=Equity&query=us", json!({"marketSecDes": "Equity", "query": "us"})),
        ("&level=composite", json!({"level": "composite"})),
        ("&level=venue&level=single", json!({"level": ["single", "venue"]})),
        ("&level=listing&query=ibm", json!({"level": "listing", "query": "ibm"})),
        ("&strike=100..", json!({"strike": [100, null]})),
        ("&strike=..90.5", json!({"strike": [null, 90.5]})),
        ("&expiration=2025-01-01..2025-12-31", json!({"expiration": ["2025-01-01", "2025-12-31"]})),
        ("&query=nothinghasthis", json!({"query": "nothinghasthis"})),
    ] {
        let answer = facets(&server, &format!("?properties={}{query}", names.join(",")));
        let rows = filtered(&server, &body);
        found += usize::from(!rows.is_empty());
        assert_eq!(answer["total"], rows.len(), "{query}");
        for name in names {
            let mut expected = BTreeMap::<&str, u64>::new();
            for row in &rows {
                let value = match name {
                    "level" => Some(level(row)),
                    "marketSecDes" => row["marketSector"].as_str(),
                    name => row[name].as_str(),
                };
                if let Some(value) = value {
                    *expected.entry(value).or_default() += 1;
                }
            }
            let facet = &answer["facets"][name];
            let values = facet["values"].as_array().unwrap();
            let count = |value: &Value| value["count"].as_u64().unwrap();
            assert!(values.is_sorted_by(|a, b| count(a) >= count(b)), "{query} {facet}");
            let counts: BTreeMap<&str, u64> =
                values.iter().map(|it| (it["value"].as_str().unwrap(), count(it))).collect();
            assert_eq!(counts, expected, "{query} {name}");
            assert_eq!(facet["distinct"], expected.len());
            assert_eq!(facet["without"], rows.len() as u64 - expected.values().sum::<u64>());
        }
    }
    assert!(found >= 10, "{found} questions found something");
}

/// contract 16.11: the shape of an answer, and the limit of its values.
#[test]
fn the_shape_of_an_answer() {
    let server = Server::of_dump(&dump());
    let answer = get(&server, "?query=deutsche+bank&properties=exchCode,optionType&limit=1");
    assert_eq!(answer.content_type, "application/json; charset=utf-8");
    let whole: Value = serde_json::from_str(&answer.body).unwrap();
    let first = &whole["facets"]["exchCode"]["values"][0];
    let expected = format!(
        r#"{{"total":{},"facets":{{"exchCode":{{"values":[{{"value":{},"count":{}}}],"distinct":{},"without":{}}},"optionType":{{"values":[],"distinct":0,"without":{}}}}}}}"#,
        whole["total"],
        first["value"],
        first["count"],
        whole["facets"]["exchCode"]["distinct"],
        whole["facets"]["exchCode"]["without"],
        whole["total"],
    );
    assert_eq!(answer.body, expected);
    assert!(whole["facets"]["exchCode"]["distinct"].as_u64() > Some(1), "{whole}");
    let names: Vec<String> =
        facets(&server, "")["facets"].as_object().unwrap().keys().cloned().collect();
    assert_eq!(names, ["currency", "exchCode", "level", "securityType2"], "by default");
    for method in ["HEAD", "POST"] {
        let answer = server.request(method, "/facets", &[], "");
        assert_eq!(answer.status, if method == "HEAD" { 200 } else { 405 });
    }
}

/// contract 16.12: each fault is named.
#[test]
fn faults() {
    let server = Server::of_dump(&dump());
    let names =
        "properties must be names of enum-like properties, or level, each once, joined by commas.";
    for (query, text) in [
        ("?properties=", names),
        ("?properties=name", names),
        ("?properties=level,level", names),
        ("?properties=level&properties=level", "properties must not be repeated."),
        ("?limit=0", "limit must be a number from 1 to 10000."),
        ("?limit=1&limit=2", "limit must not be repeated."),
        ("?query=", "query must be a non-empty string."),
        ("?exchCode=nowhere", "Invalid value for exchCode."),
        ("?level=share", "Invalid value for level."),
        ("?start=1", "Invalid key 'start'."),
        ("?strike=5", "strike must be two numbers joined by .., of which one may be left out."),
        ("?strike=a..", "strike must be two numbers joined by .., of which one may be left out."),
        ("?strike=..", "strike: at least one entry must not be null."),
        ("?strike=1..&strike=2..", "strike must not be repeated."),
        ("?coupon=2..1", "coupon: the first entry must not be greater than the second."),
        (
            "?maturity=2026..",
            "maturity must be two dates YYYY-MM-DD joined by .., of which one may be left out.",
        ),
    ] {
        let answer = get(&server, query);
        let expected = json!({ "error": text }).to_string();
        assert_eq!((answer.status, &*answer.body), (400, &*expected), "{query}");
    }
    for query in ["?query=%FF%FE", "?query=%", "?%00=%00", "?properties=%F0%9F%98%80", "?=&&&"] {
        assert!(matches!(get(&server, query).status, 200 | 400), "{query}");
    }
}

/// contract 16.13: it counts in the window of suggestions.
#[test]
fn the_window_of_suggestions() {
    let settings = Settings { rates: Some(Rates::default()), ..Settings::default() };
    let server = Server::with(&dump(), |catalogue| State::new(catalogue, settings));
    for (path, remaining) in [("/suggest?query=app", "599"), ("/facets", "598")] {
        let answer = server.request_from("192.0.2.1", "GET", path, &[], "");
        assert_eq!((answer.status, answer.header("ratelimit-remaining")), (200, remaining));
    }
}

/// contract 8.13, 8.17: levels narrow a search, and their fault comes before those of properties.
#[test]
fn levels_of_searches() {
    let server = Server::of_dump(&dump());
    let json = [("content-type", "application/json")];
    let ask = |path: &str, body: &Value| -> Value {
        let answer = server.request("POST", path, &json, body.to_string());
        assert_eq!(answer.status, 200, "{body} {}", answer.body);
        serde_json::from_str(&answer.body).unwrap()
    };
    let all = ask("/v3/search", &json!({"query": "deutsche bank"}));
    let of = |wanted: &[&str]| -> Vec<String> {
        let rows = all["data"].as_array().unwrap().iter();
        let rows = rows.filter(|row| wanted.contains(&level(row)));
        rows.map(|row| row["figi"].as_str().unwrap().to_owned()).collect()
    };
    for levels in [&["composite"][..], &["venue"], &["composite", "venue"], &["single"]] {
        let body = json!({"query": "deutsche bank", "level": levels});
        for path in ["/v3/search", "/v2/search"] {
            assert_eq!(figis(&ask(path, &body)), of(levels), "{levels:?}");
        }
    }
    assert!(!of(&["composite"]).is_empty() && !of(&["venue"]).is_empty(), "{all}");
    let fault = "level must be composite, venue, listing or single, or an array of these.";
    for level in [json!("share class"), json!([]), json!(["venue", 1]), json!({}), json!(1)] {
        let answer = ask("/v3/filter", &json!({"level": level, "strike": "bad"}));
        assert_eq!(answer, json!({ "error": fault }));
    }
    let none = ask("/v3/filter", &json!({"level": null}));
    assert_eq!(none["error"], "query must contain at least one parameter");
    // A job has no level.
    let jobs = json!([{"idType": "TICKER", "idValue": "IBM", "level": "venue"}]);
    assert_eq!(ask("/v3/mapping", &jobs)[0]["error"], "Invalid key 'level'.");
    let settings = Settings { strict_contract: true, ..Settings::default() };
    let strict = Server::with(&dump(), |catalogue| State::new(catalogue, settings));
    let answer = strict.request("POST", "/v3/filter", &json, r#"{"level":"venue"}"#);
    assert_eq!(answer.body, r#"{"error":"Invalid key 'level'."}"#);
}

/// contract 16.11: the rows of frequent words are verified together, those of rare words one by one;
/// both count what a filter finds.
#[test]
fn counts_of_frequent_and_rare_words() {
    let mut dump = Vec::new();
    Universe::new(4_000, 1).write(Layout::Csv, &mut dump).unwrap();
    let server = Server::of_dump(&String::from_utf8(dump).unwrap());
    let total = |body: &Value| {
        let json = [("content-type", "application/json")];
        let answer = server.request("POST", "/v3/filter", &json, body.to_string());
        let answer: Value = serde_json::from_str(&answer.body).unwrap();
        answer["total"].as_u64().unwrap_or_else(|| panic!("{body} {answer}"))
    };
    let bonds = json!({"marketSecDes": "Corp"}).to_string();
    let rows = server.request("POST", "/v3/filter", &[("content-type", "application/json")], bonds);
    let rows: Value = serde_json::from_str(&rows.body).unwrap();
    let tickers = rows["data"].as_array().unwrap().iter().filter_map(|row| row["ticker"].as_str());
    let words: Vec<&str> = ["calls", "puts", "us"].into_iter().chain(tickers.step_by(9)).collect();
    let (mut rare, mut frequent) = (0, 0);
    for word in words {
        for narrowed in [json!({}), json!({"exchCode": "US"}), json!({"securityType2": "Option"})] {
            let mut query = form_urlencoded::Serializer::new(String::from("?"));
            query.append_pair("query", word).append_pair("properties", "exchCode,securityType2");
            let mut body = json!({"query": word});
            for (name, value) in narrowed.as_object().unwrap() {
                query.append_pair(name, value.as_str().unwrap());
                body[name] = value.clone();
            }
            let answer = facets(&server, &query.finish());
            assert_eq!(answer["total"], total(&body), "{body}");
            rare += u32::from((1..=7).contains(&answer["total"].as_u64().unwrap()));
            frequent += u32::from(answer["total"].as_u64().unwrap() > 7);
            for name in ["exchCode", "securityType2"] {
                for value in answer["facets"][name]["values"].as_array().unwrap() {
                    let mut body = body.clone();
                    body[name] = value["value"].clone();
                    assert_eq!(value["count"], total(&body), "{body}");
                }
            }
        }
    }
    assert!(rare > 5 && frequent > 5, "{rare} of rare words, {frequent} of frequent ones");
}
