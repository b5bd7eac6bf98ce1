//! A record that cannot be read, and what comes after it.

use super::RECORD_BYTES_MAX;
use std::io;

use crate::error::Error;
use crate::row::reject::Reject;

/// What a source yields next.
pub(crate) enum Next {
    /// The row was filled.
    Row,
    /// A record that is no row, and why; its line and bytes are in the row.
    Rejected(Reject),
    /// A record that a rule of its format leaves out.
    Skipped,
    /// There is no more.
    End,
}

/// A fault that ends a dump: from here on its rows cannot be told apart.
#[derive(Debug)]
pub(crate) struct DumpError {
    /// The line, from 1, where the dump has lines.
    pub(super) line: Option<u64>,
    pub(super) what: String,
}

impl DumpError {
    pub(super) fn new(line: u64, what: impl Into<String>) -> Self {
        Self { line: Some(line), what: what.into() }
    }

    /// For `map_err`: reading failed at that line.
    pub(super) fn read(line: u64) -> impl FnOnce(io::Error) -> Self {
        move |error| match error.kind() {
            io::ErrorKind::UnexpectedEof => Self::new(line, "the compressed file is cut off"),
            _ => Self::new(line, error.to_string()),
        }
    }

    pub(super) fn too_long(line: u64) -> Self {
        Self::new(line, format!("a record is longer than {RECORD_BYTES_MAX} bytes"))
    }

    pub(super) fn of(self, name: &str) -> Error {
        Error::input(&name, self.line, self.what)
    }
}
