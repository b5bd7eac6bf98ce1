//! Rows of the past in the result of a list's job (contract 20).

use std::io::Write as _;

use figdex_index::{Field, Figi, PastRow, Resolution, RowSource, Status};

use super::fields::ShownRows;
use crate::wire::json::array;
use crate::wire::past::days;
use crate::wire::row;

/// Writes the rows of a result as they were, and the days on which they were so. A row that is
/// meant, or that was, has its days in members of the result; each of several rows has its own.
pub(super) fn write(
    out: &mut Vec<u8>,
    shown: &ShownRows<'_, impl RowSource>,
    resolution: &Resolution,
    has_day: bool,
) {
    let is_data =
        has_day && matches!(resolution.status, Status::Resolved(_) | Status::Ambiguous(_));
    out.extend_from_slice(if is_data { b",\"data\":" } else { b",\"former\":" });
    match (&resolution.status, &resolution.past[..]) {
        (Status::Resolved(_), [row, ..]) => {
            out.push(b'[');
            shown.was(out, &row.row, |_| {});
            out.push(b']');
            standing(out, shown, row);
        }
        (Status::Historical | Status::Gone, [row, ..]) => {
            shown.was(out, &row.row, |_| {});
            standing(out, shown, row);
        }
        (_, several) => array(out, several, |out, row| {
            shown.was(out, &row.row, |out| standing(out, shown, row));
        }),
    }
}

/// Writes the other FIGIs that had an identifier earlier.
pub(super) fn write_formerly(out: &mut Vec<u8>, rows: &impl RowSource, formerly: &[PastRow]) {
    const FIELDS: [Field; 4] = [Field::Figi, Field::Name, Field::Ticker, Field::ExchCode];
    out.extend_from_slice(b",\"formerly\":");
    array(out, formerly, |out, row| {
        let value = |field| row.row.value(rows, field);
        row::object(out, &FIELDS, value, |out| days(out, row.valid_from, row.valid_to));
    });
}

/// Writes the row of today, the days of a row as it was, and what the answer rests on.
fn standing(out: &mut Vec<u8>, shown: &ShownRows<'_, impl RowSource>, row: &PastRow) {
    out.extend_from_slice(b",\"today\":");
    match row.today {
        Some(hit) => shown.now(out, hit),
        None => out.extend_from_slice(b"null"),
    }
    days(out, row.valid_from, row.valid_to);
    let _ = write!(out, ",\"basis\":\"{}\"", row.basis.name());
    if let Some(figi) = row.successor {
        let _ = write!(out, ",\"successor\":\"{figi}\"");
    }
}

/// The cells of rows as they were: their FIGIs, those of them that have a row today, and of one row
/// the days, the basis and the successor.
pub(super) fn cells(past: &[PastRow]) -> [String; 6] {
    let former = joined(past.iter().map(|row| row.figi));
    let today = joined(past.iter().filter(|row| row.today.is_some()).map(|row| row.figi));
    let [from, to, basis, successor] = match past {
        [row] => {
            let [from, to] = [row.valid_from, row.valid_to]
                .map(|day| day.map(|day| day.to_string()).unwrap_or_default());
            let successor = row.successor.map(|figi| figi.to_string()).unwrap_or_default();
            [from, to, row.basis.name().to_owned(), successor]
        }
        _ => Default::default(),
    };
    [former, today, from, to, basis, successor]
}

/// FIGIs in one cell.
pub(super) fn joined(figis: impl Iterator<Item = Figi>) -> String {
    figis.map(|figi| figi.to_string()).collect::<Vec<_>>().join("|")
}
