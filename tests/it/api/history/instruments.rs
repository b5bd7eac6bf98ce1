//! The versions of an instrument, what is stated of it, and what all questions about the past share.

use figdex::config::Settings;
use serde_json::{Value, json};

use super::{CSV, ISIN, result, results, row, server, state, state_of, without_past};
use crate::support::{Server, figi};

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
    let nights = [("2024-01-02", "RIGHT"), ("2024-01-03", "WRONG"), ("2024-01-04", "RIGHT")];
    let nights = nights.map(|(day, ticker)| (day, vec![row(1, ticker, "US", 901)]));
    let state = state_of(&nights, Some(&[]), Settings::default());
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
