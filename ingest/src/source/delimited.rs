//! Reads delimited text: CSV, TSV, pipe-delimited and similar, with quotes (RFC 4180) or
//! without, with a header row or numbered columns, with LF, CR LF or CR as line ends.
//!
//! It uses `csv_core` directly, not `csv`, because a rejected row is kept with its exact bytes,
//! and because an unclosed quote must be an error, not one very long cell.

use std::borrow::Cow;
use std::io::{BufRead, Read as _};

use csv_core::ReadRecordResult;

use super::next::{DumpError, Next};
use super::{RECORD_BYTES_MAX, cell_object};
use crate::format::description::Encoding;
use crate::format::plan::Plan;
use crate::format::record::{Names, Record};
use crate::row::reject::Reject;
use crate::row::{CellKind, Row};

/// Given to the parser after the last byte of a dump. It ends a last record without a line end;
/// only inside a quoted cell it becomes a byte of the cell.
const LAST_LINE_END: &[u8] = b"\n";

pub(super) struct Delimited<R> {
    text: Text<R>,
    delimiter: u8,
    /// The names that each cell of a record feeds; `None` if the format does not use the cell.
    columns: Vec<Option<Names>>,
    /// Whether there is a header row. Without one a record may have more cells than are used.
    has_header: bool,
    unknown: Vec<String>,
    record: Record,
}

impl<R: BufRead> Delimited<R> {
    /// Reads the header row.
    pub(super) fn open(input: R, delimiter: u8, plan: &mut Plan) -> Result<Self, DumpError> {
        plan.split_lists();
        let has_header = plan.description().dialect.header;
        let (names, text) = self::header(input, delimiter, plan)?;
        let (mut present, mut unknown) = (Vec::new(), Vec::new());
        let mut columns = Vec::with_capacity(names.len());
        for name in &names {
            let found = plan.names().get(name);
            match found {
                Some(names) => names.slots(&mut present),
                None if !name.is_empty() && has_header => unknown.push(name.clone()),
                None => {}
            }
            columns.push(found.cloned());
        }
        plan.keep(names, &present);
        Ok(Self { text, delimiter, columns, has_header, unknown, record: plan.record() })
    }

    pub(super) fn unknown_columns(&self) -> &[String] {
        &self.unknown
    }

    pub(super) fn next(&mut self, plan: &Plan, row: &mut Row) -> Result<Next, DumpError> {
        let Some(cells) = self.text.read_record(row)? else {
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
        let Some(text) = self.text.cells(cells) else {
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

/// Reads the header row. Returns the names of the columns and the text after it. Without a
/// header row the names are numbers, up to the highest that the format uses.
pub(super) fn header<R: BufRead>(
    input: R,
    delimiter: u8,
    plan: &Plan,
) -> Result<(Vec<String>, Text<R>), DumpError> {
    let mut text = Text::open(input, delimiter, plan)?;
    if !plan.description().dialect.header {
        return Ok(((1..=plan.last_number()).map(|number| number.to_string()).collect(), text));
    }
    let mut row = Row::default();
    let cells = loop {
        row.raw.clear();
        let Some(cells) = text.read_record(&mut row)? else {
            return Err(DumpError::new(text.lines_before + 1, "the dump is empty"));
        };
        if !is_control_line(plan, &row, delimiter) {
            break cells;
        }
    };
    let names = text.cells(cells).and_then(|found| {
        let names = (0..cells).map(|cell| Some(found.get(cell)?.trim().to_owned()));
        names.collect::<Option<Vec<String>>>()
    });
    let names = names.ok_or_else(|| DumpError::new(row.line, "the header is not UTF-8"))?;
    for (at, name) in names.iter().enumerate() {
        if plan.names().get(name).is_some() && names[..at].contains(name) {
            return Err(DumpError::new(row.line, format!("the header names {name} twice")));
        }
    }
    Ok((names, text))
}

fn is_control_line(plan: &Plan, row: &Row, delimiter: u8) -> bool {
    let lines = &plan.description().dialect.control_lines;
    lines.iter().any(|line| line.matches(&row.raw, delimiter))
}

/// Parses text into records of cells.
pub(super) struct Text<R> {
    input: R,
    core: csv_core::Reader,
    encoding: Encoding,
    trailing_delimiter: bool,
    /// Number of lines before those that the parser counts.
    lines_before: u64,
    /// Whether [`LAST_LINE_END`] was given to the parser.
    closed: bool,
    /// The unquoted cells of the current record, one after the other.
    cells: Vec<u8>,
    /// The end of each cell.
    ends: Vec<usize>,
}

impl<R: BufRead> Text<R> {
    fn open(mut input: R, delimiter: u8, plan: &Plan) -> Result<Self, DumpError> {
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
            // The dump has fewer lines than are to be skipped.
            if line.is_empty() {
                break;
            }
            lines_before = number;
        }
        let mut core = csv_core::ReaderBuilder::new();
        Ok(Self {
            input,
            core: core.delimiter(delimiter).quoting(dialect.quotes).build(),
            encoding: plan.description().encoding,
            trailing_delimiter: dialect.trailing_delimiter,
            lines_before,
            closed: false,
            cells: vec![0; 4096],
            ends: vec![0; 64],
        })
    }

    /// The first `cells` cells of the current record; `None` if they are not valid text.
    fn cells(&self, cells: usize) -> Option<Cells<'_>> {
        let ends = &self.ends[..cells];
        let bytes = &self.cells[..ends.last().copied().unwrap_or(0)];
        let whole = match self.encoding {
            Encoding::Utf8 => Some(str::from_utf8(bytes).ok()?),
            Encoding::Latin1 | Encoding::Windows1252 => None,
        };
        Some(Cells { bytes, ends, whole, encoding: self.encoding })
    }

    /// Reads one record: its line and bytes into `row`, its cells into `self`. Returns the number
    /// of cells, or `None` at the end.
    fn read_record(&mut self, row: &mut Row) -> Result<Option<usize>, DumpError> {
        let line_before = self.lines_before + self.core.line();
        let (mut written, mut cells) = (0, 0);
        loop {
            let failed = DumpError::read(self.lines_before + self.core.line());
            let input = self.input.fill_buf().map_err(failed)?;
            let at_end = input.is_empty();
            let input = if at_end && !self.closed { LAST_LINE_END } else { input };
            let (result, read, wrote, ended) =
                self.core.read_record(input, &mut self.cells[written..], &mut self.ends[cells..]);
            if at_end {
                self.closed |= read > 0;
                if wrote > 0 {
                    let line = first_line(line_before, &row.raw);
                    return Err(DumpError::new(line, "a quoted cell never ends"));
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
                    return Ok(Some(self.without_trailing(cells)));
                }
                ReadRecordResult::End => return Ok(None),
            }
            if row.raw.len() > RECORD_BYTES_MAX {
                return Err(DumpError::too_long(first_line(line_before, &row.raw)));
            }
        }
    }

    /// The number of cells without the empty one that a trailing delimiter adds.
    fn without_trailing(&self, cells: usize) -> usize {
        let last_is_empty = cells > 1 && self.ends[cells - 1] == self.ends[cells - 2];
        if self.trailing_delimiter && last_is_empty { cells - 1 } else { cells }
    }
}

/// The cells of a record, as text.
struct Cells<'a> {
    bytes: &'a [u8],
    ends: &'a [usize],
    /// The text of all cells, if the dump is UTF-8.
    whole: Option<&'a str>,
    encoding: Encoding,
}

impl<'a> Cells<'a> {
    fn get(&self, cell: usize) -> Option<Cow<'a, str>> {
        let start = if cell == 0 { 0 } else { self.ends[cell - 1] };
        let range = start..self.ends[cell];
        match self.whole {
            // A boundary inside a character means that the single cells are not UTF-8.
            Some(whole) => whole.get(range).map(Cow::Borrowed),
            None => self.encoding.decode(&self.bytes[range]),
        }
    }
}

/// The line on which a record starts. Its bytes may begin with line ends of the text before it.
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
