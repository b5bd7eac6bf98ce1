//! The table of hostile requests: for every route and every form of its body, requests that are
//! made to take memory or work. The tests of memory and of processor time send all of them, and
//! another test fails when a route is missing here.

use super::assistants;
use super::bodies::{adversaries, jobs, paths, queries};
use super::changes;
use super::hostile::{Form, Hostile};
use super::lists::lists;
use super::parquet;
use super::random::Random;

/// Every hostile request. `bytes` is the size of the largest body.
pub(super) fn table(bytes: usize) -> Vec<Hostile> {
    let mut all = Vec::new();
    for path in paths() {
        let hostile = Hostile::get(&route_of(&path), &path);
        all.push(hostile.clone());
        all.push(hostile.with("Accept-Encoding: gzip\r\n"));
    }
    for (name, query) in queries() {
        let query: String = query.bytes().map(|byte| format!("%{byte:02x}")).collect();
        for rest in ["", "&exchCode=US".repeat(99).as_str(), "&limit=50"] {
            let path = format!("/suggest?query={query}{rest}");
            let suggest = Hostile::get("/suggest", &path);
            let rest = &rest[..rest.len().min(9)];
            all.push(suggest.named(format!("/suggest, {name}{rest}")));
        }
        let path = format!("/facets?by=exchCode&by=securityType&query={query}");
        let facets = Hostile::get("/facets", &path);
        all.push(facets.named(format!("/facets, {name}")));
        for rest in ["", "&exchCode=US".repeat(99).as_str(), "%20dec%202025%20200%20call"] {
            let find = Hostile::get("/find", &format!("/find?query={query}{rest}"));
            all.push(find.named(format!("/find, {name}{}", &rest[..rest.len().min(9)])));
        }
    }
    for (name, route, body) in adversaries(bytes) {
        let hostile = Hostile::post(route, Form::Json, name, body);
        all.push(hostile.clone().chunked(true));
        all.push(hostile);
    }
    for (name, route, body) in adversaries(60_000) {
        all.push(Hostile::post(route, Form::Json, &format!("{name}, small"), body));
    }
    for seed in 1..=20 {
        let (route, body) = Random::new(seed).request(bytes);
        all.push(Hostile::post(route, Form::Json, &format!("random, seed {seed}"), body));
    }
    all.extend(lists(bytes));
    all.extend(changes::hostile());
    all.extend(parquet::hostile());
    all.extend(assistants::hostile());
    let ticker = |name: &str| format!(r#"{{"idType":"TICKER","idValue":"{name}"}}"#);
    let strike = r#"{"idType":"TICKER","idValue":"TOOMANY","strike":[1,2]}"#;
    for version in ["v1", "v2", "v3"] {
        let route = format!("/{version}/mapping");
        let many = vec![ticker("MANY"); 13].join(",");
        for (name, body) in [
            ("jobs that find too much", jobs(&ticker("TOOMANY"), 100)),
            ("wide jobs that find nothing", jobs(strike, 100)),
            ("190 rows", jobs(&ticker("N190"), 1)),
            ("500 rows", jobs(&ticker("N500"), 1)),
            ("all rows", format!("[{many},{}]", ticker("SOME"))),
        ] {
            let hostile = Hostile::post(&route, Form::Json, name, body);
            all.push(hostile.clone());
            let name = format!("{}, packed", hostile.name);
            all.push(hostile.named(name).with("Accept-Encoding: gzip\r\n"));
        }
    }
    for (name, query) in queries() {
        for route in ["/v2/search", "/v3/search", "/v3/filter"] {
            let body = format!("{{\"query\":\"{query}\"}}");
            all.push(Hostile::post(route, Form::Json, name, body));
        }
    }
    all
}

/// The route of a path without a body.
fn route_of(path: &str) -> String {
    let path = path.split('?').next().unwrap();
    let parts: Vec<_> = path.split('/').collect();
    match parts[..] {
        ["", "instruments", _, "history"] => "/instruments/{figi}/history".to_owned(),
        ["", "instruments", _] => "/instruments/{figi}".to_owned(),
        ["", "page", ..] | ["", ""] => "/page/{file}".to_owned(),
        ["", "schema"] => "/v3/schema".to_owned(),
        ["", version, "mapping", "values", _] => format!("/{version}/mapping/values/{{key}}"),
        _ => path.to_owned(),
    }
}
