//! A row of a result: an element of a `data` array (contract 12.3 to 12.6).

use figdex_index::{FIGI_CHARS, Field, FieldValue, Figi, Row, Text};

use crate::callers::version::Version;

/// The usual size of a row in bytes, to allocate memory for many.
pub(crate) const ROW_BYTES: usize = 320;

/// Writes a row. It always has the ten members of contract 12.3 in their order, null where unknown.
/// In v2 and v1 it also has the unique IDs in their places. `metadata` is only on a row that has
/// it.
pub(super) fn write(out: &mut Vec<u8>, version: Version, row: Row<'_>) {
    out.extend_from_slice(b"{\"figi\":\"");
    out.extend_from_slice(&row.figi().to_chars());
    text(out, b"\",\"name\":", row.name());
    text(out, b",\"ticker\":", row.ticker());
    text(out, b",\"exchCode\":", row.exch_code());
    figi(out, b",\"compositeFIGI\":", row.composite_figi());
    if version.has_unique_ids() {
        text(out, b",\"uniqueID\":", row.unique_id());
    }
    text(out, b",\"securityType\":", row.security_type());
    text(out, b",\"marketSector\":", row.market_sector());
    figi(out, b",\"shareClassFIGI\":", row.share_class_figi());
    if version.has_unique_ids() {
        text(out, b",\"uniqueIDFutOpt\":", row.unique_id_fut_opt());
    }
    text(out, b",\"securityType2\":", row.security_type2());
    text(out, b",\"securityDescription\":", row.security_description());
    if row.metadata().is_some() {
        text(out, b",\"metadata\":", row.metadata());
    }
    out.push(b'}');
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

/// Writes a text, which the index already holds escaped for JSON. The length of the key is part of
/// its type, so the key is copied in a register or two, without a call.
#[inline]
fn text<const KEY: usize>(out: &mut Vec<u8>, key: &[u8; KEY], value: Option<Text<'_>>) {
    out.extend_from_slice(key);
    let Some(text) = value else { return out.extend_from_slice(b"null") };
    out.push(b'"');
    text.json_pieces().for_each(|piece| out.extend_from_slice(piece));
    out.push(b'"');
}

/// Writes a FIGI, whose characters need no escape.
#[inline]
fn figi<const KEY: usize>(out: &mut Vec<u8>, key: &[u8; KEY], value: Option<Figi>) {
    out.extend_from_slice(key);
    let Some(figi) = value else { return out.extend_from_slice(b"null") };
    let mut quoted = [b'"'; FIGI_CHARS + 2];
    quoted[1..=FIGI_CHARS].copy_from_slice(&figi.to_chars());
    out.extend_from_slice(&quoted);
}
