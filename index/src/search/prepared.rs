//! A part that is about to answer a search: its plan, the rows that the whole text finds, and the
//! posting lists of the words, opened once for all their readers.

use super::conditions::Conditions;
use super::matches::Matches;
use super::plan::{Alternative, Driver, Plan};
use super::positions::{END, Positions, STEP_UNITS};
use super::row_set::RowSet;
use super::whole_text;
use crate::error::Result;
use crate::instrument::kind::Kind;
use crate::instrument::vocabulary::Vocabulary;
use crate::meter::Meter;
use crate::part::Part;
use crate::part::ranks::rank::Rank;
use crate::query::Keywords;

/// If words lead to at most this many rows, all of these are read and sorted.
pub(super) const FEW_ROWS: u64 = 256;

/// Units of work of reading the rank of a row.
const RANK_UNITS: u64 = 2;

/// A part that is about to answer a search.
pub(crate) struct Prepared<'a> {
    pub(crate) part: &'a Part,
    pub(crate) plan: Plan,
    /// See [`exact`].
    pub(crate) exact: RowSet,
    /// The rows that words lead to, in the order of ranks. `None` in a search without words, and
    /// when there are so few rows that all of them are read.
    pub(super) of_words: Option<Vec<RankedWords<'a>>>,
}

impl<'a> Prepared<'a> {
    pub(crate) fn new(
        part: &'a Part,
        plan: Plan,
        keywords: Option<&Keywords>,
        vocabulary: &Vocabulary,
        meter: &Meter,
    ) -> Result<Self> {
        let exact = match keywords {
            Some(keywords) => exact(part, &plan, keywords, vocabulary, meter)?,
            None => RowSet::new(part.rows.len() as u32),
        };
        let of_words = match &plan.driver {
            Driver::Words(alternatives) if plan.rows_max() > FEW_ROWS => {
                let ranked = alternatives.iter().map(|words| RankedWords::new(part, words, meter));
                Some(ranked.collect::<Result<_>>()?)
            }
            _ => None,
        };
        Ok(Self { part, plan, exact, of_words })
    }

    /// The first rows that words lead to, for each of `kinds`, in the order of ranks and with their
    /// ranks. Only the best listing of each security is included, at most `rows_max` of each kind.
    /// `kinds` must be in the order of kinds.
    pub(crate) fn first_of<const N: usize>(
        &mut self,
        kinds: [Kind; N],
        rows_max: usize,
        meter: &Meter,
    ) -> Result<[Vec<(Rank, u32)>; N]> {
        let ranks = &self.part.ranks;
        let mut first = [const { Vec::new() }; N];
        let Some(of_words) = &mut self.of_words else {
            for doc in Matches::new(self.part, &self.plan, meter)?.of_words() {
                meter.charge(RANK_UNITS)?;
                let rank = ranks.rank(doc);
                let place = kinds.iter().position(|kind| *kind == rank.kind());
                if let Some(place) = place.filter(|_| rank.is_best()) {
                    first[place].push((rank, doc));
                }
            }
            meter.check()?;
            for rows in &mut first {
                rows.sort_unstable();
                rows.truncate(rows_max);
            }
            return Ok(first);
        };
        for (kind, rows) in kinds.into_iter().zip(&mut first) {
            let range = ranks.of_kind(kind);
            let mut target = range.start;
            while rows.len() < rows_max {
                let found = of_words.iter_mut().map(|words| words.seek(target, meter));
                let position = found.min().unwrap_or(END);
                if position >= range.end {
                    break;
                }
                let doc = ranks.doc(position);
                let rank = ranks.rank(doc);
                if !rank.is_best() {
                    break;
                }
                rows.push((rank, doc));
                target = position + 1;
            }
            meter.check()?;
        }
        of_words.iter_mut().try_for_each(|words| words.rewind(meter))?;
        Ok(first)
    }
}

/// The rows whose ticker, name or symbol is the whole text. Some of them may not match the search,
/// and must not be shown.
pub(crate) fn exact(
    part: &Part,
    plan: &Plan,
    keywords: &Keywords,
    vocabulary: &Vocabulary,
    meter: &Meter,
) -> Result<RowSet> {
    let mut exact = whole_text::exact(part, keywords, vocabulary, meter)?;
    let has_symbols = plan.identified.len() > plan.by_number.len();
    if has_symbols && whole_text::is_plain(keywords.text()) {
        meter.charge(plan.identified.len() as u64)?;
        for doc in plan.identified.iter().filter(|doc| !plan.by_number.contains(*doc)) {
            exact.insert(doc);
        }
        exact.sort();
    }
    Ok(exact)
}

/// The rows of one alternative, in the order of ranks.
pub(super) struct RankedWords<'a> {
    part: &'a Part,
    positions: Positions<'a>,
    verified: Conditions<'a>,
    /// The units of work of going back to before the first row.
    rewind_units: u64,
    /// The units of work of going to one row and verifying it.
    step_units: u64,
}

impl<'a> RankedWords<'a> {
    fn new(part: &'a Part, alternative: &Alternative, meter: &Meter) -> Result<Self> {
        meter.charge(alternative.verified.units())?;
        let verified = Conditions::new(part, &alternative.verified);
        let words = alternative.words.iter().map(|word| Positions::of_word(part, word, meter));
        let positions = Positions::all(words.collect::<Result<_>>()?);
        let rewind_units = STEP_UNITS * alternative.terms();
        let step_units = STEP_UNITS + verified.row_units();
        Ok(Self { part, positions, verified, rewind_units, step_units })
    }

    pub(super) fn rewind(&mut self, meter: &Meter) -> Result<()> {
        meter.charge(self.rewind_units)?;
        self.positions.rewind();
        Ok(())
    }

    pub(super) fn seek(&mut self, mut target: u32, meter: &Meter) -> u32 {
        while meter.charge(self.step_units).is_ok() {
            let position = self.positions.seek(target, meter);
            if position == END || self.verified.pass(self.part.ranks.doc(position)) {
                return position;
            }
            target = position + 1;
        }
        END
    }

    /// Whether the row at a position is one of these rows. Call it with ascending positions.
    pub(super) fn holds(&mut self, position: u32, meter: &Meter) -> bool {
        meter.charge(self.step_units).is_ok()
            && self.positions.holds(position, meter)
            && self.verified.pass(self.part.ranks.doc(position))
    }
}
