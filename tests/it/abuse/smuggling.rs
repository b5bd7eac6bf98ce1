//! Requests whose end two readers may see in different places (RFC 9112, 6.3 and 11.2): a proxy must
//! never see one request where the server sees two.

use super::assert_reveals_nothing;
use crate::support::process::{Process, status};

/// The smuggled request, and the answer that only it gets.
const SMUGGLED: &str = "GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n";
const ITS_ANSWER: &str = "Invalid url.";

fn post(headers: &str, body: &str) -> String {
    let head = "POST /v3/mapping HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n";
    format!("{head}{headers}\r\n{body}")
}

/// contract 13.17: an ambiguous request gets one answer, and then the connection ends, whatever
/// follows.
#[test]
fn an_ambiguous_request_gets_one_answer_and_the_end() {
    let figdex = Process::of_one(&["--no-limits"]);
    let chunked = |body: &str| post("Transfer-Encoding: chunked\r\n", body);
    let empty = "0\r\n\r\n";
    let many = |piece: &str, bytes: usize| piece.repeat(bytes / piece.len());
    for (name, request, expected) in [
        // The chunks count, and the connection ends, as RFC 9112, 6.3 requires.
        (
            "a length and chunks",
            post("Content-Length: 4\r\nTransfer-Encoding: chunked\r\n", "2\r\n[]\r\n0\r\n\r\n"),
            200,
        ),
        (
            "chunks and a length",
            post("Transfer-Encoding: chunked\r\nContent-Length: 4\r\n", "2\r\n[]\r\n0\r\n\r\n"),
            200,
        ),
        ("two hosts", post("Host: y\r\nContent-Length: 2\r\n", "[]"), 400),
        ("the same host twice", post("Host: x\r\nContent-Length: 2\r\n", "[]"), 400),
        ("two lengths", post("Content-Length: 2\r\nContent-Length: 40\r\n", "[]"), 400),
        (
            "two lengths, the other way",
            post("Content-Length: 40\r\nContent-Length: 2\r\n", "[]"),
            400,
        ),
        ("two lengths in one", post("Content-Length: 2, 40\r\n", "[]"), 400),
        ("a length with a sign", post("Content-Length: +2\r\n", "[]"), 400),
        ("a negative length", post("Content-Length: -2\r\n", "[]"), 400),
        ("a hexadecimal length", post("Content-Length: 0x2\r\n", "[]"), 400),
        ("a length beyond all", post("Content-Length: 99999999999999999999999\r\n", "[]"), 400),
        ("a length of no digits", post("Content-Length: \r\n", "[]"), 400),
        ("chunks that are not last", post("Transfer-Encoding: chunked, gzip\r\n", empty), 400),
        ("an encoding nobody knows", post("Transfer-Encoding: xchunked\r\n", empty), 400),
        ("no encoding", post("Transfer-Encoding: identity\r\n", empty), 400),
        ("a blank before the colon", post("Transfer-Encoding : chunked\r\n", empty), 400),
        ("a blank before the colon of a length", post("Content-Length : 2\r\n", "[]"), 400),
        ("a folded header", post("X: a\r\n b\r\nContent-Length: 2\r\n", "[]"), 400),
        ("a folded encoding", post("Transfer-Encoding:\r\n chunked\r\n", empty), 400),
        ("chunks in HTTP/1.0", chunked(empty).replace("HTTP/1.1", "HTTP/1.0"), 400),
        ("a chunk that ends too late", chunked("2\r\n[]x\r\n0\r\n\r\n"), 400),
        ("a chunk that ends in a bare line feed", chunked("2\n[]\n0\n\n"), 400),
        ("a chunk without a size", chunked("\r\n[]\r\n0\r\n\r\n"), 400),
        ("a chunk with a signed size", chunked("+2\r\n[]\r\n0\r\n\r\n"), 400),
        ("a chunk with a size in C", chunked("0x2\r\n[]\r\n0\r\n\r\n"), 400),
        ("a chunk beyond all", chunked("fffffffffffffffff\r\n[]\r\n0\r\n\r\n"), 400),
        ("one long extension", chunked(&format!("2;{}\r\n[]\r\n", many("a", 64 << 10))), 400),
        (
            "many extensions",
            chunked(&format!("{}0\r\n\r\n", many("1;aaaaaaaaaaaaaaaaaaaaaaaa\r\n \r\n", 64 << 10))),
            400,
        ),
        (
            "a long trailer",
            chunked(&format!("2\r\n[]\r\n0\r\nX: {}\r\n\r\n", many("a", 64 << 10))),
            400,
        ),
        (
            "many trailers",
            chunked(&format!("2\r\n[]\r\n0\r\n{}\r\n", many("X: y\r\n", 64 << 10))),
            400,
        ),
    ] {
        let answer = figdex.exchange(format!("{request}{SMUGGLED}"));
        assert_eq!(status(&answer), expected, "{name}: {answer}");
        assert_eq!(answer.matches("HTTP/1.1 ").count(), 1, "{name}: {answer}");
        assert!(!answer.contains(ITS_ANSWER), "{name}: {answer}");
        assert_reveals_nothing(&figdex, &answer);
    }
    figdex.assert_serves();
    figdex.stop();
}

/// contract 13.17: a request that is lax but not ambiguous has one end, and the next request is
/// answered too.
#[test]
fn a_lax_but_unambiguous_request_is_answered() {
    let figdex = Process::of_one(&["--no-limits"]);
    let last = SMUGGLED.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n");
    for (name, request) in [
        ("the same length twice", post("Content-Length: 2\r\nContent-Length: 2\r\n", "[]")),
        ("lines that end in a line feed", post("Content-Length: 2\r\n", "[]").replace('\r', "")),
        ("chunks", post("Transfer-Encoding: chunked\r\n", "2;a=b\r\n[]\r\n0\r\nX: y\r\n\r\n")),
        ("chunks, in capitals", post("TRANSFER-ENCODING: CHUNKED\r\n", "2\r\n[]\r\n0\r\n\r\n")),
        ("blank lines before", format!("\r\n\r\n{}", post("Content-Length: 2\r\n", "[]"))),
    ] {
        let answer = figdex.exchange(format!("{request}{last}"));
        assert_eq!(status(&answer), 200, "{name}: {answer}");
        assert_eq!(answer.matches("HTTP/1.1 ").count(), 2, "{name}: {answer}");
        assert!(answer.ends_with(ITS_ANSWER), "{name}: {answer}");
    }
    figdex.stop();
}
