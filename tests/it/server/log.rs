//! The log of the program: a line for each request, with its id and without secrets, as text or
//! JSON.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::Value;

use crate::support::process::{Process, build_index, exchange, figdex, metric};

/// The value of an answer's header.
fn header<'a>(answer: &'a str, name: &str) -> Option<&'a str> {
    let (head, _) = answer.split_once("\r\n\r\n").unwrap();
    let mut fields = head.lines().filter_map(|line| line.split_once(": "));
    fields.find(|(field, _)| *field == name).map(|(_, value)| value)
}

/// A text that must never be in the log.
const SECRET: &str = "SECRET4711";

/// The name of a key, with signs that JSON escapes.
const KEY_NAME: &str = r#"desk "one" \"#;

/// contract 2.14, 21.14: with `--log-format json` each line is JSON with the id of its request, and holds
/// no key, body, query text or path.
#[test]
fn a_line_for_each_request() {
    let folder = tempfile::tempdir().unwrap();
    let index = folder.path().join("index");
    build_index(&index);
    let keys = folder.path().join("keys.toml");
    let key = figdex::callers::auth::file::add(&keys, KEY_NAME).unwrap();
    let mut command = figdex();
    command.args(["--listen", "127.0.0.1:0", "--log-format", "json"]);
    command.arg("--index").arg(&index).arg("--keys").arg(&keys);
    let process = Process::start(&mut command);
    let ask = |method: &str, path: &str, headers: &str, body: &str| {
        let length = body.len();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {SECRET}\r\nConnection: close\r\nContent-Type: \
             application/json\r\n{headers}Content-Length: {length}\r\n\r\n{body}"
        );
        process.exchange(request)
    };
    let body = format!(
        r#"[{{"idType":"TICKER","idValue":"{SECRET}"}},{{"idType":"TICKER","idValue":"IBM"}}]"#
    );
    let query = format!(r#"{{"query":"{SECRET}","{SECRET}":"{SECRET}"}}"#);
    let with_key = format!("X-OPENFIGI-APIKEY: {key}\r\nX-Request-Id: trace-1\r\n");
    let wrong_key = format!("X-SERVICE-APIKEY: {SECRET}\r\nX-Request-Id: trace-2\r\n");
    let no_id = format!("X-Request-Id: {SECRET} and more\r\n");
    let [with_key, wrong_key, no_id, body, query] =
        [&with_key, &wrong_key, &no_id, &body, &query].map(String::as_str);
    let mut expected = BTreeMap::new();
    for (method, path, headers, body, line) in [
        ("POST", "/v3/mapping", with_key, body, ("POST", "/v3/mapping", 200, 1)),
        ("POST", "/v3/mapping", wrong_key, body, ("POST", "/v3/mapping", 401, 0)),
        ("POST", "/v3/search", no_id, query, ("POST", "/v3/search", 200, 0)),
        ("GET", "/suggest?query=SECRET4711", "", "", ("GET", "/suggest", 200, 0)),
        ("GET", "/resolve?text=SECRET4711", "", "", ("GET", "/resolve", 200, 0)),
        ("GET", "/resolve?text=x&key=SECRET4711", "", "", ("GET", "/resolve", 400, 0)),
        ("GET", "/instruments/SECRET4711", "", "", ("GET", "/instruments/{figi}", 400, 0)),
        (
            "GET",
            "/instruments/SECRET4711/history",
            "",
            "",
            ("GET", "/instruments/{figi}/history", 400, 0),
        ),
        ("GET", "/SECRET4711?SECRET4711=1", "", "", ("GET", "other", 404, 0)),
        (
            "GET",
            "/v2/mapping/values/SECRET4711",
            "",
            "",
            ("GET", "/v2/mapping/values/{key}", 400, 0),
        ),
        (SECRET, "/v3/mapping", "", "", ("other", "/v3/mapping", 405, 0)),
    ] {
        let answer = ask(method, path, headers, body);
        assert!(answer.starts_with(&format!("HTTP/1.1 {}", line.2)), "{method} {path}: {answer}");
        let id = header(&answer, "x-request-id").unwrap_or_else(|| panic!("no id: {answer}"));
        match headers.split_once("trace-") {
            Some((_, number)) => assert_eq!(id, format!("trace-{}", number.trim())),
            None => assert!(id.len() == 16 && !id.contains(SECRET), "{id}"),
        }
        assert!(expected.insert(id.to_owned(), line).is_none(), "an id twice: {id}");
    }
    let log = process.stop();
    assert!(!log.contains(SECRET) && !log.contains(&key[4..]), "{log}");
    let lines: Vec<Value> = log
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect();
    assert!(lines.iter().all(|line| line["level"] == "INFO" && line["timestamp"].is_string()));
    let requests: Vec<_> = lines.iter().filter(|line| line["target"] == "figdex::access").collect();
    assert_eq!(requests.len(), expected.len(), "{log}");
    for line in requests {
        let id = line["request_id"].as_str().unwrap();
        let (method, route, status, rows) = expected.remove(id).unwrap();
        assert_eq!(line["message"], "answered");
        assert_eq!((line["method"].as_str(), line["route"].as_str()), (Some(method), Some(route)));
        assert_eq!((line["status"].as_u64(), line["rows"].as_u64()), (Some(status), Some(rows)));
        assert!(line["elapsed_us"].is_u64(), "{line}");
        // The name of the key, and never the key.
        let has_key = id == "trace-1";
        assert_eq!(line.get("key"), has_key.then(|| Value::from(KEY_NAME)).as_ref(), "{line}");
        assert_eq!(line.as_object().unwrap().len(), 10 + usize::from(has_key), "{line}");
    }
}

/// A keys file that other users can read is warned of, with its mode and the remedy; and the name of
/// a key is in the metrics only where operators alone read them.
#[test]
fn keys_that_others_can_read() {
    let folder = tempfile::tempdir().unwrap();
    let index = folder.path().join("index");
    build_index(&index);
    let keys = folder.path().join("keys.toml");
    let key = figdex::callers::auth::file::add(&keys, "desk").unwrap();
    let metrics = b"GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    for (mode, warning, listen, proxy, is_named) in [
        (0o600, None, "127.0.0.1:0", None, true),
        (0o640, None, "127.0.0.1:0", Some("--trust-proxy"), false),
        (0o644, Some("mode 644: other users can read it"), "0.0.0.0:0", None, false),
        (0o660, Some("mode 660: other users can change it"), "127.0.0.1:0", None, true),
    ] {
        fs::set_permissions(&keys, fs::Permissions::from_mode(mode)).unwrap();
        let mut command = figdex();
        command.args(["--listen", listen]).arg("--index").arg(&index).arg("--keys").arg(&keys);
        let process = Process::start(command.args(proxy));
        process.map(&format!("X-OPENFIGI-APIKEY: {key}\r\n"), "[]");
        let page = process.exchange(metrics);
        assert_eq!(
            page.contains("figdex_key_requests_total{key=\"desk\"} 1\n"),
            is_named,
            "{page}"
        );
        let named = page.contains("figdex_key_last_used_timestamp_seconds{key=\"desk\"} 1");
        assert_eq!(named, is_named, "{page}");
        assert_eq!(page.contains("desk"), is_named, "{page}");
        let log = process.stop();
        assert_eq!(log.contains("the keys file"), warning.is_some(), "{log}");
        assert!(warning.is_none_or(|warning| log.contains(warning)), "{log}");

        let listed = figdex().args(["keys", "list", "--keys"]).arg(&keys).output().unwrap();
        let said = String::from_utf8(listed.stderr).unwrap();
        assert_eq!(said.contains("chmod 600"), warning.is_some(), "{said}");
        assert!(listed.status.success());
    }
}

/// contract 3.6: a keys file that cannot be used is named in the log and in the metrics, until it can
/// be used again, also when only its owner or its mode changes.
#[test]
fn a_keys_file_that_cannot_be_used() {
    let folder = tempfile::tempdir().unwrap();
    let keys = folder.path().join("keys.toml");
    figdex::callers::auth::file::add(&keys, "desk").unwrap();
    let flags = ["--keys", keys.to_str().unwrap(), "--admin-listen", "127.0.0.1:0"];
    let process = Process::of_one(&flags);
    let is_refused = || metric(process.operators(), "figdex_keys_refused");
    assert_eq!(is_refused(), 0.0);
    let good = fs::read(&keys).unwrap();
    fs::write(&keys, "desk").unwrap();
    process.wait_for("keys file not reloaded", 1);
    assert_eq!(is_refused(), 1.0);
    fs::write(&keys, good).unwrap();
    process.wait_for("keys file reloaded", 1);
    assert_eq!(is_refused(), 0.0);
    fs::set_permissions(&keys, fs::Permissions::from_mode(0o640)).unwrap();
    process.wait_for("keys file reloaded", 2);
    process.stop();
}

/// With `--access-log-address` the line of a request has the address of its client: the peer's, or
/// the one that a trusted proxy names, never for operators. Otherwise no line has one.
#[test]
fn the_address_of_a_client() {
    let log = "--access-log-address";
    for (flags, of_client, of_operator) in [
        (&[][..], None, None),
        (&["--trust-proxy"], None, None),
        (&[log], Some("127.0.0.1"), Some("127.0.0.1")),
        (&[log, "--trust-proxy"], Some("2001:db8::7"), Some("127.0.0.1")),
    ] {
        let process = Process::of_one(
            &[&["--admin-listen", "127.0.0.1:0", "--log-format", "json"], flags].concat(),
        );
        let forwarded = "X-Forwarded-For: 192.0.2.9, 2001:db8::7\r\n";
        process.map(&format!("{forwarded}X-Request-Id: client\r\n"), "[]");
        let head = format!("Host: x\r\nConnection: close\r\n{forwarded}X-Request-Id: operator\r\n");
        let metrics = format!("GET /metrics HTTP/1.1\r\n{head}\r\n");
        let page = exchange(process.operators(), metrics);
        for address in ["127.0.0.1", "192.0.2.9", "2001:db8::7"] {
            assert!(!page.contains(address), "{flags:?}: {page}");
        }
        let log = process.stop();
        let lines: Vec<Value> =
            log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        for (id, expected) in [("client", of_client), ("operator", of_operator)] {
            let line = lines.iter().find(|line| line["request_id"] == id).unwrap();
            let address = line.get("address").map(|address| address.as_str().unwrap());
            assert_eq!(address, expected, "{flags:?}: {log}");
        }
        assert!(!log.contains("192.0.2.9"), "what a client writes itself: {log}");
    }
}

/// At the level debug, connections that break off have lines too, with an address when it is asked
/// for.
#[test]
fn the_address_of_a_broken_connection() {
    for (flags, address) in [(&[][..], ""), (&["--access-log-address"], " address=127.0.0.1")] {
        let folder = tempfile::tempdir().unwrap();
        let index = folder.path().join("index");
        build_index(&index);
        let mut command = figdex();
        command.args(["--listen", "127.0.0.1:0"]).args(flags).arg("--index").arg(&index);
        let process = Process::start(command.env("RUST_LOG", "info,figdex::serve=debug"));
        process.exchange("not a request\r\n\r\n");
        let log = process.stop();
        let line = log.lines().find(|line| line.contains("a connection broke off")).unwrap();
        assert!(line.contains(&format!("a connection broke off{address} error=")), "{log}");
    }
}

/// The files of the page have lines only when they are asked for; their errors always.
#[test]
fn the_files_of_the_page() {
    let folder = tempfile::tempdir().unwrap();
    let index = folder.path().join("index");
    build_index(&index);
    for (flags, files) in [(None, 0), (Some("--access-log-page"), 2)] {
        let mut command = figdex();
        command.args(["--listen", "127.0.0.1:0"]).arg("--index").arg(&index).args(flags);
        let process = Process::start(&mut command);
        for (path, status) in [("/", 200), ("/page/main.js", 200), ("/page/nothing.js", 404)] {
            let request = format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
            let answer = process.exchange(request.as_bytes());
            assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{path}: {answer}");
        }
        let log = process.stop();
        assert_eq!(log.matches("status=200").count(), files, "{flags:?}: {log}");
        assert_eq!(log.matches("status=404").count(), 1, "{flags:?}: {log}");
    }
}

/// The log is text by default, and has a line for each request unless that is turned off.
#[test]
fn for_people_and_without_requests() {
    let folder = tempfile::tempdir().unwrap();
    let index = folder.path().join("index");
    build_index(&index);
    for (flags, requests) in
        [(None, 1), (Some("--access-log=true"), 1), (Some("--access-log=false"), 0)]
    {
        let mut command = figdex();
        command.args(["--listen", "127.0.0.1:0"]).arg("--index").arg(&index).args(flags);
        let process = Process::start(&mut command);
        let answer = process.map("X-Request-Id: a-b_c.1\r\n", "[]");
        assert_eq!(header(&answer, "x-request-id"), Some("a-b_c.1"), "{flags:?}");
        let log = process.stop();
        let line = "INFO figdex::access: answered method=POST route=/v3/mapping status=200 rows=0 \
                    elapsed_us=";
        assert_eq!(log.matches(line).count(), requests, "{flags:?}: {log}");
        assert_eq!(log.matches("request_id=a-b_c.1").count(), requests, "{flags:?}: {log}");
        assert!(log.contains("stopping: answering requests in flight"), "{log}");
    }
}
