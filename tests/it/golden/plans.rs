//! Golden plans: `plans.golden` holds how typical questions are carried out over the bundled sample.
//! `FIGDEX_BLESS=1 cargo test --test it plans` writes it.

use std::fs;

use figdex_index::Catalogue;
use figdex_ingest::explain::explain;

use crate::support::ingest;

const QUESTIONS: [&str; 29] = [
    // Mapping jobs.
    r#"{"idType":"ID_ISIN","idValue":"US4592001014"}"#,
    r#"{"idType":"ID_ISIN","idValue":"US4592001014","exchCode":"US"}"#,
    r#"{"idType":"ID_BB_GLOBAL","idValue":"BBG000BLNNH6"}"#,
    r#"{"idType":"TICKER","idValue":"IBM","micCode":"XNYS","currency":"USD"}"#,
    r#"{"idType":"BASE_TICKER","idValue":"IBM","securityType2":"Option","expiration":["2026-01-01",null],"strike":[100,200]}"#,
    r#"{"idType":"ID_CUSIP","idValue":459200101}"#,
    // Filters.
    r#"{"exchCode":"US"}"#,
    r#"{"exchCode":"US","includeUnlistedEquities":true}"#,
    r#"{"exchCode":"US","securityType2":"Common Stock"}"#,
    r#"{"marketSecDes":"Equity","securityType2":"Option","optionType":"Put","currency":"USD"}"#,
    r#"{"securityType2":"Option","strike":[100,200],"includeUnlistedEquities":true}"#,
    r#"{"maturity":["2030-01-01","2030-12-31"],"coupon":[5,null]}"#,
    r#"{"currency":"XAU","exchCode":"US"}"#,
    r#"{"includeUnlistedEquities":true}"#,
    r#"{"contractSize":[-1,-0.5]}"#,
    // Filters with several values.
    r#"{"exchCode":["US","GR","US"],"includeUnlistedEquities":true}"#,
    r#"{"exchCode":["US","GR"],"securityType2":["Common Stock","Option"],"optionType":["Put"]}"#,
    r#"{"currency":["XAU","XAG"]}"#,
    r#"{"query":"ibm us","exchCode":["UN","US"]}"#,
    r#"{"query":"ibm us","exchCode":["UN","UP"]}"#,
    // Searches.
    r#"{"query":"ibm"}"#,
    r#"{"query":"international business machines"}"#,
    r#"{"query":"brk/b"}"#,
    r#"{"query":"ibm us"}"#,
    r#"{"query":"ibm us","exchCode":"UN"}"#,
    r#"{"query":"US4592001014"}"#,
    r#"{"query":"calls","securityType2":"Option","strike":[100,200]}"#,
    r#"{"query":"zyzzyva corp"}"#,
    r#"{"query":"--"}"#,
];

#[test]
fn plans_are_as_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let index = folder.path().join("index");
    figdex_ingest::sample::build(&index).unwrap();
    let catalogue = Catalogue::open(&index).unwrap();
    let mut text = String::new();
    for question in QUESTIONS {
        text += &format!("{question}\n{}\n", explain(&catalogue, question).unwrap());
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/golden/plans.golden");
    if std::env::var_os("FIGDEX_BLESS").is_some() {
        fs::write(path, &text).unwrap();
    }
    let golden = fs::read_to_string(path).unwrap();
    assert!(text == golden, "other plans; FIGDEX_BLESS=1 writes them to {path}\n{text}");

    // The command prints the same, and says what it cannot explain.
    fs::write(folder.path().join("query.json"), QUESTIONS[8]).unwrap();
    let (code, printed, error) = ingest(folder.path(), &["explain", "index", "query.json"]);
    assert!(code == 0 && golden.contains(&printed), "{printed}{error}");
    for (question, what) in [
        ("[]", "the question is no JSON object: a search, a filter or a mapping job"),
        (r#"{"exchCode":"us"}"#, r#"exchCode: "us" is no value that the index knows"#),
        (r#"{"exchCode":["US","us"]}"#, r#"exchCode: "us" is no value that the index knows"#),
        (r#"{"exchCode":[]}"#, "exchCode: there must be a value"),
        (
            r#"{"idType":"TICKER","idValue":"IBM","exchCode":["US","UN"]}"#,
            "a mapping job with several values of one property",
        ),
        (r#"{"exchcode":"US"}"#, "exchcode: there is no such property"),
        (r#"{"idType":"TICKER"}"#, "a mapping job without idType or idValue"),
        (r#"{"strike":[2,1]}"#, "strike: the first entry must not be greater than the second"),
        (r#"{"idType":"ID_ISIN","idValue":"US4592001015"}"#, "idValue: "),
    ] {
        fs::write(folder.path().join("query.json"), question).unwrap();
        let (code, _, error) = ingest(folder.path(), &["explain", "index", "query.json"]);
        assert!(code == 1 && error.contains(what), "{question}: {error}");
    }
}
