//! The comparison of a new index with the published one, and the limits of the guard against bad
//! dumps (`--max-removed`, `--max-expired`, `--max-changed`, `--max-column-loss`).

use std::fmt;
use std::str::FromStr;

use figdex_io::grouped;
use serde::Serialize;

use super::less_filled::{LOST_MIN, LessFilled};

/// A share, in per cent, of the published instruments or of their values in a column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share(f64);

impl FromStr for Share {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = text.strip_suffix('%').and_then(|number| number.trim_end().parse().ok());
        let share = number.filter(|percent| (0.0..=100.0).contains(percent)).map(Self);
        share.ok_or_else(|| {
            format!("invalid share {text:?}: expected a percentage from 0% to 100%, such as 2%")
        })
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}%", self.0)
    }
}

/// The flags of [`GuardLimits`], for messages.
pub(crate) const GUARD_FLAGS: &str =
    "--max-removed, --max-expired, --max-changed and --max-column-loss";

/// The shares beyond which nothing is published.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GuardLimits {
    /// The share of the published instruments that are missing in the new generation and had not
    /// expired.
    pub removed: Option<Share>,
    /// The share of the published instruments that are missing in the new generation and had
    /// expired.
    pub expired: Option<Share>,
    /// The share of the published instruments that differ in the new generation.
    pub changed: Option<Share>,
    /// The share of a column's values that are missing in the new generation.
    pub column_loss: Option<Share>,
}

/// The comparison with the published generation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Comparison {
    /// The number of the published generation.
    pub generation: u64,
    /// The number of instruments of the published generation.
    pub instruments: u64,
    /// The number of published instruments that are not in the new generation, without the expired
    /// ones.
    pub removed: u64,
    /// The number of published instruments that are not in the new generation and had expired or
    /// matured before today.
    pub expired: u64,
    /// The number of published instruments that are in the new generation with a different value in
    /// a column. The importance does not count: it may change every night.
    pub changed: u64,
    /// The first FIGIs of the removed instruments.
    pub removed_figis: Vec<String>,
    /// The first FIGIs of the expired instruments.
    pub expired_figis: Vec<String>,
    /// The first FIGIs of the changed instruments.
    pub changed_figis: Vec<String>,
    /// The columns with different values, the most frequent first.
    pub changed_columns: Vec<ChangedColumn>,
    /// The columns that have lost values, the largest share first.
    pub lost_columns: Vec<LostColumn>,
}

/// A column with different values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ChangedColumn {
    /// The column's name.
    pub column: String,
    /// The number of instruments in which the column is different.
    pub count: u64,
}

/// A column that has lost values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LostColumn {
    /// The column's name.
    pub column: String,
    /// The number of published instruments with a value, without expired ones that are missing now.
    pub before: u64,
    /// The number of published instruments that lost their value, or the decrease of the total
    /// number of values, whichever is larger.
    pub lost: u64,
}

impl LostColumn {
    /// The loss of `lost` out of `before` values; `None` when fewer than [`LOST_MIN`] are lost.
    pub(crate) fn of(column: &str, before: u64, lost: u64) -> Option<Self> {
        (lost >= LOST_MIN).then(|| Self { column: column.to_owned(), before, lost })
    }

    /// The lost share of the values, in per cent.
    pub(crate) fn percent(&self) -> f64 {
        percent(self.lost, self.before)
    }
}

/// A sentence with both numbers.
impl fmt::Display for LostColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { column, before, lost } = self;
        let (before, lost) = (grouped(*before), grouped(*lost));
        write!(f, "{lost} of {before} values of {column} are lost, {:.2} %", self.percent())
    }
}

/// `count` as a share of `all`, in per cent.
fn percent(count: u64, all: u64) -> f64 {
    count as f64 * 100.0 / all.max(1) as f64
}

/// Whether a share of `all` is within a limit. A share equal to the limit is within it.
fn allows(limit: Option<Share>, count: u64, all: u64) -> bool {
    limit.is_none_or(|Share(limit)| count as f64 * 100.0 <= all as f64 * limit)
}

impl GuardLimits {
    /// Whether the new index may be published.
    pub(crate) fn allow(self, comparison: &Comparison) -> bool {
        let Comparison { instruments, removed, expired, changed, lost_columns, .. } = comparison;
        allows(self.removed, *removed, *instruments)
            && allows(self.expired, *expired, *instruments)
            && allows(self.changed, *changed, *instruments)
            && lost_columns.iter().all(|lost| self.allows_loss(lost))
    }

    fn allows_loss(self, lost: &LostColumn) -> bool {
        allows(self.column_loss, lost.lost, lost.before)
    }

    /// The reasons why the new index is not published: the numbers, examples, and advice.
    pub(crate) fn refusal(self, comparison: &Comparison, less_filled: &[LessFilled]) -> String {
        let Comparison { generation, removed, expired, changed, .. } = comparison;
        let mut text = format!(
            "the new index differs too much from the published generation {generation}: nothing is \
             published"
        );
        for (count, what, flag, limit, figis) in [
            (
                *removed,
                "would be removed",
                "--max-removed",
                self.removed,
                &comparison.removed_figis,
            ),
            (
                *expired,
                "have expired and would be left out",
                "--max-expired",
                self.expired,
                &comparison.expired_figis,
            ),
            (
                *changed,
                "would be changed",
                "--max-changed",
                self.changed,
                &comparison.changed_figis,
            ),
        ] {
            let share = comparison.share_of(count, what);
            text += &format!("\n  {share}{}{}", named(flag, limit), examples(count, figis));
        }
        if !comparison.changed_columns.is_empty() {
            text += &format!("\n    {}", comparison.most_changed());
        }
        for lost in comparison.lost_columns.iter().filter(|lost| !self.allows_loss(lost)) {
            text += &format!("\n  {lost}{}", named("--max-column-loss", self.column_loss));
        }
        let is_lost = |one: &&LessFilled| {
            let mut lost = comparison.lost_columns.iter();
            lost.any(|lost| lost.column == one.column && !self.allows_loss(lost))
        };
        for one in less_filled.iter().filter(|one| !is_lost(one)) {
            text += &format!("\n  {one}");
        }
        text + "\nif the dumps are whole, build once with a higher limit"
    }
}

/// A limit and its flag, for a message.
fn named(flag: &str, limit: Option<Share>) -> String {
    limit.map_or_else(String::new, |limit| format!(" ({flag} is {limit})"))
}

/// The first FIGIs of `count` instruments, on a line.
fn examples(count: u64, figis: &[String]) -> String {
    match figis.len() as u64 {
        0 => String::new(),
        shown if shown < count => format!("\n    {} …", figis.join(" ")),
        _ => format!("\n    {}", figis.join(" ")),
    }
}

/// The most columns that a text names as changed.
const CHANGED_COLUMNS_MAX: usize = 5;

impl Comparison {
    /// A number of the published instruments, as a sentence with its share.
    fn share_of(&self, count: u64, what: &str) -> String {
        let share = percent(count, self.instruments);
        let (count, all) = (grouped(count), grouped(self.instruments));
        format!("{count} of {all} instruments {what}, {share:.2} %")
    }

    /// The columns that changed most, each with its number.
    fn most_changed(&self) -> String {
        let columns = self.changed_columns.iter().take(CHANGED_COLUMNS_MAX);
        let columns = columns.map(|one| format!("{} {}", one.column, grouped(one.count)));
        let more = if self.changed_columns.len() > CHANGED_COLUMNS_MAX { ", …" } else { "" };
        format!("in {}{more}", columns.collect::<Vec<_>>().join(", "))
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "compared with generation {}", self.generation)?;
        writeln!(f, "  {}", self.share_of(self.removed, "were removed"))?;
        if self.expired > 0 {
            writeln!(f, "  {}", self.share_of(self.expired, "had expired and were left out"))?;
        }
        writeln!(f, "  {}", self.share_of(self.changed, "were changed"))?;
        if !self.changed_columns.is_empty() {
            writeln!(f, "    {}", self.most_changed())?;
        }
        Ok(())
    }
}
