//! The guard against bad dumps (`--max-removed`, `--max-expired`, `--max-changed`,
//! `--max-column-loss`). It compares the new generation with the published one before the new one
//! is published.
//!
//! Most instruments are the same from night to night. These are compared as they are stored, and only
//! the others are read column by column.
//!
//! Even without a limit, an operator is warned of an input that is much shorter than before.

use std::collections::BTreeMap;
use std::path::Path;

use figdex_index::{
    Attribute, Catalogue, Changed, Date, Error as IndexError, Figi, Filled, Instrument, Manifest,
    SourceEntry, chain,
};
use figdex_io::grouped;
use jiff::Zoned;

use crate::error::{Error, Result};
use crate::report::comparison::{ChangedColumn, Comparison, GUARD_FLAGS, GuardLimits, LostColumn};
use crate::report::less_filled::{LessFilled, less_filled};

/// The most example FIGIs of removed, expired or changed instruments.
const SAMPLES_MAX: usize = 10;

/// The published generation, with the limits for what may differ from it.
pub(super) struct Guard {
    limits: GuardLimits,
    published: Catalogue,
}

/// The counts of a column over the instruments that both generations have.
struct ColumnChanges {
    name: &'static str,
    /// The number of instruments with another value, or with a value in only one of the
    /// generations.
    changed: u64,
    /// The number of instruments that have lost their value.
    lost: u64,
}

impl Guard {
    /// Opens the published generation. `None` when no limit is set, or when no index of this format
    /// is published.
    ///
    /// # Errors
    /// When the published generation cannot be opened: the guard would otherwise be off.
    pub(super) fn open(limits: GuardLimits, index: &Path) -> Result<Option<Self>> {
        if limits == GuardLimits::default() {
            return Ok(None);
        }
        match Catalogue::open(index) {
            Ok(published) => Ok(Some(Self { limits, published })),
            Err(IndexError::NotAnIndex(_) | IndexError::ForeignFormat { .. }) => Ok(None),
            Err(error) => Err(unreadable(&error)),
        }
    }

    /// Compares the new generation, which is not published yet. If the differences exceed a limit,
    /// also returns the refusal, which names the less filled columns too.
    ///
    /// # Errors
    /// When a generation cannot be read.
    pub(super) fn compare(
        &self,
        new: &Catalogue,
        less_filled: &[LessFilled],
    ) -> Result<(Comparison, Option<String>)> {
        let manifest = self.published.manifest();
        let mut comparison = Comparison {
            generation: manifest.generation,
            instruments: manifest.instruments,
            ..Comparison::default()
        };
        let (today, mut columns, mut left) = (today(), Vec::new(), Filled::default());
        new.differences(&self.published, |Changed { before, after }| {
            let Comparison { removed, removed_figis, expired, expired_figis, .. } = &mut comparison;
            match (before, after) {
                (Some(old), Some(new)) => {
                    if is_changed(&old, &new, &mut columns) {
                        count(&mut comparison.changed, &mut comparison.changed_figis, new.figi);
                    }
                }
                (Some(old), None) if old.filter_dates()[0].is_some_and(|end| end < today) => {
                    left.add(&old);
                    count(expired, expired_figis, old.figi);
                }
                (Some(old), None) => count(removed, removed_figis, old.figi),
                (None, _) => {}
            }
            Ok::<_, IndexError>(())
        })
        .map_err(|error| unreadable(&error))?;
        let changed = columns.iter().filter(|column| column.changed > 0);
        let changed = changed
            .map(|column| ChangedColumn { column: column.name.into(), count: column.changed });
        comparison.changed_columns = changed.collect();
        comparison.changed_columns.sort_by_key(|one| std::cmp::Reverse(one.count));
        // Instruments that have expired and are missing now have not lost their values.
        let (now, left) = (&new.manifest().filled, left.counts());
        let of = |counts: &BTreeMap<String, u64>, column| counts.get(column).copied().unwrap_or(0);
        let is_compared = |(column, _): &(&String, &u64)| *column != Attribute::Names.name();
        let losses = manifest.filled.iter().filter(is_compared).filter_map(|(column, &all)| {
            let before = all.saturating_sub(of(&left, column));
            // New instruments with a value do not compensate for instruments that lost theirs.
            let lost = columns.iter().find(|one| one.name == column).map_or(0, |one| one.lost);
            LostColumn::of(column, before, lost.max(before.saturating_sub(of(now, column))))
        });
        comparison.lost_columns = losses.collect();
        comparison.lost_columns.sort_by(|one, other| other.percent().total_cmp(&one.percent()));
        let is_allowed = self.limits.allow(&comparison);
        let refusal = (!is_allowed).then(|| self.limits.refusal(&comparison, less_filled));
        Ok((comparison, refusal))
    }
}

/// The error of a guarded build whose published generation cannot be read.
fn unreadable(error: &IndexError) -> Error {
    let why = chain(error);
    let refusal = format!(
        "nothing is published: {GUARD_FLAGS} compare with the published index, which cannot be \
         read: {why}\nto build without it, leave out these flags"
    );
    Error::Guarded { refusal, report: Box::default() }
}

fn count(number: &mut u64, figis: &mut Vec<String>, figi: Figi) {
    *number += 1;
    if figis.len() < SAMPLES_MAX {
        figis.push(figi.to_string());
    }
}

/// The columns whose differences do not count: importances follow from market data, which differ
/// every night, and other names come from other files than the instruments.
const NOT_COMPARED: [&str; 2] = [Attribute::Importance.name(), Attribute::Names.name()];

/// Whether any column differs, except [`NOT_COMPARED`]. Adds the differences and the lost values to
/// the counts of `columns`.
fn is_changed(old: &Instrument, new: &Instrument, columns: &mut Vec<ColumnChanges>) -> bool {
    if columns.is_empty() {
        columns.extend(old.columns().map(|(name, _)| ColumnChanges { name, changed: 0, lost: 0 }));
    }
    let mut is_changed = false;
    let both = old.columns().zip(new.columns());
    for (column, ((name, old), (_, new))) in columns.iter_mut().zip(both) {
        column.lost += u64::from(old.is_some() && new.is_none());
        if old != new && !NOT_COMPARED.contains(&name) {
            column.changed += 1;
            is_changed = true;
        }
    }
    is_changed
}

fn today() -> Date {
    let today = Zoned::now().date().to_string();
    Date::parse(&today).expect("a day of this century is a date")
}

/// The columns that are less filled in the new index than in the published generation.
pub(super) fn losses(
    index: &Path,
    instruments: u64,
    filled: &BTreeMap<String, u64>,
) -> Vec<LessFilled> {
    // With another format, or a broken one, there is nothing to compare with.
    let Ok(published) = Manifest::published(index) else { return Vec::new() };
    less_filled((published.instruments, &published.filled), (instruments, filled))
}

/// A warning for each input with less than two thirds of the rows that an input of this name had
/// for the published generation. If no input has such a name, all inputs are compared together.
pub(super) fn shorter(index: &Path, sources: &[SourceEntry]) -> Vec<String> {
    // With another format, or a broken one, there is nothing to compare with.
    let Ok(published) = Manifest::published(index) else { return Vec::new() };
    let before = |name: &str| published.sources.iter().find(|source| source.name == name);
    let warning = |name: &str, rows: u64, rows_before: u64| {
        let is_shorter = rows.saturating_mul(3) < rows_before.saturating_mul(2);
        is_shorter.then(|| {
            let (rows, before) = (grouped(rows), grouped(rows_before));
            format!("{name} has {rows} rows, and had {before} in the published generation")
        })
    };
    let known: Vec<_> =
        sources.iter().filter_map(|now| Some((now, before(&now.name)?.rows))).collect();
    if known.is_empty() {
        let rows = |sources: &[SourceEntry]| sources.iter().map(|source| source.rows).sum();
        return warning("the input", rows(sources), rows(&published.sources)).into_iter().collect();
    }
    known.into_iter().filter_map(|(now, before)| warning(&now.name, now.rows, before)).collect()
}
