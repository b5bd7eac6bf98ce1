//! Rows of the past in the result of a list's job (contract 20).

use std::borrow::Cow;
use std::io::Write as _;

use figdex_index::{Field, Figi, Instrument, PastRow, Property, Resolution, RowSource, Status};

use super::fields;
use crate::wire::json::{array, string};

/// Writes the rows of a result as they were, and the days on which they were so. A row that is
/// meant, or that was, has its days in members of the result; each of several rows has its own.
pub(super) fn write(
    out: &mut Vec<u8>,
    fields: &[Field],
    rows: &impl RowSource,
    resolution: &Resolution,
    has_day: bool,
) {
    let is_data =
        has_day && matches!(resolution.status, Status::Resolved(_) | Status::Ambiguous(_));
    out.extend_from_slice(if is_data { b",\"data\":" } else { b",\"former\":" });
    match (&resolution.status, &resolution.past[..]) {
        (Status::Resolved(_), [row, ..]) => {
            out.push(b'[');
            object(out, fields, &row.row, |_| {});
            out.push(b']');
            days(out, fields, rows, row);
        }
        (Status::Historical | Status::Gone, [row, ..]) => {
            object(out, fields, &row.row, |_| {});
            days(out, fields, rows, row);
        }
        (_, several) => array(out, several, |out, row| {
            object(out, fields, &row.row, |out| days(out, fields, rows, row));
        }),
    }
}

/// Writes the other FIGIs that had an identifier earlier.
pub(super) fn write_formerly(out: &mut Vec<u8>, formerly: &[PastRow]) {
    const FIELDS: [Field; 4] = [Field::Figi, Field::Name, Field::Ticker, Field::ExchCode];
    out.extend_from_slice(b",\"formerly\":");
    array(out, formerly, |out, row| object(out, &FIELDS, &row.row, |out| valid(out, row)));
}

/// Writes a row as it was with these members, null where unknown, and then those of `more`.
fn object(out: &mut Vec<u8>, fields: &[Field], row: &Instrument, more: impl Fn(&mut Vec<u8>)) {
    out.push(b'{');
    let start = out.len();
    for field in fields {
        if out.len() > start {
            out.push(b',');
        }
        out.extend_from_slice(field.json_key().as_bytes());
        match text(row, *field) {
            None => out.extend_from_slice(b"null"),
            Some(text) => string(out, &text),
        }
    }
    let end = out.len();
    more(out);
    if end == start && out.len() > end {
        // Without fields there is nothing that a comma separates from the other members.
        out.remove(end);
    }
    out.push(b'}');
}

/// Writes the row of today, the days of a row as it was, and what the answer rests on.
fn days(out: &mut Vec<u8>, fields: &[Field], rows: &impl RowSource, row: &PastRow) {
    out.extend_from_slice(b",\"today\":");
    match row.today {
        Some(hit) => fields::write_row(fields, out, rows.row(hit)),
        None => out.extend_from_slice(b"null"),
    }
    valid(out, row);
    let _ = write!(out, ",\"basis\":\"{}\"", row.basis.name());
}

fn valid(out: &mut Vec<u8>, row: &PastRow) {
    let _ = write!(out, ",\"validFrom\":\"{}\",\"validTo\":", row.valid_from);
    let _ = match row.valid_to {
        Some(day) => write!(out, "\"{day}\""),
        None => write!(out, "null"),
    };
}

/// The value of a field of a row as it was. The past has no unique IDs and no metadata.
pub(super) fn text(row: &Instrument, field: Field) -> Option<Cow<'_, str>> {
    let figi = |figi: Option<Figi>| figi.map(|figi| Cow::Owned(figi.to_string()));
    let property = |property| row.property(property).map(Cow::Borrowed);
    match field {
        Field::Figi => figi(Some(row.figi)),
        Field::CompositeFigi => figi(row.composite_figi),
        Field::ShareClassFigi => figi(row.share_class_figi),
        Field::Name => row.name.as_deref().map(Cow::Borrowed),
        Field::Ticker => row.ticker.as_deref().map(Cow::Borrowed),
        Field::SecurityDescription => row.security_description.as_deref().map(Cow::Borrowed),
        Field::ExchCode => property(Property::ExchCode),
        Field::SecurityType => property(Property::SecurityType),
        Field::MarketSector => property(Property::MarketSecDes),
        Field::SecurityType2 => property(Property::SecurityType2),
        Field::UniqueId | Field::UniqueIdFutOpt | Field::Metadata => None,
    }
}

/// The cells of rows as they were: their FIGIs, those of them that have a row today, and of one row
/// the days and the basis.
pub(super) fn cells(past: &[PastRow]) -> [String; 5] {
    let former = joined(past.iter().map(PastRow::figi));
    let today = joined(past.iter().filter(|row| row.today.is_some()).map(PastRow::figi));
    let [from, to, basis] = match past {
        [row] => {
            let to = row.valid_to.map(|day| day.to_string()).unwrap_or_default();
            [row.valid_from.to_string(), to, row.basis.name().to_owned()]
        }
        _ => Default::default(),
    };
    [former, today, from, to, basis]
}

/// FIGIs in one cell.
pub(super) fn joined(figis: impl Iterator<Item = Figi>) -> String {
    figis.map(|figi| figi.to_string()).collect::<Vec<_>>().join("|")
}
