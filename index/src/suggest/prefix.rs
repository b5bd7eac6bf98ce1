//! The words of the dictionary of a part that begin with a text. For beginnings of up to three
//! letters, which have too many words, the build makes a table of rows (`part::beginnings`).

use super::frequent::MostFrequent;
use crate::error::Result;
use crate::meter::Meter;
use crate::part::Part;
use crate::search::positions::DictionaryWord;

/// The most frequent words of a part that begin with `beginning`, at most `words_max`.
pub(crate) fn beginning_with(
    part: &Part,
    beginning: &str,
    words_max: usize,
    meter: &Meter,
) -> Result<Vec<DictionaryWord>> {
    let mut frequent = MostFrequent::new(part, part.words.terms(), words_max, meter);
    frequent.add_beginning(beginning.as_bytes())?;
    frequent.finish()
}
