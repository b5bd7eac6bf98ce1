//! Dictionary words of a part that typed words may stand for, and the rows of the rare ones.
//! Several interpretations look for the same words, so each is looked up once per question.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use super::prefix::beginning_with;
use super::typo::neighbours;
use crate::error::Result;
use crate::meter::Meter;
use crate::part::Part;
use crate::search::positions::{DictionaryWord, FewRows, Positions};

/// The largest number of dictionary words that the beginning of a word may stand for.
const BEGINNING_WORDS_MAX: usize = 32;

/// The units of work of copying the rows of a rare word.
const KNOWN_UNITS: u64 = 20;

/// A typed text, the most typos in it, and whether it may be only the beginning of a word.
type WordKey = (String, usize, bool);

/// The dictionary words of one part that were looked up, and the rows of the rare ones.
#[derive(Default)]
pub(super) struct Lookups {
    words: RefCell<HashMap<WordKey, Arc<[DictionaryWord]>>>,
    /// The positions of the rows of each rare word, by the start of its posting list.
    rows: RefCell<HashMap<usize, Arc<[u32]>>>,
}

impl Lookups {
    /// The most frequent words that begin with a text.
    pub(super) fn beginning_with(
        &self,
        part: &Part,
        text: &str,
        meter: &Meter,
    ) -> Result<Arc<[DictionaryWord]>> {
        self.once((text.to_owned(), 0, true), || {
            beginning_with(part, text, BEGINNING_WORDS_MAX, meter)
        })
    }

    /// The most frequent words that differ from a text by at most `typos` typos ([`neighbours`]).
    pub(super) fn neighbours(
        &self,
        part: &Part,
        text: &str,
        typos: usize,
        is_unfinished: bool,
        meter: &Meter,
    ) -> Result<Arc<[DictionaryWord]>> {
        self.once((text.to_owned(), typos, is_unfinished), || {
            neighbours(part, text, typos, is_unfinished, meter)
        })
    }

    /// The rows that hold a word of the dictionary. If `among` is given and the word is rare, only
    /// the rows in `among` are returned.
    pub(super) fn rows<'a>(
        &self,
        part: &'a Part,
        word: &DictionaryWord,
        among: Option<&FewRows>,
        meter: &Meter,
    ) -> Result<Positions<'a>> {
        if among.is_some() || matches!(word, DictionaryWord::Listed(_)) {
            return Positions::of_dictionary(part, word, among, meter);
        }
        if let Some(known) = self.rows.borrow().get(&word.postings()) {
            meter.charge(KNOWN_UNITS)?;
            return Ok(Positions::Few(known.to_vec(), 0));
        }
        let rows = Positions::of_dictionary(part, word, None, meter)?;
        if let Positions::Few(positions, _) = &rows {
            self.rows.borrow_mut().insert(word.postings(), positions[..].into());
        }
        Ok(rows)
    }

    fn once(
        &self,
        key: WordKey,
        look_up: impl FnOnce() -> Result<Vec<DictionaryWord>>,
    ) -> Result<Arc<[DictionaryWord]>> {
        if let Some(found) = self.words.borrow().get(&key) {
            return Ok(Arc::clone(found));
        }
        let found: Arc<[DictionaryWord]> = look_up()?.into();
        self.words.borrow_mut().insert(key, Arc::clone(&found));
        Ok(found)
    }
}
