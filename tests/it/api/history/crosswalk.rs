//! Contract 21.5: identifiers of rows as they were.

use figdex::config::Settings;
use figdex_index::{IdType, Instrument};
use serde_json::{Value, json};

use super::{CSV, DAYS, result, row, state_of};
use crate::support::{Server, figi};

const BEFORE: &str = "US0378331005";
const NOW: &str = "US4592001014";

fn identified(isin: &str, ticker: &str) -> Instrument {
    let isin = IdType::Isin.admit(isin).unwrap().into_owned();
    Instrument {
        unique_id: Some("EQ1".to_owned()),
        identifiers: vec![isin],
        composite_figi: Some(figdex_index::Figi::parse(&figi(1)).unwrap()),
        ..row(1, ticker, "US", 901)
    }
}

fn server() -> Server {
    let same = || Instrument {
        identifiers: vec![IdType::Cusip.admit("037833100").unwrap().into_owned()],
        ..row(2, "SAME", "US", 902)
    };
    let nights = [
        (DAYS[0], vec![identified(BEFORE, "OLD"), same()]),
        (DAYS[3], vec![identified(NOW, "NEW"), same()]),
    ];
    Server::over(&state_of(&nights, Some(&[]), Settings::default()), Default::default())
}

/// contract 21.5: `data` has the identifiers of the day and `today` those of today. What the past
/// does not keep is null.
#[test]
fn identifiers_of_the_day() {
    let server = server();
    let fields = json!(["ID_ISIN", "TICKER", "ID_BB_UNIQUE", "symbol:yahoo"]);
    let was =
        json!({"ID_ISIN": BEFORE, "TICKER": "OLD", "ID_BB_UNIQUE": null, "symbol:yahoo": null});
    let is = json!({"ID_ISIN": NOW, "TICKER": "NEW", "ID_BB_UNIQUE": "EQ1", "symbol:yahoo": "NEW"});
    let dated = result(&server, "OLD", json!({"asOf": DAYS[0], "fields": fields}));
    assert_eq!((&dated["data"], &dated["today"]), (&json!([was]), &is));
    let former = result(&server, "OLD", json!({"fields": fields}));
    assert_eq!(
        (&former["status"], &former["former"], &former["today"]),
        (&json!("historical"), &was, &is)
    );
    // A row that did not change.
    let cusip = json!(["ID_CUSIP", "symbol:yahoo"]);
    let same = result(&server, "SAME", json!({"asOf": DAYS[0], "fields": cusip}));
    assert_eq!(same["data"], json!([{"ID_CUSIP": "037833100", "symbol:yahoo": Value::Null}]));
    let url = "/resolve?fields=ID_ISIN,symbol:yahoo";
    let csv = server.request("POST", &format!("{url}&asOf={}", DAYS[0]), &[CSV], "OLD\n").body;
    assert!(csv.contains(&format!(",only,,{BEFORE},,{}", figi(1))), "{csv}");
    let now = server.request("POST", url, &[CSV], "NEW\n").body;
    assert!(now.contains(&format!(",only,,{NOW},NEW,")), "{now}");
}

/// contract 21.4, 20.15: no identifier of a row as it was is shown either.
#[test]
fn hidden_identifiers_of_the_day() {
    let settings = Settings { hide_identifiers: true, ..Settings::default() };
    let nights =
        [(DAYS[0], vec![identified(BEFORE, "OLD")]), (DAYS[3], vec![identified(NOW, "NEW")])];
    let server = Server::over(&state_of(&nights, Some(&[]), settings), Default::default());
    let fields = json!(["ID_ISIN", "figi"]);
    let dated = result(&server, "OLD", json!({"asOf": DAYS[0], "fields": fields}));
    let hidden = json!({"ID_ISIN": null, "figi": figi(1)});
    assert_eq!((&dated["data"], &dated["today"]), (&json!([hidden]), &hidden));
}
