//! Lists as of a day: each identifier is decided by the rows as they were.

use std::borrow::Borrow;
use std::slice;

use super::rows::{AsOf, Began, Was};
use super::timelines::{LogReader, Neighbour, OWNERS_MAX, Timelines, Wanted};
use super::{PAST_CANDIDATES_MAX, PAST_ROWS_MAX, within};
use crate::catalogue::Catalogue;
use crate::catalogue::lookup::Located;
use crate::catalogue::resolve::{Found, QUESTIONS_AT_ONCE};
use crate::error::Result;
use crate::instrument::date::Date;
use crate::instrument::figi::Figi;
use crate::instrument::id_type::IdType;
use crate::meter::{Meter, TakesMore};
use crate::query::Lookup;
use crate::resolve::decide::{Decision, decide, sort_once};
use crate::resolve::name_like::SoughtName;
use crate::resolve::past::{Basis, Coverage, PastRow};
use crate::resolve::policy::Policy;
use crate::resolve::question::Question;
use crate::resolve::resolution::{Resolution, ResolveBounds, Status};
use crate::search::{Hit, RowSource as _};

/// The most rows that an identifier may have meant on an uncertain day.
const UNCERTAIN_MAX: usize = 10;

impl Catalogue {
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
        let mut list = AsOfList {
            policy,
            bounds,
            left: bounds.rows_max,
            log: LogReader::new(self, past, meter),
        };
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
                let resolution = self.as_of(&mut list, question, *day, found)?;
                resolutions.push(within(resolution, &mut past_left));
            }
        }
        Ok(resolutions)
    }

    /// Decides a question as of a day. `located` has the rows of today of its lookups from `first`
    /// on, whatever the filters.
    fn as_of<'a>(
        &'a self,
        list: &mut AsOfList<'a>,
        question: &'a Question<'_>,
        day: Date,
        (located, first): (&mut Located<'_>, usize),
    ) -> Result<Resolution> {
        if let Some(fault) = question.fault.as_ref().filter(|_| question.is_invalid_unfound())
            && question.lookups.is_empty()
        {
            return Ok(unresolved(Status::Invalid(fault.reason_for(list.bounds.corrected))));
        }
        let mut timelines = Timelines::new(Wanted::on(day, &question.lookups));
        let mut today: Vec<Vec<Hit>> = Vec::with_capacity(question.lookups.len());
        for (place, lookup) in question.lookups.iter().enumerate() {
            let mut hits = Vec::new();
            let most = list.bounds.identifier_rows_max.min(list.left);
            if located.find(first + place, most, &mut hits)?.is_err() {
                let reason = format!("it has more than {most} rows");
                let is_beyond_rows = most < list.bounds.identifier_rows_max;
                let invalid = unresolved(Status::Invalid(reason.into()));
                return Ok(Resolution { is_beyond_rows, ..invalid });
            }
            list.left -= hits.len();
            today.push(hits);
            self.read(&mut timelines, lookup, &today[place], list)?;
        }
        if timelines.len() > OWNERS_MAX {
            let reason = format!("more than {OWNERS_MAX} FIGIs have or had it");
            return Ok(unresolved(Status::Invalid(reason.into())));
        }
        let Some(coverage) = self.coverage() else { unreachable!("a past covers days") };
        let is_covered = (coverage.since..=coverage.until).contains(&day);
        if !is_covered && !timelines.are_stated(&question.lookups, day) {
            return Ok(unresolved(Status::OutOfCoverage(coverage)));
        }
        let asked = DayQuestion { catalogue: self, question, day, is_covered, timelines, today };
        asked.resolved(list, coverage)
    }

    /// Reads the records of the FIGIs that have or had the identifier of a lookup.
    fn read<'a>(
        &'a self,
        timelines: &mut Timelines<'a>,
        lookup: &Lookup<'_>,
        today: &[Hit],
        list: &mut AsOfList<'a>,
    ) -> Result<()> {
        for hit in today {
            timelines.read(self.row(*hit).figi(), &mut list.log)?;
        }
        timelines.read_owners(lookup, &mut list.log)
    }
}

/// A list whose identifiers are asked as of days.
struct AsOfList<'a> {
    policy: &'a Policy,
    bounds: ResolveBounds,
    /// The number of rows of today that the remaining identifiers may find.
    left: usize,
    log: LogReader<'a>,
}

/// A question as of a day, with the FIGIs that have or had its identifiers.
struct DayQuestion<'a, 'q> {
    catalogue: &'a Catalogue,
    question: &'a Question<'q>,
    day: Date,
    /// Whether the past covers the day. If not, only what is stated can answer.
    is_covered: bool,
    timelines: Timelines<'a>,
    /// The rows of today of each lookup, whatever the filters.
    today: Vec<Vec<Hit>>,
}

impl<'a> DayQuestion<'a, '_> {
    /// The result: that of both sides of the day if they name the same rows.
    fn resolved(&self, list: &mut AsOfList<'a>, coverage: Coverage) -> Result<Resolution> {
        let past = list.log.past;
        let earlier = self.decided(Neighbour::Earlier, list)?;
        let later = match !self.is_covered || self.timelines.are_certain(self.day, past) {
            true => None,
            false => Some(self.decided(Neighbour::Later, list)?),
        };
        let candidates_max = list.bounds.candidates_max;
        let rows = |decision: &Decision<AsOf<'_>>| -> Vec<PastRow> {
            let (id_type, rows) = match decision {
                Decision::NotFound => return Vec::new(),
                Decision::Resolved { id_type, row, .. } => (*id_type, slice::from_ref(row)),
                Decision::Ambiguous { id_types, rows, .. } => {
                    (id_types[0], &rows[..rows.len().min(candidates_max)])
                }
            };
            rows.iter().map(|row| row.past_row(past, id_type, self.day)).collect()
        };
        let with = |status, id_types: Vec<IdType>, past: Vec<PastRow>| {
            let hits = past.iter().filter_map(|row| row.today).collect();
            Resolution { past, ..Resolution::new(status, id_types, hits) }
        };
        if let Some(later) = &later
            && meant(&earlier) != meant(later)
        {
            let mut both = rows(&earlier);
            let known: Vec<Figi> = both.iter().map(|row| row.figi).collect();
            both.extend(rows(later).into_iter().filter(|row| !known.contains(&row.figi)));
            both.truncate(UNCERTAIN_MAX);
            let id_types = id_types_of(&earlier).or(id_types_of(later)).unwrap_or_default();
            return Ok(with(Status::Uncertain, id_types, both));
        }
        let were = rows(&earlier);
        Ok(match earlier {
            Decision::NotFound => unresolved(self.not_found(list, coverage)?),
            Decision::Resolved { id_type, by, .. } => {
                with(Status::Resolved(by), vec![id_type], were)
            }
            Decision::Ambiguous { id_types, matches, is_name_like, .. } => {
                let ambiguous = with(Status::Ambiguous(matches), id_types, were);
                Resolution { is_name_like, ..ambiguous }
            }
        })
    }

    /// The decision by the rows from one side of the day, with all of its candidates: both sides are
    /// compared by them.
    fn decided(
        &self,
        side: Neighbour,
        list: &mut AsOfList<'a>,
    ) -> Result<Decision<AsOf<'_>>, TakesMore> {
        let question = self.question;
        let mut found: Vec<(IdType, Vec<AsOf<'_>>)> = Vec::new();
        for (place, lookup) in question.lookups.iter().enumerate() {
            if place == question.surest().len() && found.iter().any(|one| !one.1.is_empty()) {
                break;
            }
            let rows = self.rows(lookup, &self.today[place], side, list)?;
            found.push((lookup.id_value.id_type(), rows));
        }
        let mut name = question.name_like().map(SoughtName::new);
        let isin = question.asked_isin();
        decide(found, list.policy, isin, name.as_mut(), usize::MAX, list.log.meter)
    }

    /// The rows that had an identifier on the day and passed its filters. Those that are assumed to
    /// have had it count only if there is no other (contract 20.8).
    fn rows(
        &self,
        lookup: &'a Lookup<'_>,
        today: &[Hit],
        side: Neighbour,
        list: &mut AsOfList<'a>,
    ) -> Result<Vec<AsOf<'_>>, TakesMore> {
        let (past, timelines) = (list.log.past, &self.timelines);
        let id_type = lookup.id_value.id_type();
        let mut rows = Vec::new();
        for hit in today.iter().filter(|_| self.is_covered) {
            let figi = self.catalogue.row(*hit).figi();
            let began = match (timelines.of(figi), timelines.settled_since(figi)) {
                (None, None) => Began::OnFirstDay,
                (None, Some(since)) => Began::Settled(since),
                (Some(timeline), _) => {
                    match (timeline.on(self.day, side, past), &timeline.versions.open) {
                        (Some(image), Some(open)) if timeline.is_unread(image) => Began::Open(open),
                        _ => continue,
                    }
                }
            };
            if list.log.pass(*hit, lookup)? {
                let found = Found { part: self.catalogue.part(*hit), hit: *hit };
                rows.push(AsOf::Is { found, began });
            }
        }
        for timeline in timelines.all() {
            let image = timeline.on(self.day, side, past).filter(|_| self.is_covered);
            let image = image.filter(|image| !timeline.is_unread(image));
            let observed = image.filter(|image| timeline.passes(image, lookup, past));
            let observed = observed.map(|image| Was::of(timeline, image, past));
            let is_assumed =
                observed.is_some_and(|was| was.basis(id_type, self.day) == Basis::Assumed);
            let is_certain = self.is_covered && timeline.was_observed(self.day) && !is_assumed;
            let was = match timeline.stated_on(&lookup.id_value, self.day) {
                Some(Some(retired)) if !is_certain || observed.is_none() => {
                    let image = image.unwrap_or(timeline.last_image());
                    let was = Was { stated: Some(retired), ..Was::of(timeline, image, past) };
                    Some(was).filter(|was| timeline.is_admitted(was.image, lookup, past))
                }
                // The end that is stated is exact, and that which was observed is not.
                Some(None) if !is_certain => None,
                _ => observed,
            };
            rows.extend(was.map(AsOf::Was));
        }
        if rows.len() > 1 {
            let is_assumed = |row: &AsOf<'_>| row.basis(past, id_type, self.day) == Basis::Assumed;
            if !rows.iter().all(is_assumed) {
                rows.retain(|row| !is_assumed(row));
            }
        }
        // A statement may name the row of today once more.
        sort_once(&mut rows);
        Ok(rows)
    }

    /// The status of identifiers that no row had on the day.
    fn not_found(&self, list: &mut AsOfList<'a>, coverage: Coverage) -> Result<Status> {
        // A FIGI that is settled may have had the identifier before, so its record counts too.
        let mut reread = None;
        if self.timelines.has_settled() {
            let lookups = &self.question.lookups;
            let wanted = Wanted { settled_on: None, ..Wanted::on(self.day, lookups) };
            let mut whole = Timelines::new(wanted);
            for (lookup, hits) in lookups.iter().zip(&self.today) {
                self.catalogue.read(&mut whole, lookup, hits, list)?;
            }
            reread = Some(whole);
        }
        let timelines = reread.as_ref().unwrap_or(&self.timelines);
        let mut since = None;
        for (lookup, hits) in self.question.lookups.iter().zip(&self.today) {
            let known = self.known_since(timelines, lookup, hits, list)?;
            since = since.into_iter().chain(known).min();
        }
        Ok(match (since, &self.question.fault) {
            (Some(since), _) if self.day < since => {
                Status::OutOfCoverage(Coverage { since, ..coverage })
            }
            (_, Some(fault)) if self.question.is_invalid_unfound() => {
                Status::Invalid(fault.reason_for(list.bounds.corrected))
            }
            _ => Status::Unknown,
        })
    }

    /// The first day from which something can be said of the rows that ever had an identifier;
    /// `None` when none had it.
    fn known_since(
        &self,
        timelines: &Timelines<'_>,
        lookup: &'a Lookup<'_>,
        today: &[Hit],
        list: &mut AsOfList<'a>,
    ) -> Result<Option<Date>, TakesMore> {
        let (past, catalogue) = (list.log.past, self.catalogue);
        let mut since: Option<Date> = None;
        let mut add = |day: Option<Date>| since = since.into_iter().chain(day).min();
        for timeline in timelines.all() {
            for image in timeline.images().filter(|image| timeline.passes(image, lookup, past)) {
                add(catalogue.covered_since(image));
            }
        }
        for hit in today {
            if !list.log.pass(*hit, lookup)? {
                continue;
            }
            let row = catalogue.row(*hit);
            match timelines.of(row.figi()) {
                // A row without a record was there on the first day.
                None => add(past.summary().days.first()),
                Some(timeline) if timeline.is_without_past() => add(past.summary().days.first()),
                // One with a record may be younger.
                Some(timeline) if timeline.is_as_today => {
                    let [sector, code] = [row.market_sector(), row.exch_code()]
                        .map(|text| text.map(|text| text.to_string()).unwrap_or_default());
                    add(past.covered_since(&sector, &code));
                }
                Some(_) => {}
            }
        }
        Ok(since)
    }
}

/// A result without rows.
fn unresolved(status: Status) -> Resolution {
    Resolution::new(status, Vec::new(), Vec::new())
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
