//! Contract, chapter 6: the rules that properties have in common, in mapping jobs and in
//! searches and filters.

use serde_json::{Map, Value, json};

use crate::support::Server;

const DUMP: &str = "figi,ticker,exchCode,micCode,currency\nBBG000BLNNH6,IBM,US,XNYS,USD\n";

const SEARCHES: [&str; 3] = ["/v3/search", "/v3/filter", "/v2/search"];

/// contract 6.11: a number that a double cannot hold is not an end of an interval.
#[test]
fn a_number_beyond_a_double_is_not_an_end() {
    let server = Server::of_dump(DUMP);
    for property in ["strike", "contractSize", "coupon"] {
        let text = format!("{property} must be an array of two entries, each a number or null.");
        let expected = json!({ "error": text });
        for interval in ["[1e999,null]", "[null,1e999]", "[-1e999,1]", "[0,1e309]"] {
            let member = format!(r#""{property}":{interval}"#);
            for version in ["v1", "v2", "v3"] {
                let job = format!(r#"[{{"idType":"TICKER","idValue":"IBM",{member}}}]"#);
                let answer = server.post(&format!("/{version}/mapping"), &job);
                assert_eq!(answer.body, json!([expected]).to_string(), "{version} {job}");
            }
            for path in SEARCHES {
                let answer = server.post(path, &format!("{{{member}}}"));
                assert_eq!(answer.body, expected.to_string(), "{path} {member}");
            }
        }
    }
}

/// The faults of properties in their order: the members that are at fault, the `error`, and
/// the members that repair it.
const FAULTS: [(&str, &str, &str); 7] = [
    (
        r#"{"exchCode":"US","micCode":"XNYS"}"#,
        "Cannot have both exchCode and micCode",
        r#"{"micCode":null}"#,
    ),
    (
        r#"{"includeUnlistedEquities":"yes"}"#,
        "includeUnlistedEquities must be true or false.",
        r#"{"includeUnlistedEquities":true}"#,
    ),
    (
        r#"{"strike":[2,1]}"#,
        "strike: the first entry must not be greater than the second.",
        r#"{"strike":null}"#,
    ),
    (
        r#"{"contractSize":5}"#,
        "contractSize must be an array of two entries, each a number or null.",
        r#"{"contractSize":null}"#,
    ),
    (
        r#"{"coupon":[null,null]}"#,
        "coupon: at least one entry must not be null.",
        r#"{"coupon":null}"#,
    ),
    (
        r#"{"expiration":["2025-01-01","2027-01-01"]}"#,
        "expiration: the dates must be no more than one year apart.",
        r#"{"expiration":null}"#,
    ),
    (
        r#"{"maturity":["2025-02-30",null]}"#,
        "maturity must be an array of two entries, each a date YYYY-MM-DD or null.",
        r#"{"maturity":null}"#,
    ),
];

fn merge(into: &mut Map<String, Value>, members: &str) {
    into.extend(serde_json::from_str::<Map<String, Value>>(members).unwrap());
}

/// contract 6.19: of a request with every fault that a property may have, the first in the
/// order is named; when that is repaired, the next one. Arrays of values come last.
#[test]
fn the_order_of_faults() {
    let server = Server::of_dump(DUMP);
    let mut members = Map::new();
    FAULTS.iter().for_each(|(fault, ..)| merge(&mut members, fault));
    for (_, error, repair) in FAULTS {
        let mut job = members.clone();
        merge(&mut job, r#"{"idType":"TICKER","idValue":"IBM"}"#);
        let answers = server.map(&json!([job]));
        assert_eq!(answers, [json!({ "error": error })], "{job:?}");
        // A job with an array is refused as a whole; a search takes one.
        let mut search = members.clone();
        merge(&mut search, r#"{"currency":[]}"#);
        for path in SEARCHES {
            let body = Value::Object(search.clone()).to_string();
            let answer = server.post(path, &body);
            assert_eq!(answer.body, json!({ "error": error }).to_string(), "{path} {body}");
        }
        merge(&mut members, repair);
    }
    merge(&mut members, r#"{"currency":[]}"#);
    let error = "currency must be a string, or an array of 1 to 100 strings.";
    for path in SEARCHES {
        let answer = server.post(path, &Value::Object(members.clone()).to_string());
        assert_eq!(answer.body, json!({ "error": error }).to_string(), "{path}");
    }
}
