//! Contract 8.14 to 8.16: arrays of values in search and filter, which extend the published
//! interface, and `--strict-contract`, which turns them off.

use figdex::config::{Settings, UnknownEnum};
use serde_json::{Value, json};

use super::search;
use crate::support::figi;
use crate::support::openapi::Document;
use crate::support::{Server, figis};

const PATHS: [&str; 3] = ["/v3/search", "/v3/filter", "/v2/search"];

fn server() -> Server {
    Server::of_dump(&search::dump())
}

fn strict() -> Server {
    server().with_settings(Settings { strict_contract: true, ..Settings::default() })
}

/// Asserts that search and filter find exactly these rows, in any order.
fn check(server: &Server, body: &Value, expected: &[u32]) {
    let mut expected: Vec<String> = expected.iter().copied().map(figi).collect();
    expected.sort_unstable();
    for path in ["/v3/search", "/v3/filter"] {
        let answer = server.post(path, &body.to_string());
        assert_eq!(answer.status, 200, "{path} {body} {}", answer.body);
        let answer: Value = serde_json::from_str(&answer.body).unwrap();
        let mut found = figis(&answer);
        found.sort_unstable();
        assert_eq!(found, expected, "{path} {body} {answer}");
        if path == "/v3/filter" {
            assert_eq!(answer["total"], expected.len(), "{body}");
        }
    }
}

/// contract 8.14, 9.10: the row has one of the values, and other properties must match as well.
#[test]
fn a_row_has_one_of_them() {
    let server = server();
    for (body, expected) in [
        (json!({"exchCode": ["GR", "GF"]}), &[6, 7][..]),
        (json!({"exchCode": ["GF", "GR", "GF", "GF"]}), &[6, 7]),
        (json!({"exchCode": ["GR"]}), &[6]),
        (json!({"micCode": ["XNAS"]}), &[2]),
        (json!({"exchCode": ["GR", "FP"], "securityType": ["Common Stock", "ETP"]}), &[6, 9]),
        (json!({"exchCode": ["GR", "FP"], "securityType": ["ETP", "FIXED"]}), &[]),
        (json!({"marketSecDes": ["Muni", "Index"], "optionType": ["Put", "Call"]}), &[]),
        (json!({"marketSecDes": ["Muni", "Index"], "currency": "USD"}), &[]),
        (json!({"marketSecDes": ["Muni", "Index"]}), &[3, 10]),
        (json!({"marketSecDes": ["Muni", "Index"], "coupon": [5, 6]}), &[3]),
        (json!({"stateCode": ["MN", "NY"]}), &[3]),
        (json!({"stateCode": ["NY", "AB"]}), &[]),
        (json!({"query": "deutsche bank", "exchCode": ["US", "GF"]}), &[7, 8]),
        // The last word may be the exchange code, if the request allows that code.
        (json!({"query": "deutsche bank gr", "exchCode": ["US", "GF"]}), &[]),
        (json!({"query": "deutsche bank gr", "exchCode": ["US", "GR"]}), &[6]),
        (json!({"query": "apple", "marketSecDes": ["Muni", "Equity"]}), &[14, 1, 2, 3]),
        (
            json!({"query": "apple", "marketSecDes": ["Muni"], "includeUnlistedEquities": true}),
            &[3],
        ),
    ] {
        check(&server, &body, expected);
    }
}

/// contract 8.15: the fault names the property and the rule.
#[test]
fn faults_of_an_array() {
    let server = server();
    let many = |count: usize| json!({"exchCode": vec!["US"; count]});
    let fault = |name: &str| format!("{name} must be a string, or an array of 1 to 100 strings.");
    for (body, error) in [
        (json!({"exchCode": []}), fault("exchCode")),
        (json!({"currency": ["USD", 5]}), fault("currency")),
        (json!({"marketSecDes": ["Equity", null]}), fault("marketSecDes")),
        (json!({"optionType": [["Put"]]}), fault("optionType")),
        (json!({"securityType": ["\u{0}", {}]}), fault("securityType")),
        (many(101), fault("exchCode")),
        (
            json!({"exchCode": ["US"], "micCode": ["XNAS"]}),
            "Cannot have both exchCode and micCode".to_owned(),
        ),
    ] {
        for path in PATHS {
            let answer = server.post(path, &body.to_string());
            let expected = json!({"error": error}).to_string();
            assert_eq!((answer.status, answer.body), (200, expected), "{path} {body}");
        }
    }
    check(&server, &many(100), &[1, 4, 5, 8, 12, 15, 16, 17]);
    // `["\ud800"]` is JSON, but its entry is not a valid text.
    let answer = server.post("/v3/filter", r#"{"exchCode":["\ud800"]}"#);
    assert_eq!(answer.body, json!({"error": fault("exchCode")}).to_string());
}

/// contract 8.16: each value must be in the set; with `--unknown-enum no-match` a value outside it
/// matches no row, and the others match theirs.
#[test]
fn one_of_several_is_outside_the_set() {
    let server = server();
    for body in [
        json!({"exchCode": ["US", "XX"]}),
        json!({"exchCode": ["us"]}),
        json!({"query": "", "currency": ["usd", "USD"]}),
        json!({"exchCode": {"US": 1}}),
        json!({"exchCode": 5}),
    ] {
        for path in PATHS {
            let answer = server.post(path, &body.to_string());
            assert_eq!((answer.status, &*answer.body), (400, "Invalid enum field."), "{body}");
        }
    }
    let unknown_enum = UnknownEnum::NoMatch;
    let lenient = server.with_settings(Settings { unknown_enum, ..Settings::default() });
    check(&lenient, &json!({"exchCode": ["GR", "XX"]}), &[6]);
    check(&lenient, &json!({"exchCode": ["XX", "YY"]}), &[]);
}

/// contract 6.4, 8.14: in a mapping job an array is a value outside every set.
#[test]
fn mapping_keeps_the_contract() {
    for server in [server(), strict()] {
        for version in ["v1", "v2", "v3"] {
            let job = json!([{"idType": "TICKER", "idValue": "AAPL", "exchCode": ["US"]}]);
            let answer = server.post(&format!("/{version}/mapping"), &job.to_string());
            assert_eq!((answer.status, &*answer.body), (400, "Invalid enum field."), "{version}");
        }
    }
}

/// contract 8.14: with `--strict-contract` an array is a value outside every set everywhere.
#[test]
fn the_strict_contract() {
    let server = strict();
    for path in PATHS {
        for body in [json!({"exchCode": ["US"]}), json!({"exchCode": []})] {
            let answer = server.post(path, &body.to_string());
            assert_eq!((answer.status, &*answer.body), (400, "Invalid enum field."), "{path}");
        }
    }
    check(&server, &json!({"exchCode": "GR"}), &[6]);
}

/// contract 1.9: the document has arrays where they are accepted, and only there.
#[test]
fn the_document_describes_arrays() {
    let (open, strict) = (server(), strict());
    for (version, count) in [("v3", 8), ("v2", 7)] {
        let [open, strict] = [&open, &strict].map(|server| {
            let answer = server.request("GET", &format!("/{version}/schema"), &[], "");
            Document(serde_json::from_str(&answer.body).unwrap())
        });
        let bodies = [
            json!({"exchCode": "US", "optionType": "Put"}),
            json!({"exchCode": null, "optionType": null}),
            json!({"exchCode": ["US", "GR"], "optionType": ["Put", "Call"]}),
        ];
        for request in ["SearchRequest", "FilterRequest"] {
            if open.0["components"]["schemas"].get(request).is_none() {
                continue;
            }
            for body in &bodies {
                open.assert_valid(open.component(request), body);
            }
            for body in &bodies[..2] {
                strict.assert_valid(strict.component(request), body);
            }
            let with_arrays = |document: &Document| {
                let properties = document.component(request)["properties"].as_object().unwrap();
                properties.values().filter(|property| property.get("oneOf").is_some()).count()
            };
            // `level` takes an array, too (contract 8.17).
            let arrays = (with_arrays(&open), with_arrays(&strict));
            assert_eq!(arrays, (count + 1, 0), "{request}");
        }
        let job = &open.component("MappingJob")["properties"]["exchCode"];
        assert_eq!(job["type"], "string");
    }
}

/// contract 8.14, 11.6: a cursor belongs to what is asked, whatever the order or repeats of an
/// array.
#[test]
fn the_order_of_values_does_not_matter() {
    let rows = (0..450).map(|number| {
        let exch_code = ["US", "GR", "LN"][number as usize % 3];
        format!("{},{exch_code}\n", figi(number))
    });
    let server = Server::of_dump(&format!("figi,exchCode\n{}", rows.collect::<String>()));
    let page = |path: &str, codes: Value, start: Option<&Value>| -> Value {
        let body = json!({"exchCode": codes, "start": start});
        serde_json::from_str(&server.post(path, &body.to_string()).body).unwrap()
    };
    for path in PATHS {
        let first = page(path, json!(["US", "GR"]), None);
        let next = first.get("next");
        assert_eq!(figis(&first).len(), 100);
        let second = page(path, json!(["US", "GR"]), next);
        for same in [json!(["GR", "US"]), json!(["GR", "US", "GR"])] {
            assert_eq!(page(path, same, next), second, "{path}");
        }
        for other in [json!("US"), json!(["US"]), json!(["US", "LN"]), json!(["US", "GR", "LN"])] {
            let refused = json!({"error": "Invalid start value."});
            assert_eq!(page(path, other, next), refused, "{path}");
        }
        // One value is the same in an array.
        let alone = page(path, json!("US"), None);
        assert_eq!(
            page(path, json!(["US"]), alone.get("next")),
            page(path, json!("US"), alone.get("next"))
        );
        assert!(figis(&alone).len() == 100 && alone.get("next").is_some());
    }
    assert_eq!(page("/v3/filter", json!(["LN", "GR"]), None)["total"], 300);
}
