//! "Which one is mine?": questions that users of the public service asked in its forums and in those
//! of programs that use it, each with the answer of a list (contract 17). Where a program took the
//! first of several rows, a list chooses by what the caller states, or does not choose.

use serde_json::{Value, json};

use crate::support::{Server, figi};

/// Rows of a dump: number, composite, share class, ticker, exchange code, currency, ISIN.
fn server() -> Server {
    let rows = [
        // An ETF with listings in London and Milan, under different tickers.
        (1, 1, 101, "VWRA", "LN", "USD", "IE00BK5BQT80"),
        (2, 2, 101, "VWCE", "GR", "EUR", "IE00BK5BQT80"),
        (3, 2, 101, "VWCE", "GY", "EUR", "IE00BK5BQT80"),
        (4, 4, 101, "VWCE", "IM", "EUR", "IE00BK5BQT80"),
        // A share with composites in two countries.
        (5, 5, 102, "GE", "US", "USD", "US3696043013"),
        (6, 5, 102, "GE", "UN", "USD", "US3696043013"),
        (7, 7, 102, "GCP", "GR", "EUR", "US3696043013"),
        // Two companies with one ticker, in New York and in Warsaw.
        (8, 8, 103, "TXT", "US", "USD", "US8832031012"),
        (9, 9, 104, "TXT", "PW", "PLN", "PLLVTSF00010"),
        // Apple in New York and at Xetra, where its ticker is another.
        (10, 10, 105, "AAPL", "US", "USD", "US0378331005"),
        (11, 10, 105, "AAPL", "UW", "USD", "US0378331005"),
        (12, 12, 105, "APC", "GR", "EUR", "US0378331005"),
        (13, 12, 105, "APC", "GY", "EUR", "US0378331005"),
        // A number that is the ticker of two companies, one of which is not known to be at home.
        (14, 14, 106, "6861", "JP", "JPY", "JP3236200006"),
        (15, 14, 106, "6861", "JT", "JPY", "JP3236200006"),
        (16, 16, 107, "6861", "TT", "TWD", ""),
    ];
    let mut dump = String::from(
        "figi,compositeFIGI,shareClassFIGI,ticker,name,exchCode,currency,marketSector,listed,ID_ISIN\n",
    );
    for (number, composite, share_class, ticker, code, currency, isin) in rows {
        dump += &format!(
            "{},{},{},{ticker},NAME,{code},{currency},Equity,true,{isin}\n",
            figi(number),
            figi(composite),
            figi(share_class)
        );
    }
    Server::of_dump(&dump)
}

/// The result of one job, with these steps.
fn resolve(server: &Server, job: impl Into<Value>, prefer: &[&str]) -> Value {
    let body = json!({"jobs": [job.into()], "prefer": prefer, "fields": ["figi", "ticker"]});
    let answer = server.post("/resolve", &body.to_string());
    assert_eq!(answer.status, 200, "{body} {}", answer.body);
    serde_json::from_str::<Value>(&answer.body).unwrap()["results"][0].take()
}

#[track_caller]
fn resolved(result: &Value, number: u32, by: &str) {
    assert_eq!(result["status"], "resolved", "{result}");
    assert_eq!((&result["by"], &result["data"][0]["figi"]), (&json!(by), &json!(figi(number))));
    assert_eq!(result["data"].as_array().unwrap().len(), 1);
}

#[track_caller]
fn ambiguous(result: &Value, numbers: &[u32]) {
    assert_eq!(
        (&result["status"], &result["matches"]),
        (&json!("ambiguous"), &json!(numbers.len()))
    );
    let mut found: Vec<&str> = result["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["figi"].as_str().unwrap())
        .collect();
    found.sort_unstable();
    let expected: Vec<String> = numbers.iter().copied().map(figi).collect();
    assert_eq!(found, expected, "{result}");
}

/// FinanceCopilot, issue 5: the ISIN of an ETF gave the listing in London instead of the one in
/// Milan, and nobody could say which was wanted.
#[test]
fn a_listing_of_an_etf_by_its_exchange() {
    let server = server();
    ambiguous(&resolve(&server, "IE00BK5BQT80", &[]), &[1, 2, 3, 4]);
    resolved(&resolve(&server, "IE00BK5BQT80", &["exchCode=IM"]), 4, "exchCode=IM");
    let steps = ["exchCode=AA|GY|IM"];
    resolved(&resolve(&server, "IE00BK5BQT80", &steps), 3, "exchCode=AA|GY|IM");
    resolved(&resolve(&server, "VWCE IM", &[]), 4, "only");
    resolved(&resolve(&server, "VWCE.DE", &[]), 3, "only");
    let euro = json!({"idType": "ID_ISIN", "idValue": "IE00BK5BQT80", "currency": "USD"});
    resolved(&resolve(&server, euro, &[]), 1, "only");
}

/// Ghostfolio, issue 4138: an ISIN has two listings, and since then the first of them is taken.
#[test]
fn the_first_row_is_not_taken() {
    let server = server();
    ambiguous(&resolve(&server, "US3696043013", &[]), &[5, 6, 7]);
    ambiguous(&resolve(&server, "US3696043013", &["composite"]), &[5, 7]);
}

/// OpenFIGI/api-examples, issues 22 and 32: only the primary listing of an ISIN is wanted, and the
/// composite of several FIGIs.
#[test]
fn the_composite_of_the_home_market() {
    let server = server();
    let steps = ["composite", "exchCode=US"];
    resolved(&resolve(&server, "US3696043013", &steps), 5, "exchCode=US");
    resolved(&resolve(&server, "US0378331005", &["exchCode=GR"]), 12, "exchCode=GR");
    let one = json!({"idType": "ID_ISIN", "idValue": "US0378331005", "exchCode": "GR"});
    resolved(&resolve(&server, one, &steps), 12, "only");
}

/// contract 17.10: `home` keeps the composite in the country of the ISIN that was asked for, or of
/// the row's ISIN. A country of holding companies names no home.
#[test]
fn the_step_home() {
    let server = server();
    resolved(&resolve(&server, "US3696043013", &["home"]), 5, "home");
    resolved(&resolve(&server, "AAPL", &["home"]), 10, "home");
    let share_class = json!({"idType": "ID_BB_GLOBAL_SHARE_CLASS_LEVEL", "idValue": figi(105)});
    resolved(&resolve(&server, share_class, &["home"]), 10, "home");
    ambiguous(&resolve(&server, "IE00BK5BQT80", &["home"]), &[1, 2, 3, 4]);
    resolved(&resolve(&server, "IE00BK5BQT80", &["home", "exchCode=IM"]), 4, "exchCode=IM");
    // Two securities of one ticker, both at home in their countries, and only one of them.
    ambiguous(&resolve(&server, "TXT", &["home"]), &[8, 9]);
    ambiguous(&resolve(&server, "6861", &["home"]), &[14, 16]);
    resolved(&resolve(&server, "6861", &["home", "exchCode=JP"]), 14, "exchCode=JP");
    resolved(&resolve(&server, "6861 JT", &[]), 15, "only");
}

/// Export-To-Ghostfolio, issue 174: the ticker of a share in Warsaw became that of another company
/// in New York.
#[test]
fn a_ticker_of_two_companies() {
    let server = server();
    ambiguous(&resolve(&server, "TXT", &[]), &[8, 9]);
    ambiguous(&resolve(&server, "TXT", &["composite"]), &[8, 9]);
    resolved(&resolve(&server, "TXT PW", &[]), 9, "only");
    resolved(&resolve(&server, "TXT", &["exchCode=PW"]), 9, "exchCode=PW");
    // A suffix that the table does not have means nothing, and leads to no other company.
    assert_eq!(resolve(&server, "TXT.PL", &[])["status"], "unknown");
}

/// Wealthfolio, issue 855: a ticker of Xetra was taken for the company's listing in New York.
#[test]
fn a_suffix_says_the_exchange() {
    let server = server();
    resolved(&resolve(&server, "APC.DE", &[]), 13, "only");
    resolved(&resolve(&server, "APC GY Equity", &[]), 13, "only");
    ambiguous(&resolve(&server, "APC", &[]), &[12, 13]);
}
