//! The engine room, `src/engine/`: only its code knows which engine answers, and when work waits.

use std::fs;
use std::path::{Path, PathBuf};

use super::workspace::root;

/// The kinds of engine. Besides the engine room, the code that opens an index names them: the
/// settings, the commands and the reload.
const KINDS: [&str; 6] = [
    "Engine::Local",
    "Engine::OpenSearch",
    "Catalogue",
    "figdex_opensearch::Generation",
    "figdex_opensearch::{",
    "figdex_opensearch::*",
];

const OPENERS: [&str; 4] = ["src/engine/", "src/config/", "src/commands/", "src/reload/"];

/// Everything that lets work be done at once up to a bound, or else in a turn. Besides the engine
/// room, the pool itself has it; and the packing of an answer, which is sent unpacked without a turn.
const TURNS: [&str; 2] = ["Meter::of(", "run_metered"];

const TURN_MAKERS: [&str; 3] = ["src/engine/turn.rs", "src/capacity/pool.rs", "src/gate/reply.rs"];

/// The lines of the server's code that have one of these words, with their places, without comments,
/// tests, and the files that begin as one of `except`.
fn lines_with(words: &[&str], except: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for file in files(&root().join("src")) {
        let name = file.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
        if name.ends_with("tests.rs") || except.iter().any(|allowed| name.starts_with(allowed)) {
            continue;
        }
        let text = fs::read_to_string(&file).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap();
        for (number, line) in (1..).zip(code.lines()) {
            let is_code = !line.trim_start().starts_with("//");
            if is_code && words.iter().any(|word| line.contains(word)) {
                found.push(format!("{name}:{number}: {}", line.trim()));
            }
        }
    }
    found
}

/// The Rust files in a folder and the folders in it.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            all.push(path);
        }
    }
    all
}

/// A route asks whichever engine there is, so that both give the same answers.
#[test]
fn only_the_engine_room_knows_the_kinds_of_engine() {
    assert_eq!(lines_with(&KINDS, &OPENERS), [] as [&str; 0]);
    assert!(!lines_with(&KINDS, &[]).is_empty(), "the kinds have other names now");
}

/// Work waits for a turn by one rule.
#[test]
fn at_once_or_in_a_turn_is_decided_in_one_place() {
    assert_eq!(lines_with(&TURNS, &TURN_MAKERS), [] as [&str; 0]);
    assert!(!lines_with(&TURNS, &[]).is_empty(), "the meters have other names now");
}
