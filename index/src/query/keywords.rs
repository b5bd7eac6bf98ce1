//! Key words, as a person types them: words and nothing else, however it looks.

use crate::words::{squeeze, words};

/// The longest text of key words, in bytes.
pub const QUERY_BYTES_MAX: usize = 1024;

/// Which rows hold all of these words, or carry the whole text as an identifier?
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keywords {
    text: String,
    words: Vec<Word>,
    squeezed: String,
}

/// A word that a row must hold: as it stands without its punctuation, or in all
/// its runs of letters and of digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Word {
    pub(crate) squeezed: String,
    pub(crate) runs: Vec<String>,
}

/// The text is longer than [`QUERY_BYTES_MAX`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("query must not be longer than {QUERY_BYTES_MAX} bytes")]
pub struct QueryTooLong;

impl Keywords {
    /// The words of a query (decisions, "A query"). Words without a letter or a
    /// digit are ignored; where no word is left, nothing matches.
    pub fn parse(text: &str) -> Result<Self, QueryTooLong> {
        if text.len() > QUERY_BYTES_MAX {
            return Err(QueryTooLong);
        }
        let words = words(text).map(|word| Word {
            squeezed: word.squeezed(),
            runs: word.runs().map(str::to_owned).collect(),
        });
        Ok(Self { text: text.to_owned(), words: words.collect(), squeezed: squeeze(text) })
    }

    /// The text as it was given.
    pub fn text(&self) -> &str {
        &self.text
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
    /// Whether an exchange code is this word, ignoring case.
    pub(crate) fn is_exch_code(&self, exch_code: &str) -> bool {
        exch_code.chars().flat_map(char::to_lowercase).eq(self.squeezed.chars())
    }
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
        assert!(keywords.words()[2].is_exch_code("GR"));
        assert!(!keywords.words()[2].is_exch_code("G"));
        assert_eq!(keywords.squeezed(), "deutschebankgr");
        assert_eq!(Keywords::parse(" - * ").unwrap().words(), []);
    }

    #[test]
    fn a_query_has_a_bound() {
        assert!(Keywords::parse(&"x".repeat(QUERY_BYTES_MAX)).is_ok());
        assert_eq!(Keywords::parse(&"x".repeat(QUERY_BYTES_MAX + 1)), Err(QueryTooLong));
    }
}
