//! What every engine does: it answers a question with the same bytes as the others.

use std::time::{Duration, Instant};

use anyhow::Result;

use crate::question::{Kind, Question};

/// One of those that are compared, loaded and ready.
pub(crate) trait Engine {
    /// Its name in the table.
    fn name(&self) -> &'static str;

    /// Its version, for the conditions.
    fn version(&self) -> String;

    /// What it took to get here.
    fn built(&self) -> &Built;

    /// Whether it has a way to answer such questions.
    fn answers(&self, _kind: Kind) -> bool {
        true
    }

    /// Writes the answer to one question.
    fn answer(&mut self, question: &Question, answer: &mut Answer) -> Result<()>;

    /// How long it takes to answer these, one after the other.
    fn time(&mut self, questions: &[Question]) -> Result<Duration>;

    /// Forgets whatever it may have kept of the questions so far.
    fn forget(&mut self) -> Result<()> {
        Ok(())
    }

    /// Adds the index that serves one pair of properties and nothing else.
    fn index_pair(&mut self) -> Result<()> {
        Ok(())
    }
}

/// The time of answering each of these once.
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

/// What a build took.
pub(crate) struct Built {
    pub(crate) elapsed: Duration,
    /// On disk, all that questions need.
    pub(crate) bytes: u64,
}

/// An answer as bytes: ten fields a row, or a number.
#[derive(Default)]
pub(crate) struct Answer {
    text: Vec<u8>,
    rows: usize,
}

/// What stands for a field that is not known.
const NULL: &[u8] = b"\\N";

impl Answer {
    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.rows = 0;
    }

    /// A field of the row at hand.
    pub(crate) fn field(&mut self, value: Option<&[u8]>) {
        self.text.extend_from_slice(value.unwrap_or(NULL));
        self.text.push(b'\t');
    }

    /// The row at hand has all its fields.
    pub(crate) fn end_row(&mut self) {
        self.text.push(b'\n');
        self.rows += 1;
    }

    /// What is there beside rows: a count, or that more rows follow.
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
