//! Parquet files. Columns that nobody asks for are not read; a row group is read
//! page by page. A record becomes a JSON object, which is also how a rejected one
//! is kept, and goes the way of any other.

use std::fs::File;
use std::io::{self, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::reader::RowIter;
use parquet::record::{Field, Row as Fields};
use parquet::schema::types::Type;
use serde_json::{Map, Number, Value};

use super::json::Objects;
use super::plan::Plan;
use super::{Fault, Input, Next, RECORD_BYTES_MAX};
use crate::row::Row;

/// Rows that a file may have for each of its bytes. Rows that are all alike take next to no
/// bytes, so that a file of some hundred may tell of billions; in a dump each has an
/// identifier of its own, which takes more than a bit.
const ROWS_PER_BYTE_MAX: u64 = 8;

/// Rows that any file may have.
const ROWS_MIN: u64 = 1 << 16;

pub(super) struct Parquet {
    rows: RowIter<'static>,
    record: u64,
    objects: Objects,
    unknown: Vec<String>,
}

/// Opens the file whose bytes are `content`, which is read to its end first, so
/// that it is measured.
pub(super) fn open(
    input: &Input,
    mut content: Box<dyn Read + Send>,
) -> Result<Box<dyn FileReader>, String> {
    let fault = |error: io::Error| error.to_string();
    let bytes = io::copy(&mut content, &mut io::sink()).map_err(fault)?;
    let told = |error: String| format!("it is no whole Parquet file: {error}");
    let file: Box<dyn FileReader> = match input {
        Input::File(path) => {
            let mut magic = [0; 4];
            let mut file = File::open(path).map_err(fault)?;
            if file.read_exact(&mut magic).is_err() || magic != *b"PAR1" {
                return Err("a Parquet file must not be compressed as a whole".into());
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

/// The reader's answer. It asserts where a damaged file says what cannot be; that
/// must be a fault of the file, not the end of the program.
fn guarded<T>(read: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, String> {
    match catch_unwind(AssertUnwindSafe(read)) {
        Ok(read) => read.map_err(|error| error.to_string()),
        Err(_) => Err("its bytes are damaged".into()),
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
        let rows = guarded(|| RowIter::from_file_into(file).project(Some(projection)))?;
        plan.keep(header, &present);
        Ok(Self { rows, record: 0, objects: Objects::new(plan), unknown })
    }

    pub(super) fn unknown_columns(&self) -> &[String] {
        &self.unknown
    }

    pub(super) fn next(&mut self, plan: &Plan, row: &mut Row) -> Result<Next, Fault> {
        self.record += 1;
        row.line = self.record;
        let fault =
            |what: String| Fault { line: None, what: format!("record {}: {what}", row.line) };
        let rows = &mut self.rows;
        let Some(fields) = guarded(|| rows.next().transpose()).map_err(&fault)? else {
            return Ok(Next::End);
        };
        let text = object(&fields).to_string();
        if text.len() > RECORD_BYTES_MAX {
            return Err(fault(format!("it is longer than {RECORD_BYTES_MAX} bytes")));
        }
        row.raw.extend_from_slice(text.as_bytes());
        if let Err(reason) = self.objects.take(plan, &row.raw) {
            return Ok(Next::Rejected(reason));
        }
        Ok(if plan.row(&self.objects.record, row) { Next::Row } else { Next::Skipped })
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
