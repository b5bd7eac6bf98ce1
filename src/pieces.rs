//! An answer in pieces. A long answer is written, packed and sent piece by piece: it is never
//! copied into a larger buffer, and each piece is freed as soon as it is packed or sent.

use std::io;

/// The size of a piece, in bytes.
pub(crate) const PIECE_BYTES: usize = 1 << 20;

/// The room that is left in a piece when the next one begins, in bytes: most rows fit into it. A
/// longer row makes its piece larger.
const ROOM_BYTES: usize = 4 << 10;

/// An answer in pieces.
#[derive(Debug, Default)]
pub(crate) struct Pieces {
    /// The complete pieces. A short answer has none, and allocates nothing here.
    complete: Vec<Vec<u8>>,
    /// The piece that is being written: the next bytes are appended to it.
    last: Vec<u8>,
}

/// A mark in an answer, to which it can be truncated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    complete: usize,
    bytes: usize,
}

impl Pieces {
    /// An empty answer, with room for `bytes`, or for one piece if that is less.
    pub(crate) fn with_room(bytes: usize) -> Self {
        Self { complete: Vec::new(), last: Vec::with_capacity(bytes.min(PIECE_BYTES)) }
    }

    /// The piece that is being written.
    pub(crate) fn last(&mut self) -> &mut Vec<u8> {
        &mut self.last
    }

    /// Begins another piece if the last one is nearly full.
    #[inline]
    pub(crate) fn begin_if_full(&mut self) {
        if self.last.len() > PIECE_BYTES - ROOM_BYTES {
            self.begin();
        }
    }

    fn begin(&mut self) {
        self.complete.push(std::mem::replace(&mut self.last, Vec::with_capacity(PIECE_BYTES)));
    }

    /// A mark at the end of the answer.
    pub(crate) fn mark(&self) -> Mark {
        Mark { complete: self.complete.len(), bytes: self.last.len() }
    }

    /// Removes everything that was written after the mark.
    pub(crate) fn truncate(&mut self, mark: Mark) {
        if mark.complete < self.complete.len() {
            self.last = self.complete.swap_remove(mark.complete);
            self.complete.truncate(mark.complete);
        }
        self.last.truncate(mark.bytes);
    }

    /// The length of the answer, in bytes.
    pub(crate) fn len(&self) -> usize {
        self.complete.iter().map(Vec::len).sum::<usize>() + self.last.len()
    }

    /// The memory that the answer holds, in bytes.
    pub(crate) fn held(&self) -> usize {
        self.complete.iter().map(Vec::capacity).sum::<usize>() + self.last.capacity()
    }

    /// The piece of an answer that has only one.
    ///
    /// # Errors
    /// The answer itself, when it has several pieces.
    pub(crate) fn into_only(self) -> Result<Vec<u8>, Self> {
        if self.complete.is_empty() { Ok(self.last) } else { Err(self) }
    }

    /// Frees the unused room of the last of several pieces.
    pub(crate) fn shrink(&mut self) {
        if !self.complete.is_empty() {
            self.last.shrink_to_fit();
        }
    }
}

impl From<Vec<u8>> for Pieces {
    fn from(last: Vec<u8>) -> Self {
        Self { complete: Vec::new(), last }
    }
}

impl IntoIterator for Pieces {
    type Item = Vec<u8>;
    type IntoIter = std::iter::Chain<std::vec::IntoIter<Vec<u8>>, std::iter::Once<Vec<u8>>>;

    fn into_iter(self) -> Self::IntoIter {
        self.complete.into_iter().chain(std::iter::once(self.last))
    }
}

impl io::Write for Pieces {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.begin_if_full();
        let bytes = &bytes[..bytes.len().min(PIECE_BYTES - self.last.len())];
        self.last.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn row(number: usize) -> Vec<u8> {
        format!("{number:>300},").into_bytes()
    }

    /// Pieces have a bounded size and little unused room.
    #[test]
    fn a_long_answer_is_in_pieces() {
        let (mut pieces, mut whole) = (Pieces::with_room(301 * 40_000), Vec::new());
        for number in 0..40_000 {
            pieces.last().extend_from_slice(&row(number));
            pieces.begin_if_full();
            whole.extend_from_slice(&row(number));
        }
        pieces.shrink();
        assert_eq!(pieces.len(), whole.len());
        assert!(pieces.held() < whole.len() + whole.len() / 100, "{} bytes", pieces.held());
        let pieces: Vec<_> = pieces.into_iter().collect();
        assert_eq!(pieces.len(), whole.len().div_ceil(PIECE_BYTES - ROOM_BYTES));
        assert!(pieces.iter().all(|piece| piece.capacity() <= PIECE_BYTES));
        assert!(pieces.concat() == whole);
    }

    #[test]
    fn a_truncated_answer_ends_at_its_mark() {
        for (before, after) in [(0, 1), (0, 20_000), (3, 1), (5_000, 5), (5_000, 20_000)] {
            let mut pieces = Pieces::with_room(0);
            let write = |pieces: &mut Pieces, rows: usize| {
                for number in 0..rows {
                    pieces.last().extend_from_slice(&row(number));
                    pieces.begin_if_full();
                }
            };
            write(&mut pieces, before);
            let mark = pieces.mark();
            write(&mut pieces, after);
            pieces.truncate(mark);
            let expected: Vec<u8> = (0..before).flat_map(row).collect();
            assert!(
                pieces.into_iter().collect::<Vec<_>>().concat() == expected,
                "{before} {after}"
            );
        }
    }

    #[test]
    fn a_writer_begins_pieces_too() {
        let mut pieces = Pieces::default();
        let bytes: Vec<u8> = (0..5 * PIECE_BYTES / 2).map(|place| place as u8).collect();
        pieces.write_all(&bytes).unwrap();
        assert_eq!(pieces.len(), bytes.len());
        let pieces: Vec<_> = pieces.into_iter().collect();
        assert_eq!(pieces.len(), 3);
        assert!(pieces.concat() == bytes);
    }
}
