//! The FIGIs of one question that have a record in the log, and how the row of each was on a day.

use std::collections::BTreeMap;

use crate::catalogue::Catalogue;
use crate::catalogue::lookup::{LastConditions, Located};
use crate::catalogue::resolve::Found;
use crate::error::Result;
use crate::generation::past::column::{PastColumn, image_of};
use crate::generation::past::log::{LogRecord, UnpackedBlocks};
use crate::generation::past::lookup::Settled;
use crate::generation::past::stated::Retired;
use crate::generation::past::{OpenVersion, Past, Version, VersionEnd, Versions};
use crate::instrument::Instrument;
use crate::instrument::date::Date;
use crate::instrument::figi::Figi;
use crate::instrument::id_type::{IdType, IdValue};
use crate::instrument::vocabulary::Known;
use crate::meter::{Meter, TakesMore};
use crate::query::{Filters, Lookup};
use crate::search::{Hit, RowSource as _};

/// The units of work of looking whether a row of today has a past, and passes filters.
const REFUSED_UNITS: u64 = 40;

/// The units of work of finding the owners of an identifier.
const OWNERS_UNITS: u64 = 20;

/// The units of work of reading the versions of a FIGI: a block of the log is unpacked.
const RECORD_UNITS: u64 = 2_000;

/// The most FIGIs that had an identifier, of which the versions are read. An identifier that more
/// had is invalid for questions about the past.
pub(super) const OWNERS_MAX: usize = 1_000;

/// The side from which a day between two versions is seen.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Neighbour {
    Earlier,
    Later,
}

/// The first and the last day of a version, and the columns that were filled later than on its first
/// day. An open version has no last day.
pub(super) type VersionDays<'a> = (Date, Option<Date>, &'a [(PastColumn, Date)]);

/// The records that a question needs, and how much of them.
#[derive(Clone, Copy)]
pub(super) struct Wanted {
    /// Whether the rows of open versions are read although they are those of today. To read a whole
    /// row takes far longer than to look at it.
    pub(super) has_open_rows: bool,
    /// The records of FIGIs that are settled on this day are not read.
    pub(super) settled_on: Option<Date>,
}

impl Wanted {
    /// All records, with all rows.
    pub(super) const ALL: Self = Self { has_open_rows: true, settled_on: None };

    /// The records that a question about a day needs. A filter by a number compares those of today,
    /// which only a whole row has.
    pub(super) fn on(day: Date, lookups: &[Lookup<'_>]) -> Self {
        let mut filters = lookups.iter().filter_map(Lookup::filters);
        let has_open_rows = filters.any(|filters| filters.numbers.iter().any(Option::is_some));
        Self { has_open_rows, settled_on: Some(day) }
    }
}

/// Reads the records of the log for the questions of one list.
pub(super) struct LogReader<'a> {
    catalogue: &'a Catalogue,
    pub(super) past: &'a Past,
    pub(super) meter: &'a Meter,
    unpacked: UnpackedBlocks,
    /// For each part, the conditions of the last lookup.
    conditions: Vec<LastConditions<'a>>,
}

impl<'a> LogReader<'a> {
    pub(super) fn new(catalogue: &'a Catalogue, past: &'a Past, meter: &'a Meter) -> Self {
        let (unpacked, conditions) = (UnpackedBlocks::default(), catalogue.last_conditions());
        Self { catalogue, past, meter, unpacked, conditions }
    }

    /// Whether a row of today passes the filters of a lookup.
    pub(super) fn pass(&mut self, hit: Hit, lookup: &'a Lookup<'_>) -> Result<bool, TakesMore> {
        let conditions = &mut self.conditions[hit.part as usize];
        Ok(conditions.of(lookup.filters(), self.meter)?.pass(hit.doc))
    }

    /// The record of a FIGI.
    fn record(&mut self, figi: Figi) -> Result<Option<LogRecord>> {
        self.meter.charge(RECORD_UNITS)?;
        self.past.log.get_by(figi, &mut self.unpacked)
    }

    /// A row of today, with all columns.
    fn instrument(&self, hit: Hit) -> Result<Instrument> {
        self.meter.charge(self.catalogue.units_of_instrument(hit))?;
        self.catalogue.instrument(hit)
    }
}

/// The FIGIs of a question that have a record in the log.
pub(super) struct Timelines<'a> {
    wanted: Wanted,
    by_figi: BTreeMap<Figi, Timeline<'a>>,
    /// The FIGIs whose records were not read, and the day since which each is settled.
    settled: BTreeMap<Figi, Date>,
}

/// A FIGI that has a record in the log.
pub(super) struct Timeline<'a> {
    pub(super) versions: Versions,
    /// The row of today.
    pub(super) today: Option<Found<'a>>,
    /// All columns of the row of today, if they were read.
    row: Option<Instrument>,
    /// Whether the row of the open version is that of today, and was not read.
    pub(super) is_as_today: bool,
    /// The row of today of a FIGI that has no past, such as an option; the little that is known of
    /// a FIGI that never had a row.
    bare: Instrument,
}

impl<'a> Timelines<'a> {
    pub(super) fn new(wanted: Wanted) -> Self {
        let (by_figi, settled) = Default::default();
        Self { wanted, by_figi, settled }
    }

    /// The number of FIGIs with a record.
    pub(super) fn len(&self) -> usize {
        self.by_figi.len() + self.settled.len()
    }

    /// The FIGIs whose records were read.
    pub(super) fn all(&self) -> impl Iterator<Item = &Timeline<'a>> {
        self.by_figi.values()
    }

    /// The timeline of a FIGI, if its record was read.
    pub(super) fn of(&self, figi: Figi) -> Option<&Timeline<'a>> {
        self.by_figi.get(&figi)
    }

    /// The day since which a FIGI is settled, if its record was not read for that.
    pub(super) fn settled_since(&self, figi: Figi) -> Option<Date> {
        self.settled.get(&figi).copied()
    }

    /// Whether records were not read, since their FIGIs are settled.
    pub(super) fn has_settled(&self) -> bool {
        !self.settled.is_empty()
    }

    /// Reads the versions of a FIGI, if it has a record.
    pub(super) fn read(&mut self, figi: Figi, log: &mut LogReader<'a>) -> Result<()> {
        let Some(Settled { since }) = log.past.lookup.record(figi) else { return Ok(()) };
        // One more shows that there are too many.
        if self.by_figi.contains_key(&figi) || self.len() > OWNERS_MAX {
            return Ok(());
        }
        if let (Some(since), Some(day)) = (since, self.wanted.settled_on)
            && since <= day
        {
            self.settled.insert(figi, since);
            return Ok(());
        }
        let Some(record) = log.record(figi)? else { return Ok(()) };
        let today = log.catalogue.find(figi);
        let is_as_today = !self.wanted.has_open_rows && today.is_some() && record.is_open_as_row();
        let row = today.filter(|_| !is_as_today).map(|hit| log.instrument(hit)).transpose()?;
        let today = today.map(|hit| Found { part: log.catalogue.part(hit), hit });
        let versions = record.versions(row.as_ref());
        let bare = match &row {
            Some(row) if versions.are_none() => image_of(row),
            _ => bare(&versions),
        };
        self.by_figi.insert(figi, Timeline { versions, today, row, is_as_today, bare });
        Ok(())
    }

    /// Reads the versions of the FIGIs that had the identifier of a lookup.
    pub(super) fn read_owners(
        &mut self,
        lookup: &Lookup<'_>,
        log: &mut LogReader<'a>,
    ) -> Result<()> {
        log.meter.charge(OWNERS_UNITS)?;
        let key = &lookup.id_value;
        let figis: Vec<Figi> = match key.id_type() {
            IdType::BbGlobal => Figi::parse(key.as_str()).into_iter().collect(),
            _ => log.past.lookup.owners(key).take(OWNERS_MAX + 1).collect(),
        };
        figis.into_iter().try_for_each(|figi| self.read(figi, log))
    }

    /// Reads the versions of the FIGIs that have the identifier of a lookup and do not pass its
    /// filters: rows as they were may have passed. `located` has the lookup at `place`.
    pub(super) fn read_refused(
        &mut self,
        lookup: &'a Lookup<'_>,
        (located, place): (&Located<'_>, usize),
        log: &mut LogReader<'a>,
    ) -> Result<()> {
        for hit in located.unfiltered(place).take(OWNERS_MAX + 1) {
            log.meter.charge(REFUSED_UNITS)?;
            let figi = log.catalogue.row(hit).figi();
            if log.past.lookup.has(figi) && !log.pass(hit, lookup)? {
                self.read(figi, log)?;
            }
        }
        Ok(())
    }

    /// Whether it is stated that a FIGI had the identifier of a lookup on a day.
    pub(super) fn are_stated(&self, lookups: &[Lookup<'_>], day: Date) -> bool {
        lookups.iter().any(|lookup| {
            self.all()
                .any(|timeline| matches!(timeline.stated_on(&lookup.id_value, day), Some(Some(_))))
        })
    }

    /// Whether each FIGI has the same row from both sides of a day.
    pub(super) fn are_certain(&self, day: Date, past: &Past) -> bool {
        self.all().all(|timeline| {
            let [earlier, later] =
                [Neighbour::Earlier, Neighbour::Later].map(|side| timeline.on(day, side, past));
            match (earlier, later) {
                (Some(earlier), Some(later)) => std::ptr::eq(earlier, later),
                (None, None) => true,
                _ => false,
            }
        })
    }
}

impl<'a> Timeline<'a> {
    /// The closed versions that questions see, in the order of their days.
    pub(super) fn closed(&self) -> impl DoubleEndedIterator<Item = &Version> {
        self.versions.closed.iter().filter(|version| version.end != VersionEnd::Revised)
    }

    /// The row on a day. Before the first and after the last observed day of a gap, it is the
    /// neighbour on that side.
    pub(super) fn on(&self, day: Date, side: Neighbour, past: &Past) -> Option<&Instrument> {
        if self.is_without_past() {
            return Some(&self.bare);
        }
        let days = &past.summary().days;
        if let Some(open) = self.versions.open.as_ref().filter(|open| open.first <= day) {
            return Some(&open.image);
        }
        let before = self.closed().rfind(|version| version.first <= day);
        if let Some(version) = before.filter(|version| day <= version.last) {
            return Some(&version.image);
        }
        let open = self.versions.open.as_ref().map(|open| (open.first, &open.image));
        let after = self.closed().find(|version| version.first > day);
        let after = after.map(|version| (version.first, &version.image)).or(open);
        match (before, after) {
            // It was there all the time, and became the next version on an unknown day.
            (Some(before), Some((_, after))) if before.end == VersionEnd::Replaced => {
                Some(if side == Neighbour::Earlier { &before.image } else { after })
            }
            (before, after) => match side {
                // Perhaps it was still there.
                Neighbour::Earlier => {
                    let is_before_absence = |version: &&Version| {
                        days.after(version.last).is_none_or(|absent| day < absent)
                    };
                    before.filter(is_before_absence).map(|version| &version.image)
                }
                // Perhaps it was there already.
                Neighbour::Later => {
                    let is_after_absence = |(first, _): &(Date, _)| {
                        days.before(*first).is_none_or(|absent| absent < day)
                    };
                    after.filter(is_after_absence).map(|(_, image)| image)
                }
            },
        }
    }

    /// Whether the FIGI has a row that has no past, such as an option. Something is only stated of
    /// it.
    pub(super) fn is_without_past(&self) -> bool {
        self.versions.are_none() && self.today.is_some()
    }

    /// Whether the row of today has the identifier of a lookup, and passes its filters.
    pub(super) fn passes_now(&self, lookup: &Lookup<'_>, past: &Past) -> bool {
        self.row.as_ref().is_some_and(|row| self.passes(row, lookup, past))
    }

    /// Whether the row was observed before and after a day without a change between, or on it.
    pub(super) fn was_observed(&self, day: Date) -> bool {
        self.versions.open.as_ref().is_some_and(|open| open.first <= day)
            || self.closed().any(|version| version.first <= day && day <= version.last)
    }

    /// The last row that the FIGI had.
    pub(super) fn last_image(&self) -> &Instrument {
        self.images().last().unwrap_or(&self.bare)
    }

    /// The statements about an identifier. About the own FIGI of one that never had a row all of
    /// them: it is known by these only.
    pub(super) fn stated(&self, key: &IdValue<'_>) -> impl Iterator<Item = &Retired> {
        let stated = self.versions.stated.iter();
        let is_own = key.id_type() == IdType::BbGlobal && self.bare.has_key(key);
        let are_all = is_own && self.versions.are_none() && self.today.is_none();
        stated.filter(move |retired| {
            let id_value = &retired.id_value;
            are_all || (id_value.id_type() == key.id_type() && id_value.as_str() == key.as_str())
        })
    }

    /// The statements about an identifier and a day: that the FIGI had it, or `Some(None)` that it had
    /// not; `None` when nothing is stated of the identifier.
    pub(super) fn stated_on(&self, key: &IdValue<'_>, day: Date) -> Option<Option<&Retired>> {
        let mut stated = self.stated(key).peekable();
        stated.peek()?;
        Some(stated.find(|retired| retired.holds(day)))
    }

    /// The last of the statements about an identifier.
    pub(super) fn last_stated(&self, key: &IdValue<'_>) -> Option<&Retired> {
        self.stated(key).max_by_key(|retired| (retired.end(), retired.from))
    }

    /// All rows that the FIGI had, but for one that was not read.
    pub(super) fn images(&self) -> impl Iterator<Item = &Instrument> {
        let open = self.versions.open.iter().map(|open| &open.image);
        let open = open.filter(|_| !self.is_as_today);
        self.closed().map(|version| &version.image).chain(open)
    }

    /// Whether this is the row of the open version, which was not read since it is that of today.
    pub(super) fn is_unread(&self, image: &Instrument) -> bool {
        let mut open = self.versions.open.iter();
        self.is_as_today && open.any(|open| std::ptr::eq(&open.image, image))
    }

    /// Whether a row had the identifier of a lookup, and passes its filters.
    pub(super) fn passes(&self, image: &Instrument, lookup: &Lookup<'_>, past: &Past) -> bool {
        image.has_key(&lookup.id_value) && self.is_admitted(image, lookup, past)
    }

    /// Whether a row passes the filters of a lookup.
    pub(super) fn is_admitted(&self, image: &Instrument, lookup: &Lookup<'_>, past: &Past) -> bool {
        let numbers = self.row.as_ref().map(Instrument::filter_numbers).unwrap_or_default();
        let text = |known: Known| past.vocabulary.text(known);
        let default = Filters::default();
        lookup.filters().unwrap_or(&default).admit(image, numbers, text)
    }

    /// The first day after another one on which a row begins that questions see.
    pub(super) fn first_after(&self, day: Date) -> Option<Date> {
        let open = self.versions.open.iter().map(|open| open.first);
        self.closed().map(|version| version.first).chain(open).find(|first| *first > day)
    }

    /// The instrument that took the place of this one, if one is stated.
    pub(super) fn successor(&self) -> Option<Figi> {
        self.versions.stated.iter().rev().find_map(|retired| retired.successor)
    }

    /// The days on which the FIGI had an image, and the days on which a column was learned; `None`
    /// for a FIGI that never had a row.
    pub(super) fn days(&self, image: &Instrument) -> Option<VersionDays<'_>> {
        let closed = self.versions.closed.iter();
        let mut closed = closed.filter(|version| std::ptr::eq(&version.image, image));
        match (closed.next(), &self.versions.open) {
            (Some(Version { first, last, learned, .. }), _) => Some((*first, Some(*last), learned)),
            (None, Some(OpenVersion { first, learned, image: open }))
                if std::ptr::eq(open, image) =>
            {
                Some((*first, None, learned))
            }
            _ => None,
        }
    }
}

/// A FIGI that never had a row, with all that is known of it: the identifiers that are stated.
fn bare(versions: &Versions) -> Instrument {
    let mut bare = Instrument::new(versions.figi);
    for Retired { id_value, .. } in &versions.stated {
        match id_value.id_type() {
            IdType::Ticker => bare.ticker = Some(id_value.as_str().to_owned()),
            _ => bare.identifiers.push(id_value.clone()),
        }
    }
    bare
}
