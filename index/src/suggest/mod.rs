//! Suggestions: the securities that an unfinished text may mean (contract 16.1).
//!
//! A search never guesses, because programs take its first row (contract 9.8). Suggestions guess:
//! they allow for beginnings of words, abbreviations, joined and split words, and typos. The work
//! has five steps:
//!
//! 1. [`interpretations`] lists the possible meanings of the typed words, and finds up to
//!    [`READ_MAX`] rows for each, in the order of ranks.
//! 2. [`prefix`] and [`typo`] look up the words of the dictionary that begin with a typed word, or
//!    differ from it by typos, and [`frequent`] selects the most frequent of them; [`lookups`]
//!    keeps these words for the next interpretation. The folding table knows which words stand for
//!    each other.
//! 3. [`reading`] compares each row with the typed words, and gives the row points: for the words
//!    it holds, for how surely it holds them, and for how much of its name they cover. Other names
//!    and aliases are read like the name; the best one counts ([`names`] finds their rows).
//! 4. [`spelled`] recognises longer forms of a ticker, as lists have them, such as `IBM US Equity`.
//! 5. For each security, the row with the most points decides its place (see [`score`]). The best
//!    listing of the security is shown; [`namesakes`] are the halves of one security.
//!
//! Finding the rows and scoring them are separate, so that documents of another engine are scored
//! in the same way. [`stages`] decides the order of the interpretations and when to stop.
//! [`candidates`] asks for suggestions in place of a person, for the names of a list.

pub(crate) mod candidates;
mod frequent;
pub(crate) mod interpretations;
mod lookups;
mod names;
mod namesakes;
mod prefix;
pub(crate) mod reading;
pub(crate) mod score;
pub(crate) mod securities;
pub(crate) mod spelled;
pub(crate) mod stages;
mod typo;

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasherDefault, Hasher};

pub use self::interpretations::Interpretation;
use self::interpretations::rows;
use self::lookups::Lookups;
pub use self::reading::Matched;
use self::reading::{Fit, QueryWord, RowReading};
use self::score::{As, Said, WholeText, arranged, best};
pub use self::securities::{FoundSecurity, MATCHED_UNITS, matched, other_securities, securities};
pub use self::spelled::{Misspelling, misspelling};
use self::spelled::{SPELLED_UNITS, Spelled, spelled};
use self::stages::{Stage, Typed};
use crate::error::{Error, Result};
use crate::instrument::figi::Figi;
use crate::instrument::id_type::IdValue;
use crate::instrument::vocabulary::Vocabulary;
use crate::meter::Meter;
use crate::part::Part;
use crate::part::identifiers::KeyKind;
use crate::part::other_names::KnownAs;
use crate::query::{Filters, Keywords, Search};
use crate::search::best_listing::best_listing;
use crate::search::conditions::Conditions;
use crate::search::positions::POSITION_UNITS;
use crate::search::row_set::RowSet;
use crate::search::{Hit, whole_text};

/// The largest number of rows that are read for each interpretation.
pub(crate) const READ_MAX: usize = 32;

/// The units of work of reading a row.
const READ_UNITS: u64 = 100;

/// The units of work of counting the rows of a security in a part.
pub const LISTINGS_UNITS: u64 = 12;

/// The units of work of comparing one other name of a row with the typed words, and of finding the
/// form of a name. The form of the text itself takes `FORM_BYTE_UNITS` for each byte.
const OTHER_UNITS: u64 = 100;
const FORM_UNITS: u64 = 500;
pub(crate) const FORM_BYTE_UNITS: u64 = 8;

/// The largest number of units of work for one text: fifty milliseconds. After that, the rows found
/// so far are suggested.
const SUGGEST_UNITS_MAX: u64 = 5_000_000;

/// The largest number of bytes of readings that are kept. Beyond it, a row is read again if another
/// interpretation finds it.
const READINGS_BYTES_MAX: usize = 2 << 20;

/// The largest number of bytes of readings that are kept after a meter ended the work.
const READINGS_WAITING_BYTES_MAX: usize = 32 << 10;

/// A question for suggestions.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Suggest {
    /// The typed words. The last one may be unfinished.
    pub keywords: Keywords,
    /// The filters that a suggested row must pass.
    pub filters: Filters,
}

impl Suggest {
    /// The search for the same words with the same filters.
    pub fn search(&self) -> Search {
        Search { keywords: Some(self.keywords.clone()), filters: self.filters.clone() }
    }

    /// A copy of the question without the words that follow from the text, for a cache.
    pub(crate) fn without_words(&self) -> Self {
        Self { keywords: self.keywords.without_words(), filters: self.filters.clone() }
    }
}

/// A suggested security.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suggestion {
    /// The best listing of the security (contract 16.15). If it does not pass the filters, or the
    /// text asks for another listing, the best-fitting row.
    pub hit: Hit,
    /// The number of rows of the security.
    pub listings: usize,
    /// The reasons for the suggestion.
    pub matched: Matched,
    /// The other name or alias that fits better than the name of the row.
    pub matched_name: Option<KnownAs>,
}

/// The rows that the text may mean, and how well each of them fits.
struct CandidateRows {
    fits: HashMap<Hit, Fit, OfHit>,
    /// The rows that were read; other interpretations may find them again.
    readings: HashMap<Hit, RowReading, OfHit>,
    readings_bytes: usize,
}

type OfHit = BuildHasherDefault<HitHasher>;

/// Hashes a [`Hit`]. Clients do not choose DocIds, so the hash needs no secret.
#[derive(Default)]
struct HitHasher(u64);

impl Hasher for HitHasher {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u32(u32::from(*byte)));
    }

    fn write_u32(&mut self, number: u32) {
        // The hash table uses the highest and the lowest bits.
        let spread = (self.0 ^ u64::from(number)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = spread ^ spread >> 32;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// The state of the work on one question. If a meter ends the work, the next meter continues it
/// from this state.
#[derive(Default)]
pub struct Begun {
    stage: Stage,
    /// The typed words.
    words: Vec<QueryWord>,
    /// The interpretations of the current stage whose rows were not yet added.
    pending: VecDeque<Interpretation>,
    candidates: CandidateRows,
    /// The words that were looked up in each part.
    lookups: Vec<Lookups>,
    /// The units of work spent so far.
    spent: u64,
}

/// The securities that a text may mean, one row each, the likeliest first. When the meter ends the
/// work, `begun` keeps the state: call this again with the same question, the same parts and
/// `begun` to continue.
pub(crate) fn suggest(
    parts: &[Part],
    vocabulary: &Vocabulary,
    question: &Suggest,
    limit: usize,
    begun: &mut Begun,
    meter: &Meter,
) -> Result<Vec<Suggestion>> {
    let suggester = Suggester { parts, vocabulary, question, limit };
    begun.lookups.resize_with(parts.len(), Lookups::default);
    let work = meter.within(SUGGEST_UNITS_MAX.saturating_sub(begun.spent));
    let done = suggester.go_on(begun, &work);
    begun.spent += work.spent();
    begun.candidates.forget_many();
    match done {
        // Some suggestions are better than none.
        Ok(()) | Err(Error::TakesMore(_)) => {}
        Err(error) => return Err(error),
    }
    meter.absorb(&work)?;
    meter.charge(LISTINGS_UNITS * (limit * parts.len()) as u64)?;
    suggester.best(&begun.candidates, meter)
}

/// The work for one question.
struct Suggester<'a> {
    parts: &'a [Part],
    vocabulary: &'a Vocabulary,
    question: &'a Suggest,
    limit: usize,
}

impl Suggester<'_> {
    /// Continues until all stages are done.
    fn go_on(&self, begun: &mut Begun, meter: &Meter) -> Result<()> {
        loop {
            while let Some(next) = begun.pending.front() {
                self.add(next.clone(), &begun.lookups, &mut begun.candidates, meter)?;
                begun.pending.pop_front();
            }
            let Some((stage, pending)) = self.next(begun, meter)? else { return Ok(()) };
            begun.stage = stage;
            begun.pending.extend(pending);
        }
    }

    /// The next stage and its interpretations; `None` after the last one.
    fn next(
        &self,
        begun: &mut Begun,
        meter: &Meter,
    ) -> Result<Option<(Stage, Vec<Interpretation>)>> {
        let keywords = &self.question.keywords;
        if begun.stage == Stage::Nothing {
            meter.charge(interpretations::units(keywords))?;
            begun.words = interpretations::as_typed(keywords);
            self.add_whole(&begun.words, &mut begun.candidates, meter)?;
            return Ok(Some((Stage::Whole, Vec::new())));
        }
        if begun.stage == Stage::Whole && !begun.words.is_empty() {
            meter.charge(whole_text::exch_code_units(self.vocabulary))?;
        }
        let typed = Typed { keywords, words: &begun.words, vocabulary: self.vocabulary };
        let found = begun.candidates.fits.len();
        begun.stage.next(typed, found, self.limit, |text, is_beginning| {
            self.any_part(|part| match is_beginning {
                true => interpretations::is_beginning(part, text, meter),
                false => interpretations::is_known(part, text, meter),
            })
        })
    }

    fn any_part(&self, has: impl Fn(&Part) -> Result<bool>) -> Result<bool> {
        self.parts.iter().try_fold(false, |any, part| Ok(any || has(part)?))
    }

    /// Adds the rows whose identifier, ticker or name is the whole text. The text may also name an
    /// exchange and a market sector, or spell a ticker differently.
    fn add_whole(
        &self,
        words: &[QueryWord],
        candidates: &mut CandidateRows,
        meter: &Meter,
    ) -> Result<()> {
        let Suggest { keywords, filters } = self.question;
        meter.charge(SPELLED_UNITS + FORM_BYTE_UNITS * keywords.text().len() as u64)?;
        let spelled = spelled(keywords.text(), filters, self.vocabulary);
        let whole = WholeText::new(keywords, &spelled);
        let ways =
            [As::Number, As::Whole, As::Whole, As::Form].map(|found_as| (found_as, false, 0));
        let of_spelled = |it: &Spelled| (As::Spelled, it.names_exchange(self.question), it.points);
        let ways: Vec<_> = ways.into_iter().chain(spelled.iter().map(of_spelled)).collect();
        let mut found = vec![Vec::new(); ways.len()];
        for (number, part) in (0..).zip(self.parts) {
            meter.charge(filters.units())?;
            let conditions = Conditions::new(part, filters);
            let whole_text::Identified { by_number, by_symbol } =
                whole_text::identified(part, keywords, meter)?;
            let by_symbol =
                if whole_text::is_plain(keywords.text()) { by_symbol } else { Vec::new() };
            let by_number = whole_text::rows_of(part, &by_number, &conditions, meter)?;
            let by_symbol = whole_text::rows_of(part, &by_symbol, &conditions, meter)?;
            let exact = whole_text::exact(part, keywords, self.vocabulary, meter)?;
            let formed = whole_text::formed(part, &whole.forms, meter)?;
            let formed = whole_text::rows_of(part, &formed, &conditions, meter)?;
            let mut of_part = vec![by_number, by_symbol, exact, formed];
            for Spelled { id_value, filters, .. } in &spelled {
                meter.charge(filters.units())?;
                let conditions = Conditions::new(part, filters);
                let rows = whole_text::with_identifier(part, id_value);
                of_part.push(whole_text::rows_of(part, &rows, &conditions, meter)?);
            }
            for (found, docs) in found.iter_mut().zip(of_part) {
                for position in first_positions(part, &docs, &conditions, meter)? {
                    let hit = Hit { part: number, doc: part.ranks.doc(position) };
                    found.push((part.ranks.rank(hit.doc), hit));
                }
            }
        }
        for ((found_as, is_narrowed, points), mut found) in ways.into_iter().zip(found) {
            // The same rows as if there were only one part.
            found.sort_unstable();
            for (_, hit) in found.into_iter().take(READ_MAX) {
                let fit = candidates.read(self.parts, hit, meter, |reading| {
                    if found_as == As::Form {
                        meter.charge(FORM_UNITS * (1 + reading.others() as u64))?;
                    }
                    let fit = whole.fit(reading, words, found_as);
                    Ok::<_, Error>(fit.and(points).narrowed(is_narrowed))
                })??;
                candidates.put(hit, fit);
            }
        }
        Ok(())
    }

    /// Adds the first rows of one interpretation in the order of ranks, at most [`READ_MAX`].
    fn add(
        &self,
        mut interpretation: Interpretation,
        lookups: &[Lookups],
        candidates: &mut CandidateRows,
        meter: &Meter,
    ) -> Result<()> {
        if let [only] = &mut interpretation.words[..] {
            // Decided for all parts together. Otherwise a part whose table has no rows for the word
            // would search longer than the others.
            let mut parts = self.parts.iter();
            only.is_listed =
                parts.any(|part| part.beginnings.of(&only.word.squeezed).next().is_some());
        }
        let mut found = Vec::new();
        for ((number, part), lookups) in (0..).zip(self.parts).zip(lookups) {
            let fit = |doc| {
                let hit = Hit { part: number, doc };
                let kind = part.ranks.rank(doc).kind();
                candidates.read(self.parts, hit, meter, |reading| interpretation.fit(reading, kind))
            };
            for (doc, fit) in
                rows(part, lookups, &interpretation, &self.question.filters, READ_MAX, meter, fit)?
            {
                found.push((part.ranks.rank(doc), Hit { part: number, doc }, fit));
            }
        }
        // Sorted as if there were only one part.
        found.sort_by_key(|(rank, hit, _)| (*rank, *hit));
        for (_, hit, fit) in found.into_iter().take(READ_MAX) {
            let is_narrowed = interpretation.exch_code.is_some();
            candidates.put(hit, fit.narrowed(is_narrowed));
        }
        Ok(())
    }

    /// One row of each security, the likeliest first.
    fn best(&self, candidates: &CandidateRows, meter: &Meter) -> Result<Vec<Suggestion>> {
        let importances = self.parts.first().map_or(0, |part| part.ranks.importances());
        let row = |hit: Hit| hit.row(self.parts);
        let fits = candidates.fits.iter().map(|(&hit, &fit)| {
            let rank = self.parts[hit.part as usize].ranks.rank(hit.doc);
            (hit, rank, fit)
        });
        let Suggest { keywords, filters } = self.question;
        meter.charge(FORM_BYTE_UNITS * keywords.text().len() as u64)?;
        let said = Said::of(keywords);
        let best = best(fits, &said, importances, self.limit, row).into_iter().map(|of| {
            let shown = match of.is_meant {
                true => of.row,
                false => best_listing(self.parts, of.row, filters, meter)?,
            };
            Ok((of, shown))
        });
        let best = best.collect::<Result<Vec<_>>>()?.into_iter();
        let facts = |hit: Hit| {
            let ranks = &self.parts[hit.part as usize].ranks;
            (ranks.rank(hit.doc), ranks.standing(hit.doc))
        };
        let (best, compared) = arranged(best, &said, importances, self.limit, facts, row);
        // Each of these names has the forms of a text, those of a name and its legal forms.
        meter.charge(3 * FORM_BYTE_UNITS * compared as u64)?;
        let suggested = best.into_iter().map(|(hit, of)| {
            let (found, Fit { matched, known_as, .. }) = (of.row, of.fit);
            let row = row(hit);
            let listings = listings(self.parts, row.share_class_figi(), row.composite_figi());
            let names = &self.parts[found.part as usize].names;
            let name = known_as.and_then(|place| names.of(found.doc).into_iter().nth(place.into()));
            Suggestion { hit, listings, matched, matched_name: name }
        });
        Ok(suggested.collect())
    }
}

/// The number of rows of a security: those with the same share class FIGI or, without one, with the
/// same composite FIGI. A row without both is the only one.
pub(crate) fn listings(
    parts: &[Part],
    share_class: Option<Figi>,
    composite: Option<Figi>,
) -> usize {
    let value = share_class.map(IdValue::share_class).or(composite.map(IdValue::composite));
    let Some(value) = value else { return 1 };
    let kind = KeyKind::Id(value.id_type());
    parts.iter().map(|part| part.identifiers.find(kind, value.as_str()).len()).sum()
}

/// The first positions in a set whose rows pass the conditions, at most [`READ_MAX`], in order.
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

impl Default for CandidateRows {
    fn default() -> Self {
        // Enough for one interpretation; most questions need only one.
        let fits = HashMap::with_capacity_and_hasher(64, OfHit::default());
        let readings = HashMap::with_capacity_and_hasher(64, OfHit::default());
        Self { fits, readings, readings_bytes: 0 }
    }
}

impl CandidateRows {
    /// Drops the readings if they take much memory: the work may wait long for its next meter.
    fn forget_many(&mut self) {
        if self.readings_bytes > READINGS_WAITING_BYTES_MAX {
            (self.readings, self.readings_bytes) = Default::default();
        }
    }

    /// Returns the result of `see` for a row. Reads the row unless its reading was kept before.
    fn read<T>(
        &mut self,
        parts: &[Part],
        hit: Hit,
        meter: &Meter,
        see: impl FnOnce(&RowReading) -> T,
    ) -> Result<T> {
        if let Some(reading) = self.readings.get(&hit) {
            meter.charge(OTHER_UNITS * reading.others() as u64)?;
            return Ok(see(reading));
        }
        meter.charge(READ_UNITS)?;
        let others = parts[hit.part as usize].names.of(hit.doc);
        meter.charge((READ_UNITS + OTHER_UNITS) * others.len() as u64)?;
        let reading = RowReading::of(hit.row(parts), others);
        let seen = see(&reading);
        self.readings_bytes += reading.bytes();
        if self.readings_bytes <= READINGS_BYTES_MAX {
            self.readings.insert(hit, reading);
        }
        Ok(seen)
    }

    /// Adds a row, or improves its fit.
    fn put(&mut self, hit: Hit, fit: Fit) {
        self.fits.entry(hit).or_insert(fit).improve(fit);
    }
}
