//! Carrying the past on: the versions of every FIGI after the day of a new generation.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::generation::Generation;
use crate::generation::compare::{Compared, PairWalk};
use crate::generation::folder::sync;
use crate::generation::manifest::{FileEntry, PastEntry};
use crate::generation::names::FileName;
use crate::generation::past::ahead::Ahead;
use crate::generation::past::column::PastColumn;
use crate::generation::past::log::{LogSummary, LogWriter, ObservedDays, PastLog, pair_of};
use crate::generation::past::lookup::LookupWriter;
use crate::generation::past::observe::Observation;
use crate::generation::past::stated::{Retired, RetiredOf};
use crate::generation::past::{BEFORE_LOG, LOOKUP, PAST, VERSIONS_LOG, VersionEnd, Versions};
use crate::instrument::Instrument;
use crate::instrument::date::Date;
use crate::instrument::figi::Figi;
use crate::instrument::kind::is_derivative;
use crate::instrument::vocabulary::Property;
use crate::part::identifiers::KeyKind;

/// The options of a past that is kept.
#[derive(Clone, Debug)]
pub struct PastOptions {
    /// A gap of fewer days than this is closed, and so is a version that lasted less.
    pub mend_days: u32,
    /// Whether options, warrants and futures have a past too. Once they have, they keep it.
    pub has_derivatives: bool,
    /// An exported past to begin with, where the published generation has none.
    pub from: Option<PathBuf>,
    /// The retired identifiers that the operator's files state.
    pub stated: Vec<(RetiredOf, Retired)>,
}

impl Default for PastOptions {
    fn default() -> Self {
        Self { mend_days: 7, has_derivatives: false, from: None, stated: Vec::new() }
    }
}

/// The report of a build about the past.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PastReport {
    /// Rows that came.
    pub came: u64,
    /// Rows that went, without those that expired.
    pub went: u64,
    /// Rows that went because they expired or were paid back.
    pub expired: u64,
    /// Rows with another value in place of a known one.
    pub replaced: u64,
    /// Rows that were soon as before again, after they had gone or had another value.
    pub mended: u64,
    /// The retired identifiers that were stated of instruments.
    pub stated: u64,
    /// Instruments of which something else was observed than is stated. Answers have both.
    pub contradicted: u64,
    /// The places, in [`PastOptions::stated`], of those whose instrument no row and no version has.
    pub not_stated: Vec<usize>,
    /// The columns that are more than a tenth less filled than before, and so closed nothing.
    pub unfilled: Vec<&'static str>,
}

/// The fewest lost values that count as a loss of a column, and the divisor of the share.
const LOST_MIN: u64 = 10;
const LOSS_DIVISOR: u64 = 10;

/// Writes the past of the new generation `after`, which describes `day`, into its folder. It goes on
/// from the past of the published generation, if that has one.
///
/// # Errors
/// [`Error::PastDay`], [`Error::NotWholePast`] and [`Error::PastDiffers`] for an exported past, and
/// those of reading and writing.
pub(super) fn write(
    after: &Generation,
    published: Option<&Generation>,
    day: Date,
    options: &PastOptions,
) -> Result<(PastEntry, PastReport)> {
    let exported = options.from.as_deref().map(|path| exported_past(path, day)).transpose()?;
    let generation = published.filter(|it| exported.is_none() && it.past.is_some());
    let log = exported.as_ref().or_else(|| Some(&generation?.past.as_ref()?.log));
    let last = log.and_then(|log| log.summary().days.last());
    log.map_or(Ok(()), |log| check_day(log, day))?;
    // A second build of a day replaces what the first one observed.
    let earlier = match generation.filter(|_| last == Some(day)) {
        Some(generation) => Some(PastLog::open(&generation.path.join(PAST).join(BEFORE_LOG))?),
        None => None,
    };
    let base = earlier.as_ref().or(log).map(|log| log.summary().clone()).unwrap_or_default();
    let before = base.days.last();
    let mut days: ObservedDays = base.days.clone();
    if before != Some(day) {
        days.push(day);
    }
    let manifest = &after.manifest;
    let unfilled = unfilled(&base, manifest.instruments, &manifest.filled);
    let had_derivatives = base.has_derivatives;
    let summary = LogSummary {
        days,
        covered: base.covered.clone(),
        has_derivatives: base.has_derivatives || options.has_derivatives,
        is_whole: false,
        filled: manifest.filled.clone(),
        instruments: manifest.instruments,
        ..LogSummary::default()
    };
    let folder = after.path.join(PAST);
    fs::create_dir(&folder).map_err(Error::io(&folder))?;
    let mut writing = Writing {
        stated: Statements::of(after, &options.stated),
        first: summary.days.first().unwrap_or(day),
        had_derivatives,
        report: PastReport {
            unfilled: unfilled.iter().map(|column| column.name()).collect(),
            ..PastReport::default()
        },
        observation: Observation {
            day,
            before: before.unwrap_or(day),
            mend_days: options.mend_days.into(),
            unfilled,
        },
        lookup: LookupWriter::default(),
        earlier: LogWriter::create(folder.join(BEFORE_LOG), LogSummary { is_whole: true, ..base })?,
        log: LogWriter::create(folder.join(VERSIONS_LOG), summary)?,
    };
    match (before, log) {
        (Some(_), Some(log)) => {
            // Also in a second build of the day on which the past was taken over.
            let refused = (before == Some(day)).then(|| log.path());
            let carried = Carried {
                both: PairWalk::of(generation, after)?,
                records: Ahead::of(log)?,
                earlier: earlier.as_ref().map(Ahead::of).transpose()?,
                is_whole: exported.is_some(),
                refused,
            };
            writing.carry(carried)?;
        }
        _ => {
            writing.cover_all(after)?;
            writing.state_only(after)?;
        }
    }
    writing.finish(&folder, day)
}

/// Opens an exported past with which an index of `day` may begin.
///
/// # Errors
/// [`Error::PastDay`], [`Error::NotWholePast`], and the errors of [`PastLog::open`].
pub fn exported_past(path: &Path, day: Date) -> Result<PastLog> {
    let log = PastLog::open(path)?;
    match log.summary().is_whole {
        true => check_day(&log, day).map(|()| log),
        false => Err(Error::NotWholePast(path.to_owned())),
    }
}

/// Checks that a past does not end after a day.
fn check_day(log: &PastLog, day: Date) -> Result<()> {
    match log.summary().days.last() {
        Some(last) if last > day => Err(Error::PastDay { path: log.path().to_owned(), last, day }),
        _ => Ok(()),
    }
}

/// The columns that are more than a tenth less filled than on the day before.
fn unfilled(
    before: &LogSummary,
    instruments: u64,
    filled: &BTreeMap<String, u64>,
) -> Vec<PastColumn> {
    let is_lost = |column: &PastColumn| {
        let known = before.filled.get(column.name()).copied().unwrap_or(0);
        let expected =
            u128::from(known) * u128::from(instruments) / u128::from(before.instruments.max(1));
        let filled = filled.get(column.name()).copied().unwrap_or(0);
        let lost = expected.saturating_sub(filled.into());
        lost >= LOST_MIN.into() && lost * u128::from(LOSS_DIVISOR) > expected
    };
    PastColumn::all().filter(is_lost).collect()
}

/// The statements of operators, by the FIGI of the instrument.
struct Statements {
    /// Each with its place in [`PastOptions::stated`].
    by_figi: BTreeMap<Figi, Vec<(Retired, usize)>>,
    /// The places of those whose instrument no row and no version has.
    rest: BTreeSet<usize>,
}

impl Statements {
    fn of(after: &Generation, stated: &[(RetiredOf, Retired)]) -> Self {
        let (mut by_figi, mut rest) = (BTreeMap::<Figi, Vec<_>>::new(), BTreeSet::new());
        for (place, (owner, retired)) in stated.iter().enumerate() {
            let mut figis: Vec<Figi> = Vec::new();
            match owner {
                RetiredOf::Figi(figi) => figis.push(*figi),
                RetiredOf::Identifier(id_value) => {
                    let kind = KeyKind::Id(id_value.id_type());
                    for part in &after.parts {
                        let docs = part.identifiers.find(kind, id_value.as_str());
                        figis.extend(docs.map(|doc| part.rows.figi(doc)));
                    }
                }
            }
            if figis.is_empty() {
                rest.insert(place);
            }
            for figi in figis {
                by_figi.entry(figi).or_default().push((retired.clone(), place));
            }
        }
        Self { by_figi, rest }
    }

    /// The next FIGI of which something is stated.
    fn figi(&self) -> Option<Figi> {
        self.by_figi.keys().next().copied()
    }

    /// The statements about an instrument that count, in the order of their days. `is_known` says
    /// whether it has a row or versions; one that ended may never have had a row here.
    fn kept(&mut self, stated: Vec<(Retired, usize)>, is_known: bool) -> Vec<Retired> {
        let mut kept = Vec::new();
        for (retired, place) in stated {
            if is_known || retired.kind.ends_instrument() {
                kept.push(retired);
            } else {
                self.rest.insert(place);
            }
        }
        kept.sort_by(|a, b| (a.from, a.to, a).cmp(&(b.from, b.to, b)));
        kept.dedup();
        kept
    }
}

/// The past that is carried on.
struct Carried<'a> {
    both: PairWalk<'a>,
    records: Ahead<'a>,
    /// The versions before the day that is observed again.
    earlier: Option<Ahead<'a>>,
    /// Whether the log has every FIGI with its row.
    is_whole: bool,
    /// The past, if its last day is observed again and what was before that day is not known: the
    /// rows may not differ then.
    refused: Option<&'a Path>,
}

/// A past that is being written.
struct Writing {
    /// The stated identifiers that are not written yet.
    stated: Statements,
    /// The first day of the past.
    first: Date,
    /// Whether options, warrants and futures had a past on the day before.
    had_derivatives: bool,
    report: PastReport,
    observation: Observation,
    lookup: LookupWriter,
    /// The versions before the day, of the FIGIs that differ.
    earlier: LogWriter,
    log: LogWriter,
}

impl Writing {
    fn carry(&mut self, carried: Carried<'_>) -> Result<()> {
        let Carried { mut both, mut records, mut earlier, is_whole, refused } = carried;
        // Options that were there on earlier days have no record, and begin today.
        let is_any = is_whole || self.had_derivatives != self.log.summary.has_derivatives;
        loop {
            let was = earlier.as_ref().and_then(Ahead::figi);
            let next =
                [both.figi(), records.figi(), was, self.stated.figi()].into_iter().flatten().min();
            let Some(figi) = next else { return Ok(()) };
            let record = records.take(figi)?;
            let was = earlier.as_mut().map(|ahead| ahead.take(figi)).transpose()?.flatten();
            let stated = self.stated.by_figi.remove(&figi);
            let compared = match both.figi() {
                Some(at) if at == figi => {
                    let wants = record.is_some() || was.is_some() || stated.is_some();
                    both.step(is_any || wants)?
                }
                _ => Some(Compared { before: None, after: None }),
            };
            let Some(Compared { before, after }) = compared else { continue };
            let before = before.filter(|row| record.is_some() || self.had(row));
            let versions = match (was, record, &before) {
                (Some(was), ..) => was.versions(None),
                (None, Some(record), _) => record.versions(before.as_ref()),
                (None, None, Some(row)) => Versions::unchanged(row, self.first),
                (None, None, None) => Versions::none(figi),
            };
            let is_known = after.is_some() || !versions.are_none();
            let stated = self.stated.kept(stated.unwrap_or_default(), is_known);
            // A row that has a past keeps it, also when it becomes an option.
            let after = after.filter(|row| versions.open.is_some() || self.keeps(row));
            if let Some(row) = &after {
                self.cover(row);
            }
            let mut observed = self.observation.of(versions.clone(), after.as_ref());
            let versions = Versions { stated: stated.clone(), ..versions };
            observed.stated = stated;
            self.count_stated(&observed);
            if let Some(path) = refused.filter(|_| observed != versions) {
                return Err(Error::PastDiffers { path: path.to_owned(), figi });
            }
            self.count(&versions, &observed);
            if observed != versions {
                self.earlier.add(&versions, None)?;
            }
            // Without a record, a row that is an option now would seem to have no past.
            let is_left_out = after.as_ref().is_some_and(|row| !self.keeps(row));
            if is_left_out || !observed.is_plain(after.as_ref(), self.first) {
                self.log.add(&observed, after.as_ref())?;
                self.lookup.add(&observed, after.as_ref());
            }
        }
    }

    /// Writes what is stated on the first day of a past.
    fn state_only(&mut self, after: &Generation) -> Result<()> {
        while let Some((figi, stated)) = self.stated.by_figi.pop_first() {
            let row = after.instrument(figi)?;
            let stated = self.stated.kept(stated, row.is_some());
            if stated.is_empty() {
                continue;
            }
            // An option that has no past has none for what is stated of it, either.
            let row = row.filter(|row| self.keeps(row));
            let versions = match &row {
                Some(row) => Versions::unchanged(row, self.first),
                None => Versions::none(figi),
            };
            let versions = Versions { stated, ..versions };
            self.count_stated(&versions);
            self.log.add(&versions, row.as_ref())?;
            self.lookup.add(&versions, row.as_ref());
        }
        Ok(())
    }

    /// Enters every pair of market sector and exchange code as covered from this day on.
    fn cover_all(&mut self, after: &Generation) -> Result<()> {
        let mut rows = PairWalk::of(None, after)?;
        while rows.figi().is_some() {
            let row = rows.step(true)?.and_then(|compared| compared.after);
            if let Some(row) = row.filter(|row| self.keeps(row)) {
                self.cover(&row);
            }
        }
        Ok(())
    }

    /// Whether a row without a record had a past on the day before.
    fn had(&self, row: &Instrument) -> bool {
        self.had_derivatives || !is_derivative(row)
    }

    /// Whether a row without a past gets one.
    fn keeps(&self, row: &Instrument) -> bool {
        self.log.summary.has_derivatives || !is_derivative(row)
    }

    fn cover(&mut self, row: &Instrument) {
        let [sector, code] = [Property::MarketSecDes, Property::ExchCode]
            .map(|property| row.property(property).unwrap_or_default());
        let covered = &mut self.log.summary.covered;
        covered.entry(pair_of(sector, code)).or_insert(self.observation.day);
    }

    fn count_stated(&mut self, versions: &Versions) {
        self.report.stated += versions.stated.len() as u64;
        let is_contradicted = versions.is_contradicted(self.observation.day);
        self.report.contradicted += u64::from(is_contradicted);
    }

    fn count(&mut self, before: &Versions, after: &Versions) {
        let report = &mut self.report;
        // Versions that were mistakes may lie behind the one that ended.
        let [was, is] = [before, after].map(|versions| {
            let ends = versions.closed.iter().map(|version| version.end);
            ends.filter(|end| *end != VersionEnd::Revised).collect::<Vec<_>>()
        });
        let ended = is.last().filter(|_| is.len() > was.len());
        match ended {
            Some(VersionEnd::Gone) => report.went += 1,
            Some(VersionEnd::Expired) => report.expired += 1,
            Some(VersionEnd::Replaced) => report.replaced += 1,
            Some(VersionEnd::Revised) | None => {
                let was = before.open.as_ref().map(|open| open.first);
                match (was, after.open.as_ref().map(|open| open.first)) {
                    (None, Some(first)) if first == self.observation.day => report.came += 1,
                    (was, Some(first)) if was != Some(first) => report.mended += 1,
                    _ => {}
                }
            }
        }
    }

    fn finish(mut self, folder: &Path, day: Date) -> Result<(PastEntry, PastReport)> {
        self.report.not_stated = self.stated.rest.into_iter().collect();
        self.earlier.finish()?;
        let summary = self.log.finish()?;
        self.lookup.finish(&folder.join(LOOKUP))?;
        let names = [BEFORE_LOG, LOOKUP, VERSIONS_LOG].map(|name| {
            let name = FileName::try_from(name.to_owned());
            let name = name.expect("the names of the past are names of files");
            sync(&folder.join(name.as_str()))?;
            FileEntry::of(folder, name)
        });
        let files = names.into_iter().collect::<Result<Vec<_>>>()?;
        sync(folder)?;
        let entry = PastEntry {
            since: summary.days.first().unwrap_or(day),
            until: day,
            days: summary.days.count(),
            versions: summary.versions,
            stated: self.report.stated,
            files,
        };
        Ok((entry, self.report))
    }
}
