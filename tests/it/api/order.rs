//! Contract, chapter 10: the order of the rows of a search. Each test isolates one step of the
//! order; `golden/relevance` tests whether people find the instruments that they mean.

use std::path::Path;

use figdex_ingest::{Build, Input};
use serde_json::{Value, json};

use crate::support::{Server, build_of, figi, figis};

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

/// contract 10.2, 18.10: the way in which a row matches comes before everything else, such as that
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
    // In capitals, the word names no company (contract 10.9).
    assert_eq!(search(&server, "ZEBRA"), wanted);
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

/// The names of the rows that a search finds, page by page.
fn walk(server: &Server, query: &str) -> Vec<String> {
    let (mut names, mut start) = (Vec::new(), None::<String>);
    loop {
        let mut body = json!({"query": query});
        if let Some(start) = start {
            body["start"] = start.into();
        }
        let answer = server.post("/v3/search", &body.to_string());
        assert_eq!(answer.status, 200, "{}", answer.body);
        let answer: Value = serde_json::from_str(&answer.body).unwrap();
        let rows = answer["data"].as_array().unwrap().iter();
        names.extend(rows.map(|row| row["name"].as_str().unwrap().to_owned()));
        start = answer["next"].as_str().map(str::to_owned);
        if start.is_none() {
            return names;
        }
    }
}

/// contract 10.9: the company that a word alone names comes first, before a ticker that is wanted
/// less; and only once, on whatever page the search is, and however the index is cut.
#[test]
fn a_word_alone_names_a_company() {
    let listings = |name: &str, share_class: u32, count: usize| {
        vec![with(share(name), "shareClassFIGI", &figi(share_class)); count]
    };
    let ticker = |name: &str| with(share(name), "ticker", "ZEBRA");
    let important = |row: Value, importance: &str| with(row, "importance", importance);
    let first = |rows: &[Value], query: &str, expected: &str| {
        let dump: String = (0..)
            .zip(rows)
            .map(|(number, row)| format!("{}\n", with(row.clone(), "figi", &figi(number))))
            .collect();
        let one = Server::of_dump(&dump);
        let names = walk(&one, query);
        assert_eq!(names[0], expected, "{query} {names:?}");
        assert_eq!(names.len(), rows.len(), "{names:?}");
        let input = Input::Memory("dump", dump.into_bytes().into());
        let parts = |index: &Path| Build {
            part_instruments_max: Some(rows.len() as u32 / 4 + 1),
            ..build_of(vec![input], index)
        };
        assert_eq!(walk(&Server::build(parts), query), names);
    };

    // Twice as many listings, also when many rows hold the word.
    for more in [0, 300] {
        let mut rows = listings("ZEBRA MINING", 901, 4);
        rows.push(ticker("OTHER"));
        rows.extend((0..more).map(|number| share(&format!("GREAT ZEBRA {number}"))));
        first(&rows, "zebra", "ZEBRA MINING");
        first(&rows, "Zebra", "ZEBRA MINING");
        first(&rows, "ZEBRA", "OTHER");
        // A second word, or a ticker with as many listings.
        first(&[&rows[..4], &[ticker("ZEBRA MINING")]].concat(), "zebra mining", "ZEBRA MINING");
        let few = [&rows[..1], &rows[4..]].concat();
        first(&few, "zebra", "OTHER");
    }
    // A larger importance, whatever the listings.
    let mut rows = vec![with(ticker("OTHER"), "shareClassFIGI", &figi(902)); 8];
    rows.push(important(rows[0].clone(), "5"));
    rows.push(important(share("THE ZEBRA-MINING COMPANY"), "6"));
    first(&rows, "zebra", "THE ZEBRA-MINING COMPANY");
    rows[9] = important(share("ZEBRA MINING"), "4");
    first(&rows, "zebra", "OTHER");
    // A receipt; not a fund.
    rows[9] = important(share("ZEBRA MINING-SPON ADR"), "6");
    first(&rows, "zebra", "ZEBRA MINING-SPON ADR");
    rows[9] = important(share("ZEBRA MINING ETF"), "6");
    rows[9].as_object_mut().unwrap().remove("securityType2");
    first(&rows, "zebra", "OTHER");
    // The ticker of a fund, whose importance is not known.
    let fund = with(with(ticker("OTHER ETF"), "securityType2", "Mutual Fund"), "exchCode", "US");
    first(&[fund, important(share("ZEBRA MINING"), "6")], "zebra", "OTHER ETF");
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
