//! Tables before their columns have a meaning: rows with their own bytes and cells. For commands
//! that add columns to a table and leave the rest unchanged.
//!
//! Compression and containers are those of dumps (`source/`). Delimited text is read as UTF-8;
//! other encodings are converted, and [`Table::converted_from`] names the original one. Rows above
//! the heading, such as a title, are kept apart.

mod batch;
mod cell;
mod delimiter;
mod encoding;
mod heading;
mod members;
#[cfg(test)]
#[cfg(feature = "parquet")]
mod parquet_tests;
#[cfg(test)]
mod tests;

use std::io::{BufRead, BufReader, Cursor, Read};

pub use self::batch::{Batch, RowBytes};
use self::batch::{Cut, texts_of};
pub use self::cell::RawCell;
use self::delimiter::delimiter_of;
use self::encoding::{converted, encoding_of};
use self::heading::heading_of;
use self::members::Members;
use crate::error::{Error, Result};
use crate::source::foreign;
use crate::source::next::DumpError;
use crate::source::text::Text;
use crate::source::unpack::unpack;
use crate::source::{Input, Meter, READ_BUFFER_BYTES, RECORD_BYTES_MAX, SNIFF_BYTES};

/// The most rows of a batch. `BATCH_BYTES` is the approximate maximum of its bytes.
const BATCH_ROWS_MAX: usize = 4096;
const BATCH_BYTES: usize = 1 << 20;

/// The last row that may be named as the heading.
pub const HEADING_ROW_MAX: u32 = 1000;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The container of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Container {
    /// Rows of cells.
    Delimited {
        /// The delimiter between cells.
        delimiter: u8,
    },
    /// An object per line.
    JsonLines,
    /// A Parquet file. Its rows are read as JSON objects.
    Parquet,
}

/// The row of delimited text that is its heading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heading {
    /// The first row that is not blank.
    First,
    /// The row that looks like a heading, or else the first one.
    Found,
    /// This row, from 1, counting blank lines too.
    Row(usize),
}

/// A table that is being read.
pub struct Table {
    name: String,
    meter: Meter,
    container: Container,
    byte_order_mark: &'static [u8],
    converted_from: Option<&'static str>,
    columns: Vec<String>,
    titles: Batch,
    heading: Batch,
    /// The number of the heading's row, from 1; 0 without a row.
    heading_row: usize,
    /// The rows after the heading that are already read.
    ahead: Option<Batch>,
    reader: Reader,
}

enum Reader {
    Delimited(Box<Text<Box<dyn BufRead + Send>>>),
    JsonLines {
        input: Box<dyn BufRead + Send>,
        line: u64,
        members: Members,
    },
    #[cfg(feature = "parquet")]
    Parquet {
        records: crate::source::parquet::ParquetRecords,
        record: u64,
        members: Members,
    },
}

/// The number of bytes that were read from a table's file, before unpacking.
#[derive(Clone)]
pub struct BytesRead(Meter);

impl BytesRead {
    /// The number of bytes so far.
    pub fn get(&self) -> u64 {
        self.0.bytes()
    }
}

impl Table {
    /// Opens a table. Compression, container, encoding and delimiter are recognised from the first
    /// bytes and the ending of the name. A `delimiter` makes it delimited text.
    ///
    /// # Errors
    /// [`Error::Input`] when the input cannot be read, or not as a table, or has no such heading.
    pub fn open(input: &Input, delimiter: Option<u8>, heading: Heading) -> Result<Self> {
        let name = match input {
            Input::Stdin => "standard input".to_owned(),
            input => input.name(),
        };
        let failed = |error| Error::open(&name, error);
        if matches!(input, Input::File(path) if path.is_dir()) {
            return Err(Error::input(&name, None, "this is a folder: name a file"));
        }
        let meter = Meter::of_bytes();
        let mut unpacked = unpack(meter.measure(input.open()?), &meter).map_err(failed)?;
        let mut head = head_of(&mut unpacked).map_err(failed)?;
        if head.starts_with(b"PAR1") && delimiter.is_none() {
            return Self::open_parquet(input, meter, unpacked);
        }
        if let Some(advice) = foreign::advice(&head) {
            return Err(Error::input(&name, None, advice));
        }
        let mut byte_order_mark: &'static [u8] = b"";
        let mut converted_from = None;
        if head.starts_with(BYTE_ORDER_MARK) {
            byte_order_mark = BYTE_ORDER_MARK;
            head.drain(..BYTE_ORDER_MARK.len());
        } else if let Some((encoding, mark)) = encoding_of(&head) {
            converted_from = Some(encoding.name());
            head.drain(..mark);
            unpacked = Box::new(converted(Box::new(Cursor::new(head).chain(unpacked)), encoding));
            head = head_of(&mut unpacked).map_err(failed)?;
        }
        let container = match delimiter {
            Some(delimiter) => Container::Delimited { delimiter },
            None => container_of(&head, input.ending().as_deref())
                .map_err(|what| Error::input(&name, None, what))?,
        };
        let whole = Cursor::new(head).chain(unpacked);
        let whole: Box<dyn BufRead + Send> =
            Box::new(BufReader::with_capacity(READ_BUFFER_BYTES, whole));
        let reader = match container {
            Container::Delimited { delimiter } => {
                Reader::Delimited(Box::new(Text::new(whole, delimiter, true, 0)))
            }
            Container::JsonLines | Container::Parquet => {
                Reader::JsonLines { input: whole, line: 0, members: Members::default() }
            }
        };
        let mut table = Self {
            name,
            meter,
            container,
            byte_order_mark,
            converted_from,
            columns: Vec::new(),
            titles: Batch::default(),
            heading: Batch::default(),
            heading_row: 0,
            ahead: None,
            reader,
        };
        table.read_heading(heading)?;
        Ok(table)
    }

    #[cfg(feature = "parquet")]
    fn open_parquet(input: &Input, meter: Meter, content: Box<dyn Read + Send>) -> Result<Self> {
        use crate::source::parquet::{self, ParquetRecords};
        let name = input.name();
        let invalid = |what: String| Error::input(&name, None, what);
        let file = parquet::open(input, content).map_err(invalid)?;
        let columns = parquet::names(&file);
        let records = ParquetRecords::new(file, None).map_err(invalid)?;
        let members = Members::new(&columns);
        Ok(Self {
            name,
            meter,
            container: Container::Parquet,
            byte_order_mark: b"",
            converted_from: None,
            columns,
            titles: Batch::default(),
            heading: Batch::default(),
            heading_row: 0,
            ahead: None,
            reader: Reader::Parquet { records, record: 0, members },
        })
    }

    #[cfg(not(feature = "parquet"))]
    fn open_parquet(input: &Input, _meter: Meter, _content: Box<dyn Read + Send>) -> Result<Self> {
        Err(Error::input(&input.name(), None, crate::source::NO_PARQUET))
    }

    /// Reads the first records of delimited text, and finds the heading among them: the row that is
    /// asked for, or else the first one that is not a blank line.
    fn read_heading(&mut self, asked: Heading) -> Result<()> {
        let Reader::Delimited(text) = &mut self.reader else { return Ok(()) };
        let most = match asked {
            Heading::First => 1,
            Heading::Found => heading::ROWS_MAX,
            Heading::Row(row) => row,
        };
        let mut rows = Batch::default();
        while rows.rows() < most && rows.bytes() < BATCH_BYTES {
            if !add_record(text, &mut rows).map_err(|error| error.of(&self.name))? {
                break;
            }
        }
        let refused = |what: String| Error::input(&self.name, None, what);
        let place = match asked {
            Heading::Row(row) if row == 0 || row > rows.rows() => {
                let there = rows.rows();
                return Err(refused(format!("the heading is to be row {row}; there are {there}")));
            }
            Heading::Row(row) if rows.is_blank(row - 1) => {
                return Err(refused(format!("the heading is to be row {row}, which is blank")));
            }
            Heading::Row(row) => Some(row - 1),
            Heading::First => None,
            Heading::Found => {
                let texts: Vec<_> = (0..rows.rows()).map(|row| texts_of(rows.row(row))).collect();
                heading_of(&texts)
            }
        };
        let first = || (0..rows.rows()).find(|row| rows.row(*row).cells() > 0);
        let Some(place) = place.or_else(first) else { return Ok(()) };
        let mut heading = rows.split_off(place);
        self.ahead = Some(heading.split_off(1));
        self.columns = texts_of(heading.row(0)).iter().map(|name| name.trim().to_owned()).collect();
        self.heading = heading;
        self.heading_row = place + 1;
        // Blank lines at the beginning are not a title.
        if !(0..rows.rows()).all(|row| rows.row(row).cells() == 0) {
            self.titles = rows;
        }
        Ok(())
    }

    /// Its name in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its container.
    pub fn container(&self) -> Container {
        self.container
    }

    /// The original encoding, if the table is converted to UTF-8.
    pub fn converted_from(&self) -> Option<&'static str> {
        self.converted_from
    }

    /// The byte order mark at its beginning, or nothing.
    pub fn byte_order_mark(&self) -> &'static [u8] {
        self.byte_order_mark
    }

    /// The names of the columns: the cells of the heading, the columns of a Parquet file, or
    /// the members of the objects that were read so far.
    pub fn columns(&self) -> &[String] {
        match &self.reader {
            Reader::Delimited(_) => &self.columns,
            Reader::JsonLines { members, .. } => members.names(),
            #[cfg(feature = "parquet")]
            Reader::Parquet { members, .. } => members.names(),
        }
    }

    /// The heading of delimited text, or its first record, as a row. Empty for an empty file and for
    /// other containers.
    pub fn heading(&self) -> &Batch {
        &self.heading
    }

    /// The number of the heading's row, from 1, counting blank lines too; 0 without a heading.
    pub fn heading_row(&self) -> usize {
        self.heading_row
    }

    /// The rows above the heading, unless all of them are blank lines.
    pub fn titles(&self) -> &Batch {
        &self.titles
    }

    /// A counter of the bytes that are read. It continues to count later bytes.
    pub fn bytes_read(&self) -> BytesRead {
        BytesRead(self.meter.clone())
    }

    /// Reads the next rows into `batch`, replacing its rows. Returns `false` at the end, when there
    /// are none.
    ///
    /// # Errors
    /// [`Error::Input`] when the table cannot be read further.
    pub fn read(&mut self, batch: &mut Batch) -> Result<bool> {
        batch.clear();
        if let Some(ahead) = self.ahead.take() {
            *batch = ahead;
        }
        while batch.rows() < BATCH_ROWS_MAX && batch.bytes() < BATCH_BYTES {
            let is_read = match &mut self.reader {
                Reader::Delimited(text) => add_record(text, batch),
                Reader::JsonLines { input, line, members } => add_line(input, line, members, batch),
                #[cfg(feature = "parquet")]
                Reader::Parquet { records, record, members } => {
                    add_object(records, record, members, batch)
                }
            };
            if !is_read.map_err(|error| error.of(&self.name))? {
                break;
            }
        }
        Ok(batch.rows() > 0)
    }
}

/// The first bytes, in one buffer. A decoder may return only a few at a time.
fn head_of(content: &mut dyn Read) -> std::io::Result<Vec<u8>> {
    let mut head = Vec::with_capacity(SNIFF_BYTES);
    content.take(SNIFF_BYTES as u64).read_to_end(&mut head)?;
    Ok(head)
}

fn container_of(head: &[u8], ending: Option<&str>) -> Result<Container, String> {
    let start = head.trim_ascii_start();
    match (ending, start.first()) {
        (Some("jsonl" | "ndjson"), _) => return Ok(Container::JsonLines),
        (Some("tsv" | "tab"), _) => return Ok(Container::Delimited { delimiter: b'\t' }),
        (Some("psv"), _) => return Ok(Container::Delimited { delimiter: b'|' }),
        (Some("csv" | "txt"), _) => {}
        (_, Some(b'{')) => return Ok(Container::JsonLines),
        (_, Some(b'[')) => {
            return Err("this is a JSON array: give JSON lines, an object on each line (`jq -c \
                        '.[]'` writes them)"
                .to_owned());
        }
        _ => {}
    }
    Ok(Container::Delimited { delimiter: delimiter_of(head) })
}

/// Adds the next record, and a row without cells for each blank line before it. Blank lines at the
/// end are not rows.
fn add_record<R: BufRead>(text: &mut Text<R>, batch: &mut Batch) -> Result<bool, DumpError> {
    let start = batch.bytes();
    let line = text.lines() + 1;
    let Some(cells) = text.read(batch.raw_mut())? else {
        batch.truncate(start);
        return Ok(false);
    };
    let (bytes, ends) = text.bytes(cells);
    batch.end_delimited(Cut { start, line }, bytes, ends);
    Ok(true)
}

/// Adds the object of the next line that is not blank.
fn add_line<R: BufRead>(
    input: &mut R,
    line: &mut u64,
    members: &mut Members,
    batch: &mut Batch,
) -> Result<bool, DumpError> {
    let start = batch.bytes();
    loop {
        *line += 1;
        batch.truncate(start);
        let mut bounded = input.take(RECORD_BYTES_MAX as u64 + 1);
        bounded.read_until(b'\n', batch.raw_mut()).map_err(DumpError::read(*line))?;
        let read = &batch.raw_mut()[start..];
        if read.is_empty() {
            return Ok(false);
        }
        if read.len() > RECORD_BYTES_MAX {
            return Err(DumpError::too_long(*line));
        }
        if !read.trim_ascii().is_empty() {
            break;
        }
    }
    batch.end_object(Cut { start, line: *line }, members)
}

#[cfg(feature = "parquet")]
fn add_object(
    records: &mut crate::source::parquet::ParquetRecords,
    record: &mut u64,
    members: &mut Members,
    batch: &mut Batch,
) -> Result<bool, DumpError> {
    *record += 1;
    let failed = |what: String| DumpError { line: None, what: format!("record {record}: {what}") };
    let Some(text) = records.next().map_err(failed)? else { return Ok(false) };
    let start = batch.bytes();
    batch.raw_mut().extend_from_slice(text.as_bytes());
    batch.end_object(Cut { start, line: *record }, members)
}
