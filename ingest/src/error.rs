//! The errors of a build.

use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};

use figdex_index::{BuildResult, Date};
use figdex_io::{OutputError, Size, escaped, escaped_path, grouped, masked};

use crate::report::wrong_answers::WrongAnswers;
use crate::report::{Report, Tally};

/// The reason why a build failed. Nothing is published and an earlier index stays. The exceptions
/// are [`Error::Unreported`] and some errors of [`Error::Index`], whose messages say so.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An input cannot be read or parsed.
    #[error(
        "{}{}: {}",
        escaped(name), line.map(|line| format!(", line {line}")).unwrap_or_default(), escaped(what)
    )]
    Input {
        /// The input's name as given.
        name: String,
        /// The line of the error, from 1.
        line: Option<u64>,
        /// The error message.
        what: String,
    },
    /// Several inputs cannot be read. At most the beginnings of the inputs were read.
    #[error(
        "{} of {inputs} inputs cannot be read{}\ncorrect them, or leave out those that are not dumps",
        faults.len(), listed(faults)
    )]
    Inputs {
        /// The error of each.
        faults: Vec<Self>,
        /// The number of all inputs.
        inputs: usize,
    },
    /// A columns file is invalid.
    #[error("invalid columns file {}:{}", escaped(name), indented(faults))]
    Columns {
        /// The file's name as given.
        name: String,
        /// The line of each fault, from 1, and its message.
        faults: Vec<(usize, String)>,
    },
    /// A file that the build writes, or the disk of the index, cannot be used.
    #[error("{}", escaped(name))]
    File {
        /// The file's name as given.
        name: String,
        /// The system's error.
        source: io::Error,
    },
    /// The disk has too little free space. Only the beginnings of the dumps have been read.
    #[error(
        "the disk of {} has {} free, and the build needs about {}: nothing is published (free \
         some space, or try anyway with --skip-space-check)",
        escaped_path(.index), Size(*.free_bytes), Size(*.needed_bytes)
    )]
    Space {
        /// The folder of the index.
        index: PathBuf,
        /// Bytes that the build needs, estimated.
        needed_bytes: u64,
        /// Free bytes on its disk.
        free_bytes: u64,
    },
    /// More rows were rejected than allowed.
    #[error(
        "{} of {} rows were rejected, more than --max-rejects {limit}: nothing is published{}\n{}",
        grouped(report.rejected_of_read().0), grouped(report.rejected_of_read().1),
        commonest(report), advice(report)
    )]
    TooManyRejects {
        /// The report so far, with the reasons.
        report: Box<Report>,
        /// The limit, such as `5 %`.
        limit: String,
    },
    /// The new index differs more from the published one than the guard allows, or the guard cannot
    /// read the published one.
    #[error("{refusal}")]
    Guarded {
        /// The differences or the fault, and the advice.
        refusal: String,
        /// The report so far.
        report: Box<Report>,
    },
    /// The day of the dumps is before that of the published generation.
    #[error(
        "--date {day} is before {published}, the day of the published generation {generation}: \
         nothing is published (build dumps in the order of their days, or roll back first)"
    )]
    EarlierDay {
        /// The day of the dumps.
        day: Date,
        /// The day of the published generation.
        published: Date,
        /// Its number.
        generation: u64,
    },
    /// The published generation has a past, and the build was not asked to keep or to drop it.
    #[error(
        "the published generation has a past since {since}: nothing is published (keep it with \
         --history, or drop it with --without-history)"
    )]
    PastUndecided {
        /// The first day of the past.
        since: Date,
    },
    /// An exported past was given for an index that has one.
    #[error(
        "--history-from is for an index without a past, and {} has one: nothing is published (leave \
         out the flag to go on from it, or build into a new folder)",
        escaped_path(.0)
    )]
    TwoPasts(PathBuf),
    /// The published generation cannot be read, and its past would be lost.
    #[error("{}", lost_past(index, *is_foreign))]
    PastUnreadable {
        /// The folder of the index.
        index: PathBuf,
        /// Whether the generation has another format. It is damaged otherwise.
        is_foreign: bool,
        /// The error of reading.
        source: figdex_index::Error,
    },
    /// The new index does not give known answers.
    #[error("{wrong}: nothing is published")]
    Unexpected {
        /// The first wrong answer, and the number of wrong answers.
        wrong: WrongAnswers,
        /// The report so far.
        report: Box<Report>,
    },
    /// The build would write far more than it reads.
    #[error("{refusal}")]
    Outgrown {
        /// The numbers, and the advice.
        refusal: String,
    },
    /// The inputs contain no instruments.
    #[error("the inputs contain no instruments: nothing is published")]
    Nothing {
        /// The report so far, with the reasons.
        report: Box<Report>,
    },
    /// The index is published, but the report or the rejects file could not be written.
    #[error("generation {generation} is published, but its report or rejects file is not written")]
    Unreported {
        /// The number of the published generation.
        generation: u64,
        /// The error of the file.
        source: Box<Self>,
    },
    /// The build must not write one of its output files.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// The index could not be written.
    #[error(transparent)]
    Index(#[from] figdex_index::Error),
}

/// The name of a file without a password: it may be an address that was given in place of a file.
fn shown(name: &impl Display) -> String {
    masked(&name.to_string()).into_owned()
}

impl Error {
    pub(crate) fn input(name: &impl Display, line: Option<u64>, what: impl Into<String>) -> Self {
        Self::Input { name: shown(name), line, what: what.into() }
    }

    /// The error of a step that examines all inputs; `None` without faults.
    pub(crate) fn of_inputs(mut faults: Vec<Self>, inputs: usize) -> Option<Self> {
        match faults.len() {
            0 | 1 => faults.pop(),
            _ => Some(Self::Inputs { faults, inputs }),
        }
    }

    pub(crate) fn open(name: &impl Display, error: io::Error) -> Self {
        let what = match error.kind() {
            io::ErrorKind::NotFound => "no such file or folder".to_owned(),
            io::ErrorKind::UnexpectedEof => CUT_OFF.to_owned(),
            _ => error.to_string(),
        };
        Self::input(name, None, what)
    }

    pub(crate) fn file(name: &impl Display) -> impl FnOnce(io::Error) -> Self {
        let name = shown(name);
        move |source| Self::File { name, source }
    }

    /// The report, if the rows of the inputs made the build fail.
    pub fn report(&self) -> Option<&Report> {
        match self {
            Self::TooManyRejects { report, .. }
            | Self::Nothing { report }
            | Self::Guarded { report, .. }
            | Self::Unexpected { report, .. } => Some(report),
            _ => None,
        }
    }

    /// The result of the build. It is *refused* if its dumps could be read but are not good enough.
    pub(crate) fn result(&self) -> BuildResult {
        match self {
            Self::TooManyRejects { .. }
            | Self::Nothing { .. }
            | Self::Guarded { .. }
            | Self::Unexpected { .. }
            | Self::EarlierDay { .. }
            | Self::Outgrown { .. } => BuildResult::Refused,
            _ => BuildResult::Failed,
        }
    }

    /// Whether the message already says which generation is published, or that nothing was started.
    pub fn says_what_is_published(&self) -> bool {
        match self {
            Self::Space { .. }
            | Self::EarlierDay { .. }
            | Self::PastUndecided { .. }
            | Self::TwoPasts(_)
            | Self::PastUnreadable { .. }
            | Self::Guarded { .. }
            | Self::Unexpected { .. }
            | Self::Outgrown { .. }
            | Self::TooManyRejects { .. }
            | Self::Nothing { .. }
            | Self::Unreported { .. }
            | Self::Output(_) => true,
            Self::Input { .. } | Self::Inputs { .. } | Self::Columns { .. } | Self::File { .. } => {
                false
            }
            Self::Index(error) => error.says_what_is_published(),
        }
    }
}

/// The message of [`Error::PastUnreadable`].
fn lost_past(index: &Path, is_foreign: bool) -> String {
    let index = escaped_path(index);
    let advice = match is_foreign {
        true => {
            "export it with the version of Figdex that built it, `figdex-ingest export --history \
             FILE`, and build into a new folder with --history-from FILE"
        }
        false => {
            "publish the previous generation with `figdex-ingest rollback`, or build into a new \
             folder with --history-from and the last exported past"
        }
    };
    format!(
        "the past of {index} cannot be carried on: nothing is published ({advice}; or drop the past \
         with --without-history)"
    )
}

/// The message for a compressed file that ends too early.
pub(crate) const CUT_OFF: &str = "the compressed file is cut off: copy or download it again";

/// The most inputs that a message names.
const LISTED_MAX: usize = 20;

/// The first inputs with a fault, a line for each kind of fault.
fn listed(faults: &[Error]) -> String {
    let mut kinds: Vec<(String, Vec<String>)> = Vec::new();
    for fault in faults.iter().take(LISTED_MAX) {
        let (place, what) = match fault {
            Error::Input { name, line: None, what } => (escaped(name).to_string(), what.clone()),
            Error::Input { name, line: Some(line), what } => {
                (format!("{}, line {line}", escaped(name)), what.clone())
            }
            other => (String::new(), other.to_string()),
        };
        match kinds.iter_mut().find(|(known, _)| *known == what) {
            Some((_, places)) => places.push(place),
            None => kinds.push((what, vec![place])),
        }
    }
    let lines = kinds.iter();
    let mut text: String = lines
        .map(|(what, places)| format!("\n  {}: {}", places.join("; "), escaped(what)))
        .collect();
    if faults.len() > LISTED_MAX {
        text += &format!("\n  … and {} more", faults.len() - LISTED_MAX);
    }
    text
}

/// The most common reasons, one per line.
fn commonest(report: &Report) -> String {
    let reasons = report.commonest_reasons().into_iter();
    reasons
        .map(|(reason, Tally { count, first })| {
            format!("\n  {} × {reason}, first in {first}", grouped(*count))
        })
        .collect()
}

/// The largest share of rejected rows, in per cent, for which a limit is proposed. With more, the
/// dump is probably broken or has another layout.
const PROPOSED_PERCENT_MAX: f64 = 20.0;

/// The advice about too many rejected rows: the limit that would admit them, if that is sensible,
/// and its effect.
fn advice(report: &Report) -> String {
    let (rejected, read) = report.rejected_of_read();
    let percent = rejected as f64 * 100.0 / read.max(1) as f64;
    if percent > PROPOSED_PERCENT_MAX {
        return format!(
            "these are {percent:.1} % of the rows: see why, in the rejects file or with \
             `figdex-ingest inspect`, and correct the dumps or describe them with --columns"
        );
    }
    // The next whole number leaves room for a few more rejected rows tomorrow.
    let limit = percent.floor() + 1.0;
    format!(
        "correct the dumps, or publish without these rows with --max-rejects {limit}%: their \
         instruments will be missing in the index"
    )
}

fn indented(faults: &[(usize, String)]) -> String {
    faults.iter().map(|(line, what)| format!("\n  line {line}: {}", escaped(what))).collect()
}

/// The result of a build or of one of its steps.
pub type Result<T, E = Error> = std::result::Result<T, E>;
