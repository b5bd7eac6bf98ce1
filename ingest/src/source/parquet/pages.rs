//! Checks the pages of a Parquet file before the library reads them. A header of a few bytes may say
//! that a page unpacks to gigabytes, and the library believes it.
//!
//! Headers are read strictly: only the fields of the specification, each once, in the usual
//! encoding. Anything that this reader and the library could understand differently is refused.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;

use flate2::bufread::MultiGzDecoder;
use parquet::basic::Compression;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};

use super::super::unpack::is_plausible;

/// The largest page, packed or unpacked. Writers make pages of one to five megabytes.
const PAGE_BYTES_MAX: u64 = 32 << 20;

/// The most bytes of the pages that are open at the same time: a page and a dictionary for each
/// column.
const OPEN_BYTES_MAX: u64 = 256 << 20;

/// The most values in a page of a column with lists. All of them may belong to one record.
const LIST_VALUES_MAX: u64 = 1 << 20;

/// The number of bytes in which a page header is expected: first, and at most. A header may repeat
/// the smallest and the largest value of its page.
const HEADER_BYTES: [usize; 2] = [1 << 10, 1 << 20];

/// The bytes of a file.
pub(super) enum Source {
    File(File),
    Memory(Arc<[u8]>),
}

impl Source {
    /// Reads up to `length` bytes from `start` on.
    fn read(&self, start: u64, length: usize) -> io::Result<Vec<u8>> {
        match self {
            Self::Memory(bytes) => {
                let start = usize::try_from(start).unwrap_or(usize::MAX).min(bytes.len());
                let end = start.saturating_add(length).min(bytes.len());
                Ok(bytes[start..end].to_vec())
            }
            Self::File(file) => {
                let mut bytes = vec![0; length];
                let mut read = 0;
                while read < length {
                    match file.read_at(&mut bytes[read..], start + read as u64)? {
                        0 => break,
                        more => read += more,
                    }
                }
                bytes.truncate(read);
                Ok(bytes)
            }
        }
    }
}

/// Checks the pages of all columns to read. `file_bytes` is the size of the file.
///
/// # Errors
/// A message when one page, or all pages together, would take too much.
pub(super) fn check(
    metadata: &ParquetMetaData,
    source: &Source,
    file_bytes: u64,
    is_read: impl Fn(&str) -> bool,
) -> Result<(), String> {
    let mut unpacked = 0;
    let mut left = file_bytes;
    for group in metadata.row_groups() {
        let mut open = 0_u64;
        for column in group.columns() {
            let name = column.column_path().parts().first().map_or("", String::as_str);
            if !is_read(name) {
                continue;
            }
            let of_column = |what: String| format!("the column {name}: {what}");
            let pages = Pages::of(column).and_then(|mut pages| {
                // Columns do not overlap, so together they are no longer than the file.
                left = left.checked_sub(pages.end - pages.start).ok_or(DAMAGED)?;
                pages.walk(source, column.compression())?;
                Ok(pages)
            });
            let pages = pages.map_err(of_column)?;
            let is_list = column.column_descr().max_rep_level() > 0;
            if is_list && pages.values_max > LIST_VALUES_MAX {
                return Err(of_column(format!("a page has {} values", pages.values_max)));
            }
            unpacked += pages.unpacked;
            open += pages.page_max + pages.dictionary;
        }
        if !is_plausible(file_bytes, unpacked) {
            return Err(format!(
                "its columns unpack to {unpacked} bytes, which is implausible for a file of \
                 {file_bytes}"
            ));
        }
        if open > OPEN_BYTES_MAX {
            return Err(format!(
                "the pages of a row group take {open} bytes at a time, more than {OPEN_BYTES_MAX}: \
                 write smaller pages"
            ));
        }
    }
    Ok(())
}

const DAMAGED: &str = "its pages are damaged";

/// The pages of a column in a row group.
#[derive(Default)]
struct Pages {
    start: u64,
    end: u64,
    unpacked: u64,
    page_max: u64,
    dictionary: u64,
    values_max: u64,
}

impl Pages {
    fn of(column: &ColumnChunkMetaData) -> Result<Self, String> {
        let start = column.dictionary_page_offset().unwrap_or(column.data_page_offset());
        let place = || {
            let start = u64::try_from(start).ok()?;
            let length = u64::try_from(column.compressed_size()).ok()?;
            Some((start, start.checked_add(length)?))
        };
        let (start, end) = place().ok_or(DAMAGED)?;
        Ok(Self { start, end, ..Self::default() })
    }

    fn walk(&mut self, source: &Source, compression: Compression) -> Result<(), String> {
        let mut place = self.start;
        while place < self.end {
            let header = header(source, place)?;
            place += header.length;
            for bytes in [header.packed, header.unpacked] {
                if bytes > PAGE_BYTES_MAX {
                    return Err(format!(
                        "a page has {bytes} bytes, more than {PAGE_BYTES_MAX}: write smaller pages"
                    ));
                }
            }
            if matches!(compression, Compression::GZIP(_)) {
                let packed = source.read(place, header.packed as usize);
                check_gzip(&packed.map_err(|error| error.to_string())?, &header)?;
            }
            self.unpacked += header.unpacked;
            match header.is_dictionary {
                true => self.dictionary = self.dictionary.max(header.unpacked),
                false => self.page_max = self.page_max.max(header.unpacked),
            }
            self.values_max = self.values_max.max(header.values);
            place += header.packed;
        }
        Ok(())
    }
}

/// Checks that a gzip page does not unpack to more than its header says. Unlike a page of another
/// compression, the library would read it to the end of the packed bytes.
fn check_gzip(packed: &[u8], header: &Header) -> Result<(), String> {
    // Levels are not packed.
    let packed = packed.get(header.levels as usize..).ok_or(DAMAGED)?;
    let unpacked = header.unpacked.checked_sub(header.levels).ok_or(DAMAGED)?;
    let content = MultiGzDecoder::new(packed).take(unpacked + 1);
    // The library reports damaged bytes.
    match io::copy(&mut { content }, &mut io::sink()) {
        Ok(bytes) if bytes > unpacked => Err(DAMAGED.to_owned()),
        _ => Ok(()),
    }
}

/// The header of a page.
#[derive(Debug, Default, PartialEq, Eq)]
struct Header {
    length: u64,
    is_dictionary: bool,
    unpacked: u64,
    packed: u64,
    values: u64,
    /// The bytes of levels before the values, in a page of the second version.
    levels: u64,
}

fn header(source: &Source, place: u64) -> Result<Header, String> {
    for length in HEADER_BYTES {
        let bytes = source.read(place, length).map_err(|error| error.to_string())?;
        match (Thrift { bytes: &bytes, at: 0 }).header() {
            Ok(header) => return Ok(header),
            Err(HeaderFault::Short) if bytes.len() == length => {}
            Err(_) => break,
        }
    }
    Err(DAMAGED.to_owned())
}

/// The reason why a header cannot be read.
#[derive(Debug, PartialEq, Eq)]
enum HeaderFault {
    /// The bytes end before the header does.
    Short,
    /// No writer makes such bytes.
    Invalid,
}

/// Bytes in the compact protocol of Thrift.
struct Thrift<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// Types of fields in the compact protocol.
const BOOLS: [u8; 2] = [1, 2];
const INT: u8 = 5;
const LONG: u8 = 6;
const BINARY: u8 = 8;
const STRUCT: u8 = 12;

/// The deepest structure in a header: the page's kind, and its statistics.
const DEPTH_MAX: usize = 2;

/// The number of the dictionary page in a header.
const DICTIONARY_PAGE: u64 = 2;

impl Thrift<'_> {
    fn header(&mut self) -> Result<Header, HeaderFault> {
        let mut header = Header::default();
        let mut last = 0;
        while let Some((id, kind)) = self.field(&mut last)? {
            match (id, kind) {
                (1, INT) => header.is_dictionary = self.number()? == DICTIONARY_PAGE,
                (2, INT) => header.unpacked = self.number()?,
                (3, INT) => header.packed = self.number()?,
                (4, INT) => drop(self.varint()?),
                (5 | 7, STRUCT) => header.values = self.structure(1)?[0],
                (8, STRUCT) => {
                    let [values, _, _, _, definitions, repetitions] = self.structure(1)?;
                    (header.values, header.levels) = (values, definitions + repetitions);
                }
                (6, STRUCT) => drop(self.structure(1)?),
                _ => return Err(HeaderFault::Invalid),
            }
        }
        header.length = self.at as u64;
        Ok(header)
    }

    /// The number and type of the next field; `None` at the end of the structure. Numbers must
    /// ascend, so no field comes twice.
    fn field(&mut self, last: &mut u8) -> Result<Option<(u8, u8)>, HeaderFault> {
        let byte = self.byte()?;
        if byte == 0 {
            return Ok(None);
        }
        let (step, kind) = (byte >> 4, byte & 15);
        *last = last.checked_add(step).filter(|_| step > 0).ok_or(HeaderFault::Invalid)?;
        Ok(Some((*last, kind)))
    }

    /// Reads a structure. Returns its first six numeric fields. In the structure of a page, the
    /// first is the number of values.
    fn structure(&mut self, depth: usize) -> Result<[u64; 6], HeaderFault> {
        let mut numbers = [0; 6];
        let mut last = 0;
        while let Some((id, kind)) = self.field(&mut last)? {
            match kind {
                INT if depth == 1 && id <= 6 => numbers[usize::from(id) - 1] = self.number()?,
                INT | LONG => drop(self.varint()?),
                BINARY => {
                    let length =
                        usize::try_from(self.varint()?).map_err(|_| HeaderFault::Invalid)?;
                    self.at = self.at.checked_add(length).ok_or(HeaderFault::Invalid)?;
                }
                STRUCT if depth < DEPTH_MAX => drop(self.structure(depth + 1)?),
                kind if BOOLS.contains(&kind) => {}
                _ => return Err(HeaderFault::Invalid),
            }
        }
        Ok(numbers)
    }

    /// A number of 32 bits that is not negative.
    fn number(&mut self) -> Result<u64, HeaderFault> {
        let number = self.varint()?;
        match number % 2 == 0 && number <= u64::from(u32::MAX) {
            true => Ok(number / 2),
            false => Err(HeaderFault::Invalid),
        }
    }

    fn varint(&mut self) -> Result<u64, HeaderFault> {
        let mut number = 0;
        for shift in (0..63).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        // The largest 64-bit numbers occur only in statistics, where ten bytes are usual.
        if self.byte()? < 2 { Ok(u64::MAX) } else { Err(HeaderFault::Invalid) }
    }

    fn byte(&mut self) -> Result<u8, HeaderFault> {
        let byte = self.bytes.get(self.at).copied().ok_or(HeaderFault::Short)?;
        self.at += 1;
        Ok(byte)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A header as writers make it, and others that the library might understand differently.
    #[test]
    fn only_usual_headers_are_read() {
        // A data page of 300 bytes, packed to 100, with 7 values and a least value in statistics.
        let usual = [
            0x15, 0x00, 0x15, 0xd8, 0x04, 0x15, 0xc8, 0x01, 0x2c, 0x15, 0x0e, 0x15, 0x00, 0x15,
            0x06, 0x15, 0x06, 0x1c, 0x58, 0x02, b'a', b'b', 0x00, 0x00, 0x00,
        ];
        let read = |bytes: &[u8]| Thrift { bytes, at: 0 }.header();
        let header =
            Header { length: 25, unpacked: 300, packed: 100, values: 7, ..Header::default() };
        assert_eq!(read(&usual), Ok(header));
        assert_eq!(read(&usual[..20]), Err(HeaderFault::Short));
        for unusual in [
            // A field again, by its number; a list; a negative size; a size beyond 32 bits.
            &[0x15, 0x00, 0x15, 0x02, 0x05, 0x04, 0xd8, 0x04, 0x00][..],
            &[0x15, 0x00, 0x89, 0xf1, 0xff, 0xff, 0xff, 0xff, 0x07, 0x00],
            &[0x15, 0x00, 0x15, 0x01, 0x00],
            &[0x15, 0x00, 0x15, 0xfe, 0xff, 0xff, 0xff, 0xff, 0x01, 0x00],
        ] {
            assert_eq!(read(unusual), Err(HeaderFault::Invalid), "{unusual:02x?}");
        }
    }

    #[test]
    fn a_page_of_gzip_that_says_too_little_is_refused() {
        use std::io::Write as _;
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(&[0; 1_000]).unwrap();
        let packed = packed.finish().unwrap();
        let check = |unpacked| check_gzip(&packed, &Header { unpacked, ..Header::default() });
        assert!(check(1_000).is_ok() && check(999).is_err());
    }
}
