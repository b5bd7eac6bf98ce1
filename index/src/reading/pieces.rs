//! The pieces of a text: its words with their places.

use std::ops::Range;

/// A word of a text, without the commas around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece<'a> {
    pub(super) text: &'a str,
    pub(super) start: usize,
}

impl Piece<'_> {
    pub(super) fn range(&self) -> Range<usize> {
        self.start..self.start + self.text.len()
    }
}

/// The words of a text, in order.
pub(super) fn pieces(text: &str) -> Vec<Piece<'_>> {
    let words = text.split_whitespace().map(|word| word.trim_matches([',', ';']));
    let piece = |word: &'_ str| word.as_ptr() as usize - text.as_ptr() as usize;
    words
        .filter(|word| !word.is_empty())
        .map(|word| Piece { text: word, start: piece(word) })
        .collect()
}

/// The place of several pieces that follow each other.
pub(super) fn range_of(pieces: &[Piece<'_>]) -> Range<usize> {
    let start = pieces.first().map_or(0, |piece| piece.start);
    start..pieces.last().map_or(start, |piece| piece.range().end)
}

/// The words of pieces, joined by blanks.
pub(super) fn joined<'a>(pieces: impl IntoIterator<Item = &'a Piece<'a>>) -> String {
    let words: Vec<&str> = pieces.into_iter().map(|piece| piece.text).collect();
    words.join(" ")
}

/// The text without one of its places, and without the colon or the blanks next to it.
pub(super) fn without(text: &str, place: &Range<usize>) -> String {
    let is_between = |c: char| c.is_whitespace() || matches!(c, ':' | ',' | ';');
    let before = text[..place.start].trim_end_matches(is_between);
    let after = text[place.end..].trim_start_matches(is_between);
    format!("{} {}", before.trim_start(), after.trim_end()).trim().to_owned()
}
