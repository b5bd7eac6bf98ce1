//! Contract, chapters 8 and 9: search and filter, and the words of a query. Pages are tested in
//! `paging`, arrays of values in `several`.

use figdex::config::{SearchEnvelope, Settings, UnknownEnum};
use serde_json::{Value, json};

use crate::support::figi;
use crate::support::{Server, figis};

/// A small market. The first cell, composite and share class are numbers that [`figi`] makes FIGIs
/// of.
const ROWS: &[&str] = &[
    // figi|composite|shareClass|ticker|name|exchCode|marketSector|securityType|securityType2|rest
    "1|1|900|AAPL|APPLE INC|US|Equity|Common Stock|Common Stock|ID_ISIN=US0378331005,ID_CUSIP=037833100,currency=USD",
    "2|1|900|AAPL|APPLE INC|UW|Equity|Common Stock|Common Stock|ID_ISIN=US0378331005,micCode=XNAS,currency=USD",
    "3|||MN APP 5.9 05/01/1995|APPLE VALLEY||Muni|FIXED|Muni|stateCode=MN,coupon=5.9,maturity=1995-05-01",
    "4|4||AAPL 01/17/25 C155|January 25 Calls on AAPL US|US|Equity|Equity Option|Option|strike=155,expiration=2025-01-17,optionType=Call,OCC_SYMBOL=AAPL  250117C00155000",
    "5|5|901|BRK/B|BERKSHIRE HATHAWAY INC-CL B|US|Equity|Common Stock|Common Stock|",
    "6|6|902|DBK|DEUTSCHE BANK AG-REGISTERED|GR|Equity|Common Stock|Common Stock|ID_WERTPAPIER=514000",
    "7|6|902|DBK|DEUTSCHE BANK AG-REGISTERED|GF|Equity|Common Stock|Common Stock|",
    "8|8|902|DB|DEUTSCHE BANK AG-REGISTERED|US|Equity|Common Stock|Common Stock|",
    "9|9|903|GLE|SOCIÉTÉ GÉNÉRALE SA|FP|Equity|Common Stock|Common Stock|",
    "10|||SJIM11|MICRO DAX Jun11|EUX|Index|Physical index future.|Future|UNIQUE_ID_FUT_OPT=SJIM1 Index,contractSize=5",
    "11|11||HIDN|APPLE HIDDEN HOLDINGS||Equity|Common Stock|Common Stock|listed=false",
    "12|12|904|T|AT&T INC|US|Equity|Common Stock|Common Stock|",
    "13|13|905|7203|トヨタ自動車|JP|Equity|Common Stock|Common Stock|alias=TOYOTA MOTOR",
    "14|||APPLE|GR APPLE FUND||Equity|Open-End Fund|Mutual Fund|",
    "16|16||YSPY|LEVERED SPY|US|Equity|ETP|Mutual Fund|",
    "17|17||SPY|SPDR S&P 500 ETF TRUST|US|Equity|ETP|Mutual Fund|",
    "15|15||AAPL 05/20/26 C330|May 26 Calls on AAPL US|US|Equity|Equity Option|Option|expiration=2026-05-20,strike=330,optionType=Call",
];

/// The dump of [`ROWS`] as JSON lines.
pub(super) fn dump() -> String {
    let lines = ROWS.iter().map(|row| {
        let cells: Vec<_> = row.split('|').collect();
        let mut line = serde_json::Map::new();
        let number = |cell: &str| cell.parse().map(figi).unwrap_or_default();
        for (column, cell) in ["figi", "compositeFIGI", "shareClassFIGI"].iter().zip(&cells) {
            line.insert((*column).to_owned(), number(cell).into());
        }
        let columns =
            ["ticker", "name", "exchCode", "marketSector", "securityType", "securityType2"];
        for (column, cell) in columns.iter().zip(&cells[3..]) {
            line.insert((*column).to_owned(), (*cell).into());
        }
        for cell in cells[9].split(',').filter(|cell| !cell.is_empty()) {
            let (column, value) = cell.split_once('=').unwrap();
            line.insert(column.to_owned(), value.into());
        }
        Value::Object(line).to_string() + "\n"
    });
    lines.collect()
}

fn server() -> Server {
    Server::of_dump(&dump())
}

/// Posts to an endpoint that must answer 200.
fn ask(server: &Server, path: &str, body: &Value) -> Value {
    let answer = server.post(path, &body.to_string());
    assert_eq!((answer.status, &*answer.content_type), (200, "application/json; charset=utf-8"));
    serde_json::from_str(&answer.body).unwrap()
}

/// Asserts that a search finds exactly these rows, in this order, and a filter the same in FIGI
/// order.
fn check(server: &Server, body: &Value, expected: &[u32]) {
    let numbers = |mut numbers: Vec<u32>, sorted: bool| {
        if sorted {
            numbers.sort_unstable();
        }
        numbers.into_iter().map(figi).collect::<Vec<_>>()
    };
    let found = figis(&ask(server, "/v3/search", body));
    assert_eq!(found, numbers(expected.to_vec(), false), "search {body}");
    let found = ask(server, "/v3/filter", body);
    assert_eq!(figis(&found), numbers(expected.to_vec(), true), "filter {body}");
    assert_eq!(found["total"], expected.len(), "{body}");
}

/// contract 8.3, 8.4, 12.2, 12.5: one object with its members in order; rows of v2 have the unique
/// IDs, and rows of v3 do not.
#[test]
fn the_shape_of_an_answer() {
    let server = Server::of_dump("figi,ticker,uniqueID\nBBG000BLNNH6,IBM,EQ1\n");
    let row = |unique_ids: (&str, &str)| {
        format!(
            r#"{{"data":[{{"figi":"BBG000BLNNH6","name":null,"ticker":"IBM","exchCode":null,"compositeFIGI":null{},"securityType":null,"marketSector":null,"shareClassFIGI":null{},"securityType2":null,"securityDescription":null}}]"#,
            unique_ids.0, unique_ids.1
        )
    };
    let (v3, v2) = (row(("", "")), row((r#","uniqueID":"EQ1""#, r#","uniqueIDFutOpt":null"#)));
    let body = r#"{"query":"ibm"}"#;
    assert_eq!(server.post("/v3/search", body).body, format!("{v3}}}"));
    assert_eq!(server.post("/v3/filter", body).body, format!("{v3},\"total\":1}}"));
    assert_eq!(server.post("/v2/search", body).body, format!("{v2}}}"));
}

/// contract 8.5: the answers to a question that finds nothing.
#[test]
fn nothing_found() {
    let server = server();
    let body = r#"{"query":"nosuchword"}"#;
    assert_eq!(server.post("/v3/search", body).body, r#"{"data":[]}"#);
    assert_eq!(server.post("/v3/filter", body).body, r#"{"data":[],"total":0}"#);
    assert_eq!(server.post("/v2/search", body).body, r#"{"data":[]}"#);
}

/// contract 8.2, 9.1, 9.4, 9.5, 9.6, 9.8: words of rows and queries, folded alike.
#[test]
fn words() {
    let server = server();
    for (query, expected) in [
        ("apple inc", &[1, 2][..]),
        ("INC Apple", &[1, 2]),
        ("brk/b", &[5]),
        ("brkb", &[5]),
        ("brk b", &[5]),
        ("BRK-B", &[5]),
        ("berkshire hathaway", &[5]),
        ("inc cl", &[5]),
        ("inccl", &[5]),
        ("societe generale", &[9]),
        ("Société Générale", &[9]),
        ("SJIM11", &[10]),
        ("sjim 11", &[10]),
        ("sjim-11", &[10]),
        ("jun11", &[10]),
        ("AT&T", &[12]),
        ("att", &[12]),
        ("at t", &[12]),
        ("トヨタ自動車", &[13]),
        ("トヨタ", &[]),
        ("toyota", &[13]),
        ("7203", &[13]),
        ("appl", &[]),
        ("apples", &[]),
        ("aple inc", &[]),
        ("apple 05/01/1995", &[3]),
        ("aapl 05/2026", &[15]),
        ("aapl 01/17/25 c155", &[4]),
        ("aapl 250117", &[]),
    ] {
        check(&server, &json!({"query": query}), expected);
    }
}

/// contract 8.10, 9.2, 9.3: operators, wildcards and field names are punctuation.
#[test]
fn a_query_has_no_syntax() {
    let server = server();
    for (query, expected) in [
        ("apple AND inc", &[][..]),
        ("appl*", &[]),
        ("\"apple inc\"", &[1, 2]),
        ("+apple -inc", &[1, 2]),
        ("name:apple", &[]),
        ("(apple) [inc]", &[1, 2]),
        ("apple~2 inc^3", &[]),
        ("*", &[]),
        ("&", &[]),
        (" ", &[]),
        ("apple - inc & *", &[1, 2]),
        ("*:*", &[]),
        ("apple\\", &[1, 2, 14, 3]),
        ("/apple/", &[1, 2, 14, 3]),
        ("\u{0} apple \u{202e}", &[1, 2, 14, 3]),
    ] {
        check(&server, &json!({"query": query}), expected);
    }
}

/// contract 8.2, 9.9: the whole query may be an identifier of a row.
#[test]
fn identifiers() {
    let server = server();
    let share_class = figi(900);
    for (query, expected) in [
        ("US0378331005", &[1, 2][..]),
        (" us0378331005 ", &[1, 2]),
        ("US 037833 1005", &[1, 2]),
        ("037833100", &[1]),
        ("03783310", &[1]),
        ("514000", &[6]),
        (&share_class, &[1, 2]),
        (&figi(2), &[2]),
        (&figi(6), &[6, 7]),
        ("AAPL  250117C00155000", &[4]),
        ("aapl250117c00155000", &[4]),
        ("SJIM1 Index", &[10]),
        ("US037833100", &[]),
        ("AAPL 1 C155", &[]),
    ] {
        check(&server, &json!({"query": query}), expected);
    }
}

/// contract 9.10: the last of two or more words may be the row's exchange code.
#[test]
fn the_last_word_may_be_the_exchange_code() {
    let server = server();
    for (query, expected) in [
        ("deutsche bank gr", &[6][..]),
        ("deutsche bank GF", &[7]),
        ("deutsche bank", &[6, 8, 7]),
        ("gr deutsche bank", &[]),
        ("apple gr", &[14]),
        ("apple uw", &[2]),
        ("aapl us", &[1, 15, 4]),
        ("db us", &[8]),
        ("t us", &[12]),
        ("gr", &[14]),
        ("deutsche bank g", &[]),
    ] {
        check(&server, &json!({"query": query}), expected);
    }
}

/// contract 10.2 to 10.6: whole tickers and names before words; of each, shares before funds
/// before bonds before options, the composite before its listings; of rows that end, the later day
/// first; then the shorter name; then FIGI.
#[test]
fn what_a_person_would_want_comes_first() {
    let server = server();
    for (query, expected) in [
        ("apple", &[1, 2, 14, 3][..]),
        ("aapl", &[1, 2, 15, 4]),
        ("deutsche bank", &[6, 8, 7]),
        ("spy", &[17, 16]),
        ("spy us", &[17, 16]),
        ("SPY  us -", &[17, 16]),
    ] {
        check(&server, &json!({"query": query}), expected);
    }
    let unlisted = json!({"query": "apple", "includeUnlistedEquities": true});
    check(&server, &unlisted, &[1, 2, 14, 11, 3]);
}

/// contract 2.9, 6.1, 6.6, 6.9, 6.12, 6.18, 8.2, 8.7, 8.8, 8.9: every property alone, together,
/// with words and without.
#[test]
fn filters() {
    let server = server();
    for (body, expected) in [
        (json!({"exchCode": "GR"}), &[6][..]),
        (json!({"micCode": "XNAS"}), &[2]),
        (json!({"currency": "USD"}), &[1, 2]),
        (json!({"marketSecDes": "Muni"}), &[3]),
        (json!({"securityType": "Open-End Fund"}), &[14]),
        (json!({"securityType2": "Option"}), &[15, 4]),
        (json!({"optionType": "Call"}), &[15, 4]),
        (json!({"stateCode": "MN"}), &[3]),
        (json!({"strike": [150, 160]}), &[4]),
        (json!({"strike": [160, null]}), &[15]),
        (json!({"contractSize": [null, 5]}), &[10]),
        (json!({"coupon": [5.9, 5.9]}), &[3]),
        (json!({"expiration": ["2025-01-01", null]}), &[4]),
        (json!({"maturity": ["2026-05-20", "2026-05-20"]}), &[15]),
        (json!({"expiration": [null, "1995-05-01"]}), &[3]),
        (json!({"securityType2": "Option", "strike": [100, 200]}), &[4]),
        (json!({"exchCode": "US", "securityType": "Common Stock"}), &[1, 12, 5, 8]),
        (json!({"exchCode": "US", "marketSecDes": "Muni"}), &[]),
        (json!({"query": "aapl", "exchCode": "US"}), &[1, 15, 4]),
        (json!({"query": "aapl", "securityType2": "Common Stock"}), &[1, 2]),
        (json!({"query": "apple", "marketSecDes": "Muni"}), &[3]),
        (json!({"query": "US0378331005", "exchCode": "UW"}), &[2]),
        (json!({"query": "apple", "includeUnlistedEquities": false}), &[1, 2, 14, 3]),
        (json!({"query": "apple", "exchCode": null, "strike": null}), &[1, 2, 14, 3]),
        (json!({"currency": "EUR"}), &[]),
    ] {
        check(&server, &body, expected);
    }
    let all = ask(&server, "/v3/filter", &json!({"includeUnlistedEquities": true}));
    assert_eq!(all["total"], ROWS.len());
    let listed = ask(&server, "/v3/filter", &json!({"includeUnlistedEquities": false}));
    assert_eq!(listed["total"], ROWS.len() - 1);
}

/// contract 2.9, 2.10, 6.7, 6.8, 6.16, 8.1, 8.4, 8.9 to 8.12, 13.13: a fault of a field is a 200
/// with `error` alone.
#[test]
fn faults_of_a_field() {
    let server = server();
    let long = "x".repeat(1025);
    let long_key = format!("Invalid key '{}…'.", "x".repeat(64));
    for (body, error) in [
        (json!({}), "query must contain at least one parameter"),
        (json!({"query": null, "strike": null}), "query must contain at least one parameter"),
        (json!({"query": ""}), "query must be a non-empty string."),
        (json!({"query": 5}), "query must be a non-empty string."),
        (json!({"query": ["a"]}), "query must be a non-empty string."),
        (json!({"query": long}), "query must not be longer than 1024 bytes."),
        (json!({"query": "a", "start": "x"}), "Invalid start value."),
        (json!({"query": "a", "start": ""}), "Invalid start value."),
        (json!({"query": "a", "start": 1}), "Invalid start value."),
        (json!({"start": "x"}), "Invalid start value."),
        (json!({"query": "a", "x": 1}), "Invalid key 'x'."),
        (json!({"x".repeat(65): 1}), &long_key),
        (json!({"x": 1}), "Invalid key 'x'."),
        (json!({"idType": "TICKER", "idValue": "A"}), "Invalid key 'idType'."),
        (json!({"exchCode": "US", "micCode": "XNAS"}), "Cannot have both exchCode and micCode"),
        (json!({"strike": [2, 1]}), "strike: the first entry must not be greater than the second."),
        (json!({"strike": [null, null]}), "strike: at least one entry must not be null."),
        (json!({"strike": 5}), "strike must be an array of two entries, each a number or null."),
        (
            json!({"maturity": ["2025-02-30", null]}),
            "maturity must be an array of two entries, each a date YYYY-MM-DD or null.",
        ),
        (
            json!({"expiration": ["2025-01-01", "2026-01-02"]}),
            "expiration: the dates must be no more than one year apart.",
        ),
        (
            json!({"query": "a", "includeUnlistedEquities": "yes"}),
            "includeUnlistedEquities must be true or false.",
        ),
    ] {
        for path in ["/v3/search", "/v3/filter"] {
            assert_eq!(ask(&server, path, &body), json!({"error": error}), "{path} {body}");
        }
    }
}

/// contract 2.7, 6.4, 8.13: a body that is not an object is refused, and so is a value outside its
/// set, which comes before any fault of a field.
#[test]
fn faults_of_the_request() {
    let server = server();
    for path in ["/v3/search", "/v3/filter", "/v2/search"] {
        for body in ["", "[]", "null", "1", "\"a\"", "{", "{\"query\":\"a\"} x", "[{}]"] {
            let answer = server.post(path, body);
            assert_eq!((answer.status, &*answer.body), (400, "Bad request."), "{path} {body}");
        }
        for body in [
            r#"{"exchCode":"XX"}"#,
            r#"{"exchCode":5}"#,
            r#"{"x":1,"query":"","currency":"usd"}"#,
            r#"{"query":"a","marketSecDes":{"Equity":1}}"#,
        ] {
            let answer = server.post(path, body);
            assert_eq!((answer.status, &*answer.body), (400, "Invalid enum field."), "{body}");
        }
    }
}

/// contract 1.4, 1.5, 1.6, 2.1: v2 has search without `stateCode`, and no filter; v1 has neither.
#[test]
fn versions() {
    let server = server();
    let body = r#"{"query":"apple","stateCode":"MN"}"#;
    assert_eq!(server.post("/v2/search", body).body, r#"{"error":"Invalid key 'stateCode'."}"#);
    // A property that the version does not have has no set of allowed values.
    let body = r#"{"query":"apple","stateCode":"??"}"#;
    assert_eq!(server.post("/v2/search", body).body, r#"{"error":"Invalid key 'stateCode'."}"#);
    for path in ["/v2/filter", "/v1/filter", "/v1/search", "/search", "/filter", "/v3/search/x"] {
        for method in ["POST", "GET"] {
            let json = [("content-type", "application/json")];
            let answer = server.request(method, path, &json, r#"{"query":"a"}"#);
            assert_eq!((answer.status, &*answer.body), (404, "Invalid url."), "{method} {path}");
        }
    }
    for path in ["/v3/search", "/v3/filter", "/v2/search"] {
        let answer = server.request("GET", path, &[], "");
        assert_eq!((answer.status, answer.allow.as_deref()), (405, Some("POST")), "{path}");
    }
}

/// contract 4.5, 6.5, 8.3, 11.5: with `--unknown-enum no-match` a value outside its set finds
/// nothing, in every endpoint, and faults of other fields are answered as before; with
/// `--search-envelope array` an answer is an array of one.
#[test]
fn unknown_enum_no_match_and_the_array_envelope() {
    let settings = Settings {
        unknown_enum: UnknownEnum::NoMatch,
        search_envelope: SearchEnvelope::Array,
        ..Settings::default()
    };
    let server = server().with_settings(settings);
    for (path, body, expected) in [
        ("/v3/search", r#"{"exchCode":"XX"}"#, r#"[{"data":[]}]"#),
        ("/v3/filter", r#"{"query":"apple","currency":5}"#, r#"[{"data":[],"total":0}]"#),
        ("/v2/search", r#"{"marketSecDes":"equity"}"#, r#"[{"data":[]}]"#),
        ("/v3/search", r#"{"exchCode":"XX","start":"x"}"#, r#"[{"error":"Invalid start value."}]"#),
        (
            "/v3/filter",
            r#"{"exchCode":"XX","strike":[2,1]}"#,
            r#"[{"error":"strike: the first entry must not be greater than the second."}]"#,
        ),
        (
            "/v3/mapping",
            r#"[{"idType":"TICKER","idValue":"AAPL","exchCode":"XX"},{"idType":"X"}]"#,
            r#"[{"warning":"No identifier found."},{"error":"Invalid value for idType."}]"#,
        ),
        (
            "/v1/mapping",
            r#"[{"idType":"TICKER","idValue":"AAPL","securityType2":"option"}]"#,
            r#"[{"error":"No identifier found."}]"#,
        ),
    ] {
        let answer = server.post(path, body);
        assert_eq!((answer.status, &*answer.body), (200, expected), "{path} {body}");
    }
}

/// contract 8.4: the members of an answer in their order, where there is a next page.
#[test]
fn the_members_with_a_next_page() {
    let rows = (0..101).map(|number| format!("{},MANY\n", figi(number)));
    let server = Server::of_dump(&format!("figi,ticker\n{}", rows.collect::<String>()));
    for (path, total) in [("/v3/search", ""), ("/v2/search", ""), ("/v3/filter", r#","total":101"#)]
    {
        let body = server.post(path, r#"{"query":"many"}"#).body;
        let answer: Value = serde_json::from_str(&body).unwrap();
        let next = answer["next"].as_str().unwrap();
        let (data, rest) = body.rsplit_once(']').unwrap();
        assert!(data.starts_with(r#"{"data":[{"figi":"#), "{path} {data}");
        assert_eq!(rest, format!(r#","next":"{next}"{total}}}"#), "{path}");
    }
}

/// contract 8.13: of a request with every fault the first in the order is named; when that
/// is repaired, the next one.
#[test]
fn the_order_of_faults() {
    let server = server();
    let mut body = json!({
        "currency": "nonsense", "x": 1, "query": "", "strike": [2, 1], "start": "nonsense",
    });
    let mut faults = vec![("currency", "Invalid enum field.".to_owned())];
    for (member, error) in [
        ("x", "Invalid key 'x'."),
        ("query", "query must be a non-empty string."),
        ("strike", "strike: the first entry must not be greater than the second."),
        ("start", "Invalid start value."),
    ] {
        faults.push((member, json!({ "error": error }).to_string()));
    }
    for (member, expected) in faults {
        for path in ["/v3/search", "/v3/filter", "/v2/search"] {
            let answer = server.post(path, &body.to_string());
            assert_eq!(answer.body, expected, "{path} {body}");
        }
        match member {
            "query" => body[member] = json!("aapl"),
            _ => drop(body.as_object_mut().unwrap().remove(member)),
        }
    }
    check(&server, &body, &[1, 2, 15, 4]);
    // An unknown member is named before the fault that no other member is given.
    for path in ["/v3/search", "/v3/filter"] {
        assert_eq!(server.post(path, r#"{"x":1}"#).body, r#"{"error":"Invalid key 'x'."}"#);
    }
}
