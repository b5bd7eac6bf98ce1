//! The crates of the workspace: all are tested, and all are on the map of the architecture.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// The root of the repository.
pub(super) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The folders of the crates of the workspace at `root`, that of the root package among them.
pub(super) fn members(root: &Path) -> Vec<PathBuf> {
    let packages = metadata(root)["packages"].take();
    let manifests =
        packages.as_array().unwrap().iter().map(|package| text(package, "manifest_path"));
    manifests.map(|manifest| Path::new(manifest).parent().unwrap().to_owned()).collect()
}

/// The workspace at `root`, as cargo describes it.
fn metadata(root: &Path) -> Value {
    let arguments = ["metadata", "--no-deps", "--format-version=1"];
    let output = Command::new(env!("CARGO")).current_dir(root).args(arguments).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"))
}

fn text<'a>(value: &'a Value, member: &str) -> &'a str {
    value[member].as_str().unwrap_or_else(|| panic!("{member} of {value}"))
}

/// The crates that the default build needs and `cargo test` does not test.
pub(super) fn untested(root: &Path) -> Vec<String> {
    let metadata = metadata(root);
    let packages = metadata["packages"].as_array().unwrap();
    let defaults: BTreeSet<&str> = metadata["workspace_default_members"]
        .as_array()
        .unwrap()
        .iter()
        .map(|id| id.as_str().unwrap())
        .collect();
    let mut needed = BTreeSet::new();
    let mut names = vec!["figdex"];
    while let Some(name) = names.pop() {
        let found = packages.iter().find(|package| package["name"] == name);
        let Some(package) = found.filter(|_| needed.insert(name)) else { continue };
        let dependencies = package["dependencies"].as_array().unwrap().iter();
        let always = dependencies.filter(|needs| needs["optional"] == false);
        names.extend(always.map(|needs| text(needs, "name")));
    }
    let own = packages.iter().filter(|package| needed.contains(text(package, "name")));
    let untested = own.filter(|package| !defaults.contains(text(package, "id")));
    untested.map(|package| text(package, "name").to_owned()).collect()
}

/// The crates without a row in the map of `docs/architecture.md`.
pub(super) fn unmapped(root: &Path) -> Vec<String> {
    let map = fs::read_to_string(root.join("docs/architecture.md")).unwrap();
    let mut missing = Vec::new();
    for member in members(root) {
        let Some(folder) = member.strip_prefix(root).unwrap().iter().next() else { continue };
        let folder = folder.to_str().unwrap();
        let is_there = |line: &str| line.starts_with('|') && line.contains(&format!("`{folder}/`"));
        if !map.lines().any(is_there) {
            missing.push(folder.to_owned());
        }
    }
    missing
}

/// The files and folders of crates that the table of their crate in `docs/architecture.md` lacks,
/// and the number of those tables.
fn unlisted(root: &Path) -> (Vec<String>, usize) {
    let map = fs::read_to_string(root.join("docs/architecture.md")).unwrap();
    let (mut missing, mut tables) = (Vec::new(), 0);
    for member in members(root) {
        let source = member.join("src");
        let shown = source.strip_prefix(root).unwrap().display().to_string();
        // A crate of one or two files needs no table.
        let Some((_, table)) = map.split_once(&format!("\n### `{shown}/`\n")) else { continue };
        let table = table.split("\n##").next().unwrap();
        tables += 1;
        for entry in fs::read_dir(&source).unwrap().map(|entry| entry.unwrap()) {
            let mut name = entry.file_name().into_string().unwrap();
            if entry.path().is_dir() {
                name.push('/');
            }
            let is_left_out = ["lib.rs", "main.rs"].contains(&&*name) || name.contains("tests");
            // A folder may be named with one of its folders: `bin/figdex-ingest/`.
            let is_there = table.contains(&format!("`{name}"));
            if !is_left_out && !is_there {
                missing.push(format!("{shown}/{name}"));
            }
        }
    }
    missing.sort();
    (missing, tables)
}

/// `cargo test` runs the tests of every crate of the default build; the gate those of all crates,
/// whose features may be off by default.
#[test]
fn every_crate_is_tested() {
    assert_eq!(untested(root()), [] as [&str; 0], "missing in default-members of Cargo.toml");
    let gate = fs::read_to_string(root().join(".ci/run")).unwrap();
    for part in ["cargo clippy --workspace ", "cargo test --locked --all-features --workspace "] {
        assert!(gate.contains(part), "{part}");
    }
    assert!(!gate.contains(" -p "), "a list of crates by hand");
}

/// Every crate has its row in the map of the architecture.
#[test]
fn every_crate_is_on_the_map() {
    assert_eq!(unmapped(root()), [] as [&str; 0], "missing in docs/architecture.md");
}

/// The table of a crate in the architecture has each of its files and folders.
#[test]
fn every_module_is_on_the_map() {
    let (missing, tables) = unlisted(root());
    assert_eq!(missing, [] as [&str; 0], "missing in docs/architecture.md");
    assert!(tables >= 4, "{tables} tables");
}
