//! Known answers that a new index does not give (`build --expect`).

use std::fmt;
use std::path::PathBuf;

use figdex_io::{escaped_path, grouped};

/// The most FIGIs that a message names, and the most lines.
pub(crate) const NAMED_MAX: usize = 10;

/// The known answers that an index does not give.
#[derive(Debug)]
pub struct WrongAnswers {
    /// The name of the file as given.
    pub(crate) file: PathBuf,
    /// The number of known answers.
    pub(crate) of: usize,
    /// The lines of the wrong answers, ascending. There is at least one.
    pub(crate) lines: Vec<u64>,
    /// The fault of the first wrong answer.
    pub(crate) first: String,
}

impl fmt::Display for WrongAnswers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, of, lines, first } = self;
        let (wrong, of) = (grouped(lines.len() as u64), grouped(*of as u64));
        let named: Vec<_> = lines.iter().take(NAMED_MAX).map(ToString::to_string).collect();
        let more = if lines.len() > NAMED_MAX { ", …" } else { "" };
        write!(
            f,
            "{}, line {}: {first}\n{wrong} of {of} known answers are wrong, in line {}{more}",
            escaped_path(file),
            lines.first().copied().unwrap_or_default(),
            named.join(", "),
        )
    }
}
