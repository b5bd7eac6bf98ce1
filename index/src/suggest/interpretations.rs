//! The interpretations of the typed words (the possible meanings), and the rows of each
//! interpretation.

use std::iter;

use tantivy::TantivyError;

use super::lookups::Lookups;
use super::names;
use super::prefix::beginning_with;
use super::reading::{Fit, QueryWord, RowReading};
use super::typo::typos_max;
use crate::error::Result;
use crate::instrument::kind::Kind;
use crate::instrument::vocabulary::{Known, Vocabulary};
use crate::meter::Meter;
use crate::part::Part;
use crate::part::beginnings::SHORT_CHARS_MAX;
use crate::query::{Filters, Keywords, Word};
use crate::search::conditions::Conditions;
use crate::search::plan::TERM_UNITS;
use crate::search::positions::{END, FewRows, Positions, STEP_UNITS};
use crate::words::folding::folding;

/// The number of steps in posting lists, and of rows that do not fit, after which an interpretation
/// is abandoned.
const STEPS_MAX: u64 = 2048;
const MISSES_MAX: usize = 96;

/// The largest number of words that are looked for; further words are ignored. People do not type
/// more for a name.
const WORDS_MAX: usize = 16;

/// The most runs of a word whose runs are looked for. A word with more is looked for only as a
/// whole.
const RUNS_MAX: usize = 8;

/// The largest number of words that are joined or checked for typos, and of places where a word is
/// split.
const GUESSED_WORDS_MAX: usize = 6;

/// The fewest characters of a single word of several that may be a whole name.
const SINGLE_CHARS_MIN: usize = 3;

/// The units of work of finding the equivalents of a word, and of each byte of the text, which is
/// folded again when words are joined.
const EQUIVALENTS_UNITS: u64 = 150;
const LETTER_UNITS: u64 = 8;

/// The units of work of looking for one word among the words of a row.
const FIT_UNITS: u64 = 20;

/// The units of work of making the interpretations of these words.
pub(super) fn units(keywords: &Keywords) -> u64 {
    let words = keywords.words().len().min(WORDS_MAX) as u64;
    2 * EQUIVALENTS_UNITS * words + LETTER_UNITS * keywords.squeezed().len() as u64
}

/// One possible meaning of the typed words.
#[derive(Clone, Debug, PartialEq)]
pub struct Interpretation {
    pub(crate) words: Vec<QueryWord>,
    /// The exchange code that the last word is taken for.
    pub(crate) exch_code: Option<Known>,
    /// The points that the interpretation adds to those of a row.
    pub(crate) points: i32,
    /// Whether the words must be a whole name of a company or a fund, apart from legal forms.
    pub(crate) is_whole_name: bool,
}

impl Interpretation {
    fn of(mut words: Vec<QueryWord>, points: i32) -> Self {
        for word in &mut words {
            word.is_held = !is_short(word) && !word.is_part;
        }
        Self { words, exch_code: None, points, is_whole_name: false }
    }

    /// The fit of a row of a kind by its reading, with the points of the interpretation; `None` if
    /// the words do not fit. An interpretation that takes points away reads other words than those
    /// that were typed, and a whole name within a text leaves words out.
    pub(crate) fn fit(&self, reading: &RowReading, kind: Kind) -> Option<Fit> {
        let is_named = |fit: &Fit| fit.is_covered && kind <= Kind::Receipt;
        let mut fit = reading.fit(&self.words)?;
        if self.is_whole_name && !is_named(&fit) {
            return None;
        }
        fit.matched.exact &= self.points >= 0;
        fit.matched.guess |= self.is_whole_name;
        Some(fit.and(self.points))
    }
}

/// Points of the interpretations.
const ON_EXCHANGE: i32 = 120;
const JOINED: i32 = -20;
const WITHOUT_CLASS: i32 = -20;
const LOOSE: i32 = -60;
const GUESSED: i32 = -100;
const SHORTENED: i32 = -200;

/// The words as typed, at most [`WORDS_MAX`]. The last one may be unfinished.
pub(crate) fn as_typed(keywords: &Keywords) -> Vec<QueryWord> {
    let words = keywords.words().iter().take(WORDS_MAX);
    let mut words: Vec<QueryWord> = words.map(QueryWord::whole).collect();
    if let Some(last) = words.last_mut() {
        last.is_unfinished = true;
    }
    words
}

/// The plain interpretations: the words as typed; the last word as an exchange code; the words
/// without an "and"; without the word before the letter of a class; two neighbours joined.
pub(super) fn plain(
    keywords: &Keywords,
    words: &[QueryWord],
    vocabulary: &Vocabulary,
) -> Vec<Interpretation> {
    let mut interpretations = vec![Interpretation::of(words.to_vec(), 0)];
    if let [before @ .., last] = keywords.words()
        && !before.is_empty()
    {
        for exch_code in last.exch_codes(vocabulary) {
            let words = before.iter().take(WORDS_MAX).map(QueryWord::whole).collect();
            let plain = Interpretation::of(words, ON_EXCHANGE);
            interpretations.push(Interpretation { exch_code: Some(exch_code), ..plain });
        }
    }
    let is_and = |word: &QueryWord| folding().is_and(&word.word.squeezed);
    if words.iter().rev().skip(1).any(is_and) {
        // A name may have a sign instead of the word.
        let last = words.len() - 1;
        let others = words.iter().enumerate().filter(|(place, it)| *place == last || !is_and(it));
        let others: Vec<_> = others.map(|(_, word)| word.clone()).collect();
        interpretations.push(Interpretation::of(others, 0));
    }
    if let [before @ .., class, letter] = words
        && !before.is_empty()
        && letter.word.squeezed.len() == 1
        && folding().is_class(&class.word.squeezed)
    {
        // Many names have only the letter, and many tickers.
        let words = [before, std::slice::from_ref(letter)].concat();
        interpretations.push(Interpretation::of(words, WITHOUT_CLASS));
    }
    for place in 1..words.len().min(GUESSED_WORDS_MAX) {
        let mut joined = words.to_vec();
        let second = joined.remove(place);
        let first = &mut joined[place - 1];
        let word = Word::of(&(first.word.squeezed.clone() + &second.word.squeezed));
        *first = QueryWord { is_unfinished: second.is_unfinished, ..QueryWord::whole(&word) };
        interpretations.push(Interpretation::of(joined, JOINED));
    }
    interpretations
}

/// An interpretation of every word as the beginning of a word.
pub(super) fn unfinished(words: &[QueryWord]) -> Interpretation {
    let words = words.iter().map(|word| QueryWord { is_unfinished: true, ..word.clone() });
    Interpretation::of(words.collect(), LOOSE)
}

/// Interpretations of a single word as two consecutive words.
pub(super) fn split(words: &[QueryWord]) -> Vec<Interpretation> {
    let mut interpretations = Vec::new();
    if let [only] = words {
        let text = &only.word.squeezed;
        for (place, _) in text.char_indices().skip(2).take(GUESSED_WORDS_MAX) {
            let (first, second) = text.split_at(place);
            if second.chars().count() >= 2 {
                let part = |text| QueryWord { is_part: true, ..QueryWord::part(Word::of(text)) };
                let (first, second) =
                    (part(first), QueryWord { is_unfinished: true, ..part(second) });
                interpretations.push(Interpretation::of(vec![first, second], LOOSE));
            }
        }
    }
    interpretations
}

/// Interpretations with one typo in a word. If some words are in no row, a single interpretation
/// allows a typo in each of these. Otherwise, there is one interpretation for each word, with a
/// typo in that word. Words in which no typo is looked for ([`typos_max`]) are left out.
pub(super) fn guessed<E>(
    words: &[QueryWord],
    is_known: impl Fn(&QueryWord) -> Result<bool, E>,
) -> Result<Vec<Interpretation>, E> {
    let unknown = unknown(words, is_known)?;
    if !unknown.is_empty() {
        return Ok(vec![mistyped(words, &unknown, 1)]);
    }
    let places = (0..words.len().min(GUESSED_WORDS_MAX))
        .filter(|place| typos_max(&words[*place].word.squeezed) > 0);
    Ok(places.map(|place| mistyped(words, &[place], 1)).collect())
}

/// The interpretation with up to two typos in each word that is in no row; `None` when no such word
/// is long enough for two. For an unfinished word, `is_known` must say whether a word of any row
/// begins with it.
pub(super) fn guessed_twice<E>(
    words: &[QueryWord],
    is_known: impl Fn(&QueryWord) -> Result<bool, E>,
) -> Result<Option<Interpretation>, E> {
    let unknown = unknown(words, is_known)?;
    let has_two = unknown.iter().any(|place| typos_max(&words[*place].word.squeezed) > 1);
    Ok(has_two.then(|| mistyped(words, &unknown, 2)))
}

/// Interpretations of a phrase of the text as a whole name: of neighbouring words, but not of all.
/// Legal forms are left out, since a name may have another one.
pub(super) fn phrases(words: &[QueryWord]) -> Vec<Interpretation> {
    let distinctive = distinctive(words);
    let longest = distinctive.len().min(words.len() - 1);
    let lengths = (2..=longest).rev();
    let phrases = lengths.flat_map(|length| distinctive.windows(length));
    phrases.map(|phrase| whole_name(phrase.iter().copied())).collect()
}

/// The interpretation of one word of the text as a whole name; `None` after the last word.
pub(super) fn single_word(words: &[QueryWord], place: usize) -> Option<Interpretation> {
    let is_long = |word: &&QueryWord| {
        let word = &word.word.squeezed;
        word.chars().count() >= SINGLE_CHARS_MIN && word.chars().any(char::is_alphabetic)
    };
    let word = distinctive(words).into_iter().filter(is_long).nth(place)?;
    Some(whole_name(iter::once(word)))
}

/// The first words without legal forms and words for "and".
fn distinctive(words: &[QueryWord]) -> Vec<&QueryWord> {
    let words = words.iter().filter(|word| {
        let word = &word.word.squeezed;
        !folding().is_ending(folding().canonical(word)) && !folding().is_and(word)
    });
    words.take(GUESSED_WORDS_MAX).collect()
}

fn whole_name<'a>(words: impl Iterator<Item = &'a QueryWord>) -> Interpretation {
    let words = words.map(|word| QueryWord { is_unfinished: false, ..word.clone() });
    let interpretation = Interpretation::of(words.collect(), SHORTENED);
    Interpretation { is_whole_name: true, ..interpretation }
}

/// The places of the words that are in no row and may be mistyped.
fn unknown<E>(
    words: &[QueryWord],
    is_known: impl Fn(&QueryWord) -> Result<bool, E>,
) -> Result<Vec<usize>, E> {
    let mut unknown = Vec::new();
    for (place, word) in words.iter().enumerate().take(GUESSED_WORDS_MAX) {
        if typos_max(&word.word.squeezed) > 0 && !is_known(word)? {
            unknown.push(place);
        }
    }
    Ok(unknown)
}

/// An interpretation with up to `typos` typos in the words at `places`.
fn mistyped(words: &[QueryWord], places: &[usize], typos: usize) -> Interpretation {
    let mut words = words.to_vec();
    for place in places {
        let word = &mut words[*place];
        word.typos = typos.min(typos_max(&word.word.squeezed));
    }
    Interpretation::of(words, GUESSED)
}

/// Whether a word of any row of a part begins with the text.
pub(super) fn is_beginning(part: &Part, text: &str, meter: &Meter) -> Result<bool> {
    Ok(!beginning_with(part, text, 1, meter)?.is_empty() || names::holds(part, text, true, meter)?)
}

/// Whether this word occurs in any row of a part.
pub(super) fn is_known(part: &Part, word: &str, meter: &Meter) -> Result<bool> {
    meter.charge(TERM_UNITS)?;
    Ok(part.words.terms().get(word).map_err(TantivyError::from)?.is_some()
        || names::holds(part, word, false, meter)?)
}

/// The first rows of a part, in the order of ranks, that hold the words of an interpretation and
/// for which `fit` gives a result. At most `rows_max` rows are returned, and fewer if the search is
/// abandoned.
pub(super) fn rows(
    part: &Part,
    lookups: &Lookups,
    interpretation: &Interpretation,
    filters: &Filters,
    rows_max: usize,
    meter: &Meter,
    mut fit: impl FnMut(u32) -> Result<Option<Fit>>,
) -> Result<Vec<(u32, Fit)>> {
    let mut filters = filters.clone();
    if let Some(exch_code) = interpretation.exch_code {
        if !filters.known.allows(exch_code) {
            return Ok(Vec::new());
        }
        filters.known.require(exch_code);
    }
    meter.charge(filters.units())?;
    let conditions = Conditions::new(part, &filters);
    let is_narrowed = filters != Filters::default();
    for short in [ShortBeginning::InRows, ShortBeginning::InDictionary] {
        let words = &interpretation.words;
        let positions = positions(part, lookups, words, short, is_narrowed, meter)?;
        let mut fit = |doc| {
            meter.charge(FIT_UNITS * words.len() as u64)?;
            fit(doc)
        };
        let (found, is_all) = walk(part, positions, &conditions, rows_max, meter, &mut fit)?;
        if !found.is_empty() || is_all {
            return Ok(found);
        }
    }
    Ok(Vec::new())
}

/// The place to look for beginnings of up to three letters. Too many rows hold such beginnings, so
/// at first these are not looked up in the dictionary like longer ones, unless the text has no
/// other word and the table of beginnings is not enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ShortBeginning {
    /// Among the rows that hold the other words. Without other words, in the table of beginnings.
    InRows,
    /// In the dictionary, like longer beginnings: too many rows hold the other words.
    InDictionary,
}

/// The first rows that fit, and whether these are all rows that fit. They may not be when
/// `rows_max` was reached or the interpretation was abandoned.
fn walk(
    part: &Part,
    mut positions: Positions<'_>,
    conditions: &Conditions<'_>,
    rows_max: usize,
    meter: &Meter,
    fit: &mut impl FnMut(u32) -> Result<Option<Fit>>,
) -> Result<(Vec<(u32, Fit)>, bool)> {
    let step_units = STEP_UNITS + conditions.row_units();
    // The count of steps does not depend on the number of lists that a step looks into. A row that
    // must hold several words counts as two steps.
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

/// Whether the word is unfinished and has at most [`SHORT_CHARS_MAX`] letters. Too many words have
/// such a beginning.
pub(crate) fn is_short(word: &QueryWord) -> bool {
    word.is_unfinished && word.word.squeezed.chars().count() <= SHORT_CHARS_MAX
}

/// The text of the longest word.
pub(crate) fn longest(words: &[QueryWord]) -> Option<&str> {
    words.iter().map(|word| &*word.word.squeezed).max_by_key(|text| text.len())
}

/// The rows that may hold the words. Words that are not `is_held` must still be looked for in each
/// row: short beginnings, and the parts of a split word.
fn positions<'a>(
    part: &'a Part,
    lookups: &Lookups,
    words: &[QueryWord],
    short: ShortBeginning,
    is_narrowed: bool,
    meter: &Meter,
) -> Result<Positions<'a>> {
    let mut sets = Vec::new();
    let is_alone = words.len() == 1;
    // Words that stand for many words of the dictionary come last. If the other words leave few
    // rows, only these rows are looked for in the many lists.
    let mut order: Vec<&QueryWord> = words.iter().collect();
    order.sort_by_key(|word| (word.typos > 0, word.is_unfinished));
    let mut few: Option<FewRows> = None;
    for word in order {
        let text = &word.word.squeezed;
        let is_short = is_short(word);
        if is_short && !is_alone && short == ShortBeginning::InRows {
            continue;
        }
        let mut any = vec![Positions::of_word(part, &word.word, meter)?];
        for other in &word.equivalents {
            any.push(Positions::of_term(part, other, meter)?);
        }
        let mut is_enough = false;
        if is_short {
            // The table has the best of all rows; filters may remove all of these.
            is_enough = word.is_listed && !is_narrowed && short == ShortBeginning::InRows;
            any.push(Positions::Few(part.beginnings.of(text).collect(), 0));
        }
        if word.is_unfinished && !is_enough {
            for found in lookups.beginning_with(part, text, meter)?.iter() {
                any.push(lookups.rows(part, found, few.as_ref(), meter)?);
            }
        }
        if word.typos > 0 {
            let (typos, is_unfinished) = (word.typos, word.is_unfinished);
            for found in lookups.neighbours(part, text, typos, is_unfinished, meter)?.iter() {
                any.push(lookups.rows(part, found, few.as_ref(), meter)?);
            }
        }
        names::add(&mut any, part, word, !is_enough, meter)?;
        any.retain(|set| set.count_max() > 0);
        if any.is_empty() {
            return Ok(Positions::NONE);
        }
        let mut set = Positions::any(any);
        if few.is_none() {
            few = FewRows::of(part, &mut set, meter);
        }
        sets.push(set);
    }
    if sets.is_empty() {
        // All words are short beginnings, so the rows of the longest one are read.
        let best = longest(words).map(|text| part.beginnings.of(text).collect());
        let best = best.unwrap_or_default();
        return Ok(Positions::Few(best, 0));
    }
    Ok(Positions::all(sets))
}

impl QueryWord {
    fn whole(word: &Word) -> Self {
        let equivalents = folding().equivalents(&word.squeezed).collect();
        Self { equivalents, ..Self::part(word.clone()) }
    }

    /// A word without equivalents, such as a part of a split word.
    fn part(mut word: Word) -> Self {
        if word.runs.len() > RUNS_MAX {
            word.runs = vec![word.squeezed.clone()];
        }
        Self { word, ..Self::default() }
    }
}
