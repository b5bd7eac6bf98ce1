//! The program with flags, environment and configuration file. The rules of each setting are tested
//! with their code, in `src/config`.

use std::fs;
use std::time::{Duration, Instant};

use crate::support::process::{PATIENCE, Process, build_index, figdex};

/// contract 14.15: a flag wins over the environment, and the environment over the file, also for
/// rates; `serve` may be left out.
#[test]
fn flag_beats_environment_beats_file() {
    let folder = tempfile::tempdir().unwrap();
    let index = folder.path().join("index");
    build_index(&index);
    let config = folder.path().join("figdex.toml");
    let text = "index = '/nowhere'\nlisten = '127.0.0.1:1'\njobs_per_request = 3\n\
                [limits.v3.mapping]\nwithout_key = '7/30s'\n";
    std::fs::write(&config, text).unwrap();
    let mut command = figdex();
    command.env("FIGDEX_INDEX", &index).env("FIGDEX_LISTEN", "127.0.0.1:2");
    command.args(["--listen", "127.0.0.1:0", "--config"]).arg(&config);
    let process = Process::start(&mut command);
    let answer = process.map("", r#"[{"idType":"TICKER","idValue":"IBM"}]"#);
    assert!(answer.starts_with("HTTP/1.1 200 OK") && answer.contains("BBG000BLNNH6"), "{answer}");
    assert!(answer.contains("ratelimit-policy: 7;w=30"), "{answer}");
    assert!(process.map("", "[1,2,3,4]").starts_with("HTTP/1.1 413"));
    process.stop();

    let mut command = figdex();
    command.arg("serve").args(["--no-limits", "--listen=127.0.0.1:0", "--index"]).arg(&index);
    let process = Process::start(command.env("FIGDEX_CORS", "https://a.example,https://b.example"));
    let answer = process.map("Origin: https://b.example\r\n", "[]");
    assert!(answer.contains("access-control-allow-origin: https://b.example"), "{answer}");
    assert!(!answer.contains("ratelimit-limit: "), "{answer}");
    process.stop();
}

/// All errors are reported together, on standard error, and nothing is served.
#[test]
fn faults_are_reported_together() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("figdex.toml");
    std::fs::write(&config, "lisen = 1\n[limits.v3.mapping]\nwith_key = '25'\n").unwrap();
    let mut command = figdex();
    command.args(["--listen", "here", "--keys", "/nowhere/keys"]).arg("--config").arg(&config);
    let output = command.env("FIGDEX_UNKNOWN_ENUM", "maybe").output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.starts_with("figdex: 5 errors in the settings\n  --"), "{stderr}");
    for fault in [
        "--listen: invalid address `here`",
        "--keys: there is no keys file at /nowhere/keys; make one with: figdex \
         keys add NAME --keys /nowhere/keys",
        "\n  FIGDEX_UNKNOWN_ENUM: invalid value `maybe`",
        "figdex.toml: lisen: unknown setting",
        "figdex.toml: limits.v3.mapping.with_key: invalid rate `25`",
    ] {
        assert!(stderr.contains(fault), "{fault}\n{stderr}");
    }
}

/// contract 3.6: an added key is valid within seconds, and a revoked one is refused within seconds.
/// No key is logged.
#[test]
fn keys_come_and_go() {
    let folder = tempfile::tempdir().unwrap();
    let index = folder.path().join("index");
    build_index(&index);
    let keys = folder.path().join("keys.toml");
    figdex::callers::auth::file::add(&keys, "first").unwrap();
    let mut command = figdex();
    command.args(["--listen", "127.0.0.1:0"]).arg("--index").arg(&index).arg("--keys").arg(&keys);
    let process = Process::start(&mut command);
    let key = figdex::callers::auth::file::add(&keys, "second").unwrap();
    let header = format!("X-OPENFIGI-APIKEY: {key}\r\n");
    let becomes = |status: &str| {
        let start = Instant::now();
        while !process.map(&header, "[]").starts_with(&format!("HTTP/1.1 {status}")) {
            assert!(start.elapsed() < PATIENCE, "it never became {status}");
            std::thread::sleep(Duration::from_millis(400));
        }
    };
    becomes("200");
    figdex::callers::auth::file::revoke(&keys, "second").unwrap();
    becomes("401");
    let log = process.stop();
    assert!(log.contains("keys file reloaded") && !log.contains(&key[4..]), "{log}");
}

/// Two changes of a keys file at once do not refuse each other: one of them may see the temporary
/// file of the other and the keys file as the same file, which a hard link shows without a race.
#[test]
fn a_keys_file_that_another_process_changes_now() {
    let folder = tempfile::tempdir().unwrap();
    let keys = folder.path().join("keys.toml");
    figdex::callers::auth::file::add(&keys, "first").unwrap();
    fs::hard_link(&keys, folder.path().join("keys.toml.new")).unwrap();
    let added = figdex().args(["keys", "add", "second", "--keys"]).arg(&keys).output().unwrap();
    assert!(added.status.success(), "{}", String::from_utf8_lossy(&added.stderr));
    let listed = figdex::callers::auth::file::list(&keys).unwrap();
    assert_eq!(listed.iter().map(|key| key.name.as_str()).collect::<Vec<_>>(), ["first", "second"]);
}
