//! The guard against bad dumps (`--max-removed`, `--max-expired`, `--max-changed`,
//! `--max-column-loss`). It compares the new generation with the published one before the new one
//! is published.
//!
//! Both generations are in FIGI order, so each instrument is examined once. A thread reads the
//! published generation a few batches ahead. The comparison holds only these batches, and counts.
//!
//! Even without a limit, an operator is warned of an input that is much shorter than before.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use figdex_index::{
    Attribute, Catalogue, Date, Error as IndexError, Figi, Filled, Instrument, Manifest,
    SourceEntry, chain,
};
use figdex_io::grouped;
use jiff::Zoned;

use crate::error::{Error, Result};
use crate::report::comparison::{ChangedColumn, Comparison, GUARD_FLAGS, GuardLimits, LostColumn};
use crate::report::less_filled::{LessFilled, less_filled};

/// The most example FIGIs of removed, expired or changed instruments.
const SAMPLES_MAX: usize = 10;

/// The number of published instruments in a batch.
const BATCH: usize = 1_024;

/// The number of batches that are read ahead.
const BATCHES_AHEAD: usize = 4;

/// A comparison in progress.
pub(super) struct Guard {
    limits: GuardLimits,
    published: PublishedInstruments,
    today: Date,
    comparison: Comparison,
    /// The differences by column, in the order of [`Instrument::columns`].
    columns: Vec<ColumnChanges>,
    /// The number of published instruments with a value in each column. Instruments that have
    /// expired and are missing in the new generation do not count.
    before: Filled,
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

/// The instruments of the published generation, one after the other.
struct PublishedInstruments {
    batches: Receiver<Vec<Instrument>>,
    reader: Option<JoinHandle<Result<(), Stopped>>>,
    batch: std::vec::IntoIter<Instrument>,
    next: Option<Instrument>,
}

/// The reason why the reader stopped.
enum Stopped {
    Failed(IndexError),
    /// The build ended, and nobody receives the instruments any more.
    Unheard,
}

impl From<IndexError> for Stopped {
    fn from(error: IndexError) -> Self {
        Self::Failed(error)
    }
}

impl Guard {
    /// Begins the comparison. `None` when no limit is set, or when no index of this format is
    /// published.
    ///
    /// # Errors
    /// When the published generation cannot be opened: the guard would otherwise be off.
    pub(super) fn begin(limits: GuardLimits, index: &Path) -> Result<Option<Self>> {
        if limits == GuardLimits::default() {
            return Ok(None);
        }
        let catalogue = match Catalogue::open(index) {
            Ok(catalogue) => catalogue,
            Err(IndexError::NotAnIndex(_) | IndexError::ForeignFormat { .. }) => return Ok(None),
            Err(error) => return Err(unreadable(&error)),
        };
        let manifest = catalogue.manifest();
        let comparison = Comparison {
            generation: manifest.generation,
            instruments: manifest.instruments,
            ..Comparison::default()
        };
        let (sender, batches) = sync_channel(BATCHES_AHEAD);
        let reader = thread::spawn(move || read(&catalogue, &sender));
        let batch = Vec::new().into_iter();
        let mut published =
            PublishedInstruments { batches, reader: Some(reader), batch, next: None };
        published.advance()?;
        let (columns, before) = Default::default();
        Ok(Some(Self { limits, published, today: today(), comparison, columns, before }))
    }

    /// Compares the next instrument of the new generation, in FIGI order.
    ///
    /// # Errors
    /// When the published generation cannot be read.
    pub(super) fn observe(&mut self, new: &Instrument) -> Result<()> {
        while let Some(old) = &self.published.next {
            match old.figi.cmp(&new.figi) {
                Ordering::Greater => return Ok(()),
                Ordering::Less => self.remove()?,
                Ordering::Equal => {
                    self.before.add(old);
                    if is_changed(old, new, &mut self.columns) {
                        let Comparison { changed, changed_figis, .. } = &mut self.comparison;
                        count(changed, changed_figis, new.figi);
                    }
                    return self.published.advance();
                }
            }
        }
        Ok(())
    }

    /// The comparison, after all instruments of the new generation were observed. `filled` has the
    /// number of these with a value in each column. If the differences exceed a limit, also returns
    /// the refusal, which names the less filled columns too.
    ///
    /// # Errors
    /// When the published generation cannot be read.
    pub(super) fn finish(
        mut self,
        filled: &BTreeMap<String, u64>,
        less_filled: &[LessFilled],
    ) -> Result<(Comparison, Option<String>)> {
        while self.published.next.is_some() {
            self.remove()?;
        }
        let mut comparison = self.comparison;
        let changed = self.columns.iter().filter(|column| column.changed > 0);
        let changed = changed
            .map(|column| ChangedColumn { column: column.name.into(), count: column.changed });
        comparison.changed_columns = changed.collect();
        comparison.changed_columns.sort_by_key(|one| std::cmp::Reverse(one.count));
        let before = self.before.counts();
        let is_compared = |(column, _): &(&String, &u64)| *column != Attribute::Names.name();
        let losses = before.iter().filter(is_compared).filter_map(|(column, &before)| {
            let now = filled.get(column).copied().unwrap_or(0);
            // New instruments with a value do not compensate for instruments that lost theirs.
            let lost = self.columns.iter().find(|one| one.name == column).map_or(0, |one| one.lost);
            LostColumn::of(column, before, lost.max(before.saturating_sub(now)))
        });
        comparison.lost_columns = losses.collect();
        comparison.lost_columns.sort_by(|one, other| other.percent().total_cmp(&one.percent()));
        let is_allowed = self.limits.allow(&comparison);
        let refusal = (!is_allowed).then(|| self.limits.refusal(&comparison, less_filled));
        Ok((comparison, refusal))
    }

    /// Counts the next published instrument as expired or removed.
    fn remove(&mut self) -> Result<()> {
        if let Some(old) = &self.published.next {
            let Comparison { removed, expired, removed_figis, expired_figis, .. } =
                &mut self.comparison;
            let end = old.filter_dates()[0];
            if end.is_some_and(|end| end < self.today) {
                count(expired, expired_figis, old.figi);
            } else {
                self.before.add(old);
                count(removed, removed_figis, old.figi);
            }
        }
        self.published.advance()
    }
}

impl PublishedInstruments {
    fn advance(&mut self) -> Result<()> {
        self.next = self.batch.next();
        while self.next.is_none() {
            let Ok(batch) = self.batches.recv() else {
                let Some(reader) = self.reader.take() else { return Ok(()) };
                return match reader.join() {
                    Ok(Err(Stopped::Failed(error))) => Err(unreadable(&error)),
                    Ok(_) => Ok(()),
                    Err(panic) => std::panic::resume_unwind(panic),
                };
            };
            self.batch = batch.into_iter();
            self.next = self.batch.next();
        }
        Ok(())
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

/// Reads the published generation to its end, or until nobody receives.
fn read(catalogue: &Catalogue, batches: &SyncSender<Vec<Instrument>>) -> Result<(), Stopped> {
    let mut batch = Vec::with_capacity(BATCH);
    catalogue.instruments(|instrument| {
        batch.push(instrument.clone());
        if batch.len() == BATCH {
            let full = std::mem::replace(&mut batch, Vec::with_capacity(BATCH));
            batches.send(full).map_err(|_| Stopped::Unheard)?;
        }
        Ok::<_, Stopped>(())
    })?;
    batches.send(batch).map_err(|_| Stopped::Unheard)
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
