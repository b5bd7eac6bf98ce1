//! `figdex ready`, for probes; and a server whose address is taken.

use std::fs;
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::time::{Duration, Instant};

use crate::support::certificate::Certificate;
use crate::support::process::{Process, figdex, run};

/// Exit code and standard error of `figdex ready`, which prints nothing else.
fn ready(arguments: &[&str]) -> (Option<i32>, String) {
    let (code, out, error) = run(figdex().arg("ready").args(arguments));
    assert_eq!(out, "");
    (code, error)
}

fn assert_not_ready(arguments: &[&str], why: &str) {
    let (code, error) = ready(arguments);
    assert_eq!((code, error.lines().count()), (Some(1), 1), "{arguments:?} {error}");
    assert!(error.starts_with("figdex: not ready: ") && error.contains(why), "{error}");
}

const READY: (Option<i32>, String) = (Some(0), String::new());

/// By its settings or its URL, whatever of both a probe has.
#[test]
fn a_server_is_asked_whether_it_is_ready() {
    let desk = tempfile::tempdir().unwrap();
    let server = Process::of_one(&["--admin-listen", "127.0.0.1:0"]);
    let (clients, operators) = (server.address().to_string(), server.operators().to_string());
    assert_eq!(ready(&[&format!("http://{operators}")]), READY);
    assert_eq!(ready(&["--listen", &clients, "--admin-listen", &operators]), READY);
    let settings = desk.path().join("figdex.toml");
    fs::write(&settings, format!("jobs_per_request = 1\nadmin_listen = {operators:?}\n")).unwrap();
    assert_eq!(ready(&["--config", settings.to_str().unwrap()]), READY);
    let (code, _, error) = run(figdex().arg("ready").env("FIGDEX_ADMIN_LISTEN", &operators));
    assert_eq!((code, error), READY);
    assert_eq!(ready(&["--listen", &clients]), READY);
    assert_not_ready(&[&format!("http://{clients}/v3")], "answered 404");
    server.stop();
    assert_not_ready(&[&format!("http://{operators}")], "refused");
}

#[test]
fn a_server_is_asked_over_tls_and_over_a_socket() {
    let desk = tempfile::tempdir().unwrap();
    let certificate = Certificate::new();
    let flags = certificate.write_into(desk.path());
    let flags: Vec<&str> = flags.iter().map(|flag| &**flag).collect();
    let server = Process::of_one(&flags);
    let url = format!("https://localhost:{}", server.address().port());
    assert_not_ready(&[&url], "certificate");
    assert_eq!(ready(&[&url, "--ca-file", flags[1]]), READY);
    assert_not_ready(&[&url, "--ca-file", "absent.pem"], "--ca-file absent.pem");

    let socket = format!("unix:{}", desk.path().join("figdex.sock").display());
    let server = Process::of_one(&["--listen", &socket]);
    assert_eq!(ready(&[&socket]), READY);
    assert_eq!(ready(&["--listen", &socket]), READY);
    server.stop();
    assert_not_ready(&[&socket], "No such file");
}

/// A server that accepts and does not answer is given up soon.
#[test]
fn a_probe_ends_in_time() {
    let desk = tempfile::tempdir().unwrap();
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let socket = desk.path().join("silent.sock");
    let _silent_socket = UnixListener::bind(&socket).unwrap();
    let url = format!("http://{}", silent.local_addr().unwrap());
    for place in [url, format!("unix:{}", socket.display())] {
        let start = Instant::now();
        assert_not_ready(&[&place, "--timeout", "1"], ": no answer in 1 s");
        assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    }
    for wrong in [&["--timeout", "0"][..], &["--timeout", "61"], &["127.0.0.1:8080"]] {
        assert_eq!(ready(wrong).0, Some(2), "{wrong:?}");
    }
}

/// The address is taken before the sample is built, and the message names the flag.
#[test]
fn a_taken_address_is_found_before_an_index_is_built() {
    let desk = tempfile::tempdir().unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let place = taken.local_addr().unwrap().to_string();
    for flag in ["--listen", "--admin-listen"] {
        let mut command = figdex();
        command.current_dir(desk.path()).args([flag, &place]);
        if flag == "--admin-listen" {
            command.args(["--listen", "127.0.0.1:0"]);
        }
        let (code, _, error) = run(&mut command);
        assert_eq!(code, Some(1));
        let expected = format!(
            "figdex: {place}: another program listens there; stop it, or choose another address \
             with {flag}: "
        );
        assert!(error.contains(&expected), "{error}");
        assert_eq!(fs::read_dir(desk.path()).unwrap().count(), 0, "an index was built");
    }
}
