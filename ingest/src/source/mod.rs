//! Dumps as they are found: opened, unpacked, recognised, and read row by row.
//!
//! A source knows one format and yields rows, or says why a row is none; what a
//! row means is `normalize`'s affair. Every byte a dump may hold has a bound:
//! [`RECORD_BYTES_MAX`].

mod delimited;
mod json_lines;
mod meter;

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use flate2::bufread::MultiGzDecoder;

use self::delimited::Delimited;
use self::json_lines::JsonLines;
pub(crate) use self::meter::Meter;
use crate::error::{Error, Result};
use crate::rejects::Reject;
use crate::row::Row;

/// The largest record (a CSV record, a JSON line) in bytes. A larger one is no
/// row: most often a quote that never closes.
pub const RECORD_BYTES_MAX: usize = 4 << 20;

/// How many bytes are looked at to recognise a format.
const SNIFF_BYTES: usize = 64 << 10;

const READ_BUFFER_BYTES: usize = 256 << 10;

/// The layout of a dump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Cells between these bytes, one header row; RFC 4180 quotes.
    Delimited(u8),
    /// A JSON object a line.
    JsonLines,
}

impl FromStr for Format {
    type Err = String;

    fn from_str(name: &str) -> std::result::Result<Self, String> {
        match name {
            "csv" => Ok(Self::Delimited(b',')),
            "tsv" => Ok(Self::Delimited(b'\t')),
            "pipe" => Ok(Self::Delimited(b'|')),
            "jsonl" => Ok(Self::JsonLines),
            _ => Err("formats are csv, tsv, pipe and jsonl".into()),
        }
    }
}

/// Where a dump comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// A file.
    File(PathBuf),
    /// Standard input, written `-`.
    Stdin,
    /// Bytes in memory, under a name for messages.
    Memory(&'static str, Arc<[u8]>),
}

impl Input {
    /// The inputs that an argument names: a file, the files of a folder in the
    /// order of their names (hidden ones left out), or `-`.
    pub fn resolve(argument: &Path) -> Result<Vec<Self>> {
        if argument == Path::new("-") {
            return Ok(vec![Self::Stdin]);
        }
        let refused = |error: io::Error| Error::open(&argument.display(), error);
        if !argument.metadata().map_err(refused)?.is_dir() {
            return Ok(vec![Self::File(argument.to_owned())]);
        }
        let mut files = Vec::new();
        for entry in argument.read_dir().map_err(refused)? {
            let path = entry.map_err(refused)?.path();
            let hidden = path.file_name().is_some_and(|name| name.as_encoded_bytes()[0] == b'.');
            if path.is_file() && !hidden {
                files.push(path);
            }
        }
        files.sort_unstable();
        if files.is_empty() {
            return Err(Error::input(&argument.display(), None, "the folder has no files"));
        }
        Ok(files.into_iter().map(Self::File).collect())
    }

    /// Its size before it is unpacked, where it is known before it is read.
    pub(crate) fn bytes(&self) -> Option<u64> {
        match self {
            Self::File(path) => {
                path.metadata().ok().filter(std::fs::Metadata::is_file).map(|f| f.len())
            }
            Self::Stdin => None,
            Self::Memory(_, bytes) => Some(bytes.len() as u64),
        }
    }

    /// How messages and reports name it.
    pub fn name(&self) -> String {
        match self {
            Self::File(path) => path.display().to_string(),
            Self::Stdin => "-".to_owned(),
            Self::Memory(name, _) => (*name).to_owned(),
        }
    }

    fn open(&self) -> Result<Box<dyn Read>> {
        Ok(match self {
            Self::File(path) => {
                let file = File::open(path).map_err(|error| Error::open(&self.name(), error))?;
                Box::new(file)
            }
            Self::Stdin => Box::new(io::stdin().lock()),
            Self::Memory(_, bytes) => Box::new(io::Cursor::new(bytes.clone())),
        })
    }

    /// What the name promises, below an ending of compression.
    fn format_by_name(&self) -> Option<Format> {
        let Self::File(path) = self else { return None };
        let packed = path.extension().is_some_and(|end| end == "gz" || end == "zst");
        let name = if packed { Path::new(path.file_stem()?) } else { path.as_path() };
        match name.extension().and_then(OsStr::to_str)? {
            "csv" => Some(Format::Delimited(b',')),
            "tsv" | "tab" => Some(Format::Delimited(b'\t')),
            "psv" => Some(Format::Delimited(b'|')),
            "jsonl" | "ndjson" => Some(Format::JsonLines),
            _ => None,
        }
    }
}

/// What a dump is read for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Its rows are instruments: each needs a FIGI.
    Instruments,
    /// Its rows add to instruments, which other identifiers may find as well.
    Enrich,
}

/// What a source yields next.
pub(crate) enum Next {
    /// The row was filled.
    Row,
    /// A record that is no row, and why; its line and bytes are in the row.
    Rejected(Reject),
    /// There is no more.
    End,
}

/// A dump that is being read.
pub(crate) struct Source {
    name: String,
    meter: Meter,
    reader: Reader,
}

type Unpacked = BufReader<Box<dyn Read>>;

enum Reader {
    Delimited(Box<Delimited<Unpacked>>),
    JsonLines(JsonLines<Unpacked>),
}

impl Source {
    /// Opens a dump: unpacks it by its first bytes, and reads it as `format` or,
    /// without one, as its name and its content say.
    pub(crate) fn open(input: &Input, format: Option<Format>, purpose: Purpose) -> Result<Self> {
        let name = input.name();
        let fault = |error: io::Error| Error::open(&name, error);
        let meter = Meter::default();
        let packed = meter.measure(input.open()?);
        let mut packed = BufReader::with_capacity(READ_BUFFER_BYTES, packed);
        let unpacked: Box<dyn Read> = match packed.fill_buf().map_err(fault)? {
            [0x1f, 0x8b, ..] => Box::new(MultiGzDecoder::new(packed)),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => {
                Box::new(zstd::Decoder::with_buffer(packed).map_err(fault)?)
            }
            _ => Box::new(packed),
        };
        // Enough to recognise a format must lie in one buffer, and a decoder may
        // give as little as it likes at a time.
        let mut head = Vec::with_capacity(SNIFF_BYTES);
        let mut unpacked = unpacked;
        unpacked.by_ref().take(SNIFF_BYTES as u64).read_to_end(&mut head).map_err(fault)?;
        let content = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&head).to_vec();
        let format = match format.or_else(|| input.format_by_name()) {
            Some(format) => format,
            None => recognise(&content, purpose).map_err(|what| Error::input(&name, None, what))?,
        };
        let whole: Box<dyn Read> = Box::new(io::Cursor::new(content).chain(unpacked));
        let whole = BufReader::with_capacity(READ_BUFFER_BYTES, whole);
        let reader = match format {
            Format::Delimited(delimiter) => {
                let reader =
                    Delimited::open(whole, delimiter, purpose).map_err(|fault| fault.of(&name))?;
                Reader::Delimited(Box::new(reader))
            }
            Format::JsonLines => Reader::JsonLines(JsonLines::new(whole)),
        };
        Ok(Self { name, meter, reader })
    }

    /// Reads the next row into `row`.
    pub(crate) fn next(&mut self, row: &mut Row) -> Result<Next> {
        row.raw.clear();
        row.clear_cells();
        let next = match &mut self.reader {
            Reader::Delimited(reader) => reader.next(row),
            Reader::JsonLines(reader) => reader.next(row),
        };
        next.map_err(|fault| fault.of(&self.name))
    }

    /// The columns that the dump has and nobody knows.
    pub(crate) fn unknown_columns(&self) -> &[String] {
        match &self.reader {
            Reader::Delimited(reader) => reader.unknown_columns(),
            Reader::JsonLines(reader) => reader.unknown_columns(),
        }
    }

    /// What has been read of the file itself: its size and checksum once the end
    /// was reached.
    pub(crate) fn meter(&self) -> &Meter {
        &self.meter
    }
}

/// A fault that ends a dump: from here on its rows cannot be told apart.
pub(crate) struct Fault {
    /// The line, from 1.
    line: u64,
    what: String,
}

impl Fault {
    fn new(line: u64, what: impl Into<String>) -> Self {
        Self { line, what: what.into() }
    }

    /// For `map_err`: reading failed at that line.
    fn read(line: u64) -> impl FnOnce(io::Error) -> Self {
        move |error| match error.kind() {
            io::ErrorKind::UnexpectedEof => Self::new(line, "the compressed file is cut off"),
            _ => Self::new(line, error.to_string()),
        }
    }

    fn too_long(line: u64) -> Self {
        Self::new(line, format!("a record is longer than {RECORD_BYTES_MAX} bytes"))
    }

    fn of(self, name: &str) -> Error {
        Error::input(&name, Some(self.line), self.what)
    }
}

/// The format that the first bytes of a dump show.
fn recognise(content: &[u8], purpose: Purpose) -> std::result::Result<Format, &'static str> {
    let first_line = content.split(|&byte| byte == b'\n').next().unwrap_or_default();
    match content.trim_ascii_start() {
        [] => Err("it is empty"),
        [b'{', ..] => Ok(Format::JsonLines),
        [b'[', ..] => Err("it is a JSON array; JSON lines are an object a line"),
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Err("it is UTF-16; a dump is UTF-8"),
        _ => {
            let count =
                |delimiter: u8| first_line.iter().filter(|&&byte| byte == delimiter).count();
            let delimiter = [b',', b'\t', b'|'].into_iter().max_by_key(|&byte| count(byte));
            let names = |word: &[u8]| {
                first_line.windows(word.len()).any(|part| part.eq_ignore_ascii_case(word))
            };
            let names_a_key = match purpose {
                Purpose::Instruments => names(b"figi"),
                Purpose::Enrich => {
                    [&b"figi"[..], b"isin", b"cusip", b"ticker"].into_iter().any(names)
                }
            };
            match delimiter.filter(|_| names_a_key) {
                Some(delimiter) => Ok(Format::Delimited(delimiter)),
                None => Err("it has neither a header row with figi nor JSON lines: the format \
                             is unknown (--format csv, tsv, pipe or jsonl says which it is)"),
            }
        }
    }
}
