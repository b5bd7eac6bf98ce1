//! Compares a row with the typed words as people would: which of the words are in its ticker and
//! name, how surely, and how well they fit.

use super::typo::{typos_between, typos_of_beginning};
use crate::instrument::kind::Kind;
use crate::instrument::names::NameKind;
use crate::part::other_names::KnownAs;
use crate::part::rows::Row;
use crate::query::Word;
use crate::words::folding::folding;
use crate::words::forms::{forms_of_name, inner_runs};
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
    /// A typed word was taken for a similar word, or words were left out.
    pub guess: bool,
    /// The row is known to hold every word as it was typed, or the whole text is its identifier,
    /// its ticker or its name.
    pub exact: bool,
}

/// The points of a row. A row with more points fits better.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fit {
    pub(crate) points: i32,
    pub(crate) matched: Matched,
    /// The place of the other name or alias that fits best, among those of the row. `None` when
    /// the ticker and the name of the row fit as well.
    pub(crate) known_as: Option<u8>,
    /// Whether the text asks for this listing: it names an exchange, or it is the FIGI of the row.
    pub(crate) is_narrowed: bool,
    /// The meaning of the whole text for the row.
    pub(crate) whole: Whole,
    /// Whether the words are all words of a name, apart from legal forms.
    pub(crate) is_covered: bool,
}

/// The meaning of a whole text for a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Whole {
    pub(crate) ticker: bool,
    /// The name of the row, or a text with a form of it.
    pub(crate) name: bool,
    pub(crate) brand: bool,
    /// Another name of it, an alias or an identifier.
    pub(crate) other: bool,
}

impl Whole {
    pub(crate) fn is_any(self) -> bool {
        self.ticker || self.name || self.brand || self.other
    }

    /// Whether it is a brand and nothing else.
    pub(crate) fn is_only_brand(self) -> bool {
        self == Self { brand: true, ..Self::default() }
    }

    fn or(self, other: Self) -> Self {
        Self {
            ticker: self.ticker || other.ticker,
            name: self.name || other.name,
            brand: self.brand || other.brand,
            other: self.other || other.other,
        }
    }
}

impl Fit {
    /// The same fit with more points.
    pub(crate) fn and(self, points: i32) -> Self {
        Self { points: self.points + points, ..self }
    }

    /// Whether words are in the name of the row, and no other name fits better.
    pub(crate) fn is_by_own_name(&self) -> bool {
        self.known_as.is_none() && self.matched.name
    }

    /// The same fit; with `is_narrowed`, the text asks for this listing.
    pub(crate) fn narrowed(self, is_narrowed: bool) -> Self {
        Self { is_narrowed, ..self }
    }

    /// Takes another fit of the same row if it has more points.
    pub(crate) fn improve(&mut self, other: Self) {
        let whole = self.whole.or(other.whole);
        if other.points > self.points {
            *self = other;
        }
        self.whole = whole;
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

/// The points that a row gains when the whole text is a name of it, and when the two have the same
/// form.
pub(crate) const WHOLE_NAME: i32 = 100;
const FOLDED: i32 = 60;

/// The most other names and aliases of a row that are compared with a text.
const KNOWN_AS_MAX: usize = 100;

/// The fewest points for the words of a row whose identifier, ticker or name is the whole text.
pub(crate) const WHOLE_MIN: i32 = 300;

/// Points for several words together.
const FIRST_WORD: i32 = 50;
const IN_ORDER: i32 = 40;
const COVERED: i32 = 60;

/// The usual size of a ticker and a name together, in bytes.
const TEXT_BYTES: usize = 48;

/// The points that a row loses because its other name fits and not its name.
fn cost_of_name(kind: Option<NameKind>) -> i32 {
    match kind {
        Some(NameKind::Brand | NameKind::Transliteration | NameKind::Short) => 10,
        None => 20,
        Some(NameKind::Former) => 50,
    }
}

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
    /// The words of the name without legal forms at its end, at least 1.
    common_words: usize,
    /// The length of the ticker within `text`, in bytes.
    ticker: usize,
    name: String,
    /// The ticker with each other name or alias.
    others: Vec<(Option<NameKind>, RowReading)>,
}

impl RowReading {
    /// The reading of a row with these other names and aliases.
    pub(crate) fn of(row: Row<'_>, others: Vec<KnownAs>) -> Self {
        let [ticker, name] = [row.ticker(), row.name()].map(|text| {
            let mut all = String::with_capacity(TEXT_BYTES);
            text.into_iter().for_each(|text| text.append_to(&mut all));
            all
        });
        let others = others.into_iter().take(KNOWN_AS_MAX);
        let others = others.map(|other| (other.kind, Self::of_texts(&ticker, other.text)));
        let others = others.collect();
        Self { others, ..Self::of_texts(&ticker, name) }
    }

    fn of_texts(ticker: &str, name: String) -> Self {
        let mut reading = Self {
            text: String::with_capacity(2 * (ticker.len() + name.len())),
            forms: Vec::with_capacity(16),
            ticker_words: 0,
            words: 0,
            common_words: 1,
            ticker: 0,
            name: String::new(),
            others: Vec::new(),
        };
        for_each_word(ticker, |word| reading.add(word));
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
        let of_name = reading.forms.iter().rev().filter(|form| form.is_whole);
        let of_name = of_name.take(reading.words - reading.ticker_words);
        let is_ending =
            |form: &&WordForm| folding().is_plain_ending(&reading.text[form.start..form.end]);
        let endings = of_name.take_while(is_ending).count();
        reading.common_words = (reading.words - reading.ticker_words - endings).max(1);
        reading
    }

    /// The approximate memory of the reading, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let texts = self.text.capacity() + self.name.capacity();
        let others: usize = self.others.iter().map(|(_, other)| other.bytes()).sum();
        size_of::<Self>() + texts + self.forms.capacity() * size_of::<WordForm>() + others
    }

    fn add(&mut self, word: &Folded) {
        let place = self.words;
        self.words += 1;
        let start = self.text.len();
        if let Some(only) = word.only_piece() {
            self.text.push_str(only);
            self.forms.push(WordForm { start, end: self.text.len(), place, is_whole: true });
            if !only.is_ascii() {
                for run in inner_runs(only) {
                    let Some(place) = only.find(&run) else { continue };
                    let start = self.text.len() - only.len() + place;
                    self.forms.push(WordForm {
                        start,
                        end: start + run.len(),
                        place,
                        is_whole: false,
                    });
                }
            }
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

    /// The number of other names and aliases.
    pub(crate) fn others(&self) -> usize {
        self.others.len()
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

    /// The points of a whole text that is an other name or an alias, or else has one of the forms of
    /// the name, an other name or an alias; with the place of that name unless it is the row's own,
    /// which counts before all others. `said` is the common name of the text.
    pub(crate) fn whole_name(&self, said: &str, forms: &[String]) -> Option<(Option<u8>, i32)> {
        let has_form = |text: &str| forms_of_name(text).iter().any(|form| forms.contains(form));
        let own = has_form(&self.name).then_some((None, FOLDED));
        let others = (0_u8..).zip(&self.others).filter_map(|(place, (kind, other))| {
            let points = if other.has_name(said) { WHOLE_NAME } else { FOLDED };
            let is_meant = points == WHOLE_NAME || has_form(&other.name);
            is_meant.then_some((Some(place), points - cost_of_name(*kind)))
        });
        // Of equally good names the first one counts.
        let all = own.into_iter().chain(others);
        let (place, points) =
            all.reduce(|best, other| if other.1 > best.1 { other } else { best })?;
        Some((place.filter(|_| own.is_none()), points))
    }

    /// The kind of an other name or alias of the row.
    pub(crate) fn kind_of(&self, known_as: u8) -> Option<NameKind> {
        self.others.get(usize::from(known_as)).and_then(|(kind, _)| *kind)
    }

    /// The points of the typed words in the name that fits them best; `None` when a word is not
    /// found in the ticker or this name and is not `is_held`.
    pub(crate) fn fit(&self, words: &[QueryWord]) -> Option<Fit> {
        let own = self.fit_own(words);
        let mut best = own;
        for (place, (kind, other)) in (0_u8..).zip(&self.others) {
            let Some(mut fit) = other.fit_own(words).filter(|fit| fit.matched.name) else {
                continue;
            };
            // The name of the row may have the same words, and only be longer.
            let own = own.filter(|own| own.matched.name && own.points + COVERED >= fit.points);
            fit.points -= cost_of_name(*kind);
            fit.known_as = own.is_none().then_some(place);
            if let Some(own) = own {
                fit.matched = own.matched;
            } else if kind.is_none() {
                (fit.matched.name, fit.matched.description) = (false, true);
            }
            if best.is_none_or(|best| fit.points > best.points) {
                best = Some(fit);
            }
        }
        best
    }

    fn fit_own(&self, words: &[QueryWord]) -> Option<Fit> {
        let mut matched = Matched::default();
        let mut points = 0;
        // The words of the name that are found, and those of which not only a piece is.
        let (mut covered, mut wholly) = (0_u64, 0_u64);
        let mut is_first = false;
        let mut last_place = None;
        let mut is_exact = !words.is_empty();
        for (number, word) in words.iter().enumerate() {
            let (mut of_ticker, mut of_name) = (None, None::<(i32, &WordForm)>);
            for form in &self.forms {
                let is_next =
                    !word.is_part || last_place.is_none_or(|last: usize| form.place == last + 1);
                let points = || points_of(word, &self.text[form.start..form.end]);
                let Some(points) = is_next.then(points).flatten() else { continue };
                let of_both =
                    if form.place < self.ticker_words { &mut of_ticker } else { &mut of_name };
                if of_both.is_none_or(|(most, _)| points > most) {
                    *of_both = Some((points, form));
                }
            }
            let is_in_name = match (of_ticker, of_name) {
                // A word that is in both, or that both begin with, is found in the name.
                (Some((ticker, _)), Some((name, _))) => {
                    name > ticker || name >= BEGINNING && (name == ticker || ticker < EQUIVALENT)
                }
                (ticker, _) => ticker.is_none(),
            };
            let best = if is_in_name { of_name } else { of_ticker };
            let Some((of_word, form)) = best else {
                // Some other name may hold a similar word, which says nothing about this one.
                if !word.is_held || word.typos > 0 {
                    return None;
                }
                matched.description = true;
                is_exact &= !word.is_unfinished && word.equivalents.is_empty();
                points += HELD;
                continue;
            };
            points += of_word;
            is_exact &= of_word == EXACT && !word.is_part;
            last_place = Some(form.place);
            matched.guess |= of_word <= CLOSE[0];
            matched.ticker |= of_ticker.is_some_and(|(points, _)| points >= of_word);
            match form.place.checked_sub(self.ticker_words) {
                None => {}
                Some(place) => {
                    matched.name = true;
                    let is_new = covered & 1 << place.min(63) == 0;
                    covered |= u64::from(form.is_whole || is_new) << place.min(63);
                    wholly |= u64::from(form.is_whole) << place.min(63);
                    is_first |= number == 0 && place == 0;
                }
            }
        }
        matched.exact = is_exact;
        let count = words.len().max(1) as i32;
        points /= count;
        if covered & 1 == 1 {
            points += FIRST_WORD;
        }
        if is_first {
            points += IN_ORDER;
        }
        // Legal forms do not count.
        let name_words = self.common_words.min(64);
        let of_name = u64::MAX >> (64 - name_words);
        points += COVERED * (covered & of_name).count_ones() as i32 / name_words as i32;
        let is_covered = matched.name && wholly & of_name == of_name;
        Some(Fit { points, matched, is_covered, ..Fit::default() })
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
