//! Contract, chapter 7: the lists of values.

use std::fs;

use figdex_ingest::{Build, Input};
use serde_json::{Value, json};

use crate::support::{Server, build_of};

const DUMP: &str = "figi,exchCode,micCode,currency,marketSector,securityType,securityType2,stateCode,optionType\n\
     BBG000BLNNH6,US,,USD,Equity,Common Stock,Common Stock,CT,\n\
     BBG000BLNQ16,us,XNYS,GBp,Equity,ÉTRANGER,,QQ,Put\n\
     BBG000BLNNV0,A0,,,,\"say \"\"x\"\" \\\",,,\n";

fn values(server: &Server, path: &str) -> Vec<String> {
    let answer = server.request("GET", path, &[], "");
    assert_eq!(answer.status, 200, "{path} {}", answer.body);
    assert_eq!(answer.content_type, "application/json; charset=utf-8");
    let answer: Value = serde_json::from_str(&answer.body).unwrap();
    assert_eq!(answer.as_object().unwrap().len(), 1, "`values` alone: {answer}");
    serde_json::from_value(answer["values"].clone()).unwrap()
}

/// contract 6.2, 6.3, 7.1, 7.3, 7.4: the values of the data and the fixed ones, sorted by lower
/// case and then by code point.
#[test]
fn the_values_of_every_key() {
    let server = Server::of_dump(DUMP);
    let of = |key: &str| values(&server, &format!("/v3/mapping/values/{key}"));
    assert_eq!(of("exchCode"), ["A0", "US", "us"]);
    assert_eq!(of("micCode"), ["XNYS"]);
    assert_eq!(of("securityType"), ["Common Stock", "say \"x\" \\", "ÉTRANGER"]);
    assert_eq!(of("securityType2"), ["Common Stock"]);
    assert_eq!(
        of("marketSecDes"),
        ["Comdty", "Corp", "Curncy", "Equity", "Govt", "Index", "M-Mkt", "Mtge", "Muni", "Pfd"]
    );
    let currencies = of("currency");
    let place = |code: &str| currencies.iter().position(|value| value == code).unwrap();
    assert_eq!(place("GBP") + 1, place("GBp"), "ties by code point");
    assert!(currencies.len() > 150, "at least ISO 4217");
    let states = of("stateCode");
    assert_eq!(states.len(), 143, "the contract's 142 and one of the data");
    assert!(states.iter().any(|state| state == "QQ") && states.is_sorted());
}

/// contract 7.3: an empty list is `{"values":[]}`.
#[test]
fn a_key_without_values() {
    let server = Server::of_dump("figi\nBBG000BLNNH6\n");
    let answer = server.request("GET", "/v3/mapping/values/micCode", &[], "");
    assert_eq!((answer.status, answer.body.as_str()), (200, r#"{"values":[]}"#));
}

/// contract 1.3, 1.7, 7.6: the values of `idType` are the names that the version accepts.
#[test]
fn the_id_types_of_each_version() {
    let server = Server::of_dump(DUMP);
    let of = |version: &str| values(&server, &format!("/{version}/mapping/values/idType"));
    let (v1, v2, v3) = (of("v1"), of("v2"), of("v3"));
    assert_eq!((v1.len(), v2.len(), v3.len()), (23, 23, 26));
    assert_eq!(v1, v2);
    let missing: Vec<_> = v3.iter().filter(|name| !v2.contains(name)).collect();
    assert_eq!(missing, ["ID_BB_8_CHR", "ID_TRACE", "VENDOR_INDEX_CODE"]);
    let mut sorted = v3.clone();
    sorted.sort_by_key(|name| name.to_lowercase());
    assert_eq!(v3, sorted);
    for (version, names) in [("v1", v1), ("v2", v2), ("v3", v3)] {
        for name in names {
            let job = json!([{"idType": name, "idValue": "?"}]).to_string();
            let answer = server.post(&format!("/{version}/mapping"), &job);
            assert!(!answer.body.contains("Invalid value"), "{version} {name}: {}", answer.body);
        }
    }
}

/// contract 1.6, 2.3, 7.2, 13.1: any other key is refused, without decoding it; in v2 and v1
/// `stateCode` too.
#[test]
fn an_invalid_key() {
    let server = Server::of_dump(DUMP);
    let check = |path: &str| {
        let answer = server.request("GET", path, &[], "");
        assert_eq!((answer.status, answer.body.as_str()), (400, "Bad request."), "{path}");
        assert_eq!(answer.content_type, "text/html; charset=utf-8");
    };
    for version in ["v1", "v2", "v3"] {
        for key in [
            "optionType",
            "marketSector",
            "exchcode",
            "EXCHCODE",
            "strike",
            "null",
            "exchCode,micCode",
            "exchCode%20",
            "%65xchCode",
            "a%2Fb",
            "%",
            "%zz",
            "%00",
            "%FF%FE",
            "%E2%82%AC",
            "..%2f",
        ] {
            check(&format!("/{version}/mapping/values/{key}"));
        }
    }
    check("/v2/mapping/values/stateCode");
    check("/v1/mapping/values/stateCode");
}

/// contract 1.1, 7.7: a path without a key, or with a further segment, is unknown.
#[test]
fn another_path() {
    let server = Server::of_dump(DUMP);
    for path in [
        "/v3/mapping/values",
        "/v3/mapping/values/",
        "/v3/mapping/values/exchCode/x",
        "/v3/mapping/values//exchCode",
        "/v4/mapping/values/exchCode",
        "/mapping/values/exchCode",
    ] {
        let answer = server.request("GET", path, &[], "");
        assert_eq!((answer.status, answer.body.as_str()), (404, "Invalid url."), "{path}");
    }
}

/// contract 2.2, 2.6: existing clients send a trailing slash, and `null` as Content-Type and body.
#[test]
fn odd_clients_are_answered_as_usual() {
    let server = Server::of_dump(DUMP);
    let expected = r#"{"values":["A0","US","us"]}"#;
    for (path, kind, body) in [
        ("/v3/mapping/values/exchCode/", "application/json", ""),
        ("/v3/mapping/values/exchCode", "application/json", "null"),
        ("/v3/mapping/values/exchCode?x=1", "null", "null"),
        ("/v2/mapping/values/exchCode", "text/plain", "{"),
    ] {
        let answer = server.request("GET", path, &[("content-type", kind)], body);
        assert_eq!((answer.status, answer.body.as_str()), (200, expected), "{path}");
    }
}

/// contract 2.1, 2.4, 13.12: 405 with `Allow`, and 406, come before the key.
#[test]
fn a_wrong_method_or_accept() {
    let server = Server::of_dump(DUMP);
    for path in ["/v3/mapping/values/exchCode", "/v3/mapping/values/nonsense"] {
        for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD"] {
            let answer = server.request(method, path, &[("content-type", "text/json")], "[]");
            assert_eq!((answer.status, answer.allow.as_deref()), (405, Some("GET")), "{method}");
        }
        let answer = server.request("GET", path, &[("accept", "text/html")], "");
        assert_eq!(answer.status, 406);
    }
}

/// contract 6.2, 7.5, 7.6: the lists given at ingestion are united with the data, and the values
/// that are listed are those that are allowed.
#[test]
fn the_lists_given_at_ingestion_are_united_with_the_data() {
    let lists = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(lists.path().join(name), text).unwrap();
    write("exchCode.json", r#"{"values":["LN","US","gr"]}"#);
    write("stateCode.json", r#"{"values":["XX"]}"#);
    write("idType.json", r#"{"values":["ID_OF_NOTHING"]}"#);
    let server = Server::build(|index| Build {
        values: Some(lists.path().to_owned()),
        ..build_of(vec![Input::Memory("dump", DUMP.as_bytes().into())], index)
    });
    let of = |key: &str| values(&server, &format!("/v3/mapping/values/{key}"));
    assert_eq!(of("exchCode"), ["A0", "gr", "LN", "US", "us"]);
    assert_eq!(of("stateCode").len(), 144);
    assert!(!of("idType").contains(&"ID_OF_NOTHING".to_owned()), "a version's list is its own");
    for exch_code in of("exchCode") {
        let job = json!([{"idType": "TICKER", "idValue": "NONE", "exchCode": exch_code}]);
        assert_eq!(server.map(&job), [json!({"warning": "No identifier found."})]);
    }
}
