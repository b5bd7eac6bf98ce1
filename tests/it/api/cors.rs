//! Contract, chapter 15: other origins.

use figdex::State;
use figdex::callers::limits::Rates;
use figdex::config::Settings;
use figdex::http::cors::Cors;

use crate::support::{Answer, Server};

const JSON: (&str, &str) = ("content-type", "application/json");

const APP: &str = "https://app.example";

fn server(origins: &[&str]) -> Server {
    let origins = origins.iter().map(|origin| origin.parse().unwrap()).collect();
    let cors = Cors::new(origins).unwrap();
    let settings = Settings { cors, rates: Some(Rates::default()), ..Settings::default() };
    Server::with("figi\nBBG000BLNNH6\n", |catalogue| State::new(catalogue, settings))
}

fn preflight(server: &Server, origin: &str) -> Answer {
    let headers = [("origin", origin), ("access-control-request-method", "POST")];
    server.request("OPTIONS", "/v3/mapping", &headers, "")
}

fn cors_headers(answer: &Answer) -> usize {
    answer.headers.keys().filter(|name| name.as_str().starts_with("access-control-")).count()
}

/// contract 15.1: without `--cors` no answer has a header of this chapter, and `OPTIONS` is 405.
#[test]
fn without_the_flag() {
    let server = server(&[]);
    let answer = preflight(&server, APP);
    assert_eq!((answer.status, answer.allow.as_deref()), (405, Some("POST")));
    assert_eq!((cors_headers(&answer), answer.header("vary")), (0, ""));
    let answer = server.request("POST", "/v3/mapping", &[JSON, ("origin", APP)], "[]");
    assert_eq!((answer.status, cors_headers(&answer)), (200, 0));
    assert_eq!(answer.header("vary"), "accept-encoding");
}

/// contract 15.2, 15.4: a preflight needs no key, no Accept and no Content-Type, and is not
/// counted.
#[test]
fn a_preflight() {
    for (origins, allowed) in [(&[APP, "http://localhost:3000"][..], APP), (&["*"], "*")] {
        let server = server(origins);
        for _ in 0..30 {
            let answer = preflight(&server, APP);
            assert_eq!((answer.status, answer.body.as_str()), (204, ""));
            assert_eq!(answer.header("access-control-allow-origin"), allowed);
            assert_eq!(answer.header("access-control-allow-methods"), "POST");
            assert_eq!(
                answer.header("access-control-allow-headers"),
                "content-type, accept, x-service-apikey, x-openfigi-apikey, x-request-id"
            );
            assert_eq!(answer.header("access-control-max-age"), "7200");
            assert_eq!(answer.header("vary"), "origin");
            assert_eq!(answer.header("ratelimit-limit"), "");
        }
    }
}

/// contract 15.2, 21.11: a list has two methods, and a page of another origin may read both answers.
#[test]
fn lists() {
    let server = server(&[APP]);
    for method in ["GET", "POST"] {
        let headers = [("origin", APP), ("access-control-request-method", method)];
        let answer = server.request("OPTIONS", "/resolve", &headers, "");
        let methods = answer.header("access-control-allow-methods");
        assert_eq!((answer.status, methods), (204, "GET, POST"));
    }
    let answer = server.request("GET", "/resolve?text=IBM", &[("origin", APP)], "");
    assert_eq!((answer.status, answer.header("access-control-allow-origin")), (200, APP));
}

/// contract 15.2: a preflight names the method of its endpoint.
#[test]
fn a_preflight_of_the_values() {
    let headers = [("origin", APP), ("access-control-request-method", "GET")];
    let server = server(&[APP]);
    for path in ["/v3/mapping/values/currency", "/schema", "/v2/schema"] {
        let answer = server.request("OPTIONS", path, &headers, "");
        assert_eq!(answer.status, 204, "{path}");
        assert_eq!(answer.header("access-control-allow-methods"), "GET", "{path}");
        assert_eq!(answer.header("access-control-allow-origin"), APP, "{path}");
    }
}

/// contract 15.3: a page may read answers and errors, and the headers of the rates.
#[test]
fn what_a_page_may_read() {
    let server = server(&[APP]);
    for (status, headers, body) in [
        (200, &[JSON, ("origin", APP)][..], "[]"),
        (400, &[JSON, ("origin", APP)], "{}"),
        (401, &[JSON, ("origin", APP), ("x-service-apikey", "x")], "[]"),
        (415, &[("origin", APP)], "[]"),
    ] {
        let answer = server.request("POST", "/v3/mapping", headers, body);
        assert_eq!(answer.status, status);
        assert_eq!(answer.header("access-control-allow-origin"), APP);
        assert_eq!(
            answer.header("access-control-expose-headers"),
            "ratelimit-limit, ratelimit-remaining, ratelimit-reset, ratelimit-policy, retry-after, \
             x-request-id, figdex-generation, figdex-jobs-per-list, figdex-jobs-per-request, \
             figdex-rows, figdex-unknown-values, figdex-token, figdex-cursor, figdex-not-shown"
        );
        let vary: Vec<_> = answer.headers.get_all("vary").iter().collect();
        assert_eq!(vary.len(), if status == 200 { 2 } else { 1 });
    }
}

/// contract 15.3: a page that asks for an unknown path may read that answer too.
#[test]
fn a_wrong_path() {
    let server = server(&[APP]);
    for path in ["/v4/mapping", "/nowhere"] {
        let answer = server.request("GET", path, &[("origin", APP)], "");
        assert_eq!((answer.status, answer.body.as_str()), (404, "Invalid url."));
        assert_eq!(answer.header("access-control-allow-origin"), APP);
        assert_eq!(answer.header("vary"), "origin");
        let answer = server.request("GET", path, &[("origin", "https://other.example")], "");
        assert_eq!((answer.status, cors_headers(&answer)), (404, 0));
    }
    let answer = self::server(&[]).request("GET", "/nowhere", &[("origin", APP)], "");
    assert_eq!((cors_headers(&answer), answer.header("vary")), (0, ""));
}

/// contract 2.1, 15.4, 15.5: other origins, and clients that are not browsers, get what they would
/// without `--cors`.
#[test]
fn other_origins_and_other_clients() {
    let server = server(&[APP]);
    for origin in ["https://other.example", "https://app.example:444", "http://app.example", "null"]
    {
        let answer = preflight(&server, origin);
        assert_eq!((answer.status, answer.allow.as_deref()), (405, Some("POST")), "{origin}");
        assert_eq!(cors_headers(&answer), 0);
        let answer = server.request("POST", "/v3/mapping", &[JSON, ("origin", origin)], "[]");
        assert_eq!((answer.status, cors_headers(&answer)), (200, 0));
    }
    let answer = server.post("/v3/mapping", "[]");
    assert_eq!((answer.status, cors_headers(&answer)), (200, 0));
    // OPTIONS that is not a preflight, and HEAD.
    for method in ["OPTIONS", "HEAD"] {
        let answer = server.request(method, "/v3/mapping", &[("origin", APP)], "");
        assert_eq!((answer.status, answer.allow.as_deref()), (405, Some("POST")));
    }
}

/// contract 15.4: with `--cors` every answer has `Vary: origin`, also one to another origin,
/// to none, and one that refuses: a cache must not give one origin the answer of another.
#[test]
fn every_answer_varies_by_origin() {
    let server = server(&[APP]);
    let asks_for_a_preflight = ("access-control-request-method", "POST");
    for origin in [None, Some(APP), Some("https://other.example")] {
        let origin = origin.map(|origin| ("origin", origin));
        for (method, path, headers) in [
            ("POST", "/v3/mapping", &[JSON][..]),
            ("POST", "/v3/search", &[JSON]),
            ("GET", "/v3/mapping/values/currency", &[]),
            ("GET", "/v3/schema", &[]),
            ("POST", "/v3/mapping", &[]),
            ("POST", "/v3/mapping", &[JSON, ("x-service-apikey", "unknown")]),
            ("GET", "/v3/mapping", &[]),
            ("OPTIONS", "/v3/mapping", &[asks_for_a_preflight]),
            ("GET", "/v3/nowhere", &[]),
        ] {
            let headers: Vec<_> = headers.iter().copied().chain(origin).collect();
            let answer = server.request(method, path, &headers, "[]");
            let mut vary = answer.headers.get_all("vary").iter();
            assert!(vary.any(|name| name == "origin"), "{method} {path} {origin:?}");
        }
    }
}

/// contract 15.6: health, readiness, metrics and the page have no header of this chapter,
/// whatever the origin; nor is there a preflight for them.
#[test]
fn addresses_without_cors_headers() {
    let server = server(&[APP]);
    for origin in [APP, "https://other.example"] {
        for path in ["/healthz", "/readyz", "/metrics", "/", "/page/page.css"] {
            let answer = server.request("GET", path, &[("origin", origin)], "");
            assert_eq!((answer.status, cors_headers(&answer)), (200, 0), "{path}");
            let mut vary = answer.headers.get_all("vary").iter();
            assert!(vary.all(|name| name != "origin"), "{path}");
            let headers = [("origin", origin), ("access-control-request-method", "GET")];
            let answer = server.request("OPTIONS", path, &headers, "");
            assert_eq!((answer.status, cors_headers(&answer)), (405, 0), "{path}");
        }
    }
}
