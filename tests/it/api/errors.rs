//! Contract, chapter 13: faults of a whole request, their texts and their order.

use std::time::Duration;

use figdex::State;
use figdex::callers::error::ApiError;
use figdex::callers::limits::Standing;
use figdex::callers::limits::{Rate, Rates};
use figdex::config::Settings;

use crate::support::{Answer, Server, Service, settle, while_heavy_work_waits};
use crate::support::{cluster, figi};

const JSON: (&str, &str) = ("content-type", "application/json");

fn server() -> Server {
    Server::of_dump("figi,exchCode\nBBG000BLNNH6,US\n")
}

fn check(answer: &Answer, status: u16, text: &str) {
    assert_eq!((answer.status, answer.body.as_str()), (status, text));
    assert_eq!(answer.content_type, "text/html; charset=utf-8");
}

/// contract 13.1 to 13.11: the status and the text of each error.
#[test]
fn every_error_has_its_status_and_text() {
    let standing = Standing { limit: 1, remaining: 0, reset_seconds: 1, window_seconds: 1 };
    for (error, status, text) in [
        (ApiError::BadRequest, 400, "Bad request."),
        (ApiError::InvalidEnumField, 400, "Invalid enum field."),
        (ApiError::InvalidApiKey, 401, "Invalid API key."),
        (ApiError::InvalidUrl, 404, "Invalid url."),
        (ApiError::InvalidMethod { allow: "GET" }, 405, "Invalid HTTP method."),
        (ApiError::UnsupportedAccept, 406, "Unsupported 'Accept' type."),
        (ApiError::PayloadTooLarge, 413, "Payload too large."),
        (
            ApiError::InvalidContentType,
            415,
            "Invalid Content-Type. Should be text/json or application/json with valid charset.",
        ),
        (
            ApiError::RateLimitReached(standing),
            429,
            "Rate limit reached. Please back off your requests.",
        ),
        (ApiError::Internal, 500, "Internal server error."),
        (ApiError::Unavailable, 503, "Service Unavailable."),
    ] {
        let (line_status, line_text) = error.line();
        assert_eq!((line_status.as_u16(), line_text), (status, text));
    }
}

/// contract 13.12: path, method, key, Accept, Content-Type, rate, body. A request with all faults is
/// refused for the first, and when that is repaired for the next one.
#[test]
fn the_order_of_checks() {
    let mut rates = Rates::default();
    rates.lines_mut().iter_mut().for_each(|line| line.without_key = Some(Rate::new(1, 3600)));
    let settings = Settings { rates: Some(rates), ..Settings::default() };
    let server = Server::with("figi\nBBG000BLNNH6\n", |index| State::new(index, settings));
    let (key, accept, kind) =
        (("x-service-apikey", "x"), ("accept", "text/html"), ("content-type", "text/html"));
    for (status, method, path, headers) in [
        (404, "PUT", "/v3/nowhere", &[key, accept, kind][..]),
        (405, "PUT", "/v3/mapping", &[key, accept, kind]),
        (401, "POST", "/v3/mapping", &[key, accept, kind]),
        (406, "POST", "/v3/mapping", &[accept, kind]),
        (415, "POST", "/v3/mapping", &[kind]),
        (400, "POST", "/v3/mapping", &[JSON]),
        (429, "POST", "/v3/mapping", &[JSON]),
    ] {
        assert_eq!(server.request(method, path, headers, "nonsense").status, status);
    }
}

/// contract 2.7, 13.1: a body that is not JSON, or not an array, is refused.
#[test]
fn a_body_that_is_not_an_array() {
    let server = server();
    for body in [
        "",
        "{}",
        "null",
        "1",
        "\"x\"",
        "[",
        "[1,]",
        "[{}] x",
        "{\"idType\":1}",
        "[{\"a\"}]",
        "\u{feff}[]",
    ] {
        check(&server.post("/v3/mapping", body), 400, "Bad request.");
    }
    for body in [&b"\xff\xfe[]"[..], b"[\"\xff\"]", b"\0"] {
        check(&server.request("POST", "/v3/mapping", &[JSON], body), 400, "Bad request.");
    }
}

/// contract 4.3, 6.1, 6.4, 13.2: a value outside its set refuses the whole request, whatever else
/// is wrong.
#[test]
fn an_enum_field_outside_its_set() {
    let server = server();
    for (field, value) in [
        ("exchCode", "\"XX\""),
        ("exchCode", "\"us\""),
        ("exchCode", "5"),
        ("exchCode", "\"\""),
        ("micCode", "\"XNYS\""),
        ("currency", "\"ZZZ\""),
        ("marketSecDes", "\"equity\""),
        ("securityType", "\"Nope\""),
        ("securityType2", "[\"Option\"]"),
        ("optionType", "\"put\""),
        ("stateCode", "\"ZZ\""),
    ] {
        let good = r#"{"idType":"TICKER","idValue":"IBM"}"#;
        let bad = format!(r#"{{"idType":"NONSENSE","{field}":{value}}}"#);
        let body = format!("[{good},7,{bad}]");
        check(&server.post("/v3/mapping", &body), 400, "Invalid enum field.");
    }
}

/// contract 1.1, 2.2, 13.4: no other path has an endpoint, whatever the method.
#[test]
fn an_unknown_path() {
    let server = server();
    for path in [
        "/index.html",
        "/page",
        "/page/nonesuch.js",
        "/page/js/main.js",
        "/page/..%2Fmain.rs",
        "/instruments",
        "/instruments/BBG000BLNNH6/x",
        "/v3/instruments/BBG000BLNNH6",
        "/v3",
        "/mapping",
        "/v4/mapping",
        "/V3/mapping",
        "/v3/mapping/x",
        "/v3/mapping//",
        "/v3/invalid-endpoint",
    ] {
        for method in ["GET", "POST", "DELETE"] {
            check(&server.request(method, path, &[JSON], "[]"), 404, "Invalid url.");
        }
    }
}

/// contract 2.1, 13.5: `Allow` names the method; this comes before Accept and Content-Type.
#[test]
fn a_wrong_method() {
    let server = server();
    for method in ["GET", "PUT", "DELETE", "PATCH", "OPTIONS"] {
        let answer = server.request(method, "/v3/mapping", &[("accept", "text/html")], "");
        check(&answer, 405, "Invalid HTTP method.");
        assert_eq!(answer.allow.as_deref(), Some("POST"));
    }
}

/// contract 2.4, 13.6: Accept is checked before Content-Type.
#[test]
fn an_unsupported_accept() {
    let answer = server().request("POST", "/v3/mapping", &[("accept", "text/html")], "[]");
    check(&answer, 406, "Unsupported 'Accept' type.");
}

/// contract 2.5, 13.8: Content-Type is checked before the body.
#[test]
fn a_wrong_content_type() {
    let text = "Invalid Content-Type. Should be text/json or application/json with valid charset.";
    let server = server();
    check(&server.request("POST", "/v3/mapping", &[], "[]"), 415, text);
    for kind in ["text/plain", "application/json; charset=utf-16"] {
        check(&server.request("POST", "/v3/mapping", &[("content-type", kind)], "{"), 415, text);
    }
    for kind in ["text/json", "Application/json", "application/json; charset=UTF-8"] {
        let answer = server.request("POST", "/v3/mapping", &[("content-type", kind)], "[]");
        assert_eq!((answer.status, answer.body.as_str()), (200, "[]"), "{kind}");
    }
}

/// contract 2.12, 13.7, 14.1, 18.3, 18.8: more jobs or more bytes than allowed.
#[test]
fn too_many_jobs_or_bytes() {
    let server = server();
    let jobs = |count: usize| format!("[{}]", vec!["null"; count].join(","));
    assert_eq!(server.post("/v3/mapping", &jobs(10)).status, 200);
    check(&server.post("/v3/mapping", &jobs(11)), 413, "Payload too large.");
    let padded = |bytes: usize| format!("{}[]", " ".repeat(bytes - 2));
    let most = figdex::callers::limits::BODY_BYTES_MAX;
    assert_eq!(server.post("/v3/mapping", &padded(most)).status, 200);
    check(&server.post("/v3/mapping", &padded(most + 1)), 413, "Payload too large.");
}

/// contract 13.11, 13.14: searches that do not get their turn in time are refused, and every
/// request has an answer.
#[test]
fn searches_without_a_turn_are_refused() {
    let settings = Settings {
        pool_threads: Some(1),
        pool_timeout: Duration::from_millis(1),
        ..Settings::default()
    };
    let dump = "figi,ticker\nBBG000BLNNH6,IBM\n";
    let server = Server::with(dump, |index| State::new(index, settings));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let search = |service: Service| async move {
        let request = warp::test::request().method("POST").path("/v3/search");
        let request = request.header("content-type", "application/json");
        let reply = request.body(r#"{"query":"ibm"}"#).reply(&service).await;
        (reply.status().as_u16(), reply.body().clone())
    };
    let answers: Vec<_> = runtime.block_on(async {
        let asked: Vec<_> =
            (0..200).map(|_| tokio::spawn(search(server.service.clone()))).collect();
        futures_util::future::try_join_all(asked).await.unwrap()
    });
    assert!(answers.iter().any(|(status, _)| *status == 200));
    for (status, body) in answers {
        assert!(status == 200 || (status, &body[..]) == (503, b"Service Unavailable."), "{status}");
    }
    assert_eq!(server.post("/v3/search", r#"{"query":"ibm"}"#).status, 200);
}

/// contract 13.14: a request with much work waits five seconds for its turn and is then refused; when
/// the turn comes earlier, it is answered.
#[test]
fn a_turn_is_waited_for_five_seconds() {
    if cluster::is_asked() {
        return eprintln!("skipped: the clock of the test does not stop a cluster");
    }
    let rows = (0..1_001).map(|number| format!("{},MANY\n", figi(number)));
    let dump = format!("figi,ticker\n{}", rows.collect::<String>());
    let settings = Settings { pool_threads: Some(1), ..Settings::default() };
    let server = Server::with(&dump, |index| State::new(index, settings));
    let ask = || {
        let service = server.service.clone();
        tokio::spawn(async move {
            let request = warp::test::request().method("POST").path("/v3/mapping");
            let request = request.header("content-type", "application/json");
            let reply = request.body(r#"[{"idType":"TICKER","idValue":"MANY"}]"#);
            let reply = reply.reply(&service).await;
            (reply.status().as_u16(), String::from_utf8(reply.body().to_vec()).unwrap())
        })
    };
    while_heavy_work_waits(async |release| {
        let has_the_turn = ask();
        settle().await;
        let refused = ask();
        settle().await;
        tokio::time::advance(Duration::from_millis(2_500)).await;
        let answered = ask();
        settle().await;
        tokio::time::advance(Duration::from_millis(2_499)).await;
        settle().await;
        assert!(!refused.is_finished(), "five seconds are not over");
        tokio::time::advance(Duration::from_millis(1)).await;
        settle().await;
        assert!(refused.is_finished(), "five seconds are over");
        assert_eq!(refused.await.unwrap(), (503, "Service Unavailable.".to_owned()));
        settle().await;
        assert!(!answered.is_finished(), "it has waited for half of its time");
        drop(release);
        for request in [has_the_turn, answered] {
            let (status, body) = request.await.unwrap();
            assert_eq!((status, body.matches("\"figi\"").count()), (200, 1_001));
        }
    });
}
