//! Contract 21: identifiers and symbols of vendors in the answers to lists.

use figdex::State;
use figdex::config::Settings;
use serde_json::{Value, json};

use super::{CSV, JSON, NDJSON, ask, dump, server};
use crate::support::{Server, figi};

/// Rows of several markets, whose identifiers have one value, several or none.
const HEADING: &str = "figi,compositeFIGI,shareClassFIGI,ticker,name,exchCode,marketSector,ID_ISIN,\
                       ID_CUSIP,OCC_SYMBOL\n";

fn markets() -> String {
    let mut dump = HEADING.to_owned();
    for (number, composite, share_class, ticker, code, ids) in [
        (1, 1, 901, "BRK/B", "US", "US0846707026,084670702,"),
        (2, 1, 901, "BRK/B", "UN", "US0846707026;US0846701086,,"),
        (3, 3, 902, "700", "HK", "KYG875721634,,"),
        (4, 4, 903, "SAP", "GR", ",,"),
        (5, 4, 903, "SAP", "GY", ",,"),
        // The row of the composite is not there.
        (6, 60, 904, "BP/", "LN", ",,"),
        (7, 7, 905, "7203", "JP", ",,"),
        // Two securities of one ticker: neither has a symbol.
        (8, 8, 906, "TWICE", "US", ",,"),
        (9, 9, 907, "TWICE", "US", ",,"),
        (10, 10, 908, "ERICB", "SS", ",,"),
        // Only in Munich, so that the symbol is the one of Munich.
        (11, 11, 909, "MUN", "GR", ",,"),
        (12, 11, 909, "MUN", "GM", ",,"),
        (13, 13, 910, "AAPL 251219C200", "US", ",,AAPL  251219C00200000"),
    ] {
        let [number, composite, share_class] = [number, composite, share_class].map(figi);
        dump += &format!("{number},{composite},{share_class},{ticker},X,{code},Equity,{ids}\n");
    }
    dump
}

/// The row of a FIGI, with these fields.
fn row(server: &Server, number: u32, fields: &[&str]) -> Value {
    ask(server, &json!({"jobs": [figi(number)], "fields": fields}))["results"][0]["data"][0].take()
}

/// contract 21.1 to 21.3: identifiers in each form of an answer.
#[test]
fn identifiers() {
    let server = Server::of_dump(&markets());
    let fields = ["ID_ISIN", "figi", "ID_CUSIP", "TICKER", "COMPOSITE_ID_BB_GLOBAL"];
    let one = json!({"ID_ISIN": "US0846707026", "figi": figi(1), "ID_CUSIP": "084670702",
        "TICKER": "BRK/B", "COMPOSITE_ID_BB_GLOBAL": figi(1)});
    assert_eq!(row(&server, 1, &fields), one);
    let several = row(&server, 2, &fields);
    assert_eq!(several["ID_ISIN"], json!(["US0846707026", "US0846701086"]));
    assert_eq!(several["ID_CUSIP"], Value::Null);
    let option = row(&server, 13, &["OCC_SYMBOL", "OCC_SYMBOL:compact", "OCC_SYMBOL:padded"]);
    assert_eq!(
        option,
        json!({"OCC_SYMBOL": "AAPL  251219C00200000", "OCC_SYMBOL:compact": "AAPL251219C00200000",
            "OCC_SYMBOL:padded": "AAPL  251219C00200000"})
    );
    let url = "/resolve?fields=figi,ID_ISIN,OCC_SYMBOL:compact";
    let body = [1, 2, 13].map(figi).join("\n");
    let csv = server.request("POST", url, &[CSV], &body);
    let [first, second, last] = [1, 2, 13].map(figi);
    assert_eq!(
        csv.body,
        format!(
            "row,input,match,idType,matches,by,reason,figi,ID_ISIN,OCC_SYMBOL:compact\n\
             1,{first},resolved,ID_BB_GLOBAL,1,only,,{first},US0846707026,\n\
             2,{second},resolved,ID_BB_GLOBAL,1,only,,{second},US0846707026|US0846701086,\n\
             3,{last},resolved,ID_BB_GLOBAL,1,only,,{last},,AAPL251219C00200000\n"
        )
    );
    let lines = server.request("POST", url, &[NDJSON], format!("\"{second}\"\n"));
    let line: Value = serde_json::from_str(&lines.body).unwrap();
    assert_eq!(line["data"][0]["ID_ISIN"], json!(["US0846707026", "US0846701086"]));
}

/// contract 21.1: all rows of an ambiguous job, and candidates, have the fields too.
#[test]
fn rows_of_every_kind() {
    let server = server();
    let body = json!({"jobs": ["US4592001014"], "fields": ["ID_CUSIP"]});
    let found = ask(&server, &body)["results"][0]["data"].take();
    assert_eq!(found, json!(vec![json!({"ID_CUSIP": "459200101"}); 4]));
    let url = "/resolve?fields=ID_CUSIP&many=all";
    let csv = server.request("POST", url, &[CSV], "US4592001014\n").body;
    assert_eq!(csv.lines().skip(1).filter(|line| line.ends_with(",459200101")).count(), 4);
    let unseen = server.request("POST", "/resolve?fields=ID_CUSIP", &[CSV], "US4592001014\n").body;
    assert!(unseen.ends_with(",4 rows may be meant,\n"), "no field of an ambiguous job: {unseen}");
    let body = json!({"jobs": ["Berkshire Inc"], "fields": ["ID_CUSIP"], "candidates": true});
    let candidates = ask(&server, &body)["results"][0]["candidates"].take();
    assert_eq!(candidates, json!([{"figi": figi(7), "ID_CUSIP": null}]));
}

/// contract 21.1, 17.5: a wrong or repeated name is an error that lists the names.
#[test]
fn wrong_names() {
    let server = server();
    for (fields, expected) in [
        ("ID_ISINS", "fields: \"ID_ISINS\" is not a field; the fields are figi,"),
        ("symbol:reuters", "is not a field"),
        ("ID_ISIN:compact", "is not a field"),
        ("ID_ISIN,ID_ISIN", "fields: ID_ISIN is asked for twice."),
    ] {
        let url = format!("/resolve?fields={fields}");
        let answer = server.request("POST", &url, &[JSON], r#"{"jobs":["IBM"]}"#);
        assert_eq!(answer.status, 400, "{fields}");
        assert!(answer.body.contains(&expected.replace('"', "\\\"")), "{}", answer.body);
    }
    for name in ["ID_ISIN", "OCC_SYMBOL:padded", "symbol:yahoo"] {
        let answer = server.request("POST", "/resolve?fields=x", &[JSON], r#"{"jobs":[]}"#);
        assert!(answer.body.contains(name), "{name}: {}", answer.body);
    }
}

/// contract 21.4: `--hide-identifiers` empties the columns of identifiers that no row shows.
#[test]
fn hidden_identifiers() {
    let settings = Settings { hide_identifiers: true, ..Settings::default() };
    let server = Server::with(&dump(), |engine| State::new(engine, settings));
    let shown = row(&server, 1, &["ID_ISIN", "ID_CUSIP", "TICKER", "ID_BB_GLOBAL"]);
    let expected =
        json!({"ID_ISIN": null, "ID_CUSIP": null, "TICKER": "IBM", "ID_BB_GLOBAL": figi(1)});
    assert_eq!(shown, expected);
    let found = server.request("POST", "/resolve?fields=ID_CUSIP", &[CSV], "US0378331005\n");
    assert!(found.body.ends_with(",resolved,ID_ISIN,1,only,,\n"), "{}", found.body);
}

const VENDORS: [&str; 3] = ["symbol:yahoo", "symbol:google", "symbol:tradingview"];

/// contract 21.6 to 21.9: the symbols of rows, and each of them read back.
#[test]
fn symbols() {
    let server = Server::of_dump(&markets());
    if server.is_in_cluster() {
        // contract 21.9.
        let answer = server.post("/resolve", r#"{"jobs":["SAP"],"fields":["symbol:yahoo"]}"#);
        assert_eq!(answer.status, 400);
        assert!(
            answer.body.contains("is not answered by an index in a cluster"),
            "{}",
            answer.body
        );
        return;
    }
    for (number, expected) in [
        (1, [json!("BRK-B"), json!("BRK.B"), json!("BRK.B")]),
        (2, [json!("BRK-B"), json!("BRK.B"), json!("BRK.B")]),
        (3, [json!("0700.HK"), json!("HKG:0700"), json!("HKEX:700")]),
        (4, [json!("SAP.DE"), json!("ETR:SAP"), json!("XETR:SAP")]),
        (5, [json!("SAP.DE"), json!("ETR:SAP"), json!("XETR:SAP")]),
        (6, [json!("BP.L"), json!("LON:BP"), json!("LSE:BP")]),
        (7, [json!("7203.T"), json!("TYO:7203"), json!("TSE:7203")]),
        (8, [Value::Null, Value::Null, Value::Null]),
        (10, [Value::Null, Value::Null, Value::Null]),
        (11, [json!("MUN.MU"), Value::Null, json!("MUN:MUN")]),
        (13, [Value::Null, Value::Null, Value::Null]),
    ] {
        let found = row(&server, number, &VENDORS);
        assert_eq!(VENDORS.map(|vendor| found[vendor].clone()), expected, "{number}");
        let of_row = row(&server, number, &["compositeFIGI", "shareClassFIGI"]);
        for (vendor, symbol) in VENDORS.iter().zip(expected).filter(|(_, symbol)| !symbol.is_null())
        {
            let job = json!({"text": symbol, "as": vendor});
            let body = json!({"jobs": [job], "fields": ["compositeFIGI", "shareClassFIGI"]});
            let result = ask(&server, &body)["results"][0].take();
            assert_eq!(result["status"], "resolved", "{symbol} {vendor}");
            assert_eq!((&result["idType"], &result["data"]), (&json!("TICKER"), &json!([of_row])));
        }
    }
}

/// contract 21.8: a symbol is read as that vendor spells it, whatever else it may be.
#[test]
fn symbols_as_input() {
    let server = Server::of_dump(&markets());
    let result = |text: &str, vendor: &str| {
        let job = json!({"text": text, "as": vendor});
        ask(&server, &json!({"jobs": [job], "fields": ["figi"]}))["results"][0].take()
    };
    for (text, vendor, expected) in [
        ("brk-b", "symbol:yahoo", Some(1)),
        ("BRK.B", "symbol:google", Some(1)),
        ("BRK-B", "symbol:google", None),
        ("SAP", "symbol:yahoo", None),
        ("HKEX:700", "symbol:tradingview", Some(3)),
        ("ERIC-B.ST", "symbol:yahoo", Some(10)),
    ] {
        let found = result(text, vendor);
        let figi = found["data"][0]["figi"].as_str().map(str::to_owned);
        assert_eq!(figi, expected.map(crate::support::figi), "{text} {vendor}: {found}");
    }
    let unknown = result("SAP.XX", "symbol:yahoo");
    assert_eq!(unknown["error"], "symbol:yahoo has no exchange \"XX\"");
    assert_eq!(result("", "symbol:yahoo")["status"], "invalid");
    assert_eq!(result("IBM", "symbol:reuters")["error"], "Invalid value for as");
    let narrowed = json!({"text": "TWICE", "as": "symbol:yahoo", "exchCode": "LN"});
    assert_eq!(ask(&server, &json!({"jobs": [narrowed]}))["results"][0]["status"], "unknown");
    let csv = server.request("POST", "/resolve", &[CSV], "idValue,as\n0700.HK,symbol:yahoo\n");
    assert!(csv.body.contains(&figi(3)), "{}", csv.body);
}
