//! Contract, chapter 23: licence classes of identifiers.

mod marks;
mod walk;

use std::sync::Arc;

use figdex::State;
use figdex::callers::auth::{KeyRing, file};
use figdex::config::{IdentifierClass, IdentifierClasses, Settings};
use figdex_index::{IdType, check_digit};
use serde_json::{Value, json};

use crate::support::{Answer, Server, figi};

const ISIN: &str = "US4592001014";
const CUSIP: &str = "459200101";
const SEDOL: &str = "2005973";

fn dump() -> String {
    let (one, class) = (figi(1), figi(2));
    format!(
        "figi,shareClassFIGI,ticker,name,ID_ISIN,ID_CUSIP,ID_SEDOL\n\
         {one},{class},IBM,IBM CORP,{ISIN},{CUSIP},{SEDOL}\n"
    )
}

/// A CUSIP is internal, a SEDOL hidden, and the rest open.
fn settings() -> Settings {
    let identifiers = IdentifierClasses::default()
        .with(IdType::Cusip, IdentifierClass::Internal)
        .with(IdType::Sedol, IdentifierClass::Hidden);
    Settings { identifiers, ..Settings::default() }
}

/// A ring with an internal key and another, and these keys.
fn keys() -> (Arc<KeyRing>, [String; 2]) {
    let folder = tempfile::tempdir().unwrap();
    let keys = folder.path().join("keys.toml");
    let inside = file::add_internal(&keys, "inside").unwrap();
    let outside = file::add(&keys, "outside").unwrap();
    (Arc::new(KeyRing::open(&keys).unwrap()), [inside, outside])
}

fn get(server: &Server, path: &str, key: &str) -> Answer {
    let headers = [("x-service-apikey", key)];
    let answer = server.request("GET", path, if key.is_empty() { &[] } else { &headers }, "");
    assert_eq!(answer.status, 200, "{path}: {}", answer.body);
    answer
}

fn json_of(answer: &Answer) -> Value {
    serde_json::from_str(&answer.body).unwrap()
}

/// contract 23.1 to 23.5: the holder of an internal key sees what is internal, nobody what is hidden,
/// and a note names the rest. No cache may keep an answer to a key.
#[test]
fn who_sees_what() {
    let (ring, [inside, outside]) = keys();
    let server = Server::with(&dump(), |engine| State::new(engine, settings()).with_keys(ring));
    let path = format!("/instruments/{}", figi(1));
    let shown = |key: &str| {
        let answer = get(&server, &path, key);
        let names: Vec<String> = json_of(&answer)["instrument"]["identifiers"]
            .as_object()
            .unwrap()
            .keys()
            .cloned()
            .collect();
        let cache = answer.header("cache-control").to_owned();
        (names.join(","), answer.header("figdex-not-shown").to_owned(), cache)
    };
    let text = |texts: [&str; 3]| texts.map(str::to_owned).into();
    let hidden = "ID_SEDOL, ID_CUSIP, ID_CUSIP_8_CHR, ID_CINS";
    assert_eq!(shown(""), text(["ID_ISIN", hidden, ""]));
    assert_eq!(shown(&outside), text(["ID_ISIN", hidden, "no-store"]));
    assert_eq!(shown("of nobody"), text(["ID_ISIN", hidden, "no-store"]));
    let all = "ID_CUSIP,ID_CUSIP_8_CHR,ID_ISIN";
    assert_eq!(shown(&inside), text([all, "ID_SEDOL", "no-store"]));

    let examples = |key: &str| json_of(&get(&server, "/about", key))["examples"].clone();
    let of_all = json!({"ticker": "IBM", "name": "IBM CORP", "isin": ISIN, "figi": figi(1)});
    assert_eq!(examples(&outside), of_all);
    assert_eq!(examples(&inside)["cusip"], CUSIP);
}

/// contract 23.2, 23.4: without classes nothing is hidden and no answer has a note; `hide_identifiers`
/// makes everything internal that has no entry.
#[test]
fn without_classes() {
    let path = format!("/instruments/{}", figi(1));
    let (ring, [inside, _]) = keys();
    let open =
        Server::with(&dump(), |engine| State::new(engine, Settings::default()).with_keys(ring));
    for key in ["", &inside] {
        let answer = get(&open, &path, key);
        assert_eq!((answer.header("figdex-not-shown"), answer.header("cache-control")), ("", ""));
        assert_eq!(json_of(&answer)["instrument"]["identifiers"]["ID_SEDOL"], json!([SEDOL]));
    }
    let identifiers = IdentifierClasses::default().with(IdType::Isin, IdentifierClass::Open);
    let settings = Settings { hide_identifiers: true, identifiers, ..Settings::default() };
    let (ring, [inside, outside]) = keys();
    let hiding = Server::with(&dump(), |engine| State::new(engine, settings).with_keys(ring));
    let of = |key: &str| json_of(&get(&hiding, &path, key))["instrument"]["identifiers"].clone();
    assert_eq!(of(&outside), json!({"ID_ISIN": [ISIN]}));
    assert_eq!(of(&inside)["ID_SEDOL"], json!([SEDOL]));
}

/// An identifier with a wrong check digit.
fn wrong(text: &str) -> String {
    let (body, digit) = text.split_at(text.len() - 1);
    let other = if digit == "1" { "2" } else { "1" };
    format!("{body}{other}")
}

/// contract 23.6, 23.11: whole values are looked up, by any caller; nearly right ones are neither corrected
/// nor completed, and no answer says the right check digit. Identifiers that are open still are.
#[test]
fn hidden_identifiers_are_not_corrected() {
    let open = Server::of_dump(&dump());
    let resolve = |server: &Server, job: Value| {
        let answer = server.post("/resolve", &json!({"jobs": [job]}).to_string());
        json_of(&answer)["results"][0].clone()
    };
    let near = |server: &Server, id_type: &str, text: &str| {
        let wrong = wrong(text);
        let typed = [
            resolve(server, json!({"idType": id_type, "idValue": wrong})),
            resolve(server, json!({"text": wrong, "as": id_type})),
        ];
        let guessed = ["suggest", "find"]
            .map(|route| json_of(&get(server, &format!("/{route}?query={wrong}"), "")));
        (typed, resolve(server, json!(wrong)), guessed)
    };
    let all = [("ID_ISIN", ISIN), ("ID_CUSIP", CUSIP), ("ID_SEDOL", SEDOL)];
    let is_corrected = |answer: &Value, text: &str| answer["correction"] == text;
    for (id_type, text) in all {
        let (typed, read, _) = near(&open, id_type, text);
        for answer in typed.iter().chain([&read]) {
            assert!(is_corrected(answer, text), "{answer}");
        }
        let error = format!("{id_type}: the check digit should be {}", &text[text.len() - 1..]);
        assert_eq!(typed[0]["error"], error);
    }
    let server = open.with_settings(settings());
    for (id_type, text) in all {
        assert_eq!(resolve(&server, json!(text))["data"][0]["figi"], figi(1), "{text}");
        let job = json!({"idType": id_type, "idValue": text});
        assert_eq!(resolve(&server, job)["data"][0]["figi"], figi(1), "{text}");
        for route in ["suggest", "find"] {
            let found = get(&server, &format!("/{route}?query={text}"), "").body;
            assert!(found.contains(&figi(1)), "{found}");
            let begun = format!("/{route}?query={}", &text[..text.len() - 2]);
            assert!(!get(&server, &begun, "").body.contains(text));
        }
        let is_open = id_type == "ID_ISIN";
        let (typed, read, guessed) = near(&server, id_type, text);
        for answer in typed.iter().chain([&read]) {
            assert_eq!(is_corrected(answer, text), is_open, "{answer}");
        }
        for answer in typed.iter().filter(|_| !is_open) {
            assert_eq!(answer["status"], "invalid", "{answer}");
            assert_eq!(answer["error"], format!("{id_type}: the check digit is wrong"));
        }
        for answer in guessed.iter().chain([&read]).filter(|_| !is_open) {
            assert_eq!(answer.get("correction"), None, "{answer}");
            assert!(!answer.to_string().contains("should be"), "{answer}");
        }
        let csv = [("content-type", "text/csv")];
        let csv = server.request("POST", "/resolve", &csv, wrong(text)).body;
        assert_eq!(csv.contains(&format!("did you mean {text}?")), is_open, "{csv}");
    }
    // A spreadsheet took the leading zero: such a SEDOL is not completed.
    let body = "026349";
    let sedol = format!("{body}{}", check_digit::sedol(body.as_bytes()).unwrap());
    let short = resolve(&server, json!({"idType": "ID_SEDOL", "idValue": &sedol[1..]}));
    assert_eq!(short["correction"], Value::Null, "{short}");
    let expected = "ID_SEDOL: expected six consonants or digits, and a check digit";
    assert_eq!(short["error"], expected);
}

/// contract 23.3: a key that becomes internal in the file is so within seconds.
#[test]
fn a_key_becomes_internal() {
    let folder = tempfile::tempdir().unwrap();
    let keys = folder.path().join("keys.toml");
    let key = file::add(&keys, "desk").unwrap();
    let ring = Arc::new(KeyRing::open(&keys).unwrap());
    let of_server = ring.clone();
    let server =
        Server::with(&dump(), |engine| State::new(engine, settings()).with_keys(of_server));
    let path = format!("/instruments/{}", figi(1));
    assert!(!get(&server, &path, &key).body.contains("ID_CUSIP"));
    let text = std::fs::read_to_string(&keys).unwrap();
    std::fs::write(&keys, text.replace("sha256", "internal = true\nsha256")).unwrap();
    ring.refresh();
    assert!(get(&server, &path, &key).body.contains("ID_CUSIP"));
}
