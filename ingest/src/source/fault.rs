//! (head)

use std::io;

use crate::error::Error;
use crate::row::Row;
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
pub(crate) struct Fault {
    /// The line, from 1, where the dump has lines.
    line: Option<u64>,
    what: String,
}

impl Fault {
    fn new(line: u64, what: impl Into<String>) -> Self {
        Self { line: Some(line), what: what.into() }
    }

    /// For `map_err`: reading failed at that line.
    fn read(line: u64) -> impl FnOnce(io::Error) -> Self {
        move |error| match error.kind() {
            io::ErrorKind::UnexpectedEof => Self::new(line, "the compressed file is cut off"),
            _ => Self::new(line, error.to_string()),
        }
    }

    fn too_long(line: u64) -> Self {
        Self::new(line, format!("a record is longer than {RECORD_BYTES_MAX} bytes"))
    }

    fn of(self, name: &str) -> Error {
        Error::input(&name, self.line, self.what)
    }
}
