//! The posting lists of the rare words of a part, as tantivy stores them: fewer than 128 DocIds,
//! each as the difference from the previous one. A difference is written in bytes of seven bits,
//! and the last byte has the highest bit set. tantivy's own reader is made for long lists: it fills
//! two blocks of 128 numbers before it returns the first one.

use std::path::Path;

use tantivy::directory::{CompositeFile, OwnedBytes};
use tantivy::index::SegmentComponent;
use tantivy::postings::TermInfo;
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocSet as _, InvertedIndexReader, SegmentReader, TERMINATED};

use crate::error::{Error, Result};

/// The bytes before the first list: the number of words of all rows.
const HEADER_BYTES: usize = 8;

/// The fewest rows of a word whose list tantivy stores in blocks.
pub(crate) const BLOCK_ROWS: u32 = 128;

/// The posting lists of a field.
pub(crate) struct RarePostings(OwnedBytes);

impl RarePostings {
    /// Opens the posting lists of a field. There may be none.
    ///
    /// # Errors
    /// [`Error::Segment`] and [`Error::Io`] from tantivy.
    pub(crate) fn open(segment: &SegmentReader, field: Field, part: &Path) -> Result<Self> {
        let file = segment.open_read(SegmentComponent::Postings);
        let file = CompositeFile::open(&file.map_err(tantivy::TantivyError::from)?);
        let Some(lists) = file.map_err(Error::io(part))?.open_read(field) else {
            return Ok(Self(OwnedBytes::empty()));
        };
        Ok(Self(lists.read_bytes().map_err(Error::io(part))?))
    }

    /// The DocIds of the rows with a word, ascending. The word must have fewer than [`BLOCK_ROWS`]
    /// rows. A list that is cut off ends early; `verify` finds it.
    pub(crate) fn rows(&self, word: &TermInfo) -> impl Iterator<Item = u32> {
        let lists = self.0.get(HEADER_BYTES..).unwrap_or_default();
        DocIds {
            bytes: lists.get(word.postings_range.clone()).unwrap_or_default(),
            left: word.doc_freq,
            doc: 0,
        }
    }

    /// Checks that the list of a rare word has the same rows as in tantivy's reader.
    ///
    /// # Errors
    /// [`Error::Damaged`] when the rows differ, or when one is not below `rows`, the part's number
    /// of rows.
    pub(crate) fn verify(
        &self,
        words: &InvertedIndexReader,
        word: &TermInfo,
        rows: u32,
        part: &Path,
    ) -> Result<()> {
        let read = words.read_postings_from_terminfo(word, IndexRecordOption::Basic);
        let mut read = read.map_err(Error::io(part))?;
        for doc in self.rows(word) {
            if read.doc() != doc || doc >= rows {
                return Err(Error::damaged(part, "a rare word has other rows than tantivy reads"));
            }
            read.advance();
        }
        match read.doc() {
            TERMINATED => Ok(()),
            _ => Err(Error::damaged(part, "the rows of a rare word are cut")),
        }
    }
}

/// The DocIds of one list.
struct DocIds<'a> {
    bytes: &'a [u8],
    left: u32,
    doc: u32,
}

impl Iterator for DocIds<'_> {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        self.left = self.left.checked_sub(1)?;
        let (mut difference, mut shift) = (0_u32, 0);
        loop {
            let (byte, rest) = self.bytes.split_first()?;
            self.bytes = rest;
            difference |= u32::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
            shift += 7;
            if byte & 0x80 != 0 {
                break;
            }
        }
        self.doc = self.doc.wrapping_add(difference);
        Some(self.doc)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, Some(self.left as usize))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The list as tantivy stores it.
    fn stored(docs: &[u32]) -> Vec<u8> {
        let mut bytes = vec![0; HEADER_BYTES];
        let mut before = 0;
        for doc in docs {
            let mut difference = doc - before;
            before = *doc;
            while difference > 0x7f {
                bytes.push(difference as u8 & 0x7f);
                difference >>= 7;
            }
            bytes.push(difference as u8 | 0x80);
        }
        bytes
    }

    fn read(bytes: Vec<u8>, word: &TermInfo) -> Vec<u32> {
        RarePostings(OwnedBytes::new(bytes)).rows(word).collect()
    }

    fn word(rows: usize, postings: std::ops::Range<usize>) -> TermInfo {
        TermInfo { doc_freq: rows as u32, postings_range: postings, positions_range: 0..0 }
    }

    proptest! {
        #[test]
        fn rows_come_back(docs in proptest::collection::btree_set(any::<u32>(), 1..128)) {
            let docs: Vec<u32> = docs.into_iter().collect();
            let bytes = stored(&docs);
            let word = word(docs.len(), 0..bytes.len() - HEADER_BYTES);
            prop_assert_eq!(read(bytes, &word), docs);
        }

        /// Any bytes and any entry of the dictionary give at most as many rows as the entry says.
        #[test]
        fn damaged_lists_end(
            bytes in proptest::collection::vec(any::<u8>(), 0..64),
            rows in 0_usize..128,
            postings in (0_usize..80, 0_usize..80),
        ) {
            prop_assert!(read(bytes, &word(rows, postings.0..postings.1)).len() <= rows);
        }
    }
}
