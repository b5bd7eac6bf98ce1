//! Every list of crates follows from the workspace: a new crate is seen by every check.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::citations;

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
fn untested(root: &Path) -> Vec<String> {
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
fn unmapped(root: &Path) -> Vec<String> {
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

/// A copy of the repository with one more crate, which has a fault of each kind.
fn copy_with_a_faulty_crate(copy: &Path) {
    let arguments = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    let listed = git(root(), &arguments);
    for name in listed.split('\0').filter(|name| !name.is_empty()) {
        let (from, to) = (root().join(name), copy.join(name));
        // A file that was removed and is still in the index of git.
        if from.is_file() {
            fs::create_dir_all(to.parent().unwrap()).unwrap();
            fs::copy(from, to).unwrap();
        }
    }
    let replace = |name: &str, old: &str, new: &str| {
        let text = fs::read_to_string(copy.join(name)).unwrap();
        assert!(text.contains(old), "{old} in {name}");
        fs::write(copy.join(name), text.replacen(old, new, 1)).unwrap();
    };
    replace("Cargo.toml", "members = [\".\", ", "members = [\".\", \"extra\", ");
    replace(
        "Cargo.toml",
        "\n[dependencies]\n",
        "\n[dependencies]\nfigdex-extra.path = \"extra\"\n",
    );
    replace("CONTRIBUTING.md", "## Habits", "`extra/src/missing.rs` is not there.\n\n## Habits");
    fs::create_dir_all(copy.join("extra/src")).unwrap();
    let manifest = "[package]\nname = \"figdex-extra\"\nversion.workspace = true\n\
                    edition.workspace = true\n";
    // Put together here, so that this file has none of these faults.
    let (citation, paper) = (["contract", "99.9"].join(" "), ["engine,", "decision 4"].join(" "));
    let phrase = ["it", "is", "no", "address"].join(" ");
    for (name, text) in [
        ("Cargo.toml", manifest.to_owned()),
        ("src/lib.rs", format!("//! {citation}: {phrase}.\n\nmod a;\nmod b;\n")),
        ("src/a.rs", format!("use crate::b::B;\n\n// ({paper}).\npub struct A(B);\n")),
        ("src/b.rs", "use crate::a::A;\n\npub struct B(Box<A>);\n".to_owned()),
    ] {
        fs::write(copy.join("extra").join(name), text).unwrap();
    }
    git(copy, &["init", "--quiet"]);
    git(copy, &["add", "--all"]);
}

fn git(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git").current_dir(folder).args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Every check sees a new crate, without an edit of the check.
#[test]
fn every_check_sees_a_new_crate() {
    let is_there = |program: &str| Command::new(program).arg("--version").output().is_ok();
    if !is_there("git") || !is_there("python3") || !root().join(".git").exists() {
        assert!(std::env::var_os("FIGDEX_REQUIRE_TOOLS").is_none(), "git and python3 are needed");
        return eprintln!("skipped: needs git, python3 and a clone of the repository");
    }
    let copy = tempfile::tempdir().unwrap();
    let copy = &copy.path().canonicalize().unwrap();
    copy_with_a_faulty_crate(copy);
    for (tool, argument, found) in [
        ("circles", None, "extra/src: a circle of 2: a, b"),
        ("plain-english", None, "extra/src/lib.rs:1: "),
        ("papers", Some("--links"), "CONTRIBUTING.md: there is no "),
    ] {
        let output = Command::new("python3")
            .arg(copy.join("tests/tools").join(tool))
            .args(argument)
            .output();
        let output = output.unwrap();
        let printed = String::from_utf8_lossy(&output.stdout);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(printed.contains(found), "{tool}: {printed}{said}");
        assert_eq!(output.status.code(), Some(1), "{tool}");
    }
    let files = citations::files(copy);
    for (faults, place) in [
        (citations::broken_in(&files), "extra/src/lib.rs:1: "),
        (citations::absent_papers_in(&files), "extra/src/a.rs:3: "),
    ] {
        assert!(faults.iter().any(|fault| fault.starts_with(place)), "{place} {faults:?}");
    }
    assert_eq!(untested(copy), ["figdex-extra"]);
    assert_eq!(unmapped(copy), ["extra"]);
}
