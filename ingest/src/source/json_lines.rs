//! JSON lines: an object a line, with the column names as keys.

use std::fmt;
use std::io::{BufRead, Read as _};

use serde::de::{Deserialize as _, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use super::{Fault, Next, RECORD_BYTES_MAX};
use crate::rejects::Reject;
use crate::row::{CellKind, Column, Row};

/// So many unknown keys are named; a dump may have any number of them.
const UNKNOWN_KEYS_MAX: usize = 100;

pub(super) struct JsonLines<R> {
    input: R,
    line: u64,
    unknown: Vec<String>,
}

impl<R: BufRead> JsonLines<R> {
    pub(super) fn new(input: R) -> Self {
        Self { input, line: 0, unknown: Vec::new() }
    }

    pub(super) fn unknown_columns(&self) -> &[String] {
        &self.unknown
    }

    pub(super) fn next(&mut self, row: &mut Row) -> Result<Next, Fault> {
        loop {
            self.line += 1;
            row.line = self.line;
            row.raw.clear();
            let mut line = self.input.by_ref().take(RECORD_BYTES_MAX as u64 + 1);
            line.read_until(b'\n', &mut row.raw).map_err(Fault::read(self.line))?;
            if row.raw.is_empty() {
                return Ok(Next::End);
            }
            if row.raw.len() > RECORD_BYTES_MAX {
                return Err(Fault::too_long(self.line));
            }
            while row.raw.last().is_some_and(|byte| matches!(byte, b'\n' | b'\r')) {
                row.raw.pop();
            }
            if !row.raw.trim_ascii().is_empty() {
                break;
            }
        }
        let raw = std::mem::take(&mut row.raw);
        let parsed = self.parse(&raw, row);
        row.raw = raw;
        Ok(match parsed {
            Ok(()) => Next::Row,
            Err(error) => {
                row.clear_cells();
                Next::Rejected(reason(&error, &row.raw))
            }
        })
    }

    fn parse(&mut self, raw: &[u8], row: &mut Row) -> serde_json::Result<()> {
        let mut json = serde_json::Deserializer::from_slice(raw);
        json.deserialize_map(Cells { row, unknown: &mut self.unknown })?;
        json.end()
    }
}

/// Why a line is no row.
fn reason(error: &serde_json::Error, raw: &[u8]) -> Reject {
    match raw.trim_ascii_start().first() {
        _ if str::from_utf8(raw).is_err() => Reject::NotUtf8,
        Some(b'{') => Reject::NotJson { byte: error.column(), what: what(error) },
        Some(b'[') => Reject::Array,
        _ => Reject::NotAnObject,
    }
}

/// The parser's words without the position, which counts lines within the line.
fn what(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.split(" at line ").next().unwrap_or_default().to_owned()
}

/// Puts the members of an object into a row.
struct Cells<'a> {
    row: &'a mut Row,
    unknown: &'a mut Vec<String>,
}

impl<'de> Visitor<'de> for Cells<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        while let Some(column) = members.next_key_seed(Key { unknown: self.unknown })? {
            match column {
                Some(column) => members.next_value_seed(Values { row: self.row, column })?,
                None => drop(members.next_value::<serde::de::IgnoredAny>()?),
            }
        }
        Ok(())
    }
}

/// A key becomes a column, or is remembered as unknown.
struct Key<'a> {
    unknown: &'a mut Vec<String>,
}

impl<'de> DeserializeSeed<'de> for Key<'_> {
    type Value = Option<Column>;

    fn deserialize<D: Deserializer<'de>>(self, key: D) -> Result<Self::Value, D::Error> {
        let key = std::borrow::Cow::<str>::deserialize(key)?;
        let column = Column::from_name(&key);
        let new = |unknown: &[String]| {
            unknown.len() < UNKNOWN_KEYS_MAX && unknown.iter().all(|name| *name != key)
        };
        if column.is_none() && new(self.unknown) {
            self.unknown.push(key.into_owned());
        }
        Ok(column)
    }
}

/// A member's value becomes a cell, an array's entries a cell each.
struct Values<'a> {
    row: &'a mut Row,
    column: Column,
}

impl<'de> DeserializeSeed<'de> for Values<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, value: D) -> Result<(), D::Error> {
        value.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Values<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        self.row.push(self.column, text, CellKind::Text);
        Ok(())
    }

    fn visit_bool<E>(self, value: bool) -> Result<(), E> {
        self.row.push(self.column, if value { "true" } else { "false" }, CellKind::Text);
        Ok(())
    }

    fn visit_u64<E>(self, number: u64) -> Result<(), E> {
        self.row.push(self.column, &number.to_string(), CellKind::Integer);
        Ok(())
    }

    fn visit_i64<E>(self, number: i64) -> Result<(), E> {
        self.row.push(self.column, &number.to_string(), CellKind::Integer);
        Ok(())
    }

    fn visit_f64<E>(self, number: f64) -> Result<(), E> {
        self.row.push(self.column, &number.to_string(), CellKind::Text);
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        let (row, column) = (self.row, self.column);
        if !column.is_list() {
            row.push(column, "an array", CellKind::Nested);
            while entries.next_element::<serde::de::IgnoredAny>()?.is_some() {}
            return Ok(());
        }
        while entries.next_element_seed(Values { row, column })?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        self.row.push(self.column, "an object", CellKind::Nested);
        while members.next_entry::<serde::de::IgnoredAny, serde::de::IgnoredAny>()?.is_some() {}
        Ok(())
    }
}
