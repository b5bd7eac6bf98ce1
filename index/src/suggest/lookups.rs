//! The words of the dictionary of a part that typed words may stand for. Several interpretations
//! look for the same ones, so each is looked up once for a question.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use super::prefix::beginning_with;
use super::typo::neighbours;
use crate::error::Result;
use crate::meter::Meter;
use crate::part::Part;
use crate::search::positions::DictionaryWord;

/// The largest number of words of the dictionary that the beginning of a word may stand for.
const BEGINNING_WORDS_MAX: usize = 32;

/// A text, the most typos that it may have, and whether it may be only the beginning of a word.
type Key = (String, usize, bool);

/// The words that were looked up in one part.
#[derive(Default)]
pub(super) struct Lookups(RefCell<HashMap<Key, Arc<[DictionaryWord]>>>);

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

    /// The most frequent words that differ from a text by typos.
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

    fn once(
        &self,
        key: Key,
        look_up: impl FnOnce() -> Result<Vec<DictionaryWord>>,
    ) -> Result<Arc<[DictionaryWord]>> {
        if let Some(found) = self.0.borrow().get(&key) {
            return Ok(Arc::clone(found));
        }
        let found: Arc<[DictionaryWord]> = look_up()?.into();
        self.0.borrow_mut().insert(key, Arc::clone(&found));
        Ok(found)
    }
}
