//! Questions about the past: the versions of a FIGI, the former rows of an identifier that no row
//! has now, and lists as of a day.
//!
//! A version is certain from its first to its last day. Between the last day of one and the first
//! day of the next, either may have been the row. So a list is decided twice for a day: with the
//! earlier row of each FIGI, and with the later one. If both decisions name the same row, it is
//! meant. On a day that was observed both are the same.

mod as_of;
mod export;
mod former;
mod rows;
#[cfg(test)]
mod tests;
mod timelines;

pub use self::former::FORMERLY_MAX;
use super::Catalogue;
use crate::error::Result;
use crate::generation::past::log::pair_of;
use crate::generation::past::{Past, Versions};
use crate::instrument::Instrument;
use crate::instrument::date::Date;
use crate::instrument::figi::Figi;
use crate::instrument::kind::is_derivative;
use crate::instrument::vocabulary::{Property, Vocabularies, Vocabulary};
use crate::resolve::past::Coverage;
use crate::resolve::resolution::{Resolution, Status};

/// The most rows as they were of all identifiers of a list together. Each is a whole row in memory.
/// Identifiers beyond them are invalid, with [`Resolution::is_beyond_rows`].
pub const PAST_ROWS_MAX: usize = 20_000;

/// The most rows as they were of one identifier, whatever the bounds of the answer.
pub const PAST_CANDIDATES_MAX: usize = 100;

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
        past.covered_since(sector, code)
    }
}

impl Past {
    /// Whether rows like this one have a past.
    fn keeps(&self, row: &Instrument) -> bool {
        self.summary().has_derivatives || !is_derivative(row)
    }

    /// The first day on which the dumps had rows of a market sector and an exchange code.
    fn covered_since(&self, sector: &str, code: &str) -> Option<Date> {
        let pair = self.summary().covered.get(&pair_of(sector, code)).copied();
        pair.or_else(|| self.summary().days.first())
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
