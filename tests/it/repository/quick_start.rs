//! The README: its first example, over the bundled sample, and its length.

use std::fs;
use std::path::Path;

use serde_json::json;

use crate::support::Server;

/// Every row of the bundled sample becomes an instrument, and the README's question finds the rows
/// of IBM.
#[test]
fn the_sample_is_taken_whole_and_answers_the_readme() {
    let server = Server::of_sample();
    let report = &server.report;
    assert!(report.reasons.is_empty() && report.dropped.is_empty(), "{report}");
    assert_eq!(report.total().merged, 0, "{report}");
    let answers = server.map(&json!([{"idType": "ID_ISIN", "idValue": "US4592001014"}]));
    let rows = answers[0]["data"].as_array().unwrap();
    assert!(rows.len() >= 8, "the IBM rows");
    assert_eq!(rows[0]["figi"], "BBG000BLNNH6", "the composite has the smallest FIGI");
    assert!(rows.iter().all(|row| row["shareClassFIGI"] == "BBG001S5S399"));
}

/// Somebody who never heard of Figdex reads the README in three minutes.
#[test]
fn the_readme_is_short() {
    const WORDS_MAX: usize = 700;
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let text = fs::read_to_string(readme).unwrap();
    // Every second piece is code.
    let words: usize =
        text.split("```").step_by(2).map(|prose| prose.split_whitespace().count()).sum();
    assert!(words <= WORDS_MAX, "{words} words outside of code, at most {WORDS_MAX}");
}
