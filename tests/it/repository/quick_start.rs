//! The README's first example, over the bundled sample.

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
