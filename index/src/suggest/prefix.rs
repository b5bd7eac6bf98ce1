//! The words of the dictionary of a part that begin with a text. Beginnings of up to three letters
//! have too many words; the build makes a table of rows for them (`part::beginnings`).

use std::cmp::Reverse;

use tantivy::TantivyError;
use tantivy::postings::TermInfo;
use tantivy::termdict::TermStreamer;
use tantivy_fst::Automaton;

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
    most_frequent(range.into_stream().map_err(TantivyError::from)?, words_max, meter)
}

/// The most frequent of the first [`TERMS_READ_MAX`] words of a stream, at most `words_max`. Of
/// equally frequent words, the first in the order of the dictionary are selected. It never holds
/// more than twice as many.
pub(super) fn most_frequent<A: Automaton<State: Clone>>(
    mut words: TermStreamer<'_, A>,
    words_max: usize,
    meter: &Meter,
) -> Result<Vec<TermInfo>> {
    let cut = |found: &mut Vec<TermInfo>| {
        if found.len() > words_max {
            // Posting lists are stored in the order of the dictionary.
            let key = |word: &TermInfo| (Reverse(word.doc_freq), word.postings_range.start);
            found.select_nth_unstable_by_key(words_max, key);
            found.truncate(words_max);
        }
    };
    let mut found = Vec::new();
    let mut read = 0;
    while read < TERMS_READ_MAX && words.advance() {
        meter.charge(TERM_READ_UNITS)?;
        read += 1;
        if found.len() >= 2 * words_max {
            cut(&mut found);
        }
        found.push(words.value().clone());
    }
    cut(&mut found);
    Ok(found)
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
