//! The most frequent words among some words of the dictionary of a part.
//!
//! Words with a common beginning follow each other in the dictionary. The first few are read one by
//! one. After them, the frequent words are found by their lists in the order of ranks
//! (`part::ranks`), and the other words are read only if too few words are frequent.

use std::cmp::Reverse;

use tantivy::TantivyError;
use tantivy::postings::TermInfo;
use tantivy::termdict::{TermDictionary, TermOrdinal};

use crate::error::Result;
use crate::meter::Meter;
use crate::part::Part;
use crate::part::ranks::LISTED_MIN;
use crate::search::positions::DictionaryWord;

/// The largest number of dictionary words that the most frequent ones are selected from.
const WORDS_READ_MAX: u64 = 1 << 16;

/// The number of words with the same beginning that are read one by one. After them, the end of
/// their stretch is looked up instead.
const READ_SINGLY: usize = 8;

/// The units of work of reading a word of the dictionary, of finding a place in it, and of
/// comparing a word that has a list.
const WORD_UNITS: u64 = 4;
const SEEK_UNITS: u64 = 40;
const LISTED_UNITS: u64 = 1;

/// Selects the most frequent of the words that are added. Only the first [`WORDS_READ_MAX`] added
/// words count. Never holds more than twice as many words as are wanted.
pub(super) struct MostFrequent<'a> {
    part: &'a Part,
    terms: &'a TermDictionary,
    meter: &'a Meter,
    words_max: usize,
    /// The number of words that may still be added.
    left: u64,
    found: Vec<DictionaryWord>,
    /// Stretches of words that were not read.
    skipped: Vec<Stretch>,
}

/// A stretch of consecutive words in the dictionary.
struct Stretch {
    /// The last word before the stretch.
    before: Vec<u8>,
    count: u64,
}

/// A place in the dictionary: the number of a word, and the start of its posting list. Posting
/// lists are stored in the order of the dictionary.
#[derive(Clone, Copy, Debug)]
struct WordPlace {
    word: TermOrdinal,
    postings: usize,
}

impl<'a> MostFrequent<'a> {
    pub(super) fn new(
        part: &'a Part,
        terms: &'a TermDictionary,
        words_max: usize,
        meter: &'a Meter,
    ) -> Self {
        let (found, skipped) = (Vec::new(), Vec::new());
        Self { part, terms, meter, words_max, left: WORDS_READ_MAX, found, skipped }
    }

    /// Whether [`WORDS_READ_MAX`] words were added.
    pub(super) fn is_over(&self) -> bool {
        self.left == 0
    }

    /// Adds a word that was read. Ignores it when [`WORDS_READ_MAX`] words were added before.
    pub(super) fn add(&mut self, word: &TermInfo) -> Result<()> {
        self.meter.charge(WORD_UNITS)?;
        if self.left > 0 {
            self.left -= 1;
            self.put(DictionaryWord::Read(word.clone()));
        }
        Ok(())
    }

    /// Adds the words that begin with a text, up to [`WORDS_READ_MAX`] in all.
    pub(super) fn add_beginning(&mut self, beginning: &[u8]) -> Result<()> {
        self.meter.charge(SEEK_UNITS)?;
        let words = self.terms.range().ge(beginning).into_stream();
        let mut words = words.map_err(TantivyError::from)?;
        let mut read = 0;
        while !self.is_over() && words.advance() && words.key().starts_with(beginning) {
            self.add(words.value())?;
            read += 1;
            if read == READ_SINGLY {
                self.meter.charge(SEEK_UNITS)?;
                let postings = words.value().postings_range.start;
                let place = WordPlace { word: words.term_ord(), postings };
                let end = place_from(self.terms, after(beginning).as_deref())?;
                return self.add_stretch(words.key(), place, end);
            }
        }
        Ok(())
    }

    /// Adds the frequent words between `before` and `end`, and notes the stretch in `skipped` for
    /// the other words. The word `before` is at `place`.
    fn add_stretch(&mut self, before: &[u8], place: WordPlace, end: WordPlace) -> Result<()> {
        let first = place.word + 1;
        let count = (end.word - first).min(self.left);
        let end_of_postings = match count == end.word - first {
            true => end.postings,
            false => self.postings_of(first + count)?,
        };
        self.left -= count;
        let listed = self.part.ranks.listed(place.postings + 1..end_of_postings);
        self.meter.charge(LISTED_UNITS * listed.len() as u64)?;
        for word in listed {
            self.put(DictionaryWord::Listed(word));
        }
        self.skipped.push(Stretch { before: before.to_vec(), count });
        Ok(())
    }

    /// The most frequent words, in no particular order. Among equally frequent words, the first
    /// ones in the order of the dictionary win.
    pub(super) fn finish(mut self) -> Result<Vec<DictionaryWord>> {
        self.cut();
        let is_enough = self.found.len() == self.words_max
            && self.found.iter().all(|word| word.rows() >= LISTED_MIN);
        if !is_enough {
            for stretch in std::mem::take(&mut self.skipped) {
                self.meter.charge(SEEK_UNITS + WORD_UNITS * stretch.count)?;
                let words = self.terms.range().gt(&stretch.before).without_keys();
                let mut words = words.into_stream().map_err(TantivyError::from)?;
                let mut left = stretch.count;
                while left > 0 && words.advance() {
                    left -= 1;
                    // The frequent words were added with the stretch.
                    if words.value().doc_freq < LISTED_MIN {
                        self.put(DictionaryWord::Read(words.value().clone()));
                    }
                }
            }
            self.cut();
        }
        Ok(self.found)
    }

    fn put(&mut self, word: DictionaryWord) {
        if self.found.len() >= 2 * self.words_max {
            self.cut();
        }
        self.found.push(word);
    }

    fn cut(&mut self) {
        if self.found.len() > self.words_max {
            let key = |word: &DictionaryWord| (Reverse(word.rows()), word.postings());
            self.found.select_nth_unstable_by_key(self.words_max, key);
            self.found.truncate(self.words_max);
        }
    }

    /// The start of the posting list of the word with that number.
    fn postings_of(&self, word: TermOrdinal) -> Result<usize> {
        self.meter.charge(2 * SEEK_UNITS)?;
        let mut text = Vec::new();
        self.terms.ord_to_term(word, &mut text).map_err(TantivyError::from)?;
        let entry = self.terms.get(&text).map_err(TantivyError::from)?;
        Ok(entry.map_or(usize::MAX, |entry| entry.postings_range.start))
    }
}

/// The place of the first word at or after `bound`, or the end of the dictionary.
fn place_from(terms: &TermDictionary, bound: Option<&[u8]>) -> Result<WordPlace> {
    if let Some(bound) = bound {
        let words = terms.range().ge(bound).without_keys().into_stream();
        let mut words = words.map_err(TantivyError::from)?;
        if words.advance() {
            let postings = words.value().postings_range.start;
            return Ok(WordPlace { word: words.term_ord(), postings });
        }
    }
    Ok(WordPlace { word: terms.num_terms() as TermOrdinal, postings: usize::MAX })
}

/// The first text after all texts that begin with `beginning`; `None` when there is none.
fn after(beginning: &[u8]) -> Option<Vec<u8>> {
    let last = beginning.iter().rposition(|byte| *byte < u8::MAX)?;
    let mut end = beginning[..=last].to_vec();
    end[last] += 1;
    Some(end)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_range_holds_what_begins_with_the_text(
            beginning in proptest::collection::vec(any::<u8>(), 1..5),
            other in proptest::collection::vec(any::<u8>(), 0..7),
        ) {
            let is_in = other >= beginning
                && after(&beginning).is_none_or(|end| other < end);
            prop_assert_eq!(is_in, other.starts_with(&beginning));
        }
    }
}
