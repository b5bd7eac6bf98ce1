//! One instrument with all that the index knows and may show, and its family (contract 16.5). Its
//! rows are those of v3, with more members at the end.

use figdex_index::{Branch, Family, Figi, Hit, IdType, IdValue, Instrument, Property, RowSource};

use super::json::{array, reopen, string};
use super::row;
use crate::callers::version::Version;
use crate::config::Settings;

/// Whether third-party identifiers are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Identifiers {
    Shown,
    Hidden,
}

impl Identifiers {
    /// As the settings say.
    pub(crate) fn of(settings: &Settings) -> Self {
        if settings.hide_identifiers { Self::Hidden } else { Self::Shown }
    }
}

/// The properties that a row lacks, in the order of contract 6.1.
const PROPERTIES: [Property; 4] =
    [Property::MicCode, Property::Currency, Property::StateCode, Property::OptionType];

/// Writes the answer of `GET /instruments/{figi}`.
pub(crate) fn instrument(
    out: &mut Vec<u8>,
    rows: &impl RowSource,
    (hit, instrument): (Hit, &Instrument),
    family: &Family,
    identifiers: Identifiers,
) {
    out.extend_from_slice(b"{\"instrument\":");
    row::write(out, Version::V3, rows.row(hit));
    reopen(out);
    for property in PROPERTIES {
        text(out, property.name(), instrument.property(property));
    }
    number(out, "strike", instrument.strike);
    number(out, "contractSize", instrument.contract_size);
    number(out, "coupon", instrument.coupon);
    for (name, date) in [("expiration", instrument.expiration), ("maturity", instrument.maturity)] {
        text(out, name, date.map(|date| date.to_string()).as_deref());
    }
    key(out, "listed");
    // Null when the data do not say; it counts as listed then (contract 6.9).
    out.extend_from_slice(match instrument.listed {
        None => b"null",
        Some(false) => b"false",
        Some(true) => b"true",
    });
    let unique_ids =
        [("uniqueID", &instrument.unique_id), ("uniqueIDFutOpt", &instrument.unique_id_fut_opt)];
    for (name, id) in unique_ids.into_iter().filter(|(_, id)| id.is_some()) {
        text(out, name, id.as_deref());
    }
    if let Some(importance) = instrument.importance {
        number(out, "importance", Some(importance.number()));
    }
    if !instrument.alias.is_empty() {
        key(out, "alias");
        array(out, &instrument.alias, |out, alias| string(out, alias));
    }
    if identifiers == Identifiers::Shown {
        key(out, "identifiers");
        self::identifiers(out, instrument);
    }
    out.push(b'}');
    end_with(out, rows, family);
}

/// Writes the answer of `GET /instruments/{figi}` for a FIGI that only other rows name.
pub(crate) fn family(out: &mut Vec<u8>, rows: &impl RowSource, family: &Family) {
    out.extend_from_slice(b"{\"instrument\":null");
    end_with(out, rows, family);
}

/// Writes the family as the last member.
fn end_with(out: &mut Vec<u8>, rows: &impl RowSource, family: &Family) {
    out.extend_from_slice(b",\"family\":{\"shareClassFIGI\":");
    figi_or_null(out, family.share_class_figi);
    out.extend_from_slice(b",\"composites\":");
    array(out, &family.composites, |out, branch| self::branch(out, rows, branch));
    let truncated: &[u8] = if family.is_truncated { b"true" } else { b"false" };
    out.extend_from_slice(b",\"truncated\":");
    out.extend_from_slice(truncated);
    out.extend_from_slice(b"}}");
}

/// Writes each idType of which the instrument has values, with them.
fn identifiers(out: &mut Vec<u8>, instrument: &Instrument) {
    out.push(b'{');
    let mut is_first = true;
    for id_type in IdType::ALL {
        let values: Vec<&str> = instrument.identifiers_of(id_type).map(IdValue::as_str).collect();
        if values.is_empty() {
            continue;
        }
        if !std::mem::take(&mut is_first) {
            out.push(b',');
        }
        string(out, id_type.name());
        out.push(b':');
        array(out, &values, |out, value| string(out, value));
    }
    out.push(b'}');
}

fn branch(out: &mut Vec<u8>, rows: &impl RowSource, branch: &Branch) {
    out.extend_from_slice(b"{\"compositeFIGI\":");
    figi_or_null(out, branch.composite_figi);
    out.extend_from_slice(b",\"composite\":");
    match branch.composite {
        Some(composite) => venue(out, rows, composite),
        None => out.extend_from_slice(b"null"),
    }
    out.extend_from_slice(b",\"venues\":");
    array(out, &branch.venues, |out, hit| venue(out, rows, *hit));
    out.push(b'}');
}

/// Writes a row with its market segment.
fn venue(out: &mut Vec<u8>, rows: &impl RowSource, hit: Hit) {
    row::write(out, Version::V3, rows.row(hit));
    reopen(out);
    text(out, "micCode", rows.mic_code(hit).as_deref());
    out.push(b'}');
}

fn key(out: &mut Vec<u8>, name: &str) {
    out.push(b',');
    string(out, name);
    out.push(b':');
}

fn text(out: &mut Vec<u8>, name: &str, value: Option<&str>) {
    key(out, name);
    match value {
        Some(value) => string(out, value),
        None => out.extend_from_slice(b"null"),
    }
}

fn number(out: &mut Vec<u8>, name: &str, value: Option<f64>) {
    key(out, name);
    // Every number of the index is finite. serde_json would write another as null.
    serde_json::to_writer(out, &value).expect("writing a number into memory does not fail");
}

fn figi_or_null(out: &mut Vec<u8>, figi: Option<Figi>) {
    match figi {
        Some(figi) => string(out, &figi.to_string()),
        None => out.extend_from_slice(b"null"),
    }
}
