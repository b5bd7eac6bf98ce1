//! What a build did to the past of the instruments (`--history`).

use std::fmt;

use figdex_index::{Date, PastEntry, PastReport};
use figdex_io::grouped;
use serde::Serialize;

/// The past of a published generation, and what its build did to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct KeptPast {
    /// The first day of the past.
    pub since: Date,
    /// The last day of the past, that of the generation.
    pub until: Date,
    /// Number of days on which the rows were observed.
    pub days: u64,
    /// Number of versions that have ended.
    pub versions: u64,
    /// Instruments that came.
    pub came: u64,
    /// Instruments that went, without those that expired.
    pub gone: u64,
    /// Instruments that went because they expired or matured.
    pub expired: u64,
    /// Instruments with another value in place of a known one.
    pub replaced: u64,
    /// Instruments that were soon as before again, after they had gone or had another value.
    pub mended: u64,
    /// The columns that are much less filled than the day before, and so changed nothing.
    pub unfilled: Vec<&'static str>,
}

impl KeptPast {
    pub(crate) fn new(report: &PastReport, entry: &PastEntry) -> Self {
        Self {
            since: entry.since,
            until: entry.until,
            days: entry.days,
            versions: entry.versions,
            came: report.came,
            gone: report.went,
            expired: report.expired,
            replaced: report.replaced,
            mended: report.mended,
            unfilled: report.unfilled.clone(),
        }
    }

    /// A warning for each column that changed nothing.
    pub(crate) fn warnings(&self) -> impl Iterator<Item = String> {
        self.unfilled.iter().map(|column| {
            format!(
                "{column} is more than a tenth less filled than on the day before, so it changed \
                 nothing in the past"
            )
        })
    }
}

/// Two lines, of at most 80 columns while each number is below a million.
impl fmt::Display for KeptPast {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { since, until, .. } = self;
        let [days, versions, came, gone, expired, replaced, mended] = [
            self.days,
            self.versions,
            self.came,
            self.gone,
            self.expired,
            self.replaced,
            self.mended,
        ]
        .map(grouped);
        writeln!(f, "past: {since} to {until} (days: {days}, earlier versions: {versions})")?;
        write!(
            f,
            "  {came} came, {gone} gone, {expired} expired, {replaced} replaced, {mended} mended"
        )
    }
}
