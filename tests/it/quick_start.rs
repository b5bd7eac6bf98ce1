//! The README's first example, over the bundled sample.

use figdex::config::Settings;
use figdex::{State, service};
use figdex_index::Catalogue;
use std::sync::Arc;

#[test]
fn the_sample_has_no_fault_and_answers_the_readme() {
    let folder = tempfile::tempdir().unwrap();
    let index = folder.path().join("data/index");
    let report = figdex_ingest::sample::build(&index).unwrap();
    assert!(report.reasons.is_empty() && report.dropped.is_empty(), "{report}");
    assert_eq!(report.total().merged, 0, "{report}");
    let service =
        service(Arc::new(State::new(Catalogue::open(&index).unwrap(), Settings::default())));
    let body = r#"[{"idType":"ID_ISIN","idValue":"US4592001014"}]"#;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let request = warp::test::request().method("POST").path("/v3/mapping");
    let request = request.header("content-type", "application/json").body(body);
    let reply = runtime.block_on(request.reply(&service));
    let answers: serde_json::Value = serde_json::from_slice(reply.body()).unwrap();
    let rows = answers[0]["data"].as_array().unwrap();
    assert!(rows.len() >= 8, "the IBM rows");
    assert_eq!(rows[0]["figi"], "BBG000BLNNH6", "the composite has the smallest FIGI");
    assert!(rows.iter().all(|row| row["shareClassFIGI"] == "BBG001S5S399"));
}
