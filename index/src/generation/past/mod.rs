//! The past of the instruments: how each row was, and on which days.
//!
//! ```text
//! GENERATION/past/versions.log    the versions of each FIGI whose row came, went or changed
//! GENERATION/past/before.log      the same FIGIs as they were before the last day, if they differ
//! GENERATION/past/lookup.keys     the FIGIs that had an identifier which they no longer have
//! ```
//! The log is the truth, and belongs to its generation: a rollback also rolls the past back. Its
//! layout has a number apart from that of the index, and its columns are named, so that a later
//! version of Figdex reads it. The lookup file is made again from the log by each build.
//!
//! A [`Version`] is a row as it was between two days on which it was observed. It closes only when a
//! known value is replaced by another, or when the row comes or goes ([`observe`]): absence of a
//! value is not a value. A FIGI whose row is as on the first day of the past has no record.

pub(crate) mod ahead;
pub(crate) mod column;
pub(crate) mod log;
pub(crate) mod lookup;
pub(crate) mod observe;
mod shown;
pub(crate) mod stated;
#[cfg(test)]
pub(crate) mod tests;

use std::path::Path;

use self::column::PastColumn;
use self::log::{LogSummary, PastLog};
use self::lookup::{LookupWriter, PastLookup};
use self::stated::Retired;
use crate::error::{Error, Result};
use crate::instrument::Instrument;
use crate::instrument::date::Date;
use crate::instrument::figi::Figi;
use crate::instrument::vocabulary::Vocabulary;

/// The folder of the past in the folder of a generation.
pub const PAST: &str = "past";
/// The files of the past, in the order of their names.
pub(crate) const BEFORE_LOG: &str = "before.log";
pub(crate) const LOOKUP: &str = "lookup.keys";
pub(crate) const VERSIONS_LOG: &str = "versions.log";

/// The way in which a version ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VersionEnd {
    /// The next version replaced it.
    Replaced,
    /// The row went.
    Gone,
    /// The row went on or after the day on which the instrument expired or was paid back.
    Expired,
    /// The row soon was as before again, so that this version was a mistake. No question sees it.
    Revised,
}

/// A row as it was between two days.
#[derive(Clone, Debug, PartialEq)]
pub struct Version {
    /// The first day on which it was observed.
    pub first: Date,
    /// The last day on which it was observed.
    pub last: Date,
    /// The way in which it ended.
    pub end: VersionEnd,
    /// The columns that were filled later than on the first day, each with the day.
    pub learned: Vec<(PastColumn, Date)>,
    /// The row: only the columns of [`PastColumn::all`].
    pub image: Instrument,
}

/// The version of a row that is still observed.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenVersion {
    /// The first day on which it was observed.
    pub first: Date,
    /// The columns that were filled later than on the first day, each with the day.
    pub learned: Vec<(PastColumn, Date)>,
    /// The row, with values that it lacks now but had before.
    pub image: Instrument,
}

/// All versions of a FIGI.
#[derive(Clone, Debug, PartialEq)]
pub struct Versions {
    /// The FIGI.
    pub figi: Figi,
    /// The closed versions in the order of their first days.
    pub closed: Vec<Version>,
    /// The open version, if the row is still observed.
    pub open: Option<OpenVersion>,
    /// Identifiers that operators state it had, in the order of their days.
    pub stated: Vec<Retired>,
}

impl Versions {
    /// The versions of a FIGI that was never observed.
    pub(crate) fn none(figi: Figi) -> Self {
        Self { figi, closed: Vec::new(), open: None, stated: Vec::new() }
    }

    /// The versions of a row that is as on the first day of the past.
    pub(crate) fn unchanged(row: &Instrument, first: Date) -> Self {
        let image = column::image_of(row);
        let open = OpenVersion { first, learned: Vec::new(), image };
        Self { open: Some(open), ..Self::none(row.figi) }
    }

    /// Whether no row of the FIGI was ever observed in this past.
    pub(crate) fn are_none(&self) -> bool {
        self.closed.is_empty() && self.open.is_none()
    }

    /// The day since which nothing but the row of today says how the row was, and that it was
    /// observed so; `None` when there is no such day.
    pub(crate) fn settled_since(&self, row: Option<&Instrument>) -> Option<Date> {
        let (open, row) = (self.open.as_ref()?, row?);
        let is_settled = self.stated.is_empty()
            && open.learned.is_empty()
            && column::held(&open.image, row).next().is_none();
        is_settled.then_some(open.first)
    }

    /// Whether there is nothing that a row without a record does not say.
    pub(crate) fn is_plain(&self, row: Option<&Instrument>, first: Date) -> bool {
        self.closed.is_empty()
            && self.stated.is_empty()
            && match (&self.open, row) {
                (None, None) => true,
                (Some(_), Some(_)) => self.settled_since(row) == Some(first),
                _ => false,
            }
    }
}

/// The past of an open generation.
pub(crate) struct Past {
    pub(crate) log: PastLog,
    pub(crate) lookup: PastLookup,
    /// The values of the properties that rows have or had.
    pub(crate) vocabulary: Vocabulary,
}

impl Past {
    /// Opens the past of a generation, which ends on its day `until`.
    pub(crate) fn open(generation: &Path, until: Date, today: &Vocabulary) -> Result<Self> {
        let folder = generation.join(PAST);
        let log = PastLog::open(&folder.join(VERSIONS_LOG))?;
        if log.summary().days.last() != Some(until) {
            let what = "its last day is not that of the manifest";
            return Err(Error::damaged(&folder.join(VERSIONS_LOG), what));
        }
        let lookup = PastLookup::open(&folder.join(LOOKUP))?;
        let vocabulary = today.extended(lookup.values());
        Ok(Self { log, lookup, vocabulary })
    }

    pub(crate) fn summary(&self) -> &LogSummary {
        self.log.summary()
    }

    /// Checks what checksums do not show: every record can be decoded, and both logs are in order.
    pub(crate) fn verify(&self, generation: &Path) -> Result<()> {
        self.log.for_each(|_| Ok(()))?;
        PastLog::open(&generation.join(PAST).join(BEFORE_LOG))?.for_each(|_| Ok(()))
    }

    /// Checks that the lookup file is the one that follows from the log and from the rows, which
    /// `row` returns.
    pub(crate) fn verify_lookup(
        &self,
        generation: &Path,
        row: impl Fn(Figi) -> Result<Option<Instrument>>,
    ) -> Result<()> {
        let mut writer = LookupWriter::default();
        let mut records = self.log.records();
        while let Some(record) = records.next()? {
            // A row without an open version is an option that is left out.
            let row = match record.is_open() {
                true => row(record.figi())?,
                false => None,
            };
            writer.add(&record.versions(row.as_ref()), row.as_ref());
        }
        if self.lookup.is_of(writer) {
            return Ok(());
        }
        let what = "it does not follow from the log and the rows";
        Err(Error::damaged(&generation.join(PAST).join(LOOKUP), what))
    }
}
