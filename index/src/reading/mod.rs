//! The reading of a typed question: which of its words are words, and which narrow the question
//! (contract 16.17). `apple xetra` is the word `apple` and an exchange; `aapl dec 2025 200 call` is
//! the word `aapl`, a month, a strike and a type of option; `IBM US Equity` is a ticker with an
//! exchange code and a market sector.
//!
//! [`readings`] lists the possible readings of a text, and looks nothing up. [`decide`] says which
//! of them is taken: it asks whether a question finds a row. So an index in a folder and an index
//! in a cluster read a text in the same way.
//!
//! | module | reads |
//! |---|---|
//! | `identifiers` | an identifier among other words |
//! | `forms` | forms of tickers, as lists have them (`resolve/recognise.rs`) |
//! | `terms` | terms of options, bonds and futures; `days` reads their dates |
//! | `places` | names of exchanges and countries, and MICs |

mod days;
mod forms;
mod identifiers;
mod pieces;
mod places;
mod terms;

use std::ops::Range;

use crate::instrument::attribute::Attribute;
use crate::instrument::vocabulary::{Known, Vocabulary};
use crate::query::interval::{DateInterval, NumberInterval};
use crate::query::{Filters, Keywords, KnownValues, Search};
use pieces::{Piece, pieces};

/// The most words of a text that is read. A longer text is only searched for.
const WORDS_MAX: usize = 16;

/// The most bytes of a text that is read.
const TEXT_BYTES_MAX: usize = 256;

/// The most readings of a text that are tried. Each is a question to the index.
pub(crate) const READINGS_MAX: usize = 12;

/// The units of work of listing the readings of a text, and of each of its bytes.
const LIST_UNITS: u64 = 100;
const BYTE_UNITS: u64 = 2;

/// One way to read a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuestionReading {
    /// The words to search for.
    pub keywords: Keywords,
    /// The pieces of the text that narrow the question, in the order of the text.
    pub chips: Vec<Chip>,
    /// The pieces that nothing fits and that are left out.
    pub left_out: Vec<String>,
    /// The filters of the caller and those of the chips together.
    pub filters: Filters,
}

/// A piece of a text that narrows the question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chip {
    /// The piece, as it was typed.
    pub text: String,
    /// The text without the piece.
    pub without: String,
    /// The condition for a row.
    pub narrowing: Narrowing,
}

/// The condition of a chip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Narrowing {
    /// One of these values of a property.
    Values(Vec<Known>),
    /// A number of [`Attribute::NUMBERS`] in an interval.
    Number(Attribute, NumberInterval),
    /// A day of [`Attribute::DATES`] in an interval.
    Day(Attribute, DateInterval),
}

/// The outcome of trying the readings of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadingDecision {
    /// The number of the reading that was taken, if one was.
    pub taken: Option<usize>,
    /// Whether the words as typed find a row. Then no reading is tried. Also `true` without
    /// readings, since nothing was asked.
    pub words_find: bool,
}

/// A question that a decision depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// The words as typed, with the filters of the caller.
    Words,
    /// The reading with this number.
    Reading(usize),
}

/// The units of work of [`readings`] for a text.
pub(crate) fn units(text: &str) -> u64 {
    match text.len() <= TEXT_BYTES_MAX {
        true => LIST_UNITS + BYTE_UNITS * text.len() as u64,
        false => 1,
    }
}

/// Whether a text may have a reading: it has several words, or one with a mark of a form.
pub(crate) fn may_be_read(text: &str) -> bool {
    let text = text.trim();
    text.len() <= TEXT_BYTES_MAX
        && text.contains(|c: char| c.is_whitespace() || matches!(c, ':' | '.'))
}

/// The possible readings of a text, the likeliest first, at most twelve. Each contains at least one
/// chip or is an identifier among other words, leaves a word to search for, and does not contradict
/// the filters of the caller.
pub fn readings(text: &str, filters: &Filters, vocabulary: &Vocabulary) -> Vec<QuestionReading> {
    if !may_be_read(text) {
        return Vec::new();
    }
    let pieces = pieces(text);
    if pieces.is_empty() || pieces.len() > WORDS_MAX {
        return Vec::new();
    }
    let typed = TypedText { text, pieces: &pieces, vocabulary };
    let mut found: Vec<QuestionReading> = Vec::new();
    let narrowed = terms::whole(typed)
        .into_iter()
        .chain(forms::forms(typed))
        .chain(places::places(typed))
        .chain(terms::partly(typed))
        .filter(|draft| !draft.chips.is_empty());
    let drafts = identifiers::identifier(typed).into_iter().chain(narrowed);
    for reading in drafts.filter_map(|draft| draft.finish(typed, filters)) {
        let is_new = |other: &QuestionReading| {
            (&other.keywords, &other.filters) != (&reading.keywords, &reading.filters)
        };
        if found.iter().all(is_new) {
            found.push(reading);
        }
        if found.len() == READINGS_MAX {
            break;
        }
    }
    found
}

/// Decides which reading is taken: the first one that finds a row. If the words as typed find a
/// row, none is: a name may contain a place or a year, and what a search finds is never hidden.
/// `finds` says whether a question finds a row. It is asked for each question at most once.
///
/// # Errors
/// The first error of `finds`.
pub fn decide<E>(
    readings: &[QuestionReading],
    mut finds: impl FnMut(Asked) -> Result<bool, E>,
) -> Result<ReadingDecision, E> {
    if readings.is_empty() || finds(Asked::Words)? {
        return Ok(ReadingDecision { taken: None, words_find: true });
    }
    for number in 0..readings.len() {
        if finds(Asked::Reading(number))? {
            return Ok(ReadingDecision { taken: Some(number), words_find: false });
        }
    }
    Ok(ReadingDecision { taken: None, words_find: false })
}

impl QuestionReading {
    /// The pieces of the text, with the properties that they narrow. Unlike the values of a place,
    /// the form does not depend on the exchanges that an index has.
    pub fn form(&self) -> String {
        let mut form = self.keywords.text().to_owned();
        for Chip { text, narrowing, .. } in &self.chips {
            let property = match narrowing {
                Narrowing::Values(values) => values.first().map_or("", |it| it.property().name()),
                Narrowing::Number(attribute, _) | Narrowing::Day(attribute, _) => attribute.name(),
            };
            form.extend(["\n", text, "\t", property]);
        }
        self.left_out.iter().for_each(|text| form.extend(["\n", text]));
        form
    }

    /// The question that the reading asks.
    pub fn search(&self) -> Search {
        Search { keywords: Some(self.keywords.clone()), filters: self.filters.clone() }
    }

    /// About the bytes that the reading holds on the heap. Its folded words take several times the
    /// bytes of their text.
    pub(crate) fn held_bytes(&self) -> usize {
        const FOLDED: usize = 50;
        let values = |chip: &Chip| match &chip.narrowing {
            Narrowing::Values(values) => values.len(),
            _ => 0,
        };
        let chips = self.chips.iter().map(|chip| {
            let texts = chip.text.len() + chip.without.len();
            size_of::<Chip>() + texts + 2 * values(chip) * size_of::<Known>()
        });
        let left_out = self.left_out.iter().map(|text| size_of::<String>() + text.len());
        size_of::<Self>()
            + FOLDED * self.keywords.text().len()
            + chips.sum::<usize>()
            + left_out.sum::<usize>()
    }
}

/// A text that is read.
#[derive(Clone, Copy)]
struct TypedText<'a> {
    text: &'a str,
    pieces: &'a [Piece<'a>],
    vocabulary: &'a Vocabulary,
}

/// A reading before its filters are joined with those of the caller.
struct Draft {
    /// The words to search for.
    words: String,
    /// The places of the chips in the text, and their conditions.
    chips: Vec<(Range<usize>, Narrowing)>,
    /// The places of the pieces that are left out.
    left_out: Vec<Range<usize>>,
}

impl Draft {
    /// The reading; `None` when it contradicts the filters or has no word.
    fn finish(self, typed: TypedText<'_>, filters: &Filters) -> Option<QuestionReading> {
        let Self { words, mut chips, left_out } = self;
        let keywords = Keywords::parse(&words).ok().filter(|words| !words.words().is_empty())?;
        let mut narrowed = filters.clone();
        for (_, narrowing) in &chips {
            narrow(&mut narrowed, narrowing)?;
        }
        chips.sort_by_key(|(range, _)| range.start);
        let chips = chips.into_iter().map(|(range, narrowing)| Chip {
            text: typed.text[range.clone()].to_owned(),
            without: pieces::without(typed.text, &range),
            narrowing,
        });
        let left_out = left_out.into_iter().map(|range| typed.text[range].to_owned());
        let (chips, left_out) = (chips.collect(), left_out.collect());
        Some(QuestionReading { keywords, chips, left_out, filters: narrowed })
    }
}

/// Adds a condition to filters; `None` when no row could pass both.
fn narrow(filters: &mut Filters, narrowing: &Narrowing) -> Option<()> {
    match narrowing {
        Narrowing::Values(values) => {
            let mut known = KnownValues::default();
            values.iter().for_each(|value| known.allow(*value));
            filters.known = filters.known.and(&known)?;
        }
        Narrowing::Number(attribute, asked) => {
            let place = Attribute::NUMBERS.iter().position(|number| number == attribute)?;
            let own = &mut filters.numbers[place];
            let low = own.and_then(NumberInterval::low).into_iter().chain(asked.low());
            let high = own.and_then(NumberInterval::high).into_iter().chain(asked.high());
            let both = NumberInterval::new(low.reduce(f64::max), high.reduce(f64::min));
            *own = Some(both.ok()?);
        }
        Narrowing::Day(attribute, asked) => {
            let place = Attribute::DATES.iter().position(|date| date == attribute)?;
            let own = &mut filters.dates[place];
            let first = own.map_or(asked.first(), |own| own.first().max(asked.first()));
            let last = own.map_or(asked.last(), |own| own.last().min(asked.last()));
            *own = Some(DateInterval::new(Some(first), Some(last)).ok()?);
        }
    }
    Some(())
}

#[cfg(test)]
mod tests;
