//! Contract 16.17 to 16.21: what a person means by a text, and the rows that a search for it finds.

use std::collections::HashSet;
use std::sync::LazyLock;

use figdex::State;
use figdex::callers::limits::Rates;
use figdex::commands::explain::explain;
use figdex::config::{Settings, UnknownEnum};
use figdex_index::Catalogue;
use figdex_ingest::{Build, Input};
use figdex_io::Layout;
use figdex_universe::Universe;
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};

use super::search::dump;
use crate::support::{Answer, Server, build_of, figi, figis};

fn get(server: &Server, path: &str, parameters: &[(&str, &str)]) -> Answer {
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.extend_pairs(parameters);
    server.request("GET", &format!("{path}?{}", query.finish()), &[], "")
}

/// An answer with status 200.
fn ask(server: &Server, path: &str, parameters: &[(&str, &str)]) -> Value {
    let answer = get(server, path, parameters);
    let is_json = answer.content_type == "application/json; charset=utf-8";
    assert!(answer.status == 200 && is_json, "{parameters:?} {}", answer.body);
    serde_json::from_str(&answer.body).unwrap()
}

fn find(server: &Server, text: &str) -> Value {
    ask(server, "/find", &[("query", text)])
}

/// The bytes of `data` in an answer of `/v3/search` or of `/find`.
fn data(body: &str) -> &str {
    let from = body.find("\"data\":[").unwrap();
    let mut depth = 0;
    let mut is_quoted = false;
    let mut bytes = body.bytes().enumerate().skip(from + 7);
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'\\' if is_quoted => _ = bytes.next(),
            b'"' => is_quoted = !is_quoted,
            b'[' if !is_quoted => depth += 1,
            b']' if !is_quoted => {
                depth -= 1;
                if depth == 0 {
                    return &body[from..=at];
                }
            }
            _ => {}
        }
    }
    panic!("{body}");
}

fn search(server: &Server, body: &Value) -> String {
    let json = [("content-type", "application/json")];
    let answer = server.request("POST", "/v3/search", &json, body.to_string());
    assert_eq!(answer.status, 200, "{body} {}", answer.body);
    answer.body
}

fn security(row: &Value) -> String {
    let own = ["shareClassFIGI", "compositeFIGI", "figi"].map(|name| row[name].as_str());
    own.into_iter().flatten().next().unwrap().to_owned()
}

fn securities(answer: &Value) -> Vec<String> {
    answer["securities"].as_array().unwrap().iter().map(security).collect()
}

/// contract 16.18, 16.19: the members of an answer, and their order.
#[test]
fn the_shape_of_an_answer() {
    let server = Server::of_dump(&dump());
    let text = "aapl jan 2025 155 call";
    let body = get(&server, "/find", &[("query", text)]).body;
    let row = format!(
        r#""figi":"{}","name":"January 25 Calls on AAPL US","ticker":"AAPL 01/17/25 C155","exchCode":"US","compositeFIGI":"{}","securityType":"Equity Option","marketSector":"Equity","shareClassFIGI":null,"securityType2":"Option","securityDescription":null"#,
        figi(4),
        figi(4)
    );
    let reading = r#"{"query":"aapl","chips":[{"text":"jan 2025","property":"expiration","interval":["2025-01-01","2025-01-31"],"without":"aapl 155 call"},{"text":"155","property":"strike","interval":[155,155],"without":"aapl jan 2025 call"},{"text":"call","property":"optionType","values":["Call"],"without":"aapl jan 2025 155"}],"filters":{"optionType":["Call"],"strike":[155,155],"expiration":["2025-01-01","2025-01-31"]}}"#;
    let expected = format!(
        r#"{{"reading":{reading},"securities":[{{{row},"listings":1,"matched":["ticker","name"],"isGuess":false}}],"data":[{{{row}}}]}}"#
    );
    assert_eq!(body, expected);
    let nothing = get(&server, "/find", &[("query", "zzzzzz")]);
    assert_eq!(nothing.body, r#"{"securities":[],"data":[]}"#);
    for (method, status) in [("HEAD", 200), ("POST", 405)] {
        let answer = server.request(method, "/find?query=ibm", &[], "");
        assert_eq!(answer.status, status);
        assert!(method == "HEAD" || answer.allow.as_deref() == Some("GET, HEAD"));
    }
    // A wrong check digit is reported as in suggestions.
    let wrong = find(&server, "US0378331006");
    assert_eq!(wrong["correction"], "US0378331005");
    assert!(wrong["finding"].as_str().unwrap().contains("check digit"), "{wrong}");
}

/// contract 16.17: forms, terms and places narrow the question, in suggestions too; what they
/// narrow it to is what a search of the reading finds.
#[test]
fn texts_are_read() {
    let server = Server::of_dump(&dump());
    for (text, words, filters, first) in [
        ("AAPL US Equity", "AAPL", json!({"exchCode": ["US"], "marketSecDes": ["Equity"]}), 1),
        ("AAPL:XNAS", "AAPL", json!({"micCode": ["XNAS"]}), 2),
        ("aapl xnas", "aapl", json!({"micCode": ["XNAS"]}), 2),
        (
            "aapl 05/20/26 call",
            "aapl",
            json!({"optionType": ["Call"], "expiration": ["2026-05-20", "2026-05-20"]}),
            15,
        ),
        (
            "apple 5.90 1995",
            "apple",
            json!({"coupon": [5.9, 5.9], "maturity": ["1995-01-01", "1995-12-31"]}),
            3,
        ),
        ("apple may 1995", "apple", json!({"expiration": ["1995-05-01", "1995-05-31"]}), 3),
    ] {
        let found = find(&server, text);
        let reading = &found["reading"];
        assert_eq!((&reading["query"], &reading["filters"]), (&json!(words), &filters), "{text}");
        assert_eq!(found["securities"][0]["figi"], figi(first), "{text} {found}");
        let mut asked = filters;
        asked["query"] = words.into();
        let searched: Value = serde_json::from_str(&search(&server, &asked)).unwrap();
        assert_eq!(found["data"], searched["data"], "{text}");
        let suggested = ask(&server, "/suggest", &[("query", text)]);
        assert_eq!(&suggested["reading"], reading, "{text}");
        assert_eq!(security(&suggested["data"][0]), security(&found["securities"][0]), "{text}");
    }
    let place = find(&server, "deutsche bank germany");
    assert_eq!(place["reading"]["query"], "deutsche bank", "{place}");
    assert_eq!(place["reading"]["chips"][0]["text"], "germany");
    assert_eq!(figis(&json!({"data": place["data"]})), [figi(6), figi(7)]);
    // Removing a chip is asking without its text.
    let without = place["reading"]["chips"][0]["without"].as_str().unwrap();
    assert_eq!(figis(&find(&server, without)).len(), 3);
    // A term that nothing fits is left out.
    let left_out = find(&server, "aapl jan 2025 999 call");
    assert_eq!(left_out["reading"]["leftOut"], json!(["999"]), "{left_out}");
    assert_eq!(left_out["securities"][0]["figi"], figi(4));
    // So are the words next to the only identifier of a text, which narrows nothing.
    for text in ["WKN: 865985 / ISIN: US0378331005", "US0378331005 (865985)"] {
        let found = find(&server, text);
        let reading = &found["reading"];
        assert_eq!((&reading["query"], &reading["chips"]), (&json!("US0378331005"), &json!([])));
        assert_eq!(reading["filters"], json!({}), "{found}");
        assert_eq!(figis(&found), [figi(1), figi(2)], "{found}");
        assert_eq!(found["securities"][0]["matched"], json!(["identifier"]));
    }
    let only = find(&server, "WKN: 865985 / ISIN: US0378331005");
    assert_eq!(only["reading"]["leftOut"], json!(["WKN: 865985 / ISIN"]));
    assert_eq!(find(&server, "US0378331005 or US4592001014")["reading"], Value::Null);
}

/// contract 16.17: a place narrows only if the words as typed find nothing, and nothing narrows to
/// nothing.
#[test]
fn texts_are_words() {
    let server = Server::of_dump(&dump());
    for text in [
        "aapl us",
        "apple",
        "deutsche bank",
        "aapl hong kong",
        "aapl 2040",
        "zzzz germany",
        "apple valley",
        "aapl 01/17/25 C155",
        "aapl xetra",
        "brk.b",
        "at&t",
    ] {
        for path in ["/find", "/suggest"] {
            let answer = ask(&server, path, &[("query", text)]);
            assert!(answer.get("reading").is_none(), "{text} {answer}");
        }
    }
    // No reading contradicts the filters of the request.
    let us = [("query", "deutsche bank germany"), ("exchCode", "US")];
    assert!(ask(&server, "/find", &us).get("reading").is_none());
    let both = [("query", "deutsche bank germany"), ("exchCode", "GF"), ("exchCode", "US")];
    let narrowed = ask(&server, "/find", &both);
    assert_eq!(narrowed["reading"]["filters"], json!({"exchCode": ["GF"]}));
    assert_eq!(figis(&narrowed), [figi(7)]);
    let strikes = [("query", "aapl call"), ("strike", "300..")];
    assert_eq!(figis(&ask(&server, "/find", &strikes)), [figi(15)]);
}

/// contract 16.19: guesses are marked, and come after the securities that hold what was typed, but
/// the first suggestion comes first.
#[test]
fn guesses_are_marked() {
    let server = Server::of_dump(&dump());
    for text in ["berkshier", "deut sche", "bekshire hathaway", "deutsche ba"] {
        let found = find(&server, text);
        assert_eq!(found["data"], json!([]), "{text}");
        let all = found["securities"].as_array().unwrap();
        assert!(!all.is_empty() && all.iter().all(|one| one["isGuess"] == true), "{text} {found}");
    }
    for text in ["aapl", "US0378331005", "deutsche bank", "brk.b", "gle fp", "apple inc"] {
        let found = find(&server, text);
        assert_eq!(found["securities"][0]["isGuess"], false, "{text} {found}");
    }
    let found = find(&server, "apple");
    let all = found["securities"].as_array().unwrap();
    let guesses: Vec<bool> = all.iter().map(|one| one["isGuess"] == true).collect();
    assert!(guesses[1..].is_sorted(), "{found}");
    let of_data: HashSet<String> = found["data"].as_array().unwrap().iter().map(security).collect();
    for one in all {
        assert!(one["isGuess"] == true || of_data.contains(&security(one)), "{one}");
        assert!(one["listings"].as_u64() > Some(0) && one["matched"].is_array(), "{one}");
    }
    let unique: HashSet<_> = securities(&found).into_iter().collect();
    assert_eq!(unique.len(), all.len(), "each security once");
    assert!(of_data.is_subset(&unique));
}

/// contract 16.20: each fault is named.
#[test]
fn faults() {
    let server = Server::of_dump(&dump());
    for (query, text) in [
        ("", "query must be a non-empty string."),
        ("?query=", "query must be a non-empty string."),
        ("?query=%20", "query must be a non-empty string."),
        ("?query=a&query=b", "query must not be repeated."),
        ("?query=a&start=1&start=1", "start must not be repeated."),
        ("?query=a&start=1", "Invalid start value."),
        ("?query=a&limit=1", "Invalid key 'limit'."),
        ("?query=a&properties=level", "Invalid key 'properties'."),
        ("?query=a&exchCode=nowhere", "Invalid value for exchCode."),
        ("?query=a&level=share", "Invalid value for level."),
        (
            "?query=a&strike=5",
            "strike must be two numbers joined by .., of which one may be left out.",
        ),
    ] {
        let answer = server.request("GET", &format!("/find{query}"), &[], "");
        let expected = json!({ "error": text }).to_string();
        assert_eq!((answer.status, &*answer.body), (400, &*expected), "{query}");
    }
    let long = "a".repeat(1025);
    assert_eq!(get(&server, "/find", &[("query", &*long)]).status, 400);
    for query in ["?query=%FF%FE", "?query=%", "?%00=%00", "?query=%F0%9F%98%80", "?=&&&"] {
        let answer = server.request("GET", &format!("/find{query}"), &[], "");
        assert!(matches!(answer.status, 200 | 400), "{query}");
    }
    let settings = Settings { unknown_enum: UnknownEnum::NoMatch, ..Settings::default() };
    let lenient = Server::with(&dump(), |catalogue| State::new(catalogue, settings));
    let none = get(&lenient, "/find", &[("query", "aapl"), ("exchCode", "nowhere")]);
    assert_eq!(none.body, r#"{"securities":[],"data":[]}"#);
    let start = [("query", "aapl"), ("exchCode", "nowhere"), ("start", "1")];
    assert_eq!(get(&lenient, "/find", &start).status, 400);
}

/// contract 16.21: it counts in the window of suggestions.
#[test]
fn the_window_of_suggestions() {
    let settings = Settings { rates: Some(Rates::default()), ..Settings::default() };
    let server = Server::with(&dump(), |catalogue| State::new(catalogue, settings));
    for (path, remaining) in [("/suggest?query=app", "599"), ("/find?query=app", "598")] {
        let answer = server.request_from("192.0.2.1", "GET", path, &[], "");
        assert_eq!((answer.status, answer.header("ratelimit-remaining")), (200, remaining));
    }
}

/// contract 16.20: a cursor continues where its page ended, by the reading of that page. It belongs
/// to one endpoint and one question.
#[test]
fn pages_follow_each_other() {
    const PAGES: usize = 4;
    let server = universe(None);
    for (text, filters) in
        [("calls", json!({})), ("us equity", json!({"marketSecDes": ["Equity"]}))]
    {
        let (mut rows, mut start) = (Vec::new(), None);
        let reading = find(server, text)["reading"].clone();
        assert_eq!(reading.is_null(), text == "calls");
        let words = reading["query"].as_str().unwrap_or(text).to_owned();
        for pages in 1..=PAGES {
            let mut parameters = vec![("query", text)];
            parameters.extend(start.as_deref().map(|start| ("start", start)));
            let page = ask(server, "/find", &parameters);
            assert_eq!(page.get("reading").unwrap_or(&Value::Null), &reading);
            let of_data = page["data"].as_array().unwrap();
            let shown: HashSet<String> = securities(&page).into_iter().collect();
            assert!(of_data.iter().all(|row| shown.contains(&security(row))));
            if start.is_some() {
                let securities: HashSet<String> = of_data.iter().map(security).collect();
                assert_eq!(shown, securities, "a later page has no suggestions");
            }
            rows.extend(figis(&page));
            start = page["next"].as_str().map(str::to_owned);
            let next = start.as_ref().unwrap_or_else(|| panic!("{text} has {pages} pages"));
            let other = [("query", "puts"), ("start", &**next)];
            assert_eq!(get(server, "/find", &other).body, r#"{"error":"Invalid start value."}"#);
            let body = json!({"query": words, "start": next});
            assert_eq!(search(server, &body), r#"{"error":"Invalid start value."}"#);
        }
        let mut body = filters;
        body["query"] = words.into();
        let mut searched = Vec::new();
        for _ in 0..PAGES {
            let page: Value = serde_json::from_str(&search(server, &body)).unwrap();
            searched.extend(figis(&page));
            body["start"] = page["next"].clone();
        }
        assert_eq!(rows, searched, "{text}");
        assert_eq!(rows.iter().collect::<HashSet<_>>().len(), rows.len(), "each row once");
    }
}

/// contract 11.7, 16.20: a cursor goes on in a new index, also when a place has more exchanges
/// there.
#[test]
fn a_cursor_outlives_its_index() {
    let row = |number, code| format!("{},ACME {number},ACME CORP,{code},Equity\n", figi(number));
    let rows = |more: &str| {
        let head = "figi,ticker,name,exchCode,marketSector\n".to_owned();
        head + &(0..150).map(|number| row(number, "GR")).collect::<String>() + more
    };
    let server = |more: &str| Server::of_dump(&rows(more));
    let question = [("query", "acme germany")];
    let first = ask(&server(""), "/find", &question);
    assert_eq!(first["reading"]["filters"], json!({"exchCode": ["GR"]}));
    let next = first["next"].as_str().unwrap();
    let later = ask(&server(&row(150, "GF")), "/find", &[question[0], ("start", next)]);
    assert_eq!(later["reading"]["chips"][0]["values"].as_array().unwrap().len(), 2);
    assert!((50..=51).contains(&figis(&later).len()), "{later}");
}

/// `figdex explain` prints the readings of a text, and why each was taken or not.
#[test]
fn readings_are_explained() {
    let folder = tempfile::tempdir().unwrap();
    let index = folder.path().join("index");
    build_of(vec![Input::Memory("dump", dump().into_bytes().into())], &index)
        .run(&mut |_| {})
        .unwrap();
    let catalogue = Catalogue::open(&index).unwrap();
    for (text, expected) in [
        (
            "aapl jan 2025 155 call",
            "the words as typed find nothing\nreading 1: taken\n  words: aapl\n  jan 2025: expiration 2025-01-01..2025-01-31\n  \
             155: strike 155..155\n  call: optionType Call\nreading 2: not tried: an earlier",
        ),
        ("deutsche bank hong kong", "no word is a form, a term or a place\n0 instruments match\n"),
        ("aapl 2040", "the words as typed find nothing\nreading 1: not taken: it finds nothing\n"),
        (
            "aapl us",
            "the words as typed find a row\nreading 1: not tried: the words as typed find a row\n",
        ),
    ] {
        let plan = explain(&catalogue, &json!(text).to_string()).unwrap();
        assert!(plan.starts_with(expected), "{text}\n{plan}");
    }
    assert!(explain(&catalogue, "\"aapl").is_err());
}

/// A server over generated instruments: one part, or several.
fn universe(part_instruments_max: Option<u32>) -> &'static Server {
    static ONE: LazyLock<Server> = LazyLock::new(|| generated(None));
    static SEVERAL: LazyLock<Server> = LazyLock::new(|| generated(Some(700)));
    if part_instruments_max.is_some() { &SEVERAL } else { &ONE }
}

const INSTRUMENTS: u64 = 4_000;

fn generated_dump() -> Vec<u8> {
    let mut dump = Vec::new();
    Universe::new(INSTRUMENTS, 1).write(Layout::JsonLines, &mut dump).unwrap();
    dump
}

fn generated(part_instruments_max: Option<u32>) -> Server {
    Server::build(|index| Build {
        part_instruments_max,
        ..build_of(vec![Input::Memory("dump", generated_dump().into())], index)
    })
}

/// Texts of rows, as people may change them.
fn texts() -> &'static [(String, String, String)] {
    static TEXTS: LazyLock<Vec<(String, String, String)>> = LazyLock::new(|| {
        let dump = String::from_utf8(generated_dump()).unwrap();
        let rows = dump.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let text = |row: &Value, name: &str| row[name].as_str().unwrap_or_default().to_owned();
        let texts =
            rows.map(|row| (text(&row, "ticker"), text(&row, "name"), text(&row, "exchCode")));
        texts.filter(|(ticker, name, _)| !ticker.is_empty() && !name.is_empty()).collect()
    });
    &TEXTS
}

/// A typed text: of a row, cut, with a typo, or with a place, terms or a form.
fn typed() -> impl Strategy<Value = String> {
    (any::<Index>(), any::<Index>(), 0..12_u8).prop_map(|(row, cut, way)| {
        let (ticker, name, exch_code) = row.get(texts());
        let cut = 1 + cut.index(name.chars().count());
        let beginning: String = name.chars().take(cut).collect();
        match way {
            0 => ticker.clone(),
            1 => name.clone(),
            2 => beginning,
            3 => format!("{beginning} {exch_code}"),
            4 => format!("{ticker} {exch_code} Equity"),
            5 => format!("{ticker}:{exch_code}"),
            6 => name.chars().rev().skip(1).collect::<Vec<_>>().into_iter().rev().collect(),
            7 => name.chars().enumerate().filter(|(at, _)| *at != cut).map(|(_, c)| c).collect(),
            8 => format!("{beginning} germany"),
            9 => format!("{ticker} dec 2026 call"),
            10 => name.replacen(' ', "", 1),
            _ => format!("{beginning} 2030"),
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// contract 16.19: Enter never loses a suggestion. contract 16.18: without a reading, the rows
    /// are those of a search, byte for byte.
    #[test]
    fn what_is_found_begins_with_what_was_suggested(text in typed(), several in any::<bool>()) {
        let server = universe(several.then_some(700));
        let suggested = get(server, "/suggest", &[("query", &text)]);
        let answer = get(server, "/find", &[("query", &text)]);
        if suggested.status == 400 {
            prop_assert_eq!(answer.body, suggested.body);
            return Ok(());
        }
        let suggested: Value = serde_json::from_str(&suggested.body).unwrap();
        let found: Value = serde_json::from_str(&answer.body).unwrap();
        if let Some(first) = suggested["data"].get(0) {
            prop_assert_eq!(security(first), security(&found["securities"][0]), "{}", text);
        }
        prop_assert_eq!(found.get("reading"), suggested.get("reading"), "{}", text);
        if found.get("reading").is_none() {
            let searched = search(server, &json!({ "query": text }));
            prop_assert_eq!(data(&answer.body), data(&searched), "{}", text);
        }
    }
}
