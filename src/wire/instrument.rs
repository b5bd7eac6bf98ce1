//! One instrument with everything that the index knows and may show, and its family (contract
//! 16.5). Its rows are those of v3, with further members at the end.

use figdex_index::{
    Attribute, Branch, Family, Field, Figi, Hit, IdType, Instrument, Property, RowSource, Sort,
    Visible,
};
use serde::Serialize;

use super::json::{array, reopen, string};
use super::row;
use crate::callers::version::Version;

/// The properties that a row lacks, in the order of contract 6.1.
const PROPERTIES: [Property; Property::COUNT - 4] =
    [Property::MicCode, Property::Currency, Property::StateCode, Property::OptionType];

/// Writes the answer of `GET /instruments/{figi}`.
pub(crate) fn instrument(
    out: &mut Vec<u8>,
    rows: &impl RowSource,
    (hit, instrument): (Hit, &Instrument),
    family: &Family,
    visible: Visible,
) {
    out.extend_from_slice(b"{\"instrument\":");
    row::write(out, Version::V3, rows.row(hit));
    reopen(out);
    for property in PROPERTIES {
        text(out, property.name(), instrument.property(property));
    }
    for is_list in [false, true] {
        let all = Attribute::ALL.iter().filter(|one| !is_in_row(**one));
        for attribute in all.filter(|one| self::is_list(one.sort()) == is_list) {
            let value = instrument.value(*attribute);
            if value.is_some() || is_null_where_unknown(attribute.sort()) {
                key(out, attribute.name());
                json(out, &value);
            }
        }
    }
    if !visible.is_least() {
        key(out, "identifiers");
        identifiers(out, instrument, visible);
    }
    out.push(b'}');
    end_with(out, rows, family);
}

/// Whether a row of v3 has the attribute.
fn is_in_row(attribute: Attribute) -> bool {
    let mut of_every_row = Field::of_every_row().iter();
    attribute == Attribute::Metadata || of_every_row.any(|it| it.name() == attribute.name())
}

fn is_list(sort: Sort) -> bool {
    matches!(sort, Sort::Texts | Sort::Names)
}

/// Whether an unknown value is null; else its member is left out. `listed` is null when the data do
/// not say: such an instrument counts as listed (contract 6.9).
fn is_null_where_unknown(sort: Sort) -> bool {
    matches!(sort, Sort::Number | Sort::Date | Sort::Flag)
}

/// Writes the answer of `GET /instruments/{figi}` for a FIGI that is only the share class or
/// composite of other rows.
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
    out.extend_from_slice(b",\"bestListing\":");
    figi_or_null(out, family.best_listing.map(|hit| rows.figi(hit)));
    let truncated: &[u8] = if family.is_truncated { b"true" } else { b"false" };
    out.extend_from_slice(b",\"truncated\":");
    out.extend_from_slice(truncated);
    out.extend_from_slice(b"}}");
}

/// Writes each idType that the instrument has values of and that the caller may see, with the
/// values.
pub(super) fn identifiers(out: &mut Vec<u8>, instrument: &Instrument, visible: Visible) {
    out.push(b'{');
    let mut is_first = true;
    for id_type in IdType::ALL.into_iter().filter(|id_type| visible.has(*id_type)) {
        let Some(values) = instrument.identifier_set(id_type) else { continue };
        if !std::mem::take(&mut is_first) {
            out.push(b',');
        }
        string(out, id_type.name());
        out.push(b':');
        json(out, &values);
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

/// Every number of the index is finite. serde_json would write another as null.
fn json(out: &mut Vec<u8>, value: &impl Serialize) {
    serde_json::to_writer(out, value).expect("writing a value into memory does not fail");
}

fn figi_or_null(out: &mut Vec<u8>, figi: Option<Figi>) {
    match figi {
        Some(figi) => string(out, &figi.to_string()),
        None => out.extend_from_slice(b"null"),
    }
}
