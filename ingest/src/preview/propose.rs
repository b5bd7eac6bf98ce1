//! Proposes a columns file for a dump of unknown layout, from its headings and its values.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use figdex_index::{Attribute, Figi, Instrument, Property, Sort};
use jiff::civil::Date;

use super::records::Records;
use crate::row::nearest::{nearest, of_type};
use crate::row::normalize::set_cell;
use crate::row::{Cell, CellKind, Column};

/// The share of a column's values that its canonical column must accept.
const ACCEPTED_MIN: f64 = 0.5;

/// Forms of dates to try when a column's dates are not in the canonical form.
const DATES: [&str; 5] = ["%d.%m.%Y", "%Y%m%d", "%d/%m/%Y", "%m/%d/%Y", "%Y-%m-%dT%H:%M:%SZ"];

const COMPOSITE: Column = Column::Attribute(Attribute::CompositeFigi);
const SHARE_CLASS: Column = Column::Attribute(Attribute::ShareClassFigi);

/// The columns file for the first reading with FIGIs; without one, for the first reading with any
/// recognised column.
pub(super) fn columns_file(readings: &[Records]) -> Option<String> {
    let proposals = || readings.iter().map(|records| (records, chosen(records)));
    let has_figi = |(_, columns): &(&Records, BTreeMap<Column, usize>)| {
        columns.keys().any(|&column| matches!(column, Column::Figi | COMPOSITE))
    };
    let found = proposals().find(has_figi);
    let (records, proposed) =
        found.or_else(|| proposals().find(|(_, columns)| !columns.is_empty()))?;
    Some(written(records, proposed))
}

fn written(records: &Records, mut proposed: BTreeMap<Column, usize>) -> String {
    let mut text = "# Proposed by figdex-ingest inspect: check each line.\n".to_owned();
    text += &records.syntax;
    text += "\n[columns]\n";
    if !proposed.contains_key(&Column::Figi) {
        match proposed.get(&COMPOSITE) {
            Some(composite) => {
                text += "# No column has the FIGI of the listing: a row is its composite.\n";
                proposed.insert(Column::Figi, *composite);
            }
            None => text += "# No column has FIGIs, so that this dump can only --enrich others.\n",
        }
    }
    for (column, place) in &proposed {
        let (name, values) = &records.columns[*place];
        write_line(&mut text, *column, name, values);
    }
    let unused = records.columns.iter().enumerate();
    let unused = unused.filter(|(place, (name, _))| {
        !name.is_empty() && !proposed.values().any(|used| used == place)
    });
    let names: Vec<String> = unused.map(|(_, (name, _))| quoted(name)).collect();
    if !names.is_empty() {
        text += "\n# Columns without a meaning yet:\n";
        for name in names {
            _ = writeln!(text, "#   {name}");
        }
    }
    text
}

/// The column of the dump that feeds each canonical column. Identifiers that are proven by their
/// values come first, then headings.
fn chosen(records: &Records) -> BTreeMap<Column, usize> {
    let mut chosen = BTreeMap::new();
    let mut is_used = vec![false; records.columns.len()];
    // A columns file cannot name a column whose name occurs twice.
    for (place, (name, _)) in records.columns.iter().enumerate() {
        let is_twice = records.columns.iter().filter(|(other, _)| other == name).count() > 1;
        is_used[place] = name.is_empty() || is_twice;
    }
    let by_values = |name: &str, values: &[String]| {
        let mut column = figdex_index::Column::default();
        values.iter().for_each(|value| column.add(value));
        let by_name = nearest(name);
        let found = column.recognise(name).map(|found| of_type(found.id_type));
        // The values of FIGIs do not show their level, but the heading may.
        match (found, by_name) {
            (Some(Column::Figi), Some(level @ (COMPOSITE | SHARE_CLASS))) => Some(level),
            (found, _) => found,
        }
    };
    for by_name in [false, true] {
        for (place, (name, values)) in records.columns.iter().enumerate() {
            let found = if by_name { nearest(name) } else { by_values(name, values) };
            let Some(column) = found.filter(|_| !is_used[place] && !values.is_empty()) else {
                continue;
            };
            chosen.entry(column).or_insert_with(|| {
                is_used[place] = true;
                place
            });
        }
    }
    chosen
}

/// Writes the line of a column, or a comment if the column does not accept its values.
fn write_line(text: &mut String, column: Column, name: &str, values: &[String]) {
    let (key, from) = (column.name(), quoted(name));
    let is_date = matches!(column, Column::Attribute(one) if one.sort() == Sort::Date);
    let fits = |form: &&str| share(values, |value| Date::strptime(form, value).is_ok()) > 0.9;
    let line = if share(values, |value| accepts(column, value)) >= ACCEPTED_MIN {
        format!("{key} = {from}")
    } else if let Some(form) = DATES.iter().find(|form| is_date && fits(form)) {
        format!("{key} = {{ from = {from}, date = \"{form}\" }}")
    } else {
        let example = values.first().map_or_else(String::new, |value| quoted(&super::cut(value)));
        let such = column.about().example;
        format!("# {key} = {from}  # {example} does not look like {key}, such as {such}")
    };
    *text += &line;
    *text += "\n";
}

fn share(values: &[String], holds: impl Fn(&str) -> bool) -> f64 {
    values.iter().filter(|value| holds(value)).count() as f64 / values.len().max(1) as f64
}

/// Whether a value looks like one of that column's values.
fn accepts(column: Column, value: &str) -> bool {
    let Ok(figi) =
        Figi::parse(if column == Column::Figi { value } else { Column::Figi.about().example })
    else {
        return false;
    };
    // Codes have a fixed length. Names of exchanges or currencies do not belong here.
    let chars = match column {
        Column::Property(Property::ExchCode) => Some(2),
        Column::Property(Property::Currency) => Some(3),
        Column::Property(Property::MicCode) => Some(4),
        _ => None,
    };
    if chars.is_some_and(|chars| chars != value.chars().count()) {
        return false;
    }
    let cell = Cell { column, value, kind: CellKind::Text };
    set_cell(&mut Instrument::new(figi), &cell).is_ok()
}

/// The text in quotes, in TOML's syntax. JSON has the same escapes, except that it does not escape
/// DEL.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('\x7f', "\\u007f")
}
