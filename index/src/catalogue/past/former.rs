//! The former rows of identifiers: of those that no row has now, and of those that others had
//! earlier.

use std::borrow::Borrow;
use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::rows::{AsOf, Was};
use super::timelines::{LogReader, Timeline, Timelines, Wanted};
use super::{PAST_CANDIDATES_MAX, PAST_ROWS_MAX, within};
use crate::catalogue::Catalogue;
use crate::error::Result;
use crate::instrument::figi::Figi;
use crate::instrument::id_type::IdType;
use crate::meter::Meter;
use crate::query::Lookup;
use crate::resolve::decide::{Decision, decide};
use crate::resolve::name_like::SoughtName;
use crate::resolve::past::PastRow;
use crate::resolve::policy::Policy;
use crate::resolve::question::Question;
use crate::resolve::resolution::{Resolution, ResolveBounds, Status};

/// The most other FIGIs that had an identifier earlier.
pub const FORMERLY_MAX: usize = 10;

impl Catalogue {
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
        let mut log = LogReader::new(self, past, meter);
        for (question, resolution) in questions.iter().zip(resolutions) {
            if resolution.status == Status::Unknown
                && let Some(former) = self.former(&mut log, question.borrow(), policy, bounds)?
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
        let mut log = LogReader::new(self, past, meter);
        for (question, resolution) in questions.iter().zip(resolutions) {
            let is_asked = matches!(resolution.status, Status::Resolved(_) | Status::Ambiguous(_));
            if is_asked && resolution.past.is_empty() {
                let mut formerly = self.formerly(&mut log, question.borrow(), resolution)?;
                formerly.truncate(FORMERLY_MAX.min(left));
                left -= formerly.len();
                resolution.formerly = formerly;
            }
        }
        Ok(())
    }

    fn formerly<'a>(
        &'a self,
        log: &mut LogReader<'a>,
        question: &'a Question<'_>,
        resolution: &Resolution,
    ) -> Result<Vec<PastRow>> {
        let past = log.past;
        let mut timelines = Timelines::new(Wanted::ALL);
        let is_taken =
            |lookup: &&Lookup<'_>| resolution.id_types.contains(&lookup.id_value.id_type());
        self.read_former(&mut timelines, question, is_taken, log)?;
        let taken = || question.lookups.iter().filter(is_taken);
        let mut rows: BTreeMap<Figi, PastRow> = BTreeMap::new();
        // A row of today is none of the past, whether or not the steps left it.
        let of_today =
            |timeline: &&Timeline<'_>| taken().any(|lookup| timeline.passes_now(lookup, past));
        let former: Vec<_> = timelines.all().filter(|timeline| !of_today(timeline)).collect();
        for lookup in taken() {
            for timeline in &former {
                let Some(was) = Was::last(timeline, lookup, past) else { continue };
                let row = || was.former(lookup.id_value.id_type(), question, past);
                rows.entry(was.image.figi).or_insert_with(row);
            }
        }
        let mut rows: Vec<PastRow> = rows.into_values().collect();
        // A row that only lacks the value now comes first.
        rows.sort_by_key(|row| Reverse((row.valid_to.is_none(), row.valid_to)));
        Ok(rows)
    }

    /// Reads the versions of the FIGIs that may have had the identifiers of some lookups.
    fn read_former<'a>(
        &'a self,
        timelines: &mut Timelines<'a>,
        question: &'a Question<'_>,
        is_wanted: impl Fn(&&Lookup<'_>) -> bool,
        log: &mut LogReader<'a>,
    ) -> Result<()> {
        let located = self.locate(&question.lookups, log.meter)?;
        for (place, lookup) in question.lookups.iter().enumerate() {
            if is_wanted(&lookup) {
                timelines.read_owners(lookup, log)?;
                timelines.read_refused(lookup, (&located, place), log)?;
            }
        }
        Ok(())
    }

    fn former<'a>(
        &'a self,
        log: &mut LogReader<'a>,
        question: &'a Question<'_>,
        policy: &Policy,
        bounds: ResolveBounds,
    ) -> Result<Option<Resolution>> {
        let past = log.past;
        let mut timelines = Timelines::new(Wanted::ALL);
        let mut found = Vec::new();
        self.read_former(&mut timelines, question, |_| true, log)?;
        let timelines = &timelines;
        for lookups in [question.surest(), question.fallbacks()] {
            for lookup in lookups {
                let mut rows = Vec::new();
                for timeline in timelines.all() {
                    rows.extend(Was::last(timeline, lookup, past).map(AsOf::Was));
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
        let decision = decide(found, policy, isin, name.as_mut(), most, log.meter)?;
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
}
