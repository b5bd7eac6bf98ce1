//! An identifier among other words: `WKN: 865985 / ISIN: US0378331005`. The other words are left out.

use super::{Draft, TypedText};
use crate::resolve::spaced::among_words;

/// The reading of the text as the only ISIN or FIGI in it.
pub(super) fn identifier(typed: TypedText<'_>) -> Option<Draft> {
    let found = among_words(typed.text)?;
    let start = typed.text.find(found)?;
    let end = start + found.len();
    let sides = [0..start, end..typed.text.len()];
    let left_out = sides.into_iter().filter_map(|side| {
        let words = typed.text[side.clone()].trim_matches(|c: char| !c.is_alphanumeric());
        let from = typed.text[side.clone()].find(words)? + side.start;
        (!words.is_empty()).then(|| from..from + words.len())
    });
    let left_out = left_out.collect();
    Some(Draft { words: found.to_owned(), chips: Vec::new(), left_out })
}
