//! The reading of a typed question over an index: which of the readings of a text finds a row
//! (contract 16.17).

use std::sync::Arc;

use super::Catalogue;
use crate::error::{Error, Result};
use crate::meter::Meter;
use crate::query::Search;
use crate::reading::{self, Asked, QuestionReading, ReadingDecision, decide, readings};
use crate::search::conditions::Conditions;
use crate::search::matches::Matches;
use crate::search::{unless_more, whole_text};
use crate::suggest::{FORM_BYTE_UNITS, Suggest};
use crate::words::forms::forms;

/// The largest number of units of work for deciding on a reading: ten milliseconds. Beyond it, the
/// text is only searched for.
const READING_UNITS_MAX: u64 = 1_000_000;

/// The units of work of copying the texts of a reading.
const COPY_UNITS: u64 = 20;

/// The readings of a text, and what became of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadingsTried {
    /// The readings, in the order in which they are tried.
    pub readings: Vec<QuestionReading>,
    /// The decision.
    pub decision: ReadingDecision,
}

impl Catalogue {
    /// The reading of a typed text: `Some(None)` if the text is only searched for, and `None` when
    /// the decision takes more work than the meter allows. The readings of short texts are cached.
    ///
    /// # Errors
    /// When a file of the index cannot be read, because it was changed after it was opened.
    pub fn read_typed(
        &self,
        typed: &Suggest,
        meter: &Meter,
    ) -> Result<Option<Option<Arc<QuestionReading>>>> {
        let text = typed.keywords.text();
        if meter.charge(reading::units(text)).is_err() {
            return Ok(None);
        }
        if !reading::may_be_read(text) {
            return Ok(Some(None));
        }
        let read = || unless_more(self.read_within(typed, meter));
        match text.len() <= super::CACHED_TEXT_BYTES_MAX {
            true => self.read.answer(typed.without_words(), read),
            false => read(),
        }
    }

    fn read_within(&self, typed: &Suggest, meter: &Meter) -> Result<Option<Arc<QuestionReading>>> {
        let mut readings = readings(typed.keywords.text(), &typed.filters, self.vocabulary());
        meter.charge(COPY_UNITS * readings.len() as u64)?;
        let work = meter.within(READING_UNITS_MAX);
        let decision = self.decide(typed, &readings, &work);
        meter.absorb(&work)?;
        match decision {
            Ok(ReadingDecision { taken, .. }) => {
                Ok(taken.map(|taken| Arc::new(readings.swap_remove(taken))))
            }
            Err(Error::TakesMore(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The readings of a typed text and the decision about them, to explain it to people.
    ///
    /// # Errors
    /// When a file of the index cannot be read, because it was changed after it was opened.
    pub fn readings_tried(&self, typed: &Suggest) -> Result<ReadingsTried> {
        let readings = readings(typed.keywords.text(), &typed.filters, self.vocabulary());
        let decision = self.decide(typed, &readings, &Meter::unlimited())?;
        Ok(ReadingsTried { readings, decision })
    }

    fn decide(
        &self,
        typed: &Suggest,
        readings: &[QuestionReading],
        meter: &Meter,
    ) -> Result<ReadingDecision> {
        decide(readings, |asked| match asked {
            Asked::Words => Ok(self.finds(&typed.search(), meter)? || self.is_name(typed, meter)?),
            Asked::Reading(number) => self.finds(&readings[number].search(), meter),
        })
    }

    /// Whether the whole text is a name of a row in any form, or another name of it (contract
    /// 16.16).
    fn is_name(&self, typed: &Suggest, meter: &Meter) -> Result<bool> {
        let Suggest { keywords, filters } = typed;
        meter.charge(FORM_BYTE_UNITS * keywords.text().len() as u64)?;
        let forms = forms(keywords.text());
        for part in &self.generation.parts {
            meter.charge(filters.units())?;
            let conditions = Conditions::new(part, filters);
            let named = whole_text::formed(part, &forms, meter)?;
            let named = whole_text::rows_of(part, &named, &conditions, meter)?;
            if named.iter().next().is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a row matches a search.
    pub(crate) fn finds(&self, search: &Search, meter: &Meter) -> Result<bool> {
        for part in &self.generation.parts {
            meter.charge(super::PART_UNITS)?;
            let plan = self.plan(part, search, meter)?;
            let is_found = Matches::new(part, &plan, meter)?.next().is_some();
            meter.check()?;
            if is_found {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
