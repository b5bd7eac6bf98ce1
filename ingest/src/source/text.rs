//! Cuts delimited text into records of cells: with quotes (RFC 4180) or without, with LF, CR LF or
//! CR as line ends. This module does not know the meaning of columns.
//!
//! It uses `csv_core` directly instead of `csv`, because a record must keep its exact bytes, and
//! because an unclosed quote must be an error, not one very long cell.

use std::borrow::Cow;
use std::io::BufRead;

use csv_core::ReadRecordResult;

use super::RECORD_BYTES_MAX;
use super::next::DumpError;
use crate::format::description::Encoding;

/// The byte that the parser gets after the last byte of a text. It ends a last record without a
/// line end. It becomes part of a cell only inside a quoted cell.
const LAST_LINE_END: &[u8] = b"\n";

/// Cuts text into records of cells.
pub(crate) struct Text<R> {
    input: R,
    core: csv_core::Reader,
    /// The number of lines that the parser does not count.
    lines_before: u64,
    /// Whether [`LAST_LINE_END`] was given to the parser.
    closed: bool,
    /// The cells of the current record without their quotes, one after the other.
    cells: Vec<u8>,
    /// The end of each cell.
    ends: Vec<usize>,
}

impl<R: BufRead> Text<R> {
    /// The records of `input`. `lines_before` lines were already read.
    pub(crate) fn new(input: R, delimiter: u8, quotes: bool, lines_before: u64) -> Self {
        Self {
            input,
            core: csv_core::ReaderBuilder::new().delimiter(delimiter).quoting(quotes).build(),
            lines_before,
            closed: false,
            cells: vec![0; 4096],
            ends: vec![0; 64],
        }
    }

    /// The number of lines that were read.
    pub(crate) fn lines(&self) -> u64 {
        self.lines_before + self.core.line() - 1
    }

    /// Reads one record. Appends its bytes to `raw`, including its line end and the blank lines
    /// before it, and keeps its cells. Returns the number of cells, or `None` at the end.
    ///
    /// # Errors
    /// [`DumpError`] when the text cannot be read, or the next record cannot be found.
    pub(crate) fn read(&mut self, raw: &mut Vec<u8>) -> Result<Option<usize>, DumpError> {
        let start = raw.len();
        let lines = self.lines();
        let (mut written, mut cells) = (0, 0);
        loop {
            let failed = DumpError::read(self.lines() + 1);
            let input = self.input.fill_buf().map_err(failed)?;
            let at_end = input.is_empty();
            let input = if at_end && !self.closed { LAST_LINE_END } else { input };
            let (result, read, wrote, ended) =
                self.core.read_record(input, &mut self.cells[written..], &mut self.ends[cells..]);
            if at_end {
                self.closed |= read > 0;
                if wrote > 0 {
                    let line = first_line(lines, &raw[start..]);
                    return Err(DumpError::new(line, "a quoted cell never ends"));
                }
            } else {
                raw.extend_from_slice(&input[..read]);
                self.input.consume(read);
            }
            (written, cells) = (written + wrote, cells + ended);
            match result {
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::OutputFull => self.cells.resize(self.cells.len() * 2, 0),
                ReadRecordResult::OutputEndsFull => self.ends.resize(self.ends.len() * 2, 0),
                ReadRecordResult::Record => {
                    self.end_line(raw)?;
                    return Ok(Some(cells));
                }
                ReadRecordResult::End => return Ok(None),
            }
            if raw.len() - start > RECORD_BYTES_MAX {
                return Err(DumpError::too_long(first_line(lines, &raw[start..])));
            }
        }
    }

    /// Takes the LF of a CR LF, since the parser ends a record after the CR.
    fn end_line(&mut self, raw: &mut Vec<u8>) -> Result<(), DumpError> {
        if raw.last() == Some(&b'\r') && !self.closed {
            let failed = DumpError::read(self.lines() + 1);
            if self.input.fill_buf().map_err(failed)?.first() == Some(&b'\n') {
                raw.push(b'\n');
                self.input.consume(1);
                self.lines_before += 1;
            }
        }
        Ok(())
    }

    /// The cells of the current record as bytes, one after the other, and the end of each.
    pub(crate) fn bytes(&self, cells: usize) -> (&[u8], &[usize]) {
        let ends = &self.ends[..cells];
        (&self.cells[..ends.last().copied().unwrap_or(0)], ends)
    }

    /// The first `cells` cells of the current record; `None` if they are not valid text.
    pub(super) fn cells(&self, cells: usize, encoding: Encoding) -> Option<Cells<'_>> {
        let (bytes, ends) = self.bytes(cells);
        let whole = match encoding {
            Encoding::Utf8 => Some(str::from_utf8(bytes).ok()?),
            Encoding::Latin1 | Encoding::Windows1252 => None,
        };
        Some(Cells { bytes, ends, whole, encoding })
    }

    /// Whether a cell of the current record is empty. It must not be the first cell.
    pub(super) fn is_empty(&self, cell: usize) -> bool {
        self.ends[cell] == self.ends[cell - 1]
    }
}

/// The cells of a record, as text.
pub(super) struct Cells<'a> {
    bytes: &'a [u8],
    ends: &'a [usize],
    /// The text of all cells, if the dump is UTF-8.
    whole: Option<&'a str>,
    encoding: Encoding,
}

impl<'a> Cells<'a> {
    pub(super) fn get(&self, cell: usize) -> Option<Cow<'a, str>> {
        let start = if cell == 0 { 0 } else { self.ends[cell - 1] };
        let range = start..self.ends[cell];
        match self.whole {
            // If a boundary is inside a character, the single cells are not UTF-8.
            Some(whole) => whole.get(range).map(Cow::Borrowed),
            None => self.encoding.decode(&self.bytes[range]),
        }
    }
}

/// The line where a record starts, after `lines` lines. Its bytes may begin with blank lines.
pub(super) fn first_line(lines: u64, raw: &[u8]) -> u64 {
    let blank = raw.iter().take_while(|byte| matches!(byte, b'\r' | b'\n'));
    lines + 1 + blank.filter(|&&byte| byte == b'\n').count() as u64
}

pub(super) fn trim_line_ends(raw: &mut Vec<u8>) {
    while raw.last().is_some_and(|byte| matches!(byte, b'\r' | b'\n')) {
        raw.pop();
    }
    let blank = raw.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
    raw.drain(..blank);
}
