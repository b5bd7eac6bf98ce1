//! Contract 16.14: what the index holds.

use std::sync::Arc;

use figdex::config::Settings;
use figdex::{Engine, State};
use figdex_index::{BuildOptions, Builder, Catalogue, Date, Figi, Instrument, PastOptions};
use serde_json::{Value, json};

use super::search::dump;
use crate::support::{Server, figi};

fn about(server: &Server) -> Value {
    let answer = server.request("GET", "/about", &[], "");
    assert_eq!(
        (answer.status, &*answer.content_type),
        (200, "application/json; charset=utf-8"),
        "{}",
        answer.body
    );
    serde_json::from_str(&answer.body).unwrap()
}

/// contract 16.14: the sample names its exchanges, and each example finds its instrument.
#[test]
fn the_sample() {
    let server = Server::of_sample();
    let about = about(&server);
    assert_eq!((&about["sample"], &about["generation"]), (&json!(true), &json!(1)), "{about}");
    assert!(about["instruments"].as_u64() > Some(20_000), "{about}");
    assert!(about["built"].as_str().unwrap().ends_with('Z'), "{about}");
    assert_eq!(about["exchanges"]["LN"], "London Stock Exchange");
    let examples = about["examples"].as_object().unwrap();
    let names: Vec<&String> = examples.keys().collect();
    assert!(names.len() >= 4 && examples.contains_key("isin"), "{names:?}");
    for (name, text) in examples {
        let json = [("content-type", "application/json")];
        let body = json!({ "query": text }).to_string();
        let found = server.request("POST", "/v3/search", &json, body);
        assert!(found.body.contains(examples["figi"].as_str().unwrap()), "{name} {text}");
    }
    assert_eq!(server.request("POST", "/about", &[], "").status, 405);
}

/// contract 16.14, 16.7: other data than the sample, and hidden identifiers stay hidden.
#[test]
fn own_data() {
    let own = about(&Server::of_dump(&dump()));
    assert_eq!((&own["sample"], &own["exchanges"]), (&json!(false), &json!({})));
    let text = "figi,shareClassFIGI,ticker,name,ID_ISIN\n";
    let (own, class) = (figi(1), figi(2));
    let dump = format!("{text}{own},{class},IBM,IBM CORP,US4592001014\n");
    let shown = about(&Server::of_dump(&dump));
    let expected =
        json!({"ticker": "IBM", "name": "IBM CORP", "isin": "US4592001014", "figi": figi(1)});
    assert_eq!(shown["examples"]["isin"], expected["isin"], "{shown}");
    let settings = Settings { hide_identifiers: true, ..Settings::default() };
    let hidden = about(&Server::with(&dump, |catalogue| State::new(catalogue, settings)));
    let expected = json!({"ticker": "IBM", "name": "IBM CORP", "figi": figi(1)});
    assert_eq!(hidden["examples"], expected);
}

/// contract 16.14, 21.9: the vendors whose symbols a list may ask for.
#[test]
fn vendors() {
    let server = Server::of_dump(&dump());
    let vendors = match server.is_in_cluster() {
        true => json!([]),
        false => json!(["symbol:yahoo", "symbol:google", "symbol:tradingview"]),
    };
    assert_eq!(about(&server)["symbols"], vendors);
}

/// contract 16.14: the days that the past covers, if the index keeps one.
#[test]
fn the_past() {
    let folder = tempfile::tempdir().unwrap();
    let index = folder.path().join("index");
    for day in ["2022-06-08", "2022-06-09"] {
        let options = BuildOptions { date: Date::parse(day).unwrap(), ..BuildOptions::default() };
        let mut builder = Builder::create(&index, options).unwrap();
        builder.keep_past(PastOptions::default());
        builder.add(Instrument::new(Figi::parse(&figi(1)).unwrap())).unwrap();
        builder.publish(Vec::new()).unwrap();
    }
    let engine: Engine = Catalogue::open(&index).unwrap().into();
    let kept = Server::over(&Arc::new(State::new(engine, Settings::default())), Default::default());
    assert_eq!(about(&kept)["coverage"], json!({"since": "2022-06-08", "until": "2022-06-09"}));
    assert_eq!(about(&Server::of_dump(&dump())).get("coverage"), None);
}
