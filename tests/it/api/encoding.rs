//! Contract 12.1: JSON answers, packed with gzip when that is asked for.

use std::fmt::Write as _;
use std::time::Duration;

use figdex::State;
use figdex::config::Settings;

use crate::support::{Server, settle, while_heavy_work_waits};
use crate::support::{cluster, figi};

const JSON: (&str, &str) = ("content-type", "application/json");

/// contract 12.1: a small answer, and a large one that is packed on another thread, are equal to the
/// plain answer when unpacked, and have `Vary: accept-encoding`.
#[test]
fn gzip_when_asked_for() {
    let mut dump = String::from("figi,ticker,name\n");
    for number in 0..1_000 {
        writeln!(dump, "{},MANY,INSTRUMENT {number}", figi(number)).unwrap();
    }
    let server = Server::of_dump(&dump);
    let many = r#"[{"idType":"TICKER","idValue":"MANY"}]"#;
    for body in ["[]", many] {
        let ask = |encoding| {
            let headers = [JSON, ("accept-encoding", encoding)];
            server.request("POST", "/v3/mapping", &headers, body)
        };
        let plain = server.post("/v3/mapping", body);
        assert_eq!(
            (plain.header("content-encoding"), plain.header("vary")),
            ("", "accept-encoding")
        );
        assert!(body == "[]" || plain.body.len() > 64 << 10, "it is packed apart");
        for (encoding, expected) in [
            ("gzip", "gzip"),
            ("gzip, deflate, br", "gzip"),
            ("*", "gzip"),
            ("gzip;q=0, *", ""),
            ("identity", ""),
            ("br", ""),
        ] {
            let answer = ask(encoding);
            assert_eq!(answer.header("content-encoding"), expected, "{encoding}");
            assert_eq!(answer.header("vary"), "accept-encoding");
            assert_eq!(answer.content_type, "application/json; charset=utf-8");
            assert_eq!((answer.status, &answer.body), (200, &plain.body));
        }
    }
}

/// contract 13 "Errors": the text of a refusal is never packed.
#[test]
fn errors_are_never_packed() {
    let server = Server::of_dump("figi\nBBG000BLNNH6\n");
    let headers = [JSON, ("accept-encoding", "gzip")];
    let answer = server.request("POST", "/v3/mapping", &headers, "{}");
    assert_eq!((answer.status, answer.header("content-encoding")), (400, ""));
    assert_eq!((answer.header("vary"), answer.body.as_str()), ("", "Bad request."));
}

/// contract 12.1: a large answer that does not get its turn to be packed is sent plain; small answers
/// are packed all the same.
#[test]
fn a_large_answer_may_come_unpacked() {
    if cluster::is_asked() {
        return eprintln!("skipped: the clock of the test does not stop a cluster");
    }
    let rows = (0..400).map(|number| format!("{},MANY\n", figi(number)));
    let dump = format!("figi,ticker\n{}", rows.collect::<String>());
    let settings = Settings { pool_threads: Some(1), ..Settings::default() };
    let server = Server::with(&dump, |index| State::new(index, settings));
    let large = r#"[{"idType":"TICKER","idValue":"MANY"}]"#;
    let plain = server.post("/v3/mapping", large).body;
    assert!(plain.len() > 64 << 10, "it is packed apart");
    let ask = |body: &'static str| {
        let service = server.service.clone();
        tokio::spawn(async move {
            let request = warp::test::request().method("POST").path("/v3/mapping");
            let request = request.header("content-type", "application/json");
            let reply = request.header("accept-encoding", "gzip").body(body).reply(&service).await;
            assert_eq!(reply.status(), 200);
            assert_eq!(reply.headers()["vary"], "accept-encoding");
            let is_packed = reply.headers().get("content-encoding").is_some();
            (is_packed, reply.body().clone())
        })
    };
    while_heavy_work_waits(async |release| {
        let has_the_turn = ask(large);
        settle().await;
        let waits = ask(large);
        settle().await;
        assert!(ask("[]").await.unwrap().0, "a small answer needs no turn");
        assert!(!waits.is_finished());
        tokio::time::advance(Duration::from_secs(5)).await;
        settle().await;
        assert!(waits.is_finished(), "it does not wait longer for its turn");
        let (is_packed, body) = waits.await.unwrap();
        assert!(!is_packed && body == plain);
        drop(release);
        assert!(has_the_turn.await.unwrap().0);
    });
}
