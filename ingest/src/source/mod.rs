//! Opens dumps, unpacks them, recognises their format, and reads them record by record.
//!
//! Each reader knows one container (delimited text, JSON lines, JSON documents, Parquet) and reads
//! records. The plan of the format ([`Plan`]) turns each record into a row or leaves it out. Sizes
//! are bounded: that of a record by [`RECORD_BYTES_MAX`], and that of an unpacked dump in `unpack`.

mod cell_object;
mod delimited;
pub(crate) mod foreign;
mod input;
mod json;
mod json_document;
mod json_lines;
mod meter;
pub(crate) mod next;
#[cfg(feature = "parquet")]
pub(crate) mod parquet;
pub(crate) mod recognise;
pub(crate) mod text;
mod unknown;
pub(crate) mod unpack;

use std::io::{self, BufReader, Read};

use self::delimited::Delimited;
pub use self::input::Input;
use self::json_document::JsonDocument;
use self::json_lines::JsonLines;
pub(crate) use self::meter::Meter;
use self::next::Next;
use self::recognise::Head;
use self::unpack::{packing, unpack};
use crate::error::{Error, Result};
use crate::format::{Format, is_of_vendor};

use crate::format::columns_file::ColumnsFile;
use crate::format::description::DumpContainer;
use crate::format::plan::Plan;
use crate::row::nearest::nearest;
use crate::row::reject::Reject;
use crate::row::{Column, Row};

/// The largest record (a CSV record, a JSON object), in bytes. A larger one ends the dump with an
/// error; usually it is a quote that is never closed.
pub const RECORD_BYTES_MAX: usize = 4 << 20;

/// Number of bytes that are read to recognise a format.
pub(crate) const SNIFF_BYTES: usize = 64 << 10;

/// The reason to skip a row that a rule of the format leaves out.
pub(crate) const LEFT_OUT: &str = "left out by a rule of the format";

/// The reason to skip a row of an instrument without a FIGI.
const NO_FIGI: &str = "no FIGI: the vendor lists instruments that have none";

pub(crate) const READ_BUFFER_BYTES: usize = 256 << 10;

/// The first bytes of a Parquet file.
const PARQUET: [u8; 4] = *b"PAR1";

/// The message of a program that can neither read nor write Parquet files.
#[cfg(not(feature = "parquet"))]
pub(crate) const NO_PARQUET: &str = "this program was built without support for Parquet files: \
                                     build it with the cargo feature `parquet`";

/// A dump that is being read.
pub(crate) struct DumpReader {
    name: String,
    format: std::sync::Arc<str>,
    meter: Meter,
    /// The meter of the unpacked bytes; `None` if the records are not lines.
    lines: Option<Meter>,
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
    /// Opens a dump of instruments. Compression is recognised by the first bytes; with `None` the
    /// format is recognised by the content and the name.
    ///
    /// # Errors
    /// [`Error::Input`] when the dump cannot be read, its format is not recognised, or it has no
    /// column for the FIGI.
    pub(crate) fn open(input: &Input, format: Option<&Format>) -> Result<Self> {
        Self::open_with_figi(input, format).map_err(|error| misnamed(input, error))
    }

    fn open_with_figi(input: &Input, format: Option<&Format>) -> Result<Self> {
        let source = Self::opened(input, format)?;
        if source.plan.feeds(Column::Figi) {
            return Ok(source);
        }
        let names = source.plan.feeding(Column::Figi).join(" or ");
        let found = source.plan.header().join(",").chars().take(200).collect::<String>();
        let near = source.plan.header().iter().find(|name| nearest(name) == Some(Column::Figi));
        let hint = near.map(|name| {
            format!(" (did you mean {name}? `figdex-ingest inspect` proposes a columns file)")
        });
        let what =
            format!("the header has no column {names}, only {found}{}", hint.unwrap_or_default());
        Err(Error::input(&source.name, Some(1), what))
    }

    /// Examines the beginning of the file, and fails as [`DumpReader::open`] would or, if
    /// `is_enrichment`, as [`DumpReader::open_without_figi`] would. An input passes if it can be
    /// read only once or only as a whole, such as a pipe or a Parquet file.
    ///
    /// # Errors
    /// The errors of opening the dump.
    pub(crate) fn check(input: &Input, format: Option<&Format>, is_enrichment: bool) -> Result<()> {
        if input.bytes().is_none() {
            return Ok(());
        }
        let mut start = Vec::new();
        let read = input.open()?.take(PARQUET.len() as u64).read_to_end(&mut start);
        read.map_err(|error| Error::open(&input.name(), error))?;
        if cfg!(feature = "parquet") && (start == PARQUET || format.is_some_and(is_parquet)) {
            return Ok(());
        }
        match is_enrichment {
            true => Self::open_without_figi(input, format).map(drop),
            false => Self::open(input, format).map(drop),
        }
    }

    /// Like [`DumpReader::open`], but the dump needs no column for the FIGI.
    pub(crate) fn open_without_figi(input: &Input, format: Option<&Format>) -> Result<Self> {
        Self::opened(input, format).map_err(|error| misnamed(input, error))
    }

    fn opened(input: &Input, format: Option<&Format>) -> Result<Self> {
        let name = input.name();
        let failed = |error: io::Error| Error::open(&name, error);
        let meter = Meter::with_checksum();
        let mut unpacked = unpack(meter.measure(input.open()?), &meter).map_err(failed)?;
        // The bytes for recognition must be in one buffer, but a decoder may return only a few at a
        // time.
        let mut content = Vec::with_capacity(SNIFF_BYTES);
        unpacked.by_ref().take(SNIFF_BYTES as u64).read_to_end(&mut content).map_err(failed)?;
        let is_whole = content.len() < SNIFF_BYTES;
        if content.starts_with(b"\xef\xbb\xbf") {
            content.drain(..3);
        }
        let ending = input.ending();
        let head = Head { content: &content, is_whole, ending: ending.as_deref() };
        if head.is_parquet() || format.is_some_and(is_parquet) {
            return Self::open_parquet(input, format, meter, unpacked);
        }
        let invalid = |what| Error::input(&name, None, what);
        let ColumnsFile { name: format, description } = head.recognise(format).map_err(invalid)?;
        let container = head.container(&description);
        let delimiter = head.delimiter(&description);
        let mut plan = Plan::new(description);
        let whole: Box<dyn Read + Send> = Box::new(io::Cursor::new(content).chain(unpacked));
        let is_lines = matches!(container, DumpContainer::Delimited | DumpContainer::JsonLines);
        let lines = is_lines.then(Meter::of_bytes);
        let whole = match &lines {
            Some(lines) => lines.measure(whole),
            None => whole,
        };
        let whole = BufReader::with_capacity(READ_BUFFER_BYTES, whole);
        let reader = match container {
            DumpContainer::Delimited => {
                let reader = Delimited::open(whole, delimiter, &mut plan);
                RecordReader::Delimited(Box::new(reader.map_err(|error| error.of(&name))?))
            }
            DumpContainer::JsonLines => {
                RecordReader::JsonLines(Box::new(JsonLines::new(whole, &plan)))
            }
            DumpContainer::Json | DumpContainer::Parquet => {
                RecordReader::Json(Box::new(JsonDocument::new(whole, &plan)))
            }
        };
        Ok(Self { name, format, meter, lines, plan, reader })
    }

    #[cfg(feature = "parquet")]
    fn open_parquet(
        input: &Input,
        format: Option<&Format>,
        meter: Meter,
        content: Box<dyn Read + Send>,
    ) -> Result<Self> {
        let name = input.name();
        let invalid = |what: String| Error::input(&name, None, what);
        let file = parquet::open(input, content).map_err(invalid)?;
        let found = recognise::of_names(&parquet::names(&file), format);
        let ColumnsFile { name: format, description } = found.map_err(invalid)?;
        let mut plan = Plan::new(description);
        let reader = parquet::Parquet::new(file, &mut plan).map_err(invalid)?;
        let reader = RecordReader::Parquet(Box::new(reader));
        Ok(Self { name, format, meter, lines: None, plan, reader })
    }

    #[cfg(not(feature = "parquet"))]
    fn open_parquet(
        input: &Input,
        _format: Option<&Format>,
        _meter: Meter,
        _content: Box<dyn Read + Send>,
    ) -> Result<Self> {
        Err(Error::input(&input.name(), None, NO_PARQUET))
    }

    /// Reads the next record into `row`.
    ///
    /// # Errors
    /// [`Error::Input`] when the dump cannot be read further.
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
        let next = next.map_err(|error| error.of(&self.name))?;
        if !matches!(next, Next::Row) {
            row.clear_cells();
        }
        Ok(next)
    }

    /// The name of the dump's format.
    pub(crate) fn format(&self) -> &str {
        &self.format
    }

    /// Whether the last line that was read has no line end, as in a file that was cut off.
    pub(crate) fn lacks_line_end(&self) -> bool {
        let last = self.lines.as_ref().and_then(Meter::last);
        last.is_some_and(|byte| !matches!(byte, b'\n' | b'\r'))
    }

    /// The reason to skip a row that cannot be used, or `None` if the row must be rejected. A
    /// vendor lists all its instruments, even those without a FIGI, so such a row is skipped. In a
    /// dump with canonical columns or in one's own format, it is rejected.
    pub(crate) fn skips(&self, reason: &Reject) -> Option<&'static str> {
        (*reason == Reject::NoFigi && is_of_vendor(&self.format)).then_some(NO_FIGI)
    }

    /// The columns of the dump that may feed that canonical column, in the order of the format.
    pub(crate) fn feeding(&self, column: Column) -> Vec<&str> {
        let mut names = self.plan.feeding(column);
        let header = self.plan.header();
        if !header.is_empty() {
            let is_there = |name: &&str| {
                let member_of = name.split('.').next().unwrap_or(name);
                header.iter().any(|found| found == name || found == member_of)
            };
            names.retain(is_there);
        }
        names.dedup();
        names
    }

    /// The columns of the dump that its format does not know. For JSON, those found so far.
    pub(crate) fn unknown_columns(&self) -> &[String] {
        match &self.reader {
            RecordReader::Delimited(reader) => reader.unknown_columns(),
            RecordReader::JsonLines(reader) => reader.unknown_columns(),
            RecordReader::Json(reader) => reader.unknown_columns(),
            #[cfg(feature = "parquet")]
            RecordReader::Parquet(reader) => reader.unknown_columns(),
        }
    }

    /// The columns that the format does not know, but that may stand for a column that no other
    /// feeds. Empty for a vendor's shipped format, which leaves out columns on purpose.
    pub(crate) fn mistaken_columns(&self) -> Vec<(&str, Column)> {
        if is_of_vendor(&self.format) {
            return Vec::new();
        }
        let names = self.unknown_columns().iter();
        let near = names.filter_map(|name| Some((name.as_str(), nearest(name)?)));
        near.filter(|(_, column)| self.feeding(*column).is_empty()).collect()
    }

    /// The columns that the format names but the dump lacks. Empty for JSON, whose columns are not
    /// known in advance.
    pub(crate) fn absent_columns(&self) -> &[String] {
        self.plan.absent()
    }

    /// The size and checksum of the part of the file that was read so far, before unpacking.
    pub(crate) fn meter(&self) -> &Meter {
        &self.meter
    }
}

/// Adds advice to the error of a file that is not compressed although its name has such an ending.
/// Often a download has failed and left a page of HTML. Other errors stay unchanged.
fn misnamed(input: &Input, error: Error) -> Error {
    let mut start = [0; 10];
    // The bytes of a pipe cannot be read again.
    let is_misnamed = input.is_packed()
        && input.bytes().is_some()
        && input.open().is_ok_and(|mut file| file.read_exact(&mut start).is_ok())
        && packing(&start).is_none();
    match error {
        Error::Input { name, line, what } if is_misnamed => {
            let what = format!(
                "{what} (its name is that of a compressed file, but its bytes are neither gzip, \
                 zstd nor bzip2: was it downloaded whole?)"
            );
            Error::Input { name, line, what }
        }
        error => error,
    }
}

fn is_parquet(format: &Format) -> bool {
    format.one().is_some_and(|file| file.description.container == Some(DumpContainer::Parquet))
}

#[cfg(test)]
mod tests;
