//! The ways in which words may be meant, and the rows of each.

use tantivy::TantivyError;

use super::abbreviation::equivalents;
use super::prefix::beginning_with;
use super::reading::{Asked, Fit};
use super::typo::{may_be_mistyped, neighbours};
use crate::error::Result;
use crate::instrument::vocabulary::{Known, Vocabulary};
use crate::meter::Meter;
use crate::part::Part;
use crate::part::beginnings::SHORT_CHARS_MAX;
use crate::query::{Filters, Keywords, Word};
use crate::search::conditions::Conditions;
use crate::search::plan::TERM_UNITS;
use crate::search::positions::{END, Positions, STEP_UNITS};

/// Words of the dictionary that a beginning may stand for.
const BEGUN_WORDS_MAX: usize = 32;

/// Steps in posting lists, and rows that are read in vain, before a way is given up.
const STEPS_MAX: u64 = 2048;
const MISSES_MAX: usize = 96;

/// Words beyond these are not looked for: nobody types as many who looks for a name.
const ASKED_WORDS_MAX: usize = 16;

/// A word of more runs is looked for as it is, not by its runs.
const RUNS_MAX: usize = 8;

/// Words beyond these are not guessed at.
const GUESSED_WORDS_MAX: usize = 6;

/// Units of looking for what a word may stand for, and for each letter of the text, which
/// is folded again where words are joined.
const ASKED_UNITS: u64 = 150;
const LETTER_UNITS: u64 = 8;

/// Units of looking for one word in the words of a row.
const FIT_UNITS: u64 = 20;

/// Units of making the ways of these words.
pub(super) fn units(keywords: &Keywords) -> u64 {
    let words = keywords.words().len().min(ASKED_WORDS_MAX) as u64;
    2 * ASKED_UNITS * words + LETTER_UNITS * keywords.squeezed().len() as u64
}

/// One way in which the words may be meant.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Way {
    pub(super) words: Vec<Asked>,
    /// The exchange code that the last word was taken for.
    pub(super) exch_code: Option<Known>,
    /// What it is worth that the words are meant so.
    pub(super) points: i32,
}

const ON_EXCHANGE: i32 = 120;
const JOINED: i32 = -20;
const LOOSE: i32 = -60;
const GUESSED: i32 = -100;

/// The words as they are, the last one perhaps unfinished.
pub(super) fn as_typed(keywords: &Keywords) -> Vec<Asked> {
    let words = keywords.words().iter().take(ASKED_WORDS_MAX);
    let mut words: Vec<Asked> = words.map(Asked::whole).collect();
    if let Some(last) = words.last_mut() {
        last.is_begun = true;
    }
    words
}

/// The words as they are; the last one as an exchange code; two neighbours joined.
pub(super) fn plain(keywords: &Keywords, words: &[Asked], vocabulary: &Vocabulary) -> Vec<Way> {
    let mut ways = vec![Way { words: words.to_vec(), exch_code: None, points: 0 }];
    if let [before @ .., last] = keywords.words()
        && !before.is_empty()
    {
        for exch_code in last.exch_codes(vocabulary) {
            let words = before.iter().take(ASKED_WORDS_MAX).map(Asked::whole).collect();
            ways.push(Way { words, exch_code: Some(exch_code), points: ON_EXCHANGE });
        }
    }
    for place in 1..words.len().min(GUESSED_WORDS_MAX) {
        let mut joined = words.to_vec();
        let second = joined.remove(place);
        let first = &mut joined[place - 1];
        let word = Word::of(&(first.word.squeezed.clone() + &second.word.squeezed));
        *first = Asked { is_begun: second.is_begun, ..Asked::whole(&word) };
        ways.push(Way { words: joined, exch_code: None, points: JOINED });
    }
    ways
}

/// Every word as the beginning of one.
pub(super) fn begun(words: &[Asked]) -> Way {
    let begun = words.iter().map(|word| Asked { is_begun: true, ..word.clone() });
    Way { words: begun.collect(), exch_code: None, points: LOOSE }
}

/// A single word as two that follow each other.
pub(super) fn split(words: &[Asked]) -> Vec<Way> {
    let mut ways = Vec::new();
    if let [only] = words {
        let text = &only.word.squeezed;
        for (place, _) in text.char_indices().skip(2).take(GUESSED_WORDS_MAX) {
            let (first, second) = text.split_at(place);
            if second.chars().count() >= 2 {
                let part = |text| Asked { is_part: true, ..Asked::part(Word::of(text)) };
                let (first, second) = (part(first), Asked { is_begun: true, ..part(second) });
                ways.push(Way { words: vec![first, second], exch_code: None, points: LOOSE });
            }
        }
    }
    ways
}

/// Typos: in the words that no row has, and if all are known, in one after the other.
pub(super) fn guessed(
    words: &[Asked],
    is_known: impl Fn(&str) -> Result<bool>,
) -> Result<Vec<Way>> {
    let mut unknown = Vec::new();
    for (place, asked) in words.iter().enumerate().take(GUESSED_WORDS_MAX) {
        if may_be_mistyped(&asked.word.squeezed) && !is_known(&asked.word.squeezed)? {
            unknown.push(place);
        }
    }
    let mistyped = |places: &[usize]| {
        let mut words = words.to_vec();
        for place in places {
            words[*place].is_guessed = true;
        }
        Way { words, exch_code: None, points: GUESSED }
    };
    if !unknown.is_empty() {
        return Ok(vec![mistyped(&unknown)]);
    }
    let places = (0..words.len().min(GUESSED_WORDS_MAX))
        .filter(|place| may_be_mistyped(&words[*place].word.squeezed));
    Ok(places.map(|place| mistyped(&[place])).collect())
}

/// Whether any row has a word.
pub(super) fn is_known(part: &Part, word: &str, meter: &Meter) -> Result<bool> {
    meter.charge(TERM_UNITS)?;
    let inverted = part.segment.inverted_index(part.fields.words)?;
    Ok(inverted.terms().get(word).map_err(TantivyError::from)?.is_some())
}

/// The first rows of a part in the order of their ranks that hold the words of a way,
/// and how well each fits, which `fit` says.
pub(super) fn rows(
    part: &Part,
    way: &Way,
    filters: &Filters,
    rows_max: usize,
    meter: &Meter,
    mut fit: impl FnMut(u32, &[Asked]) -> Result<Option<Fit>>,
) -> Result<Vec<(u32, Fit)>> {
    let mut filters = filters.clone();
    if let Some(exch_code) = way.exch_code {
        if !filters.known.allows(exch_code) {
            return Ok(Vec::new());
        }
        filters.known.require(exch_code);
    }
    meter.charge(filters.units())?;
    let conditions = Conditions::new(part, &filters);
    let is_narrowed = filters != Filters::default();
    for short in [Short::Read, Short::LookedUp] {
        let mut asked = way.words.clone();
        let positions = positions(part, &mut asked, short, is_narrowed, meter)?;
        let mut fit = |doc| {
            meter.charge(FIT_UNITS * asked.len() as u64)?;
            fit(doc, &asked)
        };
        let (found, is_all) = walk(part, positions, &conditions, rows_max, meter, &mut fit)?;
        if !found.is_empty() || is_all {
            return Ok(found);
        }
    }
    Ok(Vec::new())
}

/// What becomes of a beginning that is too short to tell many rows apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Short {
    /// Beside other words it is looked for in their rows.
    Read,
    /// It is looked up as others are, since those rows were too many.
    LookedUp,
}

/// The rows, and whether there are no others; else the way was given up.
fn walk(
    part: &Part,
    mut positions: Positions<'_>,
    conditions: &Conditions<'_>,
    rows_max: usize,
    meter: &Meter,
    fit: &mut impl FnMut(u32) -> Result<Option<Fit>>,
) -> Result<(Vec<(u32, Fit)>, bool)> {
    let step_units = STEP_UNITS + conditions.row_units();
    // As many steps, however many lists one looks into; where words are joined, a row is two.
    let of_row = if matches!(positions, Positions::All(_)) { 2 } else { 1 };
    let steps = meter.within(STEPS_MAX / of_row * (step_units + positions.seek_units()));
    let mut misses = MISSES_MAX;
    let mut found = Vec::new();
    let mut position = positions.seek(0, &steps);
    while position != END && found.len() < rows_max && misses > 0 {
        if steps.charge(step_units).is_err() {
            break;
        }
        let doc = part.ranks.doc(position);
        if conditions.pass(doc) {
            match fit(doc)? {
                Some(fit) => found.push((doc, fit)),
                None => misses -= 1,
            }
        }
        position = positions.seek(position + 1, &steps);
    }
    let is_all = position == END && steps.check().is_ok();
    meter.absorb(&steps)?;
    Ok((found, is_all))
}

/// The rows that may hold the words. A word that all of them hold is marked; the others
/// are too short to be looked up, and are looked for in each row.
fn positions<'a>(
    part: &'a Part,
    asked: &mut [Asked],
    short: Short,
    is_narrowed: bool,
    meter: &Meter,
) -> Result<Positions<'a>> {
    let mut sets = Vec::new();
    let is_alone = asked.len() == 1;
    for word in &mut *asked {
        let text = word.word.squeezed.clone();
        let is_short = word.is_begun && text.chars().count() <= SHORT_CHARS_MAX;
        if is_short && !is_alone && short == Short::Read {
            continue;
        }
        let mut any = vec![Positions::of_word(part, &word.word, meter)?];
        for other in word.equivalents.clone() {
            any.push(Positions::of_term(part, other, meter)?);
        }
        let mut is_enough = false;
        if is_short {
            // The best of all rows, unless few of them are asked for.
            is_enough = word.is_listed && !is_narrowed && short == Short::Read;
            any.push(Positions::Few(part.beginnings.of(&text).collect(), 0));
        }
        if word.is_begun && !is_enough {
            for found in beginning_with(part, &text, BEGUN_WORDS_MAX, meter)? {
                any.push(Positions::of_info(part, &found, meter)?);
            }
        }
        if word.is_guessed {
            for found in neighbours(part, &text, word.is_begun, meter)? {
                any.push(Positions::of_info(part, &found, meter)?);
            }
        }
        any.retain(|set| set.count_max() > 0);
        word.is_held = !is_short && !word.is_part;
        sets.push(Positions::Any(any));
    }
    if sets.is_empty() {
        // Only short beginnings: the longest of them leads.
        let longest = asked.iter().map(|word| &word.word.squeezed).max_by_key(|text| text.len());
        let best = longest.map(|text| part.beginnings.of(text).collect()).unwrap_or_default();
        return Ok(Positions::Few(best, 0));
    }
    Ok(Positions::all(sets))
}

impl Asked {
    fn whole(word: &Word) -> Self {
        let equivalents = equivalents(&word.squeezed).collect();
        Self { equivalents, ..Self::part(word.clone()) }
    }

    /// What stands for nothing but itself.
    fn part(mut word: Word) -> Self {
        if word.runs.len() > RUNS_MAX {
            word.runs = vec![word.squeezed.clone()];
        }
        Self { word, ..Self::default() }
    }
}
