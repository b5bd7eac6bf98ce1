//! The best rows of each beginning of one to three letters, for suggestions (engine 7). Short
//! beginnings fit too many words to look up for each question, so the build looks them up once.
//!
//! Two files. `suggest.beginnings` has an entry for each beginning, ascending: its UTF-8 bytes
//! padded with zeros to 12, then the place of its first row in the other file as `u32`; one more
//! entry ends the table. `suggest.rows` has positions in the order of ranks as `u32`.

use std::collections::HashMap;
use std::path::Path;

use crate::error::{Error, Result};
use crate::mapped::{Mapped, first_index, u32_at};
use crate::part::file_writer::write_file;
use crate::part::other_names::OtherNames;
use crate::part::ranks::Ranks;
use crate::part::ranks::rank::Rank;
use crate::part::rows::Rows;
use crate::words::words;

const BEGINNINGS: &str = "suggest.beginnings";

const ROWS: &str = "suggest.rows";

/// The most letters of a beginning in the table.
pub(crate) const SHORT_CHARS_MAX: usize = 3;

const KEY_BYTES: usize = 4 * SHORT_CHARS_MAX;

const ENTRY_BYTES: usize = KEY_BYTES + 4;

/// The most rows that are kept for a beginning: a page of suggestions, and some more because
/// filters remove rows.
const ROWS_MAX: usize = 64;

/// The table of one part.
pub(crate) struct Beginnings {
    entries: Mapped,
    rows: Mapped,
}

impl Beginnings {
    pub(crate) fn open(part: &Path) -> Result<Self> {
        let beginnings = Self {
            entries: Mapped::open(&part.join(BEGINNINGS))?,
            rows: Mapped::open(&part.join(ROWS))?,
        };
        let entries = beginnings.entries.len() / ENTRY_BYTES;
        let whole = entries > 0
            && beginnings.entries.len() == entries * ENTRY_BYTES
            && beginnings.start(entries - 1) * 4 == beginnings.rows.len();
        if !whole {
            return Err(Error::damaged(part, "suggest.beginnings does not fit suggest.rows"));
        }
        Ok(beginnings)
    }

    /// The positions of the best rows whose ticker, name or other name begins with it, ascending. An
    /// article at the beginning of a name does not count. Empty for a `beginning` of more than
    /// [`SHORT_CHARS_MAX`] letters.
    pub(crate) fn of(&self, beginning: &str) -> impl Iterator<Item = u32> {
        let rows = key(beginning).and_then(|key| {
            let count = self.count();
            let entry = first_index(0..count as u32, |entry| self.key(entry as usize) >= &key[..]);
            let entry = entry as usize;
            let is_there = entry < count && self.key(entry) == key;
            is_there.then(|| self.start(entry)..self.start(entry + 1))
        });
        rows.unwrap_or(0..0).map(|place| u32_at(&self.rows, 4 * place))
    }

    /// Checks that beginnings and positions ascend.
    pub(crate) fn verify(&self, part: &Path, ranks: &Ranks) -> Result<()> {
        for entry in 0..self.count() {
            let (start, end) = (self.start(entry), self.start(entry + 1));
            let is_sorted = entry == 0 || self.key(entry - 1) < self.key(entry);
            if start >= end || end * 4 > self.rows.len() || !is_sorted {
                return Err(Error::damaged(part, "suggest: beginnings are out of order"));
            }
            let positions = (start..end).map(|place| u32_at(&self.rows, 4 * place));
            if !positions.clone().is_sorted_by(|a, b| a < b)
                || positions.clone().any(|position| position >= ranks.len())
            {
                return Err(Error::damaged(part, "suggest: positions do not ascend"));
            }
        }
        Ok(())
    }

    /// The number of beginnings. One more entry ends the table.
    fn count(&self) -> usize {
        self.entries.len() / ENTRY_BYTES - 1
    }

    fn key(&self, entry: usize) -> &[u8] {
        &self.entries[entry * ENTRY_BYTES..][..KEY_BYTES]
    }

    fn start(&self, entry: usize) -> usize {
        u32_at(&self.entries, entry * ENTRY_BYTES + KEY_BYTES) as usize
    }
}

/// Writes the table of a part whose rows and ranks are written.
pub(crate) fn write(part: &Path) -> Result<()> {
    let rows = Rows::open(part)?;
    let ranks = Ranks::open(part, rows.len())?;
    let names = OtherNames::open(part)?;
    let mut known: HashMap<[u8; KEY_BYTES], Vec<u32>> = HashMap::new();
    for position in 0..ranks.len() {
        let doc = ranks.doc(position);
        if !is_kept(ranks.rank(doc)) {
            continue;
        }
        let row = rows.get(doc);
        let own = [row.ticker(), row.name()].into_iter().flatten().map(|text| text.to_string());
        let others = names.of(doc).into_iter().filter(|name| name.kind.is_some());
        for text in own.chain(others.map(|name| name.text)) {
            let Some(first) = first_word(&text) else { continue };
            for beginning in short_beginnings(&first) {
                let Some(key) = key(beginning) else { continue };
                let best = known.entry(key).or_default();
                if best.len() < ROWS_MAX && best.last() != Some(&position) {
                    best.push(position);
                }
            }
        }
    }
    let mut known: Vec<_> = known.into_iter().collect();
    known.sort_unstable();
    let (mut entries, mut positions) = (Vec::new(), Vec::new());
    let mut count = 0_u32;
    for (key, best) in &known {
        entries.extend_from_slice(key);
        entries.extend_from_slice(&count.to_le_bytes());
        positions.extend(best.iter().flat_map(|position| position.to_le_bytes()));
        count += best.len() as u32;
    }
    entries.extend_from_slice(&[u8::MAX; KEY_BYTES]);
    entries.extend_from_slice(&count.to_le_bytes());
    write_file(&part.join(BEGINNINGS), &entries)?;
    write_file(&part.join(ROWS), &positions)
}

/// Whether short beginnings find rows of this rank. They find only the best listing of a security,
/// since the other listings would be the same suggestion. They find no options, bonds and the like,
/// since thousands of those share one name.
pub(crate) fn is_kept(rank: Rank) -> bool {
    rank.is_best() && !rank.kind().ends()
}

/// The first word of a ticker or a name that is not an article.
pub(crate) fn first_word(text: &str) -> Option<String> {
    words(text).map(|word| word.squeezed()).find(|word| word != "the")
}

/// The beginnings of a word, from one to [`SHORT_CHARS_MAX`] letters.
pub(crate) fn short_beginnings(word: &str) -> impl Iterator<Item = &str> {
    let letters = word.char_indices().take(SHORT_CHARS_MAX);
    letters.map(|(end, letter)| &word[..end + letter.len_utf8()])
}

/// The key of a beginning; `None` unless it has 1 to [`SHORT_CHARS_MAX`] letters.
fn key(beginning: &str) -> Option<[u8; KEY_BYTES]> {
    let mut key = [0; KEY_BYTES];
    key.get_mut(..beginning.len())?.copy_from_slice(beginning.as_bytes());
    let letters = beginning.chars().count();
    (1..=SHORT_CHARS_MAX).contains(&letters).then_some(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_short_beginnings_have_a_key() {
        for (beginning, has_key) in [("", false), ("a", true), ("台灣積", true), ("appl", false)]
        {
            assert_eq!(key(beginning).is_some(), has_key, "{beginning}");
        }
    }
}
