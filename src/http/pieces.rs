//! An answer in pieces. A long answer is written, packed and sent piece by piece: it is never
//! copied into a larger buffer, and each piece is freed as soon as it is packed or sent.
//!
//! Each piece is charged to the memory budget for answers before it is begun; the gate charges an
//! answer that was written at once. If there is no room, the answer frees its complete pieces and
//! drops its whole text, also what is written later. The gate then refuses the request.

use std::io;

use crate::capacity::budget::{Refusal, Share};

/// The size of a piece, in bytes.
pub(crate) const PIECE_BYTES: usize = 1 << 20;

/// The room that is left in a piece when the next one is begun, in bytes. Most rows fit into it; a
/// longer row makes its piece larger.
const ROOM_BYTES: usize = 4 << 10;

/// An answer in pieces.
#[derive(Default)]
pub(crate) struct Pieces {
    /// The complete pieces. A short answer has none, and allocates nothing here.
    complete: Vec<Vec<u8>>,
    /// The piece that is being written: the next bytes are appended to it.
    last: Vec<u8>,
    /// The answer's share of the memory budget.
    share: Share,
    /// The number of rows that the answer will have, for the message of a refusal.
    rows: usize,
    refused: Option<Refusal>,
}

/// A position in an answer. The answer can be truncated there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    complete: usize,
    bytes: usize,
}

impl Pieces {
    /// An empty answer, with room for `bytes`, or for one piece if that is less.
    pub(crate) fn with_room(bytes: usize) -> Self {
        Self::charged(Share::default(), bytes, 0)
    }

    /// As [`Pieces::with_room`], for an answer of `rows` rows. Its memory is charged to `share`.
    pub(crate) fn charged(mut share: Share, bytes: usize, rows: usize) -> Self {
        // The room is a whole piece after some number of doublings.
        let halvings = PIECE_BYTES.checked_div(bytes).map_or(0, |parts| parts.max(1).ilog2());
        let room = if bytes == 0 { 0 } else { PIECE_BYTES >> halvings };
        let refused = share.grow_to(room).err();
        let last = if refused.is_some() { Vec::new() } else { Vec::with_capacity(room) };
        Self { complete: Vec::new(), last, share, rows, refused }
    }

    /// The refusal of the budget, if there was no room for a piece.
    pub(crate) fn refused(&self) -> Option<Refusal> {
        self.refused
    }

    /// The announced number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// Takes the answer's share of the budget. The caller must keep the share as long as the
    /// pieces.
    pub(crate) fn take_share(&mut self) -> Share {
        std::mem::take(&mut self.share)
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

    #[cold]
    fn begin(&mut self) {
        if self.refused.is_none() {
            self.refused = self.share.grow_to(self.held() + PIECE_BYTES).err();
        }
        if self.refused.is_some() {
            self.complete = Vec::new();
            self.last.clear();
            self.share.shrink_to(self.last.capacity());
            return;
        }
        self.complete.push(std::mem::replace(&mut self.last, Vec::with_capacity(PIECE_BYTES)));
    }

    /// A mark at the end of the answer.
    pub(crate) fn mark(&self) -> Mark {
        Mark { complete: self.complete.len(), bytes: self.last.len() }
    }

    /// Removes everything that was written after the mark.
    pub(crate) fn truncate(&mut self, mark: Mark) {
        // A refused answer drops its whole text.
        if self.refused.is_some() {
            return self.last.clear();
        }
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
        Self { last, ..Self::default() }
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
    use crate::callers::Caller;
    use crate::capacity::budget::Budget;

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

    /// contract 14.18: an answer is charged before each piece, and holds nothing once it is refused.
    #[test]
    fn a_refused_answer_holds_no_more_than_a_piece() {
        let budget = Budget::of_answers(100 * PIECE_BYTES, 5 * PIECE_BYTES);
        let mut pieces = Pieces::charged(budget.share(Caller::Socket), 1_000, 7);
        let mut rows = 0;
        while pieces.refused().is_none() {
            pieces.last().extend_from_slice(&row(rows));
            pieces.begin_if_full();
            rows += 1;
            assert!(budget.in_use().used as usize + PIECE_BYTES >= pieces.held());
        }
        assert_eq!((pieces.refused(), pieces.rows()), (Some(Refusal::Always), 7));
        assert!((4 * PIECE_BYTES..6 * PIECE_BYTES).contains(&(301 * rows)), "{rows} rows");
        let mark = pieces.mark();
        for number in 0..10_000 {
            pieces.last().extend_from_slice(&row(number));
            pieces.begin_if_full();
        }
        pieces.truncate(mark);
        assert!(pieces.held() <= 2 * PIECE_BYTES, "{} bytes", pieces.held());
        drop(pieces);
        assert_eq!(budget.in_use().used, 0);
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
