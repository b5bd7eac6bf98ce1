//! What a build read and what became of it. The sums are asserted, not hoped,
//! for each input and in all:
//! - an input: read = instruments + merged + rejected + skipped;
//! - an `--enrich` input: read = enriched + unmatched + ambiguous + rejected + skipped.
//!
//! `text.rs` prints it for people, `json.rs` writes it for programs.

pub(crate) mod conflicts;
mod json;
pub(crate) mod size;
mod text;

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use figdex_index::escaped;
use serde::Serialize;

use self::conflicts::Conflict;
pub use self::text::grouped;
use crate::row::Column;

/// The account of a build.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Each input, in the order given.
    pub inputs: Vec<InputReport>,
    /// Each `--enrich` input, in the order given.
    pub enrich: Vec<EnrichReport>,
    /// Rows that were rejected, by reason.
    pub reasons: BTreeMap<&'static str, Tally>,
    /// Rows to enrich with that joined no instrument, by reason.
    pub not_joined: BTreeMap<&'static str, Tally>,
    /// Cells that were dropped, by column and reason.
    pub dropped: BTreeMap<(Column, &'static str), Tally>,
    /// Fields of one instrument of which two rows say different things, by column.
    pub conflicts: BTreeMap<Column, Conflict>,
    /// Fields that `--enrich` inputs filled, by column.
    pub filled: BTreeMap<Column, u64>,
    /// Fields that the table of `--exchanges` filled, by column.
    pub from_exchanges: BTreeMap<Column, u64>,
    /// The file that keeps rejected rows, rows that joined no instrument and
    /// dropped cells, if there were any.
    pub rejects_file: Option<PathBuf>,
    /// What was published, if anything was.
    pub published: Option<Published>,
    /// From the first byte read to the end.
    pub elapsed: Duration,
}

/// The account of one input.
#[derive(Clone, Debug, Default)]
pub struct InputReport {
    /// Its name as given.
    pub name: String,
    /// Rows.
    pub counts: Counts,
    /// The format that it was read as.
    pub format: String,
    /// Columns that nobody knows, which were ignored.
    pub unknown_columns: Vec<String>,
    /// Columns that the format tells of and the input lacks.
    pub absent_columns: Vec<String>,
}

/// Rows, and what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Rows read.
    pub read: u64,
    /// Rows that became an instrument.
    pub instruments: u64,
    /// Rows that joined an instrument of an earlier row.
    pub merged: u64,
    /// Rows that were rejected.
    pub rejected: u64,
    /// Rows that a rule of the columns file leaves out.
    pub skipped: u64,
}

/// The account of one `--enrich` input.
#[derive(Clone, Debug, Default)]
pub struct EnrichReport {
    /// Its name as given.
    pub name: String,
    /// Rows.
    pub counts: EnrichCounts,
    /// Columns that nobody knows, which were ignored.
    pub unknown_columns: Vec<String>,
}

/// Rows to enrich with, and what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct EnrichCounts {
    /// Rows read.
    pub read: u64,
    /// Rows that joined the instruments they identify.
    pub enriched: u64,
    /// Rows that identify no instrument.
    pub unmatched: u64,
    /// Rows that identify several securities, or that another row contradicts.
    pub ambiguous: u64,
    /// Rows that were rejected.
    pub rejected: u64,
    /// Rows that a rule of the columns file leaves out.
    pub skipped: u64,
}

/// How often something happened, and where first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// How often.
    pub count: u64,
    /// The first place.
    pub first: RowPlace,
}

/// Where a row stands.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RowPlace {
    /// The input's name.
    pub input: String,
    /// The line it starts at, from 1.
    pub line: u64,
}

/// The generation that a build published.
#[derive(Clone, Debug, Serialize)]
pub struct Published {
    /// Its number.
    pub generation: u64,
    /// Instruments in it.
    pub instruments: u64,
    /// Size of its files.
    pub bytes: u64,
}

impl Counts {
    /// Whether every row read is accounted for.
    pub fn add_up(&self) -> bool {
        self.read == self.instruments + self.merged + self.rejected + self.skipped
    }

    fn add(&mut self, other: &Self) {
        let Self { read, instruments, merged, rejected, skipped } = other;
        self.read += read;
        self.instruments += instruments;
        self.merged += merged;
        self.rejected += rejected;
        self.skipped += skipped;
    }
}

impl EnrichCounts {
    /// Whether every row read is accounted for.
    pub fn add_up(&self) -> bool {
        let Self { read, enriched, unmatched, ambiguous, rejected, skipped } = self;
        *read == enriched + unmatched + ambiguous + rejected + skipped
    }

    fn add(&mut self, other: &Self) {
        let Self { read, enriched, unmatched, ambiguous, rejected, skipped } = other;
        self.read += read;
        self.enriched += enriched;
        self.unmatched += unmatched;
        self.ambiguous += ambiguous;
        self.rejected += rejected;
        self.skipped += skipped;
    }
}

impl Tally {
    pub(crate) fn add(&mut self, input: &str, line: u64) {
        if self.count == 0 {
            self.first = RowPlace { input: input.to_owned(), line };
        }
        self.count += 1;
    }
}

impl fmt::Display for RowPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, line {}", escaped(&self.input), self.line)
    }
}

impl Report {
    /// The sums over all inputs.
    pub fn total(&self) -> Counts {
        let mut total = Counts::default();
        for input in &self.inputs {
            total.add(&input.counts);
        }
        total
    }

    /// The sums over all `--enrich` inputs.
    pub fn enrich_total(&self) -> EnrichCounts {
        let mut total = EnrichCounts::default();
        for input in &self.enrich {
            total.add(&input.counts);
        }
        total
    }

    /// Rows rejected and rows read, over inputs of both kinds.
    pub fn rejected_of_read(&self) -> (u64, u64) {
        let (total, enrich) = (self.total(), self.enrich_total());
        (total.rejected + enrich.rejected, total.read + enrich.read)
    }

    /// Whether every row of every input is accounted for.
    pub fn adds_up(&self) -> bool {
        self.inputs.iter().all(|input| input.counts.add_up())
            && self.enrich.iter().all(|input| input.counts.add_up())
    }
}
