//! Tests the command line of `figdex-ingest`: its output and exit codes. `build` is tested with
//! the server, in the root package. That package needs this file too: because of it, plain
//! `cargo test` builds the program.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::process::{Command, Output};

fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_figdex-ingest")).args(arguments).output().unwrap()
}

#[test]
fn generate_writes_the_same_bytes_to_a_file_and_to_standard_output() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("dump.csv");
    let flags = ["generate", "--count", "50", "--seed", "3"];
    let printed = run(&flags);
    assert!(printed.status.success());
    assert_eq!(printed.stdout.iter().filter(|&&byte| byte == b'\n').count(), 51);
    let written = run(&[&flags[..], &["--out", path.to_str().unwrap()]].concat());
    assert!(written.status.success() && written.stdout.is_empty());
    assert_eq!(std::fs::read(&path).unwrap(), printed.stdout);
    let lines = run(&[&flags[..], &["--format", "jsonl"]].concat());
    assert_eq!(lines.stdout.iter().filter(|&&byte| byte == b'\n').count(), 50);
}

/// `--mix full` has more options, and `--dirt` has defects; the number of rows is the same.
#[test]
fn generate_applies_mix_and_dirt() {
    let options = |arguments: &[&str]| {
        let flags = ["generate", "--count", "2000", "--seed", "3"];
        let printed = run(&[&flags[..], arguments].concat());
        let text = String::from_utf8(printed.stdout).unwrap();
        assert_eq!(text.lines().count(), 2001, "{arguments:?}");
        (text.matches(",Equity Option,").count(), text)
    };
    let (firm, plain) = options(&[]);
    assert_eq!(options(&["--mix", "firm", "--dirt", "0%"]).1, plain);
    assert!((1_000..1_200).contains(&firm), "{firm}");
    let (full, _) = options(&["--mix", "full"]);
    assert!((1_600..1_800).contains(&full), "{full}");
    assert_ne!(options(&["--dirt", "10%"]).1, plain);
}

#[test]
fn usage_errors_exit_with_2_and_failures_with_1() {
    for (arguments, code) in [
        (&["nonsense"][..], 2),
        (&["build"], 2),
        (&["generate", "--count", "many", "--seed", "1"], 2),
        (&["generate", "--count", "1", "--seed", "1", "--dirt", "much"], 2),
        (&["generate", "--count", "1", "--seed", "1", "--out", "/nowhere/at/all"], 1),
        (&["--help"], 0),
    ] {
        assert_eq!(run(arguments).status.code(), Some(code), "{arguments:?}");
    }
}
