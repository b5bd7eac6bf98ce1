use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int32Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use proptest::prelude::*;

use super::*;
use crate::format::Format;
use crate::source::{DumpReader, RecordReader};

const SCHEMA: &str = "message master {
    required binary FIGI (UTF8);
    optional double Coupon;
    optional int32 Due (DATE);
    required binary Note (UTF8);
}";

/// Three rows in two row groups; the second has neither coupon nor date.
fn file(compression: Compression) -> Vec<u8> {
    let properties = WriterProperties::builder().set_compression(compression).build();
    let schema = Arc::new(parse_message_type(SCHEMA).unwrap());
    let mut bytes = Vec::new();
    let mut file = SerializedFileWriter::new(&mut bytes, schema, Arc::new(properties)).unwrap();
    for figis in [&["BBG000BLNNH6", ""][..], &["BBG000C2V3D6"]] {
        let mut group = file.next_row_group().unwrap();
        let texts = |texts: Vec<&str>| texts.into_iter().map(ByteArray::from).collect::<Vec<_>>();
        let levels = [1, 0];
        let levels = &levels[..figis.len()];
        let mut column = group.next_column().unwrap().unwrap();
        let written = column.typed::<ByteArrayType>();
        written.write_batch(&texts(figis.to_vec()), None, None).unwrap();
        column.close().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<DoubleType>().write_batch(&[4.625], Some(levels), None).unwrap();
        column.close().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<Int32Type>().write_batch(&[23_155], Some(levels), None).unwrap();
        column.close().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        let notes = texts(vec!["not read"; figis.len()]);
        column.typed::<ByteArrayType>().write_batch(&notes, None, None).unwrap();
        column.close().unwrap();
        group.close().unwrap();
    }
    file.close().unwrap();
    bytes
}

fn format() -> Format {
    let text = "skip = [{ FIGI = '' }]\n\
                [columns]\nfigi = 'FIGI'\ncoupon = 'Coupon'\nmaturity = 'Due'\nname = 'Name'\n";
    Format::parse("master", text).unwrap()
}

fn read(bytes: &[u8]) -> crate::error::Result<Vec<String>> {
    let mut source = DumpReader::open(&Input::Memory("dump", bytes.into()), Some(&format()))?;
    assert_eq!(source.unknown_columns(), ["Note"]);
    assert_eq!(source.absent_columns(), ["Name"]);
    let mut row = Row::default();
    let mut read = Vec::new();
    loop {
        read.push(match source.next(&mut row)? {
            Next::Row => {
                let cells = row.cells().map(|cell| cell.value.to_owned());
                cells.collect::<Vec<_>>().join(" ")
            }
            Next::Skipped => {
                format!("{} skipped: {}", row.line, String::from_utf8_lossy(&row.raw))
            }
            Next::Rejected(reason) => reason.to_string(),
            Next::End => {
                assert_eq!(source.meter().bytes(), bytes.len() as u64);
                return Ok(read);
            }
        });
    }
}

#[test]
fn rows_go_through_the_same_description() {
    for compression in [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(Default::default()),
        Compression::ZSTD(Default::default()),
        Compression::LZ4_RAW,
    ] {
        let expected = [
            "BBG000BLNNH6 4.625 2033-05-25",
            "2 skipped: {\"Coupon\":null,\"Due\":null,\"FIGI\":\"\"}",
            "BBG000C2V3D6 4.625 2033-05-25",
        ];
        assert_eq!(read(&file(compression)).unwrap(), expected, "{compression:?}");
    }
}

#[test]
fn what_is_no_whole_file_is_told() {
    let bytes = file(Compression::SNAPPY);
    let error = read(&bytes[..bytes.len() - 9]).unwrap_err().to_string();
    assert!(error.starts_with("dump: it is no whole Parquet file: "), "{error}");
    let input = Input::Memory("dump", bytes.into());
    let csv = "kaiko".parse().unwrap();
    let error = DumpReader::open(&input, Some(&csv)).err().unwrap().to_string();
    assert_eq!(error, "dump: it has no column of its format, but FIGI, Coupon, Due, Note");
}

/// Rows that are all alike take no bytes, whatever their number.
#[test]
fn more_rows_than_bytes_can_hold() {
    let schema = parse_message_type("message master { optional binary FIGI (UTF8); }").unwrap();
    let file = |rows: usize| {
        let mut bytes = Vec::new();
        let properties = Arc::new(WriterProperties::builder().build());
        let mut file =
            SerializedFileWriter::new(&mut bytes, Arc::new(schema.clone()), properties).unwrap();
        let mut group = file.next_row_group().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<ByteArrayType>().write_batch(&[], Some(&vec![0; rows]), None).unwrap();
        column.close().unwrap();
        group.close().unwrap();
        file.close().unwrap();
        bytes
    };
    let open = |rows| {
        let input = Input::Memory("dump", file(rows).into());
        DumpReader::open(&input, Some(&format())).err().map(|error| error.to_string())
    };
    assert_eq!(open(65_536), None);
    let told = open(65_537).unwrap();
    assert!(told.contains("it tells of 65537 rows in "), "{told}");
}

/// Unknown fields, each a list of 2^31 - 1 booleans. The library skips them one by one, half a
/// minute and more for all.
const LISTS: [[u8; 7]; 8] = [[0xf9, 0xf1, 0xff, 0xff, 0xff, 0xff, 0x07]; 8];

/// A text that takes as many bytes in a page's statistics.
const LISTS_LONG: &str = "a text of as many bytes as the lists, less two for it.";

/// A file of one column, whose pages have statistics.
fn column(figis: &[&str]) -> Vec<u8> {
    let properties = WriterProperties::builder().set_write_page_header_statistics(true).build();
    let schema = parse_message_type("message master { required binary FIGI (UTF8); }").unwrap();
    let mut bytes = Vec::new();
    let mut file =
        SerializedFileWriter::new(&mut bytes, Arc::new(schema), Arc::new(properties)).unwrap();
    let mut group = file.next_row_group().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    let figis = figis.iter().copied().map(ByteArray::from).collect::<Vec<_>>();
    column.typed::<ByteArrayType>().write_batch(&figis, None, None).unwrap();
    column.close().unwrap();
    group.close().unwrap();
    file.close().unwrap();
    bytes
}

#[test]
fn a_footer_that_holds_up_the_library_is_left() {
    let mut bytes = file(Compression::SNAPPY);
    // It ends with a stop, its length and the magic word.
    let end = bytes.len() - 9;
    let length = bytes[end + 1..].first_chunk().copied().map(u32::from_le_bytes).unwrap();
    let lists = LISTS.concat();
    bytes[end + 1..end + 5].copy_from_slice(&(length + lists.len() as u32).to_le_bytes());
    bytes.splice(end..end, lists);
    let input = Input::Memory("dump", bytes.into());
    let start = Instant::now();
    let opened = open_within(Duration::from_millis(100), &input, input.open().unwrap());
    let told = opened.err().unwrap();
    assert!(told.starts_with("it has held up its reader for more than "), "{told}");
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
}

#[test]
fn a_page_that_holds_up_the_library_is_left() {
    let mut bytes = column(&[LISTS_LONG]);
    // The field's head and the text's length, in one byte each, are before it.
    let text = [&[LISTS_LONG.len() as u8], LISTS_LONG.as_bytes()].concat();
    let field = bytes.windows(text.len()).position(|bytes| bytes == text).unwrap() - 1;
    let lists = LISTS.concat();
    bytes[field..field + lists.len()].copy_from_slice(&lists);
    let mut source =
        DumpReader::open(&Input::Memory("dump", bytes.into()), Some(&format())).unwrap();
    let RecordReader::Parquet(reader) = &mut source.reader else { panic!("it is a Parquet file") };
    reader.batches.patience = Duration::from_millis(100);
    let start = Instant::now();
    let told = source.next(&mut Row::default()).err().unwrap().to_string();
    assert!(told.starts_with("dump: record 1: it has held up its reader for more than "), "{told}");
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
}

/// Waiting is paid back by what comes, little by little, and never beyond the deadline.
#[test]
fn waits_are_bounded_in_sum() {
    let mut numbers = Worker::start(DEADLINE, |made| {
        thread::sleep(BATCH_TIME * 3);
        drop((1..=2).try_for_each(|number| made.send(Ok(number))));
        Ok(3)
    })
    .unwrap();
    numbers.take().unwrap();
    assert!(numbers.patience <= DEADLINE - BATCH_TIME * 2, "{:?}", numbers.patience);
    numbers.take().unwrap();
    numbers.take().unwrap();
    assert!(numbers.patience <= DEADLINE);
}

#[test]
fn who_reads_no_further_ends_the_thread() {
    let bytes: Arc<[u8]> = column(&["BBG000BLNNH6"; 8 * BATCH_RECORDS]).into();
    let input = Input::Memory("dump", Arc::clone(&bytes));
    let mut source = DumpReader::open(&input, Some(&format())).unwrap();
    drop(input);
    assert!(matches!(source.next(&mut Row::default()), Ok(Next::Row)));
    assert!(Arc::strong_count(&bytes) > 1, "the thread has the file");
    drop(source);
    let start = Instant::now();
    while Arc::strong_count(&bytes) > 1 {
        assert!(start.elapsed() < Duration::from_secs(10), "the thread still has the file");
        thread::sleep(Duration::from_millis(1));
    }
}

/// Batches are no limit of the records, and their numbers go on from one to the next.
#[test]
fn many_batches_are_one_dump() {
    let figis = vec!["BBG000BLNNH6"; 2 * BATCH_RECORDS + 1];
    let input = Input::Memory("dump", column(&figis).into());
    let mut source = DumpReader::open(&input, Some(&format())).unwrap();
    let mut row = Row::default();
    for line in 1..=figis.len() as u64 {
        assert!(matches!(source.next(&mut row), Ok(Next::Row)));
        assert_eq!(row.line, line);
    }
    assert!(matches!(source.next(&mut row), Ok(Next::End)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// A damaged file is read or refused.
    #[test]
    fn any_damage_is_survived(at in any::<proptest::sample::Index>(), byte in any::<u8>()) {
        let mut bytes = file(Compression::SNAPPY);
        let at = at.index(bytes.len());
        bytes[at] = byte;
        let input = Input::Memory("dump", bytes.into());
        if let Ok(mut source) = DumpReader::open(&input, Some(&format())) {
            let mut row = Row::default();
            while let Ok(Next::Row | Next::Skipped | Next::Rejected(_)) = source.next(&mut row) {}
        }
    }
}
