//! Heads that are too large or have too many headers, and bytes that are not HTTP.

use super::{MEMORY_MAX, assert_reveals_nothing};
use crate::support::process::{Process, REQUEST, status};

/// contract 13.16: a head has a maximum size, whichever part of it is long, and a maximum number of
/// headers.
#[test]
fn heads_have_a_maximum_size() {
    let figdex = Process::of_one(&["--no-limits"]);
    let get = |path: &str, headers: &str| {
        format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{headers}\r\n")
    };
    let header = |bytes: usize| format!("X-Long: {}\r\n", "a".repeat(bytes));
    let headers = |count: usize| "X: y\r\n".repeat(count);
    let query = |bytes: usize| format!("/suggest?query={}", "a".repeat(bytes));
    let mut refused = 0;
    for (name, request, expected) in [
        ("a long header", get("/healthz", &header(12 << 10)), 200),
        ("a longer header", get("/healthz", &header(16 << 10)), 431),
        ("a header of a megabyte", get("/healthz", &header(1 << 20)), 431),
        (
            "a header without end",
            format!("GET /healthz HTTP/1.1\r\nX: {}", "a".repeat(1 << 20)),
            431,
        ),
        ("a name without end", format!("GET / HTTP/1.1\r\n{}", "a".repeat(1 << 20)), 431),
        ("a method without end", "A".repeat(1 << 20), 431),
        ("a path without end", format!("GET /{}", "a".repeat(1 << 20)), 431),
        ("a long query", get(&query(8 << 10), ""), 400),
        ("98 headers more", get("/healthz", &headers(98)), 200),
        ("99 headers more", get("/healthz", &headers(99)), 431),
        ("two thousand headers", get("/healthz", &headers(2_000)), 431),
    ] {
        let answer = figdex.exchange(request);
        assert_eq!(status(&answer), expected, "{name}: {answer}");
        assert_reveals_nothing(&figdex, &answer);
        figdex.assert_serves();
        refused += usize::from(expected == 431);
    }
    let metrics = figdex.exchange(get("/metrics", ""));
    let counted = format!("\nfigdex_connections_malformed_total {refused}\n");
    assert!(metrics.contains(&counted), "{metrics}");
    figdex.assert_memory_below(MEMORY_MAX);
    figdex.stop();
}

/// contract 2.11, 13.16: bytes that are not HTTP are answered with a 4xx, or end the connection.
#[test]
fn bytes_that_are_not_http() {
    let figdex = Process::of_one(&["--no-limits"]);
    let garbage: Vec<u8> = (0..64 << 10).map(|byte: u32| (byte * 7 % 251) as u8).collect();
    let zeros = vec![0; 64 << 10];
    let handshake = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03".to_vec();
    for (name, bytes) in [
        ("garbage", garbage),
        ("zeros", zeros),
        ("a handshake of TLS", handshake),
        ("HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec()),
        ("HTTP/3.7", REQUEST.replace("HTTP/1.1", "HTTP/3.7").into_bytes()),
        ("HTTP/0.9", b"GET /healthz\r\n\r\n".to_vec()),
        ("a header without a name", b"GET /healthz HTTP/1.1\r\n: x\r\n\r\n".to_vec()),
        ("a zero in a header", b"GET /healthz HTTP/1.1\r\nX: a\0b\r\n\r\n".to_vec()),
        ("a carriage return in a header", b"GET /healthz HTTP/1.1\r\nX: a\rb\r\n\r\n".to_vec()),
        ("a path that is not UTF-8", b"GET /\xff\xfe HTTP/1.1\r\n\r\n".to_vec()),
    ] {
        let answer = figdex.exchange(bytes);
        assert!(answer.is_empty() || (400..500).contains(&status(&answer)), "{name}: {answer}");
        assert_reveals_nothing(&figdex, &answer);
    }
    let slashes = "/".repeat(8 << 10);
    for (name, path, expected) in [
        ("up and out", "/../../../../etc/passwd", 404),
        ("up and out, encoded", "/%2e%2e/%2e%2e/etc/passwd", 404),
        ("a file of the page's folder", "/page.rs", 404),
        ("a broken escape", "/instruments/%zz", 400),
        ("a zero", "/instruments/%00", 400),
        ("a path of slashes", slashes.as_str(), 404),
        ("no such version", "/v99/mapping", 404),
        ("values of no key", "/v3/mapping/values/..%2f..", 400),
    ] {
        let answer =
            figdex.exchange(format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"));
        assert_eq!(status(&answer), expected, "{name}: {answer}");
        assert_reveals_nothing(&figdex, &answer);
    }
    figdex.assert_serves();
    figdex.stop();
}
