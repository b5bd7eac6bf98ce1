//! Cells of delimited text, texts of JSON, and cells after their lengths, as bytes.

use std::borrow::Cow;

use figdex_ingest::table::{RawCell, RowBytes};

use crate::wire::cell;

/// In place of the length of a counted cell: there is no value.
pub(super) const ABSENT: u32 = u32::MAX;

/// In place of the length of a counted cell: the row has more cells than the heading.
pub(super) const SURPLUS: u32 = u32::MAX - 1;

/// Appends a cell after its length, or the absence of one.
pub(super) fn push_counted(text: Option<&[u8]>, out: &mut Vec<u8>) {
    let Some(text) = text else { return out.extend_from_slice(&ABSENT.to_le_bytes()) };
    // A row of a table is at most 16 MB.
    out.extend_from_slice(&(text.len() as u32).to_le_bytes());
    out.extend_from_slice(text);
}

/// Notes that the row has more cells than the heading.
pub(super) fn push_surplus(out: &mut Vec<u8>) {
    out.extend_from_slice(&SURPLUS.to_le_bytes());
}

/// Appends a cell, in quotes if needed. With `guards`, a formula gets an apostrophe.
pub(super) fn push_cell(text: &[u8], delimiter: u8, guards: bool, out: &mut Vec<u8>) {
    let guard = if guards { cell::guard_of(text) } else { b"" };
    cell::push_cell(text, delimiter, guard, out);
}

/// Appends the cells of a row of delimited text, with an apostrophe before each formula. A row
/// without a formula is copied.
pub(super) fn push_guarded(row: RowBytes<'_>, delimiter: u8, out: &mut Vec<u8>) {
    let cells = (0..row.cells()).map(|column| match row.cell(column) {
        RawCell::Text(text) | RawCell::Number(text) => text,
        RawCell::Absent | RawCell::Nested => b"",
    });
    if !cells.clone().any(cell::is_formula) {
        out.extend_from_slice(row.content());
        return;
    }
    for (place, cell) in cells.enumerate() {
        if place > 0 {
            out.push(delimiter);
        }
        push_cell(cell, delimiter, true, out);
    }
}

/// Appends a text as a JSON string.
pub(super) fn push_json(text: &str, out: &mut Vec<u8>) {
    // Writing to memory does not fail, and a text is always JSON.
    serde_json::to_writer(out, text).ok();
}

/// The plain text of the inside of a JSON string.
pub(super) fn unescaped(json: &[u8]) -> Cow<'_, [u8]> {
    if !json.contains(&b'\\') {
        return Cow::Borrowed(json);
    }
    let quoted = [b"\"", json, b"\""].concat();
    match serde_json::from_slice::<String>(&quoted) {
        Ok(text) => Cow::Owned(text.into_bytes()),
        Err(_) => Cow::Borrowed(json),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_when_they_must_be() {
        for (text, guards, expected) in [
            ("plain", true, "plain"),
            ("a;b", false, "\"a;b\""),
            ("a\"b", false, "\"a\"\"b\""),
            ("=1", false, "=1"),
            ("=1", true, "'=1"),
            (" -1;2", true, "\"' -1;2\""),
            ("＋x", true, "'＋x"),
            ("\tx", true, "'\tx"),
            ("x=1", true, "x=1"),
            ("", true, ""),
        ] {
            let mut out = Vec::new();
            push_cell(text.as_bytes(), b';', guards, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), expected);
        }
    }

    #[test]
    fn escapes_of_json_are_undone() {
        assert_eq!(&*unescaped(br#"a\"\u00e9"#), "a\"é".as_bytes());
        assert_eq!(&*unescaped(b"plain"), b"plain");
    }
}
