//! Contract 16.5 to 16.7: one instrument with all its known properties, and its family.

use figdex::config::Settings;
use figdex_index::FAMILY_ROWS_MAX;
use serde_json::{Value, json};

use crate::support::figi;
use crate::support::{Answer, Server};

/// A share with two composites and rows that belong to neither, an option, and a row without any
/// properties. Numbers stand for FIGIs.
fn dump() -> String {
    let rows = [
        r#"{"figi":1,"compositeFIGI":1,"shareClassFIGI":900,"ticker":"AAA","name":"<script>alert(1)</script> \"A\" & B","exchCode":"US","marketSector":"Equity","securityType":"Common Stock","securityType2":"Common Stock","securityDescription":"AAA","currency":"USD","listed":true,"uniqueID":"EQ1","ID_ISIN":"US0378331005","ID_CUSIP":["037833100","38259P508"],"alias":["TRIPLE A","3A"]}"#,
        r#"{"figi":2,"compositeFIGI":1,"shareClassFIGI":900,"ticker":"AAA","exchCode":"UW","micCode":"XNAS","marketSector":"Equity"}"#,
        r#"{"figi":3,"compositeFIGI":1,"shareClassFIGI":900,"ticker":"AAA","exchCode":"UN","micCode":"XNYS","marketSector":"Equity","listed":false}"#,
        r#"{"figi":4,"compositeFIGI":4,"shareClassFIGI":900,"ticker":"A1","exchCode":"GR","marketSector":"Equity"}"#,
        r#"{"figi":5,"compositeFIGI":4,"shareClassFIGI":900,"ticker":"A1","exchCode":"GY","micCode":"XETR","marketSector":"Equity"}"#,
        r#"{"figi":6,"compositeFIGI":7,"shareClassFIGI":900,"ticker":"A2","exchCode":"LN","micCode":"XLON"}"#,
        r#"{"figi":8,"shareClassFIGI":900,"ticker":"A3","exchCode":"AA"}"#,
        r#"{"figi":9,"compositeFIGI":9,"ticker":"AAA 01/17/25 C155","exchCode":"US","marketSector":"Equity","securityType2":"Option","optionType":"Call","strike":155.5,"contractSize":100,"expiration":"2025-01-17"}"#,
        r#"{"figi":10}"#,
        r#"{"figi":11,"ticker":"BOND","marketSector":"Muni","stateCode":"MN","coupon":5.9,"maturity":"1995-05-01","metadata":"Metadata N/A"}"#,
        r#"{"figi":12,"ticker":"CCC","exchCode":"US"}"#,
        r#"{"figi":13,"compositeFIGI":12,"ticker":"CCC","exchCode":"UA"}"#,
    ];
    let lines = rows.map(|row| {
        let mut row: Value = serde_json::from_str(row).unwrap();
        for name in ["figi", "compositeFIGI", "shareClassFIGI"] {
            if let Some(number) = row[name].as_u64() {
                row[name] = figi(number as u32).into();
            }
        }
        row.as_object_mut().unwrap().retain(|_, value| !value.is_null());
        row.to_string() + "\n"
    });
    lines.concat()
}

fn get(server: &Server, figi: &str) -> Answer {
    server.request("GET", &format!("/instruments/{figi}"), &[], "")
}

fn look(server: &Server, number: u32) -> Value {
    let answer = get(server, &figi(number));
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert_eq!(answer.content_type, "application/json; charset=utf-8");
    serde_json::from_str(&answer.body).unwrap()
}

/// contract 16.5: all properties in order; null where unknown.
#[test]
fn the_whole_answer() {
    let server = Server::of_dump(&dump());
    let answer = get(&server, &figi(9));
    let own = figi(9);
    let row = format!(
        r#"{{"figi":"{own}","name":null,"ticker":"AAA 01/17/25 C155","exchCode":"US","compositeFIGI":"{own}","securityType":null,"marketSector":"Equity","shareClassFIGI":null,"securityType2":"Option","securityDescription":null,"#
    );
    let instrument = r#""micCode":null,"currency":null,"stateCode":null,"optionType":"Call","strike":155.5,"contractSize":100.0,"coupon":null,"expiration":"2025-01-17","maturity":null,"listed":null,"identifiers":{"BASE_TICKER":["AAA 1 C155"]}}"#;
    let family = format!(
        r#"{{"shareClassFIGI":null,"composites":[{{"compositeFIGI":"{own}","composite":{row}"micCode":null}},"venues":[]}}],"bestListing":"{own}","truncated":false}}"#
    );
    assert_eq!(
        answer.body,
        format!(r#"{{"instrument":{row}{instrument},"family":{family}}}"#),
        "{}",
        answer.body
    );

    let whole = look(&server, 1)["instrument"].clone();
    for (name, value) in [
        ("name", json!("<script>alert(1)</script> \"A\" & B")),
        ("currency", json!("USD")),
        ("listed", json!(true)),
        ("uniqueID", json!("EQ1")),
        ("alias", json!(["TRIPLE A", "3A"])),
        ("micCode", Value::Null),
    ] {
        assert_eq!(whole[name], value, "{name}");
    }
    for (kind, values) in [
        ("ID_ISIN", json!(["US0378331005"])),
        ("ID_CUSIP", json!(["037833100", "38259P508"])),
        ("ID_CUSIP_8_CHR", json!(["03783310", "38259P50"])),
        ("ID_BB_UNIQUE", json!(["EQ1"])),
    ] {
        assert_eq!(whole["identifiers"][kind], values, "{kind}");
    }
    assert!(whole.get("uniqueIDFutOpt").is_none() && whole.get("metadata").is_none());
    let bond = look(&server, 11)["instrument"].clone();
    assert_eq!((&bond["coupon"], &bond["maturity"]), (&json!(5.9), &json!("1995-05-01")));
    assert_eq!((&bond["metadata"], &bond["stateCode"]), (&json!("Metadata N/A"), &json!("MN")));
    assert_eq!(look(&server, 3)["instrument"]["listed"], false);
    let bare = look(&server, 10)["instrument"].clone();
    assert_eq!((&bare["identifiers"], bare.get("alias")), (&json!({}), None));
}

/// The numbers of a family's FIGIs: composites, and the venues of each.
fn tree(family: &Value) -> Vec<(Value, Value, Vec<Value>)> {
    let figi = |row: &Value| row["figi"].clone();
    let branches = family["composites"].as_array().unwrap().iter();
    let show = |branch: &Value| {
        let venues = branch["venues"].as_array().unwrap().iter().map(figi).collect();
        (branch["compositeFIGI"].clone(), figi(&branch["composite"]), venues)
    };
    branches.map(show).collect()
}

/// contract 16.5: share class, composites and venues, by exchange code; unlisted ones too.
#[test]
fn the_family() {
    let server = Server::of_dump(&dump());
    let known = |number: u32| Value::from(figi(number));
    for number in [1, 2, 3, 4, 5, 6, 8] {
        let family = look(&server, number)["family"].clone();
        assert_eq!(family["shareClassFIGI"], figi(900));
        assert_eq!(family["truncated"], false);
        let expected = [
            (known(4), known(4), vec![known(5)]),
            (known(7), Value::Null, vec![known(6)]),
            (known(1), known(1), vec![known(3), known(2)]),
            (Value::Null, Value::Null, vec![known(8)]),
        ];
        assert_eq!(tree(&family), expected, "{number}");
        let venue = &family["composites"][0]["venues"][0];
        assert_eq!((&venue["micCode"], &venue["ticker"]), (&json!("XETR"), &json!("A1")));
    }
    // Without a share class the family is the composite's, also where the composite's own row
    // does not name itself as composite; without a composite it is the row alone.
    for number in [12, 13] {
        let family = look(&server, number)["family"].clone();
        assert_eq!(family["shareClassFIGI"], Value::Null);
        assert_eq!(tree(&family), [(known(12), known(12), vec![known(13)])], "{number}");
    }
    let alone = look(&server, 10)["family"].clone();
    assert_eq!(tree(&alone), [(Value::Null, Value::Null, vec![known(10)])]);
}

/// contract 16.5: a family that is too large is cut, with `truncated` true, and still has the asked
/// row.
#[test]
fn a_large_family_is_cut() {
    let rows = FAMILY_ROWS_MAX as u32;
    let of = |count: u32| {
        let composite = figi(0);
        let lines = (0..count).map(|number| {
            let code = if number % 2 == 0 { "B" } else { "A" };
            format!("{},{composite},{code}\n", figi(number))
        });
        let dump = format!("figi,compositeFIGI,exchCode\n{}", lines.collect::<String>());
        Server::of_dump(&dump)
    };
    for (count, truncated) in [(rows, false), (rows + 1, true), (rows + 70, true)] {
        let server = of(count);
        for number in [0, 1, count - 1] {
            let family = look(&server, number)["family"].clone();
            assert_eq!(family["truncated"], truncated, "{count}");
            let tree = tree(&family);
            assert_eq!(tree.len(), 1);
            assert_eq!(tree[0].1, figi(0));
            assert_eq!(1 + tree[0].2.len(), rows as usize);
            assert!(number == 0 || tree[0].2.contains(&figi(number).into()), "{number}");
        }
    }
}

/// contract 16.6: a text that is not a FIGI has the reason, and an unknown FIGI is 404. Letter
/// case is ignored.
#[test]
fn invalid_and_unknown_figis() {
    let server = Server::of_dump(&dump());
    for (text, status, error) in [
        ("BBG000BLNNH7", 400, "Invalid FIGI: the check digit is wrong."),
        ("BBG000BLNNH", 400, "Invalid FIGI: a FIGI has 12 characters."),
        (
            "IBM000000000",
            400,
            "Invalid FIGI: a FIGI is two consonants, G, eight consonants or digits, and a check digit.",
        ),
        ("%3Cscript%3E", 400, "Invalid FIGI: "),
        (&figi(77), 404, "No instrument has this FIGI."),
    ] {
        let answer = get(&server, text);
        assert_eq!(
            (answer.status, &*answer.content_type),
            (status, "application/json; charset=utf-8")
        );
        let answer: Value = serde_json::from_str(&answer.body).unwrap();
        let message = answer["error"].as_str().unwrap();
        assert!(message.starts_with(error) && !message.contains("script"), "{text}: {message}");
        assert_eq!(answer.as_object().unwrap().len(), 1);
    }
    let upper = get(&server, &figi(1));
    assert_eq!(get(&server, &figi(1).to_lowercase()).body, upper.body);
    assert_eq!(get(&server, &format!("{}/", figi(1))).body, upper.body);
}

/// contract 16.7: `--hide-identifiers` leaves `identifiers` out, and nothing else.
#[test]
fn identifiers_may_be_hidden() {
    let shown = Server::of_dump(&dump());
    let whole = look(&shown, 1);
    let settings = Settings { hide_identifiers: true, ..Settings::default() };
    let hidden = look(&shown.with_settings(settings), 1);
    let mut expected = whole.clone();
    expected["instrument"].as_object_mut().unwrap().remove("identifiers").unwrap();
    assert_eq!(hidden, expected);
    assert!(!hidden.to_string().contains("US0378331005"));
}

/// The endpoint has no check of the contract and no rate; HEAD works, and gzip when asked for.
#[test]
fn no_check_of_the_contract_applies() {
    let server = Server::of_dump(&dump());
    let path = format!("/instruments/{}", figi(1));
    let headers =
        [("accept", "image/png"), ("x-service-apikey", "none"), ("accept-encoding", "gzip")];
    let answer = server.request("GET", &path, &headers, "");
    assert_eq!((answer.status, answer.header("content-encoding")), (200, "gzip"));
    assert_eq!(answer.header("ratelimit-limit"), "");
    assert_eq!(server.request("HEAD", &path, &headers, "").status, 200);
    let answer = server.request("POST", &path, &[], "");
    assert_eq!((answer.status, answer.allow.as_deref()), (405, Some("GET, HEAD")));
}

/// contract 16.5: the FIGI of a share class, and of a composite that has no row, has the family.
#[test]
fn figis_that_only_other_rows_name() {
    let server = Server::of_dump(&dump());
    let listing = look(&server, 6);
    for number in [900, 7] {
        let answer = look(&server, number);
        assert_eq!(answer["instrument"], Value::Null);
        assert_eq!(answer["family"]["shareClassFIGI"], figi(900), "{answer}");
        assert_eq!(answer["family"], listing["family"], "{number}");
    }
    // A row that is a composite itself has its own answer.
    assert_eq!(look(&server, 12)["instrument"]["figi"], figi(12));
}
