//! Contract 17.14 to 17.17: names in lists, and the characters around identifiers.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use figdex::State;
use figdex::callers::limits::Rates;
use figdex::config::Settings;
use serde_json::{Value, json};

use super::columns::csv_rows;
use super::{CSV, JSON, NDJSON, ask, data, result};
use crate::support::{Server, figi, one_key};

const REASON: &str = "it is written like a name, and found only as a ticker";

fn dump() -> String {
    let mut dump = "figi,compositeFIGI,shareClassFIGI,ticker,name,exchCode,micCode,marketSector,\
                    listed,currency,ID_ISIN\n"
        .replace("                    ", "");
    for (number, ticker, name, code, mic, sector, currency) in [
        (1, "NESTLE", "Nestle Pakistan Ltd", "PA", "XKAR", "Equity", "PKR"),
        (2, "NESN", "NESTLE SA-REG", "SW", "XSWX", "Equity", "CHF"),
        (3, "UBER", "UBER TECHNOLOGIES INC", "US", "XNYS", "Equity", "USD"),
        (4, "TOTAL", "TOTAL TRANSPORT SYSTEMS LTD", "IN", "XBOM", "Equity", "INR"),
        (5, "TTE", "TOTALENERGIES SE", "FP", "XPAR", "Equity", "EUR"),
        (6, "IBM", "INTL BUSINESS MACHINES CORP", "US", "XNYS", "Equity", "USD"),
        (7, "VOD", "VODAFONE GROUP PLC", "LN", "XLON", "Equity", "GBP"),
        (8, "DTE", "DEUTSCHE TELEKOM AG-REG", "GR", "XETR", "Equity", "EUR"),
        (9, "BRK/B", "BERKSHIRE HATHAWAY INC-CL B", "US", "XNYS", "Equity", "USD"),
        (10, "EUU2", "EURO FX FUTURE SEP22", "US", "XCME", "Curncy", "USD"),
        (11, "DEUTSCHE BOND", "SOMETHING ELSE", "GR", "XETR", "Index", "EUR"),
        (12, "APPLE", "APPLE RUSH CO INC", "US", "OTCM", "Equity", "USD"),
        (13, "APPLE", "GREEN APPLE LTD", "IN", "XBOM", "Equity", "INR"),
    ] {
        let (own, class) = (figi(number), figi(900 + number));
        let isin = if number == 6 { "US4592001014" } else { "" };
        writeln!(
            dump,
            "{own},{own},{class},{ticker},{name},{code},{mic},{sector},true,{currency},{isin}"
        )
        .unwrap();
    }
    dump
}

fn server() -> Server {
    Server::of_dump(&dump())
}

/// contract 17.14: a text that is written like a name and found only as a ticker is not resolved,
/// unless the row has that name.
#[test]
fn names_that_are_tickers_of_others() {
    let server = server();
    for (text, number) in [
        ("Nestle", 1),
        (" Nestle ", 1),
        ("Total", 4),
        ("Ibm", 6),
        ("Deutsche Bond", 11),
        ("deutsche bond", 11),
        ("DEUTSCHE BOND", 11),
    ] {
        for steps in [json!([]), json!(["composite", "exchCode=US|IN|PA"])] {
            let body = json!({"jobs": [text], "prefer": steps, "fields": ["figi"]});
            let found = ask(&server, &body)["results"][0].take();
            let expected = json!({
                "status": "ambiguous", "idType": "TICKER", "matches": 1, "reason": REASON,
                "data": [{"figi": figi(number)}],
            });
            assert_eq!(found, expected, "{text}");
        }
    }
    for (text, number) in [
        ("NESTLE", 1),
        ("nestle", 1),
        ("Nestle PA", 1),
        ("Nestle PA Equity", 1),
        ("Uber", 3),
        ("uber", 3),
        ("TOTAL", 4),
        ("Total IN", 4),
        ("Total:XBOM", 4),
        ("IBM", 6),
        ("ibm", 6),
        ("ibm us equity", 6),
        ("Ibm us", 6),
        ("vod.l", 7),
        ("Vod.l", 7),
        ("Brk-b", 9),
        ("Brk b", 9),
        ("BRK B", 9),
        ("Brk/b", 9),
        ("EuU2", 10),
        ("Deutsche Bond Index", 11),
    ] {
        let found = result(&server, text);
        let expected = figi(number);
        assert_eq!(
            (&found["status"], data(&found)),
            (&json!("resolved"), vec![&*expected]),
            "{text}"
        );
    }
    // The type is said: by `as`, by the job, or by the heading of the column.
    for job in [
        json!({"text": "Nestle", "as": "TICKER"}),
        json!({"idType": "TICKER", "idValue": "Nestle"}),
    ] {
        assert_eq!(result(&server, job)["status"], "resolved");
    }
    let typed = server.request("POST", "/resolve?fields=figi", &[CSV], "Ticker\nNestle\nTotal\n");
    assert!(csv_rows(&typed)[1..].iter().all(|row| row[2] == "resolved"), "{}", typed.body);
    // Properties narrow the text, but say nothing about what it is.
    let narrowed = result(&server, json!({"text": "Nestle", "currency": "PKR"}));
    assert_eq!((&narrowed["status"], data(&narrowed)), (&json!("ambiguous"), vec![&*figi(1)]));
}

/// contract 17.14: several rows that are left, one of which has another name; and the same in the
/// other forms, with all rows.
#[test]
fn several_rows_of_other_names() {
    let server = server();
    let found = result(&server, "Apple");
    assert_eq!((&found["matches"], &found["reason"]), (&json!(2), &json!(REASON)));
    // The step leaves the row whose name begins with the text.
    let body = json!({"jobs": ["Apple"], "prefer": ["exchCode=US"], "fields": ["figi"]});
    assert_eq!(data(&ask(&server, &body)["results"][0]), [&*figi(12)]);
    assert_eq!(ask(&server, &body)["results"][0]["status"], "resolved");
    let rows = |query: &str| {
        let path = format!("/resolve?fields=figi{query}");
        csv_rows(&server.request("POST", &path, &[CSV], "x\nApple\nNestle\n"))[2..].to_vec()
    };
    let apple = ["2", "Apple", "ambiguous", "TICKER", "2", "", REASON];
    let nestle = ["3", "Nestle", "ambiguous", "TICKER", "1", "", REASON];
    assert_eq!(rows(""), [[&apple[..], &[""]].concat(), [&nestle[..], &[""]].concat()]);
    let (twelve, thirteen, one) = (figi(12), figi(13), figi(1));
    let all = rows("&many=all");
    assert_eq!(all.len(), 3);
    let of_apple: BTreeSet<&str> = all[..2].iter().map(|row| &*row[7]).collect();
    assert_eq!(of_apple, BTreeSet::from([&*twelve, &*thirteen]));
    assert_eq!(all[2], [&nestle[..], &[&*one]].concat());
}

/// contract 17.15: candidates of names that are not resolved, in the order of suggestions; nothing
/// else changes.
#[test]
fn candidates_of_names() {
    let server = server();
    let long = format!("Deutsche Telekom {}", "aktiengesellschaft ".repeat(3));
    let jobs = json!([
        "Nestle", "Deutsche Telekom", "Uber", "US0378331005", "ZZZZ", {"text": "Nestle", "as": "ID_ISIN"},
        {"text": "nestle reg", "exchCode": "SW"}, {"idType": "TICKER", "idValue": "Vodafone"},
        "vodafone", long, "US4592001015",
    ]);
    let mut body = json!({"jobs": jobs, "fields": ["ticker"]});
    let plain = ask(&server, &body)["results"].take();
    body["candidates"] = true.into();
    let mut named = ask(&server, &body)["results"].take();
    let candidates: Vec<Option<Value>> = named
        .as_array_mut()
        .unwrap()
        .iter_mut()
        .map(|result| result.as_object_mut().unwrap().remove("candidates"))
        .collect();
    assert_eq!(named, plain, "candidates resolve nothing");
    let of = |place: usize| {
        let rows = candidates[place].as_ref().and_then(Value::as_array);
        rows.map(|rows| rows.iter().map(|row| row["figi"].as_str().unwrap()).collect::<Vec<_>>())
    };
    let suggested = |query: &str| {
        let found = server.request("GET", &format!("/suggest?limit=5&query={query}"), &[], "").body;
        let found: Value = serde_json::from_str(&found).unwrap();
        let rows = found["data"].as_array().unwrap().clone();
        rows.iter().map(|row| row["figi"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(of(0).unwrap(), suggested("Nestle"));
    assert!(of(0).unwrap().contains(&&*figi(2)));
    assert_eq!(of(1).unwrap(), [&*figi(8)]);
    assert_eq!(candidates[1].as_ref().unwrap()[0], json!({"figi": figi(8), "ticker": "DTE"}));
    assert_eq!(of(6).unwrap(), [&*figi(2)]);
    assert_eq!(of(8).unwrap(), suggested("vodafone"));
    for place in [2, 3, 4, 5, 7, 10] {
        assert_eq!(of(place), None, "{}", jobs[place]);
    }
    // A name may be longer than an identifier.
    assert_eq!(named[9]["status"], "invalid");
    let path = "/resolve?candidates=true&fields=ticker,figi";
    let body = "name\nNestle\nUber\n";
    let rows = csv_rows(&server.request("POST", path, &[CSV], body));
    assert_eq!(rows[0][7..], ["ticker", "figi", "candidates"]);
    assert_eq!(rows[2][7..], ["", "", &*suggested("Nestle").join("|")]);
    assert_eq!(rows[3][7..], ["UBER", &*figi(3), ""]);
    let lines = server.request("POST", "/resolve?candidates=true", &[NDJSON], "\"Nestle\"\n");
    assert!(lines.body.contains("\"candidates\":[{\"figi\":"), "{}", lines.body);
    for (options, fault) in [
        ("candidates=yes", "candidates must be true or false."),
        ("candidates=true&candidates=true", "candidates is given twice."),
    ] {
        let answer = server.request("POST", &format!("/resolve?{options}"), &[CSV], body);
        assert_eq!((answer.status, answer.body), (400, json!({"error": fault}).to_string()));
    }
    let answer = server.post("/resolve", r#"{"jobs":[],"candidates":"true"}"#);
    assert_eq!(answer.status, 400, "{}", answer.body);
    let path = "/resolve?candidates=false";
    let answer = server.request("POST", path, &[CSV], body);
    assert!(!answer.body.contains("candidates"), "{}", answer.body);
}

/// contract 17.15: lists with candidates have fewer jobs and count as more.
#[test]
fn candidates_count() {
    let (keys, key) = one_key();
    let settings = Settings { rates: Some(Rates::default()), ..Settings::default() };
    let server = Server::with(&dump(), |engine| State::new(engine, settings).with_keys(keys));
    let list = |jobs: usize| json!({"jobs": vec!["ZZZZ"; jobs], "candidates": true}).to_string();
    let from = |peer: &str, jobs: usize| {
        server.request_from(peer, "POST", "/resolve", &[JSON], list(jobs))
    };
    let answer = from("192.0.2.1", 5);
    assert_eq!((answer.status, answer.header("ratelimit-remaining")), (200, "20"));
    assert_eq!(answer.header("figdex-jobs-per-request"), "1");
    assert_eq!(answer.header("figdex-jobs-per-list"), "25");
    assert_eq!(from("192.0.2.1", 21).status, 429);
    let answer = from("192.0.2.2", 26);
    assert_eq!((answer.status, answer.header("figdex-jobs-per-list")), (413, "25"));
    assert!(answer.body.contains("has 26 jobs; at most 25 are allowed"), "{}", answer.body);
    // More jobs than any list may have are refused before they are counted, by the same number.
    let answer = from("192.0.2.4", 1_001);
    assert_eq!((answer.status, answer.header("figdex-jobs-per-list")), (413, "25"));
    assert!(answer.body.contains("at most 25 are allowed"), "{}", answer.body);
    let with_key = |jobs| {
        let headers = [JSON, ("x-openfigi-apikey", &*key)];
        server.request("POST", "/resolve", &headers, list(jobs))
    };
    let answer = with_key(100);
    assert_eq!((answer.status, answer.header("ratelimit-remaining")), (200, "15"));
    assert_eq!(answer.header("figdex-jobs-per-request"), "10");
    let answer = with_key(101);
    assert_eq!((answer.status, answer.header("figdex-jobs-per-list")), (413, "100"));
    // A list without candidates counts as before.
    let plain = json!({"jobs": vec!["ZZZZ"; 10]}).to_string();
    let answer = server.request_from("192.0.2.3", "POST", "/resolve", &[JSON], plain);
    assert_eq!(answer.header("ratelimit-remaining"), "24");
    assert_eq!(answer.header("figdex-jobs-per-request"), "10");
    let free = self::server();
    let answer = free.post("/resolve", &list(101));
    assert_eq!((answer.status, answer.header("figdex-jobs-per-list")), (413, "100"));
}

/// contract 17.17: values of steps that no instrument can have are named, in every form.
#[test]
fn unknown_values_of_steps() {
    let server = server();
    let header = |path: &str, kind, body: &str| {
        let answer = server.request("POST", path, &[kind], body);
        assert_eq!(answer.status, 200, "{}", answer.body);
        let header = answer.headers.get("figdex-unknown-values");
        header.map(|value| value.to_str().unwrap().to_owned())
    };
    for (prefer, expected) in [
        (vec!["composite"], None),
        (vec!["exchCode=US|LN"], None),
        (vec!["exchCode=XX"], Some("exchCode=XX")),
        (
            vec!["exchCode= XX | US", "micCode=X\u{fc} =1"],
            Some("exchCode=XX, micCode=X%C3%BC+%3D1"),
        ),
    ] {
        let body = json!({"jobs": ["IBM"], "prefer": prefer}).to_string();
        assert_eq!(header("/resolve", JSON, &body).as_deref(), expected, "{prefer:?}");
        let query: String = form_urlencoded::Serializer::new(String::new())
            .extend_pairs(prefer.iter().map(|step| ("prefer", step)))
            .finish();
        let path = format!("/resolve?{query}");
        assert_eq!(header(&path, CSV, "x\nIBM\n").as_deref(), expected, "{prefer:?}");
        assert_eq!(header(&path, NDJSON, "\"IBM\"").as_deref(), expected, "{prefer:?}");
    }
    let many = format!("exchCode={}", vec!["XX"; 90].join("|"));
    let body = json!({"jobs": ["IBM"], "prefer": [many]}).to_string();
    let named = header("/resolve", JSON, &body).unwrap();
    assert!(named.starts_with("exchCode=XX, ") && named.len() <= 1_029, "{named}");
    for (value, many) in [("XX", 1_000), ("\u{e9}", 90)] {
        let body = json!({"jobs": ["IBM"], "prefer": [format!("exchCode={}", value.repeat(many))]});
        let named = header("/resolve", JSON, &body.to_string()).unwrap();
        assert!(named.len() <= 1_029, "{named}");
    }
}

/// contract 17.2: characters around an identifier do not count, in texts and in columns of a type.
/// Jobs with an idType are those of mapping, and stay as they are.
#[test]
fn characters_around_identifiers() {
    let server = server();
    for text in [
        "\"US4592001014\"",
        "'US4592001014",
        "=\"US4592001014\"",
        "“US4592001014”",
        "«US4592001014»",
        "ＵＳ４５９２００１０１４",
        "\"IBM\" ",
        "ＩＢＭ　US",
    ] {
        assert_eq!(data(&result(&server, text)), [&*figi(6)], "{text}");
        let id_type = if text.contains("1014") || text.contains("１０１４") {
            "ID_ISIN"
        } else {
            "TICKER"
        };
        if !text.contains('　') {
            let typed = result(&server, json!({"text": text, "as": id_type}));
            assert_eq!(data(&typed), [&*figi(6)], "{text}");
        }
    }
    let quoted = json!({"idType": "ID_ISIN", "idValue": "'US4592001014"});
    assert_eq!(result(&server, quoted.clone())["status"], "invalid");
    assert!(server.map(&json!([quoted]))[0].get("data").is_none());
    for body in [
        "ISIN\n'US4592001014\n",
        "ISIN\n=\"US4592001014\"\n",
        "idType,idValue\nID_ISIN,'US4592001014\n",
        "idValue,as\n\"=\"\"US4592001014\"\"\",ID_ISIN\n",
    ] {
        let rows = csv_rows(&server.request("POST", "/resolve?fields=figi", &[CSV], body));
        assert_eq!((&*rows[1][2], &*rows[1][7]), ("resolved", &*figi(6)), "{body}");
    }
}
