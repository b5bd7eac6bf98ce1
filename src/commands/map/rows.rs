//! Writes rows with the added columns: as delimited text, as JSON lines, for a table on a terminal,
//! or as cells for a Parquet file.

use std::borrow::Cow;

use figdex_index::{By, ListField, Policy, Status};
use figdex_ingest::table::{Container, RawCell, RowBytes, Table};
use figdex_io::escaped;

use super::answerer::{Answer, Answerer, SEVERAL};
use super::cells::{push_cell, push_counted, push_guarded, push_json, push_surplus, unescaped};
use super::columns::Columns;
use super::names::Names;
use super::past::{self, PastCell};
use crate::config::map::Many;

/// The end of a cell of [`Layout::Screen`]. It is a control character, which escaped texts do not
/// have.
pub(super) const SCREEN_CELL_END: char = '\u{1f}';

/// The layout of the rows that are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// Delimited text from delimited text. The row's own bytes are copied, except in a row with
    /// guarded formulas.
    Copied { delimiter: u8 },
    /// Delimited text from objects.
    Cells { delimiter: u8 },
    /// Objects from objects. The row's own bytes are copied.
    Objects,
    /// Objects from delimited text.
    Members,
    /// Cells for a table on a terminal.
    Screen,
    /// Cells for a Parquet file, each after its length (`parquet_result`).
    Parquet,
}

/// Writes the rows of one table.
pub(super) struct RowWriter {
    pub(super) layout: Layout,
    pub(super) columns: Columns,
    pub(super) names: Names,
    pub(super) fields: Vec<ListField>,
    pub(super) many: Many,
    pub(super) guards_formulas: bool,
    /// The columns of the past.
    pub(super) past: &'static [PastCell],
    /// Whether there is a column for the candidates of names.
    pub(super) has_candidates: bool,
    /// Whether there is a column of the types as which identifiers were read.
    pub(super) has_type: bool,
    /// The steps of the policy.
    pub(super) policy: Policy,
    /// The line end for a row that has none.
    pub(super) line_end: Vec<u8>,
    /// The columns to show on a terminal.
    pub(super) shown: Vec<usize>,
}

/// The buffers of a writer.
#[derive(Default)]
pub(super) struct Scratch {
    /// The cells that all lines of an answer begin with.
    beginning: Vec<u8>,
    /// The text of one field.
    text: Vec<u8>,
}

impl RowWriter {
    /// Writes the heading: the names of the table's columns, and the added names. Copied text keeps
    /// its byte order mark and the rows above its heading. Nothing is written for JSON lines, or for
    /// an empty table to copy.
    pub(super) fn heading(&self, table: &Table, out: &mut Vec<u8>) {
        match self.layout {
            Layout::Objects | Layout::Members | Layout::Parquet => return,
            Layout::Copied { delimiter } => {
                // An empty file stays empty.
                if table.heading().rows() == 0 {
                    return;
                }
                out.extend_from_slice(table.byte_order_mark());
                let titles = table.titles();
                for row in (0..titles.rows()).map(|row| titles.row(row)) {
                    self.own_delimited(row, delimiter, out);
                    out.extend_from_slice(row.line_end());
                }
                match self.columns.has_heading {
                    true => self.own_delimited(table.heading().row(0), delimiter, out),
                    false => out.extend_from_slice(self.columns.names[0].as_bytes()),
                }
            }
            Layout::Cells { delimiter } => {
                for (place, name) in self.columns.names.iter().enumerate() {
                    if place > 0 {
                        out.push(delimiter);
                    }
                    self.cell(name.as_bytes(), delimiter, out);
                }
            }
            Layout::Screen => {
                for column in &self.shown {
                    self.screen_cell(&self.columns.names[*column], out);
                }
            }
        }
        let delimiter = self.delimiter();
        let mut is_first = self.columns.names.is_empty() || self.layout == Layout::Screen;
        for name in self.names.all() {
            if self.layout == Layout::Screen {
                self.screen_cell(name, out);
                continue;
            }
            if !std::mem::take(&mut is_first) {
                out.push(delimiter);
            }
            self.cell(name.as_bytes(), delimiter, out);
        }
        out.extend_from_slice(&self.line_end);
    }

    fn delimiter(&self) -> u8 {
        match self.layout {
            Layout::Copied { delimiter } | Layout::Cells { delimiter } => delimiter,
            Layout::Objects | Layout::Members | Layout::Screen | Layout::Parquet => b',',
        }
    }

    /// The number of rows to write for an answer: one, or one for each match with `--many all`.
    pub(super) fn lines<R>(&self, answer: &Answer<R>) -> usize {
        let past = past::shown(answer, self.many).len();
        self.shown_rows(answer).len().max(past).max(1)
    }

    fn shown_rows<'a, R>(&self, answer: &'a Answer<R>) -> &'a [R] {
        match (&answer.resolution.status, self.many) {
            (Status::Ambiguous(_) | Status::Uncertain, Many::All) => &answer.rows,
            _ if answer.is_matched() => &answer.rows,
            _ => &[],
        }
    }

    /// Writes the cells that all [`Self::lines`] of a row begin with: the row's own cells and its
    /// outcome. [`Self::line`] copies them.
    pub(super) fn begin<R>(
        &self,
        (number, row): (u64, RowBytes<'_>),
        answer: &Answer<R>,
        scratch: &mut Scratch,
    ) {
        let status = &answer.resolution.status;
        let out = &mut scratch.beginning;
        out.clear();
        self.own(row, out);
        let mut names = 0..;
        let mut next = || names.next().unwrap_or(0);
        if self.many == Many::All {
            self.number(next(), number, out);
        }
        if let Some(left_out) = answer.left_out {
            self.field(next(), None, out);
            self.field(next(), None, out);
            self.text(next(), left_out.reason(), out);
        } else {
            self.text(next(), status.name(), out);
            self.number(next(), answer.matches() as u64, out);
            self.text(next(), &self.reason(answer), out);
        }
        if self.has_type {
            let types = answer.resolution.id_types.iter().map(|id_type| id_type.name());
            let types = types.collect::<Vec<_>>().join("|");
            self.text(next(), &types, out);
        }
    }

    /// Writes one of the [`Self::lines`] of the row that was begun.
    pub(super) fn line<A: Answerer>(
        &self,
        answerer: &A,
        row: RowBytes<'_>,
        (answer, line): (&Answer<A::Row>, usize),
        Scratch { beginning, text }: &mut Scratch,
        out: &mut Vec<u8>,
    ) {
        out.extend_from_slice(beginning);
        let mut names = self.names.fields_from()..;
        let mut next = || names.next().unwrap_or(0);
        let found = self.shown_rows(answer).get(line);
        for field in &self.fields {
            text.clear();
            let is_there = found.is_some_and(|row| answerer.field(row, *field, text));
            self.field(next(), is_there.then_some(&*text), out);
        }
        let was = past::shown(answer, self.many).get(line);
        for cell in self.past {
            let text = was.and_then(|was| cell.text(was)).map(String::into_bytes);
            self.field(next(), text.as_ref(), out);
        }
        if self.has_candidates {
            self.text(next(), &answer.candidates.join("|"), out);
        }
        self.end(row, line + 1 == self.lines(answer), out);
    }

    /// The reason of an outcome. For a resolved row it is the step, like `by` of the server.
    fn reason<'a, R>(&'a self, answer: &'a Answer<R>) -> Cow<'a, str> {
        match answer.resolution.status {
            Status::Resolved(By::Only) => Cow::Borrowed("only"),
            Status::Resolved(By::Step(step)) => Cow::Borrowed(self.policy.step(step)),
            Status::Ambiguous(_) if answer.is_former => FORMERLY_SEVERAL.into(),
            _ => answer.resolution.reason(),
        }
    }

    /// Writes the row's own cells in the layout of the output.
    fn own(&self, row: RowBytes<'_>, out: &mut Vec<u8>) {
        match self.layout {
            Layout::Copied { delimiter } => {
                self.own_delimited(row, delimiter, out);
                // A blank line has one cell, which is empty.
                let missing = self.columns.names.len().saturating_sub(row.cells().max(1));
                out.extend(std::iter::repeat_n(delimiter, missing));
            }
            Layout::Cells { delimiter } => {
                for column in 0..self.columns.names.len() {
                    if column > 0 {
                        out.push(delimiter);
                    }
                    match row.cell(column) {
                        RawCell::Text(text) | RawCell::Number(text) => {
                            self.cell(text, delimiter, out);
                        }
                        RawCell::Nested => self.cell(NESTED, delimiter, out),
                        RawCell::Absent => {}
                    }
                }
            }
            Layout::Objects => {
                let object = row.content().trim_ascii();
                let members = object.strip_suffix(b"}").unwrap_or(object);
                out.extend_from_slice(members);
                if !members[1..].trim_ascii().is_empty() {
                    out.push(b',');
                }
            }
            Layout::Members => {
                out.push(b'{');
                for column in 0..self.columns.names.len().max(row.cells()) {
                    match self.columns.names.get(column) {
                        Some(name) if !name.is_empty() => push_json(name, out),
                        _ => push_json(&self.names.of_unnamed(column), out),
                    }
                    out.push(b':');
                    match row.cell(column) {
                        RawCell::Text(text) | RawCell::Number(text) => {
                            push_json(&String::from_utf8_lossy(text), out);
                        }
                        RawCell::Absent | RawCell::Nested => out.extend_from_slice(b"null"),
                    }
                    out.push(b',');
                }
            }
            Layout::Parquet => {
                if row.cells() > self.columns.names.len() && self.columns.are_delimited {
                    push_surplus(out);
                }
                for column in 0..self.columns.names.len() {
                    push_counted(
                        match row.cell(column) {
                            RawCell::Text(text) | RawCell::Number(text) => Some(text),
                            RawCell::Nested => Some(NESTED),
                            RawCell::Absent => None,
                        },
                        out,
                    );
                }
            }
            Layout::Screen => {
                for column in &self.shown {
                    match row.cell(*column) {
                        RawCell::Text(text) | RawCell::Number(text) => {
                            self.screen_cell(&String::from_utf8_lossy(text), out);
                        }
                        RawCell::Absent | RawCell::Nested => self.screen_cell("", out),
                    }
                }
            }
        }
    }

    fn own_delimited(&self, row: RowBytes<'_>, delimiter: u8, out: &mut Vec<u8>) {
        match self.guards_formulas {
            true => push_guarded(row, delimiter, out),
            false => out.extend_from_slice(row.content()),
        }
    }

    fn cell(&self, text: &[u8], delimiter: u8, out: &mut Vec<u8>) {
        push_cell(text, delimiter, self.guards_formulas, out);
    }

    fn screen_cell(&self, text: &str, out: &mut Vec<u8>) {
        out.extend_from_slice(escaped(text).to_string().as_bytes());
        out.push(SCREEN_CELL_END as u8);
    }

    fn number(&self, name: usize, number: u64, out: &mut Vec<u8>) {
        match self.layout {
            Layout::Objects | Layout::Members => {
                self.member(name, out);
                out.extend_from_slice(number.to_string().as_bytes());
            }
            // Most numbers have one digit.
            _ => match char::from_digit(u32::try_from(number).unwrap_or(u32::MAX), 10) {
                Some(digit) => self.text(name, digit.encode_utf8(&mut [0; 4]), out),
                None => self.text(name, &number.to_string(), out),
            },
        }
    }

    fn text(&self, name: usize, text: &str, out: &mut Vec<u8>) {
        match self.layout {
            Layout::Copied { delimiter } | Layout::Cells { delimiter } => {
                self.separate(name, delimiter, out);
                self.cell(text.as_bytes(), delimiter, out);
            }
            Layout::Objects | Layout::Members => {
                self.member(name, out);
                push_json(text, out);
            }
            Layout::Screen => self.screen_cell(text, out),
            Layout::Parquet => push_counted(Some(text.as_bytes()), out),
        }
    }

    /// Writes a field whose text is escaped as inside a JSON string. Several identifiers are a list,
    /// or are joined in a cell.
    fn field(&self, name: usize, json: Option<&Vec<u8>>, out: &mut Vec<u8>) {
        match (self.layout, json) {
            (Layout::Objects | Layout::Members, None) => {
                self.member(name, out);
                out.extend_from_slice(b"null");
            }
            (Layout::Objects | Layout::Members, Some(json)) => {
                let is_list = json.contains(&SEVERAL);
                self.member(name, out);
                out.extend_from_slice(if is_list { b"[\"" } else { b"\"" });
                for (place, text) in json.split(|byte| *byte == SEVERAL).enumerate() {
                    out.extend_from_slice(if place > 0 { b"\",\"" } else { b"" });
                    out.extend_from_slice(text);
                }
                out.extend_from_slice(if is_list { b"\"]" } else { b"\"" });
            }
            (Layout::Parquet, json) => {
                let json = json.map(|json| joined(json));
                let text = json.as_deref().map(unescaped);
                push_counted(text.as_deref(), out);
            }
            (Layout::Screen, json) => {
                let json = json.map(|json| joined(json));
                let text = json.as_deref().map(unescaped).unwrap_or_default();
                self.screen_cell(&String::from_utf8_lossy(&text), out);
            }
            (Layout::Copied { delimiter } | Layout::Cells { delimiter }, json) => {
                self.separate(name, delimiter, out);
                // JSON escapes quotes and line ends, so most texts are seen to be a cell at once. All
                // bytes are looked at, because the processor takes many of them together.
                let is_own = |byte: u8| matches!(byte, b'\\' | SEVERAL) | (byte == delimiter);
                let any_own =
                    |json: &[u8]| json.iter().fold(false, |any, byte| any | is_own(*byte));
                match json {
                    Some(json) if self.guards_formulas || any_own(json) => {
                        self.cell(&unescaped(&joined(json)), delimiter, out);
                    }
                    Some(json) => out.extend_from_slice(json),
                    None => {}
                }
            }
        }
    }

    /// Writes the delimiter before an added cell.
    fn separate(&self, name: usize, delimiter: u8, out: &mut Vec<u8>) {
        // An object without members has no cell before the first added one.
        if name > 0 || !self.columns.names.is_empty() {
            out.push(delimiter);
        }
    }

    fn member(&self, name: usize, out: &mut Vec<u8>) {
        if name > 0 {
            out.push(b',');
        }
        out.extend_from_slice(self.names.member(name));
    }

    fn end(&self, row: RowBytes<'_>, is_last: bool, out: &mut Vec<u8>) {
        let line_end = match self.layout {
            Layout::Screen => return out.push(b'\n'),
            Layout::Parquet => return,
            Layout::Objects | Layout::Members => {
                out.push(b'}');
                row.line_end()
            }
            Layout::Cells { .. } => b"",
            Layout::Copied { .. } => row.line_end(),
        };
        // The last row of a file may have no line end. Then it keeps none.
        let keeps = is_last && matches!(self.layout, Layout::Copied { .. });
        match line_end {
            b"" if keeps => {}
            b"" => out.extend_from_slice(&self.line_end),
            line_end => out.extend_from_slice(line_end),
        }
    }
}

/// The reason of an identifier that no row has now, and that several securities had.
const FORMERLY_SEVERAL: &str = "not found, and it was of several securities";

/// The cell that replaces an object or an array: delimited text cannot hold these.
const NESTED: &[u8] = b"(an object or an array)";

/// The layout of the output.
pub(super) fn layout_of(
    container: Container,
    asked: Option<figdex_io::RowLayout>,
    is_screen: bool,
    cell_delimiter: u8,
) -> Layout {
    use figdex_io::RowLayout::{Csv, JsonLines, Parquet};
    match (container, asked) {
        (_, None) if is_screen => Layout::Screen,
        (_, Some(Parquet)) => Layout::Parquet,
        (Container::Delimited { delimiter }, None | Some(Csv)) => Layout::Copied { delimiter },
        (Container::Delimited { .. }, Some(JsonLines)) => Layout::Members,
        (Container::JsonLines, None | Some(JsonLines)) => Layout::Objects,
        (Container::Parquet, Some(JsonLines)) => Layout::Objects,
        (Container::JsonLines, Some(Csv)) | (Container::Parquet, None | Some(Csv)) => {
            Layout::Cells { delimiter: cell_delimiter }
        }
    }
}

/// Several identifiers in one cell.
fn joined(json: &[u8]) -> Cow<'_, [u8]> {
    if !json.contains(&SEVERAL) {
        return Cow::Borrowed(json);
    }
    json.iter().map(|byte| if *byte == SEVERAL { b'|' } else { *byte }).collect()
}
