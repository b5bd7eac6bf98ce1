//! The former rows of identifiers: of those that no row has now, and of those that others had
//! earlier.

use std::borrow::Borrow;
use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::rows::{AsOf, Was};
use super::timelines::{LogReader, Timelines, Wanted};
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
use crate::search::RowSource as _;

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

    fn formerly(
        &self,
        log: &mut LogReader<'_>,
        question: &Question<'_>,
        resolution: &Resolution,
    ) -> Result<Vec<PastRow>> {
        let past = log.past;
        let mut timelines = Timelines::new(Wanted::ALL);
        let lookups = question.lookups.iter();
        let taken = lookups.filter(|it| resolution.id_types.contains(&it.id_value.id_type()));
        let taken: Vec<&Lookup<'_>> = taken.collect();
        for lookup in &taken {
            timelines.read_owners(lookup, log)?;
        }
        let today: Vec<Figi> = resolution.hits.iter().map(|hit| self.row(*hit).figi()).collect();
        let mut rows: BTreeMap<Figi, PastRow> = BTreeMap::new();
        for lookup in taken {
            for timeline in timelines.owners(lookup) {
                let last = Was::last(timeline, lookup, past);
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
        log: &mut LogReader<'_>,
        question: &Question<'_>,
        policy: &Policy,
        bounds: ResolveBounds,
    ) -> Result<Option<Resolution>> {
        let past = log.past;
        let mut timelines = Timelines::new(Wanted::ALL);
        let mut found = Vec::new();
        for lookups in [question.surest(), question.fallbacks()] {
            for lookup in lookups {
                timelines.read_owners(lookup, log)?;
            }
        }
        let timelines = &timelines;
        for lookups in [question.surest(), question.fallbacks()] {
            for lookup in lookups {
                let mut rows = Vec::new();
                for timeline in timelines.owners(lookup) {
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
