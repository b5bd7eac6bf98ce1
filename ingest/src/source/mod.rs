//! Dumps as they are found: opened, unpacked, recognised, and read row by row.
//!
//! A reader knows one container (delimited text, JSON lines, JSON documents,
//! Parquet) and yields records; the plan, made of a format's description, makes
//! them rows, or says that a rule leaves them out. What a row means is `normalize`'s
//! affair. Every byte a dump may hold has a bound: [`RECORD_BYTES_MAX`], and what a
//! compressed one may become has one in `unpack`.

mod cell_object;
mod delimited;
mod input;
mod json;
mod json_document;
mod json_lines;
mod meter;
pub(crate) mod next;
#[cfg(feature = "parquet")]
mod parquet;
mod recognise;
mod unpack;

use std::io::{self, BufReader, Read};

use self::delimited::Delimited;
pub use self::input::Input;
use self::json_document::JsonDocument;
use self::json_lines::JsonLines;
pub(crate) use self::meter::Meter;
use self::next::Next;
use self::recognise::Head;
use self::unpack::unpack;
use crate::error::{Error, Result};
use crate::format::Format;
use crate::format::columns_file::ColumnsFile;
use crate::format::description::Container;
use crate::format::plan::Plan;
use crate::row::{Column, Row};

/// The largest record (a CSV record, a JSON object) in bytes. A larger one is no
/// row: most often a quote that never closes.
pub const RECORD_BYTES_MAX: usize = 4 << 20;

/// How many bytes are looked at to recognise a format.
const SNIFF_BYTES: usize = 64 << 10;

const READ_BUFFER_BYTES: usize = 256 << 10;

/// A dump that is being read.
pub(crate) struct DumpReader {
    name: String,
    format: std::sync::Arc<str>,
    meter: Meter,
    plan: Plan,
    reader: RecordReader,
}

type Unpacked = BufReader<Box<dyn Read + Send>>;

enum RecordReader {
    Delimited(Box<Delimited<Unpacked>>),
    JsonLines(Box<JsonLines<Unpacked>>),
    Json(Box<JsonDocument<Unpacked>>),
    #[cfg(feature = "parquet")]
    Parquet(Box<parquet::Parquet>),
}

impl DumpReader {
    /// Opens a dump: unpacks it by its first bytes, and reads it as `format` or,
    /// without one, as its content and its name say. Its rows are to be
    /// instruments, so that one which has no column for the FIGI is refused.
    pub(crate) fn open(input: &Input, format: Option<&Format>) -> Result<Self> {
        let source = Self::open_without_figi(input, format)?;
        if source.plan.feeds(Column::Figi) {
            return Ok(source);
        }
        let names = source.plan.sources_of(Column::Figi).join(" or ");
        let found = source.plan.header().join(",").chars().take(200).collect::<String>();
        let what = format!("the header has no column {names}: {found}");
        Err(Error::input(&source.name, Some(1), what))
    }

    /// Opens a dump whose rows need not have a FIGI.
    pub(crate) fn open_without_figi(input: &Input, format: Option<&Format>) -> Result<Self> {
        let name = input.name();
        let fault = |error: io::Error| Error::open(&name, error);
        let meter = Meter::default();
        let mut unpacked = unpack(meter.measure(input.open()?), &meter).map_err(fault)?;
        // Enough to recognise a format must lie in one buffer, and a decoder may
        // give as little as it likes at a time.
        let mut content = Vec::with_capacity(SNIFF_BYTES);
        unpacked.by_ref().take(SNIFF_BYTES as u64).read_to_end(&mut content).map_err(fault)?;
        if content.starts_with(b"\xef\xbb\xbf") {
            content.drain(..3);
        }
        let ending = input.ending();
        let head = Head { content: &content, ending: ending.as_deref() };
        if head.is_parquet() || format.is_some_and(is_parquet) {
            return Self::open_parquet(input, format, meter, unpacked);
        }
        let fault = |what| Error::input(&name, None, what);
        let ColumnsFile { name: format, description } = head.recognise(format).map_err(fault)?;
        let container = head.container(&description);
        let delimiter = head.delimiter(&description);
        let mut plan = Plan::new(description);
        let whole: Box<dyn Read + Send> = Box::new(io::Cursor::new(content).chain(unpacked));
        let whole = BufReader::with_capacity(READ_BUFFER_BYTES, whole);
        let reader = match container {
            Container::Delimited => {
                let reader = Delimited::open(whole, delimiter, &mut plan);
                RecordReader::Delimited(Box::new(reader.map_err(|fault| fault.of(&name))?))
            }
            Container::JsonLines => RecordReader::JsonLines(Box::new(JsonLines::new(whole, &plan))),
            Container::Json | Container::Parquet => {
                RecordReader::Json(Box::new(JsonDocument::new(whole, &plan)))
            }
        };
        Ok(Self { name, format, meter, plan, reader })
    }

    #[cfg(feature = "parquet")]
    fn open_parquet(
        input: &Input,
        format: Option<&Format>,
        meter: Meter,
        content: Box<dyn Read + Send>,
    ) -> Result<Self> {
        let name = input.name();
        let fault = |what: String| Error::input(&name, None, what);
        let file = parquet::open(input, content).map_err(fault)?;
        let found = recognise::of_names(&parquet::names(file.as_ref()), format);
        let ColumnsFile { name: format, description } = found.map_err(fault)?;
        let mut plan = Plan::new(description);
        let reader = parquet::Parquet::new(file, &mut plan).map_err(fault)?;
        let reader = RecordReader::Parquet(Box::new(reader));
        Ok(Self { name, format, meter, plan, reader })
    }

    #[cfg(not(feature = "parquet"))]
    fn open_parquet(
        input: &Input,
        _format: Option<&Format>,
        _meter: Meter,
        _content: Box<dyn Read + Send>,
    ) -> Result<Self> {
        let what = "it is a Parquet file, which this program was built without \
                    (cargo feature `parquet` of figdex-ingest)";
        Err(Error::input(&input.name(), None, what))
    }

    /// Reads the next row into `row`.
    pub(crate) fn next(&mut self, row: &mut Row) -> Result<Next> {
        row.raw.clear();
        row.clear_cells();
        let plan = &self.plan;
        let next = match &mut self.reader {
            RecordReader::Delimited(reader) => reader.next(plan, row),
            RecordReader::JsonLines(reader) => reader.next(plan, row),
            RecordReader::Json(reader) => reader.next(plan, row),
            #[cfg(feature = "parquet")]
            RecordReader::Parquet(reader) => reader.next(plan, row),
        };
        let next = next.map_err(|fault| fault.of(&self.name))?;
        if !matches!(next, Next::Row) {
            row.clear_cells();
        }
        Ok(next)
    }

    /// The name of the format it is read as.
    pub(crate) fn format(&self) -> &str {
        &self.format
    }

    /// The columns that the dump has and nobody knows.
    pub(crate) fn unknown_columns(&self) -> &[String] {
        match &self.reader {
            RecordReader::Delimited(reader) => reader.unknown_columns(),
            RecordReader::JsonLines(reader) => reader.unknown_columns(),
            RecordReader::Json(reader) => reader.unknown_columns(),
            #[cfg(feature = "parquet")]
            RecordReader::Parquet(reader) => reader.unknown_columns(),
        }
    }

    /// The columns that the format tells of and the dump lacks, where its columns
    /// are known beforehand.
    pub(crate) fn absent_columns(&self) -> &[String] {
        self.plan.absent()
    }

    /// What has been read of the file itself: its size and checksum once the end
    /// was reached.
    pub(crate) fn meter(&self) -> &Meter {
        &self.meter
    }
}

fn is_parquet(format: &Format) -> bool {
    format.one().is_some_and(|told| told.description.container == Some(Container::Parquet))
}

#[cfg(test)]
mod tests;
