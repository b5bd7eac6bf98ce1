use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int32Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use proptest::prelude::*;

use super::*;
use crate::format::Format;
use crate::source::DumpReader;

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
fn rows_are_read_with_every_compression() {
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
fn a_damaged_file_and_one_of_another_format_are_refused() {
    let bytes = file(Compression::SNAPPY);
    let error = read(&bytes[..bytes.len() - 9]).unwrap_err().to_string();
    assert!(error.starts_with("dump: the Parquet file is incomplete or damaged: "), "{error}");
    let input = Input::Memory("dump", bytes.into());
    let csv = "kaiko".parse().unwrap();
    let error = DumpReader::open(&input, Some(&csv)).err().unwrap().to_string();
    assert_eq!(error, "dump: the file has no column of its format, only FIGI, Coupon, Due, Note");
}

/// Identical rows take no bytes, whatever their number.
#[test]
fn a_file_with_implausibly_many_rows_is_refused() {
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
    let message = open(65_537).unwrap();
    assert!(message.contains("implausible Parquet metadata: 65537 rows in "), "{message}");
}

/// Unknown fields, each a list of 2^31 - 1 booleans. The library skips the booleans one by one,
/// which takes more than half a minute.
const LISTS: [[u8; 7]; 8] = [[0xf9, 0xf1, 0xff, 0xff, 0xff, 0xff, 0x07]; 8];

/// A text that takes as many bytes in the statistics of a page.
const LISTS_LONG: &str = "a text of as many bytes as the lists, less two for it.";

/// A file of one column, whose pages have statistics.
fn column(figis: &[&str]) -> Vec<u8> {
    packed_column(figis, Compression::UNCOMPRESSED)
}

fn packed_column(figis: &[&str], compression: Compression) -> Vec<u8> {
    let properties = WriterProperties::builder().set_write_page_header_statistics(true);
    let properties = properties.set_compression(compression).build();
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
fn a_footer_that_keeps_the_library_busy_is_abandoned() {
    let mut bytes = file(Compression::SNAPPY);
    // The footer ends with a stop byte, its length and the magic word.
    let end = bytes.len() - 9;
    let length = bytes[end + 1..].first_chunk().copied().map(u32::from_le_bytes).unwrap();
    let lists = LISTS.concat();
    bytes[end + 1..end + 5].copy_from_slice(&(length + lists.len() as u32).to_le_bytes());
    bytes.splice(end..end, lists);
    let input = Input::Memory("dump", bytes.into());
    let start = Instant::now();
    let opened = open_within(Duration::from_millis(100), &input, input.open().unwrap());
    let message = opened.err().unwrap();
    assert!(message.starts_with("reading was abandoned after "), "{message}");
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
}

/// A header of a page has no lists, which would keep the library busy.
#[test]
fn a_page_with_an_unusual_header_is_refused() {
    let mut bytes = column(&[LISTS_LONG]);
    // Before the text are the head of the field and the length of the text, one byte each.
    let text = [&[LISTS_LONG.len() as u8], LISTS_LONG.as_bytes()].concat();
    let field = bytes.windows(text.len()).position(|bytes| bytes == text).unwrap() - 1;
    let lists = LISTS.concat();
    bytes[field..field + lists.len()].copy_from_slice(&lists);
    let opened = DumpReader::open(&Input::Memory("dump", bytes.into()), Some(&format()));
    let message = opened.err().unwrap().to_string();
    assert_eq!(message, "dump: the column FIGI: its pages are damaged");
}

/// A file with a name of 40 MB, however small it packs, is refused before the name is read; one
/// with smaller names, by the size of its columns.
#[test]
fn pages_that_unpack_to_far_more_than_the_file_are_refused() {
    for compression in
        [Compression::ZSTD(Default::default()), Compression::GZIP(Default::default())]
    {
        let open = |name_bytes: usize, names: usize| {
            let names = (0..names).map(|number| number.to_string() + &"n".repeat(name_bytes - 1));
            let names: Vec<String> = names.collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let bytes = packed_column(&names, compression);
            assert!(bytes.len() < 64 << 10, "{}", bytes.len());
            let input = Input::Memory("dump", bytes.into());
            DumpReader::open(&input, Some(&format())).err().map(|error| error.to_string())
        };
        let message = open(40 << 20, 1).unwrap();
        assert!(
            message.contains("the column FIGI: a page has 41943044 bytes, more than"),
            "{message}"
        );
        let message = open(1 << 20, 31).unwrap();
        assert!(message.contains("which is implausible for a file of "), "{message}");
        assert_eq!(open(1 << 20, 1), None);
    }
}

/// A text of the dictionary is stored once, and each of its rows has it.
#[test]
fn values_that_far_exceed_the_file_are_refused() {
    let name = "n".repeat(512 << 10);
    let bytes = packed_column(&[name.as_str(); 128], Compression::ZSTD(Default::default()));
    assert!(bytes.len() < 64 << 10);
    let input = Input::Memory("dump", bytes.into());
    let records = ParquetRecords::new(open(&input, input.open().unwrap()).unwrap(), None);
    let mut records = records.unwrap();
    let message = loop {
        match records.next() {
            Ok(Some(_)) => {}
            Ok(None) => panic!("all 64 MB were read"),
            Err(message) => break message,
        }
    };
    assert_eq!(message, "its values take far more than the file");
}

/// Each value adds a little to the remaining wait, never beyond the deadline.
#[test]
fn waits_are_bounded_in_sum() {
    let mut numbers = Worker::start(DEADLINE, |made| {
        thread::sleep(BATCH_TIME * 3);
        drop((1..=2).try_for_each(|number| made.send(Ok(number))));
        Ok(3)
    })
    .unwrap();
    numbers.take().unwrap();
    assert!(numbers.wait_left <= DEADLINE - BATCH_TIME * 2, "{:?}", numbers.wait_left);
    numbers.take().unwrap();
    numbers.take().unwrap();
    assert!(numbers.wait_left <= DEADLINE);
}

#[test]
fn dropping_the_reader_ends_the_thread() {
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

/// Records are numbered across batches.
#[test]
fn records_of_many_batches_are_read_in_order() {
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

    /// A damaged file is read or refused without a panic.
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
