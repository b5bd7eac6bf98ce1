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
mod typo;
mod ways;

use std::collections::{BTreeSet, HashMap};

pub use self::reading::Matched;
use self::reading::{Asked, Fit, Reading, cost};
use self::ways::{Way, rows};
use crate::error::{Error, Result};
use crate::instrument::figi::Figi;
use crate::instrument::id_type::IdValue;
use crate::instrument::kind::Kind;
use crate::instrument::vocabulary::Vocabulary;
use crate::meter::Meter;
use crate::part::Part;
use crate::part::identifiers::KeyKind;
use crate::query::{Filters, Keywords};
use crate::search::conditions::Conditions;
use crate::search::positions::POSITION_UNITS;
use crate::search::row_set::RowSet;
use crate::search::{Hit, whole_text};
use crate::words::names::common_name;

/// Rows that are read of each way in which words may be meant.
const READ_MAX: usize = 32;

/// Units of reading a row, and of counting the rows of a security in a part.
const READ_UNITS: u64 = 100;
const LISTINGS_UNITS: u64 = 12;

/// The units of all suggestions for one text: fifty milliseconds. Whatever was found until
/// then is suggested.
const SUGGEST_UNITS_MAX: u64 = 5_000_000;

/// Bytes of rows that are kept as they were read; beyond that they are read again.
const READINGS_BYTES_MAX: usize = 2 << 20;

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

impl Suggest {
    /// The same question for a cache: its text stands for its words.
    pub(crate) fn without_words(&self) -> Self {
        Self { keywords: self.keywords.without_words(), filters: self.filters.clone() }
    }
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
    readings_bytes: usize,
}

/// Suggests the securities that a text may mean, one row each, the likeliest first.
pub(crate) fn suggest(
    parts: &[Part],
    vocabulary: &Vocabulary,
    asked: &Suggest,
    limit: usize,
    meter: &Meter,
) -> Result<Vec<Suggestion>> {
    let suggester = Suggester { parts, vocabulary, asked, limit };
    let mut gathered = Gathered::new();
    let work = meter.within(SUGGEST_UNITS_MAX);
    match suggester.gather_all(&mut gathered, &work) {
        // Suggestions are guesses: some are better than none.
        Ok(()) | Err(Error::TakesMore(_)) => {}
        Err(error) => return Err(error),
    }
    meter.absorb(&work)?;
    meter.charge(LISTINGS_UNITS * (limit * parts.len()) as u64)?;
    Ok(suggester.best(gathered))
}

/// The rows that may be suggested for one text.
struct Suggester<'a> {
    parts: &'a [Part],
    vocabulary: &'a Vocabulary,
    asked: &'a Suggest,
    limit: usize,
}

impl Suggester<'_> {
    fn gather_all(&self, gathered: &mut Gathered, meter: &Meter) -> Result<()> {
        let asked = self.asked;
        meter.charge(ways::units(&asked.keywords))?;
        let words = ways::as_typed(&asked.keywords);
        self.gather_whole(&words, gathered, meter)?;
        if words.is_empty() {
            return Ok(());
        }
        meter.charge(whole_text::exch_code_units(self.vocabulary))?;
        for way in ways::plain(&asked.keywords, &words, self.vocabulary) {
            self.gather(way, gathered, meter)?;
        }
        if words.len() > 1 && gathered.fits.len() < self.limit {
            self.gather(ways::begun(&words), gathered, meter)?;
        }
        if gathered.fits.is_empty() {
            for way in ways::split(&words) {
                self.gather(way, gathered, meter)?;
            }
        }
        if gathered.fits.len() < ENOUGH {
            let is_known = |word: &str| {
                let mut parts = self.parts.iter();
                parts.try_fold(false, |known, part| Ok(known || ways::is_known(part, word, meter)?))
            };
            for way in ways::guessed(&words, is_known)? {
                self.gather(way, gathered, meter)?;
            }
        }
        Ok(())
    }

    /// Gathers the rows of which the whole text is an identifier, the ticker or the name.
    fn gather_whole(&self, words: &[Asked], gathered: &mut Gathered, meter: &Meter) -> Result<()> {
        let Suggest { keywords, filters } = self.asked;
        let before = keywords.before_last().map(|(before, _)| before);
        let texts: Vec<(String, String)> = [Some(keywords.text()), before]
            .into_iter()
            .flatten()
            .map(|text| (crate::words::squeeze(text), common_name(text)))
            .collect();
        for (number, part) in (0..).zip(self.parts) {
            meter.charge(filters.units())?;
            let conditions = Conditions::new(part, filters);
            let whole_text::Identified { by_number, by_symbol } =
                whole_text::identified(part, keywords, meter)?;
            let by_symbol =
                if whole_text::is_plain(keywords.text()) { by_symbol } else { Vec::new() };
            let by_number = whole_text::rows_of(part, &by_number, Some(&conditions), meter)?;
            let by_symbol = whole_text::rows_of(part, &by_symbol, Some(&conditions), meter)?;
            let exact = whole_text::exact(part, keywords, self.vocabulary, meter)?;
            for (docs, points) in [(by_number, NUMBER), (by_symbol, WHOLE), (exact, WHOLE)] {
                for position in first_positions(part, &docs, &conditions, meter)? {
                    let hit = Hit { part: number, doc: part.ranks.doc(position) };
                    let (fit, is_ticker, is_name) =
                        gathered.read(self.parts, hit, meter, |reading| {
                            let is_ticker = texts.iter().any(|(text, _)| reading.has_ticker(text));
                            let is_name = texts.iter().any(|(_, said)| reading.has_name(said));
                            (reading.fit(words), is_ticker, is_name)
                        })?;
                    let mut fit = fit.unwrap_or_default();
                    fit.matched.ticker |= is_ticker;
                    fit.matched.name |= is_name;
                    fit.matched.identifier |= points == NUMBER || !is_ticker && !is_name;
                    fit.matched.description = false;
                    fit.points = fit.points.max(reading::WHOLE_MIN) + points;
                    gathered.put(hit, fit);
                }
            }
        }
        Ok(())
    }

    /// Gathers the rows of one way, as many as are read, the best ranks first.
    fn gather(&self, mut way: Way, gathered: &mut Gathered, meter: &Meter) -> Result<()> {
        if let [only] = &mut way.words[..] {
            // Not by each part for itself: one that has none would look further than others.
            let mut parts = self.parts.iter();
            only.is_listed =
                parts.any(|part| part.beginnings.of(&only.word.squeezed).next().is_some());
        }
        let mut found = Vec::new();
        for (number, part) in (0..).zip(self.parts) {
            let fit = |doc, words: &[Asked]| {
                let hit = Hit { part: number, doc };
                gathered.read(self.parts, hit, meter, |reading| reading.fit(words))
            };
            for (doc, fit) in rows(part, &way, &self.asked.filters, READ_MAX, meter, fit)? {
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
    fn best(&self, gathered: Gathered) -> Vec<Suggestion> {
        let said: Vec<_> = match self.asked.keywords.words() {
            words @ [_, _, ..] => {
                words.iter().filter_map(|word| Kind::named_by(&word.squeezed)).collect()
            }
            _ => Vec::new(),
        };
        let mut all: Vec<(i32, Hit, Fit)> = gathered
            .fits
            .into_iter()
            .map(|(hit, fit)| {
                let ranks = &self.parts[hit.part as usize].ranks;
                let kind = ranks.kind(hit.doc);
                let of_kind = if said.contains(&kind) { 0 } else { cost(kind) };
                (-(fit.points - of_kind - ranks.cost(hit.doc)), hit, fit)
            })
            .collect();
        all.sort_unstable_by_key(|(points, hit, _)| (*points, *hit));
        let mut seen = BTreeSet::new();
        let mut best = Vec::new();
        for (_, hit, fit) in all {
            if best.len() == self.limit {
                break;
            }
            let row = hit.row(self.parts);
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
        let parts = self.parts.iter();
        parts.map(|part| part.identifiers.find(kind, value.as_str()).len()).sum()
    }
}

/// The positions of the rows of a set that pass, the first of them, in order.
fn first_positions(
    part: &Part,
    docs: &RowSet,
    conditions: &Conditions<'_>,
    meter: &Meter,
) -> Result<Vec<u32>> {
    let mut first = Vec::new();
    for doc in docs.iter() {
        meter.charge(POSITION_UNITS + conditions.row_units())?;
        if conditions.pass(doc) {
            first.push(part.ranks.position(doc));
            if first.len() == 2 * READ_MAX {
                first.select_nth_unstable(READ_MAX);
                first.truncate(READ_MAX);
            }
        }
    }
    first.sort_unstable();
    first.truncate(READ_MAX);
    Ok(first)
}

impl Gathered {
    fn new() -> Self {
        // One way fills these, and most questions need no other.
        let (fits, readings) = (HashMap::with_capacity(64), HashMap::with_capacity(64));
        Self { fits, readings, readings_bytes: 0 }
    }

    /// What somebody sees in a row who reads it.
    fn read<T>(
        &mut self,
        parts: &[Part],
        hit: Hit,
        meter: &Meter,
        see: impl FnOnce(&Reading) -> T,
    ) -> Result<T> {
        if let Some(reading) = self.readings.get(&hit) {
            return Ok(see(reading));
        }
        meter.charge(READ_UNITS)?;
        let reading = Reading::of(hit.row(parts));
        let seen = see(&reading);
        self.readings_bytes += reading.bytes();
        if self.readings_bytes <= READINGS_BYTES_MAX {
            self.readings.insert(hit, reading);
        }
        Ok(seen)
    }

    /// Keeps the best that is said of a row.
    fn put(&mut self, hit: Hit, fit: Fit) {
        let known = self.fits.entry(hit).or_insert(fit);
        if fit.points > known.points {
            *known = fit;
        }
    }
}
