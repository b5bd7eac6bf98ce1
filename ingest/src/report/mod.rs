//! The report of a build: the rows that it read and what became of them. The build asserts
//! that the counts of every input add up:
//! - an input: read = instruments + merged + rejected + skipped;
//! - an `--enrich` input: read = enriched + unmatched + ambiguous + rejected + skipped;
//! - a `--names` input: read = named + unmatched + ambiguous + rejected + skipped.
//!
//! `text.rs` formats it for people, `json.rs` for programs.

pub(crate) mod comparison;
pub(crate) mod conflicts;
mod json;
pub(crate) mod less_filled;
pub(crate) mod past;
mod text;
pub(crate) mod wrong_answers;

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use figdex_index::{BuildResult, CountedChanges, Date, GenerationId};
use figdex_io::escaped;
use serde::Serialize;

use self::comparison::Comparison;
use self::conflicts::Conflict;
use self::less_filled::LessFilled;
use self::past::KeptPast;
use crate::row::Column;

/// The report of a build.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The result of the build, and its times.
    pub outcome: Outcome,
    /// Each input, in the order given.
    pub inputs: Vec<InputReport>,
    /// Each `--enrich` input, in the order given.
    pub enrich: Vec<EnrichReport>,
    /// Each `--names` input, in the order given.
    pub names: Vec<NamesReport>,
    /// The instruments that `--names` inputs gave a name.
    pub named_instruments: u64,
    /// Skipped rows, by reason.
    pub skips: BTreeMap<&'static str, Tally>,
    /// Rejected rows, by reason.
    pub reasons: BTreeMap<&'static str, Tally>,
    /// Rows of `--enrich` inputs that enriched no instrument, by reason.
    pub not_joined: BTreeMap<&'static str, Tally>,
    /// Rows of `--names` inputs that named no instrument, by reason.
    pub not_named: BTreeMap<&'static str, Tally>,
    /// Dropped cells, by column and reason.
    pub dropped: BTreeMap<(Column, &'static str), Tally>,
    /// Fields with different values in two rows of one instrument, by column.
    pub conflicts: BTreeMap<Column, Conflict>,
    /// Fields filled by `--enrich` inputs, by column.
    pub filled: BTreeMap<Column, u64>,
    /// Fields filled by the table of `--exchanges`, by column.
    pub from_exchanges: BTreeMap<Column, u64>,
    /// The columns that the table of `--exchanges` lacks.
    pub lacking_in_exchanges: Vec<&'static str>,
    /// The file with the rejected rows, the rows that enriched no instrument and the dropped
    /// cells, if there were any.
    pub rejects_file: Option<PathBuf>,
    /// The comparison with the generation that was published before, if there was one and a limit
    /// is set.
    pub comparison: Option<Comparison>,
    /// Columns that lost more than a fifth of their share of instruments with a value.
    pub less_filled: Vec<LessFilled>,
    /// Findings for the operator, a sentence each.
    pub warnings: Vec<String>,
    /// Whether the rows were merged. Only then is it known which rows are instruments.
    pub is_merged: bool,
    /// The published generation, if the build published one.
    pub published: Option<Published>,
    /// Duration of the build.
    pub elapsed: Duration,
}

/// The result of a build, and its times.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Outcome {
    /// `published`, `refused` or `failed`; `running` before the end.
    pub result: BuildResult,
    /// The reason why the build was refused or failed.
    pub reason: Option<String>,
    /// The time when the build began, RFC 3339, UTC.
    pub started_at: String,
    /// The time when the build ended, in the same form; `null` while it runs.
    pub ended_at: Option<String>,
}

/// The report of one input.
#[derive(Clone, Debug, Default, Serialize)]
pub struct InputReport {
    /// Its name as given; `-` is standard input.
    pub name: String,
    /// Its rows.
    #[serde(flatten)]
    pub counts: Counts,
    /// The name of its format.
    pub format: String,
    /// Columns that its format does not know, which were ignored.
    pub unknown_columns: Vec<String>,
    /// Columns that the format names but the input lacks.
    pub absent_columns: Vec<String>,
}

/// The rows of an input, by outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Rows read.
    pub read: u64,
    /// Rows that are the first of an instrument.
    pub instruments: u64,
    /// Rows that were merged into the instrument of an earlier row.
    pub merged: u64,
    /// Rows that are not an instrument.
    pub rejected: u64,
    /// Rows that the format leaves out: control lines, rows to which a `skip` rule applies, and, in
    /// the dumps of a vendor, rows without a FIGI.
    pub skipped: u64,
}

/// The report of one `--enrich` input.
#[derive(Clone, Debug, Default, Serialize)]
pub struct EnrichReport {
    /// Its name as given; `-` is standard input.
    pub name: String,
    /// Its rows.
    #[serde(flatten)]
    pub counts: EnrichCounts,
    /// The name of its format.
    pub format: String,
    /// Columns that its format does not know, which were ignored.
    pub unknown_columns: Vec<String>,
}

/// The rows of an `--enrich` input, by outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct EnrichCounts {
    /// Rows read.
    pub read: u64,
    /// Rows that enriched the instruments they identify.
    pub enriched: u64,
    /// Rows that identify no instrument.
    pub unmatched: u64,
    /// Rows that identify several securities or contradict another row.
    pub ambiguous: u64,
    /// Rows that are not an instrument.
    pub rejected: u64,
    /// Rows that the format leaves out: control lines, and rows to which a `skip` rule applies.
    pub skipped: u64,
}

/// The report of one `--names` input.
#[derive(Clone, Debug, Default, Serialize)]
pub struct NamesReport {
    /// Its name as given; `-` is standard input.
    pub name: String,
    /// Its rows.
    #[serde(flatten)]
    pub counts: NamesCounts,
    /// The name of its format.
    pub format: String,
    /// Columns that its format does not know, which were ignored.
    pub unknown_columns: Vec<String>,
}

/// The rows of a `--names` input, by outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct NamesCounts {
    /// Rows read.
    pub read: u64,
    /// Rows that gave a name to the instruments that they identify.
    pub named: u64,
    /// Rows that identify no instrument.
    pub unmatched: u64,
    /// Rows that identify several share classes.
    pub ambiguous: u64,
    /// Rows that are not a name.
    pub rejected: u64,
    /// Rows that the format leaves out.
    pub skipped: u64,
}

impl NamesCounts {
    /// Whether every row read is accounted for.
    pub fn add_up(&self) -> bool {
        let Self { read, named, unmatched, ambiguous, rejected, skipped } = self;
        *read == named + unmatched + ambiguous + rejected + skipped
    }
}

/// The number of occurrences of something, and the first place.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Number of occurrences.
    pub count: u64,
    /// The first place.
    pub first: RowPlace,
}

/// The place of a row.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RowPlace {
    /// The input's name.
    pub input: String,
    /// The line at which the row starts, from 1; in a Parquet file the number of the record.
    pub line: u64,
}

/// The generation that the build published.
#[derive(Clone, Debug, Serialize)]
pub struct Published {
    /// The number of the generation.
    pub generation: u64,
    /// Number of its instruments.
    pub instruments: u64,
    /// Total size of its files, in bytes.
    pub bytes: u64,
    /// Its token, by which readers ask what has changed since.
    pub token: GenerationId,
    /// The day that its dumps describe.
    pub date: Date,
    /// The changes from the generation that was published before; `null` if they are not kept, or
    /// there was none of this format.
    pub changes: Option<ChangesReport>,
    /// The past of the instruments, if it is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub past: Option<KeptPast>,
}

/// The changes of a build.
#[derive(Clone, Debug, Serialize)]
pub struct ChangesReport {
    /// Their numbers.
    #[serde(flatten)]
    pub counts: CountedChanges,
    /// Whether there were too many to keep. The numbers are then those counted until that was
    /// known.
    pub is_marker: bool,
    /// The file.
    pub file: PathBuf,
}

impl Counts {
    /// Whether every row read is accounted for.
    pub fn add_up(&self) -> bool {
        let Self { read, instruments, merged, rejected, skipped } = self;
        *read == instruments + merged + rejected + skipped
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
        self.add_times(1, input, line);
    }

    /// Adds several occurrences at one place.
    pub(crate) fn add_times(&mut self, times: u64, input: &str, line: u64) {
        if self.count == 0 {
            self.first = RowPlace { input: input.to_owned(), line };
        }
        self.count += times;
    }
}

impl fmt::Display for RowPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, line {}", escaped(&self.input), self.line)
    }
}

impl Report {
    /// The most common reasons why rows were rejected, at most three.
    pub fn commonest_reasons(&self) -> Vec<(&'static str, &Tally)> {
        let mut reasons: Vec<_> = self.reasons.iter().map(|(&why, tally)| (why, tally)).collect();
        reasons.sort_by_key(|(_, tally)| std::cmp::Reverse(tally.count));
        reasons.truncate(3);
        reasons
    }

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

    /// The number of rejected rows and the number of rows read, over all dumps and all inputs of
    /// `--enrich` and `--names`.
    pub fn rejected_of_read(&self) -> (u64, u64) {
        let (total, enrich) = (self.total(), self.enrich_total());
        let names = || self.names.iter().map(|input| input.counts);
        let rejected: u64 = names().map(|counts| counts.rejected).sum();
        let read: u64 = names().map(|counts| counts.read).sum();
        (total.rejected + enrich.rejected + rejected, total.read + enrich.read + read)
    }

    /// Whether every row of every input is accounted for.
    pub fn adds_up(&self) -> bool {
        self.inputs.iter().all(|input| input.counts.add_up())
            && self.enrich.iter().all(|input| input.counts.add_up())
            && self.names.iter().all(|input| input.counts.add_up())
    }
}
