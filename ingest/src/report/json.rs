//! The report as JSON, for programs (`--report FILE`). The keys are stable: keys may be added,
//! but none is renamed or removed. They are documented on the types here and in `report`.

use std::collections::BTreeMap;

use serde::Serialize;

use super::comparison::Comparison;
use super::conflicts::Conflict;
use super::less_filled::LessFilled;
use super::{
    Counts, EnrichCounts, EnrichReport, InputReport, NamesReport, Outcome, Published, Report, Tally,
};
use crate::row::Column;

/// The whole document.
#[derive(Serialize)]
struct Document<'a> {
    /// `result`, `reason`, `started_at` and `ended_at`.
    #[serde(flatten)]
    outcome: &'a Outcome,
    /// The published generation; `null` if nothing was published.
    published: Option<&'a Published>,
    /// Duration of the build.
    elapsed_seconds: f64,
    /// The sums of `inputs`.
    total: Counts,
    /// The inputs in the order given: read = instruments + merged + rejected + skipped.
    inputs: &'a [InputReport],
    /// The sums of `enrich`.
    enrich_total: EnrichCounts,
    /// The `--enrich` inputs:
    /// read = enriched + unmatched + ambiguous + rejected + skipped.
    enrich: &'a [EnrichReport],
    /// The `--names` inputs: read = named + unmatched + ambiguous + rejected + skipped.
    names: &'a [NamesReport],
    /// The instruments that `--names` inputs gave a name.
    named_instruments: u64,
    /// Skipped rows of all inputs, by reason.
    skipped: Vec<Numbers<'a, Tally>>,
    /// Rejected rows of all inputs, by reason.
    rejected: Vec<Numbers<'a, Tally>>,
    /// Rows of `--enrich` inputs that are unmatched or ambiguous, by reason.
    not_joined: Vec<Numbers<'a, Tally>>,
    /// Rows of `--names` inputs that are unmatched or ambiguous, by reason.
    not_named: Vec<Numbers<'a, Tally>>,
    /// Dropped cells, by column and reason.
    dropped: Vec<Numbers<'a, Tally>>,
    /// Fields with different values in two rows, by column.
    conflicts: Vec<Numbers<'a, Conflict>>,
    /// Fields filled by `--enrich` inputs, by column.
    filled: Vec<FilledColumn>,
    /// Fields filled by the table of `--exchanges`, by column.
    filled_from_exchanges: Vec<FilledColumn>,
    /// The columns that the table of `--exchanges` lacks.
    lacking_in_exchanges: &'a [&'static str],
    /// The comparison with the generation that was published before; `null` if no limit is set, or
    /// nothing was published before.
    comparison: Option<&'a Comparison>,
    /// Columns that are less filled than in the generation that was published before, with both
    /// numbers. Each is also a warning.
    less_filled: &'a [LessFilled],
    /// Findings for the operator, a sentence each.
    warnings: &'a [String],
    /// The rejects file; `null` if it has no entries.
    rejects_file: Option<String>,
}

/// The numbers of a column, of a reason, or of both.
#[derive(Serialize)]
struct Numbers<'a, T> {
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    #[serde(flatten)]
    numbers: &'a T,
}

#[derive(Serialize)]
struct FilledColumn {
    column: &'static str,
    count: u64,
}

fn reasons<'a>(tallies: &'a BTreeMap<&'static str, Tally>) -> Vec<Numbers<'a, Tally>> {
    let entry = |(&reason, numbers)| Numbers { column: None, reason: Some(reason), numbers };
    tallies.iter().map(entry).collect()
}

impl Report {
    /// The report as a JSON document, with a line end.
    pub fn to_json(&self) -> String {
        let filled = |fields: &BTreeMap<Column, u64>| {
            let fields = fields.iter();
            fields.map(|(column, &count)| FilledColumn { column: column.name(), count }).collect()
        };
        let dropped = self.dropped.iter().map(|((column, reason), numbers)| Numbers {
            column: Some(column.name()),
            reason: Some(reason),
            numbers,
        });
        let conflicts = self.conflicts.iter().map(|(column, numbers)| Numbers {
            column: Some(column.name()),
            reason: None,
            numbers,
        });
        let document = Document {
            outcome: &self.outcome,
            published: self.published.as_ref(),
            elapsed_seconds: self.elapsed.as_secs_f64(),
            total: self.total(),
            inputs: &self.inputs,
            enrich_total: self.enrich_total(),
            enrich: &self.enrich,
            names: &self.names,
            named_instruments: self.named_instruments,
            skipped: reasons(&self.skips),
            rejected: reasons(&self.reasons),
            not_joined: reasons(&self.not_joined),
            not_named: reasons(&self.not_named),
            dropped: dropped.collect(),
            conflicts: conflicts.collect(),
            filled: filled(&self.filled),
            filled_from_exchanges: filled(&self.from_exchanges),
            lacking_in_exchanges: &self.lacking_in_exchanges,
            comparison: self.comparison.as_ref(),
            less_filled: &self.less_filled,
            warnings: &self.warnings,
            rejects_file: self.rejects_file.as_ref().map(|path| path.display().to_string()),
        };
        let text = serde_json::to_string_pretty(&document);
        text.expect("texts and numbers are always JSON") + "\n"
    }
}
