//! `figdex map --url`: the requests that it sends, and its patience with a server. The server here
//! answers as a test says; `resolve.rs` asks a real one.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use parking_lot::Mutex;
use serde_json::{Value, json};

use super::{Desk, Mapped};
use crate::support::certificate::Certificate;
use crate::support::process::Process;

/// A request: its first line and headers, and its body as JSON.
struct Request {
    head: String,
    body: Value,
}

/// A server that answers each request as a function says. `None` closes the connection.
struct Server {
    url: String,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl Server {
    fn start(mut answer: impl FnMut(usize, &Request) -> Option<String> + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let kept = requests.clone();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let stream = BufReader::new(stream.unwrap());
                serve(stream, |request| {
                    // As a server without a past, or of an earlier version.
                    if request.head.starts_with("get /about ") {
                        return reply("404 Not Found", "", "");
                    }
                    let mut kept = kept.lock();
                    let answer = answer(kept.len(), &request);
                    kept.push(request);
                    answer
                });
            }
        });
        Self { url, requests }
    }

    /// Maps these rows of one column. Returns the result and the bodies of the requests.
    fn map(&self, rows: &str, arguments: &[&str]) -> (Mapped, Vec<Value>) {
        let desk = tempfile::tempdir().unwrap();
        std::fs::write(desk.path().join("key.txt"), "secret-key\n").unwrap();
        let desk = Desk(desk);
        let arguments = [&["-", "--url", &self.url], arguments].concat();
        let mapped = desk.map_from(&arguments, rows.as_bytes());
        let bodies = self.requests.lock().iter().map(|request| request.body.clone()).collect();
        (mapped, bodies)
    }
}

fn serve(mut stream: BufReader<TcpStream>, mut answer: impl FnMut(Request) -> Option<String>) {
    loop {
        let (mut head, mut length) = (String::new(), 0);
        loop {
            let mut line = String::new();
            if stream.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            let line = line.trim_end().to_lowercase();
            if let Some(value) = line.strip_prefix("content-length: ") {
                length = value.parse().unwrap();
            }
            if line.is_empty() {
                break;
            }
            head += &(line + "\n");
        }
        let mut body = vec![0; length];
        stream.read_exact(&mut body).unwrap();
        let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
        let Some(answer) = answer(Request { head, body }) else { return };
        stream.get_mut().write_all(answer.as_bytes()).unwrap();
    }
}

fn reply(status: &str, headers: &str, body: &str) -> Option<String> {
    let length = body.len();
    Some(format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\n{headers}\r\n{body}"))
}

/// Answers that every job is unknown.
fn unknown(request: &Request, headers: &str) -> Option<String> {
    let jobs = request.body["jobs"].as_array().unwrap().len();
    let results = vec![json!({"status": "unknown"}); jobs];
    reply("200 OK", headers, &json!({"generation": 7, "results": results}).to_string())
}

fn jobs(bodies: &[Value]) -> Vec<usize> {
    bodies.iter().map(|body| body["jobs"].as_array().unwrap().len()).collect()
}

/// Texts, columns and given types are sent as such, with the row's conditions.
#[test]
fn questions_are_sent_as_they_are_read() {
    let server = Server::start(|_, request| {
        if request.head.starts_with("get ") {
            return reply("200 OK", "", r#"{"values":["EUR","USD"]}"#);
        }
        unknown(request, "")
    });
    let rows = "isin,any,sedol,ccy\nUS0378331005,IBM US,2005973,EUR\n";
    let arguments = [
        "--id",
        "isin",
        "--id",
        "any",
        "--id",
        "sedol:ID_SEDOL",
        "--where",
        "currency=@ccy",
        "--prefer",
        "composite",
        "--fields",
        "figi,name",
        "--include-unlisted-equities",
        "--key-file",
        "key.txt",
        "--report",
        "r.json",
    ];
    let (mapped, bodies) = server.map(rows, &arguments);
    assert!(mapped.ok().ends_with("EUR,unknown,0,not found,,\n"), "{}", mapped.text());
    let request = |job: Value| {
        json!({"jobs": [job], "prefer": ["composite"], "fields": ["figi", "name"],
            "includeUnlistedEquities": true})
    };
    assert_eq!(
        bodies[1..],
        [
            request(json!({"text": "US0378331005", "as": "ID_ISIN", "currency": "EUR"})),
            request(json!({"text": "IBM US", "currency": "EUR"})),
            request(json!({"idType": "ID_SEDOL", "idValue": "2005973", "currency": "EUR"})),
        ]
    );
    let requests = std::mem::take(&mut *server.requests.lock());
    assert!(requests[0].head.starts_with("get /v3/mapping/values/currency http/1.1\n"));
    for request in &requests {
        assert!(request.head.contains("\nx-service-apikey: secret-key\n"), "{}", request.head);
    }
    // A value that the server does not know is not sent; a text alone is sent as it is.
    let (mapped, bodies) =
        server.map("a,b\nIBM,\n", &["--id", "a:TICKER", "--where", "currency=@b"]);
    mapped.ok();
    assert_eq!(bodies.last().unwrap()["jobs"], json!([{"idType": "TICKER", "idValue": "IBM"}]));
    let (mapped, bodies) = server.map("a,b\nIBM US,EUR\n", &["--id", "a"]);
    mapped.ok();
    assert_eq!(bodies.last().unwrap()["jobs"], json!(["IBM US"]));
}

/// All that a result may say comes out.
#[test]
fn results_become_rows() {
    let server = Server::start(|_, _| {
        let row = json!({"figi": "BBG000BLNNH6", "name": "A \"quoted\", \u{e9}", "x": [1]});
        let results = json!([
            {"status": "resolved", "idType": "ID_ISIN", "by": "only", "data": [row]},
            {"status": "resolved", "idType": "ID_ISIN", "by": "composite", "data": [{"figi": "BBG000BLNNH6", "name": null}]},
            {"status": "ambiguous", "idType": "TICKER", "matches": 2, "data": [row, row]},
            {"status": "ambiguous", "idTypes": ["ID_WERTPAPIER", "TICKER"], "matches": 3, "data": [row]},
            {"status": "unknown", "correction": "US4592001014"},
            {"status": "invalid", "error": "it is wrong"},
        ]);
        reply("200 OK", "", &json!({"generation": 7, "results": results}).to_string())
    });
    let arguments = ["--prefer", "composite", "--fields", "name,figi"];
    let (mapped, _) =
        server.map("wkn\n1\n2\n3\n4\n5\n6\n", &[&arguments[..], &["--id", "wkn:TICKER"]].concat());
    assert_eq!(
        mapped.ok(),
        "wkn,match,matches,reason,name,figi\n\
         1,resolved,1,only,\"A \"\"quoted\"\", \u{e9}\",BBG000BLNNH6\n\
         2,resolved,1,composite,,BBG000BLNNH6\n\
         3,ambiguous,2,2 rows may be meant,,\n\
         4,ambiguous,3,different securities as ID_WERTPAPIER and TICKER,,\n\
         5,unknown,0,not found; did you mean US4592001014?,,\n\
         6,invalid,0,it is wrong,,\n"
    );
    let (mapped, _) =
        server.map("wkn\n1\n2\n3\n4\n5\n6\n", &[&arguments[..], &["--many", "all"]].concat());
    assert_eq!(mapped.code, Some(1));
    assert!(mapped.said.contains("the server names 1 of 3 matches"), "{}", mapped.said);
}

/// A row without a field that was asked for, or with another value than a text, is not written as
/// an empty one.
#[test]
fn rows_of_another_shape_are_refused() {
    for (result, what) in [
        (json!({"status": "resolved", "by": "only", "data": [{}]}), "a row has no figi"),
        (
            json!({"status": "resolved", "by": "only", "data": [{"figi": 5}]}),
            "figi is neither a text nor null",
        ),
        (
            json!({"status": "resolved", "by": "best", "data": [{"figi": "x"}]}),
            "`by` is \"best\", which is not a step",
        ),
    ] {
        let body = json!({"generation": 1, "results": [result]}).to_string();
        let server = Server::start(move |_, _| reply("200 OK", "", &body));
        let (mapped, _) = server.map("isin\nUS0378331005\n", &["--fields", "figi"]);
        assert_eq!(mapped.code, Some(1));
        let shape = "does not have the shape of POST /resolve: ";
        assert!(mapped.said.contains(&(shape.to_owned() + what)), "{}", mapped.said);
    }
}

/// The list is cut into requests that fit the server's limits.
#[test]
fn requests_fit_the_limits() {
    let rows = |count: usize| format!("isin\n{}", "US0378331005\n".repeat(count));
    // Without rate limits: 100 first, then more.
    let server = Server::start(|_, request| unknown(request, ""));
    let (mapped, bodies) = server.map(&rows(1_000), &[]);
    mapped.ok();
    assert_eq!(jobs(&bodies), [100, 900]);
    // As many as the window has left, ten for each request that it counts.
    let server = Server::start(|number, request| {
        let remaining = [4, 1, 0, 25, 25][number];
        let limits = format!(
            "ratelimit-limit: 25\r\nratelimit-remaining: {remaining}\r\nratelimit-reset: 1\r\n"
        );
        unknown(request, &limits)
    });
    let start = Instant::now();
    let (mapped, bodies) = server.map(&rows(500), &[]);
    mapped.ok();
    assert_eq!(jobs(&bodies), [100, 40, 10, 250, 100]);
    assert!(start.elapsed().as_secs_f64() >= 1.0, "it waits for the next window");
    assert!(mapped.said.contains(": waiting 1 s for its rate limit, "), "{}", mapped.said);
    // The number that a 413 states, in its header.
    let server = Server::start(|_, request| match request.body["jobs"].as_array().unwrap().len() {
        61.. => reply(
            "413 Payload Too Large",
            "figdex-jobs-per-list: 60\r\n",
            r#"{"error":"At most 7 jobs fit."}"#,
        ),
        _ => unknown(
            request,
            "ratelimit-limit: 6\r\nratelimit-remaining: 6\r\nratelimit-reset: 1\r\n",
        ),
    });
    let (mapped, bodies) = server.map(&rows(150), &[]);
    mapped.ok();
    assert_eq!(jobs(&bodies), [100, 60, 60, 30]);
    let server = Server::start(|_, _| reply("413 Payload Too Large", "", "too large"));
    let (mapped, bodies) = server.map(&rows(3), &[]);
    assert_eq!((mapped.code, jobs(&bodies)), (Some(1), vec![3, 1]));
    assert!(mapped.said.contains("the server takes no request"), "{}", mapped.said);
    // A number that cannot be true, and a sentence, are left aside.
    for header in ["0", "3", "-1", "99999999999999999999", "two"] {
        let server = Server::start(move |_, _| {
            let header = format!("figdex-jobs-per-list: {header}\r\n");
            reply("413 Payload Too Large", &header, r#"{"error":"At most 2 jobs fit."}"#)
        });
        let (mapped, bodies) = server.map(&rows(3), &[]);
        assert_eq!((mapped.code, jobs(&bodies)), (Some(1), vec![3, 1]), "{header}");
    }
    // It is kept for the rest of the run, whatever the answers state.
    let server = Server::start(|_, request| match request.body["jobs"].as_array().unwrap().len() {
        61.. => reply("413 Payload Too Large", "", "<h1>413 nginx/1.18.0</h1>"),
        _ => unknown(request, ""),
    });
    let (mapped, bodies) = server.map(&rows(150), &[]);
    mapped.ok();
    assert_eq!(jobs(&bodies), [100, 50, 50, 50]);
    // The figures that an answer states.
    let stated = "ratelimit-limit: 6\r\nratelimit-remaining: 6\r\nratelimit-reset: 1\r\n\
                  figdex-jobs-per-request: 3\r\n";
    let server = Server::start(move |_, request| unknown(request, stated));
    let (mapped, bodies) = server.map(&rows(130), &[]);
    mapped.ok();
    assert_eq!(jobs(&bodies), [100, 18, 12]);
    let server = Server::start(|_, request| unknown(request, "figdex-jobs-per-list: 70\r\n"));
    let (mapped, bodies) = server.map(&rows(200), &[]);
    mapped.ok();
    assert_eq!(jobs(&bodies), [100, 70, 30]);
}

/// Identifiers whose rows had no room in an answer are asked again, fewer at a time; an answer that
/// is too long is asked for in parts.
#[test]
fn rows_without_room_are_asked_for_again() {
    let rows = |count: usize| format!("isin\n{}", "US0378331005\n".repeat(count));
    let one = json!({"status": "unknown"});
    let beyond = json!({"status": "invalid", "error": "many rows", "askAgain": true});
    let answered = move |request: &Request, room: usize| {
        let jobs = request.body["jobs"].as_array().unwrap().len();
        let results: Vec<_> =
            (0..jobs).map(|job| if job == room { &beyond } else { &one }).collect();
        reply("200 OK", "", &json!({"generation": 7, "results": results}).to_string())
    };
    let answer = answered.clone();
    let server = Server::start(move |number, request| {
        answer(
            request,
            if number == 0 {
                13
            } else if number == 2 {
                3
            } else {
                99
            },
        )
    });
    let (mapped, bodies) = server.map(&rows(50), &["--many", "all"]);
    mapped.ok();
    assert_eq!(jobs(&bodies), [50, 13, 24, 3, 6, 12]);
    assert_eq!(mapped.sum(), "50 rows = 0 resolved + 0 ambiguous + 50 unknown + 0 invalid");
    let answer = answered.clone();
    let server = Server::start(move |_, request| answer(request, 0));
    let (mapped, _) = server.map(&rows(1), &[]);
    assert_eq!(mapped.code, Some(1));
    let what = "the server has no room for the rows of one identifier: many rows";
    assert!(mapped.said.contains(what), "{}", mapped.said);
    let too_long = || Some("HTTP/1.1 200 OK\r\ncontent-length: 134217729\r\n\r\n".to_owned());
    let server =
        Server::start(move |_, request| match request.body["jobs"].as_array().unwrap().len() {
            20.. => too_long(),
            _ => answered(request, 99),
        });
    let (mapped, bodies) = server.map(&rows(50), &["--many", "all"]);
    mapped.ok();
    assert_eq!(jobs(&bodies), [50, 25, 12, 24, 12, 24, 12, 14]);
    let server = Server::start(move |_, _| too_long());
    let (mapped, _) = server.map(&rows(1), &[]);
    let what = "the answer of the server to one identifier has more than 128 MB";
    assert!(mapped.said.contains(what), "{}", mapped.said);
}

/// A 429, a 503 and a broken connection are waited for, and said; all else ends the command.
#[test]
fn patience_and_its_end() {
    let server = Server::start(|number, request| match number {
        0 => reply("429 Too Many Requests", "retry-after: 1\r\n", "{}"),
        1 => reply("503 Service Unavailable", "", "{}"),
        2 => None,
        _ => unknown(request, ""),
    });
    let (mapped, _) = server.map("isin\nUS0378331005\n", &["--report", "r.json"]);
    mapped.ok();
    for what in
        ["503 Service Unavailable; asking again in 1 s (1 of 5)", "asking again in 2 s (2 of 5)"]
    {
        assert!(mapped.said.contains(what), "{}", mapped.said);
    }
    assert_eq!(server.requests.lock().len(), 4);
    assert!(!mapped.said.contains("io:"), "{}", mapped.said);
    // A date, by the clock of the server.
    let dates =
        "date: Sun, 06 Nov 1994 08:49:37 GMT\r\nretry-after: Sun, 06 Nov 1994 08:49:39 GMT\r\n";
    let server = Server::start(move |number, request| match number {
        0 => reply("429 Too Many Requests", dates, "{}"),
        _ => unknown(request, ""),
    });
    let start = Instant::now();
    let (mapped, _) = server.map("isin\nUS0378331005\n", &[]);
    mapped.ok();
    assert!(start.elapsed().as_secs_f64() >= 2.0, "it waits until the date");
    assert!(mapped.said.contains(": waiting 2 s for its rate limit"), "{}", mapped.said);
    for (answer, what) in [
        (
            reply("401 Unauthorized", "", r#"{"error":"Invalid\u001b key"}"#),
            "answered 401: Invalid\\u001b key (check --key-file)",
        ),
        (
            reply("404 Not Found", "", "Not Found"),
            "answered 404: Not Found (is it a Figdex server with POST /resolve",
        ),
        (
            reply("301 Moved", "location: http://x\r\n", ""),
            "answered 301 (name the URL to which it redirects)",
        ),
        (reply("500 Internal Server Error", "", "{}"), "answered 500: {}"),
        (reply("200 OK", "", "{}"), "does not have the shape of POST /resolve"),
        (
            reply("200 OK", "", r#"{"generation":1,"results":[]}"#),
            "the server answered 0 of 1 identifiers",
        ),
        (
            reply("200 OK", "", r#"{"generation":1,"results":[{"status":"odd"}]}"#),
            "the status \"odd\" is unknown",
        ),
        (
            reply("429 Too Many Requests", "retry-after: 9999999\r\n", ""),
            "it asks to wait 9999999 s once more",
        ),
        (
            reply(
                "429 Too Many Requests",
                "date: Sun, 06 Nov 1994 08:49:37 GMT\r\nretry-after: Sun, 06 Nov 1994 10:49:37 GMT\r\n",
                "",
            ),
            "it asks to wait 7200 s once more",
        ),
        (
            reply("200 OK", "", r#"{"generation":1,"results":[1,2]}"#),
            "it has more than one result for each identifier",
        ),
        (
            reply("200 OK", "", r#"{"generation":1,"results":{}}"#),
            "it has no list for each identifier",
        ),
        (None, "asking http://127.0.0.1:"),
    ] {
        let server = Server::start(move |_, _| answer.clone());
        let (mapped, _) = server.map("isin\nUS0378331005\n", &["--out", "out.csv"]);
        assert_eq!(mapped.code, Some(1), "{}", mapped.said);
        assert!(mapped.said.contains(what), "{what}: {}", mapped.said);
    }
    let desk = Desk(tempfile::tempdir().unwrap());
    let mapped = desk.map_from(&["-", "--url", "http://127.0.0.1:1"], b"isin\nUS0378331005\n");
    assert_eq!(mapped.code, Some(1));
    assert!(
        mapped.said.contains("asking http://127.0.0.1:1: Connection refused"),
        "{}",
        mapped.said
    );
    desk.write("key.txt", "two words\n");
    let arguments = ["-", "--url", "http://127.0.0.1:1", "--key-file", "key.txt"];
    let mapped = desk.map_from(&arguments, b"isin\nUS0378331005\n");
    assert!(
        mapped.said.contains("--key-file key.txt: expected the API key and nothing else"),
        "{}",
        mapped.said
    );
}

/// A redirect is not followed: the key would reach another server.
#[test]
fn redirects_do_not_carry_the_key() {
    for status in ["301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"] {
        let other = Server::start(|_, request| unknown(request, ""));
        let location = format!("location: {}/resolve\r\n", other.url);
        let server = Server::start(move |_, _| reply(status, &location, ""));
        let (mapped, _) = server.map("isin\nUS0378331005\n", &["--key-file", "key.txt"]);
        assert_eq!(mapped.code, Some(1));
        let advice = format!("answered {} (name the URL to which it redirects)", &status[..3]);
        assert!(mapped.said.contains(&advice), "{}", mapped.said);
        assert_eq!(server.requests.lock().len(), 1);
        assert_eq!(other.requests.lock().len(), 0, "{status}");
    }
}

/// A server that speaks TLS at an `http://` address, and one that does not at `https://`.
#[test]
fn the_other_scheme_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let flags = Certificate::new().write_into(folder.path());
    let flags: Vec<&str> = flags.iter().map(|flag| &**flag).collect();
    let (plain, with_tls) = (Process::of_one(&[]), Process::of_one(&flags));
    let closing = Server::start(|_, _| None);
    let closing = closing.url.strip_prefix("http://").unwrap();
    let desk = Desk(tempfile::tempdir().unwrap());
    Certificate::new().write(&desk.path("ca.pem"), &desk.path("key"));
    let (plain, with_tls) = (plain.address(), with_tls.address());
    for (url, reason) in [
        (
            format!("https://{plain}"),
            format!("the answer is not TLS; if the server speaks HTTP, name http://{plain}\n"),
        ),
        (
            format!("http://{with_tls}"),
            format!("the answer is not HTTP; if the server speaks TLS, name https://{with_tls}\n"),
        ),
        (
            format!("http://{closing}"),
            format!(
                "the connection was closed without an answer; if the server speaks TLS, name \
                 https://{closing}\n"
            ),
        ),
    ] {
        let arguments = ["-", "--url", &url, "--ca-file", "ca.pem"];
        let mapped = desk.map_from(&arguments, b"isin\nUS0378331005\n");
        assert_eq!(mapped.code, Some(1));
        let expected = format!("figdex: asking {url}: {reason}");
        assert!(mapped.said.ends_with(&expected), "{expected}{}", mapped.said);
        let mut command = crate::support::process::figdex();
        let command = command.current_dir(desk.0.path()).args(["ready", &*url]);
        let (code, _, said) = crate::support::process::run(command.args(["--ca-file", "ca.pem"]));
        assert_eq!(code, Some(1));
        assert!(said.contains(&reason), "{said}");
    }
}

/// A new generation while the list is mapped is said.
#[test]
fn a_change_of_the_index_is_said() {
    let server = Server::start(|number, request| {
        let answer = unknown(request, "").unwrap();
        Some(if number == 0 { answer } else { answer.replace("generation\":7", "generation\":8") })
    });
    let rows = format!("isin\n{}", "US0378331005\n".repeat(101));
    let (mapped, _) = server.map(&rows, &[]);
    mapped.ok();
    assert!(
        mapped
            .said
            .contains("warning: the server switched from generation 7 to 8; run the command again"),
        "{}",
        mapped.said
    );
}

/// `--ca-file` names the certificates to trust, and no others are.
#[test]
fn certificates_are_checked() {
    let folder = tempfile::tempdir().unwrap();
    let (own, other) = (Certificate::new(), Certificate::new());
    let flags = own.write_into(folder.path());
    let flags: Vec<&str> = flags.iter().map(|flag| &**flag).collect();
    let figdex = Process::of_one(&flags);
    let url = format!("https://localhost:{}", figdex.address().port());
    let desk = Desk(tempfile::tempdir().unwrap());
    own.write(&desk.path("own.pem"), &desk.path("key"));
    other.write(&desk.path("other.pem"), &desk.path("key"));
    desk.write("none.pem", "nothing");
    let map = |file: &str| {
        let arguments = ["-", "--url", &url, "--ca-file", file, "--id", "1:TICKER"];
        desk.map_from(&arguments, b"ticker,x\nIBM,1\n")
    };
    let trusted = map("own.pem");
    assert!(!trusted.said.contains("certificate"), "{}", trusted.said);
    let address = format!("https://{}", figdex.address());
    let arguments = ["-", "--url", &address, "--ca-file", "own.pem", "--id", "1:TICKER"];
    let other_name = desk.map_from(&arguments, b"ticker,x\nIBM,1\n");
    assert!(
        other_name.said.contains(": its certificate is for another name"),
        "{}",
        other_name.said
    );
    for (file, what) in [
        (
            "other.pem",
            "its certificate is not signed by one that is trusted; name a file with --ca-file",
        ),
        ("none.pem", "--ca-file none.pem: it holds no certificate in PEM"),
        ("missing.pem", "--ca-file missing.pem"),
    ] {
        let mapped = map(file);
        assert_eq!(mapped.code, Some(1), "{file} {}", mapped.said);
        assert!(mapped.said.contains(what), "{}", mapped.said);
    }
}
