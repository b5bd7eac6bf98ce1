//! Suggestions of documents. Another engine finds the candidates: by the keys of [`Clauses`], by
//! [`Candidates::spelled`], and by the interpretations of [`Guesses`]. They are scored like the
//! rows of a catalogue.
//!
//! [`Clauses`]: super::clauses::Clauses

use std::collections::BTreeMap;
use std::convert::Infallible;

use super::clauses::WordTerms;
use super::places::Places;
use super::stored::Fetched;
use super::{id_key, key};
use crate::instrument::figi::Figi;
use crate::instrument::vocabulary::{Known, Vocabulary};
use crate::part::identifiers::KeyKind;
use crate::part::other_names::KnownAs;
use crate::query::Filters;
use crate::search::{Hit, RowSource as _};
use crate::suggest::interpretations::{as_typed, is_short, longest};
use crate::suggest::reading::{Fit, QueryWord, RowReading};
use crate::suggest::score::{As, OfSecurity, Said, WholeText, arranged, best};
use crate::suggest::spelled::{Spelled, spelled};
use crate::suggest::stages::{Stage, Typed};
use crate::suggest::{Interpretation, Matched, READ_MAX, Suggest};

/// The number of documents to read for each one that is wanted, when some of them may not fit.
const READ_FACTOR: usize = 4;

/// The possible meanings of a text, in stages: plain ones first, then guesses that are tried only
/// when few documents were found.
#[derive(Clone)]
pub struct Guesses<'a> {
    question: &'a Suggest,
    vocabulary: &'a Vocabulary,
    words: Vec<QueryWord>,
    stage: Stage,
}

/// A typed word in an interpretation. A document holds the word by its `terms`, by one of the
/// `equivalents`, or by a term that is similar to `text`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypedWord<'a> {
    /// The terms of the word itself.
    pub terms: WordTerms,
    /// The terms that abbreviate the word, or that the word abbreviates.
    pub equivalents: &'a [&'static str],
    /// The word, folded, without punctuation.
    pub text: &'a str,
    /// Whether a document also holds the word by a term that begins with the text.
    pub is_beginning: bool,
    /// Whether the text is so short that many terms begin with it. Then only a term of the ticker,
    /// a name or an alias fits.
    pub is_short: bool,
    /// The most typos by which a term may differ from the text. If `is_beginning`, the beginning of
    /// a term may differ by as many. A typo is a missing, extra or wrong letter, or a swap of two
    /// neighbours.
    pub typos: usize,
}

/// The way in which a document was found for a suggestion.
#[derive(Clone, Copy, Debug)]
pub enum FoundBy<'a> {
    /// The whole text is a number of the document:
    /// [`Clauses::by_number`](crate::Clauses::by_number) or
    /// [`Clauses::figi`](crate::Clauses::figi).
    Number,
    /// The whole text is the ticker, the name or a symbol of the document:
    /// [`Clauses::exact`](crate::Clauses::exact), and, when
    /// [`Clauses::symbols_are_exact`](crate::Clauses::symbols_are_exact),
    /// [`Clauses::by_symbol`](crate::Clauses::by_symbol).
    Whole,
    /// The whole text spells out the ticker: the item of [`Candidates::spelled`] with this number.
    Spelled(usize),
    /// The whole text has the form of a name: [`Candidates::forms`].
    Form,
    /// The document holds the words of an interpretation.
    Words(&'a Interpretation),
}

/// The document that fits a text best, of a security that the text may mean.
#[derive(Clone, Debug)]
pub struct Suggested {
    /// The document.
    pub hit: Hit,
    /// Whether it is shown itself: it is the best listing, or the text asks for this listing.
    pub is_shown: bool,
    of: OfSecurity<(Figi, Hit)>,
}

/// The documents that the text may mean, and how well each of them fits.
pub struct Candidates<'a> {
    question: &'a Suggest,
    words: Vec<QueryWord>,
    spelled: Vec<Spelled>,
    whole: WholeText,
    said: Said<'a>,
    fits: BTreeMap<Figi, (Hit, Fit)>,
}

impl<'a> Guesses<'a> {
    /// The guesses for a question.
    pub fn new(question: &'a Suggest, vocabulary: &'a Vocabulary) -> Self {
        let words = as_typed(&question.keywords);
        Self { question, vocabulary, words, stage: Stage::Whole }
    }

    /// The words for which [`Guesses::next`] may ask whether any document holds them. The flag of
    /// each says whether a term that begins with the word also counts.
    pub fn asked(&self) -> impl Iterator<Item = (&str, bool)> {
        self.words.iter().flat_map(|word| {
            let text = &*word.word.squeezed;
            let beginning = word.is_unfinished.then_some((text, true));
            [(text, false)].into_iter().chain(beginning)
        })
    }

    /// The interpretations of the next stage, perhaps none; `None` after the last stage. `found` is
    /// the number of candidates so far, and `limit` the number that is wanted. `has` answers the
    /// words of [`Guesses::asked`].
    ///
    /// For each interpretation, the first [`Interpretation::ROWS_MAX`] documents by rank and FIGI
    /// that pass the filters and fit are enough.
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
    /// The most documents that are wanted for an interpretation, or for the keys of a whole text:
    /// the first ones by rank that fit.
    pub const ROWS_MAX: usize = READ_MAX;

    /// The most documents, first by rank, in which to look for those that fit. It is larger when a
    /// document with the words may not fit.
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
        })
    }

    /// The longest word, when all words are short beginnings. Then a document must have it among
    /// its [`beginnings`](crate::Document::beginnings) and hold the other words. If it is the only
    /// word, one of its terms or equivalents is enough, too. If in addition there are filters, or
    /// no document has the beginning, a term that begins with the word is also enough.
    pub fn beginning(&self) -> Option<&str> {
        match self.words.iter().all(is_short) {
            true => longest(&self.words),
            false => None,
        }
    }

    /// The exchange code that a document must have, because the last word is read as a code.
    pub fn exch_code(&self) -> Option<Known> {
        self.exch_code
    }

    /// The points that the interpretation adds to those of a document. A guess has negative points.
    pub fn points(&self) -> i32 {
        self.points
    }
}

impl<'a> Candidates<'a> {
    /// An empty set of candidates.
    pub fn new(question: &'a Suggest, vocabulary: &Vocabulary) -> Self {
        let Suggest { keywords, filters } = question;
        let spelled = spelled(keywords.text(), filters, vocabulary);
        let whole = WholeText::new(keywords, &spelled);
        let words = as_typed(keywords);
        let said = Said::of(&question.keywords);
        Self { question, words, spelled, whole, said, fits: BTreeMap::new() }
    }

    /// The keys of the tickers that the whole text spells out (with an exchange, with a market
    /// sector, or in another spelling) and of the numbers that it labels, each with its number for
    /// [`FoundBy::Spelled`] and with the filters that its documents must pass.
    pub fn spelled(&self) -> impl Iterator<Item = (usize, String, &Filters)> {
        let spelled = self.spelled.iter().enumerate();
        spelled
            .map(|(number, Spelled { id_value, filters, .. })| (number, id_key(id_value), filters))
    }

    /// The keys of the forms of the whole text (contract 16.16).
    pub fn forms(&self) -> Vec<String> {
        let forms = self.whole.forms.iter();
        let keys =
            forms.flat_map(|form| [KeyKind::Form, KeyKind::Name].map(|kind| key(kind, form)));
        keys.collect()
    }

    /// The number of candidates.
    pub fn len(&self) -> usize {
        self.fits.len()
    }

    /// Whether there are no candidates.
    pub fn is_empty(&self) -> bool {
        self.fits.is_empty()
    }

    /// Adds a document that passes the filters. Returns whether it fits. Call this once for each
    /// way in which the document was found.
    ///
    /// # Panics
    /// When `rows` has no row of the hit.
    pub fn add(&mut self, rows: &Fetched, hit: Hit, found_by: FoundBy<'_>) -> bool {
        let row = rows.row(hit);
        let reading = RowReading::of(row, rows.stored(hit).known_as());
        let (is_narrowed, of_spelling) = match found_by {
            FoundBy::Number | FoundBy::Whole | FoundBy::Form => (false, 0),
            FoundBy::Spelled(number) => self
                .spelled
                .get(number)
                .map_or((false, 0), |it| (it.names_exchange(self.question), it.points)),
            FoundBy::Words(interpretation) => (interpretation.exch_code.is_some(), 0),
        };
        let whole = |found_as| Some(self.whole.fit(&reading, &self.words, found_as));
        let fit = match found_by {
            FoundBy::Number => whole(As::Number),
            FoundBy::Whole => whole(As::Whole),
            FoundBy::Spelled(_) => whole(As::Spelled),
            FoundBy::Form => whole(As::Form),
            FoundBy::Words(interpretation) => {
                interpretation.fit(&reading, rows.stored(hit).rank().kind())
            }
        };
        if let Some(fit) = fit.map(|fit| fit.and(of_spelling).narrowed(is_narrowed)) {
            self.fits.entry(row.figi()).or_insert((hit, fit)).1.improve(fit);
        }
        fit.is_some()
    }

    /// The document of each security that fits best, the likeliest first. The best listing of a
    /// security is shown in its place if it passes the filters, unless `is_shown`; then
    /// [`Candidates::arranged`] decides the order.
    ///
    /// # Panics
    /// When `rows` has no row of a candidate.
    pub fn best(&self, rows: &Fetched, places: &Places, limit: usize) -> Vec<Suggested> {
        let fits = self.fits.iter().map(|(figi, (hit, fit))| {
            let rank = rows.stored(*hit).rank();
            ((*figi, *hit), rank, *fit)
        });
        let row = |(_, hit)| rows.row(hit);
        let best = best(fits, &self.said, places.importances(), limit, row).into_iter();
        let suggested = best.map(|of| {
            let (_, hit) = of.row;
            let is_shown = of.is_meant || rows.stored(hit).standing().is_best;
            Suggested { hit, is_shown, of }
        });
        suggested.collect()
    }

    /// The documents to show, the likeliest first, at most `limit`, with the reasons for suggesting
    /// them, and the other name that fits best, if one does. `shown` has each document of
    /// [`Candidates::best`] with the one that is shown for it.
    ///
    /// # Panics
    /// When `rows` has no row of a hit.
    pub fn arranged(
        &self,
        shown: Vec<(Suggested, Hit)>,
        rows: &Fetched,
        places: &Places,
        limit: usize,
    ) -> Vec<(Hit, Matched, Option<KnownAs>)> {
        let found = shown
            .into_iter()
            .map(|(suggested, shown)| (suggested.of, (rows.row(shown).figi(), shown)));
        // A document that was fetched twice is one row.
        let mut first = BTreeMap::new();
        let found = found.map(|(of, (figi, hit))| (of, (figi, *first.entry(figi).or_insert(hit))));
        let facts = |(_, hit): (Figi, Hit)| (rows.stored(hit).rank(), rows.stored(hit).standing());
        let row = |(_, hit): (Figi, Hit)| rows.row(hit);
        let (arranged, _) = arranged(found, &self.said, places.importances(), limit, facts, row);
        let arranged = arranged.into_iter().map(|((_, hit), of)| {
            let known_as =
                |place: u8| rows.stored(of.row.1).known_as().into_iter().nth(place.into());
            (hit, of.fit.matched, of.fit.known_as.and_then(known_as))
        });
        arranged.collect()
    }
}
