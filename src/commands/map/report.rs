//! The counts of a list: for people on standard error, and as JSON for `--report`.

use std::time::Duration;

use figdex_index::{By, Coverage, Status};
use figdex_io::grouped;
use serde::Serialize;
use serde::ser::{SerializeMap as _, Serializer};

use super::answerer::{Answer, has_several_readings};
use super::columns::FoundColumn;
use crate::config::map::Percent;

/// The number of rows of each status.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts {
    /// The number of rows that were resolved because their identifier has only one row.
    only: u64,
    /// The number of rows that each step resolved.
    by_step: Vec<u64>,
    ambiguous: u64,
    /// The number of ambiguous rows whose readings find different securities.
    with_several_readings: u64,
    /// The number of ambiguous rows whose identifier no row has now.
    formerly_several: u64,
    unknown: u64,
    invalid: u64,
    historical: u64,
    /// The number of historical rows that count as matched.
    accepted: u64,
    gone: u64,
    uncertain: u64,
    out_of_coverage: u64,
    /// The number of rows of the footer. They are rows of the file, but not of the list.
    footers: u64,
    /// The number of other rows of the file that are not in the list.
    without_identifier: u64,
    /// The number of ambiguous rows that are written like a name.
    name_like: u64,
    /// The number of rows that are not UTF-8. `first_not_utf_8` is the row number of the first one.
    not_utf_8: u64,
    first_not_utf_8: Option<u64>,
}

impl Counts {
    pub(super) fn new(steps: usize) -> Self {
        Self { by_step: vec![0; steps], ..Self::default() }
    }

    pub(super) fn add<R>(&mut self, answer: &Answer<R>) {
        if let Some(left_out) = answer.left_out {
            match left_out.is_footer() {
                true => self.footers += 1,
                false => self.without_identifier += 1,
            }
            return;
        }
        let resolution = &answer.resolution;
        match &resolution.status {
            Status::Resolved(By::Only) => self.only += 1,
            Status::Resolved(By::Step(step)) => self.by_step[*step] += 1,
            Status::Ambiguous(_) => {
                self.ambiguous += 1;
                self.with_several_readings += u64::from(has_several_readings(resolution));
                self.name_like += u64::from(resolution.is_name_like);
                self.formerly_several += u64::from(answer.is_former);
            }
            Status::Unknown => self.unknown += 1,
            Status::Historical => {
                self.historical += 1;
                self.accepted += u64::from(answer.is_accepted);
            }
            Status::Gone => self.gone += 1,
            Status::Uncertain => self.uncertain += 1,
            Status::OutOfCoverage(_) => self.out_of_coverage += 1,
            Status::Invalid(_) => self.invalid += 1,
        }
    }

    /// Counts a row if it is not UTF-8. `number` is its number in the file.
    pub(super) fn check_utf_8(&mut self, number: u64, row: &[u8]) {
        if str::from_utf8(row).is_err() {
            self.not_utf_8 += 1;
            self.first_not_utf_8.get_or_insert(number);
        }
    }

    /// The warning about rows that are not UTF-8; `None` when all rows are UTF-8.
    pub(super) fn not_utf_8(&self, is_copied: bool) -> Option<String> {
        let (count, first) = (self.not_utf_8, self.first_not_utf_8?);
        let became = match is_copied {
            true => "their bytes are kept, so that the result is not UTF-8 either",
            false => "the wrong bytes became \u{fffd}",
        };
        Some(format!(
            "warning: {} of the rows are not UTF-8, the first is row {}: {became}. Convert the \
             file first, as with iconv -f WINDOWS-1252 -t UTF-8",
            grouped(count),
            grouped(first)
        ))
    }

    pub(super) fn add_all(&mut self, other: &Self) {
        self.only += other.only;
        self.by_step.iter_mut().zip(&other.by_step).for_each(|(own, other)| *own += other);
        self.ambiguous += other.ambiguous;
        self.with_several_readings += other.with_several_readings;
        self.formerly_several += other.formerly_several;
        self.unknown += other.unknown;
        self.invalid += other.invalid;
        self.historical += other.historical;
        self.accepted += other.accepted;
        self.gone += other.gone;
        self.uncertain += other.uncertain;
        self.out_of_coverage += other.out_of_coverage;
        self.footers += other.footers;
        self.without_identifier += other.without_identifier;
        self.name_like += other.name_like;
        self.not_utf_8 += other.not_utf_8;
        self.first_not_utf_8 = self.first_not_utf_8.or(other.first_not_utf_8);
    }

    fn resolved(&self) -> u64 {
        self.only + self.by_step.iter().sum::<u64>()
    }

    pub(super) fn ambiguous(&self) -> u64 {
        self.ambiguous
    }

    pub(super) fn with_several_readings(&self) -> u64 {
        self.with_several_readings
    }

    pub(super) fn name_like(&self) -> u64 {
        self.name_like
    }

    pub(super) fn formerly_several(&self) -> u64 {
        self.formerly_several
    }

    /// The number of historical rows that do not count as matched.
    pub(super) fn not_accepted(&self) -> u64 {
        self.historical - self.accepted
    }

    /// The counts of the statuses that only an index with a past has, by their names.
    fn of_the_past(&self) -> [(&'static str, u64); 4] {
        [
            ("historical", self.historical),
            ("gone", self.gone),
            ("uncertain", self.uncertain),
            ("outOfCoverage", self.out_of_coverage),
        ]
    }

    /// Whether all rows are unknown, and there are at least `rows_min`.
    pub(super) fn is_none_known(&self, rows_min: u64) -> bool {
        self.unknown >= rows_min && self.unknown == self.rows()
    }

    /// The number of rows of the list: of the rows that were asked.
    pub(super) fn rows(&self) -> u64 {
        let past: u64 = self.of_the_past().map(|(_, count)| count).into_iter().sum();
        self.resolved() + self.ambiguous + self.unknown + self.invalid + past
    }

    /// The sum for people.
    pub(super) fn line(&self) -> String {
        let mut line = format!(
            "{} rows = {} resolved + {} ambiguous + {} unknown + {} invalid",
            grouped(self.rows()),
            grouped(self.resolved()),
            grouped(self.ambiguous),
            grouped(self.unknown),
            grouped(self.invalid)
        );
        for (name, count) in self.of_the_past().into_iter().filter(|(_, count)| *count > 0) {
            line.push_str(&format!(" + {} {name}", grouped(count)));
        }
        let footer = match self.footers {
            0 => None,
            1 => Some("a footer".to_owned()),
            rows => Some(format!("a footer of {} rows", grouped(rows))),
        };
        let without = match self.without_identifier {
            0 => None,
            1 => Some("a row without an identifier".to_owned()),
            rows => Some(format!("{} rows without an identifier", grouped(rows))),
        };
        for words in [footer, without].into_iter().flatten() {
            line.push_str(&format!(", and {words}"));
        }
        line
    }

    /// The message when too few rows are resolved.
    pub(super) fn too_few(&self, min: Percent) -> Option<String> {
        let (resolved, rows) = (self.resolved() + self.accepted, self.rows());
        // In whole numbers, so that 33 of 3000 rows are exactly 1.1 %.
        let parts_min = u128::from(rows) * (min.0 * 10_000.0).round() as u128;
        let is_enough = u128::from(resolved) * 1_000_000 >= parts_min;
        (!is_enough).then(|| {
            // Rounded down, so that a share that is too small is not shown as enough.
            let share = (resolved as f64 * 1000.0 / rows as f64).floor() / 10.0;
            let what = if self.accepted > 0 { "resolved or historical" } else { "resolved" };
            format!("{share:.1} % of the rows are {what}, fewer than --min-matched {}%", min.0)
        })
    }
}

/// The contents of the file of `--report`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Report<'a> {
    rows: u64,
    resolved: u64,
    ambiguous: u64,
    unknown: u64,
    invalid: u64,
    #[serde(flatten)]
    past: Option<PastCounts>,
    footers: u64,
    without_identifier: u64,
    by_step: Steps<'a>,
    columns: Vec<ReportColumn<'a>>,
    generation: Option<u64>,
    seconds: f64,
}

/// The counts of the statuses that only an index with a past has, and the days that it covers.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PastCounts {
    historical: u64,
    gone: u64,
    uncertain: u64,
    out_of_coverage: u64,
    past_since: String,
    past_until: String,
}

/// The number of rows resolved as the only row (`only`), and by each step in the order of the
/// steps. Steps with the same text are one entry.
struct Steps<'a>(Vec<(&'a str, u64)>);

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ReportColumn<'a> {
    column: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    share: Option<f64>,
    used: bool,
}

impl<'a> Report<'a> {
    pub(super) fn new(
        counts: &Counts,
        steps: &'a [String],
        columns: &'a [FoundColumn],
        (generation, coverage): (Option<u64>, Option<Coverage>),
        took: Duration,
    ) -> Self {
        let mut by_step = vec![("only", counts.only)];
        for (text, count) in steps.iter().zip(&counts.by_step) {
            match by_step.iter_mut().find(|(known, _)| known == text) {
                Some((_, sum)) => *sum += count,
                None => by_step.push((text, *count)),
            }
        }
        let columns = columns.iter().map(|found| ReportColumn {
            column: &found.name,
            id_type: found.id_type.map(figdex_index::IdType::name),
            share: found.share,
            used: found.is_used,
        });
        Self {
            rows: counts.rows(),
            resolved: counts.resolved(),
            ambiguous: counts.ambiguous,
            unknown: counts.unknown,
            invalid: counts.invalid,
            past: coverage.map(|Coverage { since, until }| PastCounts {
                historical: counts.historical,
                gone: counts.gone,
                uncertain: counts.uncertain,
                out_of_coverage: counts.out_of_coverage,
                past_since: since.to_string(),
                past_until: until.to_string(),
            }),
            footers: counts.footers,
            without_identifier: counts.without_identifier,
            by_step: Steps(by_step),
            columns: columns.collect(),
            generation,
            seconds: (took.as_secs_f64() * 1e3).round() / 1e3,
        }
    }

    /// The report as a JSON file.
    pub(super) fn to_json(&self) -> anyhow::Result<Vec<u8>> {
        let mut json = serde_json::to_vec_pretty(self)?;
        json.push(b'\n');
        Ok(json)
    }
}

impl Serialize for Steps<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (step, count) in &self.0 {
            map.serialize_entry(step, count)?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_compared_in_whole_numbers() {
        let too_few = |resolved, rows: u64, min| {
            let counts = Counts { only: resolved, unknown: rows - resolved, ..Counts::default() };
            counts.too_few(Percent(min))
        };
        assert_eq!(too_few(33, 3000, 1.1), None);
        assert_eq!(too_few(0, 0, 100.0), None);
        assert_eq!(too_few(0, 1, 0.0), None);
        let message = too_few(9996, 10_000, 100.0).unwrap();
        assert!(message.starts_with("99.9 % of the rows"), "{message}");
        assert!(too_few(2, 3, 66.67).unwrap().starts_with("66.6 % of the rows"));
        assert_eq!(too_few(2, 3, 66.66), None);
    }
}
