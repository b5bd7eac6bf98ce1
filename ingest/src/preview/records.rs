//! The first records of a dump of unknown layout, as names and texts.

use std::collections::BTreeMap;

use figdex_index::Figi;
use serde_json::{Map, Value};

use crate::format::Format;
use crate::row::Row;
use crate::source::next::Next;
use crate::source::{DumpReader, Input};
use crate::table::{Batch, Container, Heading, RawCell, Table};

/// The most records from which a layout is proposed.
const RECORDS_MAX: usize = 10_000;

/// The most bytes of records from which a layout is proposed: their values are kept in memory.
const RECORDS_BYTES_MAX: usize = 64 << 20;

/// The most columns of a dump that a proposal considers. A hostile dump may have millions.
const COLUMNS_MAX: usize = 1_000;

/// The deepest member of a JSON object that a proposal considers.
const DEPTH_MAX: usize = 4;

/// The columns of the first records.
#[derive(Default)]
pub(super) struct Records {
    /// The keys of a columns file that say how to find the records, a line each.
    pub(super) syntax: String,
    /// The names of the columns, in the order of the dump, with their values that are not blank.
    pub(super) columns: Vec<(String, Vec<String>)>,
}

impl Records {
    /// The first records of the dump, once for each possible reading of it.
    pub(super) fn readings(input: &Input) -> Vec<Self> {
        let table = Table::open(input, None, Heading::First);
        if let Ok(table) = table
            && matches!(table.container(), Container::Delimited { .. })
        {
            let read = delimited(table).filter(|read| read.columns.len() > 1);
            return read.into_iter().collect();
        }
        json(input)
    }
}

fn delimited(mut table: Table) -> Option<Records> {
    let Container::Delimited { delimiter } = table.container() else { return None };
    let delimiter =
        if delimiter == b'\t' { "\\t".to_owned() } else { char::from(delimiter).to_string() };
    let mut syntax = format!("format = \"delimited\"\ndelimiter = \"{delimiter}\"\n");
    match table.converted_from() {
        None => {}
        Some(name) if name.eq_ignore_ascii_case("windows-1252") => {
            syntax += "encoding = \"windows-1252\"\n";
        }
        // A build cannot read this encoding.
        Some(_) => return None,
    }
    let mut names = table.columns().to_vec();
    names.truncate(COLUMNS_MAX);
    let mut values = vec![Vec::new(); names.len()];
    // A header row has no FIGI. So if the first row has one, it is a record.
    if names.iter().any(|name| Figi::parse(name).is_ok()) {
        syntax += "header = false\n";
        for (place, name) in names.iter_mut().enumerate() {
            values[place].push(std::mem::replace(name, (place + 1).to_string()));
        }
    }
    let (mut batch, mut read, mut bytes) = (Batch::default(), 0, 0);
    while read < RECORDS_MAX && bytes < RECORDS_BYTES_MAX && table.read(&mut batch).ok()? {
        for place in 0..batch.rows() {
            let row = batch.row(place);
            for (column, values) in values.iter_mut().enumerate().take(row.cells()) {
                if let RawCell::Text(text) = row.cell(column) {
                    let text = String::from_utf8_lossy(text).trim().to_owned();
                    values.extend(Some(text).filter(|text| !text.is_empty()));
                }
            }
        }
        read += batch.rows();
        bytes += batch.bytes();
    }
    Some(Records { syntax, columns: names.into_iter().zip(values).collect() })
}

/// JSON lines, and a document with its records at each of the usual places.
fn json(input: &Input) -> Vec<Records> {
    let places = ["*", "*.*", "*.*.*"];
    let documents = places.map(|path| format!("format = \"json\"\nrecords = \"{path}\"\n"));
    let syntaxes = ["format = \"json-lines\"\n".to_owned()].into_iter().chain(documents);
    syntaxes.filter_map(|syntax| objects(input, syntax)).collect()
}

fn objects(input: &Input, syntax: String) -> Option<Records> {
    let format = Format::parse("proposal", &format!("{syntax}own-names = true\n")).ok()?;
    let mut source = DumpReader::open(input, Some(&format)).ok()?;
    let mut row = Row::default();
    let mut records = Records { syntax, columns: Vec::new() };
    let mut places = BTreeMap::new();
    let mut bytes = 0;
    for read in 0..RECORDS_MAX {
        if bytes > RECORDS_BYTES_MAX {
            break;
        }
        let next = source.next(&mut row).ok()?;
        bytes += row.raw.len();
        match next {
            Next::End => break,
            // If the first record is not an object, the records are elsewhere.
            Next::Row | Next::Rejected(_) => {
                let object: Option<Map<String, Value>> = serde_json::from_slice(&row.raw).ok();
                match object {
                    Some(object) => records.add(&mut places, "", &object, 0),
                    None if read == 0 => return None,
                    None => {}
                }
            }
            Next::Skipped => {}
        }
    }
    let has_values = records.columns.iter().any(|(_, values)| !values.is_empty());
    Some(records).filter(|_| has_values)
}

impl Records {
    fn add(
        &mut self,
        places: &mut BTreeMap<String, usize>,
        path: &str,
        object: &Map<String, Value>,
        depth: usize,
    ) {
        for (name, value) in object {
            let name = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            let text = match value {
                Value::Object(members) if depth < DEPTH_MAX => {
                    self.add(places, &name, members, depth + 1);
                    continue;
                }
                Value::String(text) => text.trim().to_owned(),
                Value::Number(number) => number.to_string(),
                Value::Bool(truth) => truth.to_string(),
                Value::Null | Value::Array(_) | Value::Object(_) => continue,
            };
            if text.is_empty() || (!places.contains_key(&name) && places.len() == COLUMNS_MAX) {
                continue;
            }
            let place = *places.entry(name.clone()).or_insert(self.columns.len());
            if place == self.columns.len() {
                self.columns.push((name, Vec::new()));
            }
            self.columns[place].1.push(text);
        }
    }
}
