//! Reads dumps of delimited text: CSV, TSV, pipe-delimited and similar, with a header row or
//! numbered columns.

use std::io::{BufRead, Read as _};

use super::next::{DumpError, Next};
use super::text::{Text, first_line, trim_line_ends};
use super::unknown::UnknownColumns;
use super::{RECORD_BYTES_MAX, cell_object};
use crate::format::description::{Description, Encoding};
use crate::format::plan::Plan;
use crate::format::record::{Names, Record};
use crate::row::reject::Reject;
use crate::row::{CellKind, Row};

pub(super) struct Delimited<R> {
    text: Text<R>,
    delimiter: u8,
    encoding: Encoding,
    trailing_delimiter: bool,
    /// The names that each cell of a record feeds; `None` if the format does not use the cell.
    columns: Vec<Option<Names>>,
    /// Whether there is a header row. Without one, a record may have more cells than the format
    /// uses.
    has_header: bool,
    unknown: UnknownColumns,
    record: Record,
}

impl<R: BufRead> Delimited<R> {
    /// Reads the header row, if the format has one.
    pub(super) fn open(input: R, delimiter: u8, plan: &mut Plan) -> Result<Self, DumpError> {
        plan.split_lists();
        let has_header = plan.description().dialect.header;
        let (names, line, text) = self::header(input, delimiter, plan)?;
        let spelled = plan.take_headings(&names).map_err(|what| DumpError::new(line, what))?;
        let (mut present, mut unknown) = (Vec::new(), UnknownColumns::default());
        let mut columns = Vec::with_capacity(names.len());
        for name in &names {
            let found = plan.names().get(name);
            match found {
                Some(names) => names.slots(&mut present),
                None if !name.is_empty() && has_header => unknown.add(name),
                None => {}
            }
            columns.push(found.cloned());
        }
        plan.keep(spelled, &present);
        let description = plan.description();
        let (encoding, trailing_delimiter) =
            (description.encoding, description.dialect.trailing_delimiter);
        let record = plan.record();
        Ok(Self {
            text,
            delimiter,
            encoding,
            trailing_delimiter,
            columns,
            has_header,
            unknown,
            record,
        })
    }

    pub(super) fn unknown_columns(&self) -> &[String] {
        self.unknown.names()
    }

    pub(super) fn next(&mut self, plan: &Plan, row: &mut Row) -> Result<Next, DumpError> {
        let Some(cells) = read_record(&mut self.text, self.trailing_delimiter, row)? else {
            return Ok(Next::End);
        };
        if is_control_line(plan, row, self.delimiter) {
            return Ok(Next::Skipped);
        }
        let expected = self.columns.len();
        if self.has_header && cells != expected {
            return Ok(Next::Rejected(Reject::Cells { found: cells, header: expected }));
        }
        self.record.clear();
        let Some(text) = self.text.cells(cells, self.encoding) else {
            return Ok(Next::Rejected(Reject::NotUtf8));
        };
        for (cell, names) in self.columns.iter().enumerate().take(cells) {
            let Some(names) = names else { continue };
            let Some(text) = text.get(cell) else {
                return Ok(Next::Rejected(Reject::NotUtf8));
            };
            if let Some(slot) = names.slot {
                self.record.put(slot, &text, CellKind::Text, false);
            }
            if !names.members.is_empty() {
                cell_object::read(&text, names, &mut self.record);
            }
        }
        // A record that a rule leaves out, such as a deletion, may have fewer cells.
        if !plan.row(&self.record, row) {
            return Ok(Next::Skipped);
        }
        if cells < expected {
            return Ok(Next::Rejected(Reject::FewCells { found: cells, used: expected }));
        }
        Ok(Next::Row)
    }
}

/// Reads the header row. Returns the names of the columns, its line, and the text after it. Without
/// a header row the names are numbers, up to the highest that the format uses.
pub(super) fn header<R: BufRead>(
    input: R,
    delimiter: u8,
    plan: &Plan,
) -> Result<(Vec<String>, u64, Text<R>), DumpError> {
    let mut text = opened(input, delimiter, plan)?;
    let Description { encoding, dialect, .. } = plan.description();
    let first = text.lines() + 1;
    if !dialect.header {
        let names = (1..=plan.last_number()).map(|number| number.to_string());
        return Ok((names.collect(), first, text));
    }
    let mut row = Row::default();
    let cells = loop {
        row.raw.clear();
        let Some(cells) = read_record(&mut text, dialect.trailing_delimiter, &mut row)? else {
            return Err(DumpError::new(first, "the dump is empty"));
        };
        if !is_control_line(plan, &row, delimiter) {
            break cells;
        }
    };
    let names = text.cells(cells, *encoding).and_then(|found| {
        let names = (0..cells).map(|cell| Some(found.get(cell)?.trim().to_owned()));
        names.collect::<Option<Vec<String>>>()
    });
    let names = names.ok_or_else(|| DumpError::new(row.line, "the header is not UTF-8"))?;
    Ok((names, row.line, text))
}

fn is_control_line(plan: &Plan, row: &Row, delimiter: u8) -> bool {
    let lines = &plan.description().dialect.control_lines;
    lines.iter().any(|line| line.matches(&row.raw, delimiter))
}

/// The text after the lines to skip.
fn opened<R: BufRead>(mut input: R, delimiter: u8, plan: &Plan) -> Result<Text<R>, DumpError> {
    let dialect = &plan.description().dialect;
    let mut line = Vec::new();
    let mut lines_before = 0;
    while lines_before < dialect.skip_lines {
        line.clear();
        let number = lines_before + 1;
        let mut bounded = input.by_ref().take(RECORD_BYTES_MAX as u64 + 1);
        bounded.read_until(b'\n', &mut line).map_err(DumpError::read(number))?;
        if line.len() > RECORD_BYTES_MAX {
            return Err(DumpError::too_long(number));
        }
        // The dump has fewer lines than must be skipped.
        if line.is_empty() {
            break;
        }
        lines_before = number;
    }
    Ok(Text::new(input, delimiter, dialect.quotes, lines_before))
}

/// Reads one record: its line and bytes into `row`, its cells into `text`. Returns the number of
/// cells, or `None` at the end. The empty cell that a trailing delimiter adds does not count.
fn read_record<R: BufRead>(
    text: &mut Text<R>,
    trailing_delimiter: bool,
    row: &mut Row,
) -> Result<Option<usize>, DumpError> {
    let line_before = text.lines();
    let Some(cells) = text.read(&mut row.raw)? else { return Ok(None) };
    row.line = first_line(line_before, &row.raw);
    trim_line_ends(&mut row.raw);
    let trails = trailing_delimiter && cells > 1 && text.is_empty(cells - 1);
    Ok(Some(if trails { cells - 1 } else { cells }))
}
