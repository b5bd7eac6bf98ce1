//! `--admin-listen`: health, readiness and metrics have a separate address, and the public address
//! reveals little; and the build information of both programs.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::process::Command;
use std::time::Instant;

use serde_json::{Value, json};

use crate::support::process::{PATIENCE, Process, figdex, get, read_to_close, run};
use crate::support::{Server, ingest, program};

/// The names of an object's members.
fn names(object: &Value) -> BTreeSet<&str> {
    object.as_object().unwrap().keys().map(String::as_str).collect()
}

/// The operators' address, from the program's log.
fn operators_of(process: &Process) -> SocketAddr {
    process.place_after("serving operators on http://").parse().unwrap()
}

const BUILD: [&str; 7] =
    ["commit", "commit_date", "profile", "rustc", "status", "target", "version"];

const SERVED: [&str; 7] =
    ["age_seconds", "built_at", "bytes", "generation", "instruments", "program", "status"];

/// contract 16.9: with `--admin-listen` health, readiness and metrics are on that address, and
/// strangers see only status and version.
#[test]
fn operators_have_a_separate_address() {
    let process = Process::of_one(&["--admin-listen", "127.0.0.1:0"]);
    let operators = operators_of(&process);
    assert_ne!(operators, process.address());

    let version = env!("CARGO_PKG_VERSION");
    let brief = json!({"status": "ok", "version": version});
    assert_eq!(get(process.address(), "/healthz"), (200, brief));
    assert_eq!(get(process.address(), "/readyz"), (200, json!({"status": "ready"})));
    let (status, health) = get(operators, "/healthz");
    assert_eq!((status, names(&health)), (200, BTreeSet::from(BUILD)));
    let (status, ready) = get(operators, "/readyz");
    assert_eq!((status, names(&ready)), (200, BTreeSet::from(SERVED)));
    // Each address has only its own routes.
    for path in ["/", "/v3/mapping/values/exchCode", "/schema", "/instruments/BBG000BLNNH6"] {
        assert_eq!((get(process.address(), path).0, get(operators, path).0), (200, 404), "{path}");
    }
    assert_eq!((get(process.address(), "/metrics").0, get(operators, "/metrics").0), (404, 200));
    process.stop();
}

/// Connections for operators are not counted among the clients', whose number is bounded.
#[test]
fn operators_are_not_counted_as_clients() {
    let process = Process::of_one(&["--admin-listen", "127.0.0.1:0"]);
    let _client = process.connect();
    let start = Instant::now();
    loop {
        let mut operator = TcpStream::connect(operators_of(&process)).unwrap();
        write!(operator, "GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").unwrap();
        // A client is counted when it is accepted, which may be a moment later.
        if read_to_close(&mut operator).contains("\nfigdex_connections_accepted_total 1\n") {
            break;
        }
        assert!(start.elapsed() < PATIENCE, "the client is not the only one");
    }
    process.stop();
}

/// A stop closes both addresses: neither accepts connections while a request is still in flight, and
/// the program waits for that request.
#[test]
fn a_stop_closes_both_addresses() {
    let process = Process::of_one(&["--admin-listen", "127.0.0.1:0"]);
    let operators = operators_of(&process);
    let mut stream = TcpStream::connect(process.address()).unwrap();
    // With `Expect` the server says when it has the head and waits for the body.
    let head = "POST /v3/mapping HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n\
                Expect: 100-continue\r\nContent-Length: 2\r\n\r\n";
    stream.write_all(head.as_bytes()).unwrap();
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    assert_eq!(line, "HTTP/1.1 100 Continue\r\n");
    process.signal("-TERM");
    for address in [process.address(), operators] {
        let start = Instant::now();
        while TcpStream::connect(address).is_ok() {
            assert!(start.elapsed() < PATIENCE, "{address} still accepts");
        }
    }
    reader.get_mut().write_all(b"[]").unwrap();
    let mut answer = String::new();
    reader.read_to_string(&mut answer).unwrap();
    assert!(answer.contains("HTTP/1.1 200 OK"), "{answer}");
    process.ended();
}

/// contract 16.8: without `--admin-listen` operators use the public address.
#[test]
fn one_address_for_all() {
    let server = Server::of_dump("figi\nBBG000BLNNH6\nBBG000B9XRY4\n");
    let ask = |path| -> Value {
        let answer = server.request("GET", path, &[], "");
        assert_eq!((answer.status, answer.header("cache-control")), (200, "no-store"));
        serde_json::from_str(&answer.body).unwrap()
    };
    assert_eq!(names(&ask("/healthz")), BTreeSet::from(BUILD));
    let ready = ask("/readyz");
    assert_eq!(names(&ready), BTreeSet::from(SERVED));
    assert_eq!((&ready["generation"], &ready["instruments"]), (&json!(1), &json!(2)));
    assert_eq!(ready["bytes"], server.catalogue().manifest().bytes());
    assert!((0..600).contains(&ready["age_seconds"].as_i64().unwrap()), "{ready}");
}

/// Both programs print the same build information, `-V` on one line; and an index names the program
/// that built it.
#[test]
fn how_a_program_was_built() {
    let (_, printed, _) = run(figdex().arg("--version"));
    let lines: Vec<_> = printed.lines().collect();
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(lines[0], format!("figdex {version}"));
    let starts = ["commit:  ", "rustc:   rustc ", "target:  ", "profile: "];
    assert_eq!(lines.len(), 1 + starts.len(), "{printed}");
    for (line, start) in lines[1..].iter().zip(starts) {
        assert!(line.strip_prefix(start).is_some_and(|rest| !rest.is_empty()), "{line}");
    }
    assert_eq!(run(figdex().arg("-V")).1, format!("figdex {version}\n"));
    let (_, ingest_printed, _) = run(Command::new(program()).arg("--version"));
    assert_eq!(ingest_printed, printed.replacen("figdex", "figdex-ingest", 1));

    let desk = tempfile::tempdir().unwrap();
    std::fs::write(desk.path().join("dump.csv"), "figi\nBBG000BLNNH6\n").unwrap();
    assert_eq!(ingest(desk.path(), &["build", "dump.csv", "--index", "index"]).0, 0);
    let commit = lines[1].strip_prefix(starts[0]).unwrap();
    let (_, printed, _) = ingest(desk.path(), &["inspect", "index"]);
    let expected = format!("\nbuilt by figdex-ingest {version}\n  (commit {commit})\n");
    assert!(printed.contains(&expected), "{expected}\n{printed}");
}
