//! The answer of `GET /about` (contract 16.14).

use std::io::Write as _;

use figdex_index::{Coverage, IdType, Instrument, Manifest, Vendor, Visible};

use super::json::{array, string};
use super::token::Token;

/// Writes the description of the index. `coverage` has the days of its past, if it has one, `vendors`
/// are those whose symbols it answers, and `example` is a well-known instrument.
pub(crate) fn about(
    out: &mut Vec<u8>,
    manifest: &Manifest,
    coverage: Option<Coverage>,
    is_sample: bool,
    vendors: &[Vendor],
    example: Option<&Instrument>,
    visible: Visible,
) {
    let token = Token { generation: manifest.id, visible };
    write!(
        out,
        "{{\"instruments\":{},\"generation\":{},\"built\":",
        manifest.instruments, manifest.generation
    )
    .expect("writing into memory does not fail");
    string(out, &manifest.built_at);
    for (name, text) in [("date", manifest.date.to_string()), ("token", token.to_string())] {
        write!(out, ",\"{name}\":").expect("writing into memory does not fail");
        string(out, &text);
    }
    if let Some(Coverage { since, until }) = coverage {
        write!(out, ",\"coverage\":{{\"since\":\"{since}\",\"until\":\"{until}\"}}")
            .expect("writing into memory does not fail");
    }
    out.extend_from_slice(b",\"sample\":");
    out.extend_from_slice(if is_sample { b"true" } else { b"false" });
    out.extend_from_slice(b",\"symbols\":");
    array(out, vendors, |out, vendor| string(out, vendor.name()));
    out.extend_from_slice(b",\"exchanges\":");
    object(out, manifest.exchanges.iter().map(|(code, name)| (code.as_str(), name.as_str())));
    out.extend_from_slice(b",\"examples\":");
    let examples = example.map(|instrument| {
        let figi = Some(instrument.figi.to_string());
        let of_type = |id_type| {
            let first = instrument.identifiers_of(id_type).next();
            let first = first.filter(|_| visible.has(id_type));
            first.map(|value| value.as_str().to_owned())
        };
        [
            ("ticker", instrument.ticker.clone()),
            ("name", instrument.name.clone()),
            ("isin", of_type(IdType::Isin)),
            ("cusip", of_type(IdType::Cusip)),
            ("figi", figi),
        ]
    });
    let given = examples.iter().flatten();
    object(out, given.filter_map(|(name, value)| Some((*name, value.as_deref()?))));
    out.push(b'}');
}

/// Writes an object of texts.
fn object<'a>(out: &mut Vec<u8>, members: impl Iterator<Item = (&'a str, &'a str)>) {
    out.push(b'{');
    for (place, (name, value)) in members.enumerate() {
        if place > 0 {
            out.push(b',');
        }
        string(out, name);
        out.push(b':');
        string(out, value);
    }
    out.push(b'}');
}
