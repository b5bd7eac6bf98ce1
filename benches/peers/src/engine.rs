//! The interface of an engine. All engines that support a question answer it with the same bytes,
//! unless the rows are ranked.

use std::time::{Duration, Instant};

use anyhow::Result;

use crate::question::{Kind, Question};

/// A loaded engine.
pub(crate) trait Engine {
    /// Its name in the table.
    fn name(&self) -> &'static str;

    /// Its version, for the conditions.
    fn version(&self) -> String;

    /// The cost of loading it.
    fn built(&self) -> &Built;

    /// Whether it can answer this kind of question.
    fn answers(&self, _kind: Kind) -> bool {
        true
    }

    /// Writes the answer to one question.
    fn answer(&mut self, question: &Question, answer: &mut Answer) -> Result<()>;

    /// The time of answering these questions one after the other.
    fn time(&mut self, questions: &[Question]) -> Result<Duration>;

    /// Clears caches of earlier answers, if the engine has any.
    fn forget(&mut self) -> Result<()> {
        Ok(())
    }

    /// Adds the index for the pair of properties of [`Kind::PairPage`], if the engine has such
    /// indexes.
    fn index_pair(&mut self) -> Result<()> {
        Ok(())
    }
}

/// The time of answering each of these questions once.
pub(crate) fn time_each<Q>(
    questions: &[Q],
    mut answer_one: impl FnMut(&Q, &mut Answer) -> Result<()>,
) -> Result<Duration> {
    let mut answer = Answer::default();
    let started = Instant::now();
    for question in questions {
        answer.clear();
        answer_one(question, &mut answer)?;
        std::hint::black_box(&answer);
    }
    Ok(started.elapsed())
}

/// The cost of a build.
pub(crate) struct Built {
    pub(crate) elapsed: Duration,
    /// The size on disk of all data that questions need.
    pub(crate) bytes: u64,
}

/// An answer as bytes: rows of ten fields or of only the FIGI, or a number.
#[derive(Default)]
pub(crate) struct Answer {
    text: Vec<u8>,
    rows: usize,
}

/// The text of an unknown field.
const NULL: &[u8] = b"\\N";

impl Answer {
    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.rows = 0;
    }

    /// Adds a field to the current row.
    pub(crate) fn field(&mut self, value: Option<&[u8]>) {
        self.text.extend_from_slice(value.unwrap_or(NULL));
        self.text.push(b'\t');
    }

    /// Ends the current row.
    pub(crate) fn end_row(&mut self) {
        self.text.push(b'\n');
        self.rows += 1;
    }

    /// Adds a text after the rows: a count, or the note that more rows follow.
    pub(crate) fn note(&mut self, note: &str) {
        self.text.extend_from_slice(note.as_bytes());
    }

    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    pub(crate) fn text(&self) -> &[u8] {
        &self.text
    }
}
