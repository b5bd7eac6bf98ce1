//! Reading a row as a person does: which of the asked words are in its ticker and its
//! name, how surely, and how well that fits.

use super::typo::{begins_close, is_close};
use crate::instrument::kind::Kind;
use crate::part::rows::Row;
use crate::query::Word;
use crate::words::names::common_name;
use crate::words::{Folded, for_each_word};

/// A word that is looked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) word: Word,
    /// What it may stand for, or may stand for it.
    pub(super) equivalents: Vec<&'static str>,
    /// Whether it may be the beginning of a word.
    pub(super) is_begun: bool,
    /// Whether it is one that the table of beginnings has rows for, in any part.
    pub(super) is_listed: bool,
    /// Whether a typo may be in it.
    pub(super) is_guessed: bool,
    /// Whether it is known that the row holds it, be it elsewhere.
    pub(super) is_held: bool,
    /// Whether it is a part of what was typed as one word: then it stands for nothing
    /// else, and follows the part before.
    pub(super) is_part: bool,
}

/// Why a row is suggested; several reasons may hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Matched {
    /// Words are in its ticker, or the whole text is.
    pub ticker: bool,
    /// Words are in its name.
    pub name: bool,
    /// The whole text is one of its identifiers.
    pub identifier: bool,
    /// Words are in its description or an alias.
    pub description: bool,
    /// A word was taken for a mistyped one.
    pub guess: bool,
}

/// How well a row fits: the more, the better.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Fit {
    pub(super) points: i32,
    pub(super) matched: Matched,
}

/// Points of one asked word, by how it is found.
const EXACT: i32 = 300;
const EQUIVALENT: i32 = 270;
/// For the beginning of a word, and as much again as it is of the word.
const BEGUN: i32 = 210;
const BEGUN_SHARE: i32 = 60;
const CLOSE: i32 = 120;
const BEGUN_CLOSE: i32 = 75;
const HELD: i32 = 90;

/// What a row has at the least that carries the whole text.
pub(super) const WHOLE_MIN: i32 = 300;

/// Points of the whole.
const FIRST_WORD: i32 = 50;
const IN_ORDER: i32 = 40;
const COVERED: i32 = 60;

/// A word of the ticker or the name in a form under which it is found.
struct Form {
    /// Where it stands in the text of the reading.
    start: usize,
    end: usize,
    /// Its place among the words; those of the ticker come first.
    place: usize,
    is_whole: bool,
}

/// What a row says, cut into words.
pub(super) struct Reading {
    text: String,
    forms: Vec<Form>,
    ticker_words: usize,
    words: usize,
    /// How much of the text is the ticker.
    ticker: usize,
    name: String,
}

impl Reading {
    pub(super) fn of(row: Row<'_>) -> Self {
        let ticker = row.ticker().map(|text| text.to_string()).unwrap_or_default();
        let name = row.name().map(|text| text.to_string()).unwrap_or_default();
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
            // Nobody begins with the article.
            if !(is_first && word.is("the")) {
                reading.add(word);
            }
            is_first = false;
        });
        reading.name = name;
        reading
    }

    /// The memory that it takes, about.
    pub(super) fn bytes(&self) -> usize {
        let texts = self.text.capacity() + self.name.capacity();
        size_of::<Self>() + texts + self.forms.capacity() * size_of::<Form>()
    }

    fn add(&mut self, word: &Folded) {
        let place = self.words;
        self.words += 1;
        let start = self.text.len();
        word.pieces().for_each(|piece| self.text.push_str(piece));
        let end = self.text.len();
        self.forms.push(Form { start, end, place, is_whole: true });
        // The pieces stand within the whole, one after the other.
        let mut from = start;
        for piece in word.pieces() {
            let to = from + piece.len();
            if (from, to) != (start, end) {
                self.forms.push(Form { start: from, end: to, place, is_whole: false });
            }
            from = to;
        }
    }

    /// Whether the whole text, squeezed, is the ticker.
    pub(super) fn has_ticker(&self, squeezed: &str) -> bool {
        self.text[..self.ticker] == *squeezed
    }

    /// Whether the text is the name as people say it.
    pub(super) fn has_name(&self, said: &str) -> bool {
        // What people say begins as the name does, unless that is an article alone.
        let words = &self.text[self.ticker..];
        let may_be = words.is_empty() || words.starts_with(said);
        may_be && !said.is_empty() && common_name(&self.name) == said
    }

    /// How well the asked words fit; `None` when one of them is not found.
    pub(super) fn fit(&self, asked: &[Asked]) -> Option<Fit> {
        let mut matched = Matched::default();
        let mut points = 0;
        let mut covered = 0_u64;
        let mut is_first = false;
        let mut last_place = None;
        for (number, word) in asked.iter().enumerate() {
            let mut best: Option<(i32, &Form)> = None;
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
                matched.guess |= word.is_guessed;
                points += HELD;
                continue;
            };
            points += of_word;
            last_place = Some(form.place);
            matched.guess |= of_word <= CLOSE;
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
        let count = asked.len().max(1) as i32;
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

fn points_of(asked: &Asked, form: &str) -> Option<i32> {
    let word = &*asked.word.squeezed;
    if form == word {
        return Some(EXACT);
    }
    if asked.is_begun && form.starts_with(word) {
        return Some(BEGUN + BEGUN_SHARE * word.len() as i32 / form.len() as i32);
    }
    if asked.equivalents.contains(&form) {
        return Some(EQUIVALENT);
    }
    if asked.is_guessed {
        if is_close(word, form) {
            return Some(CLOSE);
        }
        if asked.is_begun && begins_close(word, form) {
            return Some(BEGUN_CLOSE);
        }
    }
    None
}

/// What it costs a row to be of a kind that people seldom mean.
pub(super) fn cost(kind: Kind) -> i32 {
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
