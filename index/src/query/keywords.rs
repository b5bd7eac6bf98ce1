//! The key words of a search. A query consists of words and has no operators (contract 9.2).

use std::collections::HashSet;
use std::hash::{Hash, Hasher};

use crate::instrument::vocabulary::{Known, Property, Vocabulary};
use crate::words::{Folded, squeeze, words};

/// The longest query, in bytes (contract 8.11).
pub const QUERY_BYTES_MAX: usize = 1024;

/// The words that a row must hold. A row also matches if the whole text is one of its identifiers
/// (contract 9.7, 9.9), or if the last of several words is its exchange code and it holds the other
/// words (9.10).
#[derive(Clone, Debug)]
pub struct Keywords {
    /// The only field that is compared and hashed. The other fields follow from the text, or are
    /// empty in a copy made by [`Keywords::without_words`].
    text: String,
    words: Vec<Word>,
    squeezed: String,
}

impl PartialEq for Keywords {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Keywords {}

impl Hash for Keywords {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.text.hash(state);
    }
}

/// A word that a row must hold: as a whole without its punctuation, or as all of its runs of
/// letters and of digits (contract 9.6).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Word {
    /// The folded word without punctuation.
    pub(crate) squeezed: String,
    /// The runs of letters or of digits, each once.
    pub(crate) runs: Vec<String>,
}

/// The text is longer than [`QUERY_BYTES_MAX`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("query must not be longer than {QUERY_BYTES_MAX} bytes")]
pub struct QueryTooLong;

impl Keywords {
    /// Splits a query into words. Words without a letter or a digit are ignored; when no word is
    /// left, nothing matches (contract 9.3).
    ///
    /// # Errors
    /// When the text has more than [`QUERY_BYTES_MAX`] bytes.
    pub fn parse(text: &str) -> Result<Self, QueryTooLong> {
        if text.len() > QUERY_BYTES_MAX {
            return Err(QueryTooLong);
        }
        let mut parsed: Vec<Word> = words(text).map(|word| Word::new(&word)).collect();
        // Equals `squeeze(text)`, without folding the text again.
        let squeezed = parsed.iter().map(|word| &*word.squeezed).collect();
        // Repeated words are kept once. The last word is always kept, since only the last word may
        // be an exchange code.
        let last = parsed.pop();
        let mut words = once(parsed);
        words.extend(last);
        Ok(Self { text: text.to_owned(), words, squeezed })
    }

    /// A copy that has only the text, for a cache: folded words can take fifty times the memory of
    /// the text.
    pub(crate) fn without_words(&self) -> Self {
        Self { text: self.text.clone(), words: Vec::new(), squeezed: String::new() }
    }

    /// The text as it was given.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text before the last word, and the last word; `None` when there are fewer than two
    /// words.
    pub(crate) fn before_last(&self) -> Option<(&str, &Word)> {
        let [_, .., last] = &self.words[..] else { return None };
        // Words without a letter or a digit may follow the last word.
        let mut rest = self.text.trim_end();
        while let Some((before, word)) = rest.rsplit_once(char::is_whitespace) {
            if !squeeze(word).is_empty() {
                return Some((before.trim(), last));
            }
            rest = before.trim_end();
        }
        None
    }

    pub(crate) fn words(&self) -> &[Word] {
        &self.words
    }

    /// The whole text, folded, without blanks and punctuation, for comparison with identifiers and
    /// tickers. Empty in a copy made by [`Keywords::without_words`].
    pub(crate) fn squeezed(&self) -> &str {
        &self.squeezed
    }
}

impl Word {
    /// Makes a word of a text that is already folded.
    pub(crate) fn of(folded: &str) -> Self {
        let mut words = words(folded);
        words.next().map(|word| Self::new(&word)).unwrap_or_default()
    }

    /// The number of terms that are looked up for this word.
    pub(crate) fn terms(&self) -> u64 {
        match self.runs.len() {
            0 | 1 => 1,
            runs => runs as u64 + 1,
        }
    }

    fn new(word: &Folded) -> Self {
        let runs = once(word.runs().map(str::to_owned).collect());
        Self { squeezed: word.squeezed(), runs }
    }

    /// The exchange codes that equal this word, in any letter case.
    pub(crate) fn exch_codes(&self, vocabulary: &Vocabulary) -> impl Iterator<Item = Known> {
        let is_word =
            |value: &&str| value.chars().flat_map(char::to_lowercase).eq(self.squeezed.chars());
        let values = vocabulary.values(Property::ExchCode).filter(is_word);
        values.filter_map(|value| vocabulary.admit(Property::ExchCode, value))
    }
}

/// Removes repeated items. Each item stays at its first place.
fn once<T: Eq + Hash>(items: Vec<T>) -> Vec<T> {
    /// Up to this many items are compared with each other, which is then faster than a hash table.
    const COMPARED_MAX: usize = 8;
    if items.len() <= COMPARED_MAX {
        let mut kept: Vec<T> = Vec::with_capacity(items.len());
        for item in items {
            if !kept.contains(&item) {
                kept.push(item);
            }
        }
        return kept;
    }
    let mut known = HashSet::with_capacity(items.len());
    let is_new: Vec<bool> = items.iter().map(|item| known.insert(item)).collect();
    items.into_iter().zip(is_new).filter_map(|(item, is_new)| is_new.then_some(item)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// contract 9.3: words without a letter or a digit are ignored.
    #[test]
    fn words_without_letter_or_digit_are_ignored() {
        let keywords = Keywords::parse(" Deutsche  - Bank™ (GR) & ").unwrap();
        let words: Vec<_> = keywords.words().iter().map(|word| &*word.squeezed).collect();
        assert_eq!(words, ["deutsche", "bank", "gr"]);
        let vocabulary = ["GR", "gr", "G"].map(|code| (Property::ExchCode, code.to_owned()));
        assert_eq!(keywords.words()[2].exch_codes(&Vocabulary::new(vocabulary)).count(), 2);
        let (before, last) = keywords.before_last().unwrap();
        assert_eq!((before, &*last.squeezed), ("Deutsche  - Bank™", "gr"));
        assert_eq!(Keywords::parse(" ibm - ").unwrap().before_last(), None);
        let twice = Keywords::parse("a1a1 IBM ibm us a1a1").unwrap();
        let words: Vec<_> =
            twice.words().iter().map(|word| (&*word.squeezed, &*word.runs)).collect();
        let runs = ["a".to_owned(), "1".to_owned()];
        assert_eq!(words[0], ("a1a1", &runs[..]));
        let words: Vec<_> = words.iter().map(|(squeezed, _)| *squeezed).collect();
        assert_eq!(words, ["a1a1", "ibm", "us", "a1a1"]);
        assert_eq!(keywords.squeezed(), "deutschebankgr");
        assert_eq!(Keywords::parse(" - * ").unwrap().words(), []);
    }

    #[test]
    fn a_query_has_a_bound() {
        assert!(Keywords::parse(&"x".repeat(QUERY_BYTES_MAX)).is_ok());
        assert_eq!(Keywords::parse(&"x".repeat(QUERY_BYTES_MAX + 1)), Err(QueryTooLong));
    }
}
