//! What a build read and what became of it. The sums are asserted, not hoped:
//! read = instruments + merged + rejected + skipped, for each input and in all.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use crate::row::Column;

/// The account of a build.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Each input, in the order given.
    pub inputs: Vec<InputReport>,
    /// Rows that were rejected, by reason.
    pub reasons: BTreeMap<&'static str, Tally>,
    /// Cells that were dropped, by column and reason.
    pub dropped: BTreeMap<(Column, &'static str), Tally>,
    /// Values that were filled from the table of exchanges, by column.
    pub filled: BTreeMap<Column, u64>,
    /// The file that keeps rejected rows and dropped cells, if there were any.
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
    /// The format it was read as.
    pub format: String,
    /// Columns that nobody knows, which were ignored.
    pub unknown_columns: Vec<String>,
    /// Columns that the format tells of and the input lacks.
    pub absent_columns: Vec<String>,
}

/// Rows, and what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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

/// How often something happened, and where first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// How often.
    pub count: u64,
    /// The first place: input and line.
    pub first: String,
}

/// The generation that a build published.
#[derive(Clone, Debug)]
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
}

impl Tally {
    pub(crate) fn add(&mut self, input: &str, line: u64) {
        if self.count == 0 {
            self.first = format!("{input}, line {line}");
        }
        self.count += 1;
    }
}

impl Report {
    /// The sums over all inputs.
    pub fn total(&self) -> Counts {
        let mut total = Counts::default();
        for Counts { read, instruments, merged, rejected, skipped } in
            self.inputs.iter().map(|input| input.counts)
        {
            total.read += read;
            total.instruments += instruments;
            total.merged += merged;
            total.rejected += rejected;
            total.skipped += skipped;
        }
        total
    }

    /// Whether every row of every input is accounted for.
    pub fn adds_up(&self) -> bool {
        self.inputs.iter().all(|input| input.counts.add_up())
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:>12} {:>12} {:>12} {:>12} {:>12}  input",
            "read", "instruments", "merged", "rejected", "skipped"
        )?;
        let mut line = |counts: &Counts, name: &str| {
            let Counts { read, instruments, merged, rejected, skipped } = counts;
            writeln!(
                f,
                "{read:>12} {instruments:>12} {merged:>12} {rejected:>12} {skipped:>12}  {name}"
            )
        };
        for input in &self.inputs {
            line(&input.counts, &format!("{} ({})", input.name, input.format))?;
        }
        if self.inputs.len() > 1 {
            line(&self.total(), "in all")?;
        }
        for input in self.inputs.iter().filter(|input| !input.unknown_columns.is_empty()) {
            writeln!(f, "ignored columns of {}: {}", input.name, input.unknown_columns.join(", "))?;
        }
        for input in self.inputs.iter().filter(|input| !input.absent_columns.is_empty()) {
            let absent = input.absent_columns.join(", ");
            writeln!(f, "columns that {} lacks of its format: {absent}", input.name)?;
        }
        if !self.filled.is_empty() {
            let filled: Vec<String> =
                self.filled.iter().map(|(column, n)| format!("{} {n}", column.name())).collect();
            writeln!(f, "filled from the exchanges: {}", filled.join(", "))?;
        }
        if !self.reasons.is_empty() {
            writeln!(f, "rejected rows:")?;
            for (reason, Tally { count, first }) in &self.reasons {
                writeln!(f, "{count:>12}  {reason} (first: {first})")?;
            }
        }
        if !self.dropped.is_empty() {
            writeln!(f, "dropped cells:")?;
            for ((column, reason), Tally { count, first }) in &self.dropped {
                writeln!(f, "{count:>12}  {}: {reason} (first: {first})", column.name())?;
            }
        }
        if let Some(path) = &self.rejects_file {
            writeln!(f, "rejected rows and dropped cells are kept in {}", path.display())?;
        }
        if let Some(Published { generation, instruments, bytes }) = &self.published {
            let per_instrument = bytes / instruments.max(&1);
            writeln!(
                f,
                "published generation {generation}: {instruments} instruments, {bytes} bytes \
                 ({per_instrument} an instrument), {:.1} s",
                self.elapsed.as_secs_f64()
            )?;
        }
        Ok(())
    }
}
