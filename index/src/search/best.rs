//! Fifth step of a search: the best rows of one part, that is, the rows that people most likely
//! want.
//!
//! The order of a search (contract 10.2 to 10.9) is by [`Tier`], which says how a row matches; then
//! by rank, which does not depend on the question (`part::ranks`); then by FIGI. If few rows match,
//! all of them are read and sorted. If many match, one tier after the other is read in the order of
//! ranks, until the page is full.

use std::ops::Range;

use tantivy::schema::IndexRecordOption;
use tantivy::{DocSet as _, TERMINATED, Term};

use super::conditions::Conditions;
use super::matches::Matches;
use super::plan::{Driver, Plan, TERM_UNITS};
use super::positions::{END, POSITION_UNITS, STEP_UNITS};
use super::prepared::{FEW_ROWS, Prepared, RankedWords};
use super::row_set::RowSet;
use crate::error::{Error, Result};
use crate::instrument::figi::Figi;
use crate::instrument::kind::Kind;
use crate::meter::Meter;
use crate::part::Part;
use crate::part::ranks::rank::{RANK_BITS, Rank};
use crate::query::{Keywords, Place};

/// The way in which a row matches. The earlier the tier, the more surely the row is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    /// The whole text is an identifying number of the row, such as an ISIN or a FIGI.
    Identifier,
    /// The text is one word and names a company, and the row is the best listing of that company
    /// (contract 10.9).
    Named,
    /// The whole text is the ticker, the name or a symbol of the row.
    Exact,
    /// The ticker and the name hold the words, and one of several words names the row's kind.
    OfKind,
    /// The ticker and the name hold the words, or the question has no words.
    Words,
    /// The row holds the words, some of them only in its description or an alias.
    Elsewhere,
    /// The words, joined, are a symbol of the row.
    Joined,
}

impl Tier {
    /// All tiers, the first ones first.
    pub const ALL: [Self; 7] = [
        Self::Identifier,
        Self::Named,
        Self::Exact,
        Self::OfKind,
        Self::Words,
        Self::Elsewhere,
        Self::Joined,
    ];
}

/// A row of a part with its sort key: its tier, then its rank. The order is that of the answer;
/// rows with the same key are ordered by DocId, that is, by FIGI.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SortedRow {
    pub(crate) sort_key: u64,
    pub(crate) doc: u32,
}

/// Units of work of adding a row that was found in the order of ranks.
const FOUND_UNITS: u64 = 16;

/// The share of the remaining units that reading in the order of ranks may take: one eighth. When
/// few units remain, this reading usually ends before the page is full. The work is then done
/// again, in a turn (engine 8) or in the order of DocIds, so a small share wastes little.
const RANKED_SHARE: u64 = 8;

/// The units of work of comparing a row with the rows found before.
const ADD_UNITS: u64 = 3;

/// The number of postings that one unit pays for.
const POSTINGS_PER_UNIT: u64 = 4;

/// The number of postings that are charged together.
const POSTINGS_CHARGED: u64 = 4096;

/// Before a search without words reads its rows in the order of DocIds, it takes at least this many
/// steps in the order of ranks, or fewer when few units remain.
const FILTER_STEPS_MIN: u32 = 4096;

/// The best rows of a part after the place `after`, in order: `wanted` rows, or all when there are
/// fewer. `named` is the row that the text names, if the part has it.
pub(crate) fn best(
    prepared: Prepared<'_>,
    named: Option<u32>,
    keywords: Option<&Keywords>,
    after: Option<Place>,
    wanted: usize,
    meter: &Meter,
) -> Result<Vec<SortedRow>> {
    let Prepared { part, plan, exact, of_words } = prepared;
    let tiers = Tiers::new(part, &plan, exact, named, keywords, meter)?;
    let after = after.map(|after| part.ranks.after(after));
    let mut page = Collector { part, tiers, after, wanted, found: Vec::new() };
    match (&plan.driver, of_words) {
        (Driver::Words(_), None) => page.add_all(Matches::new(part, &plan, meter)?, meter)?,
        (Driver::Words(_), Some(mut of_words)) => {
            page.add_whole_text(&mut of_words, meter)?;
            let steps = meter.within(meter.left() / RANKED_SHARE);
            let found = page.add_ranked(&mut RankedRows::Words(of_words), &steps);
            meter.absorb(&steps)?;
            found?;
        }
        (Driver::Filters { filters, .. }, _) => {
            meter.charge(filters.units())?;
            let conditions = Conditions::new(part, filters);
            // If most rows pass the filters, the first rows in the order of ranks fill the page. If
            // few rows pass, all of those are read.
            let steps_max = u64::from(FILTER_STEPS_MIN.max(part.ranks.len() / 8));
            let steps_units = steps_max * (STEP_UNITS + conditions.row_units());
            let page_units = wanted as u64 * FOUND_UNITS;
            let units = (steps_units + page_units).min(meter.left() / RANKED_SHARE);
            let steps = meter.within(units);
            let found = page.add_ranked(&mut RankedRows::All(conditions), &steps);
            meter.absorb(&steps)?;
            match found {
                Err(Error::TakesMore(_)) => {
                    page.found.clear();
                    page.add_all(Matches::new(part, &plan, meter)?, meter)?;
                }
                found => found?,
            }
        }
        (Driver::Nothing, _) => {}
    }
    Ok(page.finish())
}

/// The rows of a page, as they are found.
struct Collector<'a> {
    part: &'a Part,
    tiers: Tiers<'a>,
    /// The sort key and the FIGI after which the page begins, as [`Ranks::after`] returns them.
    ///
    /// [`Ranks::after`]: crate::part::ranks::Ranks::after
    after: Option<(u64, Option<Figi>)>,
    wanted: usize,
    found: Vec<SortedRow>,
}

impl Collector<'_> {
    fn row(&self, tier: Tier, doc: u32) -> SortedRow {
        SortedRow { sort_key: self.part.ranks.rank(doc).sort_key(tier as u64), doc }
    }

    fn is_full(&self) -> bool {
        self.found.len() >= self.wanted
    }

    /// Adds a row unless it was on an earlier page.
    fn add(&mut self, tier: Tier, doc: u32) {
        let row = self.row(tier, doc);
        let is_new = self.after.is_none_or(|(sort_key, figi)| {
            row.sort_key > sort_key
                || row.sort_key == sort_key && Some(self.part.rows.figi(doc)) > figi
        });
        if is_new {
            self.found.push(row);
            if self.found.len() > 2 * self.wanted + FEW_ROWS as usize {
                self.found.select_nth_unstable(self.wanted);
                self.found.truncate(self.wanted);
            }
        }
    }

    /// Adds matching rows, in any order.
    fn add_all(&mut self, rows: impl Iterator<Item = u32>, meter: &Meter) -> Result<()> {
        for doc in rows {
            meter.charge(ADD_UNITS)?;
            self.add(self.tiers.of(self.part, doc), doc);
        }
        Ok(meter.check()?)
    }

    /// Adds the rows of the first three tiers. They are found by the whole text, not by its words.
    fn add_whole_text(&mut self, of_words: &mut [RankedWords<'_>], meter: &Meter) -> Result<()> {
        let Plan { by_number, identified, .. } = self.tiers.plan;
        for doc in by_number.iter() {
            meter.charge(ADD_UNITS)?;
            self.add(Tier::Identifier, doc);
        }
        let named = self.tiers.named.filter(|doc| !by_number.contains(*doc));
        if let Some(doc) = named {
            meter.charge(ADD_UNITS)?;
            self.add(Tier::Named, doc);
        }
        // The lists of words are in the order of ranks.
        let mut positions = RowSet::new(self.part.ranks.len());
        for doc in self.tiers.exact.iter() {
            meter.charge(POSITION_UNITS)?;
            positions.insert(self.part.ranks.position(doc));
        }
        positions.sort();
        let start = self.start(Tier::Exact, 0);
        for position in positions.iter().filter(|position| *position >= start) {
            if self.is_full() {
                break;
            }
            let doc = self.part.ranks.doc(position);
            let matches = !by_number.contains(doc)
                && named != Some(doc)
                && (identified.contains(doc)
                    || of_words.iter_mut().any(|words| words.holds(position, meter)));
            if matches {
                meter.charge(ADD_UNITS)?;
                self.found.push(self.row(Tier::Exact, doc));
            }
        }
        Ok(meter.check()?)
    }

    /// Adds the rows of one tier after the other, each tier in the order of ranks, until the page
    /// is full.
    fn add_ranked(&mut self, rows: &mut RankedRows<'_>, meter: &Meter) -> Result<()> {
        let all = 0..self.part.ranks.len();
        let mut passes: Vec<_> =
            self.tiers.of_kind.iter().map(|range| (Tier::OfKind, range.clone())).collect();
        passes.push((Tier::Words, all.clone()));
        if !self.tiers.elsewhere.is_empty() {
            passes.push((Tier::Elsewhere, all));
        }
        for (tier, range) in passes {
            rows.rewind(meter)?;
            let mut position = rows.seek(self.part, self.start(tier, range.start), meter);
            while position < range.end && !self.is_full() {
                let doc = self.part.ranks.doc(position);
                if self.tiers.of(self.part, doc) == tier {
                    meter.charge(FOUND_UNITS)?;
                    self.found.push(self.row(tier, doc));
                }
                position = rows.seek(self.part, position + 1, meter);
            }
            if self.is_full() {
                return Ok(());
            }
            // The meter may have refused a charge during the seek, which then returned the end too.
            meter.check()?;
        }
        for doc in self.tiers.plan.identified.iter() {
            if self.tiers.of(self.part, doc) == Tier::Joined {
                meter.charge(ADD_UNITS)?;
                self.add(Tier::Joined, doc);
            }
        }
        Ok(())
    }

    /// The first position of a tier that is on no earlier page. `first` is the position where the
    /// tier begins.
    fn start(&self, tier: Tier, first: u32) -> u32 {
        let Some((sort_key, figi)) = self.after else { return first };
        let before = sort_key >> RANK_BITS;
        if before != tier as u64 {
            return if before < tier as u64 { first } else { END };
        }
        let doc = figi.map_or(0, |figi| self.part.rows.first_after(figi));
        first.max(self.part.ranks.first_from(Rank::of_sort_key(sort_key), doc))
    }

    fn finish(mut self) -> Vec<SortedRow> {
        self.found.sort_unstable();
        self.found.truncate(self.wanted);
        self.found
    }
}

/// The tiers of the matching rows of a part.
struct Tiers<'a> {
    plan: &'a Plan,
    /// The rows whose ticker, name or symbol is the whole text; some of them may not match.
    exact: RowSet,
    /// The row that the text names.
    named: Option<u32>,
    /// The positions of the rows of each kind that one of several words names. The ranges ascend
    /// and do not overlap.
    of_kind: Vec<Range<u32>>,
    /// The rows that hold a term of the question only in the description or an alias.
    elsewhere: RowSet,
}

impl<'a> Tiers<'a> {
    fn new(
        part: &Part,
        plan: &'a Plan,
        exact: RowSet,
        named: Option<u32>,
        keywords: Option<&Keywords>,
        meter: &Meter,
    ) -> Result<Self> {
        let elsewhere = RowSet::new(part.rows.len() as u32);
        let mut tiers = Self { plan, exact, named, of_kind: Vec::new(), elsewhere };
        let Some(keywords) = keywords else { return Ok(tiers) };
        for word in keywords.words() {
            // A word with a single run usually equals that run.
            let whole = Some(&word.squeezed).filter(|whole| word.runs.first() != Some(*whole));
            for term in word.runs.iter().chain(whole) {
                add_elsewhere(part, term, &mut tiers.elsewhere, meter)?;
            }
        }
        tiers.elsewhere.sort();
        if let words @ [_, _, ..] = keywords.words() {
            let mut kinds: Vec<_> =
                words.iter().filter_map(|word| Kind::named_by(&word.squeezed)).collect();
            kinds.sort_unstable();
            kinds.dedup();
            tiers.of_kind = kinds.into_iter().map(|kind| part.ranks.of_kind(kind)).collect();
        }
        Ok(tiers)
    }

    /// The tier of a matching row.
    fn of(&self, part: &Part, doc: u32) -> Tier {
        if self.plan.by_number.contains(doc) {
            Tier::Identifier
        } else if self.named == Some(doc) {
            Tier::Named
        } else if self.exact.contains(doc) {
            Tier::Exact
        } else if self.plan.identified.contains(doc) {
            Tier::Joined
        } else if self.elsewhere.contains(doc) {
            Tier::Elsewhere
        } else if self.of_kind.is_empty() {
            Tier::Words
        } else {
            let position = part.ranks.position(doc);
            let is_of_kind = self.of_kind.iter().any(|range| range.contains(&position));
            if is_of_kind { Tier::OfKind } else { Tier::Words }
        }
    }
}

/// Adds the rows that hold a term only in the description or an alias.
fn add_elsewhere(part: &Part, term: &str, rows: &mut RowSet, meter: &Meter) -> Result<()> {
    meter.charge(TERM_UNITS)?;
    let inverted = part.segment.inverted_index(part.fields.elsewhere)?;
    let term = Term::from_field_text(part.fields.elsewhere, term);
    let Some(info) = inverted.get_term_info(&term).map_err(tantivy::TantivyError::from)? else {
        return Ok(());
    };
    let count = u64::from(info.doc_freq);
    meter.require(count / POSTINGS_PER_UNIT)?;
    let postings = inverted.read_postings_from_terminfo(&info, IndexRecordOption::Basic);
    let mut postings = postings.map_err(tantivy::TantivyError::from)?;
    let mut paid = 0;
    while postings.doc() != TERMINATED {
        if paid == 0 {
            paid = count.min(POSTINGS_CHARGED);
            meter.charge(1 + paid / POSTINGS_PER_UNIT)?;
        }
        paid -= 1;
        rows.insert(postings.doc());
        postings.advance();
    }
    Ok(())
}

/// The rows of a driver, in the order of ranks.
enum RankedRows<'a> {
    /// The rows of any alternative.
    Words(Vec<RankedWords<'a>>),
    /// All rows that pass the conditions.
    All(Conditions<'a>),
}

impl RankedRows<'_> {
    /// Goes back to before the first row.
    fn rewind(&mut self, meter: &Meter) -> Result<()> {
        match self {
            Self::Words(of_words) => of_words.iter_mut().try_for_each(|words| words.rewind(meter)),
            Self::All(_) => Ok(()),
        }
    }

    /// The first position from `target` on; [`END`] when there is none, or when the meter refuses
    /// a charge.
    fn seek(&mut self, part: &Part, target: u32, meter: &Meter) -> u32 {
        match self {
            Self::Words(of_words) => {
                of_words.iter_mut().map(|words| words.seek(target, meter)).min().unwrap_or(END)
            }
            Self::All(conditions) => {
                let units = STEP_UNITS + conditions.row_units();
                let mut position = target;
                while position < part.ranks.len() && meter.charge(units).is_ok() {
                    if conditions.pass(part.ranks.doc(position)) {
                        return position;
                    }
                    position += 1;
                }
                END
            }
        }
    }
}
