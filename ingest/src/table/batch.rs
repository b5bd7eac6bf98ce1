//! A batch of rows of a table: their bytes and cells, in a few allocations for all rows.

use super::cell::RawCell;
use super::members::Members;
use crate::source::next::DumpError;

/// A batch of rows of a table, in order.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// The bytes of the rows with their line ends, one after the other.
    raw: Vec<u8>,
    /// The texts of the cells, one after the other.
    texts: Vec<u8>,
    cells: Vec<Place>,
    rows: Vec<Ends>,
}

/// A cell: its column, its kind, and the end of its text.
#[derive(Clone, Copy, Debug)]
struct Place {
    column: u32,
    kind: Kind,
    end: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Text,
    Number,
    Nested,
}

/// The ends of a row in each of the lists of its batch.
#[derive(Clone, Copy, Debug, Default)]
struct Ends {
    content: usize,
    raw: usize,
    cells: usize,
    line: u64,
}

/// The place where a record begins in the bytes of a batch, and its line.
pub(super) struct Cut {
    pub(super) start: usize,
    pub(super) line: u64,
}

/// A row of a batch.
#[derive(Clone, Copy)]
pub struct RowBytes<'a> {
    batch: &'a Batch,
    before: Ends,
    own: Ends,
}

impl Batch {
    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows.len()
    }

    /// The number of bytes of all rows.
    pub fn bytes(&self) -> usize {
        self.raw.len()
    }

    /// The row at a place, from 0.
    ///
    /// # Panics
    /// When there is no such row.
    pub fn row(&self, place: usize) -> RowBytes<'_> {
        let before = place.checked_sub(1).map(|before| self.rows[before]).unwrap_or_default();
        RowBytes { batch: self, before, own: self.rows[place] }
    }

    /// Whether a row has only blank cells.
    pub(super) fn is_blank(&self, row: usize) -> bool {
        texts_of(self.row(row)).iter().all(|text| text.trim().is_empty())
    }

    pub(super) fn clear(&mut self) {
        self.truncate(0);
        self.texts.clear();
        self.cells.clear();
        self.rows.clear();
    }

    /// The bytes of the rows. A reader appends the bytes of a record to them.
    pub(super) fn raw_mut(&mut self) -> &mut Vec<u8> {
        &mut self.raw
    }

    pub(super) fn truncate(&mut self, bytes: usize) {
        self.raw.truncate(bytes);
    }

    /// Ends a record of delimited text: adds a row for it, and one for each blank line before it.
    pub(super) fn end_delimited(&mut self, cut: Cut, texts: &[u8], ends: &[usize]) {
        let Cut { mut start, mut line } = cut;
        while let Some(length) = line_end(&self.raw[start..]) {
            self.rows.push(Ends {
                content: start,
                raw: start + length,
                cells: self.cells.len(),
                line,
            });
            start += length;
            line += 1;
        }
        let own = &self.raw[start..];
        let content = match own {
            [.., b'\r', b'\n'] => own.len() - 2,
            [.., b'\r' | b'\n'] => own.len() - 1,
            _ => own.len(),
        };
        let before = self.texts.len();
        self.texts.extend_from_slice(texts);
        let cells = (0..).zip(ends);
        self.cells.extend(cells.map(|(column, end)| Place {
            column,
            kind: Kind::Text,
            end: before + end,
        }));
        let content = start + content;
        self.rows.push(Ends { content, raw: self.raw.len(), cells: self.cells.len(), line });
    }

    /// Ends a record that is a JSON object.
    pub(super) fn end_object(
        &mut self,
        cut: Cut,
        members: &mut Members,
    ) -> Result<bool, DumpError> {
        let Cut { start, line } = cut;
        let content = start + self.raw[start..].trim_ascii_end().len();
        let own = &self.raw[start..content];
        let (texts, cells) = (&mut self.texts, &mut self.cells);
        let read = members.read(own, |column, value| {
            let (kind, text) = match value {
                RawCell::Absent => return,
                RawCell::Nested => (Kind::Nested, &b""[..]),
                RawCell::Text(text) => (Kind::Text, text),
                RawCell::Number(text) => (Kind::Number, text),
            };
            texts.extend_from_slice(text);
            cells.push(Place { column, kind, end: texts.len() });
        });
        read.map_err(|what| DumpError::new(line, what))?;
        self.rows.push(Ends { content, raw: self.raw.len(), cells: self.cells.len(), line });
        Ok(true)
    }

    /// Takes the rows from this one on out of the batch.
    pub(super) fn split_off(&mut self, row: usize) -> Self {
        let before = row.checked_sub(1).map(|before| self.rows[before]).unwrap_or_default();
        let text = match before.cells.checked_sub(1) {
            Some(last) => self.cells[last].end,
            None => 0,
        };
        let mut cells = self.cells.split_off(before.cells);
        for cell in &mut cells {
            cell.end -= text;
        }
        let mut rows = self.rows.split_off(row);
        for row in &mut rows {
            row.content -= before.raw;
            row.raw -= before.raw;
            row.cells -= before.cells;
        }
        Self { raw: self.raw.split_off(before.raw), texts: self.texts.split_off(text), cells, rows }
    }
}

/// The cells of a row as texts.
pub(super) fn texts_of(row: RowBytes<'_>) -> Vec<std::borrow::Cow<'_, str>> {
    let text = |column| match row.cell(column) {
        RawCell::Text(text) | RawCell::Number(text) => String::from_utf8_lossy(text),
        RawCell::Absent | RawCell::Nested => "".into(),
    };
    (0..row.cells()).map(text).collect()
}

/// The length of the line end at the beginning of a text.
fn line_end(text: &[u8]) -> Option<usize> {
    match text {
        [b'\r', b'\n', ..] => Some(2),
        [b'\r' | b'\n', ..] => Some(1),
        _ => None,
    }
}

impl<'a> RowBytes<'a> {
    /// The bytes of the row, without the line end.
    pub fn content(self) -> &'a [u8] {
        &self.batch.raw[self.before.raw..self.own.content]
    }

    /// The line end; empty for a last row without one, and for a row of a Parquet file.
    pub fn line_end(self) -> &'a [u8] {
        &self.batch.raw[self.own.content..self.own.raw]
    }

    /// The number of cells; for an object, only those that are not null.
    pub fn cells(self) -> usize {
        self.own.cells - self.before.cells
    }

    /// The number of columns up to the last one in which the row has a cell.
    pub fn columns(self) -> usize {
        let own = &self.batch.cells[self.before.cells..self.own.cells];
        own.iter().map(|cell| cell.column as usize + 1).max().unwrap_or(0)
    }

    /// The line where the row begins, or the number of a Parquet file's record.
    pub fn line(self) -> u64 {
        self.own.line
    }

    /// The row's cell in a column, counted from 0.
    pub fn cell(self, column: usize) -> RawCell<'a> {
        let own = &self.batch.cells[self.before.cells..self.own.cells];
        let is_it = |cell: &Place| cell.column as usize == column;
        // The cells of delimited text are in the order of columns, and usually those of objects
        // too.
        let place = match own.get(column) {
            Some(cell) if is_it(cell) => column,
            _ => match own.iter().rposition(is_it) {
                Some(place) => place,
                None => return RawCell::Absent,
            },
        };
        let start = match (self.before.cells + place).checked_sub(1) {
            Some(before) => self.batch.cells[before].end,
            None => 0,
        };
        let text = &self.batch.texts[start..own[place].end];
        match own[place].kind {
            Kind::Text => RawCell::Text(text),
            Kind::Number => RawCell::Number(text),
            Kind::Nested => RawCell::Nested,
        }
    }
}
