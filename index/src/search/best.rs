//! The best rows of one part that answer a search: those that a person would want first.
//!
//! A row **stands** by its [`Tier`], which is how it came to match, then by its rank,
//! which it has whatever is asked (`rank`), then by its FIGI. Where few rows match, all
//! are looked at. Where many do, they are read in the order of their ranks, and reading
//! ends when the page is full.

use std::ops::Range;

use tantivy::schema::IndexRecordOption;
use tantivy::{DocSet as _, TERMINATED, Term};

use super::conditions::Conditions;
use super::matches::Matches;
use super::plan::{Driver, Plan, TERM_UNITS, Way};
use super::positions::{END, POSITION_UNITS, Positions, STEP_UNITS};
use super::row_set::RowSet;
use crate::error::{Error, Result};
use crate::instrument::kind::Kind;
use crate::meter::Meter;
use crate::part::Part;
use crate::part::ranks::rank::RANK_END;
use crate::query::{Keywords, Place, Search};

/// How a row came to match; the earlier, the more surely it is what was meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Tier {
    /// The whole text is a number of its own: an ISIN, a FIGI …
    Identifier,
    /// The whole text is its ticker, its name or another symbol.
    Exact,
    /// It holds the words, and is of the kind that one of them says.
    Said,
    /// Ticker and name hold the words, or there are none.
    Words,
    /// It takes description or alias to hold them.
    Elsewhere,
    /// The words, written together, are a symbol of it.
    Joined,
}

/// A row and where it stands in the order of a search.
pub(crate) type Standing = (u32, u32);

/// So few rows are all looked at, whatever their order.
const FEW_ROWS: u64 = 256;

/// Units of a row that is found in the order of ranks.
const FOUND_UNITS: u64 = 16;

/// Of the units that are left, the order of ranks may take one in so many. Where that is
/// little, a page is mostly not filled: then the work is done again in its turn, and the
/// less was done in vain the better.
const RANKED_SHARE: u64 = 8;

/// Units of comparing a row with those that were found before.
const TAKE_UNITS: u64 = 3;

/// Postings that are read for a unit.
const POSTINGS_PER_UNIT: u64 = 4;

/// Postings that are read for one charge.
const POSTINGS_BATCH: u64 = 4096;

/// Steps in the order of ranks that are taken for a page of filters, however small the
/// part, before its rows are walked.
const FILTER_STEPS_MIN: u32 = 4096;

/// The rows of a part after `after`, the best first, `wanted` of them if there are so
/// many.
pub(crate) fn best(
    part: &Part,
    plan: &Plan,
    search: &Search,
    after: Option<Place>,
    wanted: usize,
    meter: &Meter,
) -> Result<Vec<Standing>> {
    let tiers = Tiers::new(part, plan, search.keywords.as_ref(), meter)?;
    let mut page = Page { part, after, wanted, found: Vec::new() };
    match &plan.driver {
        Driver::Words(_) if plan.rows_max() <= FEW_ROWS => {
            let found = Matches::new(part, plan, meter)?;
            page.of_all(found, &tiers, meter)
        }
        Driver::Words(ways) => {
            let ways = ranked_ways(part, ways, meter)?;
            let steps = meter.within(meter.left() / RANKED_SHARE);
            let found = page.of_ranked(&mut Rows::Ways(ways), &tiers, &steps);
            meter.absorb(&steps)?;
            found
        }
        Driver::Filters { filters, .. } => {
            meter.charge(filters.units())?;
            let conditions = Conditions::new(part, filters);
            // Where the filters let most rows pass the first rows in the order of ranks
            // fill the page; where they do not, those that pass are the fewer.
            let steps_max = u64::from(FILTER_STEPS_MIN.max(part.ranks.len() / 8));
            let steps_units = steps_max * (STEP_UNITS + conditions.row_units());
            let page_units = wanted as u64 * FOUND_UNITS;
            let units = (steps_units + page_units).min(meter.left() / RANKED_SHARE);
            let steps = meter.within(units);
            let found = page.of_ranked(&mut Rows::All(conditions), &tiers, &steps);
            meter.absorb(&steps)?;
            match found {
                Err(Error::TakesMore(_)) => {}
                found => return found,
            }
            page.found.clear();
            let found = Matches::new(part, plan, meter)?;
            page.of_all(found, &tiers, meter)
        }
        Driver::Nothing => Ok(Vec::new()),
    }
}

/// What a page is filled with.
struct Page<'a> {
    part: &'a Part,
    after: Option<Place>,
    wanted: usize,
    found: Vec<Standing>,
}

impl Page<'_> {
    fn standing(&self, tier: Tier, doc: u32) -> u32 {
        tier as u32 * RANK_END + u32::from(self.part.ranks.rank(doc))
    }

    /// Takes a row unless it was on a page before.
    fn take(&mut self, tier: Tier, doc: u32) {
        let standing = self.standing(tier, doc);
        let is_new = self.after.is_none_or(|after| {
            standing > after.standing
                || standing == after.standing && self.part.rows.figi(doc) > after.figi
        });
        if is_new {
            self.found.push((standing, doc));
            if self.found.len() > 2 * self.wanted + FEW_ROWS as usize {
                self.found.select_nth_unstable(self.wanted);
                self.found.truncate(self.wanted);
            }
        }
    }

    fn sorted(&mut self) -> Vec<Standing> {
        self.found.sort_unstable();
        self.found.truncate(self.wanted);
        std::mem::take(&mut self.found)
    }

    fn of_all(
        &mut self,
        rows: impl Iterator<Item = u32>,
        tiers: &Tiers<'_>,
        meter: &Meter,
    ) -> Result<Vec<Standing>> {
        for doc in rows {
            meter.charge(TAKE_UNITS)?;
            self.take(tiers.of(self.part, doc), doc);
        }
        meter.check()?;
        Ok(self.sorted())
    }

    fn of_ranked(
        &mut self,
        rows: &mut Rows<'_>,
        tiers: &Tiers<'_>,
        meter: &Meter,
    ) -> Result<Vec<Standing>> {
        for (tier, doc) in tiers.first() {
            meter.charge(TAKE_UNITS)?;
            self.take(tier, doc);
        }
        self.found.sort_unstable();
        let whole = 0..self.part.ranks.len();
        let said = tiers.said.iter().map(|said| (Tier::Said, said.clone()));
        let elsewhere = (!tiers.elsewhere.is_empty()).then_some((Tier::Elsewhere, whole.clone()));
        let passes = said.chain([(Tier::Words, whole)]).chain(elsewhere);
        for (tier, range) in passes {
            rows.rewind(meter)?;
            let mut position = rows.seek(self.part, self.start(tier, range.start), meter);
            while position < range.end && self.found.len() < self.wanted {
                let doc = self.part.ranks.doc(position);
                if tiers.of(self.part, doc) == tier {
                    meter.charge(FOUND_UNITS)?;
                    self.found.push((self.standing(tier, doc), doc));
                }
                position = rows.seek(self.part, position + 1, meter);
            }
            if self.found.len() >= self.wanted {
                break;
            }
            // A seek that was refused found the end, too.
            meter.check()?;
        }
        if self.found.len() < self.wanted {
            for doc in tiers.joined() {
                meter.charge(TAKE_UNITS)?;
                self.take(Tier::Joined, doc);
            }
        }
        Ok(self.sorted())
    }

    /// The first position of a tier that was on no page before.
    fn start(&self, tier: Tier, first: u32) -> u32 {
        let Some(after) = self.after else { return first };
        let before = after.standing / RANK_END;
        if before != tier as u32 {
            return if before < tier as u32 { first } else { END };
        }
        let rank = (after.standing % RANK_END) as u16;
        let ranks = &self.part.ranks;
        first.max(ranks.first_from(rank, self.part.rows.first_after(after.figi)))
    }
}

/// How the rows of a part match.
struct Tiers<'a> {
    /// Rows that carry the whole text as an identifier or a symbol, and those of them
    /// that carry it as a number.
    identified: &'a RowSet,
    by_number: &'a RowSet,
    /// Rows whose ticker or name is the whole text, those of them that match.
    exact: RowSet,
    /// The positions of the rows of the kinds that words of the question say; they do
    /// not overlap, and ascend.
    said: Vec<Range<u32>>,
    /// Rows that hold one of the terms neither in ticker nor in name.
    elsewhere: RowSet,
}

impl<'a> Tiers<'a> {
    fn new(
        part: &Part,
        plan: &'a Plan,
        keywords: Option<&Keywords>,
        meter: &Meter,
    ) -> Result<Self> {
        let exact = matching(part, plan, meter)?;
        let (identified, by_number) = (&plan.identified, &plan.by_number);
        let elsewhere = RowSet::new(part.rows.len() as u32);
        let mut tiers = Self { identified, by_number, exact, said: Vec::new(), elsewhere };
        let Some(keywords) = keywords else { return Ok(tiers) };
        for word in keywords.words() {
            // A word of one run mostly is that run.
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
            tiers.said = kinds.into_iter().map(|kind| part.ranks.of_kind(kind)).collect();
        }
        Ok(tiers)
    }

    /// The rows of the first two tiers, which are lists.
    fn first(&self) -> impl Iterator<Item = (Tier, u32)> {
        let by_number = self.by_number.iter().map(|doc| (Tier::Identifier, doc));
        let others = self.exact.iter().filter(|doc| !self.by_number.contains(*doc));
        by_number.chain(others.map(|doc| (Tier::Exact, doc)))
    }

    /// The rows of the last tier.
    fn joined(&self) -> impl Iterator<Item = u32> {
        let is_first = |doc| self.by_number.contains(doc) || self.exact.contains(doc);
        self.identified.iter().filter(move |doc| !is_first(*doc))
    }

    fn of(&self, part: &Part, doc: u32) -> Tier {
        if self.by_number.contains(doc) {
            Tier::Identifier
        } else if self.exact.contains(doc) {
            Tier::Exact
        } else if self.identified.contains(doc) {
            Tier::Joined
        } else if self.elsewhere.contains(doc) {
            Tier::Elsewhere
        } else if self.said.is_empty() {
            Tier::Words
        } else {
            let position = part.ranks.position(doc);
            let is_said = self.said.iter().any(|range| range.contains(&position));
            if is_said { Tier::Said } else { Tier::Words }
        }
    }
}

/// Adds the rows that hold a term neither in ticker nor in name.
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
            paid = count.min(POSTINGS_BATCH);
            meter.charge(1 + paid / POSTINGS_PER_UNIT)?;
        }
        paid -= 1;
        rows.insert(postings.doc());
        postings.advance();
    }
    Ok(())
}

/// Those of the rows whose ticker or name is the whole text that answer the question.
fn matching(part: &Part, plan: &Plan, meter: &Meter) -> Result<RowSet> {
    let mut matching = RowSet::new(part.rows.len() as u32);
    if plan.exact.is_empty() {
        return Ok(matching);
    }
    let Driver::Words(ways) = &plan.driver else { return Ok(matching) };
    let mut ways = ranked_ways(part, ways, meter)?;
    // The lists of words are in the order of ranks.
    let mut positions = RowSet::new(part.rows.len() as u32);
    for doc in plan.exact.iter() {
        meter.charge(POSITION_UNITS)?;
        positions.insert(part.ranks.position(doc));
    }
    positions.sort();
    for position in positions.iter() {
        let doc = part.ranks.doc(position);
        if plan.identified.contains(doc) || ways.iter_mut().any(|way| way.holds(position, meter)) {
            matching.insert(doc);
        }
    }
    matching.sort();
    Ok(meter.check().map(|()| matching)?)
}

fn ranked_ways<'a>(part: &'a Part, ways: &'a [Way], meter: &Meter) -> Result<Vec<Ranked<'a>>> {
    ways.iter().map(|way| Ranked::new(part, way, meter)).collect()
}

/// The rows that match, in the order of their ranks.
enum Rows<'a> {
    /// In one way or another.
    Ways(Vec<Ranked<'a>>),
    /// All that pass.
    All(Conditions<'a>),
}

/// The rows of one way.
struct Ranked<'a> {
    part: &'a Part,
    way: &'a Way,
    positions: Positions<'a>,
    verified: Conditions<'a>,
    /// Units of looking at one row.
    step_units: u64,
    is_used: bool,
}

impl Rows<'_> {
    /// Goes back to the beginning.
    fn rewind(&mut self, meter: &Meter) -> Result<()> {
        match self {
            Self::Ways(ways) => ways.iter_mut().try_for_each(|way| way.rewind(meter)),
            Self::All(_) => Ok(()),
        }
    }

    /// The first position from `target` on; [`END`] when there is none, or the meter
    /// refuses a charge.
    fn seek(&mut self, part: &Part, target: u32, meter: &Meter) -> u32 {
        match self {
            Self::Ways(ways) => {
                ways.iter_mut().map(|way| way.seek(target, meter)).min().unwrap_or(END)
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

impl<'a> Ranked<'a> {
    fn new(part: &'a Part, way: &'a Way, meter: &Meter) -> Result<Self> {
        meter.charge(way.verified.units())?;
        let verified = Conditions::new(part, &way.verified);
        let step_units = STEP_UNITS + verified.row_units();
        let positions = words(part, way, meter)?;
        Ok(Self { part, way, positions, verified, step_units, is_used: false })
    }

    fn rewind(&mut self, meter: &Meter) -> Result<()> {
        // A second pass is rare, and reading the lists again is as good as a copy of them.
        if std::mem::take(&mut self.is_used) {
            self.positions = words(self.part, self.way, meter)?;
        }
        Ok(())
    }

    fn seek(&mut self, mut target: u32, meter: &Meter) -> u32 {
        self.is_used = true;
        while meter.charge(self.step_units).is_ok() {
            let position = self.positions.seek(target, meter);
            if position == END || self.verified.pass(self.part.ranks.doc(position)) {
                return position;
            }
            target = position + 1;
        }
        END
    }

    /// Whether the row at a position is one of them. Only for ascending positions.
    fn holds(&mut self, position: u32, meter: &Meter) -> bool {
        self.is_used = true;
        meter.charge(self.step_units).is_ok()
            && self.positions.holds(position, meter)
            && self.verified.pass(self.part.ranks.doc(position))
    }
}

fn words<'a>(part: &'a Part, way: &Way, meter: &Meter) -> Result<Positions<'a>> {
    let words = way.words.iter().map(|word| Positions::of_word(part, word, meter));
    Ok(Positions::all(words.collect::<Result<_>>()?))
}
