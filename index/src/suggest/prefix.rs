//! Words by their beginning: the range of the dictionary, and for the shortest
//! beginnings, whose range is most of it, a table made at build.
//!
//! `suggest.beginnings`: for each beginning of one to three letters, sorted, an
//! [`Entry`](ENTRY_BYTES): the beginning in twelve bytes filled up with zeros, and as
//! `u32` where its rows begin in `suggest.rows`, which holds their positions in the order
//! of ranks (`ranks`); and an entry after the last.

use std::cmp::Reverse;

use tantivy::TantivyError;
use tantivy::postings::TermInfo;

use crate::error::Result;
use crate::meter::Meter;
use crate::part::Part;

/// Words of the dictionary that are read to find the most frequent of those that begin so,
/// or are one typo away. The shortest beginnings have more, and the table.
pub(crate) const TERMS_READ_MAX: usize = 1 << 16;

/// Units of reading a word of the dictionary.
pub(crate) const TERM_READ_UNITS: u64 = 4;

/// Units of finding where a range of the dictionary begins.
const RANGE_UNITS: u64 = 60;

/// The words of a part that begin with `beginning`, the most frequent.
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
    let mut found = Frequent::new(words_max);
    let mut read = 0;
    while read < TERMS_READ_MAX && terms.advance() {
        meter.charge(TERM_READ_UNITS)?;
        read += 1;
        found.add(terms.value());
    }
    Ok(found.finish())
}

/// The most frequent of some words; of those that are equally frequent the first in the
/// order of the dictionary. It holds at most twice as many.
pub(crate) struct Frequent {
    words_max: usize,
    found: Vec<TermInfo>,
}

impl Frequent {
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
            // Posting lists lie in the order of the dictionary.
            let key = |word: &TermInfo| (Reverse(word.doc_freq), word.postings_range.start);
            self.found.select_nth_unstable_by_key(self.words_max, key);
            self.found.truncate(self.words_max);
        }
    }
}

/// The first text that does not begin so and comes after all that do.
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
        fn what_begins_so_is_before_the_end(
            beginning in proptest::collection::vec(any::<u8>(), 1..5),
            other in proptest::collection::vec(any::<u8>(), 0..7),
        ) {
            let is_in = other >= beginning
                && after(&beginning).is_none_or(|end| other < end);
            prop_assert_eq!(is_in, other.starts_with(&beginning));
        }
    }
}
