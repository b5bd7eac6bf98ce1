//! Untrusted text on the terminal and in the log: no control character of a dump, an index, a path,
//! an argument, a settings file or a request gets there, and no text forges a line.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::support::process::{Process, build_index, figdex};
use crate::support::program;

/// A text that renames the window, clears the screen in both encodings, overwrites the line,
/// reverses the order of letters, and begins a new line.
const HOSTILE: &str = "a\x1b]0;owned\x07b\u{9b}2Jc\rd\x08\u{202e}e\u{2066}f\u{2028}\x7fg\nfigdex: \
                       forged\nfigdex-ingest: forged\th";

/// The beginning of that text as it is shown.
const SHOWN: &str =
    "a\\u001b]0;owned\\u0007b\\u009b2Jc\\rd\\u0008\\u202ee\\u2066f\\u2028\\u007fg\\nfigdex: ";

/// Asserts that a text has no character that controls a terminal, except line ends and, with
/// `may_have_tabs`, tabs; and that none of its lines is forged.
fn assert_clean(case: &str, text: &str, may_have_tabs: bool) {
    for character in text.chars() {
        let is_ours = character == '\n' || character == '\t' && may_have_tabs;
        let turns = ('\u{2028}'..='\u{202e}').contains(&character)
            || ('\u{2066}'..='\u{2069}').contains(&character);
        assert!(is_ours || !(character.is_control() || turns), "{case}: {text:?}");
    }
    for forged in ["\nfigdex: forged", "\nfigdex-ingest: forged"] {
        assert!(!text.contains(forged), "{case}: {text:?}");
    }
}

/// Runs a command, whose output must be clean. Returns exit code, standard output and standard
/// error.
fn clean(command: &mut Command) -> (i32, String, String) {
    let output = command.output().unwrap();
    let case = format!("{command:?}");
    let [out, error] =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    // `figdex keys list` has a tab between its columns.
    assert_clean(&case, &out, out.starts_with("20"));
    assert_clean(&case, &error, false);
    (output.status.code().unwrap(), out, error)
}

fn clean_ingest(folder: &Path, arguments: &[&str]) -> (i32, String, String) {
    clean(Command::new(program()).current_dir(folder).args(arguments))
}

/// A dump whose name, columns and values are hostile: in the build's report, its progress and the
/// reasons of rejects, and in the output of every command about the index.
#[test]
fn a_hostile_dump() {
    let desk = tempfile::tempdir().unwrap();
    let dump = format!("{HOSTILE}.jsonl");
    let row = |figi: &str, name: &str| {
        json!({
            "figi": figi, "name": format!("{name}{HOSTILE}"), "exchCode": HOSTILE,
            "securityType": HOSTILE, "marketSector": HOSTILE, "ticker": HOSTILE,
            "ID_ISIN": HOSTILE, HOSTILE: HOSTILE,
        })
        .to_string()
    };
    let rows = [
        row("BBG000BLNNH6", "one"),
        row("BBG000BLNNH6", "two"),
        row(HOSTILE, ""),
        format!("{{{HOSTILE}"),
    ];
    // A line end ends a row of JSON lines, so there are more rejects than rows.
    fs::write(desk.path().join(&dump), rows.join("\n")).unwrap();
    let build = ["build", &dump, "--index", "index"];
    let (code, out, error) =
        clean_ingest(desk.path(), &[&build[..], &["--max-rejects", "9"]].concat());
    assert_eq!(code, 0, "{error}");
    assert!(out.contains(SHOWN), "the file's name is long: {out}");
    assert!(out.contains("ignored columns\n  ") && out.contains("conflicts: "), "{out}");
    let (code, _, error) = clean_ingest(desk.path(), &[&build[..], &["--strict"]].concat());
    assert!(code == 1 && error.contains("not JSON (first: "), "{error}");

    let (code, out, _) = clean_ingest(desk.path(), &["inspect", "index"]);
    assert!(code == 0 && out.matches(SHOWN).count() >= 2, "{out}");
    let (code, out, _) = clean_ingest(desk.path(), &["inspect", "index", "--json"]);
    let inspection: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, inspection["sources"][0]["name"].as_str()), (0, Some(&*dump)));
    let question = json!({"query": HOSTILE, "exchCode": HOSTILE});
    fs::write(desk.path().join("query.json"), question.to_string()).unwrap();
    let explain = || {
        let arguments = ["explain", "query.json", "--index", "index"];
        clean(figdex().current_dir(desk.path()).args(arguments))
    };
    let (code, out, error) = explain();
    assert!(code == 0 && out.contains(SHOWN), "{out}{error}");
    for question in [json!({HOSTILE: 1}), json!({"currency": HOSTILE}), json!({"idType": HOSTILE})]
    {
        fs::write(desk.path().join("query.json"), question.to_string()).unwrap();
        assert_eq!(explain().0, 1);
    }
    assert_eq!(clean_ingest(desk.path(), &["verify", "index"]).0, 0);

    // Files keep every byte.
    let report = [&build[..], &["--max-rejects", "9", "--report", "report.json"]].concat();
    assert_eq!(clean_ingest(desk.path(), &report).0, 0);
    let report: Value =
        serde_json::from_slice(&fs::read(desk.path().join("report.json")).unwrap()).unwrap();
    assert_eq!(report["inputs"][0]["name"], *dump);
    let rejects = fs::read_to_string(desk.path().join("index.rejects.csv")).unwrap();
    assert!(rejects.contains("{a\x1b]0;owned\x07b\u{9b}2Jc"), "{rejects:?}");
}

/// Invalid CSV headers, columns files, paths and arguments that contain the hostile text.
#[test]
fn hostile_arguments_of_figdex_ingest() {
    let desk = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(desk.path().join(name), text).unwrap();
    write("good.csv", "figi,ticker\nBBG000BLNNH6,IBM\n");
    write("header.csv", &format!("name,\"{HOSTILE}\"\nx,y\n"));
    write("columns.toml", &format!("[columns]\n\"{}\" = 1\n", HOSTILE.escape_unicode()));
    write("broken.toml", &format!("format = {HOSTILE}"));
    let columns = json!(HOSTILE).to_string().replace('\x7f', "\\u007f");
    write("keys.toml", &format!("[columns]\n{columns} = 'figi'\n{columns} = 'x'\n"));
    write("exchanges.csv", &format!("mic,\"{HOSTILE}\"\n"));
    fs::create_dir(desk.path().join("lists")).unwrap();
    write("lists/exchCode.json", HOSTILE);
    let good = ["build", "good.csv", "--index", "index"];
    for arguments in [
        &["build", HOSTILE, "--index", "index"][..],
        &["build", "header.csv", "--index", "index"],
        &["build", "good.csv", "--index", HOSTILE, "--rejects", HOSTILE],
        &[&good[..], &["--columns", "columns.toml"]].concat(),
        &[&good[..], &["--columns", "broken.toml"]].concat(),
        &[&good[..], &["--columns", "keys.toml"]].concat(),
        &[&good[..], &["--exchanges", "exchanges.csv"]].concat(),
        &[&good[..], &["--values", "lists"]].concat(),
        &[&good[..], &["--report", "good.csv/x\x1b[2J"]].concat(),
        &[&good[..], &["--format", HOSTILE]].concat(),
        &[&good[..], &["--memory", HOSTILE]].concat(),
        &[&good[..], &["--max-rejects", HOSTILE]].concat(),
        &[&good[..], &["--keep", HOSTILE]].concat(),
        &[&good[..], &[&*format!("--{HOSTILE}")]].concat(),
        &["generate", "--count", "1", "--seed", "1", "--mix", HOSTILE],
        &["generate", "--count", "1", "--seed", "1", "--out", &format!("{HOSTILE}/x")],
        &["inspect", HOSTILE],
        &["verify", HOSTILE],
        &["rollback", HOSTILE],
        &["export", HOSTILE],
        &[HOSTILE],
        &[],
    ] {
        let (code, _, error) = clean_ingest(desk.path(), arguments);
        assert!(code != 0 && !error.is_empty(), "{arguments:?}");
        assert!(!arguments.contains(&HOSTILE) || error.contains("\\u001b]0;"), "{error}");
    }
    // A file name that is not UTF-8.
    let mut command = Command::new(program());
    let name = OsStr::from_bytes(b"\xff\x1b[2J\x9b2J");
    assert_eq!(clean(command.current_dir(desk.path()).arg("inspect").arg(name)).0, 1);

    // A folder with a hostile name, and the manifest of a damaged index.
    let index = desk.path().join(HOSTILE);
    build_index(&index);
    let (code, out, _) = clean_ingest(desk.path(), &["inspect", HOSTILE]);
    assert!(code == 0 && out.starts_with(SHOWN), "{out}");
    assert_eq!(clean_ingest(desk.path(), &["rollback", HOSTILE]).0, 1);
    fs::write(index.join("generation-000001/manifest.toml"), HOSTILE).unwrap();
    for command in ["inspect", "verify", "export"] {
        let (code, _, error) = clean_ingest(desk.path(), &[command, HOSTILE]);
        assert!(code == 1 && error.contains(SHOWN), "{error}");
    }
    fs::write(index.join("CURRENT"), HOSTILE).unwrap();
    assert_eq!(clean_ingest(desk.path(), &["inspect", HOSTILE]).0, 1);
}

/// Flags, environment, settings file and keys file of the server.
#[test]
fn hostile_settings() {
    let desk = tempfile::tempdir().unwrap();
    let path = |name: &str| desk.path().join(name);
    build_index(&path("index"));
    build_index(&path(HOSTILE));
    let run = |arguments: &[&str]| clean(figdex().current_dir(desk.path()).args(arguments));
    for arguments in [
        &["--listen", HOSTILE][..],
        &["--index", "absent\x1b[2J"],
        &["--keys", HOSTILE],
        &["--tls-cert", HOSTILE, "--tls-key", HOSTILE],
        &["--config", HOSTILE],
        &["--cors", HOSTILE],
        &["--public-url", HOSTILE],
        &["--log-format", HOSTILE],
        &["--no-limits", &format!("--connections={HOSTILE}")],
        &["config", "--listen", HOSTILE],
        &["explain", HOSTILE],
        &["explain", "keys.toml", "--index", "absent\x1b[2J"],
        &[HOSTILE],
        &[&*format!("--{HOSTILE}")],
        &["keys", "add", HOSTILE, "--keys", "keys.toml"],
        &["keys", "list", "--keys", HOSTILE],
        &["keys", "revoke", HOSTILE, "--keys", "keys.toml"],
    ] {
        let (code, _, error) = run(arguments);
        assert!(code != 0 && !error.is_empty(), "{arguments:?}");
    }
    let mut command = figdex();
    command.current_dir(desk.path()).env("FIGDEX_LISTEN", HOSTILE).env("FIGDEX_KEYS", HOSTILE);
    assert_eq!(clean(command.arg("config")).0, 1);
    assert_eq!(clean(figdex().env("FIGDEX_KEYS", HOSTILE).arg("--help")).0, 0);

    let quoted = json!(HOSTILE).to_string().replace('\x7f', "\\u007f");
    for text in [
        format!("{quoted} = 1\n"),
        format!("[limits.{quoted}]\nx = 1\n"),
        format!("listen = {quoted}\n"),
        format!("listen = '{HOSTILE}'\n"),
        HOSTILE.to_owned(),
    ] {
        fs::write(path("figdex.toml"), text).unwrap();
        for command in [&["config"][..], &["serve"], &["keys", "list"]] {
            let (code, ..) = run(&[command, &["--config", "figdex.toml"]].concat());
            assert_ne!(code, 0, "{command:?}");
        }
    }

    // The printed setting is the same when it is read again.
    fs::write(path("figdex.toml"), format!("index = {quoted}\n")).unwrap();
    let (code, out, error) = run(&["config", "--config", "figdex.toml"]);
    assert_eq!(code, 0, "{error}");
    let listed: toml::Table = out.parse().unwrap();
    assert_eq!(listed["index"].as_str(), Some(HOSTILE));

    let (code, ..) = run(&["keys", "add", "desk", "--keys", "keys.toml"]);
    assert_eq!(code, 0);
    let keys = fs::read_to_string(path("keys.toml")).unwrap();
    fs::write(path("keys.toml"), keys.replace("\"desk\"", &quoted)).unwrap();
    let (code, out, _) = run(&["keys", "list", "--keys", "keys.toml"]);
    assert!(code == 0 && out.lines().count() == 1 && out.contains(SHOWN), "{out}");
}

/// The log of a server, for people and as JSON: each event is one line, whatever a request, the
/// settings or an index holds.
#[test]
fn a_hostile_log() {
    for format in ["human", "json"] {
        let desk = tempfile::tempdir().unwrap();
        let index = desk.path().join(HOSTILE);
        build_index(&index);
        let config = desk.path().join("figdex.toml");
        fs::write(&config, "").unwrap();
        let mut command = figdex();
        command.args(["--listen", "127.0.0.1:0", "--log-format", format]);
        command.arg("--config").arg(&config).env("RUST_LOG", "debug");
        let keys = desk.path().join("keys.toml");
        fs::write(&keys, "").unwrap();
        let process = Process::start(command.arg("--index").arg(&index).arg("--keys").arg(&keys));
        let wire = HOSTILE.replace(['\r', '\n'], "");
        for request in [
            format!("GET /{wire} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"),
            format!("GET /?{wire} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"),
            format!("{wire} / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"),
            format!(
                "GET /healthz HTTP/1.1\r\nHost: {wire}\r\nX-Request-Id: {wire}\r\n\
                 X-OPENFIGI-APIKEY: {wire}\r\nConnection: close\r\n\r\n"
            ),
            "GET /suggest?query=%1b%5d0;%07%0a%0dx%c2%9b2J HTTP/1.1\r\nHost: x\r\nX-Request-Id: \
             a\u{9b}2J\r\nConnection: close\r\n\r\n"
                .to_owned(),
        ] {
            process.exchange(&request);
        }
        let body = json!([{"idType": "TICKER", "idValue": HOSTILE, HOSTILE: HOSTILE}]);
        process.map("X-Request-Id: b\u{202e}\r\n", &body.to_string());

        // Invalid keys, a generation that is refused, and invalid settings.
        fs::write(&keys, HOSTILE).unwrap();
        process.wait_for("keys file not reloaded", 1);
        let manifest = index.join("generation-000001/manifest.toml");
        fs::write(manifest, HOSTILE).unwrap();
        fs::write(index.join("CURRENT.new"), "generation-000001\n").unwrap();
        fs::rename(index.join("CURRENT.new"), index.join("CURRENT")).unwrap();
        fs::write(&config, format!("'{}' = 1\n[{}", "x\x7fy\u{9b}", HOSTILE)).unwrap();
        process.signal("-HUP");
        process.wait_for("the new generation is refused", 1);
        process.wait_for("invalid setting", 1);
        fs::write(index.join("CURRENT"), HOSTILE).unwrap();
        process.signal("-HUP");
        process.wait_for("no published generation is found", 1);
        process.wait_for("changed settings are refused", 2);

        let log = process.stop();
        assert_clean(format, &log, false);
        assert!(log.contains("a\\u001b]0;owned\\u0007b\\u009b2Jc"), "{log}");
        for line in log.lines() {
            let is_event = match format {
                "json" => {
                    serde_json::from_str::<Value>(line).is_ok_and(|line| line["level"].is_string())
                }
                _ => line.starts_with("20") && line.contains(" figdex"),
            };
            assert!(is_event, "{format}: {line:?}");
        }
    }
}
