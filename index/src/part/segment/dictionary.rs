//! The words of a part as a tree of letters: tantivy's dictionary, an FST. tantivy itself offers
//! only words, and reads each of them from the root. A search for similar words must skip whole
//! branches.

use std::ops::ControlFlow;
use std::path::Path;

use tantivy::directory::{CompositeFile, OwnedBytes};
use tantivy::index::SegmentComponent;
use tantivy::schema::Field;
use tantivy::{InvertedIndexReader, SegmentReader};
use tantivy_fst::Automaton;
use tantivy_fst::raw::{Fst, Node, Output, Transition};

use crate::error::{Error, Result};
use crate::mapped::u64_at;

/// The bytes after the FST and the entries of its words: the length of the entries as `u64`, then
/// two versions. tantivy checks the versions when it opens the same bytes.
const FOOTER_BYTES: usize = 16;

/// The tree of the words of a part. An automaton that searches it must stop accepting arbitrary
/// letters after a bounded number of them: this bounds the depth of the search.
pub(crate) struct Dictionary(Option<Fst<OwnedBytes>>);

impl Dictionary {
    /// Opens the dictionary of a field. It is empty for a field without words.
    ///
    /// # Errors
    /// [`Error::Damaged`] when the file is cut or is not a dictionary, and errors of reading it.
    pub(crate) fn open(segment: &SegmentReader, field: Field, part: &Path) -> Result<Self> {
        let file = segment.open_read(SegmentComponent::Terms).map_err(tantivy::TantivyError::from);
        let file = CompositeFile::open(&file?).map_err(Error::io(part))?;
        let damaged = || Error::damaged(part, "the dictionary of the words is cut");
        let Some(bytes) = file.open_read(field) else { return Ok(Self(None)) };
        let bytes = bytes.read_bytes().map_err(Error::io(part))?;
        let end = bytes.len().checked_sub(FOOTER_BYTES).ok_or_else(damaged)?;
        let entries = u64_at(&bytes, end) as usize;
        let end = end.checked_sub(entries).ok_or_else(damaged)?;
        Fst::new(bytes.slice(0..end)).map(|words| Self(Some(words))).map_err(|_| damaged())
    }

    /// Calls `each` with each word that the automaton accepts, in order, and with `false`. If all
    /// words with some beginning are accepted, calls `each` once with this beginning and `true`
    /// instead.
    pub(crate) fn search<A: Selective, E>(
        &self,
        automaton: &A,
        each: &mut impl FnMut(&[u8], bool) -> ControlFlow<E>,
    ) -> ControlFlow<E> {
        let Some(words) = &self.0 else { return ControlFlow::Continue(()) };
        Self::walk(words, automaton, &words.root(), &automaton.start(), &mut Vec::new(), each)
    }

    /// Checks that the tree has the same words as tantivy's reader.
    ///
    /// # Errors
    /// [`Error::Damaged`] when the words differ.
    pub(crate) fn verify(&self, words: &InvertedIndexReader, part: &Path) -> Result<()> {
        let mut read = words.terms().stream().map_err(Error::io(part))?;
        let mut count = 0;
        let find = |word: &[u8]| self.0.as_ref().and_then(|words| words.get(word));
        while read.advance() {
            if find(read.key()).map(Output::value) != Some(count) {
                return Err(Error::damaged(part, "the tree of letters lacks a word"));
            }
            count += 1;
        }
        match self.0.as_ref().map_or(0, Fst::len) as u64 == count {
            true => Ok(()),
            false => Err(Error::damaged(part, "the tree of letters has too many words")),
        }
    }

    fn walk<A: Selective, E>(
        words: &Fst<OwnedBytes>,
        automaton: &A,
        node: &Node<'_>,
        state: &A::State,
        letters: &mut Vec<u8>,
        each: &mut impl FnMut(&[u8], bool) -> ControlFlow<E>,
    ) -> ControlFlow<E> {
        if automaton.will_always_match(state) {
            return each(letters, true);
        }
        if node.is_final() && automaton.is_match(state) {
            each(letters, false)?;
        }
        let mut follow = |transition: Transition| {
            let next = automaton.accept(state, transition.inp);
            if automaton.can_match(&next) {
                letters.push(transition.inp);
                Self::walk(words, automaton, &words.node(transition.addr), &next, letters, each)?;
                letters.pop();
            }
            ControlFlow::Continue(())
        };
        match automaton.only(state) {
            Some(bytes) => {
                let mut places = bytes.iter().filter_map(|byte| node.find_input(byte));
                places.try_for_each(|place| follow(node.transition(place)))
            }
            None => node.transitions().try_for_each(follow),
        }
    }
}

/// An automaton that knows which letters may follow.
pub(crate) trait Selective: Automaton {
    /// The bytes that may follow in a state: after any other byte the automaton accepts nothing.
    /// `None` when these bytes are too many to look for each.
    fn only(&self, state: &Self::State) -> Option<Bytes>;
}

/// A set of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bytes([u64; 4]);

impl Bytes {
    pub(crate) fn insert(&mut self, byte: u8) {
        self.0[usize::from(byte >> 6)] |= 1 << (byte & 63);
    }

    /// The bytes, ascending.
    pub(crate) fn iter(self) -> impl Iterator<Item = u8> {
        (0..4_u8).zip(self.0).flat_map(|(word, bits)| {
            let nonzero = |bits: &u64| *bits != 0;
            std::iter::successors(Some(bits).filter(nonzero), move |bits| {
                Some(bits & (bits - 1)).filter(nonzero)
            })
            .map(move |bits| word << 6 | bits.trailing_zeros() as u8)
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn bytes_come_back_in_order(expected in proptest::collection::btree_set(any::<u8>(), 0..9)) {
            let mut bytes = Bytes::default();
            expected.iter().for_each(|byte| bytes.insert(*byte));
            let found: Vec<u8> = bytes.iter().collect();
            prop_assert!(found.is_sorted());
            prop_assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), expected);
        }
    }
}
