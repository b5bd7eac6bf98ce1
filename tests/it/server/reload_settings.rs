//! SIGHUP and the settings: limits and keys change while the server runs, other settings need a
//! restart, and a faulty file changes nothing. No request is dropped.

use std::fs;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use figdex::callers::auth::{HEADERS, file};

use crate::support::process::{Process, build_index, figdex, get, status};

const FILE: &str = "listen = '127.0.0.1:0'\nindex = 'index'\ntrust_proxy = true\n";

const JOB: &str = r#"{"idType":"TICKER","idValue":"IBM"}"#;

/// The mapping requests that an address has left; `None` when nothing limits them.
fn remaining(process: &Process, address: &str) -> Option<u32> {
    let answer = process.map(&format!("X-Forwarded-For: {address}\r\n"), "[]");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let (_, rest) = answer.split_once("ratelimit-remaining: ")?;
    rest.split("\r\n").next().unwrap().parse().ok()
}

/// contract 1.9, 14.1, 14.17: the jobs and bytes of one request change while the server runs, and
/// the schema follows.
#[test]
fn the_limits_of_one_request_change_while_serving() {
    let desk = tempfile::tempdir().unwrap();
    build_index(&desk.path().join("index"));
    let key = file::add(&desk.path().join("keys.toml"), "desk").unwrap();
    let write = |text: &str| {
        let text = format!("{FILE}keys = 'keys.toml'\nno_limits = true\n{text}");
        fs::write(desk.path().join("figdex.toml"), text).unwrap();
    };
    write("");
    let mut command = figdex();
    let command = command.current_dir(desk.path()).args(["--config", "figdex.toml"]);
    let process = Process::start(command);
    let with_key = format!("{}: {key}\r\n", HEADERS[0]);
    let jobs = |count: usize| format!("[{}]", [JOB; 100][..count].join(","));
    let is_most = |headers: &str, most: usize| {
        [most, most + 1].map(|count| status(&process.map(headers, &jobs(count)))) == [200, 413]
    };
    let bytes = |count: usize| status(&process.map("", &format!("[{}]", " ".repeat(count - 2))));
    let described = || {
        let (_, document) = get(process.address(), "/schema");
        document["components"]["schemas"]["BulkMappingJob"]["maxItems"].as_u64()
    };
    assert!(is_most("", 10));
    assert_eq!((bytes(1_000), described()), (200, Some(100)));

    write("jobs_per_request = 2\njobs_per_request_with_key = 4\nbody_bytes_max = 200\n");
    process.signal("-HUP");
    let line = process.wait_for("settings read again", 1);
    let names = ["jobs_per_request", "jobs_per_request_with_key", "body_bytes_max"].join(", ");
    assert!(line.contains(&format!("{names:?}")), "{line}");
    assert!(is_most("", 2) && is_most(&with_key, 4));
    assert_eq!((bytes(200), bytes(201), described()), (200, 413, Some(4)));

    // Impossible settings are reported, and nothing changes.
    write("jobs_per_request = 5\njobs_per_request_with_key = 3\n");
    process.signal("-HUP");
    process.wait_for("the changed settings are refused", 1);
    assert!(is_most("", 2) && is_most(&with_key, 4));

    write("");
    process.signal("-HUP");
    process.wait_for("settings read again", 2);
    assert!(is_most("", 10));
    assert_eq!((bytes(1_000), described()), (200, Some(100)));
    assert_eq!(process.count("need a restart"), 0);
    process.stop();
}

/// contract 3.6, 14.15, 14.17: rates and keys change while the server runs; a request that was
/// counted stays counted.
#[test]
fn limits_and_keys_change_while_serving() {
    let desk = tempfile::tempdir().unwrap();
    build_index(&desk.path().join("index"));
    let key = file::add(&desk.path().join("keys.toml"), "desk").unwrap();
    let write = |text: &str| fs::write(desk.path().join("figdex.toml"), text).unwrap();
    write(&format!("{FILE}[limits.v3.mapping]\nwithout_key = '10/1h'\n"));
    let mut command = figdex();
    let command = command.current_dir(desk.path()).args(["--config", "figdex.toml"]);
    let process = Process::start(command);
    let status = || status(&process.map(&format!("{}: {key}\r\n", HEADERS[0]), "[]"));
    assert_eq!(status(), 401, "no keys are known");

    let (asked, done) = (AtomicU32::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        // Each request comes from another address, so that none has reached a limit.
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                let number = asked.fetch_add(1, Ordering::Relaxed);
                remaining(&process, &format!("10.{}.{}.1", number >> 8, number & 0xFF));
                std::thread::sleep(Duration::from_millis(1));
            }
        });
        let operator = scope.spawn(|| {
            let asker = "192.0.2.1";
            for left in [9, 8, 7] {
                assert_eq!(remaining(&process, asker), Some(left));
            }

            write(&format!(
                "{FILE}keys = 'keys.toml'\nconnections = 9\n[limits.v3.mapping]\n\
             without_key = '5/1h'\n[limits.v3.search]\nwithout_key = 'none'\n"
            ));
            process.signal("-HUP");
            let line = process.wait_for("settings read again", 1);
            for name in ["keys", "limits.v3.mapping.without_key", "limits.v3.search.without_key"] {
                assert!(line.contains(name), "{line}");
            }
            let line = process.wait_for("changed settings that need a restart", 1);
            assert!(line.contains("\"connections\""), "{line}");
            assert_eq!(remaining(&process, asker), Some(1), "three of now five were used");
            assert_eq!(status(), 200);

            // A file with faults: each is reported, and nothing changes, not even the valid settings.
            write(&format!(
                "{FILE}no_limits = true\nlisten_ = 1\n[limits.v3.mapping]\nwith_key = 7\n"
            ));
            process.signal("-HUP");
            process.wait_for("the changed settings are refused", 1);
            for fault in ["listen_: unknown setting", "with_key: invalid rate `7`"] {
                assert_eq!(process.count(fault), 1, "{fault}");
            }
            assert_eq!(remaining(&process, asker), Some(0));
            assert_eq!(status(), 200);

            write(&format!("{FILE}no_limits = true\n"));
            process.signal("-HUP");
            process.wait_for("settings read again", 2);
            assert_eq!(remaining(&process, asker), None);
            assert_eq!(status(), 401, "the file of the keys is named no more");

            // Meanwhile requests were not counted.
            write(&format!("{FILE}[limits.v3.mapping]\nwithout_key = '10/1h'\n"));
            process.signal("-HUP");
            process.wait_for("settings read again", 3);
            assert_eq!(remaining(&process, asker), Some(9));
            assert_eq!(process.count("changed settings that need a restart"), 1);
        });
        let changed = operator.join();
        done.store(true, Ordering::Relaxed);
        changed.unwrap();
    });
    assert!(asked.load(Ordering::Relaxed) > 3);
    let log = process.stop();
    assert!(!log.contains(&key), "{log}");
}
