//! `SECURITY.md`: the promises about the source that no running program shows.

use std::fs;
use std::path::Path;

/// The files with `unsafe` code in a folder and the folders below it.
fn with_unsafe(folder: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            with_unsafe(&path, found);
        } else if path.extension().is_some_and(|end| end == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            let code = text.lines().map(|line| line.split("//").next().unwrap_or_default());
            let is_unsafe = |line: &str| {
                line.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == "unsafe")
            };
            if code.into_iter().any(is_unsafe) {
                found.push(path.display().to_string());
            }
        }
    }
}

/// `unsafe` code is in one file of the programs.
#[test]
fn unsafe_code_is_in_one_file() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    let crates = fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path());
    for folder in
        crates.filter(|folder| folder.join("Cargo.toml").exists()).chain([root.to_owned()])
    {
        if folder.join("src").is_dir() {
            with_unsafe(&folder.join("src"), &mut found);
        }
    }
    assert_eq!(found, [root.join("index/src/mapped.rs").display().to_string()]);
}

/// Every file that `SECURITY.md` names as a test exists.
#[test]
fn named_tests_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(root.join("SECURITY.md")).unwrap();
    let names: Vec<_> = text.split('`').filter(|name| name.starts_with("tests/")).collect();
    assert!(names.len() >= 4, "{names:?}");
    for name in names {
        assert!(root.join(name).exists(), "{name}");
    }
}
