//! Parquet files. Columns that nobody asks for are not read; a row group is read
//! page by page. A record becomes a JSON object, which is also how a rejected one
//! is kept, and goes the way of any other.
//!
//! The library works on a thread of its own. A few bytes can hold it up for hours (it
//! counts through a list of two billion booleans that takes no bytes), and it cannot be
//! interrupted: who reads waits for it so long and no longer, and leaves it behind.

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

use super::json::Objects;
use super::next::{DumpError, Next};
use super::{Input, RECORD_BYTES_MAX};
use crate::format::plan::Plan;
use crate::row::Row;

/// Rows that a file may have for each of its bytes. Rows that are all alike take next to no
/// bytes, so that a file of some hundred may tell of billions; in a dump each has an
/// identifier of its own, which takes more than a bit.
const ROWS_PER_BYTE_MAX: u64 = 8;

/// Rows that any file may have.
const ROWS_MIN: u64 = 1 << 16;

/// How long the library may keep its reader waiting. A whole file of 300,000 rows and twenty
/// columns takes five seconds on a busy machine.
const DEADLINE: Duration = Duration::from_secs(60);

/// What each batch adds to a wait that is left, up to the deadline again, so that the waits
/// of a file are bounded also in sum. It is some ten times what a batch takes.
const BATCH_TIME: Duration = Duration::from_millis(100);

/// A batch ends at the record that reaches one of these: many records for each time that it
/// is handed over, and little to hold.
const BATCH_BYTES: usize = 256 << 10;
const BATCH_RECORDS: usize = 1024;

/// Batches that are made before they are asked for.
const BATCHES_AHEAD: usize = 2;

/// What a program's first thread mostly has. The library goes into nested columns by recursion.
const STACK_BYTES: usize = 8 << 20;

/// A record as JSON; none is the end.
type Record = Result<Option<String>, String>;
type Batch = Vec<Record>;

pub(super) struct Parquet {
    batches: Worker<Batch>,
    batch: vec::IntoIter<Record>,
    record: u64,
    objects: Objects,
    unknown: Vec<String>,
}

/// Opens the file whose bytes are `content`, which is read to its end first, so
/// that it is measured.
pub(super) fn open(
    input: &Input,
    content: Box<dyn Read + Send>,
) -> Result<Box<dyn FileReader>, String> {
    open_within(DEADLINE, input, content)
}

fn open_within(
    deadline: Duration,
    input: &Input,
    mut content: Box<dyn Read + Send>,
) -> Result<Box<dyn FileReader>, String> {
    let bytes = io::copy(&mut content, &mut io::sink()).map_err(|error| error.to_string())?;
    let input = input.clone();
    Worker::start(deadline, move |_| opened(&input, bytes))?.take()
}

fn opened(input: &Input, bytes: u64) -> Result<Box<dyn FileReader>, String> {
    let fault = |error: io::Error| error.to_string();
    let told = |error: String| format!("it is no whole Parquet file: {error}");
    let file: Box<dyn FileReader> = match input {
        Input::File(path) => {
            let mut magic = [0; 4];
            let mut file = File::open(path).map_err(fault)?;
            match file.read_exact(&mut magic) {
                Ok(()) if magic == *b"PAR1" => {}
                Err(error) if error.kind() != io::ErrorKind::UnexpectedEof => {
                    return Err(fault(error));
                }
                _ => return Err("a Parquet file must not be compressed as a whole".into()),
            }
            Box::new(guarded(|| SerializedFileReader::new(file)).map_err(told)?)
        }
        Input::Memory(_, bytes) => {
            let bytes = bytes::Bytes::from_owner(bytes.clone());
            Box::new(guarded(|| SerializedFileReader::new(bytes)).map_err(told)?)
        }
        Input::Stdin => return Err("a Parquet file cannot come through standard input".into()),
    };
    let groups = file.metadata().row_groups().iter();
    let rows = groups
        .fold(0_u64, |rows, group| rows.saturating_add(group.num_rows().max(0).unsigned_abs()));
    if rows > bytes.saturating_mul(ROWS_PER_BYTE_MAX).max(ROWS_MIN) {
        return Err(format!("it tells of {rows} rows in {bytes} bytes, as no dump does"));
    }
    Ok(file)
}

const DAMAGED: &str = "its bytes are damaged";

/// The reader's answer. It asserts where a damaged file says what cannot be; that
/// must be a fault of the file, not the end of the program.
fn guarded<T>(read: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, String> {
    match catch_unwind(AssertUnwindSafe(read)) {
        Ok(read) => read.map_err(|error| error.to_string()),
        Err(_) => Err(DAMAGED.to_owned()),
    }
}

/// A thread, and how long one still waits for what it makes. It ends with its work, or when
/// it sends what nobody takes any more.
struct Worker<T> {
    made: Receiver<Result<T, String>>,
    patience: Duration,
}

impl<T: Send + 'static> Worker<T> {
    /// Starts `work`, which may send what it makes, and whose result is sent last.
    fn start(
        patience: Duration,
        work: impl FnOnce(&SyncSender<Result<T, String>>) -> Result<T, String> + Send + 'static,
    ) -> Result<Self, String> {
        let (sender, made) = sync_channel(BATCHES_AHEAD);
        let work = move || drop(sender.send(work(&sender)));
        let thread = thread::Builder::new().name("parquet".to_owned()).stack_size(STACK_BYTES);
        thread.spawn(work).map_err(|error| error.to_string())?;
        Ok(Self { made, patience })
    }

    /// What it makes next.
    fn take(&mut self) -> Result<T, String> {
        let start = Instant::now();
        let made = self.made.recv_timeout(self.patience).map_err(|error| match error {
            RecvTimeoutError::Timeout => format!(
                "it has held up its reader for more than {} s: it is damaged, or made to do so",
                DEADLINE.as_secs()
            ),
            RecvTimeoutError::Disconnected => DAMAGED.to_owned(),
        })?;
        let left = self.patience.saturating_sub(start.elapsed());
        self.patience = DEADLINE.min(left + BATCH_TIME);
        made
    }
}

/// The names of its columns.
pub(super) fn names(file: &dyn FileReader) -> Vec<String> {
    let fields = file.metadata().file_metadata().schema().get_fields();
    fields.iter().map(|field| field.name().to_owned()).collect()
}

impl Parquet {
    pub(super) fn new(file: Box<dyn FileReader>, plan: &mut Plan) -> Result<Self, String> {
        let header = names(file.as_ref());
        let schema = file.metadata().file_metadata().schema();
        let (mut asked, mut unknown, mut present) = (Vec::new(), Vec::new(), Vec::new());
        for field in schema.get_fields() {
            match plan.names().get(field.name()) {
                Some(names) => {
                    names.slots(&mut present);
                    asked.push(Arc::clone(field));
                }
                None => unknown.push(field.name().to_owned()),
            }
        }
        if asked.is_empty() {
            return Err(format!("it has no column of its format, but {}", header.join(", ")));
        }
        let told = |error: ParquetError| error.to_string();
        let projection = Type::group_type_builder(schema.name()).with_fields(asked).build();
        let projection = projection.map_err(told)?;
        let mut batches = Worker::start(DEADLINE, |made| send_records(file, projection, made))?;
        let batch = batches.take()?.into_iter();
        plan.keep(header, &present);
        Ok(Self { batches, batch, record: 0, objects: Objects::new(plan), unknown })
    }

    pub(super) fn unknown_columns(&self) -> &[String] {
        &self.unknown
    }

    pub(super) fn next(&mut self, plan: &Plan, row: &mut Row) -> Result<Next, DumpError> {
        self.record += 1;
        row.line = self.record;
        let fault =
            |what: String| DumpError { line: None, what: format!("record {}: {what}", row.line) };
        let record = loop {
            match self.batch.next() {
                Some(record) => break record,
                None => self.batch = self.batches.take().map_err(&fault)?.into_iter(),
            }
        };
        let Some(text) = record.map_err(&fault)? else { return Ok(Next::End) };
        row.raw.extend_from_slice(text.as_bytes());
        if let Err(reason) = self.objects.take(plan, &row.raw) {
            return Ok(Next::Rejected(reason));
        }
        Ok(if plan.row(&self.objects.record, row) { Next::Row } else { Next::Skipped })
    }
}

/// Sends the records in batches, and returns the last one. The first is empty: it says that
/// the columns can be read.
fn send_records(
    file: Box<dyn FileReader>,
    columns: Type,
    made: &SyncSender<Result<Batch, String>>,
) -> Result<Batch, String> {
    let mut rows = guarded(|| RowIter::from_file_into(file).project(Some(columns)))?;
    let mut batch = Batch::new();
    while made.send(Ok(mem::take(&mut batch))).is_ok() {
        let mut bytes = 0;
        while bytes < BATCH_BYTES && batch.len() < BATCH_RECORDS {
            let fields = guarded(|| rows.next().transpose());
            let record = fields.and_then(|fields| fields.as_ref().map(text).transpose());
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
    let text = object(fields).to_string();
    if text.len() > RECORD_BYTES_MAX {
        return Err(format!("it is longer than {RECORD_BYTES_MAX} bytes"));
    }
    Ok(text)
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
        // Through its decimal text, so that 0.1 stays 0.1.
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
