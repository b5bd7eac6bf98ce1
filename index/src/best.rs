//! The best rows of one part that answer a search: those that a person would want first.
//!
//! A row **stands** by its [`Tier`], which is how it came to match, then by its rank,
//! which it has whatever is asked (`rank`), then by its FIGI. Where few rows match, all
//! are looked at. Where many do, they are read in the order of their ranks, and reading
//! ends when the page is full.

use std::ops::Range;

use tantivy::schema::IndexRecordOption;
use tantivy::{DocSet as _, TERMINATED, Term};

use crate::catalogue::Effort;
use crate::conditions::Conditions;
use crate::error::Result;
use crate::matches::Matches;
use crate::part::Part;
use crate::plan::{Driver, Plan, Way};
use crate::query::{Keywords, Place, Search};
use crate::rank::{self, RANK_END};
use crate::ranked::{END, Positions, Steps};

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

/// Steps in the order of ranks that are little effort, each some ten nanoseconds and,
/// where it finds a row, as much as that row takes to be told: a page is not little, for
/// whoever maps beside many that search would wait for it.
const LITTLE_STEPS: u32 = 64;

/// Steps in the order of ranks that are taken for a page of filters, however small the
/// part, before its rows are walked.
const FILTER_STEPS_MIN: u32 = 4096;

/// The rows of a part after `after`, the best first, `wanted` of them if there are so
/// many; `None` when that takes more than `effort`.
pub(crate) fn best(
    part: &Part,
    plan: Plan,
    search: &Search,
    after: Option<Place>,
    wanted: usize,
    effort: Effort,
) -> Result<Option<Vec<Standing>>> {
    let tiers = Tiers::new(part, &plan, search.keywords.as_ref())?;
    let steps = Steps(if effort == Effort::Little { LITTLE_STEPS } else { u32::MAX });
    let mut page = Page { part, after, wanted, steps, found: Vec::new() };
    match &plan.driver {
        Driver::Words(_) if plan.walked_max() <= FEW_ROWS => {
            let found = Matches::new(part, plan, u32::MAX)?;
            Ok(Some(page.of_all(found, &tiers)))
        }
        Driver::Words(ways) => {
            let ways = ways.iter().map(|way| Ranked::new(part, way)).collect::<Result<_>>()?;
            page.of_ranked(&mut Rows::Ways(ways), &tiers)
        }
        Driver::Filters { filters, .. } => {
            // Where the filters let most rows pass the first rows in the order of ranks
            // fill the page; where they do not, those that pass are the fewer.
            page.steps.0 = page.steps.0.min(FILTER_STEPS_MIN.max(part.ranks.len() / 8));
            let conditions = Conditions::new(part, filters);
            if let Some(found) = page.of_ranked(&mut Rows::All(conditions), &tiers)? {
                return Ok(Some(found));
            }
            page.found.clear();
            let mut found = Matches::new(part, plan, effort.blocks_max())?;
            let all = page.of_all(&mut found, &tiers);
            Ok(found.blocks_left().is_some().then_some(all))
        }
        Driver::Nothing => Ok(Some(Vec::new())),
    }
}

/// What a page is filled with.
struct Page<'a> {
    part: &'a Part,
    after: Option<Place>,
    wanted: usize,
    steps: Steps,
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
        }
    }

    fn sorted(&mut self) -> Vec<Standing> {
        self.found.sort_unstable();
        self.found.truncate(self.wanted);
        std::mem::take(&mut self.found)
    }

    fn of_all(&mut self, rows: impl Iterator<Item = u32>, tiers: &Tiers) -> Vec<Standing> {
        for doc in rows {
            self.take(tiers.of(self.part, doc), doc);
            if self.found.len() > 2 * self.wanted + FEW_ROWS as usize {
                self.found.select_nth_unstable(self.wanted);
                self.found.truncate(self.wanted);
            }
        }
        self.sorted()
    }

    /// `None` when no step was left.
    fn of_ranked(&mut self, rows: &mut Rows<'_>, tiers: &Tiers) -> Result<Option<Vec<Standing>>> {
        for (tier, doc) in tiers.first() {
            self.take(tier, doc);
        }
        self.found.sort_unstable();
        let whole = 0..self.part.ranks.len();
        let said = tiers.said.iter().map(|said| (Tier::Said, said.clone()));
        let elsewhere = (!tiers.elsewhere.is_empty()).then_some((Tier::Elsewhere, whole.clone()));
        let passes = said.chain([(Tier::Words, whole)]).chain(elsewhere);
        for (tier, range) in passes {
            rows.rewind()?;
            let mut position = rows.seek(self.part, self.start(tier, range.start), &mut self.steps);
            while position < range.end && self.found.len() < self.wanted {
                let doc = self.part.ranks.doc(position);
                if tiers.of(self.part, doc) == tier {
                    self.found.push((self.standing(tier, doc), doc));
                }
                position = rows.seek(self.part, position + 1, &mut self.steps);
            }
            if self.found.len() >= self.wanted {
                break;
            }
            if self.steps.0 == 0 {
                return Ok(None);
            }
        }
        if self.found.len() < self.wanted {
            for doc in &tiers.joined {
                self.take(Tier::Joined, *doc);
            }
        }
        Ok(Some(self.sorted()))
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
struct Tiers {
    /// Rows that carry the whole text as an identifier, ascending.
    identified: Vec<u32>,
    /// Rows whose ticker or name is the whole text, ascending, those of them that match.
    exact: Vec<u32>,
    /// Rows that carry the whole text as a symbol otherwise, ascending.
    joined: Vec<u32>,
    /// The positions of the rows of the kinds that words of the question say; they do
    /// not overlap, and ascend.
    said: Vec<Range<u32>>,
    /// Rows that hold one of the terms neither in ticker nor in name, ascending.
    elsewhere: Vec<u32>,
}

impl Tiers {
    fn new(part: &Part, plan: &Plan, keywords: Option<&Keywords>) -> Result<Self> {
        let (identified, exact) = (plan.by_number.clone(), matching(part, plan)?);
        let (said, elsewhere, joined) = Default::default();
        let mut tiers = Self { identified, exact, joined, said, elsewhere };
        let others = plan.identified.iter().copied();
        tiers.joined = others
            .filter(|doc| !has(&tiers.identified, *doc) && !has(&tiers.exact, *doc))
            .collect();
        let Some(keywords) = keywords else { return Ok(tiers) };
        let inverted = part.segment.inverted_index(part.fields.elsewhere)?;
        for word in keywords.words() {
            for term in word.runs.iter().chain([&word.squeezed]) {
                let term = Term::from_field_text(part.fields.elsewhere, term);
                let postings = inverted.read_postings(&term, IndexRecordOption::Basic);
                let Some(mut postings) = postings.map_err(tantivy::TantivyError::from)? else {
                    continue;
                };
                while postings.doc() != TERMINATED {
                    tiers.elsewhere.push(postings.doc());
                    postings.advance();
                }
            }
        }
        tiers.elsewhere.sort_unstable();
        tiers.elsewhere.dedup();
        if let words @ [_, _, ..] = keywords.words() {
            let mut kinds: Vec<_> =
                words.iter().filter_map(|word| rank::said(&word.squeezed)).collect();
            kinds.sort_unstable();
            kinds.dedup();
            tiers.said = kinds.into_iter().map(|kind| part.ranks.of_kind(kind)).collect();
        }
        Ok(tiers)
    }

    /// The rows of the tiers that are lists.
    fn first(&self) -> impl Iterator<Item = (Tier, u32)> {
        let identified = self.identified.iter().map(|doc| (Tier::Identifier, *doc));
        let others = self.exact.iter().filter(|doc| !has(&self.identified, **doc));
        identified.chain(others.map(|doc| (Tier::Exact, *doc)))
    }

    fn of(&self, part: &Part, doc: u32) -> Tier {
        if has(&self.identified, doc) {
            Tier::Identifier
        } else if has(&self.exact, doc) {
            Tier::Exact
        } else if has(&self.joined, doc) {
            Tier::Joined
        } else if has(&self.elsewhere, doc) {
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

fn has(docs: &[u32], doc: u32) -> bool {
    !docs.is_empty() && docs.binary_search(&doc).is_ok()
}

/// Those of the rows whose ticker or name is the whole text that answer the question.
fn matching(part: &Part, plan: &Plan) -> Result<Vec<u32>> {
    if plan.exact.is_empty() {
        return Ok(Vec::new());
    }
    let mut matches = Matches::new(part, plan.clone(), u32::MAX)?;
    Ok(plan.exact.iter().copied().filter(|doc| matches.hold(*doc)).collect())
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
    is_used: bool,
}

impl Rows<'_> {
    /// Goes back to the beginning.
    fn rewind(&mut self) -> Result<()> {
        match self {
            Self::Ways(ways) => ways.iter_mut().try_for_each(Ranked::rewind),
            Self::All(_) => Ok(()),
        }
    }

    /// The first position from `target` on; [`END`] when there is none.
    fn seek(&mut self, part: &Part, target: u32, steps: &mut Steps) -> u32 {
        match self {
            Self::Ways(ways) => {
                ways.iter_mut().map(|way| way.seek(target, steps)).min().unwrap_or(END)
            }
            Self::All(conditions) => {
                let mut position = target;
                while position < part.ranks.len() && steps.0 > 0 {
                    steps.0 -= 1;
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
    fn new(part: &'a Part, way: &'a Way) -> Result<Self> {
        let verified = Conditions::new(part, &way.verified);
        Ok(Self { part, way, positions: words(part, way)?, verified, is_used: false })
    }

    fn rewind(&mut self) -> Result<()> {
        // A second pass is rare, and reading the lists anew is as good as a copy of them.
        if std::mem::take(&mut self.is_used) {
            self.positions = words(self.part, self.way)?;
        }
        Ok(())
    }

    fn seek(&mut self, mut target: u32, steps: &mut Steps) -> u32 {
        self.is_used = true;
        while steps.0 > 0 {
            steps.0 -= 1;
            let position = self.positions.seek(target, steps);
            if position == END || self.verified.pass(self.part.ranks.doc(position)) {
                return position;
            }
            target = position + 1;
        }
        END
    }
}

fn words<'a>(part: &'a Part, way: &Way) -> Result<Positions<'a>> {
    let words = way.words.iter().map(|word| Positions::of_word(part, word));
    Ok(Positions::all(words.collect::<Result<_>>()?))
}
