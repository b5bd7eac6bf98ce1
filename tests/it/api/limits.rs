//! Contract, chapter 14: rates and their headers, and the jobs and bytes of one request. The
//! windows themselves are tested with their code, in `src/callers/limits/limiter`.

use std::time::Duration;

use figdex::State;
use figdex::callers::limits::{Rate, Rates, Span};
use figdex::config::Settings;
use serde_json::json;

use crate::support::one_key;
use crate::support::{Answer, Server};

const DUMP: &str = "figi,ticker\nBBG000BLNNH6,IBM\n";

const JSON: (&str, &str) = ("content-type", "application/json");

const HEADERS: [&str; 4] =
    ["ratelimit-limit", "ratelimit-remaining", "ratelimit-reset", "ratelimit-policy"];

fn limited() -> Settings {
    Settings { rates: Some(Rates::default()), ..Settings::default() }
}

fn server(settings: Settings) -> Server {
    Server::with(DUMP, |catalogue| State::new(catalogue, settings))
}

/// A server that knows one key, and the key.
fn server_with_key(settings: Settings) -> (Server, String) {
    let (keys, key) = one_key();
    (Server::with(DUMP, |catalogue| State::new(catalogue, settings).with_keys(keys)), key)
}

fn rate_headers(answer: &Answer) -> [&str; 4] {
    HEADERS.map(|name| answer.header(name))
}

fn jobs(count: usize) -> String {
    json!(vec![json!({"idType": "TICKER", "idValue": "IBM"}); count]).to_string()
}

/// contract 13.9, 18.4, 14.5, 14.10, 14.12, 14.13: without a key a request counts once, whatever its
/// jobs; the 26th is 429 with `retry-after`, and another address is not affected.
#[test]
fn twenty_five_a_minute() {
    let server = server(limited());
    let ask = |peer| server.request_from(peer, "POST", "/v3/mapping", &[JSON], jobs(10));
    for remaining in (0..25).rev() {
        let answer = ask("192.0.2.1");
        assert_eq!(answer.status, 200);
        assert_eq!(rate_headers(&answer)[..2], ["25", &remaining.to_string()]);
        assert_eq!(answer.header("ratelimit-policy"), "25;w=60");
        assert_eq!(answer.header("retry-after"), "");
        if remaining == 24 {
            assert_eq!(answer.header("ratelimit-reset"), "60");
        }
    }
    let answer = ask("192.0.2.1");
    assert_eq!(answer.status, 429);
    assert_eq!(answer.body, "Rate limit reached. Please back off your requests.");
    assert_eq!(answer.content_type, "text/html; charset=utf-8");
    assert_eq!(rate_headers(&answer)[..2], ["25", "0"]);
    assert_eq!(answer.header("ratelimit-policy"), "25;w=60");
    assert_eq!(answer.header("retry-after"), answer.header("ratelimit-reset"));
    assert_eq!(rate_headers(&ask("192.0.2.2"))[..2], ["25", "24"]);
}

/// contract 3.1, 14.2, 14.12: a key has separate windows, whatever the address, and an address
/// without one has its own.
#[test]
fn a_key_has_separate_windows() {
    let (server, key) = server_with_key(limited());
    let key = ("x-service-apikey", key.as_str());
    let ask = |peer, headers: &[_], path| server.request_from(peer, "POST", path, headers, "[]");
    let answer = ask("192.0.2.1", &[JSON, key], "/v3/mapping");
    assert_eq!(rate_headers(&answer), ["25", "24", "6", "25;w=6"]);
    let answer = ask("192.0.2.2", &[JSON, key], "/v3/mapping");
    assert_eq!(answer.header("ratelimit-remaining"), "23");
    let answer = ask("192.0.2.2", &[JSON], "/v3/mapping");
    assert_eq!(rate_headers(&answer), ["25", "24", "60", "25;w=60"]);
    let answer = ask("192.0.2.2", &[JSON, key], "/v2/mapping");
    assert_eq!(rate_headers(&answer), ["250", "249", "60", "250;w=60"]);
    let answer = ask("192.0.2.2", &[JSON], "/v1/mapping");
    assert_eq!(rate_headers(&answer), ["5", "4", "60", "5;w=60"]);
}

/// contract 1.2, 14.5 to 14.8: the window of each endpoint of each version, without a key and with
/// one.
#[test]
fn every_endpoint_has_its_window() {
    let (server, key) = server_with_key(limited());
    let key = ("x-service-apikey", key.as_str());
    let (jobs, words) = ("[]", r#"{"query":"ibm"}"#);
    for (method, path, body, without_key, with_key) in [
        ("POST", "/v3/mapping", jobs, "25;w=60", "25;w=6"),
        ("GET", "/v3/mapping/values/exchCode", "", "25;w=60", "25;w=6"),
        ("POST", "/v3/search", words, "5;w=60", "20;w=60"),
        ("POST", "/v3/filter", words, "5;w=60", "20;w=60"),
        ("POST", "/v2/mapping", jobs, "5;w=60", "250;w=60"),
        ("GET", "/v2/mapping/values/exchCode", "", "5;w=60", "250;w=60"),
        // Its own window is the tighter one, unless the total has less left.
        ("POST", "/v2/search", words, "5;w=60", "20;w=60"),
        ("POST", "/v1/mapping", jobs, "5;w=60", "250;w=60"),
        ("GET", "/v1/mapping/values/exchCode", "", "5;w=60", "250;w=60"),
    ] {
        for (headers, policy) in [(&[JSON][..], without_key), (&[JSON, key], with_key)] {
            let answer = server.request(method, path, headers, body);
            assert_eq!(answer.status, 200, "{method} {path} {}", answer.body);
            assert_eq!(answer.header("ratelimit-policy"), policy, "{method} {path}");
        }
    }
    // Three requests of v2 were counted by its total, two of v3 by each of its windows.
    for (path, body, remaining) in
        [("/v2/mapping", jobs, "1"), ("/v3/mapping", jobs, "22"), ("/v3/search", words, "2")]
    {
        let answer = server.post(path, body);
        assert_eq!(answer.header("ratelimit-remaining"), remaining, "{path}");
    }
}

/// contract 1.11, 14.14: requests that are refused before the rates have none of the headers and
/// are not counted, nor are those without a version.
#[test]
fn the_requests_that_are_counted() {
    let mut settings = limited();
    settings.body_bytes_max = 2_000;
    let server = server(settings);
    let long = " ".repeat(2_001);
    let enum_field = r#"[{"idType":"TICKER","idValue":"IBM","exchCode":"??"}]"#;
    let mut remaining = 25;
    for (status, method, path, headers, body) in [
        (200, "POST", "/v3/mapping", &[JSON][..], "[]"),
        (401, "POST", "/v3/mapping", &[JSON, ("x-openfigi-apikey", "x")], "[]"),
        (400, "POST", "/v3/mapping", &[JSON], "{}"),
        (404, "POST", "/mapping", &[JSON], "[]"),
        (400, "POST", "/v3/mapping", &[JSON], enum_field),
        (405, "GET", "/v3/mapping", &[JSON], ""),
        (405, "OPTIONS", "/v3/mapping", &[], ""),
        (406, "POST", "/v3/mapping", &[JSON, ("accept", "text/html")], "[]"),
        (415, "POST", "/v3/mapping", &[], "[]"),
        (400, "GET", "/v3/mapping/values/nonsense", &[], ""),
        (404, "POST", "/v2/filter", &[JSON], "{}"),
        (200, "GET", "/schema", &[], ""),
        (413, "POST", "/v3/mapping", &[JSON], &jobs(11)),
        (413, "POST", "/v3/mapping", &[JSON], &long),
        (200, "GET", "/healthz", &[], ""),
        (200, "POST", "/v3/mapping", &[JSON], "[]"),
    ] {
        let answer = server.request(method, path, headers, body);
        assert_eq!(answer.status, status, "{method} {path} {body}");
        if matches!(status, 401 | 404 | 405 | 406 | 415) || ["/healthz", "/schema"].contains(&path)
        {
            assert_eq!(rate_headers(&answer), [""; 4], "{status}");
        } else {
            remaining -= 1;
            assert_eq!(answer.header("ratelimit-remaining"), remaining.to_string(), "{status}");
        }
    }
}

/// contract 14.4, 14.13: a window ends after the seconds of `ratelimit-reset`, and then the next
/// one begins.
#[tokio::test(start_paused = true)]
async fn a_window_ends() {
    let server = server(limited());
    let ask = async || {
        let request = warp::test::request().method("POST").path("/v3/mapping");
        request.header("content-type", "application/json").body("[]").reply(&server.service).await
    };
    for _ in 0..25 {
        assert_eq!(ask().await.status(), 200);
    }
    tokio::time::advance(Duration::from_millis(12_500)).await;
    let refused = ask().await;
    assert_eq!(refused.status(), 429);
    assert_eq!(refused.headers()["retry-after"], "48");
    tokio::time::advance(Duration::from_secs(47)).await;
    assert_eq!(ask().await.status(), 429);
    tokio::time::advance(Duration::from_secs(1)).await;
    let admitted = ask().await;
    assert_eq!(admitted.status(), 200);
    assert_eq!(admitted.headers()["ratelimit-remaining"], "24");
    assert_eq!(admitted.headers()["ratelimit-reset"], "60");
}

/// contract 14.10: of a thousand requests at once exactly as many pass as the window has left.
#[test]
fn a_thousand_at_once() {
    let server = server(limited());
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let admitted = runtime.block_on(async {
        let asked: Vec<_> = (0..1_000)
            .map(|_| {
                let service = server.service.clone();
                tokio::spawn(async move {
                    let request = warp::test::request().method("POST").path("/v3/mapping");
                    let request = request.header("content-type", "application/json").body("[]");
                    request.reply(&service).await.status() == 200
                })
            })
            .collect();
        let mut admitted = 0;
        for answer in asked {
            admitted += usize::from(answer.await.unwrap());
        }
        admitted
    });
    assert_eq!(admitted, 25);
}

/// contract 14.9, 14.11: the jobs of a request are all counted or none; the request that is
/// refused for its jobs stays counted.
#[test]
fn jobs_a_minute() {
    let server = server(limited());
    for path in ["/v2/mapping", "/v1/mapping"] {
        for (count, status, expected) in [
            (10, 200, ["5", "4", "60", "5;w=60"]),
            (10, 200, ["5", "3", "60", "5;w=60"]),
            (6, 429, ["25", "5", "60", "25;w=60"]),
            (5, 200, ["5", "1", "60", "5;w=60"]),
            (1, 429, ["25", "0", "60", "25;w=60"]),
            (1, 429, ["5", "0", "60", "5;w=60"]),
        ] {
            let answer = server.post(path, &jobs(count));
            assert_eq!(answer.status, status, "{count} jobs");
            let mut headers = rate_headers(&answer);
            // A slow machine may take a second or two for all of this.
            assert!(headers[2].parse::<u64>().unwrap() > 50);
            headers[2] = "60";
            assert_eq!(headers, expected, "{count} jobs");
            assert_eq!(answer.header("retry-after").is_empty(), status == 200);
        }
    }
}

/// contract 3.1, 14.1: 10 jobs without a key and 100 with one, in every version, or the operator's
/// figures.
#[test]
fn jobs_of_one_request() {
    for (without_key, with_key) in [(10, 100), (3, 5)] {
        let (server, key) = server_with_key(Settings {
            jobs_per_request: without_key,
            jobs_per_request_with_key: with_key,
            ..Settings::default()
        });
        let key = ("x-openfigi-apikey", key.as_str());
        for path in ["/v3/mapping", "/v2/mapping", "/v1/mapping"] {
            for (headers, most) in [(&[JSON][..], without_key), (&[JSON, key], with_key)] {
                let ask = |count| server.request("POST", path, headers, jobs(count)).status;
                assert_eq!((ask(most), ask(most + 1)), (200, 413), "{path} {most}");
            }
        }
    }
}

/// contract 2.12, 14.16: `--no-limits` lifts rates and headers, and neither the jobs nor the bytes
/// of one request.
#[test]
fn no_limits_lifts_the_rates() {
    let server = server(Settings { rates: None, body_bytes_max: 1_000, ..Settings::default() });
    for _ in 0..60 {
        let answer = server.post("/v2/mapping", &jobs(10));
        assert_eq!((answer.status, rate_headers(&answer)), (200, [""; 4]));
    }
    assert_eq!(server.post("/v2/mapping", &jobs(11)).status, 413);
    assert_eq!(server.post("/v3/mapping", &" ".repeat(1_001)).status, 413);
}

/// contract 14.15: the operator's figures hold.
#[test]
fn rates_can_be_changed() {
    let mut rates = Rates::default();
    for line in rates.lines_mut() {
        line.without_key = Some(Rate::new(2, 3600));
    }
    let server = server(Settings { rates: Some(rates), ..Settings::default() });
    let counted = |answer: Answer| (answer.status, rate_headers(&answer).join(" "));
    assert_eq!(counted(server.post("/v3/mapping", "[]")), (200, "2 1 3600 2;w=3600".into()));
    assert_eq!(server.post("/v3/mapping", "[]").status, 200);
    assert_eq!(server.post("/v3/mapping", "[]").status, 429);
}

/// contract 14.3: with `--trust-proxy` the caller is the address that the proxy appends, which a
/// client cannot choose; without the flag the header is ignored.
#[test]
fn behind_a_proxy() {
    for trust_proxy in [true, false] {
        let server = server(Settings { trust_proxy, ..limited() });
        let ask = |forwarded: &str| {
            let headers = [JSON, ("x-forwarded-for", forwarded)];
            let answer = server.request_from("10.0.0.1", "POST", "/v3/mapping", &headers, "[]");
            answer.header("ratelimit-remaining").to_owned()
        };
        let remaining = ["203.0.113.1", "203.0.113.2", "198.51.100.1, 203.0.113.1", "?"].map(ask);
        let expected =
            if trust_proxy { ["24", "24", "23", "24"] } else { ["24", "23", "22", "21"] };
        assert_eq!(remaining, expected);
    }
}

/// contract 14.22: the page's requests without a key count in one separate window, whatever the
/// endpoint; those of other pages, of no page, and those with a key do not.
#[test]
fn the_page_has_a_window() {
    const PAGE: (&str, &str) = ("sec-fetch-site", "same-origin");
    let mut settings = limited();
    for line in settings.rates.as_mut().unwrap().lines_mut() {
        if line.span == Span::Page {
            line.without_key = Some(Rate::new(40, 60));
        }
    }
    let (server, key) = server_with_key(settings.clone());
    let ask = |path: &str, headers: &[(&str, &str)], body: &str| {
        let headers = [&[JSON], headers].concat();
        server.request_from("192.0.2.1", "POST", path, &headers, body)
    };
    let left = |answer: &Answer| {
        assert_eq!(answer.status, 200, "{}", answer.body);
        format!("{} {}", answer.header("ratelimit-policy"), answer.header("ratelimit-remaining"))
    };
    let search = r#"{"query":"ibm"}"#;
    for (path, body, remaining) in [
        ("/v3/search", search, 39),
        ("/v3/filter", search, 38),
        ("/v2/search", search, 37),
        ("/v3/mapping", &jobs(10), 36),
        // Its jobs count in no window: this is more than v2 allows in one.
        ("/v2/mapping", &jobs(10), 35),
        ("/v2/mapping", &jobs(10), 34),
        ("/v2/mapping", &jobs(10), 33),
        ("/resolve", &json!({"jobs": vec!["IBM"; 25]}).to_string(), 30),
    ] {
        assert_eq!(left(&ask(path, &[PAGE], body)), format!("40;w=60 {remaining}"), "{path}");
    }
    let values =
        server.request_from("192.0.2.1", "GET", "/v3/mapping/values/exchCode", &[PAGE], "");
    assert_eq!(left(&values), "40;w=60 29");
    for site in ["same-site", "cross-site", "none", "Same-Origin", ""] {
        let other = ask("/v3/mapping", &[("sec-fetch-site", site)], &jobs(1));
        assert!(left(&other).starts_with("25;w=60"), "{site}");
    }
    let with_key = ask("/v3/search", &[PAGE, ("x-openfigi-apikey", &key)], search);
    assert_eq!(left(&with_key), "20;w=60 19");
    for remaining in (0..29).rev() {
        assert_eq!(left(&ask("/v3/search", &[PAGE], search)), format!("40;w=60 {remaining}"));
    }
    assert_eq!(ask("/v3/search", &[PAGE], search).status, 429);
    let whole = json!({"jobs": vec!["IBM"; 401]}).to_string();
    assert_eq!(ask("/resolve", &[PAGE], &whole).status, 429);
    // The contract's windows are untouched.
    assert_eq!(left(&ask("/v3/search", &[], search)), "5;w=60 4");

    let server = self::server(Settings { page_window: false, ..settings });
    let answer = server.request_from("192.0.2.1", "POST", "/v3/search", &[JSON, PAGE], search);
    assert_eq!(left(&answer), "5;w=60 4");
}
