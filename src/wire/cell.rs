//! Cells of delimited text (RFC 4180).

/// Whether a spreadsheet would run a cell: it begins with = + - or @, also in full width and after
/// blanks, or with a tab or a line end.
pub(crate) fn is_formula(text: &[u8]) -> bool {
    if matches!(text.first(), Some(b'\t' | b'\r' | b'\n')) {
        return true;
    }
    let text = text.trim_ascii_start();
    let wide = ["＝", "＋", "－", "＠"];
    matches!(text.first(), Some(b'=' | b'+' | b'-' | b'@'))
        || wide.iter().any(|sign| text.starts_with(sign.as_bytes()))
}

/// The guard before a cell that a spreadsheet would run: an apostrophe. Nothing for other cells.
pub(crate) fn guard_of(text: &[u8]) -> &'static [u8] {
    if is_formula(text) { b"'" } else { b"" }
}

/// Appends a cell, in quotes if needed. `guard` is put before its text.
pub(crate) fn push_cell(text: &[u8], delimiter: u8, guard: &[u8], out: &mut Vec<u8>) {
    let special = |byte: &u8| matches!(byte, b'"' | b'\r' | b'\n') || *byte == delimiter;
    if !text.iter().any(special) {
        out.extend_from_slice(guard);
        out.extend_from_slice(text);
        return;
    }
    out.push(b'"');
    out.extend_from_slice(guard);
    for byte in text {
        if *byte == b'"' {
            out.push(b'"');
        }
        out.push(*byte);
    }
    out.push(b'"');
}
