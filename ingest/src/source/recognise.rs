//! Recognises the format of a dump from its first bytes and the ending of its name.
//!
//! Names in the header row or the first record, or the first bytes, identify a format. If several
//! formats fit, that is an error: the format is not guessed. If none fits, the dump counts as
//! canonical, provided that the ending of its name is a usual one or that it has a column such as
//! `figi`.

use std::collections::HashMap;
use std::io::Cursor;
use std::sync::Arc;

use serde::de::IgnoredAny;

use super::delimited;
use super::foreign;
use super::json_document::JsonDocument;
use crate::format::columns_file::ColumnsFile;
use crate::format::description::{Description, DumpContainer, Recognise};
use crate::format::plan::Plan;
use crate::format::{Format, canonical, recognisable};
use crate::row::Row;

/// The delimiters that are recognised if the format does not give one.
const DELIMITERS: [u8; 4] = [b',', b'\t', b'|', b';'];

/// The message about a dump that has only blank bytes.
const EMPTY: &str = "the dump is empty: expected a header row or a record; was it copied or \
                     downloaded whole?";

/// The beginning of a dump, unpacked, without a byte order mark.
pub(super) struct Head<'a> {
    pub(super) content: &'a [u8],
    /// Whether `content` is the whole dump.
    pub(super) is_whole: bool,
    /// The ending of the file's name, without an ending for compression.
    pub(super) ending: Option<&'a str>,
}

impl Head<'_> {
    pub(super) fn is_parquet(&self) -> bool {
        self.content.starts_with(&super::PARQUET)
    }

    /// The container of the records, assuming that description.
    pub(super) fn container(&self, description: &Description) -> DumpContainer {
        if let Some(container) = description.container {
            return container;
        }
        let content = self.content.trim_ascii_start();
        match (self.ending, content.first()) {
            (Some("jsonl" | "ndjson"), _) => DumpContainer::JsonLines,
            (Some("csv" | "tsv" | "tab" | "psv"), _) => DumpContainer::Delimited,
            (_, Some(b'[')) => DumpContainer::Json,
            (_, Some(b'{')) if description.records.is_some() => DumpContainer::Json,
            (_, Some(b'{')) => DumpContainer::JsonLines,
            _ => DumpContainer::Delimited,
        }
    }

    /// The delimiter between cells, assuming that description.
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

    /// Whether a CSV file has semicolons, as is usual where decimals have a comma.
    fn is_semicolon(&self, description: &Description) -> bool {
        !self.first_line(description).contains(&b',') && self.commonest(description) == b';'
    }

    fn commonest(&self, description: &Description) -> u8 {
        commonest(self.first_line(description))
    }

    /// The first line that may be the header row or a record.
    fn first_line(&self, description: &Description) -> &[u8] {
        let dialect = &description.dialect;
        let skipped = usize::try_from(dialect.skip_lines).unwrap_or(usize::MAX);
        let mut lines = self.content.split(|&byte| byte == b'\n').skip(skipped);
        // A line end as the delimiter: no line contains one, so a star matches anything.
        let is_control = |line: &[u8]| {
            dialect
                .control_lines
                .iter()
                .any(|control| control.matches(line.trim_ascii_end(), b'\n'))
        };
        lines.find(|line| !is_control(line)).unwrap_or(b"")
    }

    /// The format of the dump: the given one; or the only fitting one among the given formats, or
    /// else among the shipped ones; or else the canonical one, if the dump looks like it.
    ///
    /// # Errors
    /// A message when none or several formats fit, or the dump is empty, foreign or UTF-16.
    pub(super) fn recognise(&self, given: Option<&Format>) -> Result<ColumnsFile, String> {
        if let Some(advice) = foreign::advice(self.content) {
            return Err(advice.into());
        }
        if self.is_whole && self.content.trim_ascii().is_empty() {
            return Err(EMPTY.into());
        }
        if let Some(file) = given.and_then(Format::one) {
            return Ok(file.clone());
        }
        if self.content.starts_with(b"\xff\xfe") || self.content.starts_with(b"\xfe\xff") {
            return Err("the dump is UTF-16, which is not supported: convert it to UTF-8".into());
        }
        let own = given.map_or(&[][..], Format::among);
        if let Some(found) = only(own, recognisable(), |description| self.fits(description))? {
            return Ok(found);
        }
        let named = ["csv", "tsv", "tab", "psv", "jsonl", "ndjson"];
        let is_named = self.ending.is_some_and(|ending| named.contains(&ending));
        let names = self.names(&canonical().description);
        // A canonical dump has at least one of these columns.
        let keys = ["figi", "ID_ISIN", "ID_CUSIP", "ticker"];
        let is_key = |name: &String| keys.iter().any(|key| name.eq_ignore_ascii_case(key));
        if is_named || names.iter().any(is_key) {
            return Ok(canonical().clone());
        }
        Err(format!(
            "unknown format: the dump has neither a header row with figi nor JSON lines, and no \
             other format fits; name one with --format ({}) or describe it with --columns",
            Format::names().collect::<Vec<_>>().join(", ")
        ))
    }

    fn fits(&self, description: &Description) -> bool {
        let names = self.names(description);
        description.recognise.iter().any(|sign| {
            let start = sign.start.as_deref().unwrap_or("");
            self.content.starts_with(start.as_bytes()) && has(&names, sign)
        })
    }

    /// The names in the header row or in the first record, read by that description. Empty if that
    /// fails.
    fn names(&self, description: &Description) -> Vec<String> {
        let plan = || Plan::new(Arc::new(description.clone()));
        let input = Cursor::new(self.content);
        match self.container(description) {
            DumpContainer::Delimited => {
                let names = delimited::header(input, self.delimiter(description), &plan());
                names.map_or_else(|_| Vec::new(), |(names, ..)| names)
            }
            DumpContainer::JsonLines => {
                let line = self.content.trim_ascii_start().split(|&byte| byte == b'\n').next();
                members(line.unwrap_or(b""))
            }
            DumpContainer::Json => {
                let mut row = Row::default();
                match JsonDocument::new(input, &plan()).find(&mut row) {
                    Ok(true) => members(&row.raw),
                    Ok(false) | Err(_) => Vec::new(),
                }
            }
            DumpContainer::Parquet => Vec::new(),
        }
    }
}

/// The most common delimiter of a line, outside of quotes. Among equally frequent ones, the first
/// in [`DELIMITERS`].
pub(crate) fn commonest(line: &[u8]) -> u8 {
    let mut counts = [0_usize; DELIMITERS.len()];
    let mut is_quoted = false;
    for byte in line {
        is_quoted ^= *byte == b'"';
        if let Some(place) = DELIMITERS.iter().position(|delimiter| delimiter == byte) {
            counts[place] += usize::from(!is_quoted);
        }
    }
    let places = (0..DELIMITERS.len()).rev();
    places.max_by_key(|place| counts[*place]).map_or(b',', |place| DELIMITERS[place])
}

fn has(names: &[String], sign: &Recognise) -> bool {
    sign.columns.iter().all(|column| names.contains(column))
}

/// The names of an object's members.
fn members(object: &[u8]) -> Vec<String> {
    let members = serde_json::from_slice::<HashMap<String, IgnoredAny>>(object);
    members.map_or_else(|_| Vec::new(), |members| members.into_keys().collect())
}

/// The format of a Parquet file with these columns; the canonical one if no other fits.
///
/// # Errors
/// The message, when several formats fit.
#[cfg(feature = "parquet")]
pub(super) fn of_names(names: &[String], given: Option<&Format>) -> Result<ColumnsFile, String> {
    if let Some(file) = given.and_then(Format::one) {
        return Ok(file.clone());
    }
    let own = given.map_or(&[][..], Format::among);
    let found = only(own, recognisable(), |description| {
        description.recognise.iter().any(|sign| sign.start.is_none() && has(names, sign))
    })?;
    Ok(found.unwrap_or_else(|| canonical().clone()))
}

/// The only format that fits among the operator's own or, failing that, among the shipped ones.
///
/// # Errors
/// The message, when several fit.
fn only(
    own: &[ColumnsFile],
    shipped: &[ColumnsFile],
    fits: impl Fn(&Description) -> bool,
) -> Result<Option<ColumnsFile>, String> {
    for formats in [own, shipped] {
        let found = formats.iter().filter(|format| fits(&format.description));
        let found: Vec<&ColumnsFile> = found.collect();
        match found[..] {
            [] => {}
            [format] => return Ok(Some(format.clone())),
            _ => {
                let names: Vec<&str> = found.iter().map(|format| &*format.name).collect();
                return Err(format!(
                    "the dump may be any of {}: name its format with --format",
                    names.join(", ")
                ));
            }
        }
    }
    Ok(None)
}
