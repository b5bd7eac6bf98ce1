//! Cells of delimited text (RFC 4180).

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
