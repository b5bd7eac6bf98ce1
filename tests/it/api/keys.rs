//! Contract, chapter 3: keys; and the command `figdex keys`.

use std::path::Path;
use std::process::{Command, Output};

use figdex::State;
use figdex::callers::auth::{KeyRing, file};
use figdex::config::Settings;

use crate::support::{Server, one_key};

const JSON: (&str, &str) = ("content-type", "application/json");

/// Runs `figdex keys` with only the given environment.
fn keys(arguments: &[&str], environment: &[(&str, &Path)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_figdex"));
    command.env_clear().arg("keys").args(arguments).envs(environment.iter().copied());
    command.output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    str::from_utf8(bytes).unwrap()
}

/// contract 3.2, 18.11, 3.4, 3.5, 13.3, 13.12: an unknown key is 401 after the method and before Accept,
/// whatever else is wrong, also on a server that has no keys.
#[test]
fn an_invalid_key() {
    let (ring, key) = one_key();
    let dump = "figi\nBBG000BLNNH6\n";
    let server =
        Server::with(dump, |catalogue| State::new(catalogue, Settings::default()).with_keys(ring));
    let keyless = Server::of_dump(dump);
    for (server, key) in [(&server, "wrong"), (&keyless, key.as_str())] {
        for name in ["X-SERVICE-APIKEY", "X-OPENFIGI-APIKEY"] {
            let headers = [("accept", "text/html"), (name, key)];
            let answer = server.request("POST", "/v3/mapping", &headers, "nonsense");
            assert_eq!((answer.status, answer.body.as_str()), (401, "Invalid API key."));
            assert_eq!(answer.content_type, "text/html; charset=utf-8");
            assert_eq!(server.request("GET", "/v3/mapping", &headers, "").status, 405);
            assert_eq!(
                server.request("POST", "/v3/mapping", &[JSON, (name, "")], "[]").status,
                200
            );
            assert_eq!(server.request("GET", "/healthz", &headers, "").status, 200);
        }
    }
    let both = [JSON, ("x-service-apikey", key.as_str()), ("x-openfigi-apikey", key.as_str())];
    assert_eq!(server.request("POST", "/v3/mapping", &both, "[]").status, 200);
    let two = [JSON, ("x-service-apikey", key.as_str()), ("x-openfigi-apikey", "other")];
    assert_eq!(server.request("POST", "/v3/mapping", &two, "[]").status, 401);
}

/// contract 3.3: a blank value is not a key; blanks around a key are dropped, and its letter
/// case counts. With a key a request may have more than 10 jobs.
#[test]
fn blanks_and_letter_case_of_a_key() {
    let (ring, key) = one_key();
    let server = Server::with("figi\nBBG000BLNNH6\n", |catalogue| {
        State::new(catalogue, Settings::default()).with_keys(ring)
    });
    let jobs = format!("[{}]", ["7"; 11].join(","));
    for name in ["X-SERVICE-APIKEY", "X-OPENFIGI-APIKEY"] {
        for (value, status) in [
            (key.clone(), 200),
            (format!(" {key}"), 200),
            (format!("{key}  "), 200),
            (format!("\t {key}\t"), 200),
            (key.to_uppercase(), 401),
            (format!("{} {}", &key[..20], &key[20..]), 401),
            (String::new(), 413),
            (" \t ".to_owned(), 413),
        ] {
            let answer = server.request("POST", "/v3/mapping", &[JSON, (name, &value)], &jobs);
            assert_eq!(answer.status, status, "{name}: {value:?}");
        }
    }
    // A blank value next to a key does not count, so there is one key.
    let headers = [JSON, ("X-SERVICE-APIKEY", " "), ("X-OPENFIGI-APIKEY", key.as_str())];
    assert_eq!(server.request("POST", "/v3/mapping", &headers, &jobs).status, 200);
}

/// `figdex keys add` prints the new key as the last word of its only line on standard output; then
/// list and revoke.
#[test]
fn the_command() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("keys.toml");
    let place = file.to_str().unwrap();
    let added = keys(&["add", "desk one", "--keys", place], &[]);
    assert!(added.status.success() && added.stderr.is_empty());
    let line = text(&added.stdout).strip_suffix('\n').unwrap();
    assert!(!line.contains('\n'));
    let key = line.split_whitespace().next_back().unwrap();
    assert!(key.starts_with("fdx_") && key.len() == 68, "{key}");
    assert!(!std::fs::read_to_string(&file).unwrap().contains(&key[4..]));
    let headers = warp::http::HeaderMap::from_iter([(
        "x-service-apikey".parse().unwrap(),
        key.parse().unwrap(),
    )]);
    assert!(KeyRing::open(&file).unwrap().admit(&headers).unwrap().is_some());

    // The file may also come from the environment, or from the configuration file.
    assert!(keys(&["add", "two"], &[("FIGDEX_KEYS", &file)]).status.success());
    let config = folder.path().join("figdex.toml");
    std::fs::write(&config, format!("keys = '{place}'\nlisten = '127.0.0.1:80'\n")).unwrap();
    let listed = keys(&["list"], &[("FIGDEX_CONFIG", &config)]);
    let names: Vec<_> =
        text(&listed.stdout).lines().map(|line| line.split_once('\t').unwrap().1).collect();
    assert_eq!(names, ["desk one", "two"]);
    let revoked = keys(&["revoke", "desk one", "--config", config.to_str().unwrap()], &[]);
    assert_eq!(text(&revoked.stdout), "revoked the key of desk one\n");
    assert!(KeyRing::open(&file).unwrap().admit(&headers).is_err());
}

/// A fault is one line that says what to do, and exit code 1.
#[test]
fn faults_of_the_command() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (file, none, broken) = (at("keys.toml"), at("none.toml"), at("broken.toml"));
    assert!(keys(&["add", "desk", "--keys", &file], &[]).status.success());
    std::fs::copy(&file, &broken).unwrap();
    std::fs::write(&broken, "name = 1").unwrap();
    for (arguments, message) in [
        (&["add", "desk", "--keys", &file][..], "already has a key named \"desk\""),
        (&["add", "", "--keys", &file], "invalid name of a key \"\""),
        (&["add", "desk", "--keys", &broken], "is not a keys file"),
        (&["add", "desk"], "no keys file is named: use --keys FILE, FIGDEX_KEYS"),
        (&["revoke", "desk2", "--keys", &file], "has no key named \"desk2\""),
        (&["revoke", "desk", "--keys", &none], "there is no keys file at"),
        (&["list", "--keys", &none], "make one with: figdex keys add NAME --keys"),
    ] {
        let output = keys(arguments, &[]);
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        assert!(stderr.starts_with("figdex: ") && stderr.contains(message), "{stderr}");
        assert!(output.stdout.is_empty());
    }
}

/// Keys that several processes add at the same time are all kept.
#[test]
fn keys_added_at_the_same_time() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("keys.toml");
    std::thread::scope(|scope| {
        for number in 0..6 {
            let file = &file;
            scope.spawn(move || {
                let output = keys(&["add", &format!("key {number}")], &[("FIGDEX_KEYS", file)]);
                assert!(output.status.success(), "{}", text(&output.stderr));
            });
        }
    });
    assert_eq!(file::list(&file).unwrap().len(), 6);
}
