//! `figdex map`: every row of a file of identifiers comes out, with the FIGI that is meant.

mod advice;
mod columns;
mod containers;
mod crosswalk;
mod files;
mod history;
mod names;
mod resolve;
mod rows;
mod server;
mod symbols;

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use figdex_ingest::Input;
use serde_json::Value;

use crate::support::build_of;
use crate::support::process::figdex;

/// Well-known instruments, as a dump.
const WELL_KNOWN: &[u8] = include_bytes!("../../../../ingest/sample/well-known.csv");

/// A folder with an index of well-known instruments.
struct Desk(tempfile::TempDir);

/// The result of the command.
struct Mapped {
    code: Option<i32>,
    out: Vec<u8>,
    /// Standard error.
    said: String,
}

impl Mapped {
    /// Standard output as text.
    fn text(&self) -> &str {
        str::from_utf8(&self.out).unwrap()
    }

    /// Standard output of a command that succeeded.
    fn ok(&self) -> &str {
        assert_eq!(self.code, Some(0), "{}", self.said);
        self.text()
    }

    /// The last line of standard error.
    fn sum(&self) -> &str {
        self.said.lines().last().unwrap()
    }
}

impl Desk {
    fn new() -> Self {
        let desk = tempfile::tempdir().unwrap();
        let dump = Input::Memory("well-known", WELL_KNOWN.into());
        build_of(vec![dump], &desk.path().join("index")).run(&mut |_| {}).unwrap();
        Self(desk)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).unwrap();
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.read(name)).unwrap()
    }

    /// The names in the folder, sorted.
    fn names(&self) -> Vec<String> {
        let names = fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<_> =
            names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// `figdex map` with these arguments, in the folder of the desk.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = figdex();
        command.current_dir(self.0.path()).arg("map").args(arguments);
        if !arguments.contains(&"--url") {
            command.args(["--index", "index"]);
        }
        command
    }

    fn map(&self, arguments: &[&str]) -> Mapped {
        self.map_from(arguments, b"")
    }

    /// As [`Self::map`], with this standard input.
    fn map_from(&self, arguments: &[&str], input: &[u8]) -> Mapped {
        let mut command = self.command(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_vec();
        // A command that refuses its input does not read it.
        let writer = std::thread::spawn(move || stdin.write_all(&input).ok());
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        Mapped { code: output.status.code(), out: output.stdout, said }
    }

    /// Maps a file with this content.
    fn map_file(&self, name: &str, content: impl AsRef<[u8]>, arguments: &[&str]) -> Mapped {
        self.write(name, content);
        self.map(&[&[name], arguments].concat())
    }
}

/// Whether a folder holds no unfinished files.
fn is_clean(folder: &Path) -> bool {
    let mut names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    names.all(|name| !name.to_string_lossy().ends_with(".new"))
}
