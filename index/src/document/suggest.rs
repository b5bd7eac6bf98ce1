//! Suggestions of documents. Another engine finds the candidates: by the keys of [`Clauses`], by
//! [`Candidates::spelled`], and by the interpretations of [`Guesses`]. They are scored as rows of
//! a catalogue are.
//!
//! [`Clauses`]: super::clauses::Clauses

use std::collections::BTreeMap;
use std::convert::Infallible;

use super::clauses::WordTerms;
use super::id_key;
use super::places::Places;
use super::stored::Fetched;
use crate::instrument::figi::Figi;
use crate::instrument::id_type::IdType;
use crate::instrument::vocabulary::{Known, Vocabulary};
use crate::query::Filters;
use crate::search::{Hit, RowSource as _};
use crate::suggest::interpretations::{as_typed, is_short, longest};
use crate::suggest::reading::{Fit, QueryWord, RowReading};
use crate::suggest::score::{As, WholeText, best};
use crate::suggest::spelled::{Spelled, spelled};
use crate::suggest::stages::{Stage, Typed};
use crate::suggest::{Interpretation, Matched, READ_MAX, Suggest};

/// The documents that are read for each one that is wanted, when some of them may not fit.
const READ_FACTOR: usize = 4;

/// The ways in which a text may be meant, one stage after the other: the plain ones, then those
/// that are tried only when few documents were found.
#[derive(Clone)]
pub struct Guesses<'a> {
    question: &'a Suggest,
    vocabulary: &'a Vocabulary,
    words: Vec<QueryWord>,
    stage: Stage,
}

/// A typed word as an interpretation takes it. A document holds it by its `terms`, by one of the
/// `equivalents`, or by a term that is near to `text`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypedWord<'a> {
    /// The terms of the word itself.
    pub terms: WordTerms,
    /// The terms that abbreviate it, or that it abbreviates.
    pub equivalents: &'a [&'static str],
    /// The word, folded, without punctuation.
    pub text: &'a str,
    /// Whether a term may begin with the text, too.
    pub is_beginning: bool,
    /// Whether it is a beginning of so few letters that many terms begin with it. Only one in the
    /// ticker or the name fits.
    pub is_short: bool,
    /// The most typos by which a term, or its beginning when `is_beginning`, may differ from the
    /// text: letters too many, too few or wrong, and two neighbours swapped.
    pub typos: usize,
    /// Whether only the terms of the ticker and the name count, and not those of the description
    /// and the aliases.
    pub is_of_name: bool,
}

/// The way in which a document was found for a suggestion.
#[derive(Clone, Copy, Debug)]
pub enum FoundBy<'a> {
    /// The whole text is a number of it: [`Clauses::by_number`](crate::Clauses::by_number) or
    /// [`Clauses::figi`](crate::Clauses::figi).
    Number,
    /// The whole text is its ticker, its name or a symbol of it:
    /// [`Clauses::exact`](crate::Clauses::exact), and, when
    /// [`Clauses::symbols_are_exact`](crate::Clauses::symbols_are_exact),
    /// [`Clauses::by_symbol`](crate::Clauses::by_symbol).
    Whole,
    /// The whole text says its ticker: [`Candidates::spelled`].
    Spelled,
    /// It holds the words of an interpretation.
    Words(&'a Interpretation),
}

/// The documents that may be meant, and how well each of them fits.
pub struct Candidates<'a> {
    question: &'a Suggest,
    words: Vec<QueryWord>,
    spelled: Vec<Spelled>,
    whole: WholeText,
    fits: BTreeMap<Figi, (Hit, Fit)>,
}

impl<'a> Guesses<'a> {
    /// The guesses for a question.
    pub fn new(question: &'a Suggest, vocabulary: &'a Vocabulary) -> Self {
        let words = as_typed(&question.keywords);
        Self { question, vocabulary, words, stage: Stage::Whole }
    }

    /// The words of which [`Guesses::next`] may ask whether any document has them, each with
    /// whether it asks for terms that begin with it.
    pub fn asked(&self) -> impl Iterator<Item = (&str, bool)> {
        self.words.iter().flat_map(|word| {
            let text = &*word.word.squeezed;
            let beginning = word.is_unfinished.then_some((text, true));
            [(text, false)].into_iter().chain(beginning)
        })
    }

    /// The interpretations of the next stage, perhaps none; `None` after the last stage. `found`
    /// is the number of candidates so far, of which `limit` are wanted. `has` answers
    /// [`Guesses::asked`].
    ///
    /// Of each interpretation, the first [`Interpretation::ROWS_MAX`] documents by rank and FIGI
    /// that pass the filters are enough.
    pub fn next(
        &mut self,
        found: usize,
        limit: usize,
        has: impl Fn(&str, bool) -> bool,
    ) -> Option<Vec<Interpretation>> {
        let Self { question, vocabulary, ref words, stage } = *self;
        let typed = Typed { keywords: &question.keywords, words, vocabulary };
        let has = |text: &str, is_beginning| Ok::<_, Infallible>(has(text, is_beginning));
        let Ok(next) = stage.next(typed, found, limit, has);
        let (stage, mut interpretations) = next?;
        self.stage = stage;
        let allows = |known| question.filters.known.allows(known);
        interpretations.retain(|interpretation| interpretation.exch_code.is_none_or(allows));
        Some(interpretations)
    }
}

impl Interpretation {
    /// The number of documents, the first by rank, that may fit an interpretation, and of those that
    /// are looked at for the keys of a whole text.
    pub const ROWS_MAX: usize = READ_MAX;

    /// The number of documents, the first by rank, among which those that fit are looked for. There
    /// are more of them when a document with the words may not fit.
    pub fn read_max(&self) -> usize {
        match self.words.iter().all(|word| word.is_held) {
            true => READ_MAX,
            false => READ_MAX * READ_FACTOR,
        }
    }

    /// The words, all of which a document must hold.
    pub fn words(&self) -> impl Iterator<Item = TypedWord<'_>> {
        self.words.iter().map(|word| TypedWord {
            terms: WordTerms::of(&word.word),
            equivalents: &word.equivalents,
            text: &word.word.squeezed,
            is_beginning: word.is_unfinished,
            is_short: is_short(word),
            typos: word.typos,
            is_of_name: !word.is_held,
        })
    }

    /// When all words are short beginnings, the longest of them: only documents with it among their
    /// [`beginnings`](crate::Document::beginnings) are looked for, and of these the ones that hold
    /// the other words. If it is the only word, those with one of its terms or equivalents are, too;
    /// and those with a term that begins with it, when there are filters, or no document has the
    /// beginning.
    pub fn beginning(&self) -> Option<&str> {
        match self.words.iter().all(is_short) {
            true => longest(&self.words),
            false => None,
        }
    }

    /// The exchange code that a document must have, since the last word is taken for it.
    pub fn exch_code(&self) -> Option<Known> {
        self.exch_code
    }

    /// The points that it adds to those of a document. They are negative for a guess.
    pub fn points(&self) -> i32 {
        self.points
    }
}

impl<'a> Candidates<'a> {
    /// No candidates yet.
    pub fn new(question: &'a Suggest, vocabulary: &Vocabulary) -> Self {
        let Suggest { keywords, filters } = question;
        let spelled = spelled(keywords.text(), filters, vocabulary);
        let whole = WholeText::new(keywords, &spelled);
        let words = as_typed(keywords);
        Self { question, words, spelled, whole, fits: BTreeMap::new() }
    }

    /// The keys of the tickers that the whole text says, with an exchange, a market sector or in
    /// another spelling; and the filters that a document with the key must pass.
    pub fn spelled(&self) -> impl Iterator<Item = (String, &Filters)> {
        self.spelled.iter().filter_map(|Spelled { ticker, filters }| {
            let ticker = IdType::Ticker.admit(ticker).ok()?;
            Some((id_key(&ticker), filters))
        })
    }

    /// The number of candidates.
    pub fn len(&self) -> usize {
        self.fits.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.fits.is_empty()
    }

    /// Adds a document, which passes the filters, and returns whether it fits. One that was found
    /// in several ways is added for each.
    ///
    /// # Panics
    /// When `rows` has no row of the hit.
    pub fn add(&mut self, rows: &Fetched, hit: Hit, found_by: FoundBy<'_>) -> bool {
        let row = rows.row(hit);
        let reading = RowReading::of(row);
        let whole = |found_as| Some(self.whole.fit(&reading, &self.words, found_as));
        let fit = match found_by {
            FoundBy::Number => whole(As::Number),
            FoundBy::Whole => whole(As::Whole),
            FoundBy::Spelled => whole(As::Spelled),
            FoundBy::Words(Interpretation { words, points, .. }) => {
                reading.fit(words).map(|fit| fit.and(*points))
            }
        };
        if let Some(fit) = fit {
            self.fits.entry(row.figi()).or_insert((hit, fit)).1.improve(fit);
        }
        fit.is_some()
    }

    /// One document of each security, the likeliest first, and at most `limit`, with the reasons
    /// why it is suggested.
    ///
    /// # Panics
    /// When `rows` has no row of a candidate.
    pub fn best(&self, rows: &Fetched, places: &Places, limit: usize) -> Vec<(Hit, Matched)> {
        let fits = self.fits.iter().map(|(figi, (hit, fit))| {
            let rank = rows.stored(*hit).rank();
            ((*figi, *hit), rank, *fit)
        });
        let row = |(_, hit)| rows.row(hit);
        let best = best(fits, &self.question.keywords, places.importances(), limit, row);
        best.into_iter().map(|((_, hit), matched)| (hit, matched)).collect()
    }
}
