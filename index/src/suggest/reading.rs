//! Compares a row with the typed words as people would: which of the words are in its ticker and
//! name, how surely, and how well they fit.

use super::typo::{typos_between, typos_of_beginning};
use crate::instrument::kind::Kind;
use crate::part::rows::Row;
use crate::query::Word;
use crate::words::names::common_name;
use crate::words::{Folded, for_each_word};

/// A typed word and its possible meanings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct QueryWord {
    pub(crate) word: Word,
    /// The words that it may abbreviate, or that may abbreviate it.
    pub(crate) equivalents: Vec<&'static str>,
    /// Whether the word may be only a beginning.
    pub(crate) is_unfinished: bool,
    /// Whether the table of beginnings has rows for the word, in any part. Only set for a word that
    /// is the only word of an interpretation.
    pub(crate) is_listed: bool,
    /// The most typos that the word may have.
    pub(crate) typos: usize,
    /// Whether every row that the interpretation reads holds the word, or a word that it may stand
    /// for, perhaps in the description or an alias.
    pub(crate) is_held: bool,
    /// Whether the word is a part of a split word. Then it abbreviates nothing, and must follow the
    /// previous part.
    pub(crate) is_part: bool,
}

/// The reasons for suggesting a row. Several may apply (contract 16.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Matched {
    /// Some words are in the ticker of the row, or the whole text is the ticker.
    pub ticker: bool,
    /// Some words are in the name of the row.
    pub name: bool,
    /// The whole text is one of the row's identifiers.
    pub identifier: bool,
    /// Some words are in the description or an alias of the row.
    pub description: bool,
    /// A typed word was taken for a similar word.
    pub guess: bool,
}

/// The points of a row. A row with more points fits better.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fit {
    pub(crate) points: i32,
    pub(crate) matched: Matched,
}

impl Fit {
    /// The same fit with more points.
    pub(crate) fn and(self, points: i32) -> Self {
        Self { points: self.points + points, ..self }
    }

    /// Takes another fit of the same row if it has more points.
    pub(crate) fn improve(&mut self, other: Self) {
        if other.points > self.points {
            *self = other;
        }
    }
}

/// The points of one typed word, by the way in which it is found.
const EXACT: i32 = 300;
const EQUIVALENT: i32 = 270;
/// Points for the beginning of a word. `BEGINNING_SHARE` is added in proportion to the share of the
/// word's letters that was typed.
const BEGINNING: i32 = 210;
const BEGINNING_SHARE: i32 = 60;
/// Points for a word with one typo, and with two.
const CLOSE: [i32; 2] = [120, 60];
const BEGINNING_CLOSE: [i32; 2] = [75, 40];
const HELD: i32 = 90;

/// The fewest points for the words of a row whose identifier, ticker or name is the whole text.
pub(crate) const WHOLE_MIN: i32 = 300;

/// Points for several words together.
const FIRST_WORD: i32 = 50;
const IN_ORDER: i32 = 40;
const COVERED: i32 = 60;

/// The usual size of a ticker and a name together, in bytes.
const TEXT_BYTES: usize = 48;

/// A word of the ticker or the name, in one of the forms to compare.
struct WordForm {
    /// The range in the text of the reading.
    start: usize,
    end: usize,
    /// The number of the word. The words of the ticker come first.
    place: usize,
    is_whole: bool,
}

/// The ticker and the name of a row, split into words.
pub(crate) struct RowReading {
    text: String,
    forms: Vec<WordForm>,
    ticker_words: usize,
    words: usize,
    /// The length of the ticker within `text`, in bytes.
    ticker: usize,
    name: String,
}

impl RowReading {
    pub(crate) fn of(row: Row<'_>) -> Self {
        let [ticker, name] = [row.ticker(), row.name()].map(|text| {
            let mut all = String::with_capacity(TEXT_BYTES);
            text.into_iter().for_each(|text| text.append_to(&mut all));
            all
        });
        let mut reading = Self {
            text: String::with_capacity(2 * (ticker.len() + name.len())),
            forms: Vec::with_capacity(16),
            ticker_words: 0,
            words: 0,
            ticker: 0,
            name: String::new(),
        };
        for_each_word(&ticker, |word| reading.add(word));
        reading.ticker_words = reading.words;
        reading.ticker = reading.text.len();
        let mut is_first = true;
        for_each_word(&name, |word| {
            // People leave out an article at the beginning.
            if !(is_first && word.is("the")) {
                reading.add(word);
            }
            is_first = false;
        });
        reading.name = name;
        reading
    }

    /// The approximate memory of the reading, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let texts = self.text.capacity() + self.name.capacity();
        size_of::<Self>() + texts + self.forms.capacity() * size_of::<WordForm>()
    }

    fn add(&mut self, word: &Folded) {
        let place = self.words;
        self.words += 1;
        let start = self.text.len();
        if let Some(only) = word.only_piece() {
            self.text.push_str(only);
            self.forms.push(WordForm { start, end: self.text.len(), place, is_whole: true });
            return;
        }
        word.pieces().for_each(|piece| self.text.push_str(piece));
        let end = self.text.len();
        self.forms.push(WordForm { start, end, place, is_whole: true });
        // The pieces of a word are consecutive in the text of the whole word.
        let mut from = start;
        for piece in word.pieces() {
            let to = from + piece.len();
            if (from, to) != (start, end) {
                self.forms.push(WordForm { start: from, end: to, place, is_whole: false });
            }
            from = to;
        }
    }

    /// Whether the squeezed ticker of the row equals `squeezed`.
    pub(crate) fn has_ticker(&self, squeezed: &str) -> bool {
        self.text[..self.ticker] == *squeezed
    }

    /// Whether `said` is the common name of the row ([`common_name`]).
    pub(crate) fn has_name(&self, said: &str) -> bool {
        // The name begins with its common name, apart from an article. Comparing the beginning
        // first is cheaper.
        let words = &self.text[self.ticker..];
        let may_be = words.is_empty() || words.starts_with(said);
        may_be && !said.is_empty() && common_name(&self.name) == said
    }

    /// The points of the typed words; `None` when a word is not found in the ticker or the name and
    /// is not `is_held`.
    pub(crate) fn fit(&self, words: &[QueryWord]) -> Option<Fit> {
        let mut matched = Matched::default();
        let mut points = 0;
        let mut covered = 0_u64;
        let mut is_first = false;
        let mut last_place = None;
        for (number, word) in words.iter().enumerate() {
            let mut best: Option<(i32, &WordForm)> = None;
            for form in &self.forms {
                let is_next =
                    !word.is_part || last_place.is_none_or(|last: usize| form.place == last + 1);
                if is_next
                    && let Some(points) = points_of(word, &self.text[form.start..form.end])
                    && best.is_none_or(|(most, _)| points > most)
                {
                    best = Some((points, form));
                }
            }
            let Some((of_word, form)) = best else {
                if !word.is_held {
                    return None;
                }
                matched.description = true;
                matched.guess |= word.typos > 0;
                points += HELD;
                continue;
            };
            points += of_word;
            last_place = Some(form.place);
            matched.guess |= of_word <= CLOSE[0];
            match form.place.checked_sub(self.ticker_words) {
                None => matched.ticker = true,
                Some(place) => {
                    matched.name = true;
                    let is_new = covered & 1 << place.min(63) == 0;
                    covered |= u64::from(form.is_whole || is_new) << place.min(63);
                    is_first |= number == 0 && place == 0;
                }
            }
        }
        let count = words.len().max(1) as i32;
        points /= count;
        let name_words = (self.words - self.ticker_words).max(1) as i32;
        if covered & 1 == 1 {
            points += FIRST_WORD;
        }
        if is_first {
            points += IN_ORDER;
        }
        points += COVERED * (covered.count_ones() as i32).min(name_words) / name_words;
        Some(Fit { points, matched })
    }
}

/// The points of a typed word compared with a form of a row's word; `None` when they do not match.
fn points_of(query: &QueryWord, form: &str) -> Option<i32> {
    let word = &*query.word.squeezed;
    if form == word {
        return Some(EXACT);
    }
    if query.is_unfinished && form.starts_with(word) {
        return Some(BEGINNING + BEGINNING_SHARE * word.len() as i32 / form.len() as i32);
    }
    if query.equivalents.contains(&form) {
        return Some(EQUIVALENT);
    }
    if query.typos == 0 {
        return None;
    }
    let of_beginning =
        || typos_of_beginning(word, form, query.typos).filter(|_| query.is_unfinished);
    typos_between(word, form, query.typos)
        .map(|typos| CLOSE[typos.max(1) - 1])
        .or_else(|| of_beginning().map(|typos| BEGINNING_CLOSE[typos.max(1) - 1]))
}

/// The points that a row loses because people seldom mean its kind.
pub(crate) fn cost(kind: Kind) -> i32 {
    match kind {
        Kind::Share => 0,
        Kind::Fund => 30,
        Kind::Receipt => 40,
        Kind::Index | Kind::Preferred => 120,
        Kind::Right => 140,
        Kind::Currency => 160,
        Kind::Bond | Kind::Other => 200,
        Kind::Warrant | Kind::Future => 250,
        Kind::Option => 300,
    }
}
