//! CSV, TSV and pipe-delimited dumps: a header row, then a record a row
//! (RFC 4180; any of the three line ends).
//!
//! `csv_core` tells the cells apart. It is used directly, not through `csv`,
//! because a rejected row is kept as it stood in the file, byte for byte, and
//! because a quote that never closes must be an error, not one very long cell.

use std::io::BufRead;

use csv_core::ReadRecordResult;

use super::{Fault, Next, Purpose, RECORD_BYTES_MAX};
use crate::rejects::Reject;
use crate::row::{CellKind, Column, Row};

/// Separates the values of a cell that may hold several.
const LIST_SEPARATOR: char = ';';

/// Given to the parser after the last byte of a dump. It ends a record that has no
/// line end of its own; inside a quoted cell alone it is one more byte of the cell.
const LAST_LINE_END: &[u8] = b"\n";

pub(super) struct Delimited<R> {
    input: R,
    core: csv_core::Reader,
    /// What each cell of a record means; `None` where nobody knows.
    columns: Vec<Option<Column>>,
    unknown: Vec<String>,
    /// Whether the line end after the last byte was given to the parser.
    closed: bool,
    /// The unquoted cells of the record at hand, end to end.
    cells: Vec<u8>,
    /// Where each of them ends.
    ends: Vec<usize>,
}

/// A record as it was read: how many cells it has.
struct Record {
    cells: usize,
}

impl<R: BufRead> Delimited<R> {
    /// Reads the header row.
    pub(super) fn open(input: R, delimiter: u8, purpose: Purpose) -> Result<Self, Fault> {
        let core = csv_core::ReaderBuilder::new().delimiter(delimiter).build();
        let mut reader = Self {
            input,
            core,
            columns: Vec::new(),
            unknown: Vec::new(),
            closed: false,
            cells: vec![0; 4096],
            ends: vec![0; 64],
        };
        let mut row = Row::default();
        let Some(header) = reader.read_record(&mut row)? else {
            return Err(Fault::new(1, "it is empty"));
        };
        let fault = |what: String| Fault::new(row.line, what);
        let mut start = 0;
        for &end in &reader.ends[..header.cells] {
            let name = str::from_utf8(&reader.cells[start..end])
                .map_err(|_| fault("the header is not UTF-8".into()))?
                .trim();
            let column = Column::from_name(name);
            if column.is_some() && reader.columns.contains(&column) {
                return Err(fault(format!("the header names {name} twice")));
            }
            if column.is_none() && !name.is_empty() {
                reader.unknown.push(name.to_owned());
            }
            reader.columns.push(column);
            start = end;
        }
        if purpose == Purpose::Instruments && !reader.columns.contains(&Some(Column::Figi)) {
            let found = String::from_utf8_lossy(&row.raw).chars().take(200).collect::<String>();
            return Err(fault(format!("the header has no column figi: {found}")));
        }
        Ok(reader)
    }

    pub(super) fn unknown_columns(&self) -> &[String] {
        &self.unknown
    }

    pub(super) fn next(&mut self, row: &mut Row) -> Result<Next, Fault> {
        let Some(record) = self.read_record(row)? else {
            return Ok(Next::End);
        };
        if record.cells != self.columns.len() {
            let (found, header) = (record.cells, self.columns.len());
            return Ok(Next::Rejected(Reject::Cells { found, header }));
        }
        let written = self.ends[record.cells - 1];
        let Ok(text) = str::from_utf8(&self.cells[..written]) else {
            return Ok(Next::Rejected(Reject::NotUtf8));
        };
        let mut start = 0;
        for (column, &end) in self.columns.iter().zip(&self.ends) {
            // A boundary between cells may fall inside a character only where the
            // cells were no UTF-8 by themselves.
            let Some(cell) = text.get(start..end) else {
                return Ok(Next::Rejected(Reject::NotUtf8));
            };
            match column {
                Some(column) if column.is_list() => {
                    for value in cell.split(LIST_SEPARATOR) {
                        row.push(*column, value, CellKind::Text);
                    }
                }
                Some(column) => row.push(*column, cell, CellKind::Text),
                None => {}
            }
            start = end;
        }
        Ok(Next::Row)
    }

    /// Reads one record; `row` gets its line and its bytes, `self` its cells.
    fn read_record(&mut self, row: &mut Row) -> Result<Option<Record>, Fault> {
        let line_before = self.core.line();
        let (mut written, mut cells) = (0, 0);
        loop {
            let fault = Fault::read(self.core.line());
            let input = self.input.fill_buf().map_err(fault)?;
            let at_end = input.is_empty();
            let input = if at_end && !self.closed { LAST_LINE_END } else { input };
            let (result, read, wrote, ended) =
                self.core.read_record(input, &mut self.cells[written..], &mut self.ends[cells..]);
            if at_end {
                self.closed |= read > 0;
                if wrote > 0 {
                    let line = first_line(line_before, &row.raw);
                    return Err(Fault::new(line, "a quoted cell never ends"));
                }
            } else {
                row.raw.extend_from_slice(&input[..read]);
                self.input.consume(read);
            }
            (written, cells) = (written + wrote, cells + ended);
            match result {
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::OutputFull => self.cells.resize(self.cells.len() * 2, 0),
                ReadRecordResult::OutputEndsFull => self.ends.resize(self.ends.len() * 2, 0),
                ReadRecordResult::Record => {
                    row.line = first_line(line_before, &row.raw);
                    trim_line_ends(&mut row.raw);
                    return Ok(Some(Record { cells }));
                }
                ReadRecordResult::End => return Ok(None),
            }
            if row.raw.len() > RECORD_BYTES_MAX {
                return Err(Fault::too_long(first_line(line_before, &row.raw)));
            }
        }
    }
}

/// The line on which a record starts whose bytes begin with line ends that belong
/// to what stood before it.
fn first_line(line_before: u64, raw: &[u8]) -> u64 {
    let blank = raw.iter().take_while(|byte| matches!(byte, b'\r' | b'\n'));
    line_before + blank.filter(|&&byte| byte == b'\n').count() as u64
}

fn trim_line_ends(raw: &mut Vec<u8>) {
    while raw.last().is_some_and(|byte| matches!(byte, b'\r' | b'\n')) {
        raw.pop();
    }
    let blank = raw.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
    raw.drain(..blank);
}
