//! "FIGI result": an element of a `data` array.

use figdex_index::{Row, Text};

use super::json;
use crate::version::Version;

/// Writes a result row: ten keys in the decided order, always all of them, null
/// where unknown; v2 and v1 add the unique IDs in their places; `metadata` only
/// where the attributes are not available.
pub(super) fn write(out: &mut Vec<u8>, version: Version, row: &Row<'_>) {
    let figi = |figi: Option<figdex_index::Figi>| figi.map(figdex_index::Figi::to_chars);
    out.extend_from_slice(b"{\"figi\":\"");
    out.extend_from_slice(&row.figi.to_chars());
    out.push(b'"');
    field(out, "name", row.name);
    field(out, "ticker", row.ticker);
    field(out, "exchCode", row.exch_code);
    characters(out, "compositeFIGI", figi(row.composite_figi));
    if version.has_unique_ids() {
        templated(out, "uniqueID", row.unique_id);
    }
    field(out, "securityType", row.security_type);
    field(out, "marketSector", row.market_sector);
    characters(out, "shareClassFIGI", figi(row.share_class_figi));
    if version.has_unique_ids() {
        templated(out, "uniqueIDFutOpt", row.unique_id_fut_opt);
    }
    field(out, "securityType2", row.security_type2);
    templated(out, "securityDescription", row.security_description);
    if row.metadata.is_some() {
        field(out, "metadata", row.metadata);
    }
    out.push(b'}');
}

fn key(out: &mut Vec<u8>, key: &str) {
    out.extend_from_slice(b",\"");
    out.extend_from_slice(key.as_bytes());
    out.extend_from_slice(b"\":");
}

fn field(out: &mut Vec<u8>, name: &str, value: Option<&str>) {
    key(out, name);
    match value {
        Some(text) => json::string(out, text),
        None => out.extend_from_slice(b"null"),
    }
}

/// A text that is filled in piece by piece.
fn templated(out: &mut Vec<u8>, name: &str, value: Option<Text<'_>>) {
    key(out, name);
    match value {
        Some(text) => json::string_of(out, text.pieces()),
        None => out.extend_from_slice(b"null"),
    }
}

/// A FIGI, whose characters need no escape.
fn characters<const COUNT: usize>(out: &mut Vec<u8>, name: &str, value: Option<[u8; COUNT]>) {
    key(out, name);
    match value {
        Some(characters) => {
            out.push(b'"');
            out.extend_from_slice(&characters);
            out.push(b'"');
        }
        None => out.extend_from_slice(b"null"),
    }
}
