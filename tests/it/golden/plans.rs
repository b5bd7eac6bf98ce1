//! Golden plans: `plans.golden` holds how typical questions are carried out over the bundled sample.
//! `FIGDEX_BLESS=1 cargo test --test it plans` writes it.

use std::fs;

use figdex::commands::explain::explain;
use figdex_index::Catalogue;

use super::Golden;
use crate::support::process::{figdex, run};

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
    Golden::new("plans.golden").compare(&text);

    // The command prints the same.
    let command = |question: &str| {
        fs::write(folder.path().join("query.json"), question).unwrap();
        let mut command = figdex();
        run(command.current_dir(folder.path()).args(["explain", "query.json", "--index", "index"]))
    };
    for question in [QUESTIONS[0], QUESTIONS[8]] {
        let (code, printed, error) = command(question);
        let (plan, time) = printed.rsplit_once("planned").unwrap();
        assert!(time.starts_with(", found and counted in ") && time.ends_with(" ms\n"), "{time}");
        assert!(code == Some(0) && text.contains(&format!("{question}\n{plan}\n")), "{error}");
    }
    let [one, two] = [QUESTIONS[0], QUESTIONS[2]].map(|job| explain(&catalogue, job).unwrap());
    let (_, plans, _) = command(&format!("[{},{}]", QUESTIONS[0], QUESTIONS[2]));
    assert!(plans.starts_with(&format!("job 1\n{one}job 2\n{two}planned")), "{plans}");

    // A question that the server refuses is refused here in the contract's words.
    for (question, error) in [
        ("1", "mapping jobs in JSON: Bad request."),
        ("[{]", "mapping jobs in JSON: Bad request."),
        ("{}", "query must contain at least one parameter"),
        (r#"{"exchCode":"us"}"#, "Invalid enum field."),
        (r#"{"exchCode":["US","us"]}"#, "Invalid enum field."),
        (r#"{"exchCode":[]}"#, "exchCode must be a string, or an array of 1 to 100 strings."),
        (r#"{"idType":"TICKER","idValue":"IBM","exchCode":["US","UN"]}"#, "Invalid enum field."),
        (r#"{"exchcode":"US"}"#, "Invalid key 'exchcode'."),
        (r#"{"idType":"TICKER"}"#, "idValue is required."),
        (r#"{"idValue":"IBM"}"#, "idType is required."),
        (r#"[{"idType":"TICKER","idValue":"IBM"},7]"#, "job 2: A mapping job must be an object."),
        (r#"{"strike":[2,1]}"#, "strike: the first entry must not be greater than the second."),
        (r#"{"idType":"ID_ISIN","idValue":"US4592001015"}"#, "Invalid idValue format."),
    ] {
        let (code, _, stderr) = command(question);
        assert!(code == Some(1) && stderr.ends_with(&format!("{error}\n")), "{question}: {stderr}");
    }
}
