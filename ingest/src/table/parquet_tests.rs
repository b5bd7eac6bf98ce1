//! Parquet files as tables.

use std::sync::Arc;

use parquet::data_type::{ByteArray, ByteArrayType, DoubleType};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use super::*;

const SCHEMA: &str = "message holdings {
    required binary isin (UTF8);
    optional double weight;
}";

/// Two rows; the second has no weight.
fn file() -> Vec<u8> {
    let schema = Arc::new(parse_message_type(SCHEMA).unwrap());
    let properties = Arc::new(WriterProperties::new());
    let mut bytes = Vec::new();
    let mut file = SerializedFileWriter::new(&mut bytes, schema, properties).unwrap();
    let mut group = file.next_row_group().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    let isins = ["US0846701086", "US0378331005"].map(ByteArray::from);
    column.typed::<ByteArrayType>().write_batch(&isins, None, None).unwrap();
    column.close().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<DoubleType>().write_batch(&[0.25], Some(&[1, 0]), None).unwrap();
    column.close().unwrap();
    group.close().unwrap();
    file.close().unwrap();
    bytes
}

#[test]
fn rows_of_parquet_files_are_objects() {
    let mut table =
        Table::open(&Input::Memory("memory", file().into()), None, Heading::Found).unwrap();
    assert_eq!(table.container(), Container::Parquet);
    assert_eq!(table.columns(), ["isin", "weight"]);
    assert_eq!(table.heading().rows(), 0);
    let mut batch = Batch::default();
    assert!(table.read(&mut batch).unwrap());
    let cells = |row: usize| [0, 1].map(|column| batch.row(row).cell(column));
    assert_eq!(cells(0), [RawCell::Text(b"US0846701086"), RawCell::Number(b"0.25")]);
    assert_eq!(cells(1), [RawCell::Text(b"US0378331005"), RawCell::Absent]);
    let json = br#"{"isin":"US0846701086","weight":0.25}"#;
    assert_eq!(batch.row(0).content(), json);
    assert!(!table.read(&mut batch).unwrap());
    let mut cut = file();
    cut.truncate(20);
    assert!(Table::open(&Input::Memory("memory", cut.into()), None, Heading::Found).is_err());
}
