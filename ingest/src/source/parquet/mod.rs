//! Reads Parquet files. `pages` bounds the memory that the library needs to unpack them. A dump is
//! read only in the columns that its format uses, a table in all columns. A row group is read page
//! by page. Each record is converted to a JSON object. The object is read like any other, and is
//! also the form of a rejected record.
//!
//! The Parquet library runs on a separate thread. A few bytes can keep it busy for hours (it counts
//! through a list of two billion booleans that takes no bytes), and it cannot be interrupted. So
//! the reader waits only for a limited time, and then abandons the thread.

mod pages;

use std::fs::File;
use std::io::{self, Read};
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};
use std::vec;

use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::reader::RowIter;
use parquet::record::{Field, Row as Fields};
use parquet::schema::types::Type;
use serde_json::{Map, Number, Value};

use self::pages::Source;
use super::json::Objects;
use super::next::{DumpError, Next};
use super::unknown::UnknownColumns;
use super::unpack::is_plausible;
use super::{Input, RECORD_BYTES_MAX};
use crate::format::plan::Plan;
use crate::row::Row;

/// The most rows of a file per byte. Identical rows take almost no bytes, so a file of a hundred
/// bytes can claim billions of rows. In a real dump each row has its own identifier, which takes
/// more than a bit.
const ROWS_PER_BYTE_MAX: u64 = 8;

/// Number of rows that any file may have.
const ROWS_MIN: u64 = 1 << 16;

/// The longest wait for the library. A whole file of 300,000 rows and twenty columns takes five
/// seconds on a busy machine.
const DEADLINE: Duration = Duration::from_secs(60);

/// The time that each batch adds to the remaining wait, up to [`DEADLINE`]: about ten times the
/// time for a batch. So the sum of all waits is bounded too.
const BATCH_TIME: Duration = Duration::from_millis(100);

/// The limits of a batch; it ends when it reaches one of them. It has enough records to make the
/// handover cheap, and few enough to keep in memory.
const BATCH_BYTES: usize = 256 << 10;
const BATCH_RECORDS: usize = 1024;

/// Number of batches that are read ahead.
const BATCHES_AHEAD: usize = 2;

/// The usual stack of a main thread, in bytes. The library recurses into nested columns.
const STACK_BYTES: usize = 8 << 20;

/// A record as JSON; `None` is the end.
type JsonRecord = Result<Option<String>, String>;
type JsonBatch = Vec<JsonRecord>;

/// An open Parquet file.
pub(crate) struct OpenFile {
    reader: Box<dyn FileReader>,
    source: Source,
    bytes: u64,
}

/// The records of a file, each as a JSON object.
pub(crate) struct ParquetRecords {
    batches: Worker<JsonBatch>,
    batch: vec::IntoIter<JsonRecord>,
    is_over: bool,
}

pub(super) struct Parquet {
    records: ParquetRecords,
    record: u64,
    objects: Objects,
    unknown: UnknownColumns,
}

/// Opens a Parquet file. `content` is its bytes, which are first read to the end to measure them.
///
/// # Errors
/// The message, when the file is damaged, implausible or not a regular file.
pub(crate) fn open(input: &Input, content: Box<dyn Read + Send>) -> Result<OpenFile, String> {
    open_within(DEADLINE, input, content)
}

fn open_within(
    deadline: Duration,
    input: &Input,
    mut content: Box<dyn Read + Send>,
) -> Result<OpenFile, String> {
    io::copy(&mut content, &mut io::sink()).map_err(|error| error.to_string())?;
    let input = input.clone();
    Worker::start(deadline, move |_| opened(&input))?.take()
}

fn opened(input: &Input) -> Result<OpenFile, String> {
    let failed = |error: io::Error| error.to_string();
    let bytes = input.bytes().unwrap_or(0);
    let damaged = |error: String| format!("the Parquet file is incomplete or damaged: {error}");
    let (reader, source): (Box<dyn FileReader>, _) = match input {
        Input::File(path) => {
            let mut magic = [0; 4];
            let mut file = File::open(path).map_err(failed)?;
            match file.read_exact(&mut magic) {
                Ok(()) if magic == *b"PAR1" => {}
                Err(error) if error.kind() != io::ErrorKind::UnexpectedEof => {
                    return Err(failed(error));
                }
                _ => {
                    return Err(
                        "a Parquet file must not be compressed as a whole: unpack it first".into(),
                    );
                }
            }
            let source = Source::File(file.try_clone().map_err(failed)?);
            let reader = guarded(|| SerializedFileReader::new(file)).map_err(damaged)?;
            (Box::new(reader), source)
        }
        Input::Memory(_, bytes) => {
            let source = Source::Memory(bytes.clone());
            let bytes = bytes::Bytes::from_owner(bytes.clone());
            let reader = guarded(|| SerializedFileReader::new(bytes)).map_err(damaged)?;
            (Box::new(reader), source)
        }
        Input::Stdin => {
            return Err(
                "a Parquet file cannot be read from standard input: give the path of the file"
                    .into(),
            );
        }
    };
    let groups = reader.metadata().row_groups().iter();
    let rows = groups
        .fold(0_u64, |rows, group| rows.saturating_add(group.num_rows().max(0).unsigned_abs()));
    if rows > bytes.saturating_mul(ROWS_PER_BYTE_MAX).max(ROWS_MIN) {
        return Err(format!("implausible Parquet metadata: {rows} rows in {bytes} bytes"));
    }
    Ok(OpenFile { reader, source, bytes })
}

const DAMAGED: &str = "the file is damaged";

/// Calls the library and converts a panic to an error. Some damaged files make its assertions fail,
/// and must not end the program.
fn guarded<T>(read: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, String> {
    match catch_unwind(AssertUnwindSafe(read)) {
        Ok(read) => read.map_err(|error| error.to_string()),
        Err(_) => Err(DAMAGED.to_owned()),
    }
}

/// A thread that produces values, and the remaining time to wait for them. The thread ends when its
/// work is done or, if the worker was dropped, when the thread next sends a value.
struct Worker<T> {
    made: Receiver<Result<T, String>>,
    wait_left: Duration,
}

impl<T: Send + 'static> Worker<T> {
    /// Starts `work`, which may send values; its result is sent last.
    fn start(
        wait_left: Duration,
        work: impl FnOnce(&SyncSender<Result<T, String>>) -> Result<T, String> + Send + 'static,
    ) -> Result<Self, String> {
        let (sender, made) = sync_channel(BATCHES_AHEAD);
        let work = move || drop(sender.send(work(&sender)));
        let thread = thread::Builder::new().name("parquet".to_owned()).stack_size(STACK_BYTES);
        thread.spawn(work).map_err(|error| error.to_string())?;
        Ok(Self { made, wait_left })
    }

    /// The next value.
    ///
    /// # Errors
    /// The message of the work, or a message that it took too long or panicked.
    fn take(&mut self) -> Result<T, String> {
        let start = Instant::now();
        let made = self.made.recv_timeout(self.wait_left).map_err(|error| match error {
            RecvTimeoutError::Timeout => format!(
                "reading was abandoned after {} s of waiting: the file is damaged or malicious",
                DEADLINE.as_secs()
            ),
            RecvTimeoutError::Disconnected => DAMAGED.to_owned(),
        })?;
        let left = self.wait_left.saturating_sub(start.elapsed());
        self.wait_left = DEADLINE.min(left + BATCH_TIME);
        made
    }
}

/// The names of the columns of a file.
pub(crate) fn names(file: &OpenFile) -> Vec<String> {
    let fields = file.reader.metadata().file_metadata().schema().get_fields();
    fields.iter().map(|field| field.name().to_owned()).collect()
}

impl ParquetRecords {
    /// The records, with only the given columns; with all columns if none are given.
    ///
    /// # Errors
    /// The message, when the columns cannot be read.
    pub(crate) fn new(file: OpenFile, columns: Option<Type>) -> Result<Self, String> {
        let work = |made: &SyncSender<_>| {
            let is_read = |name: &str| {
                let columns = columns.as_ref().map(Type::get_fields);
                columns.is_none_or(|columns| columns.iter().any(|column| column.name() == name))
            };
            pages::check(file.reader.metadata(), &file.source, file.bytes, is_read)?;
            send_records(file, columns, made)
        };
        let mut batches = Worker::start(DEADLINE, work)?;
        let batch = batches.take()?.into_iter();
        Ok(Self { batches, batch, is_over: false })
    }

    /// The next record; `None` at the end.
    ///
    /// # Errors
    /// The message, when the file cannot be read further.
    pub(crate) fn next(&mut self) -> JsonRecord {
        while !self.is_over {
            match self.batch.next() {
                Some(record) => {
                    self.is_over = matches!(record, Ok(None));
                    return record;
                }
                None => self.batch = self.batches.take()?.into_iter(),
            }
        }
        Ok(None)
    }
}

impl Parquet {
    pub(super) fn new(file: OpenFile, plan: &mut Plan) -> Result<Self, String> {
        let header = names(&file);
        let spelled = plan.take_headings(&header)?;
        let schema = file.reader.metadata().file_metadata().schema();
        let (mut used, mut present) = (Vec::new(), Vec::new());
        let mut unknown = UnknownColumns::default();
        for field in schema.get_fields() {
            match plan.names().get(field.name()) {
                Some(names) => {
                    names.slots(&mut present);
                    used.push(Arc::clone(field));
                }
                None => unknown.add(field.name()),
            }
        }
        if used.is_empty() {
            return Err(format!(
                "the file has no column of its format, only {}",
                header.join(", ")
            ));
        }
        let projection = Type::group_type_builder(schema.name()).with_fields(used).build();
        let projection = projection.map_err(|error| error.to_string())?;
        let records = ParquetRecords::new(file, Some(projection))?;
        plan.keep(spelled, &present);
        Ok(Self { records, record: 0, objects: Objects::new(plan), unknown })
    }

    pub(super) fn unknown_columns(&self) -> &[String] {
        self.unknown.names()
    }

    pub(super) fn next(&mut self, plan: &Plan, row: &mut Row) -> Result<Next, DumpError> {
        self.record += 1;
        row.line = self.record;
        let failed =
            |what: String| DumpError { line: None, what: format!("record {}: {what}", row.line) };
        let Some(text) = self.records.next().map_err(failed)? else { return Ok(Next::End) };
        row.raw.extend_from_slice(text.as_bytes());
        if let Err(reason) = self.objects.read(plan, &row.raw) {
            return Ok(Next::Rejected(reason));
        }
        Ok(if plan.row(&self.objects.record, row) { Next::Row } else { Next::Skipped })
    }
}

/// Sends the records in batches, and returns the last batch. The first one is empty and confirms
/// that the columns can be read.
fn send_records(
    file: OpenFile,
    columns: Option<Type>,
    made: &SyncSender<Result<JsonBatch, String>>,
) -> Result<JsonBatch, String> {
    let OpenFile { reader, bytes: file_bytes, .. } = file;
    let mut rows = guarded(|| RowIter::from_file_into(reader).project(columns))?;
    let mut unpacked = 0;
    let mut batch = JsonBatch::new();
    while made.send(Ok(mem::take(&mut batch))).is_ok() {
        let mut bytes = 0;
        while bytes < BATCH_BYTES && batch.len() < BATCH_RECORDS {
            let fields = guarded(|| rows.next().transpose());
            let record = fields.and_then(|fields| {
                let Some(fields) = fields else { return Ok(None) };
                // A page stores a repeated value once, for any number of rows.
                unpacked += fields_bytes(&fields);
                match is_plausible(file_bytes, unpacked) {
                    true => text(&fields).map(Some),
                    false => Err("its values take far more than the file".to_owned()),
                }
            });
            let Ok(Some(text)) = &record else {
                batch.push(record);
                return Ok(batch);
            };
            bytes += text.len();
            batch.push(record);
        }
    }
    Ok(batch)
}

fn text(fields: &Fields) -> Result<String, String> {
    let too_long = || format!("longer than {RECORD_BYTES_MAX} bytes");
    // Checked before the values are copied.
    if fields_bytes(fields) > RECORD_BYTES_MAX as u64 {
        return Err(too_long());
    }
    let text = object(fields).to_string();
    if text.len() > RECORD_BYTES_MAX {
        return Err(too_long());
    }
    Ok(text)
}

/// The approximate size of the values of a record.
fn fields_bytes(fields: &Fields) -> u64 {
    fields.get_column_iter().map(|(_, field)| field_bytes(field)).sum()
}

fn field_bytes(field: &Field) -> u64 {
    match field {
        Field::Str(text) => text.len() as u64,
        Field::Bytes(bytes) => bytes.len() as u64,
        Field::Group(fields) => fields_bytes(fields),
        Field::ListInternal(list) => list.elements().iter().map(|one| 1 + field_bytes(one)).sum(),
        Field::MapInternal(map) => {
            let entries = map.entries().iter();
            entries.map(|(key, value)| 1 + field_bytes(key) + field_bytes(value)).sum()
        }
        _ => 1,
    }
}

fn object(fields: &Fields) -> Value {
    let members = fields.get_column_iter().map(|(name, field)| (name.clone(), value(field)));
    Value::Object(members.collect::<Map<_, _>>())
}

fn value(field: &Field) -> Value {
    match field {
        Field::Null => Value::Null,
        Field::Bool(value) => (*value).into(),
        Field::Byte(value) => (*value).into(),
        Field::Short(value) => (*value).into(),
        Field::Int(value) => (*value).into(),
        Field::Long(value) => (*value).into(),
        Field::UByte(value) => (*value).into(),
        Field::UShort(value) => (*value).into(),
        Field::UInt(value) => (*value).into(),
        Field::ULong(value) => (*value).into(),
        Field::Float16(value) => float(value.to_f64()),
        // Converted through its decimal text, so that 0.1 stays 0.1.
        Field::Float(value) => value.to_string().parse().map_or(Value::Null, float),
        Field::Double(value) => float(*value),
        Field::Str(text) => text.clone().into(),
        Field::Bytes(bytes) => String::from_utf8_lossy(bytes.data()).into(),
        Field::Date(days) => date(*days).map_or(Value::Null, Value::from),
        Field::TimestampMillis(millis) => time(millis.checked_mul(1_000)),
        Field::TimestampMicros(micros) => time(Some(*micros)),
        Field::Group(fields) => object(fields),
        Field::ListInternal(list) => list.elements().iter().map(value).collect(),
        Field::Decimal(_) | Field::TimeMillis(_) | Field::TimeMicros(_) | Field::MapInternal(_) => {
            field.to_string().into()
        }
    }
}

fn float(value: f64) -> Value {
    Number::from_f64(value).map_or(Value::Null, Value::Number)
}

fn date(days: i32) -> Option<String> {
    let epoch = jiff::civil::date(1970, 1, 1);
    Some(epoch.checked_add(jiff::Span::new().try_days(days).ok()?).ok()?.to_string())
}

fn time(micros: Option<i64>) -> Value {
    let time = micros.and_then(|micros| jiff::Timestamp::from_microsecond(micros).ok());
    time.map_or(Value::Null, |time| time.to_string().into())
}

#[cfg(test)]
mod tests;
