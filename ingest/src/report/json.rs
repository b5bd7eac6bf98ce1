//! The report as JSON, for programs (`--report FILE`). The keys are stable: keys may be added,
//! but none is renamed or removed. They are documented on the types here and in `report`.

use std::collections::BTreeMap;

use serde::Serialize;

use super::conflicts::Sample;
use super::{Counts, EnrichCounts, EnrichReport, InputReport, Published, Report, RowPlace, Tally};
use crate::row::Column;

/// The whole document.
#[derive(Serialize)]
struct Document<'a> {
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
    /// Rejected rows of all inputs, by reason.
    rejected: Vec<Reason<'a>>,
    /// Rows of `--enrich` inputs that are unmatched or ambiguous, by reason.
    not_joined: Vec<Reason<'a>>,
    /// Dropped cells, by column and reason.
    dropped: Vec<Reason<'a>>,
    /// Fields of which two rows have different values, by column.
    conflicts: Vec<Conflicts<'a>>,
    /// Fields filled by `--enrich` inputs, by column.
    filled: Vec<Filled>,
    /// Fields filled by the table of `--exchanges`, by column.
    filled_from_exchanges: Vec<Filled>,
    /// The rejects file; `null` if nothing was rejected or dropped.
    rejects_file: Option<String>,
}

#[derive(Serialize)]
struct Reason<'a> {
    /// The column of a dropped cell; not in other lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<&'static str>,
    reason: &'static str,
    count: u64,
    /// The first such row.
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
            inputs: &self.inputs,
            enrich_total: self.enrich_total(),
            enrich: &self.enrich,
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
