//! Answers that are compared with recorded files: what the data hold, what people look for, and
//! how questions are carried out. With `FIGDEX_BLESS=1` a test writes its file.

mod lists;
mod plans;
mod recorded;
mod relevance;
mod symbols;
mod unmoved;

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::cluster;

/// A recorded file.
struct Golden(PathBuf);

impl Golden {
    /// The file of that name in this folder.
    fn new(name: &str) -> Self {
        Self(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/golden").join(name))
    }

    /// The file of the engine that the tests ask: a cluster has one with `-cluster` in its name.
    fn of_engine(name: &str) -> Self {
        match cluster::is_asked() {
            true => Self::new(&format!("{name}-cluster.golden")),
            false => Self::new(&format!("{name}.golden")),
        }
    }

    /// Whether files are written.
    fn is_blessing() -> bool {
        std::env::var_os("FIGDEX_BLESS").is_some()
    }

    /// Its text, which is empty when it is about to be written for the first time.
    fn text(&self) -> String {
        match fs::read_to_string(&self.0) {
            Ok(text) => text,
            Err(_) if Self::is_blessing() => String::new(),
            Err(error) => panic!("{}: {error}; FIGDEX_BLESS=1 writes it", self.0.display()),
        }
    }

    /// Compares a text with the file, or writes it.
    fn compare(&self, text: &str) {
        if Self::is_blessing() {
            fs::write(&self.0, text).unwrap();
        }
        let place = self.0.display();
        assert!(self.text() == text, "not what {place} holds; FIGDEX_BLESS=1 writes it\n{text}");
    }
}
