//! Rows as they were, and the past of one instrument (contract 20).

use std::io::Write as _;

use figdex_index::{
    Attribute, ColumnValue, Coverage, Date, Field, Instrument, PastColumn, Property, Retired,
    Version, VersionEnd, Versions, Visible,
};

use super::instrument::identifiers;
use super::json::{array, string};
use super::{Fault, invalid_key, row};

/// The most versions of an answer.
const VERSIONS_MAX: usize = 1_000;

/// The parameters of `GET /instruments/{figi}/history`.
pub(crate) struct HistoryRequest {
    /// Whether versions that were mistakes are shown.
    pub(crate) has_revised: bool,
}

impl HistoryRequest {
    /// Reads the query of a URL.
    ///
    /// # Errors
    /// The text for the answer's `error`.
    pub(crate) fn parse(query: &str) -> Result<Self, Fault> {
        let mut revised = None;
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            if name != "revised" {
                return Err(invalid_key(&name));
            }
            let value = value.parse().map_err(|_| "revised must be true or false.")?;
            if revised.replace(value).is_some() {
                return Err("revised must not be repeated.".into());
            }
        }
        Ok(Self { has_revised: revised.unwrap_or(false) })
    }
}

/// The past of one instrument.
pub(crate) struct History {
    /// Its versions.
    pub(crate) versions: Versions,
    /// The days that the past covers.
    pub(crate) coverage: Coverage,
    /// The first day from which something can be said of such rows.
    pub(crate) covered_since: Date,
}

/// A version of either sort.
struct ShownVersion<'a> {
    first: Date,
    last: Option<Date>,
    end: Option<VersionEnd>,
    learned: &'a [(PastColumn, Date)],
    image: &'a Instrument,
}

/// Writes the answer of `GET /instruments/{figi}/history`. The versions are those that the caller
/// may see ([`Versions::hide`]).
pub(crate) fn history(
    out: &mut Vec<u8>,
    history: &History,
    request: &HistoryRequest,
    visible: Visible,
) {
    let History { versions, coverage: Coverage { since, until }, covered_since } = history;
    let open = versions.open.iter().map(|open| ShownVersion {
        first: open.first,
        last: None,
        end: None,
        learned: &open.learned,
        image: &open.image,
    });
    let is_shown = |version: &&Version| request.has_revised || version.end != VersionEnd::Revised;
    let closed = versions.closed.iter().rev().filter(is_shown).map(|version| ShownVersion {
        first: version.first,
        last: Some(version.last),
        end: Some(version.end),
        learned: &version.learned,
        image: &version.image,
    });
    let mut shown: Vec<ShownVersion<'_>> = open.chain(closed).take(VERSIONS_MAX + 1).collect();
    let is_truncated = shown.len() > VERSIONS_MAX;
    shown.truncate(VERSIONS_MAX);
    let _ = write!(
        out,
        "{{\"figi\":\"{}\",\"coverage\":{{\"since\":\"{since}\",\"until\":\"{until}\"}},\
         \"coveredSince\":\"{covered_since}\",\"versions\":",
        versions.figi
    );
    array(out, &shown, |out, version| self::version(out, version, visible));
    let _ = write!(out, ",\"truncated\":{is_truncated},\"stated\":");
    array(out, &versions.stated, stated_identifier);
    out.push(b'}');
}

/// Writes an identifier that the instrument had, by a file of the operator.
fn stated_identifier(out: &mut Vec<u8>, retired: &Retired) {
    let _ = write!(out, "{{\"idType\":\"{}\",\"idValue\":", retired.id_value.id_type().name());
    string(out, retired.id_value.as_str());
    days(out, retired.from, retired.to);
    let _ = write!(out, ",\"kind\":\"{}\"", retired.kind.name());
    let _ = match retired.successor {
        Some(figi) => write!(out, ",\"successor\":\"{figi}\"}}"),
        None => write!(out, ",\"successor\":null}}"),
    };
}

fn version(out: &mut Vec<u8>, version: &ShownVersion<'_>, visible: Visible) {
    let ShownVersion { first, last, end, learned, image } = version;
    let basis = if learned.is_empty() { "observed" } else { "assumed" };
    out.push(b'{');
    days(out, Some(*first), *last);
    let _ = match end {
        Some(end) => write!(out, ",\"end\":\"{}\"", name_of(*end)),
        None => write!(out, ",\"end\":null"),
    };
    let _ = write!(out, ",\"basis\":\"{basis}\",\"row\":");
    row::object(
        out,
        Field::of_every_row(),
        |field| image.field(field),
        |out| {
            for property in
                [Property::MicCode, Property::Currency, Property::StateCode, Property::OptionType]
            {
                value(out, property.name(), image.property(property).map(ColumnValue::Text));
            }
            for attribute in [Attribute::Expiration, Attribute::Maturity, Attribute::Listed] {
                value(out, attribute.name(), image.value(attribute));
            }
            if !visible.is_least() {
                out.extend_from_slice(b",\"identifiers\":");
                identifiers(out, image, visible);
            }
        },
    );
    out.extend_from_slice(b",\"learned\":{");
    for (place, (column, day)) in learned.iter().enumerate() {
        let comma = if place > 0 { "," } else { "" };
        let _ = write!(out, "{comma}\"{}\":\"{day}\"", column.name());
    }
    out.extend_from_slice(b"}}");
}

fn name_of(end: VersionEnd) -> &'static str {
    match end {
        VersionEnd::Replaced => "replaced",
        VersionEnd::Gone => "gone",
        VersionEnd::Expired => "expired",
        VersionEnd::Revised => "revised",
    }
}

fn value(out: &mut Vec<u8>, name: &str, value: Option<ColumnValue<'_>>) {
    let _ = write!(out, ",\"{name}\":");
    serde_json::to_writer(out, &value).expect("writing a value into memory does not fail");
}

/// Writes the days on which a row was so, as members of an object.
pub(super) fn days(out: &mut Vec<u8>, first: Option<Date>, last: Option<Date>) {
    for (name, day) in [("validFrom", first), ("validTo", last)] {
        if !out.ends_with(b"{") {
            out.push(b',');
        }
        let _ = match day {
            Some(day) => write!(out, "\"{name}\":\"{day}\""),
            None => write!(out, "\"{name}\":null"),
        };
    }
}
