//! The files that are written: whole or not at all, and never an input.

use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::symlink;
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::{Desk, is_clean};
use crate::support::process::PATIENCE;

const CSV: &str = "isin\nUS0846701086\nGB00B10RZP78\n";

/// No output may be an input, by whatever name, nor two outputs the same file.
#[test]
fn an_output_is_never_an_input() {
    let desk = Desk::new();
    desk.write("in.csv", CSV);
    fs::hard_link(desk.path("in.csv"), desk.path("hard.csv")).unwrap();
    desk.write("in.json", "{}");
    fs::hard_link(desk.path("in.json"), desk.path("hard.json")).unwrap();
    symlink("in.csv", desk.path("soft.csv")).unwrap();
    for arguments in [
        &["in.csv", "--out", "in.csv"][..],
        &["in.csv", "--out", "./in.csv"],
        &["in.csv", "--out", "hard.csv"],
        &["in.csv", "--out", "soft.csv"],
        &["hard.csv", "--unmatched", "in.csv"],
        &["in.csv", "--ambiguous", "in.csv"],
        &["hard.json", "--report", "in.json", "--id", "1"],
        &["in.csv", "--out", "x", "--unmatched", "x"],
        &["in.csv", "--out", "index/x"],
        &["in.csv", "--report", "index/CURRENT"],
        &["in.csv", "--out", "index"],
    ] {
        let mapped = desk.map(arguments);
        assert_eq!(mapped.code, Some(1), "{arguments:?} {}", mapped.said);
        assert_eq!(mapped.said.lines().count(), 1, "{}", mapped.said);
    }
    assert_eq!(desk.read("in.csv"), CSV);
    assert_eq!(desk.names(), ["hard.csv", "hard.json", "in.csv", "in.json", "index", "soft.csv"]);
    // Standard input and standard output, too.
    let file = fs::OpenOptions::new().append(true).open(desk.path("in.csv")).unwrap();
    let mut command = desk.command(&["in.csv"]);
    let output = command.stdout(Stdio::from(file)).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let mut command = desk.command(&["-", "--out", "in.csv"]);
    let file = fs::File::open(desk.path("in.csv")).unwrap();
    assert_eq!(command.stdin(Stdio::from(file)).output().unwrap().status.code(), Some(1));
    assert_eq!(desk.read("in.csv"), CSV);
}

/// An earlier file stays until the new one is whole.
#[test]
fn earlier_files_stay_when_the_command_fails() {
    let desk = Desk::new();
    desk.write("out.csv", "earlier");
    let arguments = ["--out", "out.csv", "--unmatched", "left.csv"];
    let mapped = desk.map_file("in.csv", "isin,x\nUS0846701086,1\nUS0846701086,\"", &arguments);
    assert_eq!(mapped.code, Some(1), "{}", mapped.said);
    assert_eq!(desk.read("out.csv"), "earlier");
    assert_eq!(desk.names(), ["in.csv", "index", "out.csv"]);
    desk.map_file("in.csv", CSV, &arguments).ok();
    assert!(desk.read("out.csv").starts_with("isin,match,"));
    assert_eq!(desk.read("left.csv"), "isin\nGB00B10RZP78\n");
    let mapped = desk.map(&["in.csv", "--out", "nowhere/out.csv"]);
    assert_eq!(mapped.code, Some(1));
    assert!(mapped.said.contains("nowhere/out.csv"), "{}", mapped.said);
}

/// Signals that end the command leave no unfinished file; after a kill that no program can handle,
/// the next run replaces it.
#[test]
fn a_killed_command_leaves_nothing_half() {
    let desk = Desk::new();
    desk.write("out.csv", "earlier");
    let arguments =
        ["-", "--id", "isin", "--out", "out.csv", "--unmatched", "left.csv", "--report", "r.json"];
    for signal in [Signal::INT, Signal::TERM, Signal::HUP, Signal::KILL] {
        let mut command = desk.command(&arguments);
        command.stdin(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        // Enough rows to recognise the columns; then it waits for more.
        stdin.write_all(format!("isin\n{}", "US0846701086\n".repeat(15_000)).as_bytes()).unwrap();
        let start = Instant::now();
        while is_clean(desk.0.path()) {
            assert!(start.elapsed() < PATIENCE);
            std::thread::sleep(Duration::from_millis(5));
        }
        kill_process(Pid::from_child(&child), signal).unwrap();
        let status = child.wait().unwrap();
        drop(stdin);
        if signal == Signal::KILL {
            assert!(!is_clean(desk.0.path()));
        } else {
            assert_eq!(status.code(), Some(128 + signal.as_raw()), "{signal:?}");
            assert_eq!(desk.names(), ["index", "out.csv"]);
        }
        assert_eq!(desk.read("out.csv"), "earlier");
    }
    desk.map_from(&arguments, CSV.as_bytes()).ok();
    assert_eq!(desk.names(), ["index", "left.csv", "out.csv", "r.json"]);
    assert!(desk.read("out.csv").starts_with("isin,match,"));
}

/// A reader that ends early, as `head` does, is not an error.
#[test]
fn a_reader_may_end_early() {
    let desk = Desk::new();
    desk.write("in.csv", format!("isin\n{}", "US0846701086\n".repeat(50_000)));
    let mut command = desk.command(&["in.csv"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut first = [0; 5];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(!said.contains("rows ="), "{said}");
}

/// On a terminal: a table at its width.
#[test]
fn a_terminal_shows_a_table() {
    let desk = Desk::new();
    desk.write("in.csv", "isin,other\nUS0846701086,\u{1b}[2J\nGB00B10RZP78,x\n");
    let figdex = env!("CARGO_BIN_EXE_figdex");
    for (columns, row) in [
        (110, "isin          other      match     matches  reason     figi          ticker  name"),
        (72, "isin          other  match  matc…  reas…  figi          tic…  name  exc…"),
    ] {
        let map = format!("{figdex} map in.csv --index index --id isin --id other");
        let script = format!("stty cols {columns}; {map}");
        let mut command = std::process::Command::new("script");
        command.current_dir(desk.0.path()).args(["-qec", &script, "/dev/null"]);
        // util-linux may be missing.
        let Ok(output) = command.output() else { return };
        let text = String::from_utf8(output.stdout).unwrap().replace('\r', "");
        assert!(!text.contains('\u{1b}'), "{text:?}");
        assert!(text.lines().all(|line| line.chars().count() <= columns), "{text}");
        assert!(text.contains(row), "{text}");
        assert!(text.contains("US0846701086  \\u0"), "{text}");
        assert!(text.contains("BBG000DWCFL4"), "{text}");
        let sum = "2 rows = 1 resolved + 0 ambiguous + 1 unknown + 0 invalid";
        assert_eq!(text.lines().last(), Some(sum));
    }
}
