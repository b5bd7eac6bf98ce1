//! The words of the dictionary of a part that begin with a text. Beginnings of up to three letters
//! have too many words; the build makes a table of rows for them (`part::beginnings`).

use std::cmp::Reverse;

use tantivy::TantivyError;
use tantivy::postings::TermInfo;

use crate::error::Result;
use crate::meter::Meter;
use crate::part::Part;

/// The largest number of words of the dictionary that are read to find the most frequent words
/// that begin with a text, or differ from it by one typo.
pub(crate) const TERMS_READ_MAX: usize = 1 << 16;

/// Units of work of reading a word of the dictionary.
pub(crate) const TERM_READ_UNITS: u64 = 4;

/// Units of work of finding the first word of a range of the dictionary.
const RANGE_UNITS: u64 = 60;

/// The most frequent words of a part that begin with `beginning`, at most `words_max`.
pub(crate) fn beginning_with(
    part: &Part,
    beginning: &str,
    words_max: usize,
    meter: &Meter,
) -> Result<Vec<TermInfo>> {
    meter.charge(RANGE_UNITS)?;
    let inverted = part.segment.inverted_index(part.fields.words)?;
    let range = inverted.terms().range().ge(beginning);
    let range = match after(beginning.as_bytes()) {
        Some(end) => range.lt(end),
        None => range,
    };
    let mut terms = range.into_stream().map_err(TantivyError::from)?;
    let mut found = MostFrequent::new(words_max);
    let mut read = 0;
    while read < TERMS_READ_MAX && terms.advance() {
        meter.charge(TERM_READ_UNITS)?;
        read += 1;
        found.add(terms.value());
    }
    Ok(found.finish())
}

/// A selection of the most frequent words, `words_max` of them. Of equally frequent words, the
/// first in the order of the dictionary are selected. It never holds more than twice as many.
pub(crate) struct MostFrequent {
    words_max: usize,
    found: Vec<TermInfo>,
}

impl MostFrequent {
    pub(crate) fn new(words_max: usize) -> Self {
        Self { words_max, found: Vec::new() }
    }

    pub(crate) fn add(&mut self, word: &TermInfo) {
        if self.found.len() >= 2 * self.words_max {
            self.cut();
        }
        self.found.push(word.clone());
    }

    pub(crate) fn finish(mut self) -> Vec<TermInfo> {
        self.cut();
        self.found
    }

    fn cut(&mut self) {
        if self.found.len() > self.words_max {
            // Posting lists are stored in the order of the dictionary.
            let key = |word: &TermInfo| (Reverse(word.doc_freq), word.postings_range.start);
            self.found.select_nth_unstable_by_key(self.words_max, key);
            self.found.truncate(self.words_max);
        }
    }
}

/// The end of the range of texts that begin with `beginning`: the first text after all of them;
/// `None` when there is none.
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
