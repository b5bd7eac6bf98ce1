//! Names of exchanges and countries among the words: `xetra`, `hong kong`, `germany`, and MICs.

use std::ops::Range;

use super::pieces::{Piece, joined, range_of};
use super::{Draft, Narrowing, TypedText};
use crate::instrument::markets::{codes_named, name_words_max};
use crate::instrument::vocabulary::{Known, Property, Vocabulary};
use crate::words::words;

/// The reading of the last words as the name of an exchange or a country. First words are not read: the
/// names of companies often begin with a city.
pub(super) fn places(typed: TypedText<'_>) -> Option<Draft> {
    let (place, values) = named(typed.pieces, typed.vocabulary)?;
    let rest = typed.pieces.iter().filter(|piece| !place.contains(&piece.start));
    Some(Draft { words: joined(rest), chips: vec![(place, values)], left_out: Vec::new() })
}

/// The place that the last words name, with the longest name that there is. At least one word is
/// left.
pub(super) fn named(
    pieces: &[Piece<'_>],
    vocabulary: &Vocabulary,
) -> Option<(Range<usize>, Narrowing)> {
    let longest = name_words_max().min(pieces.len().saturating_sub(1));
    (1..=longest).rev().find_map(|count| {
        let last = &pieces[pieces.len() - count..];
        Some((range_of(last), values(last, vocabulary)?))
    })
}

/// The values of the exchanges that the words name, as far as the index has them.
fn values(named: &[Piece<'_>], vocabulary: &Vocabulary) -> Option<Narrowing> {
    let squeezed = named.iter().flat_map(|piece| words(piece.text)).map(|word| word.squeezed());
    let codes = codes_named(&squeezed.collect::<Vec<_>>().join(" ")).iter();
    let known: Vec<Known> =
        codes.filter_map(|code| vocabulary.admit(Property::ExchCode, code)).collect();
    if !known.is_empty() {
        return Some(Narrowing::Values(known));
    }
    let [mic] = named else { return None };
    let is_mic = mic.text.len() == 4 && mic.text.bytes().all(|c| c.is_ascii_alphanumeric());
    let mic = is_mic.then(|| mic.text.to_ascii_uppercase())?;
    Some(Narrowing::Values(vec![vocabulary.admit(Property::MicCode, &mic)?]))
}
