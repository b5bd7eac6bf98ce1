//! A password that a person put into an address is refused, and printed by no program.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::process::{figdex, run};
use crate::support::program;

/// Addresses with a password, some of them with a slip.
const ADDRESSES: [&str; 8] = [
    "opensearch+https://me:s3cr3t@host:9200/name",
    "opensearch+https://me:a/s3cr3t@host/name",
    "opensearch+https://me:a \"s3cr3t@host/name",
    "opensearch+https:/me:s3cr3t@host/name",
    "opensearch+htps://me:s3cr3t@host/name",
    "https://me:s3cr3t@host/name",
    "s3://me:s3cr3t@bucket/name",
    "me:s3cr3t@host:9200/name",
];

/// Runs a command, which must fail, and not print the password.
fn refused(command: &mut Command, folder: &Path) {
    let (code, printed, error) = run(command.current_dir(folder));
    assert!(matches!(code, Some(1 | 2)), "{command:?} {error}");
    assert!(!error.is_empty() && !error.contains("panicked"), "{error}");
    assert!(!format!("{printed}{error}").contains("s3cr3t"), "{command:?} {printed}{error}");
}

#[test]
fn no_program_prints_the_password_of_an_address() {
    let desk = tempfile::tempdir().unwrap();
    let folder = desk.path();
    fs::write(folder.join("ids.txt"), "IBM\n").unwrap();
    for address in ADDRESSES {
        let misspelt = format!("--inde={address}");
        for arguments in [
            &["inspect", address][..],
            &["build", "ids.txt", "--index", address],
            &["build", "ids.txt", &misspelt],
            &["build", address, "--index", "index"],
            &["publish", "index", address],
            &["publish", address, "index"],
            &["rollback", address],
            &["verify", address],
            &["export", address],
            &[address],
        ] {
            refused(Command::new(program()).args(arguments), folder);
        }
        for arguments in [
            &["map", "ids.txt", "--index", address][..],
            &["map", "ids.txt", "--url", address],
            &["map", address],
            &["--index", address],
            &["config", "--index", address],
            &["config", &misspelt],
        ] {
            refused(figdex().args(arguments), folder);
        }
        refused(figdex().args(["map", "ids.txt"]).env("FIGDEX_INDEX", address), folder);
        refused(figdex().arg("config").env("FIGDEX_INDEX", address), folder);
        // As a value of the file, and in a line that is not TOML.
        for line in [format!("index = '{address}'"), format!("index = {address}")] {
            fs::write(folder.join("figdex.toml"), line).unwrap();
            refused(figdex().args(["config", "--config", "figdex.toml"]), folder);
        }
    }
}
