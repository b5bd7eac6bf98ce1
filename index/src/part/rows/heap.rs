//! The heap of the rows' texts, `rows.texts`: each text once, as its length in a little-endian
//! `u16` and then its bytes. A text is referred to by its place in the heap.

use std::path::Path;

use xxhash_rust::xxh3::xxh3_64;

use crate::error::{Error, Result};
use crate::part::file_writer::write_file;
use crate::part::hashed::ByHash;

/// The place of a text in its heap, in bytes from the start.
pub(crate) type TextRef = u32;

/// A heap that is being written.
#[derive(Default)]
pub(crate) struct TextHeap {
    bytes: Vec<u8>,
    /// The place of the last text with this hash. The bytes are compared before a text is shared,
    /// so texts with the same hash only cost a second copy.
    known: ByHash<TextRef>,
}

impl TextHeap {
    /// The place of `text`. Adds the text unless the heap has it.
    pub(crate) fn put(&mut self, text: &[u8]) -> Result<TextRef> {
        let hash = xxh3_64(text);
        if let Some(&place) = self.known.get(&hash)
            && text_at(&self.bytes, place).bytes() == text
        {
            return Ok(place);
        }
        let length =
            u16::try_from(text.len()).map_err(|_| Error::PartTooLarge("bytes in one text"))?;
        let place = TextRef::try_from(self.bytes.len())
            .ok()
            .filter(|&place| place != TextRef::MAX)
            .ok_or(Error::PartTooLarge("bytes of text"))?;
        self.bytes.extend_from_slice(&length.to_le_bytes());
        self.bytes.extend_from_slice(text);
        self.known.insert(hash, place);
        Ok(place)
    }

    /// The bytes of all texts.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn write(&self, path: &Path) -> Result<()> {
        write_file(path, &self.bytes)
    }
}

/// A text, with the bytes after it in its heap.
#[derive(Clone, Copy, Default)]
pub(crate) struct HeldText<'a> {
    /// Begins with the text.
    from: &'a [u8],
    length: usize,
}

impl<'a> HeldText<'a> {
    /// The text.
    #[inline]
    pub(crate) fn bytes(self) -> &'a [u8] {
        &self.from[..self.length]
    }

    /// The part of the text that begins at byte `start` and has `length` bytes.
    ///
    /// # Panics
    /// When the heap ends before it does.
    #[inline]
    pub(super) fn part(self, start: usize, length: usize) -> Self {
        let from = &self.from[start..];
        assert!(length <= from.len(), "a text inside the heap");
        Self { from, length }
    }

    /// The text and what follows it in the heap, `BYTES` in all; `None` when the text is longer, or
    /// the heap ends before.
    #[inline]
    pub(super) fn with_next<const BYTES: usize>(self) -> Option<&'a [u8; BYTES]> {
        self.from.first_chunk().filter(|_| self.length <= BYTES)
    }

    /// The number of bytes of the text.
    #[inline]
    pub(super) fn len(self) -> usize {
        self.length
    }
}

impl<'a> From<&'a [u8]> for HeldText<'a> {
    fn from(text: &'a [u8]) -> Self {
        Self { from: text, length: text.len() }
    }
}

/// The text at `place` of a heap.
///
/// # Panics
/// When the heap has no text there, which `verify` rules out.
#[inline]
pub(crate) fn text_at(heap: &[u8], place: TextRef) -> HeldText<'_> {
    let text = heap.get(place as usize..).and_then(<[u8]>::split_first_chunk);
    let (length, from) = text.expect("a text inside the heap");
    HeldText::from(from).part(0, usize::from(u16::from_le_bytes(*length)))
}

/// The text at `place` of a heap; `None` when the heap has no text there.
pub(crate) fn text_within(heap: &[u8], place: TextRef) -> Option<&[u8]> {
    let (length, rest) = heap.get(place as usize..)?.split_first_chunk()?;
    rest.get(..usize::from(u16::from_le_bytes(*length)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_put_is_found_and_kept_once(texts in proptest::collection::vec("[a-c]{0,3}", 0..50)) {
            let mut heap = TextHeap::default();
            let places: Vec<_> =
                texts.iter().map(|text| heap.put(text.as_bytes()).unwrap()).collect();
            for (text, place) in texts.iter().zip(&places) {
                prop_assert_eq!(text_at(&heap.bytes, *place).bytes(), text.as_bytes());
                prop_assert_eq!(heap.put(text.as_bytes()).unwrap(), *place);
            }
        }
    }

    #[test]
    fn a_text_that_is_too_long_is_an_error() {
        let mut heap = TextHeap::default();
        assert!(heap.put(&vec![b'x'; 65_535]).is_ok());
        assert!(heap.put(&vec![b'x'; 65_536]).is_err());
    }
}
