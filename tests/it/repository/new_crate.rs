//! Every list of crates follows from the workspace: a new crate is seen by every check.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::citations;
use super::workspace::{root, unmapped, untested};

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
        ("src/b.rs", "use crate::a::A;\n\npub struct B(Box<A>);\nstruct A;\n".to_owned()),
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
        ("circles", None, "extra/src: the type A stands 2 times: a, b"),
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
