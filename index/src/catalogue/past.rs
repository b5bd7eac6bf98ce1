//! Questions about the past: the versions of a FIGI, the former rows of an identifier that no row
//! has now, and lists as of a day.
//!
//! A version is certain from its first to its last day. Between the last day of one and the first
//! day of the next, either may have been the row. So a list is decided twice for a day: with the
//! earlier row of each FIGI, and with the later one. If both decisions name the same row, it is
//! meant. On a day that was observed both are the same.

use std::borrow::Borrow;
use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::Catalogue;
use super::lookup::{LastConditions, Located};
use super::resolve::{Found, QUESTIONS_AT_ONCE};
use crate::error::Result;
use crate::generation::past::column::PastColumn;
use crate::generation::past::log::{UnpackedBlocks, pair_of};
use crate::generation::past::lookup::Settled;
use crate::generation::past::stated::Retired;
use crate::generation::past::{OpenVersion, Past, Version, VersionEnd, Versions};
use crate::instrument::Instrument;
use crate::instrument::attribute::Attribute;
use crate::instrument::date::Date;
use crate::instrument::figi::Figi;
use crate::instrument::id_type::{IdType, IdValue};
use crate::instrument::markets::home;
use crate::instrument::vocabulary::{Known, Property, Vocabularies, Vocabulary};
use crate::meter::{Meter, TakesMore};
use crate::query::{Filters, Lookup};
use crate::resolve::decide::{Decision, decide};
use crate::resolve::name_like::SoughtName;
use crate::resolve::past::{Basis, Coverage, PastRow, WasRow};
use crate::resolve::policy::{Candidate, Policy};
use crate::resolve::question::Question;
use crate::resolve::resolution::{Resolution, ResolveBounds, Status};
use crate::search::{Hit, RowSource as _};

/// The units of work of finding the owners of an identifier.
const OWNERS_UNITS: u64 = 20;

/// The units of work of reading the versions of a FIGI: a block of the log.
const RECORD_UNITS: u64 = 5_000;

/// The units of work of reading all columns of a row of today: a block of the extras.
const INSTRUMENT_UNITS: u64 = 10_000;

/// The units of work of copying a row.
const ROW_UNITS: u64 = 10;

/// The most rows as they were of all identifiers of a list together. Each is a whole row in memory.
/// Identifiers beyond them are invalid, with [`Resolution::is_beyond_rows`].
pub const PAST_ROWS_MAX: usize = 20_000;

/// The most rows as they were of one identifier, whatever the bounds of the answer.
pub const PAST_CANDIDATES_MAX: usize = 100;

/// The most rows that an identifier may have meant on an uncertain day.
const UNCERTAIN_MAX: usize = 10;

/// The most other FIGIs that had an identifier earlier.
pub const FORMERLY_MAX: usize = 10;

/// The most FIGIs that had an identifier, of which the versions are read. An identifier that more
/// had is invalid for questions about the past.
const OWNERS_MAX: usize = 1_000;

impl Catalogue {
    /// The values that rows have or had, by which filters and steps of questions about the past are
    /// read; those of today without a past.
    pub fn past_vocabulary(&self) -> &Vocabulary {
        self.generation.past.as_ref().map_or(self.vocabulary(), |past| &past.vocabulary)
    }

    /// The values of the rows, and those that rows had.
    pub fn vocabularies(&self) -> Vocabularies<'_> {
        Vocabularies { today: self.vocabulary(), past: self.past_vocabulary() }
    }

    /// The days that the past covers; `None` without a past.
    pub fn coverage(&self) -> Option<Coverage> {
        let entry = self.manifest().past.as_ref()?;
        Some(Coverage { since: entry.since, until: entry.until })
    }

    /// All versions of a FIGI. `None` without a past, and for a FIGI that was never observed or
    /// whose past is not kept.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn versions(&self, figi: Figi) -> Result<Option<Versions>> {
        let Some(past) = &self.generation.past else { return Ok(None) };
        let row = self.find(figi).map(|hit| self.instrument(hit)).transpose()?;
        let record = match past.lookup.has(figi) {
            true => past.log.get(figi)?,
            false => None,
        };
        Ok(match (record, row) {
            (Some(record), row) => Some(record.versions(row.as_ref())),
            (None, Some(row)) if past.keeps(&row) => {
                let first = past.summary().days.first();
                first.map(|first| Versions::unchanged(&row, first))
            }
            (None, _) => None,
        })
    }

    /// The first day on which the dumps had rows of the market sector and the exchange code of a
    /// row; before it, nothing can be said of such rows.
    pub fn covered_since(&self, row: &Instrument) -> Option<Date> {
        let past = self.generation.past.as_ref()?;
        let [sector, code] = [Property::MarketSecDes, Property::ExchCode]
            .map(|property| row.property(property).unwrap_or_default());
        let pair = past.summary().covered.get(&pair_of(sector, code)).copied();
        pair.or_else(|| past.summary().days.first())
    }

    /// Adds what the past knows of identifiers that no row has now: the status of an unknown one
    /// becomes [`Status::Historical`], [`Status::Gone`] or, if several securities had it,
    /// [`Status::Ambiguous`]. Without a past nothing changes. `resolutions` are the results of
    /// `questions`.
    ///
    /// # Errors
    /// [`crate::Error::TakesMore`], and when a file cannot be read.
    pub fn add_former<'q>(
        &self,
        questions: &[impl Borrow<Question<'q>>],
        resolutions: &mut [Resolution],
        policy: &Policy,
        bounds: ResolveBounds,
        meter: &Meter,
    ) -> Result<()> {
        let Some(past) = &self.generation.past else { return Ok(()) };
        let mut left = PAST_ROWS_MAX;
        for (question, resolution) in questions.iter().zip(resolutions) {
            if resolution.status == Status::Unknown
                && let Some(former) = self.former(past, question.borrow(), policy, bounds, meter)?
            {
                *resolution = within(former, &mut left);
            }
        }
        Ok(())
    }

    /// Adds the other FIGIs that had an identifier earlier, up to [`FORMERLY_MAX`] each, the last
    /// one first: for the readings of an identifier by which rows were found. Without a past nothing
    /// changes. `resolutions` are the results of `questions`.
    ///
    /// # Errors
    /// [`crate::Error::TakesMore`], and when a file cannot be read.
    pub fn add_formerly<'q>(
        &self,
        questions: &[impl Borrow<Question<'q>>],
        resolutions: &mut [Resolution],
        meter: &Meter,
    ) -> Result<()> {
        let Some(past) = &self.generation.past else { return Ok(()) };
        let mut left = PAST_ROWS_MAX;
        for (question, resolution) in questions.iter().zip(resolutions) {
            let is_asked = matches!(resolution.status, Status::Resolved(_) | Status::Ambiguous(_));
            if is_asked && resolution.past.is_empty() {
                let mut formerly = self.formerly(past, question.borrow(), resolution, meter)?;
                formerly.truncate(FORMERLY_MAX.min(left));
                left -= formerly.len();
                resolution.formerly = formerly;
            }
        }
        Ok(())
    }

    fn formerly(
        &self,
        past: &Past,
        question: &Question<'_>,
        resolution: &Resolution,
        meter: &Meter,
    ) -> Result<Vec<PastRow>> {
        let mut timelines = Timelines::new(self, past, Wanted::ALL);
        let mut unpacked = UnpackedBlocks::default();
        let lookups = question.lookups.iter();
        let taken = lookups.filter(|it| resolution.id_types.contains(&it.id_value.id_type()));
        let taken: Vec<&Lookup<'_>> = taken.collect();
        for lookup in &taken {
            timelines.read_owners(lookup, &mut unpacked, meter)?;
        }
        let today: Vec<Figi> = resolution.hits.iter().map(|hit| self.row(*hit).figi()).collect();
        let mut rows: BTreeMap<Figi, PastRow> = BTreeMap::new();
        for lookup in taken {
            for timeline in timelines.owners(lookup) {
                let last = timeline.last(lookup, past);
                let Some(was) = last.filter(|was| !today.contains(&was.image.figi)) else {
                    continue;
                };
                let row = || was.former(lookup.id_value.id_type(), question, past);
                rows.entry(was.image.figi).or_insert_with(row);
            }
        }
        let mut rows: Vec<PastRow> = rows.into_values().collect();
        // A row that only lacks the value now comes first.
        rows.sort_by_key(|row| Reverse((row.valid_to.is_none(), row.valid_to)));
        Ok(rows)
    }

    fn former(
        &self,
        past: &Past,
        question: &Question<'_>,
        policy: &Policy,
        bounds: ResolveBounds,
        meter: &Meter,
    ) -> Result<Option<Resolution>> {
        let mut timelines = Timelines::new(self, past, Wanted::ALL);
        let mut unpacked = UnpackedBlocks::default();
        let mut found = Vec::new();
        for lookups in [question.surest(), question.fallbacks()] {
            for lookup in lookups {
                timelines.read_owners(lookup, &mut unpacked, meter)?;
            }
        }
        let timelines = &timelines;
        for lookups in [question.surest(), question.fallbacks()] {
            for lookup in lookups {
                let mut rows = Vec::new();
                for timeline in timelines.owners(lookup) {
                    rows.extend(timeline.last(lookup, past).map(AsOf::Was));
                }
                found.push((lookup.id_value.id_type(), rows));
            }
            if found.iter().any(|(_, rows)| !rows.is_empty()) {
                break;
            }
        }
        let most = bounds.candidates_max.min(PAST_CANDIDATES_MAX);
        let mut name = question.name_like().map(SoughtName::new);
        let isin = question.asked_isin();
        let decision = decide(found, policy, isin, name.as_mut(), most, meter)?;
        let past_row = |row: AsOf<'_>, id_type: IdType| match row {
            AsOf::Was(row) => row.former(id_type, question, past),
            AsOf::Is { .. } => unreachable!("former rows are of the past"),
        };
        Ok(match decision {
            Decision::NotFound => None,
            Decision::Resolved { id_type, row, .. } => {
                let row = past_row(row, id_type);
                let status = match row.today {
                    Some(_) => Status::Historical,
                    None => Status::Gone,
                };
                let past = vec![row];
                Some(Resolution { past, ..Resolution::new(status, vec![id_type], Vec::new()) })
            }
            Decision::Ambiguous { id_types, matches, rows, is_name_like } => {
                let first = id_types[0];
                let past = rows.into_iter().map(|row| past_row(row, first)).collect();
                let status = Status::Ambiguous(matches);
                let ambiguous = Resolution::new(status, id_types, Vec::new());
                Some(Resolution { past, is_name_like, ..ambiguous })
            }
        })
    }

    /// Resolves identifiers as of a day each, in their order, by rows as they were. The hits of a
    /// result are the rows of its FIGIs now.
    ///
    /// # Errors
    /// [`crate::Error::TakesMore`], and when a file cannot be read.
    pub fn resolve_as_of<'q>(
        &self,
        questions: &[(impl Borrow<Question<'q>>, Date)],
        policy: &Policy,
        bounds: ResolveBounds,
        meter: &Meter,
    ) -> Result<Vec<Resolution>> {
        let Some(past) = &self.generation.past else {
            let reason = "this index keeps no past (build it with --history)";
            let status = Status::Invalid(reason.into());
            let none = Resolution::new(status, Vec::new(), Vec::new());
            return Ok(vec![none; questions.len()]);
        };
        let bounds = ResolveBounds {
            candidates_max: bounds.candidates_max.min(PAST_CANDIDATES_MAX),
            ..bounds
        };
        let mut past_left = PAST_ROWS_MAX;
        let left = bounds.rows_max;
        let unpacked = UnpackedBlocks::default();
        let conditions = self.last_conditions();
        let mut asked = AskedAsOf { past, policy, bounds, left, unpacked, conditions, meter };
        let mut resolutions = Vec::with_capacity(questions.len());
        for some in questions.chunks(QUESTIONS_AT_ONCE) {
            let lookups = some.iter().flat_map(|(question, _)| &question.borrow().lookups);
            let lookups: Vec<Lookup<'_>> = lookups.map(Lookup::without_filters).collect();
            let mut located = self.locate(&lookups, meter)?;
            let mut first = 0;
            for (question, day) in some {
                let question = question.borrow();
                let found = (&mut located, first);
                first += question.lookups.len();
                let resolution = self.as_of(&mut asked, question, *day, found)?;
                resolutions.push(within(resolution, &mut past_left));
            }
        }
        Ok(resolutions)
    }

    /// Decides a question as of a day. `located` has the rows of today of its lookups from `first`
    /// on, whatever the filters.
    fn as_of<'a>(
        &'a self,
        asked: &mut AskedAsOf<'a>,
        question: &'a Question<'_>,
        day: Date,
        (located, first): (&mut Located<'_>, usize),
    ) -> Result<Resolution> {
        let AskedAsOf { past, policy, bounds, ref mut left, ref mut unpacked, .. } = *asked;
        let (conditions, meter) = (&mut asked.conditions, asked.meter);
        let new = |status, id_types| Resolution::new(status, id_types, Vec::new());
        let Some(coverage) = self.coverage() else { unreachable!("a past covers days") };
        if let Some(fault) = question.fault.as_ref().filter(|_| question.is_invalid_unfound())
            && question.lookups.is_empty()
        {
            return Ok(new(Status::Invalid(fault.reason.clone().into()), Vec::new()));
        }
        let wanted = Wanted::on(day, &question.lookups);
        let mut timelines = Timelines::new(self, past, wanted);
        let mut today: Vec<Vec<Hit>> = Vec::with_capacity(question.lookups.len());
        for (place, lookup) in question.lookups.iter().enumerate() {
            let mut hits = Vec::new();
            let most = bounds.identifier_rows_max.min(*left);
            if located.find(first + place, most, &mut hits)?.is_err() {
                let status = Status::Invalid(format!("it has more than {most} rows").into());
                let is_beyond_rows = most < bounds.identifier_rows_max;
                return Ok(Resolution { is_beyond_rows, ..new(status, Vec::new()) });
            }
            *left -= hits.len();
            for hit in &hits {
                timelines.read(self.row(*hit).figi(), unpacked, meter)?;
            }
            timelines.read_owners(lookup, unpacked, meter)?;
            today.push(hits);
        }
        let timelines = &timelines;
        if timelines.len() > OWNERS_MAX {
            let status =
                Status::Invalid(format!("more than {OWNERS_MAX} FIGIs have or had it").into());
            return Ok(new(status, Vec::new()));
        }
        let is_covered = (coverage.since..=coverage.until).contains(&day);
        if !is_covered && !timelines.are_stated(&question.lookups, day) {
            return Ok(new(Status::OutOfCoverage(coverage), Vec::new()));
        }
        let seen = Seen { day, is_covered };
        let isin = question.asked_isin();
        let mut decided = |side: Neighbour| {
            let mut found: Vec<(IdType, Vec<AsOf<'_>>)> = Vec::new();
            for (place, lookup) in question.lookups.iter().enumerate() {
                if place == question.surest().len() && found.iter().any(|one| !one.1.is_empty()) {
                    break;
                }
                let of = (lookup, &today[place][..]);
                let rows = self.on_day(past, timelines, of, (seen, side), conditions, meter)?;
                found.push((lookup.id_value.id_type(), rows));
            }
            let mut name = question.name_like().map(SoughtName::new);
            decide(found, policy, isin, name.as_mut(), bounds.candidates_max, meter)
        };
        let earlier = decided(Neighbour::Earlier)?;
        let later = match !is_covered || timelines.are_certain(day) {
            true => None,
            false => Some(decided(Neighbour::Later)?),
        };
        let rows = |decision: &Decision<AsOf<'_>>| -> Result<Vec<PastRow>> {
            let (id_type, rows) = match decision {
                Decision::NotFound => return Ok(Vec::new()),
                Decision::Resolved { id_type, row, .. } => (*id_type, std::slice::from_ref(row)),
                Decision::Ambiguous { id_types, rows, .. } => (id_types[0], &rows[..]),
            };
            rows.iter().map(|row| row.past_row(past, id_type, day, meter)).collect()
        };
        let with = |status, id_types: Vec<IdType>, past: Vec<PastRow>| {
            let hits = past.iter().filter_map(|row| row.today).collect();
            Resolution { past, ..Resolution::new(status, id_types, hits) }
        };
        if let Some(later) = &later
            && meant(&earlier) != meant(later)
        {
            let mut both = rows(&earlier)?;
            let more = rows(later)?;
            let known: Vec<Figi> = both.iter().map(|row| row.figi).collect();
            both.extend(more.into_iter().filter(|row| !known.contains(&row.figi)));
            both.truncate(UNCERTAIN_MAX);
            let id_types = id_types_of(&earlier).or(id_types_of(later)).unwrap_or_default();
            return Ok(with(Status::Uncertain, id_types, both));
        }
        Ok(match earlier {
            Decision::NotFound => {
                // A row that is settled now may have had the identifier earlier.
                let mut all = Timelines::new(self, past, Wanted { settled_on: None, ..wanted });
                for (lookup, hits) in question.lookups.iter().zip(&today) {
                    for hit in hits.iter().filter(|_| !timelines.settled.is_empty()) {
                        all.read(self.row(*hit).figi(), unpacked, meter)?;
                    }
                    if !timelines.settled.is_empty() {
                        all.read_owners(lookup, unpacked, meter)?;
                    }
                }
                let timelines = if timelines.settled.is_empty() { timelines } else { &all };
                let mut since = None;
                for (lookup, hits) in question.lookups.iter().zip(&today) {
                    let known = self.known_since(timelines, lookup, hits, conditions, meter)?;
                    since = since.into_iter().chain(known).min();
                }
                match (since, &question.fault) {
                    (Some(since), _) if day < since => {
                        new(Status::OutOfCoverage(Coverage { since, ..coverage }), Vec::new())
                    }
                    (_, Some(fault)) if question.is_invalid_unfound() => {
                        new(Status::Invalid(fault.reason.clone().into()), Vec::new())
                    }
                    _ => new(Status::Unknown, Vec::new()),
                }
            }
            Decision::Resolved { id_type, by, .. } => {
                with(Status::Resolved(by), vec![id_type], rows(&earlier)?)
            }
            Decision::Ambiguous { ref id_types, matches, is_name_like, .. } => {
                let id_types = id_types.clone();
                let ambiguous = with(Status::Ambiguous(matches), id_types, rows(&earlier)?);
                Resolution { is_name_like, ..ambiguous }
            }
        })
    }

    /// The rows that had an identifier on a day and passed its filters.
    fn on_day<'a, 'c>(
        &'a self,
        past: &'a Past,
        timelines: &'a Timelines<'a>,
        (lookup, today): (&'c Lookup<'_>, &[Hit]),
        (seen, side): (Seen, Neighbour),
        conditions: &mut [LastConditions<'c>],
        meter: &Meter,
    ) -> Result<Vec<AsOf<'a>>, TakesMore> {
        let Seen { day, is_covered } = seen;
        let mut rows = Vec::new();
        for hit in today.iter().filter(|_| is_covered) {
            let figi = self.row(*hit).figi();
            let began = match (timelines.by_figi.get(&figi), timelines.settled.get(&figi)) {
                (None, None) => Began::OnFirstDay,
                (None, Some(since)) => Began::Settled(*since),
                (Some(timeline), _) => {
                    match (timeline.on(day, side, past), &timeline.versions.open) {
                        (Some(image), Some(open)) if timeline.is_unread(image) => Began::Open(open),
                        _ => continue,
                    }
                }
            };
            if conditions[hit.part as usize].of(lookup.filters(), meter)?.pass(hit.doc) {
                let found = Found { part: self.part(*hit), hit: *hit };
                rows.push(AsOf::Is { found, began });
            }
        }
        for timeline in timelines.by_figi.values() {
            let image = timeline.on(day, side, past).filter(|_| is_covered);
            let image = image.filter(|image| !timeline.is_unread(image));
            let observed = image.filter(|image| timeline.passes(image, lookup, past));
            let is_certain = is_covered && timeline.was_observed(day);
            let was = match timeline.stated_on(&lookup.id_value, day) {
                Some(Some(retired)) if !is_certain || observed.is_none() => {
                    let image = observed.or(image).unwrap_or(timeline.last_image());
                    let was = Was { stated: Some(retired), ..timeline.at(image, past) };
                    Some(was).filter(|was| timeline.is_admitted(was.image, lookup, past))
                }
                // The end that is stated is exact, and that which was observed is not.
                Some(None) if !is_certain => None,
                _ => observed.map(|image| timeline.at(image, past)),
            };
            rows.extend(was.map(AsOf::Was));
        }
        Ok(rows)
    }

    /// The first day from which something can be said of the rows that ever had an identifier;
    /// `None` when none had it.
    fn known_since<'a>(
        &'a self,
        timelines: &Timelines<'_>,
        lookup: &'a Lookup<'_>,
        today: &[Hit],
        conditions: &mut [LastConditions<'a>],
        meter: &Meter,
    ) -> Result<Option<Date>, TakesMore> {
        let past = timelines.past;
        let mut since: Option<Date> = None;
        let mut add = |day: Option<Date>| since = since.into_iter().chain(day).min();
        for timeline in timelines.by_figi.values() {
            for image in timeline.images().filter(|image| timeline.passes(image, lookup, past)) {
                add(self.covered_since(image));
            }
        }
        for hit in today {
            if !conditions[hit.part as usize].of(lookup.filters(), meter)?.pass(hit.doc) {
                continue;
            }
            match timelines.by_figi.get(&self.row(*hit).figi()) {
                // A row without a record was there on the first day.
                None => add(past.summary().days.first()),
                // One with a record may be younger.
                Some(timeline) if timeline.is_as_today => {
                    add(self.covered_since(&WasRow::AsToday(*hit).image(self)));
                }
                Some(_) => {}
            }
        }
        Ok(since)
    }
}

/// The result, if there is room for its rows as they were; else one that says so.
fn within(resolution: Resolution, left: &mut usize) -> Resolution {
    match left.checked_sub(resolution.past.len()) {
        Some(rest) => {
            *left = rest;
            resolution
        }
        None => {
            // Identifiers after it are not answered either, so that the order decides.
            *left = 0;
            let reason = format!("the identifiers before it had {PAST_ROWS_MAX} rows of the past");
            let none = Resolution::new(Status::Invalid(reason.into()), Vec::new(), Vec::new());
            Resolution { is_beyond_rows: true, ..none }
        }
    }
}

/// The row that a decision names, if it names one; all rows of an ambiguous one.
fn meant(decision: &Decision<AsOf<'_>>) -> Vec<Figi> {
    match decision {
        Decision::NotFound => Vec::new(),
        Decision::Resolved { row, .. } => vec![row.figi()],
        Decision::Ambiguous { rows, .. } => {
            let mut figis: Vec<Figi> = rows.iter().map(|row| row.figi()).collect();
            figis.sort_unstable();
            figis
        }
    }
}

fn id_types_of(decision: &Decision<AsOf<'_>>) -> Option<Vec<IdType>> {
    match decision {
        Decision::NotFound => None,
        Decision::Resolved { id_type, .. } => Some(vec![*id_type]),
        Decision::Ambiguous { id_types, .. } => Some(id_types.clone()),
    }
}

impl Past {
    /// Whether rows like this one have a past.
    fn keeps(&self, row: &Instrument) -> bool {
        self.summary().has_derivatives || !crate::instrument::kind::is_derivative(row)
    }
}

/// A day that is asked about.
#[derive(Clone, Copy)]
struct Seen {
    day: Date,
    /// Whether the past covers it. If not, only what is stated can answer.
    is_covered: bool,
}

/// The side from which a day between two versions is seen.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Neighbour {
    Earlier,
    Later,
}

/// The first and the last day of a version, and the columns that were filled later than on its first
/// day. An open version has no last day.
type VersionDays<'a> = (Date, Option<Date>, &'a [(PastColumn, Date)]);

/// The records that a question needs, and how much of them.
#[derive(Clone, Copy)]
struct Wanted {
    /// Whether the rows of open versions are read although they are those of today. To read a whole
    /// row takes far longer than to look at it.
    has_open_rows: bool,
    /// The records of FIGIs that are settled on this day are not read.
    settled_on: Option<Date>,
}

impl Wanted {
    /// All of all records.
    const ALL: Self = Self { has_open_rows: true, settled_on: None };

    /// The records that a question about a day needs. A filter by a number compares those of today,
    /// which only a whole row has.
    fn on(day: Date, lookups: &[Lookup<'_>]) -> Self {
        let mut filters = lookups.iter().filter_map(Lookup::filters);
        let has_open_rows = filters.any(|filters| filters.numbers.iter().any(Option::is_some));
        Self { has_open_rows, settled_on: Some(day) }
    }
}

/// The identifiers that are asked as of days.
struct AskedAsOf<'a> {
    past: &'a Past,
    policy: &'a Policy,
    bounds: ResolveBounds,
    /// The number of rows of today that the remaining ones may find.
    left: usize,
    unpacked: UnpackedBlocks,
    /// For each part, the conditions of the last lookup.
    conditions: Vec<LastConditions<'a>>,
    meter: &'a Meter,
}

/// The FIGIs of a question that have a record in the log.
struct Timelines<'a> {
    catalogue: &'a Catalogue,
    past: &'a Past,
    wanted: Wanted,
    by_figi: BTreeMap<Figi, Timeline<'a>>,
    /// The FIGIs whose records were not read, and the day since which each is settled.
    settled: BTreeMap<Figi, Date>,
    owners: Vec<(IdValue<'static>, Vec<Figi>)>,
}

/// A FIGI that has a record in the log.
struct Timeline<'a> {
    catalogue: &'a Catalogue,
    versions: Versions,
    today: Option<Hit>,
    row: Option<Instrument>,
    /// Whether the row of the open version is that of today, and was not read.
    is_as_today: bool,
    /// The little that is known of a FIGI that never had a row.
    bare: Instrument,
}

impl<'a> Timelines<'a> {
    fn new(catalogue: &'a Catalogue, past: &'a Past, wanted: Wanted) -> Self {
        let (by_figi, settled, owners) = Default::default();
        Self { catalogue, past, wanted, by_figi, settled, owners }
    }

    /// The number of FIGIs with a record.
    fn len(&self) -> usize {
        self.by_figi.len() + self.settled.len()
    }

    /// Reads the versions of a FIGI, if it has a record.
    fn read(&mut self, figi: Figi, unpacked: &mut UnpackedBlocks, meter: &Meter) -> Result<()> {
        let Some(Settled { since }) = self.past.lookup.record(figi) else { return Ok(()) };
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
        meter.charge(RECORD_UNITS)?;
        let Some(record) = self.past.log.get_by(figi, unpacked)? else { return Ok(()) };
        let catalogue = self.catalogue;
        let today = catalogue.find(figi);
        let is_as_today = !self.wanted.has_open_rows && today.is_some() && record.is_open_as_row();
        let row = match today.filter(|_| !is_as_today) {
            Some(hit) => {
                meter.charge(INSTRUMENT_UNITS)?;
                Some(catalogue.instrument(hit)?)
            }
            None => None,
        };
        let versions = record.versions(row.as_ref());
        let bare = bare(&versions);
        let timeline = Timeline { catalogue, versions, today, row, is_as_today, bare };
        self.by_figi.insert(figi, timeline);
        Ok(())
    }

    /// Reads the versions of the FIGIs that had the identifier of a lookup.
    fn read_owners(
        &mut self,
        lookup: &Lookup<'_>,
        unpacked: &mut UnpackedBlocks,
        meter: &Meter,
    ) -> Result<()> {
        meter.charge(OWNERS_UNITS)?;
        let key = &lookup.id_value;
        let figis: Vec<Figi> = match key.id_type() {
            IdType::BbGlobal => Figi::parse(key.as_str()).into_iter().collect(),
            _ => self.past.lookup.owners(key).take(OWNERS_MAX + 1).collect(),
        };
        for figi in &figis {
            self.read(*figi, unpacked, meter)?;
        }
        self.owners.push((key.clone().into_owned(), figis));
        Ok(())
    }

    /// The FIGIs that had the identifier of a lookup, which were read.
    fn owners(&self, lookup: &Lookup<'_>) -> impl Iterator<Item = &Timeline<'a>> {
        let figis = self.owners.iter().find(|(key, _)| *key == lookup.id_value);
        let figis = figis.map(|(_, figis)| &figis[..]).unwrap_or_default();
        figis.iter().filter_map(|figi| self.by_figi.get(figi))
    }

    /// Whether it is stated that a FIGI had the identifier of a lookup on a day.
    fn are_stated(&self, lookups: &[Lookup<'_>], day: Date) -> bool {
        lookups.iter().any(|lookup| {
            let mut timelines = self.by_figi.values();
            timelines
                .any(|timeline| matches!(timeline.stated_on(&lookup.id_value, day), Some(Some(_))))
        })
    }

    /// Whether each FIGI has the same row from both sides of a day.
    fn are_certain(&self, day: Date) -> bool {
        self.by_figi.values().all(|timeline| {
            let [earlier, later] = [Neighbour::Earlier, Neighbour::Later]
                .map(|side| timeline.on(day, side, self.past));
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
    fn closed(&self) -> impl DoubleEndedIterator<Item = &Version> {
        self.versions.closed.iter().filter(|version| version.end != VersionEnd::Revised)
    }

    /// The row on a day. Before the first and after the last observed day of a gap, it is the
    /// neighbour on that side.
    fn on(&self, day: Date, side: Neighbour, past: &Past) -> Option<&Instrument> {
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

    /// Whether the row was observed before and after a day without a change between, or on it.
    fn was_observed(&self, day: Date) -> bool {
        self.versions.open.as_ref().is_some_and(|open| open.first <= day)
            || self.closed().any(|version| version.first <= day && day <= version.last)
    }

    /// The last row that the FIGI had.
    fn last_image(&self) -> &Instrument {
        self.images().last().unwrap_or(&self.bare)
    }

    /// The statements about an identifier. About a FIGI that never had a row all of them: it is known
    /// by these only.
    fn stated(&self, key: &IdValue<'_>) -> impl DoubleEndedIterator<Item = &Retired> {
        let stated = self.versions.stated.iter();
        let are_all = key.id_type() == IdType::BbGlobal && self.images().next().is_none();
        stated.filter(move |retired| {
            let id_value = &retired.id_value;
            are_all || (id_value.id_type() == key.id_type() && id_value.as_str() == key.as_str())
        })
    }

    /// The statements about an identifier and a day: that the FIGI had it, or `Some(None)` that it had
    /// not; `None` when nothing is stated of the identifier.
    fn stated_on(&self, key: &IdValue<'_>, day: Date) -> Option<Option<&Retired>> {
        let mut stated = self.stated(key).peekable();
        stated.peek()?;
        Some(stated.find(|retired| retired.holds(day)))
    }

    /// The last row that had the identifier of a lookup, or else the last statement that it had it.
    fn last<'b>(&'b self, lookup: &Lookup<'_>, past: &'b Past) -> Option<Was<'b>> {
        // It may be open: a value that is blank now.
        let observed = self.images().filter(|image| self.passes(image, lookup, past)).last();
        if let Some(image) = observed {
            return Some(self.at(image, past));
        }
        let retired = self.stated(&lookup.id_value).next_back()?;
        let image = self.last_image();
        self.is_admitted(image, lookup, past)
            .then(|| Was { stated: Some(retired), ..self.at(image, past) })
    }

    /// All rows that the FIGI had, but for one that was not read.
    fn images(&self) -> impl Iterator<Item = &Instrument> {
        let open = self.versions.open.iter().map(|open| &open.image);
        let open = open.filter(|_| !self.is_as_today);
        self.closed().map(|version| &version.image).chain(open)
    }

    /// Whether this is the row of the open version, which was not read since it is that of today.
    fn is_unread(&self, image: &Instrument) -> bool {
        let mut open = self.versions.open.iter();
        self.is_as_today && open.any(|open| std::ptr::eq(&open.image, image))
    }

    /// Whether a row had the identifier of a lookup, and passes its filters.
    fn passes(&self, image: &Instrument, lookup: &Lookup<'_>, past: &Past) -> bool {
        let has = match lookup.id_value.id_type() {
            IdType::BbGlobal => image.figi.to_chars() == *lookup.id_value.as_str().as_bytes(),
            _ => image.keys().any(|key| key == lookup.id_value),
        };
        has && self.is_admitted(image, lookup, past)
    }

    /// Whether a row passes the filters of a lookup.
    fn is_admitted(&self, image: &Instrument, lookup: &Lookup<'_>, past: &Past) -> bool {
        let numbers = self.row.as_ref().map(Instrument::filter_numbers).unwrap_or_default();
        let text = |known: Known| past.vocabulary.text(known);
        let default = Filters::default();
        lookup.filters().unwrap_or(&default).admit(image, numbers, text)
    }

    /// The instrument that took the place of this one, if one is stated.
    fn successor(&self) -> Option<Figi> {
        self.versions.stated.iter().rev().find_map(|retired| retired.successor)
    }

    fn at<'b>(&'b self, image: &'b Instrument, past: &'b Past) -> Was<'b> {
        Was { timeline: self, image, vocabulary: &past.vocabulary, stated: None }
    }

    /// The days on which the FIGI had an image, and the days on which a column was learned; `None`
    /// for a FIGI that never had a row.
    fn days(&self, image: &Instrument) -> Option<VersionDays<'_>> {
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

/// Whether an answer rests on a value that was learned after `day`.
fn basis_of(learned: &[(PastColumn, Date)], id_type: IdType, day: Date) -> Basis {
    let column = match id_type {
        IdType::Ticker => PastColumn::Attribute(Attribute::Ticker),
        IdType::CompositeBbGlobal => PastColumn::Attribute(Attribute::CompositeFigi),
        IdType::ShareClassBbGlobal => PastColumn::Attribute(Attribute::ShareClassFigi),
        other => PastColumn::Identifiers(other),
    };
    let is_assumed = learned.iter().any(|(learned, on)| *learned == column && *on > day);
    if is_assumed { Basis::Assumed } else { Basis::Observed }
}

/// A row as it was on a day.
#[derive(Clone, Copy)]
enum AsOf<'a> {
    /// A row that is as today.
    Is { found: Found<'a>, began: Began<'a> },
    /// A row of a FIGI that has a record in the log.
    Was(Was<'a>),
}

/// The beginning of a row that is as today.
#[derive(Clone, Copy)]
enum Began<'a> {
    /// On the first day of the past: the FIGI has no record.
    OnFirstDay,
    /// On the day since which the FIGI is settled.
    Settled(Date),
    /// With the open version.
    Open(&'a OpenVersion),
}

#[derive(Clone, Copy)]
struct Was<'a> {
    timeline: &'a Timeline<'a>,
    image: &'a Instrument,
    vocabulary: &'a Vocabulary,
    /// The statement of it, if it was not observed.
    stated: Option<&'a Retired>,
}

impl Was<'_> {
    /// The row on a day for an answer.
    fn on(self, id_type: IdType, day: Date) -> PastRow {
        match (self.stated, self.timeline.days(self.image)) {
            (None, Some((from, to, learned))) => {
                self.answer(Some(from), to, basis_of(learned, id_type, day))
            }
            (stated, _) => {
                let (from, to) = stated.map_or((None, None), |retired| (retired.from, retired.to));
                self.answer(from, to, Basis::Stated)
            }
        }
    }

    /// A former row for an answer. Its days are those on which the FIGI had the identifier without a
    /// break. A stated end within the days that were not observed is exact.
    fn former(self, id_type: IdType, question: &Question<'_>, past: &Past) -> PastRow {
        let timeline = self.timeline;
        let days = timeline.days(self.image).filter(|_| self.stated.is_none());
        let Some((mut from, to, learned)) = days else {
            return self.on(id_type, Date::today());
        };
        let lookups = || question.lookups.iter();
        let has = |version: &Version| {
            lookups().any(|lookup| timeline.passes(&version.image, lookup, past))
        };
        let mut earlier = None;
        for version in timeline.closed().rev() {
            if version.first >= from {
                continue;
            }
            if !has(version) || version.end != VersionEnd::Replaced {
                earlier = Some(version.last);
                break;
            }
            from = version.first;
        }
        let basis = basis_of(learned, id_type, from);
        let (from, to) = (Some(from), to);
        let stated = lookups().flat_map(|lookup| timeline.stated(&lookup.id_value)).last();
        let Some(retired) = stated else {
            return self.answer(from, to, basis);
        };
        // Within the days between two observations, or before all of them.
        let exact_from = retired.from.filter(|day| Some(*day) <= from && Some(*day) > earlier);
        let next = to.and_then(|to| past.summary().days.after(to));
        let exact_to = retired
            .to
            .filter(|day| to.is_some_and(|to| *day >= to) && next.is_none_or(|next| *day < next));
        let is_stated = exact_from.is_some() || exact_to.is_some();
        let basis = if is_stated { Basis::Stated } else { basis };
        self.answer(exact_from.or(from), exact_to.or(to), basis)
    }

    fn answer(self, valid_from: Option<Date>, valid_to: Option<Date>, basis: Basis) -> PastRow {
        let (today, successor) = (self.timeline.today, self.timeline.successor());
        let mut image = self.image.clone();
        // The row is that of another day, which may have had another ticker.
        if let Some(Retired { id_value, .. }) = self.stated.filter(|it| it.is_ticker()) {
            image.ticker = Some(id_value.as_str().to_owned());
        }
        let (figi, row) = (image.figi, WasRow::Then(Box::new(image)));
        PastRow { figi, row, valid_from, valid_to, basis, today, successor }
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

impl AsOf<'_> {
    fn figi(self) -> Figi {
        match self {
            Self::Is { found, .. } => found.part.rows.figi(found.hit.doc),
            Self::Was(was) => was.image.figi,
        }
    }

    fn past_row(self, past: &Past, id_type: IdType, day: Date, meter: &Meter) -> Result<PastRow> {
        Ok(match self {
            Self::Is { found, began } => {
                meter.charge(ROW_UNITS)?;
                let (valid_from, basis) = match began {
                    Began::Settled(since) => (since, Basis::Observed),
                    Began::Open(open) => (open.first, basis_of(&open.learned, id_type, day)),
                    Began::OnFirstDay => {
                        let kind = found.part.ranks.rank(found.hit.doc).kind();
                        let is_kept = past.summary().has_derivatives || !kind.is_derivative();
                        let basis = if is_kept { Basis::Observed } else { Basis::Assumed };
                        (past.summary().days.first().unwrap_or(day), basis)
                    }
                };
                let (figi, row) = (self.figi(), WasRow::AsToday(found.hit));
                let (valid_from, today) = (Some(valid_from), Some(found.hit));
                PastRow { figi, row, valid_from, valid_to: None, basis, today, successor: None }
            }
            Self::Was(was) => was.on(id_type, day),
        })
    }
}

impl Candidate for AsOf<'_> {
    fn hit(self) -> Hit {
        match self {
            Self::Is { found, .. } => found.hit,
            Self::Was(_) => unreachable!("a row of the past has no hit"),
        }
    }

    fn is_composite(self) -> bool {
        match self {
            Self::Is { found, .. } => found.is_composite(),
            Self::Was(was) => was.image.composite_figi == Some(was.image.figi),
        }
    }

    fn has(self, known: Known) -> bool {
        match self {
            Self::Is { found, .. } => found.has(known),
            Self::Was(was) => {
                was.image.property(known.property()) == Some(was.vocabulary.text(known))
            }
        }
    }

    fn is_home(self) -> bool {
        match self {
            Self::Is { found, .. } => found.is_home(),
            Self::Was(was) => {
                let isin = was.image.identifiers_of(IdType::Isin).next();
                let country = isin.and_then(|isin| home(isin.as_str()));
                let exchange = was.image.property(Property::ExchCode);
                let exchange = exchange.and_then(|code| was.vocabulary.countries().exchange(code));
                self.is_composite()
                    && country.is_some()
                    && exchange.map(|exchange| exchange.country) == country
            }
        }
    }

    fn exch_code(self) -> Option<String> {
        match self {
            Self::Is { found, .. } => found.exch_code(),
            Self::Was(was) => was.image.property(Property::ExchCode).map(str::to_owned),
        }
    }

    fn security(self) -> Figi {
        match self {
            Self::Is { found, .. } => found.security(),
            Self::Was(Was { image, .. }) => {
                image.share_class_figi.or(image.composite_figi).unwrap_or(image.figi)
            }
        }
    }

    fn name(self) -> Option<String> {
        match self {
            Self::Is { found, .. } => found.name(),
            Self::Was(was) => was.image.name.clone(),
        }
    }

    /// Rows of the past come in today's order of their FIGIs, and those that are gone come last.
    fn place(self) -> (u64, Figi) {
        match self {
            Self::Is { found, .. } => found.place(),
            Self::Was(was) => {
                let today =
                    was.timeline.today.map(|hit| was.timeline.catalogue.found(&[hit])[0].place());
                today.unwrap_or((u64::MAX, was.image.figi))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// contract 20.17: jobs beyond the bound are not answered, nor are smaller ones after them.
    #[test]
    fn the_rows_of_a_list_are_bounded() {
        let figi = Figi::parse("BBG000BLNNH6").unwrap();
        let day = Date::parse("2024-01-02").unwrap();
        let row = PastRow {
            figi,
            row: WasRow::Then(Box::new(Instrument::new(figi))),
            valid_from: Some(day),
            valid_to: None,
            basis: Basis::Observed,
            today: None,
            successor: None,
        };
        let of = |rows: usize| {
            let past = vec![row.clone(); rows];
            Resolution { past, ..Resolution::new(Status::Ambiguous(rows), vec![], vec![]) }
        };
        let mut left = 3;
        let answered = [2, 2, 1, 0].map(|rows| {
            let resolution = within(of(rows), &mut left);
            (resolution.past.len(), resolution.is_beyond_rows)
        });
        assert_eq!(answered, [(2, false), (0, true), (0, true), (0, false)]);
    }
}
