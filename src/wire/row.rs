//! A row of a result: an element of a `data` array (contract 12.3 to 12.6).

use figdex_index::{Field, FieldValue, Row};

use crate::callers::version::Version;

/// The usual size of a row in bytes, to allocate memory for many.
pub(crate) const ROW_BYTES: usize = 320;

/// Writes a row, with the unique IDs in v2 and v1 ([`Row::write_json`]).
pub(super) fn write(out: &mut Vec<u8>, version: Version, row: Row<'_>) {
    row.write_json(out, version.has_unique_ids());
}

/// Writes the value of a field, null where unknown.
pub(super) fn value(out: &mut Vec<u8>, value: Option<FieldValue<'_>>) {
    match value {
        None => out.extend_from_slice(b"null"),
        Some(value) => {
            out.push(b'"');
            value.write_json(out);
            out.push(b'"');
        }
    }
}

/// Writes fields as members of an object, null where unknown, and then those of `more`, each after a
/// comma.
pub(super) fn object<'a>(
    out: &mut Vec<u8>,
    fields: &[Field],
    value: impl Fn(Field) -> Option<FieldValue<'a>>,
    more: impl Fn(&mut Vec<u8>),
) {
    out.push(b'{');
    let start = out.len();
    for field in fields {
        if out.len() > start {
            out.push(b',');
        }
        out.extend_from_slice(field.json_key().as_bytes());
        self::value(out, value(*field));
    }
    more(out);
    if fields.is_empty() && out.get(start) == Some(&b',') {
        out.remove(start);
    }
    out.push(b'}');
}
