//! The words of a part as a tree of letters: tantivy's dictionary, an FST. tantivy itself shows
//! only words, each of which is read from the root; a search for similar words leaves out branches.

use std::ops::ControlFlow;
use std::path::Path;

use tantivy::SegmentReader;
use tantivy::directory::{CompositeFile, OwnedBytes};
use tantivy::index::SegmentComponent;
use tantivy::schema::Field;
use tantivy_fst::Automaton;
use tantivy_fst::raw::{Fst, Node};

use crate::error::{Error, Result};
use crate::mapped::u64_at;

/// The bytes after the FST and the entries of its words: the length of the entries as `u64`, then
/// two versions, which tantivy checks when it opens the same bytes.
const FOOTER_BYTES: usize = 16;

/// The tree of the words of a part. The automata that search it must not accept any letter after a
/// bounded number of letters, which bounds the depth of the search.
pub(crate) struct Dictionary(Option<Fst<OwnedBytes>>);

impl Dictionary {
    /// Opens the dictionary of a field. A field without words has none.
    ///
    /// # Errors
    /// [`Error::Damaged`] when it is shorter than it says.
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

    /// Calls `each` with every word that the automaton accepts, in order, and `false`; or with
    /// `true` and a beginning, instead of all the words that begin with it and are all accepted.
    pub(crate) fn search<A: Automaton, E>(
        &self,
        automaton: &A,
        each: &mut impl FnMut(&[u8], bool) -> ControlFlow<E>,
    ) -> ControlFlow<E> {
        let Some(words) = &self.0 else { return ControlFlow::Continue(()) };
        Self::walk(words, automaton, &words.root(), &automaton.start(), &mut Vec::new(), each)
    }

    fn walk<A: Automaton, E>(
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
        for transition in node.transitions() {
            let next = automaton.accept(state, transition.inp);
            if automaton.can_match(&next) {
                letters.push(transition.inp);
                Self::walk(words, automaton, &words.node(transition.addr), &next, letters, each)?;
                letters.pop();
            }
        }
        ControlFlow::Continue(())
    }
}
