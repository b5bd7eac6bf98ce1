//! What the first bytes of a dump and the ending of its name say about its format.
//!
//! A format is taken by what only it has: the names in the header row or in the
//! first record. Where two formats fit, or none does, nothing is guessed.

use std::collections::HashMap;
use std::io::Cursor;
use std::sync::Arc;

use serde::de::IgnoredAny;

use super::delimited;
use super::json_document::JsonDocument;
use crate::format::columns_file::ColumnsFile;
use crate::format::description::{Container, Description, Recognise};
use crate::format::plan::Plan;
use crate::format::{Format, canonical, recognisable};
use crate::row::Row;

/// Delimiters that are looked for where none is told.
const DELIMITERS: [u8; 4] = [b',', b'\t', b'|', b';'];

/// The beginning of a dump, unpacked, without a byte order mark.
pub(super) struct Head<'a> {
    pub(super) content: &'a [u8],
    /// What the file's name ends with.
    pub(super) ending: Option<&'a str>,
}

impl Head<'_> {
    pub(super) fn is_parquet(&self) -> bool {
        self.content.starts_with(b"PAR1")
    }

    /// In what the records are, if the dump is of that description.
    pub(super) fn container(&self, description: &Description) -> Container {
        if let Some(container) = description.container {
            return container;
        }
        let content = self.content.trim_ascii_start();
        match (self.ending, content.first()) {
            (Some("jsonl" | "ndjson"), _) => Container::JsonLines,
            (Some("csv" | "tsv" | "tab" | "psv"), _) => Container::Delimited,
            (_, Some(b'[')) => Container::Json,
            (_, Some(b'{')) if description.records.is_some() => Container::Json,
            (_, Some(b'{')) => Container::JsonLines,
            _ => Container::Delimited,
        }
    }

    /// What stands between cells, if the dump is of that description.
    pub(super) fn delimiter(&self, description: &Description) -> u8 {
        if let Some(delimiter) = description.dialect.delimiter {
            return delimiter;
        }
        match self.ending {
            Some("csv") if !self.is_semicolon(description) => b',',
            Some("tsv" | "tab") => b'\t',
            Some("psv") => b'|',
            _ => self.commonest(description),
        }
    }

    /// Where the comma divides decimals, a CSV file has semicolons.
    fn is_semicolon(&self, description: &Description) -> bool {
        !self.first_line(description).contains(&b',') && self.commonest(description) == b';'
    }

    fn commonest(&self, description: &Description) -> u8 {
        let line = self.first_line(description);
        let count = |delimiter: &u8| line.iter().filter(|byte| *byte == delimiter).count();
        // The first of those that are equal.
        DELIMITERS.into_iter().rev().max_by_key(count).unwrap_or(b',')
    }

    /// The first line that may hold cells.
    fn first_line(&self, description: &Description) -> &[u8] {
        let dialect = &description.dialect;
        let skipped = usize::try_from(dialect.skip_lines).unwrap_or(usize::MAX);
        let mut lines = self.content.split(|&byte| byte == b'\n').skip(skipped);
        // No line holds a line end, so that a star stands for anything here.
        let is_control = |line: &[u8]| {
            dialect
                .control_lines
                .iter()
                .any(|control| control.matches(line.trim_ascii_end(), b'\n'))
        };
        lines.find(|line| !is_control(line)).unwrap_or(b"")
    }

    /// The one format that the dump is of: `given`, or among those of `given`, or
    /// one that ships.
    pub(super) fn recognise(&self, given: Option<&Format>) -> Result<ColumnsFile, String> {
        if let Some(described) = given.and_then(Format::one) {
            return Ok(described.clone());
        }
        if self.content.trim_ascii().is_empty() && self.ending.is_none() {
            return Err("it is empty".into());
        }
        if self.content.starts_with(b"\xff\xfe") || self.content.starts_with(b"\xfe\xff") {
            return Err("it is UTF-16; a dump is UTF-8".into());
        }
        let own = given.map_or(&[][..], Format::among);
        if let Some(found) = only(own, recognisable(), |description| self.is_of(description))? {
            return Ok(found);
        }
        let named = ["csv", "tsv", "tab", "psv", "jsonl", "ndjson"];
        let is_named = self.ending.is_some_and(|ending| named.contains(&ending));
        let names = self.names(&canonical().description);
        // What a row of the canonical dump may be found by.
        let keys = ["figi", "ID_ISIN", "ID_CUSIP", "ticker"];
        if is_named || names.iter().any(|name| keys.contains(&name.as_str())) {
            return Ok(canonical().clone());
        }
        Err(format!(
            "it has neither a header row with figi nor JSON lines, and is of no other known \
             format: --format says of which ({}), --columns describes another",
            Format::names().collect::<Vec<_>>().join(", ")
        ))
    }

    fn is_of(&self, description: &Description) -> bool {
        let names = self.names(description);
        description.recognise.iter().any(|sign| {
            let start = sign.start.as_deref().unwrap_or("");
            self.content.starts_with(start.as_bytes()) && has(&names, sign)
        })
    }

    /// The names in the header row or in the first record, read as that description
    /// says; none where it cannot be read so.
    fn names(&self, description: &Description) -> Vec<String> {
        let plan = || Plan::new(Arc::new(description.clone()));
        let input = Cursor::new(self.content);
        match self.container(description) {
            Container::Delimited => {
                let names = delimited::header(input, self.delimiter(description), &plan());
                names.map_or_else(|_| Vec::new(), |(names, _)| names)
            }
            Container::JsonLines => {
                let line = self.content.trim_ascii_start().split(|&byte| byte == b'\n').next();
                members(line.unwrap_or(b""))
            }
            Container::Json => {
                let mut row = Row::default();
                match JsonDocument::new(input, &plan()).find(&mut row) {
                    Ok(true) => members(&row.raw),
                    Ok(false) | Err(_) => Vec::new(),
                }
            }
            Container::Parquet => Vec::new(),
        }
    }
}

fn has(names: &[String], sign: &Recognise) -> bool {
    sign.columns.iter().all(|column| names.contains(column))
}

/// The names of an object's members.
fn members(object: &[u8]) -> Vec<String> {
    let members = serde_json::from_slice::<HashMap<String, IgnoredAny>>(object);
    members.map_or_else(|_| Vec::new(), |members| members.into_keys().collect())
}

/// The format of a dump that has these columns and no first bytes to look at.
#[cfg(feature = "parquet")]
pub(super) fn of_names(names: &[String], given: Option<&Format>) -> Result<ColumnsFile, String> {
    if let Some(described) = given.and_then(Format::one) {
        return Ok(described.clone());
    }
    let own = given.map_or(&[][..], Format::among);
    let found = only(own, recognisable(), |description| {
        description.recognise.iter().any(|sign| sign.start.is_none() && has(names, sign))
    })?;
    Ok(found.unwrap_or_else(|| canonical().clone()))
}

/// The one format for which it holds, of the operator's own or else of those that
/// ship.
fn only(
    own: &[ColumnsFile],
    shipped: &[ColumnsFile],
    holds: impl Fn(&Description) -> bool,
) -> Result<Option<ColumnsFile>, String> {
    for formats in [own, shipped] {
        let found = formats.iter().filter(|format| holds(&format.description));
        let found: Vec<&ColumnsFile> = found.collect();
        match found[..] {
            [] => {}
            [format] => return Ok(Some(format.clone())),
            _ => {
                let names: Vec<&str> = found.iter().map(|format| &*format.name).collect();
                return Err(format!("it may be any of {}: --format says which", names.join(", ")));
            }
        }
    }
    Ok(None)
}
