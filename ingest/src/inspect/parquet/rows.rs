//! Rows of typed cells as a Parquet file, a row group at a time. One row group is in memory, however
//! long the file is.
//!
//! Row groups and pages are small: an engine that looks a value up reads the footer, the filters, one
//! column of the groups that may have the value, and little else.
//!
//! Most of these bytes are filters. Their sizes are powers of two, so a filter may be half empty. To
//! avoid that, a row group ends where the filter of its first column with one is full.

use std::collections::HashSet;
use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};
use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use figdex_index::Date;
use parquet::basic::{Compression, Encoding, LogicalType, Repetition, Type as Physical, ZstdLevel};
use parquet::data_type::{
    BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type,
};
use parquet::errors::ParquetError;
use parquet::file::metadata::{KeyValue, SortingColumn};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{ColumnPath, Type};

use super::{ParquetCell, ParquetColumn, ParquetKind, ParquetOptions};

/// The most rows of a row group.
pub(super) const GROUP_ROWS: usize = 122_880;

/// The least rows of a row group that ends because its filter is full, and the least values of the
/// filter then. Each group has its part of the footer, which a reader reads for every group; of a
/// group with the value, a reader reads several columns.
const FULL_ROWS: usize = 24_576;
const FULL_BLOCKS: usize = 256;

/// The bytes of text after which a row group ends.
const GROUP_BYTES: usize = 64 << 20;

/// The most rows of a page.
const PAGE_ROWS: usize = 4096;

/// The most rows of a page of a column by which rows are looked up, and the level of its compression.
/// A reader reads all of the column, and a longer page is compressed to fewer bytes.
const LOOKED_UP_PAGE_ROWS: usize = 4 * PAGE_ROWS;
const LOOKED_UP_LEVEL: i32 = 9;

/// The share of the row groups without a value that a Bloom filter does not leave out, as the library
/// estimates it: some blocks have more values than others, so that it is 0.043 in truth. A filter with
/// a smaller share has more bytes, which a reader reads for every group; with a larger one it reads the
/// column of more groups. The sum is about the same from 0.03 to 0.07, where a value has 4 bytes in its
/// column; a small share makes look-ups more alike. The library makes a filter as small as this share
/// allows.
const BLOOM_SHARE: f64 = 0.036;

/// The distinct values of each block of a full filter. A block has 32 bytes. With one value more in
/// each, the share is above [`BLOOM_SHARE`], and the library writes a filter of twice the size.
const BLOCK_VALUES: usize = 34;

/// The rows of a Parquet file that is being written.
pub struct ParquetRows {
    file: SerializedFileWriter<Shared>,
    written: Shared,
    columns: Vec<Values>,
    /// The distinct values of the first column by which rows are looked up.
    looked_up: Option<LookedUp>,
    rows: usize,
    text_bytes: usize,
}

/// The distinct values of a column in the row group that is being filled.
struct LookedUp {
    /// The place of the column.
    place: usize,
    /// The hashes of the values: a filter has no more of them either.
    hashes: HashSet<u64, BuildHasherDefault<DefaultHasher>>,
}

/// The bytes that the library has written and that were not moved to the output yet.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.lock().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Vec<u8>> {
        // One thread has it, and whatever it had written stays written.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn drain(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut bytes = self.lock();
        out.write_all(&bytes)?;
        bytes.clear();
        Ok(())
    }
}

/// The values of a column in the row group that is being filled.
struct Values {
    /// For each row, 1 when it has a value, else 0: the definition levels of an optional column.
    defined: Vec<i16>,
    known: Known,
}

/// The values of the rows that have one.
enum Known {
    /// The bytes of all texts, and the end of each.
    Text(Vec<u8>, Vec<usize>),
    Number(Vec<f64>),
    Whole(Vec<i64>),
    Date(Vec<i32>),
    Flag(Vec<bool>),
}

impl ParquetRows {
    /// Begins a file with these columns.
    ///
    /// # Errors
    /// When two columns have the same name.
    pub fn begin(columns: Vec<ParquetColumn>, options: ParquetOptions) -> io::Result<Self> {
        let properties = properties(&columns, &options).map_err(failed)?;
        let fields = columns.iter().map(|column| field(column).map(Arc::new));
        let fields = fields.collect::<Result<Vec<_>, _>>().map_err(failed)?;
        let schema = Type::group_type_builder("figdex").with_fields(fields).build();
        let schema = Arc::new(schema.map_err(failed)?);
        let written = Shared::default();
        let file = SerializedFileWriter::new(written.clone(), schema, Arc::new(properties));
        let file = file.map_err(failed)?;
        let looked_up = columns.iter().position(|column| column.is_looked_up);
        let looked_up = looked_up.map(LookedUp::new);
        let columns = columns.iter().map(|column| Values::new(column.kind)).collect();
        Ok(Self { file, written, columns, looked_up, rows: 0, text_bytes: 0 })
    }

    /// Adds a row: a cell for each column, in their order.
    ///
    /// # Errors
    /// When `out` fails. [`io::ErrorKind::InvalidInput`] when a row has other cells than the
    /// columns: it is a fault of the program.
    pub fn add<'a>(
        &mut self,
        cells: impl IntoIterator<Item = ParquetCell<'a>>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let mut cells = cells.into_iter();
        for (place, column) in self.columns.iter_mut().enumerate() {
            let cell = cells.next().ok_or_else(mismatch)?;
            self.text_bytes += column.add(cell)?;
            if let Some(looked_up) = &mut self.looked_up
                && looked_up.place == place
            {
                looked_up.add(cell);
            }
        }
        if cells.next().is_some() {
            return Err(mismatch());
        }
        self.rows += 1;
        let is_full =
            self.rows >= FULL_ROWS && self.looked_up.as_ref().is_some_and(LookedUp::is_full);
        if is_full || self.rows >= GROUP_ROWS || self.text_bytes >= GROUP_BYTES {
            self.end_group(out)?;
        }
        Ok(())
    }

    /// Writes the last row group and the footer.
    ///
    /// # Errors
    /// When `out` fails.
    pub fn end(mut self, out: &mut dyn Write) -> io::Result<()> {
        self.end_group(out)?;
        self.file.close().map_err(failed)?;
        self.written.drain(out)
    }

    fn end_group(&mut self, out: &mut dyn Write) -> io::Result<()> {
        if self.rows > 0 {
            let mut group = self.file.next_row_group().map_err(failed)?;
            for column in &mut self.columns {
                // The library has as many columns as there are here.
                if let Some(mut writer) = group.next_column().map_err(failed)? {
                    column.write(&mut writer).map_err(failed)?;
                    writer.close().map_err(failed)?;
                }
                // Each column is moved as soon as it is complete.
                self.written.drain(out)?;
            }
            group.close().map_err(failed)?;
            (self.rows, self.text_bytes) = (0, 0);
            if let Some(looked_up) = &mut self.looked_up {
                looked_up.hashes.clear();
            }
        }
        self.written.drain(out)
    }
}

impl LookedUp {
    fn new(place: usize) -> Self {
        Self { place, hashes: HashSet::default() }
    }

    fn add(&mut self, cell: ParquetCell<'_>) {
        // Rows are looked up by texts only.
        if let ParquetCell::Text(text) = cell {
            self.hashes.insert(self.hashes.hasher().hash_one(text));
        }
    }

    /// Whether a filter of these values is full: one value more would double it.
    fn is_full(&self) -> bool {
        let blocks = self.hashes.len() / BLOCK_VALUES;
        self.hashes.len().is_multiple_of(BLOCK_VALUES)
            && blocks.is_power_of_two()
            && blocks >= FULL_BLOCKS
    }
}

impl Values {
    fn new(kind: ParquetKind) -> Self {
        let known = match kind {
            ParquetKind::Text => Known::Text(Vec::new(), Vec::new()),
            ParquetKind::Number => Known::Number(Vec::new()),
            ParquetKind::Whole => Known::Whole(Vec::new()),
            ParquetKind::Date => Known::Date(Vec::new()),
            ParquetKind::Flag => Known::Flag(Vec::new()),
        };
        Self { defined: Vec::new(), known }
    }

    /// Adds a cell. Returns the bytes of its text.
    fn add(&mut self, cell: ParquetCell<'_>) -> io::Result<usize> {
        let mut text_bytes = 0;
        match (&mut self.known, cell) {
            (_, ParquetCell::Absent) => {
                self.defined.push(0);
                return Ok(0);
            }
            (Known::Text(bytes, ends), ParquetCell::Text(text)) => {
                bytes.extend_from_slice(text.as_bytes());
                ends.push(bytes.len());
                text_bytes = text.len();
            }
            (Known::Number(numbers), ParquetCell::Number(number)) => numbers.push(number),
            (Known::Whole(numbers), ParquetCell::Whole(number)) => numbers.push(number),
            (Known::Date(days), ParquetCell::Date(day)) => days.push(days_of(day)),
            (Known::Flag(flags), ParquetCell::Flag(flag)) => flags.push(flag),
            _ => return Err(mismatch()),
        }
        self.defined.push(1);
        Ok(text_bytes)
    }

    /// Writes and removes all values.
    fn write(&mut self, column: &mut SerializedColumnWriter<'_>) -> Result<(), ParquetError> {
        let defined = &self.defined;
        match &mut self.known {
            Known::Text(bytes, ends) => {
                // The texts share one allocation, which the library does not copy.
                let bytes = Bytes::from(std::mem::take(bytes));
                let mut start = 0;
                let texts = ends.drain(..).map(|end| {
                    let text = bytes.slice(start..end);
                    start = end;
                    ByteArray::from(text)
                });
                let texts: Vec<ByteArray> = texts.collect();
                write::<ByteArrayType>(column, &texts, defined)?;
            }
            Known::Number(numbers) => {
                write::<DoubleType>(column, numbers, defined)?;
                numbers.clear();
            }
            Known::Whole(numbers) => {
                write::<Int64Type>(column, numbers, defined)?;
                numbers.clear();
            }
            Known::Date(days) => {
                write::<Int32Type>(column, days, defined)?;
                days.clear();
            }
            Known::Flag(flags) => {
                write::<BoolType>(column, flags, defined)?;
                flags.clear();
            }
        }
        self.defined.clear();
        Ok(())
    }
}

fn write<T: DataType>(
    column: &mut SerializedColumnWriter<'_>,
    values: &[T::T],
    defined: &[i16],
) -> Result<(), ParquetError> {
    column.typed::<T>().write_batch(values, Some(defined), None).map(|_| ())
}

/// The days since 1970-01-01. Those of the years 0 to 9999 fit.
fn days_of(day: Date) -> i32 {
    day.to_days() as i32
}

fn field(column: &ParquetColumn) -> Result<Type, ParquetError> {
    let (physical, logical) = match column.kind {
        ParquetKind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        ParquetKind::Number => (Physical::DOUBLE, None),
        ParquetKind::Whole => (Physical::INT64, None),
        ParquetKind::Date => (Physical::INT32, Some(LogicalType::Date)),
        ParquetKind::Flag => (Physical::BOOLEAN, None),
    };
    Type::primitive_type_builder(&column.name, physical)
        .with_repetition(Repetition::OPTIONAL)
        .with_logical_type(logical)
        .build()
}

fn properties(
    columns: &[ParquetColumn],
    options: &ParquetOptions,
) -> Result<WriterProperties, ParquetError> {
    let level = ZstdLevel::try_new(LOOKED_UP_LEVEL)?;
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_data_page_row_count_limit(PAGE_ROWS);
    let fact = |(name, value): &(&str, String)| KeyValue::new((*name).to_owned(), value.clone());
    let facts: Vec<_> = options.facts.iter().map(fact).collect();
    properties = properties.set_key_value_metadata((!facts.is_empty()).then_some(facts));
    for column in columns {
        let path = ColumnPath::new(vec![column.name.clone()]);
        if !column.is_looked_up {
            // Rows are not in the order of these texts, so that their statistics leave no group out.
            // Every reader would read them, in the footer.
            if matches!(column.kind, ParquetKind::Text) {
                properties =
                    properties.set_column_statistics_enabled(path, EnabledStatistics::None);
            }
            continue;
        }
        // Few rows have the same value, so a dictionary would be longer than the texts.
        properties = properties
            .set_column_dictionary_enabled(path.clone(), false)
            .set_column_encoding(path.clone(), Encoding::DELTA_BYTE_ARRAY)
            .set_column_compression(path.clone(), Compression::ZSTD(level))
            .set_column_data_page_row_count_limit(path.clone(), LOOKED_UP_PAGE_ROWS)
            .set_column_bloom_filter_fpp(path.clone(), BLOOM_SHARE)
            .set_column_bloom_filter_max_ndv(path, GROUP_ROWS as u64);
    }
    if let Some(first) = columns.first().filter(|_| options.is_sorted) {
        // Each value is there once, and begins as the previous one: a dictionary would be longer.
        let path = ColumnPath::new(vec![first.name.clone()]);
        properties = properties
            .set_column_dictionary_enabled(path.clone(), false)
            .set_column_encoding(path.clone(), Encoding::DELTA_BYTE_ARRAY)
            .set_column_statistics_enabled(path, EnabledStatistics::Page)
            .set_sorting_columns(Some(vec![SortingColumn {
                column_idx: 0,
                descending: false,
                nulls_first: false,
            }]));
    }
    Ok(properties.build())
}

/// A fault of the library, as an error of writing.
fn failed(error: ParquetError) -> io::Error {
    io::Error::other(error)
}

fn mismatch() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "a row has other cells than the columns")
}
