//! Contract, chapter 10: the order of the rows of a search. Each test isolates one step of the
//! order; `golden/relevance` tests whether people find the instruments that they mean.

use serde_json::{Value, json};

use crate::support::figi;
use crate::support::{Server, figis};

/// A server over rows that are given in the expected order. Their FIGIs descend, so that FIGI order
/// is the reverse.
fn server(rows: &[Value]) -> (Server, Vec<String>) {
    let (mut dump, mut wanted) = (String::new(), Vec::new());
    for (row, number) in rows.iter().zip((0..rows.len() as u32).rev()) {
        let mut row = row.clone();
        row["figi"] = figi(number).into();
        dump.push_str(&format!("{row}\n"));
        wanted.push(figi(number));
    }
    (Server::of_dump(&dump), wanted)
}

fn search(server: &Server, query: &str) -> Vec<String> {
    let answer = server.post("/v3/search", &json!({"query": query}).to_string());
    assert_eq!(answer.status, 200, "{}", answer.body);
    figis(&serde_json::from_str(&answer.body).unwrap())
}

fn share(name: &str) -> Value {
    json!({"name": name, "marketSector": "Equity", "securityType2": "Common Stock"})
}

fn option(name: &str) -> Value {
    json!({"name": name, "marketSector": "Equity", "securityType2": "Option"})
}

fn with(mut row: Value, column: &str, value: &str) -> Value {
    row[column] = value.into();
    row
}

/// contract 10.2: the way in which a row matches comes before everything else, such as that
/// shares come before options.
#[test]
fn the_ways_to_match() {
    // The whole query is a number, a ticker, a word of the name, a description or an alias.
    let isin = "US0378331005";
    let (server, wanted) = server(&[
        with(option("OTHER"), "ID_ISIN", isin),
        with(option("OTHER"), "ticker", isin),
        option(&format!("NOTE ON {isin}")),
        with(share("OTHER"), "securityDescription", &format!("NOTE ON {isin}")),
    ]);
    assert_eq!(search(&server, isin), wanted);

    // The whole query is a name; a word says the kind; the words are in ticker and name; in
    // description or alias; joined they are a symbol.
    let fund = json!({"name": "ZEBRA GLOBAL ETF", "marketSector": "Equity",
        "securityType2": "Mutual Fund"});
    let (server, wanted) = self::server(&[
        share("ZEBRA ETF"),
        fund,
        share("ZEBRA ETF MINING"),
        with(share("OTHER"), "alias", "ZEBRA ETF"),
        with(share("OTHER"), "ID_EXCH_SYMBOL", "ZEBRAETF"),
    ]);
    assert_eq!(search(&server, "zebra etf"), wanted);

    // A word that is the symbol of one row, and a word in the name of another.
    let (server, wanted) =
        self::server(&[with(option("OTHER"), "ID_EXCH_SYMBOL", "ZEBRA"), share("ZEBRA MINING")]);
    assert_eq!(search(&server, "zebra"), wanted);
}

/// contract 10.3: rows that match alike are in the order of their kinds.
#[test]
fn the_kinds() {
    let kind = |market_sector: &str, security_type2: &str| {
        json!({"name": "ZEBRA THING", "marketSector": market_sector,
            "securityType2": security_type2})
    };
    let (server, wanted) = server(&[
        kind("Equity", "Common Stock"),
        kind("Equity", "Mutual Fund"),
        kind("Equity", "Depositary Receipt"),
        kind("Index", "Index"),
        kind("Pfd", "Preferred Stock"),
        kind("Equity", "Right"),
        kind("Curncy", "CROSS"),
        kind("Equity", "Warrant"),
        kind("Corp", "Corp"),
        kind("Equity", "Option"),
        kind("Comdty", "Future"),
        json!({"name": "ZEBRA THING"}),
    ]);
    assert_eq!(search(&server, "zebra"), wanted);
    assert_eq!(search(&server, "thing zebra"), wanted);
}

/// contract 10.8: within a tier and a kind the larger importance comes first, and rows without come
/// last. Of a security the most important listing is the best, and comes before the others of any.
#[test]
fn the_importances() {
    let important = |row: Value, importance: &str| with(row, "importance", importance);
    let rows = [
        // Another way to match and another kind come before any importance.
        share("ZEBRA"),
        important(share("ZEBRA MINING"), "1e12"),
        important(share("ZEBRA MINING AND TRADING"), "12.5"),
        // A short name comes first only among equals.
        important(share("ZEBRA FARMS"), "12"),
        important(share("ZEBRA AND SONS FARMS OF AFRICA"), "12"),
        important(share("ZEBRA GAMMA"), "0"),
        share("ZEBRA DELTA"),
        important(option("ZEBRA MINING"), "7"),
        option("ZEBRA MINING"),
        important(with(share("OTHER"), "alias", "ZEBRA"), "1e13"),
    ];
    let (server, wanted) = server(&rows);
    assert_eq!(search(&server, "zebra"), wanted);
    let suggested = server.request("GET", "/suggest?query=zebra+min", &[], "").body;
    assert!(!suggested.contains("importance"), "{suggested}");

    // Without the column the order is that of the other signals.
    let blank = |row: &Value| {
        let mut row = row.clone();
        row.as_object_mut().unwrap().remove("importance");
        row
    };
    let (server, _) = self::server(&rows.iter().map(blank).collect::<Vec<_>>());
    let place = |name: &str| {
        let found = server.post("/v3/search", r#"{"query": "zebra"}"#).body;
        let found: Value = serde_json::from_str(&found).unwrap();
        let mut rows = found["data"].as_array().unwrap().iter();
        rows.position(|row| row["name"] == name).unwrap()
    };
    assert!(place("ZEBRA DELTA") < place("ZEBRA MINING AND TRADING"));

    let listing = |share_class: u32, exch_code: &str, importance: &str| {
        let row = with(share("ZEBRA MINING"), "shareClassFIGI", &figi(share_class));
        important(with(row, "exchCode", exch_code), importance)
    };
    let (server, wanted) = self::server(&[
        listing(901, "LN", "9"),
        listing(900, "GR", "8"),
        listing(902, "US", "3"),
        listing(901, "US", "8.5"),
        listing(900, "US", "7"),
        listing(902, "LN", ""),
    ]);
    assert_eq!(search(&server, "zebra"), wanted);
}

/// The more important one of two suggestions that fit alike comes first, also for a beginning.
#[test]
fn the_importances_of_suggestions() {
    let suggested = |server: &Server, query: &str| -> Vec<String> {
        let answer = server.request("GET", &format!("/suggest?query={query}&limit=3"), &[], "");
        let answer: Value = serde_json::from_str(&answer.body).unwrap();
        let rows = answer["data"].as_array().unwrap().iter();
        rows.map(|row| row["name"].as_str().unwrap().to_owned()).collect()
    };
    // Many listings speak for the row without importance.
    let mut rows: Vec<Value> =
        (0..8).map(|_| with(share("ZEBRA MINING"), "shareClassFIGI", &figi(900))).collect();
    rows.push(with(share("ZEBRA TRADING"), "importance", "2"));
    rows.push(with(share("ZEBRA FARMING"), "importance", "5"));
    let wanted = ["ZEBRA FARMING", "ZEBRA TRADING", "ZEBRA MINING"];
    let (server, _) = server(&rows);
    for query in ["zebra", "zebr", "ze"] {
        assert_eq!(suggested(&server, query), wanted, "{query}");
    }
    rows.iter_mut().for_each(|row| _ = row.as_object_mut().unwrap().remove("importance"));
    let (server, _) = self::server(&rows);
    assert_eq!(suggested(&server, "zebra")[0], "ZEBRA MINING");
}
