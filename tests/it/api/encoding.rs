//! Decisions, "JSON answers": gzip when asked for, at any size.

use std::fmt::Write as _;

use super::figi;
use crate::support::Server;

const JSON: (&str, &str) = ("content-type", "application/json");

/// A small answer and one that is packed apart from the async thread: both are the
/// plain one when unpacked, and say that they depend on Accept-Encoding.
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

/// "The body is a short plain-text message."
#[test]
fn errors_are_never_packed() {
    let server = Server::of_dump("figi\nBBG000BLNNH6\n");
    let headers = [JSON, ("accept-encoding", "gzip")];
    let answer = server.request("POST", "/v3/mapping", &headers, "{}");
    assert_eq!((answer.status, answer.header("content-encoding")), (400, ""));
    assert_eq!((answer.header("vary"), answer.body.as_str()), ("", "Bad request."));
}
