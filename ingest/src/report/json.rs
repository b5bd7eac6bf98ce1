//! The report as JSON, for programs (`--report FILE`). The keys are a promise:
//! more may come, none is renamed. The members of the document are documented
//! here and nowhere else.

use std::collections::BTreeMap;

use serde::Serialize;

use super::conflicts::Sample;
use super::{Counts, EnrichCounts, Published, Report, RowPlace, Tally};
use crate::row::Column;

/// The whole document.
#[derive(Serialize)]
struct Document<'a> {
    /// The generation; `null` when nothing was published.
    published: Option<&'a Published>,
    /// From the first byte read to the end.
    elapsed_seconds: f64,
    /// Sums over `inputs`.
    total: Counts,
    /// In the order given: read = instruments + merged + rejected + skipped.
    inputs: Vec<Input<'a, Counts>>,
    /// Sums over `enrich`.
    enrich_total: EnrichCounts,
    /// The `--enrich` inputs:
    /// read = enriched + unmatched + ambiguous + rejected + skipped.
    enrich: Vec<Input<'a, EnrichCounts>>,
    /// Rejected rows of all inputs, by reason.
    rejected: Vec<Reason<'a>>,
    /// Rows to enrich with that are unmatched or ambiguous, by reason.
    not_joined: Vec<Reason<'a>>,
    /// Dropped cells, by column and reason.
    dropped: Vec<Reason<'a>>,
    /// Fields of which two rows say different things, by column.
    conflicts: Vec<Conflicts<'a>>,
    /// Fields that `--enrich` inputs filled, by column.
    filled: Vec<Filled>,
    /// Fields that the table of `--exchanges` filled, by column.
    filled_from_exchanges: Vec<Filled>,
    /// The file that keeps what was not taken; `null` when all was.
    rejects_file: Option<String>,
}

#[derive(Serialize)]
struct Input<'a, C> {
    /// As given; `-` is standard input.
    name: &'a str,
    #[serde(flatten)]
    counts: C,
    /// The format that it was read as; not of `enrich`.
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<&'a str>,
    /// Columns that nobody knows, which were ignored.
    unknown_columns: &'a [String],
    /// Columns that the format tells of and the input lacks; not of `enrich`.
    #[serde(skip_serializing_if = "Option::is_none")]
    absent_columns: Option<&'a [String]>,
}

#[derive(Serialize)]
struct Reason<'a> {
    /// Only of dropped cells.
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<&'static str>,
    reason: &'static str,
    count: u64,
    /// The first row of which it is true.
    first: &'a RowPlace,
}

#[derive(Serialize)]
struct Conflicts<'a> {
    column: &'static str,
    count: u64,
    /// The first few, in FIGI order.
    samples: &'a [Sample],
}

#[derive(Serialize)]
struct Filled {
    column: &'static str,
    count: u64,
}

impl Report {
    /// The report as a JSON document, with a line end.
    pub fn to_json(&self) -> String {
        fn reason<'a>(
            column: Option<&'static str>,
            reason: &'static str,
            Tally { count, first }: &'a Tally,
        ) -> Reason<'a> {
            Reason { column, reason, count: *count, first }
        }
        let filled = |fields: &BTreeMap<Column, u64>| {
            let fields = fields.iter();
            fields.map(|(column, &count)| Filled { column: column.name(), count }).collect()
        };
        let document = Document {
            published: self.published.as_ref(),
            elapsed_seconds: self.elapsed.as_secs_f64(),
            total: self.total(),
            inputs: self
                .inputs
                .iter()
                .map(|input| Input {
                    name: &input.name,
                    counts: input.counts,
                    format: Some(&input.format),
                    unknown_columns: &input.unknown_columns,
                    absent_columns: Some(&input.absent_columns),
                })
                .collect(),
            enrich_total: self.enrich_total(),
            enrich: self
                .enrich
                .iter()
                .map(|input| Input {
                    name: &input.name,
                    counts: input.counts,
                    format: None,
                    unknown_columns: &input.unknown_columns,
                    absent_columns: None,
                })
                .collect(),
            rejected: self.reasons.iter().map(|(why, tally)| reason(None, why, tally)).collect(),
            not_joined: self
                .not_joined
                .iter()
                .map(|(why, tally)| reason(None, why, tally))
                .collect(),
            dropped: self
                .dropped
                .iter()
                .map(|((column, why), tally)| reason(Some(column.name()), why, tally))
                .collect(),
            conflicts: self
                .conflicts
                .iter()
                .map(|(column, conflict)| Conflicts {
                    column: column.name(),
                    count: conflict.count,
                    samples: &conflict.samples,
                })
                .collect(),
            filled: filled(&self.filled),
            filled_from_exchanges: filled(&self.from_exchanges),
            rejects_file: self.rejects_file.as_ref().map(|path| path.display().to_string()),
        };
        let text = serde_json::to_string_pretty(&document);
        text.expect("texts and numbers are always JSON") + "\n"
    }
}
