//! Key words, as a person types them: words and nothing else, however it looks.

use std::collections::HashSet;
use std::hash::{Hash, Hasher};

use crate::instrument::vocabulary::{Known, Property, Vocabulary};
use crate::words::{Folded, squeeze, words};

/// The longest text of key words, in bytes.
pub const QUERY_BYTES_MAX: usize = 1024;

/// Which rows hold all of these words, or carry the whole text as an identifier?
#[derive(Clone, Debug)]
pub struct Keywords {
    /// All else follows from it, so that this alone is compared.
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

/// A word that a row must hold: as it stands without its punctuation, or in all
/// its runs of letters and of digits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Word {
    pub(crate) squeezed: String,
    pub(crate) runs: Vec<String>,
}

/// The text is longer than [`QUERY_BYTES_MAX`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("query must not be longer than {QUERY_BYTES_MAX} bytes")]
pub struct QueryTooLong;

impl Keywords {
    /// The words of a query. Words without a letter or a digit are ignored; where no word
    /// is left, nothing matches (contract 9.3).
    pub fn parse(text: &str) -> Result<Self, QueryTooLong> {
        if text.len() > QUERY_BYTES_MAX {
            return Err(QueryTooLong);
        }
        let mut parsed: Vec<Word> = words(text).map(|word| Word::new(&word)).collect();
        // As the whole text folded, which takes as long again.
        let squeezed = parsed.iter().map(|word| &*word.squeezed).collect();
        // Said twice is said once; but the last word stands for itself, since it may
        // be an exchange code where the same word before it may not.
        let last = parsed.pop();
        let mut words = once(parsed);
        words.extend(last);
        Ok(Self { text: text.to_owned(), words, squeezed })
    }

    /// The same for a table that remembers questions: its words, once they are folded,
    /// can take fifty times as much as the text.
    pub(crate) fn without_words(&self) -> Self {
        Self { text: self.text.clone(), words: Vec::new(), squeezed: String::new() }
    }

    /// The text as it was given.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What stands before the last of several words, and that word.
    pub(crate) fn before_last(&self) -> Option<(&str, &Word)> {
        let [_, .., last] = &self.words[..] else { return None };
        // Words without a letter or a digit may follow it.
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

    /// The whole text without blanks and punctuation: what an identifier or a
    /// ticker must be to be meant by it.
    pub(crate) fn squeezed(&self) -> &str {
        &self.squeezed
    }
}

impl Word {
    /// A word that is already folded.
    pub(crate) fn of(folded: &str) -> Self {
        let mut words = words(folded);
        words.next().map(|word| Self::new(&word)).unwrap_or_default()
    }

    /// The number of terms that are looked up for it.
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

    /// The exchange codes that this word is, ignoring case.
    pub(crate) fn exch_codes(&self, vocabulary: &Vocabulary) -> impl Iterator<Item = Known> {
        let is_word =
            |value: &&str| value.chars().flat_map(char::to_lowercase).eq(self.squeezed.chars());
        let values = vocabulary.values(Property::ExchCode).filter(is_word);
        values.filter_map(|value| vocabulary.admit(Property::ExchCode, value))
    }
}

/// Each of the items once, where it comes first.
fn once<T: Eq + Hash>(items: Vec<T>) -> Vec<T> {
    /// Comparing so few with each other takes less than a table of them.
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

    /// Decisions, "A query".
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
