//! Passes the commit, compiler and target to the crate. A tree without git, or without its
//! history, is built all the same; its programs print `unknown` as their commit.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The value of a fact that could not be found out.
const UNKNOWN: &str = "unknown";

fn main() {
    // Without such a line cargo would run this script again whenever any file changes.
    println!("cargo::rerun-if-changed=build.rs");
    let root = Path::new(&variable("CARGO_MANIFEST_DIR")).join("..");
    let (commit, date) = commit(&root).unwrap_or((UNKNOWN.into(), UNKNOWN.into()));
    let rustc = output(Command::new(variable("RUSTC")).arg("--version"));
    for (name, value) in [
        ("COMMIT", commit),
        ("COMMIT_DATE", date),
        ("RUSTC", rustc.unwrap_or_else(|| UNKNOWN.into())),
        ("TARGET", variable("TARGET")),
        ("PROFILE", variable("PROFILE")),
    ] {
        println!("cargo::rustc-env=FIGDEX_BUILD_{name}={value}");
    }
}

/// An environment variable that cargo sets for every build script.
fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|fault| panic!("cargo sets {name}: {fault}"))
}

/// The commit that is checked out, and its date; `None` when there is no repository at the
/// root (one further up belongs to another project), no git, or no commit.
fn commit(root: &Path) -> Option<(String, String)> {
    if !root.join(".git").exists() {
        return None;
    }
    let git = |arguments: &[&str]| output(Command::new("git").arg("-C").arg(root).args(arguments));
    let log = git(&["log", "-1", "--format=%H %cs"])?;
    let branch = git(&["symbolic-ref", "--quiet", "HEAD"]);
    for name in ["HEAD", "logs/HEAD", "packed-refs"].into_iter().chain(branch.as_deref()) {
        let file = git(&["rev-parse", "--git-path", name]).map(|path| root.join(path));
        // A file that does not exist would count as changed at each build.
        for file in file.iter().filter(|file: &&PathBuf| file.exists()) {
            println!("cargo::rerun-if-changed={}", file.display());
        }
    }
    let (commit, date) = log.split_once(' ')?;
    Some((commit.to_owned(), date.to_owned()))
}

/// The first line of a program's output, if the program succeeds.
fn output(command: &mut Command) -> Option<String> {
    let output = command.output().ok().filter(|output| output.status.success())?;
    let text = String::from_utf8(output.stdout).ok()?;
    text.lines().next().map(|line| line.trim().to_owned())
}
