//! Chapter "Resources and their fields": one file for each JSON shape, with its
//! rules. Shapes are permissive and plain; checked, they are questions of
//! `figdex_index`, which cannot be wrong.

pub(crate) mod cursor;
mod figi;
mod instrument;
mod interval;
mod job;
pub(crate) mod job_result;
mod json;
mod properties;
mod search;
mod search_result;
mod suggest;
pub(crate) mod values;

use crate::pieces::Pieces;
use std::borrow::Cow;

pub(crate) use self::figi::ROW_BYTES;
pub(crate) use self::instrument::{Identifiers, instrument};
pub(crate) use self::job::{Job, jobs};
pub(crate) use self::properties::{Checked, Several};
pub(crate) use self::search::{INVALID_START, SearchRequest};
pub(crate) use self::search_result::{PageAnswer, page};
pub(crate) use self::suggest::{SuggestRequest, suggestions};

/// A fault of one field: a sentence for the caller, inside a 200.
pub(crate) type Fault = Cow<'static, str>;

/// Takes the end off an object that was just written: more members follow.
fn reopen(out: &mut Vec<u8>) {
    let end = out.pop();
    debug_assert_eq!(end, Some(b'}'));
}

/// What a caller is told of a property that does not exist. Of a long one only the
/// beginning: an answer is no echo.
fn invalid_key(key: &str) -> Fault {
    const KEY_CHARS_MAX: usize = 64;
    match key.char_indices().nth(KEY_CHARS_MAX) {
        Some((end, _)) => format!("Invalid key '{}…'.", &key[..end]).into(),
        None => format!("Invalid key '{key}'.").into(),
    }
}

/// An object that says what is wrong, for answers that are no shape of the contract.
pub(crate) fn error(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    json::message(&mut out, "error", text);
    out
}

/// Writes a JSON array, an element for each item.
pub(crate) fn array<T>(out: &mut Vec<u8>, items: &[T], mut each: impl FnMut(&mut Vec<u8>, &T)) {
    out.push(b'[');
    for (place, item) in items.iter().enumerate() {
        if place > 0 {
            out.push(b',');
        }
        each(out, item);
    }
    out.push(b']');
}

/// Writes a JSON array that may be long, an element for each item.
pub(crate) fn in_pieces<T>(out: &mut Pieces, items: &[T], mut each: impl FnMut(&mut Pieces, &T)) {
    out.last().push(b'[');
    for (place, item) in items.iter().enumerate() {
        if place > 0 {
            out.last().push(b',');
        }
        each(out, item);
        out.turn();
    }
    out.last().push(b']');
}
