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
