//! The result of reading a record, and the error that ends a dump.

use std::io;

use super::RECORD_BYTES_MAX;
use crate::error::{CUT_OFF, Error};
use crate::row::reject::Reject;

/// The result of reading the next record.
pub(crate) enum Next {
    /// A row.
    Row,
    /// A record that is not a row, and the reason. Its line and bytes are in the row.
    Rejected(Reject),
    /// A record that the format leaves out.
    Skipped,
    /// The end of the dump.
    End,
}

/// An error that ends a dump, because the next record cannot be found.
#[derive(Debug)]
pub(crate) struct DumpError {
    /// The line, from 1; `None` if the dump has no lines.
    pub(crate) line: Option<u64>,
    pub(crate) what: String,
}

impl DumpError {
    pub(crate) fn new(line: u64, what: impl Into<String>) -> Self {
        Self { line: Some(line), what: what.into() }
    }

    /// For `map_err`: an I/O error at that line.
    pub(crate) fn read(line: u64) -> impl FnOnce(io::Error) -> Self {
        move |error| match error.kind() {
            io::ErrorKind::UnexpectedEof => Self::new(line, CUT_OFF),
            _ => Self::new(line, error.to_string()),
        }
    }

    pub(crate) fn too_long(line: u64) -> Self {
        Self::new(line, format!("a record is longer than {RECORD_BYTES_MAX} bytes"))
    }

    /// The error, with the name of the dump.
    pub(crate) fn of(self, name: &str) -> Error {
        Error::input(&name, self.line, self.what)
    }
}
