//! The stages of the work on a text: the order of the interpretations, and when to stop.

use super::interpretations::{self, Interpretation};
use super::reading::QueryWord;
use crate::instrument::vocabulary::Vocabulary;
use crate::query::Keywords;

/// One typo is tried if there are fewer candidates than this, and two typos if there are still
/// fewer.
const ENOUGH: usize = 3;

/// The stages, in their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Stage {
    #[default]
    Nothing,
    Whole,
    Plain,
    Unfinished,
    Split,
    Guessed,
    GuessedTwice,
    Phrases,
    /// The words of the text one after the other; this is the place of the next one.
    SingleWord(usize),
}

/// A text, its words as typed, and the vocabulary of the index.
#[derive(Clone, Copy)]
pub(crate) struct Typed<'a> {
    pub(crate) keywords: &'a Keywords,
    pub(crate) words: &'a [QueryWord],
    pub(crate) vocabulary: &'a Vocabulary,
}

impl Stage {
    /// The next stage and its interpretations; `None` after the last stage. `found` is the number
    /// of candidates so far, and `limit` the number that is wanted. `has` says whether its text is
    /// a word of any row. With `true`, it says whether a word of any row begins with the text.
    pub(crate) fn next<E>(
        self,
        typed: Typed<'_>,
        found: usize,
        limit: usize,
        has: impl Fn(&str, bool) -> Result<bool, E>,
    ) -> Result<Option<(Self, Vec<Interpretation>)>, E> {
        let Typed { keywords, words, vocabulary } = typed;
        Ok(Some(match self {
            Self::Nothing => (Self::Whole, Vec::new()),
            Self::Whole if words.is_empty() => return Ok(None),
            Self::Whole => (Self::Plain, interpretations::plain(keywords, words, vocabulary)),
            Self::Plain if words.len() > 1 && found < limit => {
                (Self::Unfinished, vec![interpretations::unfinished(words)])
            }
            Self::Plain => (Self::Unfinished, Vec::new()),
            Self::Unfinished if found == 0 => (Self::Split, interpretations::split(words)),
            Self::Unfinished => (Self::Split, Vec::new()),
            Self::Split | Self::Guessed if found >= ENOUGH => return Ok(None),
            Self::Split => {
                let is_known = |word: &QueryWord| has(&word.word.squeezed, false);
                (Self::Guessed, interpretations::guessed(words, is_known)?)
            }
            Self::Guessed => {
                let is_known = |word: &QueryWord| has(&word.word.squeezed, word.is_unfinished);
                let twice = interpretations::guessed_twice(words, is_known)?;
                (Self::GuessedTwice, twice.into_iter().collect())
            }
            Self::GuessedTwice if found == 0 && words.len() > 1 => {
                (Self::Phrases, interpretations::phrases(words))
            }
            Self::Phrases if found == 0 => (Self::SingleWord(0), Vec::new()),
            Self::SingleWord(place) if found == 0 => {
                match interpretations::single_word(words, place) {
                    Some(word) => (Self::SingleWord(place + 1), vec![word]),
                    None => return Ok(None),
                }
            }
            Self::GuessedTwice | Self::Phrases | Self::SingleWord(_) => return Ok(None),
        }))
    }
}
