//! Suggestions: what a person may mean who is still typing.
//!
//! A search finds what matches and nothing else, for programs take its first row. Here
//! is the guessing: beginnings of words, abbreviations, words joined and split, one typo.
//! Rows that may be meant are gathered in the order of their ranks, some dozens of them,
//! then **read** (`reading`): which words they hold, how surely, and how much of the name
//! that is. Of each security the row that fits best is suggested, once.

mod abbreviation;
mod prefix;
mod reading;
mod remembered;
mod typo;
mod ways;

use std::collections::{BTreeSet, HashMap};

pub(crate) use self::prefix::{Beginnings, write};
pub use self::reading::Matched;
use self::reading::{Asked, Fit, Reading, cost};
pub(crate) use self::remembered::Remembered;
use self::ways::{Way, rows};
use crate::catalogue::{Catalogue, Effort, Hit};
use crate::conditions::Conditions;
use crate::error::Result;
use crate::figi::Figi;
use crate::id_type::IdValue;
use crate::identifiers::KeyKind;
use crate::names::said_name;
use crate::query::{Filters, Keywords};
use crate::rank;
use crate::typed;

/// Rows that are read of each way in which words may be meant.
const READ_MAX: usize = 32;

/// Fewer suggestions than these, and a typo is looked for.
const ENOUGH: usize = 3;

/// What the whole text is worth, when it is all of something.
const NUMBER: i32 = 5_000;
const WHOLE: i32 = 190;

/// What is typed, and what narrows it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Suggest {
    /// The words; the last one may be unfinished.
    pub keywords: Keywords,
    /// What a suggested row must be.
    pub filters: Filters,
}

/// A row that may be meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Suggestion {
    /// The listing of its security that fits best.
    pub hit: Hit,
    /// How many rows the security has.
    pub listings: usize,
    /// Why it is suggested.
    pub matched: Matched,
}

/// The rows that may be meant, and how well each fits.
struct Gathered {
    fits: HashMap<Hit, Fit>,
    /// What was read, for who reads it again in another way.
    readings: HashMap<Hit, Reading>,
}

impl Catalogue {
    /// What may be meant, one row for each security, the likeliest first; `None` when it
    /// takes more than `effort`.
    ///
    /// # Errors
    /// When the index cannot be read, which a verified one can.
    pub fn suggest(
        &self,
        asked: &Suggest,
        limit: usize,
        effort: Effort,
    ) -> Result<Option<Vec<Suggestion>>> {
        if let Some(known) = self.suggested.get(asked, limit) {
            return Ok(Some(known));
        }
        let found = self.suggest_anew(asked, limit, effort)?;
        if let Some(found) = &found {
            self.suggested.remember(asked, limit, found);
        }
        Ok(found)
    }

    /// As [`Catalogue::suggest`], whatever was suggested before: for those who measure.
    ///
    /// # Errors
    /// As [`Catalogue::suggest`].
    pub fn suggest_anew(
        &self,
        asked: &Suggest,
        limit: usize,
        effort: Effort,
    ) -> Result<Option<Vec<Suggestion>>> {
        let mut gathered = Gathered::new();
        self.gather_whole(asked, &mut gathered)?;
        let words = asked.keywords.words();
        if words.is_empty() {
            return Ok(Some(self.best(gathered, asked, limit)));
        }
        for way in ways::plain(&asked.keywords, self.vocabulary()) {
            self.gather(way, asked, &mut gathered)?;
        }
        if words.len() > 1 && gathered.fits.len() < limit {
            self.gather(ways::begun(&asked.keywords), asked, &mut gathered)?;
        }
        if gathered.fits.is_empty() {
            for way in ways::split(&asked.keywords) {
                self.gather(way, asked, &mut gathered)?;
            }
        }
        if gathered.fits.len() < ENOUGH {
            if effort == Effort::Little {
                return Ok(None);
            }
            let is_known = |word: &str| {
                let parts = &self.generation.parts;
                parts.iter().try_fold(false, |known, part| Ok(known || ways::is_known(part, word)?))
            };
            for way in ways::guessed(&asked.keywords, is_known)? {
                self.gather(way, asked, &mut gathered)?;
            }
        }
        Ok(Some(self.best(gathered, asked, limit)))
    }

    /// Gathers the rows of which the whole text is an identifier, the ticker or the name.
    fn gather_whole(&self, asked: &Suggest, gathered: &mut Gathered) -> Result<()> {
        let keywords = &asked.keywords;
        let words = ways::as_typed(keywords);
        let before = keywords.before_last().map(|(before, _)| before);
        let texts: Vec<(String, String)> = [Some(keywords.text()), before]
            .into_iter()
            .flatten()
            .map(|text| (crate::words::squeeze(text), said_name(text)))
            .collect();
        for (number, part) in (0..).zip(&self.generation.parts) {
            let conditions = Conditions::new(part, &asked.filters);
            let typed::Identified { by_number, by_symbol } = typed::identified(part, keywords);
            let by_symbol = if typed::is_plain(keywords.text()) { by_symbol } else { Vec::new() };
            let exact = typed::exact(part, keywords, self.vocabulary());
            for (docs, points) in [(by_number, NUMBER), (by_symbol, WHOLE), (exact, WHOLE)] {
                let mut positions: Vec<u32> = docs
                    .into_iter()
                    .filter(|doc| conditions.pass(*doc))
                    .map(|doc| part.ranks.position(doc))
                    .collect();
                positions.sort_unstable();
                for position in positions.into_iter().take(READ_MAX) {
                    let doc = part.ranks.doc(position);
                    let reading = gathered.readings.entry(Hit { part: number, doc });
                    let reading = reading.or_insert_with(|| Reading::of(part.rows.get(doc)));
                    let mut fit = reading.fit(&words).unwrap_or_default();
                    let is_ticker = texts.iter().any(|(text, _)| reading.has_ticker(text));
                    let is_name = texts.iter().any(|(_, said)| reading.has_name(said));
                    fit.matched.ticker |= is_ticker;
                    fit.matched.name |= is_name;
                    fit.matched.identifier |= points == NUMBER || !is_ticker && !is_name;
                    fit.matched.description = false;
                    fit.points = fit.points.max(reading::WHOLE_MIN) + points;
                    gathered.put(Hit { part: number, doc }, fit);
                }
            }
        }
        Ok(())
    }

    /// Gathers the rows of one way, as many as are read, the best ranks first.
    fn gather(&self, mut way: Way, asked: &Suggest, gathered: &mut Gathered) -> Result<()> {
        if let [only] = &mut way.words[..] {
            // Not by each part for itself: one that has none would look further than others.
            let mut parts = self.generation.parts.iter();
            only.is_listed =
                parts.any(|part| part.beginnings.of(&only.word.squeezed).next().is_some());
        }
        let mut found = Vec::new();
        for (number, part) in (0..).zip(&self.generation.parts) {
            let fit = |doc, words: &[Asked]| {
                let reading = gathered.readings.entry(Hit { part: number, doc });
                reading.or_insert_with(|| Reading::of(part.rows.get(doc))).fit(words)
            };
            for (doc, fit) in rows(part, &way, &asked.filters, READ_MAX, fit)? {
                found.push((part.ranks.rank(doc), Hit { part: number, doc }, fit));
            }
        }
        // As one part would have them, however many there are.
        found.sort_by_key(|(rank, hit, _)| (*rank, *hit));
        for (_, hit, fit) in found.into_iter().take(READ_MAX) {
            let fit = Fit { points: fit.points + way.points, ..fit };
            gathered.put(hit, fit);
        }
        Ok(())
    }

    /// One row of each security, the likeliest first.
    fn best(&self, gathered: Gathered, asked: &Suggest, limit: usize) -> Vec<Suggestion> {
        let said: Vec<_> = match asked.keywords.words() {
            words @ [_, _, ..] => {
                words.iter().filter_map(|word| rank::said(&word.squeezed)).collect()
            }
            _ => Vec::new(),
        };
        let mut all: Vec<(i32, Hit, Fit)> = gathered
            .fits
            .into_iter()
            .map(|(hit, fit)| {
                let ranks = &self.generation.parts[hit.part as usize].ranks;
                let kind = ranks.kind(hit.doc);
                let of_kind = if said.contains(&kind) { 0 } else { cost(kind) };
                (-(fit.points - of_kind - ranks.cost(hit.doc)), hit, fit)
            })
            .collect();
        all.sort_unstable_by_key(|(points, hit, _)| (*points, *hit));
        let mut seen = BTreeSet::new();
        let mut best = Vec::new();
        for (_, hit, fit) in all {
            if best.len() == limit {
                break;
            }
            let row = self.row(hit);
            let of = row.share_class_figi().or(row.composite_figi());
            if seen.insert(of.unwrap_or(row.figi())) {
                let listings = self.listings(row.share_class_figi(), row.composite_figi());
                best.push(Suggestion { hit, listings, matched: fit.matched });
            }
        }
        best
    }

    /// How many rows a security has.
    fn listings(&self, share_class: Option<Figi>, composite: Option<Figi>) -> usize {
        let value = share_class.map(IdValue::share_class).or(composite.map(IdValue::composite));
        let Some(value) = value else { return 1 };
        let kind = KeyKind::Id(value.id_type());
        let parts = self.generation.parts.iter();
        parts.map(|part| part.identifiers.find(kind, value.as_str()).len()).sum()
    }
}

impl Gathered {
    fn new() -> Self {
        // One way fills these, and most questions need no other.
        let (fits, readings) = (HashMap::with_capacity(64), HashMap::with_capacity(64));
        Self { fits, readings }
    }

    /// Keeps the best that is said of a row.
    fn put(&mut self, hit: Hit, fit: Fit) {
        let known = self.fits.entry(hit).or_insert(fit);
        if fit.points > known.points {
            *known = fit;
        }
    }
}
