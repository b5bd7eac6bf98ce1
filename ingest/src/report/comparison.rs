//! The comparison of a new index with the published one, and the limits of the guard against half a
//! dump (`--max-removed`, `--max-changed`).

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

use super::grouped;
use super::less_filled::LessFilled;

/// A share of the published instruments, in per cent.
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

/// The shares of the published instruments beyond which nothing is published.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GuardLimits {
    /// The share of those that the new generation does not have.
    pub removed: Option<Share>,
    /// The share of those that are different in it.
    pub changed: Option<Share>,
}

/// The comparison with the published generation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Comparison {
    /// The number of the published generation.
    pub generation: u64,
    /// Its instruments.
    pub instruments: u64,
    /// Its instruments that are not in the new generation, without the expired ones.
    pub removed: u64,
    /// Its instruments that are not in the new generation and had expired or matured before today.
    pub expired: u64,
    /// Its instruments of which a result field or an identifier is different in the new generation.
    pub changed: u64,
    /// The first FIGIs of the removed ones.
    pub removed_figis: Vec<String>,
    /// The first FIGIs of the changed ones.
    pub changed_figis: Vec<String>,
}

impl GuardLimits {
    /// Whether the new index may be published.
    pub(crate) fn allow(self, comparison: &Comparison) -> bool {
        let Comparison { instruments, removed, changed, .. } = *comparison;
        let allows = |count: u64, limit: Option<Share>| {
            limit.is_none_or(|Share(limit)| count as f64 * 100.0 <= instruments as f64 * limit)
        };
        allows(removed, self.removed) && allows(changed, self.changed)
    }

    /// Why the new index is not published: both numbers, examples, and what to do.
    pub(crate) fn refusal(self, comparison: &Comparison, less_filled: &[LessFilled]) -> String {
        let examples = |count: u64, figis: &[String]| match figis.len() as u64 {
            0 => String::new(),
            shown if shown < count => format!("\n    {} …", figis.join(" ")),
            _ => format!("\n    {}", figis.join(" ")),
        };
        let limit = |name: &str, share: Option<Share>| {
            share.map_or_else(String::new, |share| format!(" ({name} is {share})"))
        };
        let Comparison { generation, removed, changed, removed_figis, changed_figis, .. } =
            comparison;
        format!(
            "the new index differs too much from the published generation {generation}: nothing is \
             published\n  {}{}{}\n  {}{}{}{}\nif the dumps are whole, build once with a higher limit",
            comparison.share_of(*removed, "would be removed"),
            limit("--max-removed", self.removed),
            examples(*removed, removed_figis),
            comparison.share_of(*changed, "would be changed"),
            limit("--max-changed", self.changed),
            examples(*changed, changed_figis),
            less_filled.iter().map(|one| format!("\n  {one}")).collect::<String>(),
        )
    }
}

impl Comparison {
    /// A number of the published instruments, as a sentence with its share.
    fn share_of(&self, count: u64, what: &str) -> String {
        let share = count as f64 * 100.0 / self.instruments.max(1) as f64;
        let (count, all) = (grouped(count), grouped(self.instruments));
        format!("{count} of {all} instruments {what}, {share:.2} %")
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "compared with generation {}", self.generation)?;
        writeln!(f, "  {}", self.share_of(self.removed, "were removed"))?;
        if self.expired > 0 {
            writeln!(f, "  {}", self.share_of(self.expired, "had expired and were left out"))?;
        }
        writeln!(f, "  {}", self.share_of(self.changed, "were changed"))
    }
}
