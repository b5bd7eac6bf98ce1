//! Why a build published nothing.

use std::fmt::Display;
use std::io;
use std::path::PathBuf;

use figdex_index::{escaped, escaped_path};

use crate::files::OutputError;
use crate::report::Report;
use crate::report::size::Size;

/// A build that ended without publishing. The old index, if there was one, stands.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An input cannot be read, or its rows cannot be told apart.
    #[error(
        "{}{}: {}",
        escaped(name), line.map(|line| format!(", line {line}")).unwrap_or_default(), escaped(what)
    )]
    Input {
        /// The input's name as given.
        name: String,
        /// The line of the fault, from 1.
        line: Option<u64>,
        /// What is wrong.
        what: String,
    },
    /// A columns file that describes no format.
    #[error("{} is no columns file:{}", escaped(name), told(faults))]
    Columns {
        /// The file's name as given.
        name: String,
        /// Each fault with its line, from 1.
        faults: Vec<(usize, String)>,
    },
    /// A file that the build writes, or the folder of value lists.
    #[error("{}", escaped(name))]
    File {
        /// The file's name as given.
        name: String,
        /// What the system said.
        source: io::Error,
    },
    /// The disk has too little room; nothing was read.
    #[error(
        "{} has {} free, and the index needs about {}: nothing is published (make room, or \
         let the build try with --skip-space-check)",
        escaped_path(.index), Size(*.free_bytes), Size(*.needed_bytes)
    )]
    Space {
        /// The folder of the index.
        index: PathBuf,
        /// What it needs, estimated.
        needed_bytes: u64,
        /// What its disk has.
        free_bytes: u64,
    },
    /// More rows were rejected than the line allows.
    #[error("{} of {} rows were rejected, more than {line}: nothing is published", report.rejected_of_read().0, report.rejected_of_read().1)]
    TooManyRejects {
        /// What was read and why it was rejected.
        report: Box<Report>,
        /// The line that was crossed, as a person would say it.
        line: String,
    },
    /// The inputs have no instrument.
    #[error("the inputs have no instrument: nothing is published")]
    Nothing {
        /// What was read and why it was rejected.
        report: Box<Report>,
    },
    /// The index is published, and a file about the build is not written.
    #[error("generation {generation} is published, but not all files about it are written")]
    Unreported {
        /// The number of the generation.
        generation: u64,
        /// The fault of the file.
        source: Box<Self>,
    },
    /// A file that the build would write is one that it must not write.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// The index could not be written.
    #[error(transparent)]
    Index(#[from] figdex_index::Error),
}

impl Error {
    pub(crate) fn input(name: &impl Display, line: Option<u64>, what: impl Into<String>) -> Self {
        Self::Input { name: name.to_string(), line, what: what.into() }
    }

    pub(crate) fn open(name: &impl Display, error: io::Error) -> Self {
        let what = match error.kind() {
            io::ErrorKind::NotFound => "no such file or folder".to_owned(),
            io::ErrorKind::UnexpectedEof => "the compressed file is cut off".to_owned(),
            _ => error.to_string(),
        };
        Self::input(name, None, what)
    }

    pub(crate) fn file(name: &impl Display) -> impl FnOnce(io::Error) -> Self {
        let name = name.to_string();
        move |source| Self::File { name, source }
    }

    /// The report of what was read, where the build got so far.
    pub fn report(&self) -> Option<&Report> {
        match self {
            Self::TooManyRejects { report, .. } | Self::Nothing { report } => Some(report),
            Self::Input { .. }
            | Self::Columns { .. }
            | Self::File { .. }
            | Self::Space { .. }
            | Self::Unreported { .. }
            | Self::Output(_)
            | Self::Index(_) => None,
        }
    }

    /// Whether its message says what is published, or that nothing was begun.
    pub fn says_what_is_published(&self) -> bool {
        match self {
            Self::Space { .. }
            | Self::TooManyRejects { .. }
            | Self::Nothing { .. }
            | Self::Unreported { .. }
            | Self::Output(_) => true,
            Self::Input { .. } | Self::Columns { .. } | Self::File { .. } => false,
            Self::Index(error) => error.says_what_is_published(),
        }
    }
}

fn told(faults: &[(usize, String)]) -> String {
    faults.iter().map(|(line, what)| format!("\n  line {line}: {}", escaped(what))).collect()
}

/// The result of a build, or of a step of it.
pub type Result<T, E = Error> = std::result::Result<T, E>;
