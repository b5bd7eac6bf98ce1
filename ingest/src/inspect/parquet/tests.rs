//! Files that are written, read again by the library's own reader.

use std::collections::HashSet;

use bytes::Bytes;
use figdex_index::{Attribute, Date, Figi, IdType, Importance, Instrument};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::RowAccessor as _;

use super::rows::GROUP_ROWS;
use super::*;

fn written(
    columns: Vec<ParquetColumn>,
    rows: &[Vec<ParquetCell<'_>>],
    is_sorted: bool,
) -> io::Result<Bytes> {
    let facts = vec![("figdex.test", "yes".to_owned())];
    let mut file = ParquetRows::begin(columns, ParquetOptions { is_sorted, facts })?;
    let mut out = Vec::new();
    for row in rows {
        file.add(row.iter().copied(), &mut out)?;
    }
    file.end(&mut out)?;
    Ok(out.into())
}

/// Each type comes back, with cells that have no value, and the facts of the footer.
#[test]
fn every_type_is_read_as_it_was_written() {
    let kinds = [
        ("text", ParquetKind::Text),
        ("number", ParquetKind::Number),
        ("whole", ParquetKind::Whole),
        ("day", ParquetKind::Date),
        ("flag", ParquetKind::Flag),
    ];
    let columns = kinds.map(|(name, kind)| ParquetColumn::new(name, kind));
    let day = Date::parse("1969-12-31").unwrap();
    let full = vec![
        ParquetCell::Text("Ä;\"\n"),
        ParquetCell::Number(-0.25),
        ParquetCell::Whole(i64::MIN),
        ParquetCell::Date(day),
        ParquetCell::Flag(true),
    ];
    let file = written(columns.into(), &[full, vec![ParquetCell::Absent; 5]], false).unwrap();
    let reader = SerializedFileReader::new(file).unwrap();
    let metadata = reader.metadata().file_metadata();
    let facts = metadata.key_value_metadata().unwrap();
    assert_eq!((&*facts[0].key, facts[0].value.as_deref()), ("figdex.test", Some("yes")));
    let rows: Vec<_> = reader.get_row_iter(None).unwrap().map(Result::unwrap).collect();
    assert_eq!(rows[0].get_string(0).unwrap(), "Ä;\"\n");
    assert_eq!(rows[0].get_double(1).unwrap(), -0.25);
    assert_eq!(rows[0].get_long(2).unwrap(), i64::MIN);
    let shown = rows[0].to_string();
    assert!(shown.contains("1969-12-31") && shown.contains("flag: true"), "{shown}");
    assert_eq!(
        rows[1].to_string(),
        "{text: null, number: null, whole: null, day: null, flag: null}"
    );
}

/// Other cells than the columns are a fault, whichever way they differ.
#[test]
fn cells_are_those_of_the_columns() {
    let begin = || {
        let columns = vec![ParquetColumn::new("day", ParquetKind::Date)];
        ParquetRows::begin(columns, ParquetOptions::default()).unwrap()
    };
    let wrong: [&[ParquetCell<'_>]; 3] =
        [&[], &[ParquetCell::Text("2026-01-02")], &[ParquetCell::Absent, ParquetCell::Absent]];
    for cells in wrong {
        let error = begin().add(cells.iter().copied(), &mut Vec::new()).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput, "{cells:?}");
    }
}

/// contract 22.2: the rows are in small groups in order, each with the least and the largest value,
/// its pages, and a filter of the values by which rows are looked up.
#[test]
fn groups_can_be_left_out() {
    let texts: Vec<_> = (0..GROUP_ROWS + 5).map(|number| format!("{number:08}")).collect();
    // Every row has its own ticker, or six rows have the same one, or all.
    for same in [1, 6, GROUP_ROWS] {
        let columns = vec![
            ParquetColumn::new("figi", ParquetKind::Text),
            ParquetColumn { is_looked_up: true, ..ParquetColumn::new("ticker", ParquetKind::Text) },
            ParquetColumn::new("name", ParquetKind::Text),
            ParquetColumn::new("strike", ParquetKind::Number),
        ];
        let cells = texts.iter().enumerate().map(|(place, text)| {
            let ticker = ParquetCell::Text(&texts[place / same]);
            vec![ParquetCell::Text(text), ticker, ParquetCell::Text("X"), ParquetCell::Number(1.0)]
        });
        let file = written(columns, &cells.collect::<Vec<_>>(), true).unwrap();
        let reader = SerializedFileReader::new(file).unwrap();
        let metadata = reader.metadata();
        assert!(metadata.num_row_groups() >= 2, "{same}");
        let group = metadata.row_group(0);
        let rows = group.num_rows() as usize;
        assert!(rows <= GROUP_ROWS, "{same}: {rows} rows");
        assert!(group.sorting_columns().is_some_and(|columns| columns[0].column_idx == 0));
        let largest = group.column(0).statistics().unwrap().max_bytes_opt().unwrap();
        assert_eq!(largest, texts[rows - 1].as_bytes());
        // Eight bytes at least for each page's place.
        let places = group.column(0).offset_index_length().unwrap() as usize;
        assert!(places >= 8 * rows / 4096, "{places} bytes");
        assert!(group.column(0).column_index_length().is_some());
        assert!(group.column(0).bloom_filter_offset().is_none());
        // A power of two and a header: at most a byte for each value, unless the group has the most
        // rows that a group may have.
        let bytes = group.column(1).bloom_filter_length().unwrap() as usize;
        let values = rows.div_ceil(same);
        assert!(bytes <= values + 64, "{same}: {bytes} bytes for {values} values");
        assert_eq!(rows == GROUP_ROWS, same == GROUP_ROWS, "{same}: {rows} rows");
        assert!(group.column(1).dictionary_page_offset().is_none());
        // Without statistics, DuckDB does not ask the filter. Those of other texts are of no use.
        let statistics = (0..4).map(|column| group.column(column).statistics().is_some());
        assert_eq!(statistics.collect::<Vec<_>>(), [true, true, false, true]);
    }
}

/// A row group ends where a filter is full: when each value is new, when a value is new now and then,
/// and when the first becomes the second.
#[test]
fn filters_are_full() {
    for (few, many) in [(1, 1), (2, 1), (6, 1), (1, 6)] {
        let column =
            ParquetColumn { is_looked_up: true, ..ParquetColumn::new("ticker", ParquetKind::Text) };
        let texts: Vec<_> = (0..4 * GROUP_ROWS)
            .map(|row| row / if row < 2 * GROUP_ROWS { few } else { many })
            .map(|number| format!("{few} {many} {number}"))
            .collect();
        let rows: Vec<_> = texts.iter().map(|text| vec![ParquetCell::Text(text)]).collect();
        let reader =
            SerializedFileReader::new(written(vec![column], &rows, false).unwrap()).unwrap();
        let groups = reader.metadata().row_groups();
        let mut start = 0;
        let (mut bytes, mut values) = (0, 0);
        for group in &groups[..groups.len() - 1] {
            let end = start + group.num_rows() as usize;
            let distinct: HashSet<_> = texts[start..end].iter().collect();
            values += distinct.len();
            bytes += group.column(0).bloom_filter_length().unwrap() as usize;
            start = end;
        }
        assert!(bytes * 10 <= values * 11, "{few} {many}: {bytes} bytes for {values} values");
    }
}

/// The memory is that of a row group: all complete groups are in the output.
#[test]
fn complete_groups_are_written() {
    let columns = vec![ParquetColumn::new("text", ParquetKind::Text)];
    let mut file = ParquetRows::begin(columns, ParquetOptions::default()).unwrap();
    let mut out = Vec::new();
    let mut before = 0;
    // Long texts end a group before its last row.
    let long = "x".repeat(1 << 20);
    for number in 0..200 {
        let text = format!("{number}{long}");
        file.add([ParquetCell::Text(&text)], &mut out).unwrap();
        if number % 64 == 63 {
            assert!(out.len() > before, "{number}");
            before = out.len();
        }
    }
    file.end(&mut out).unwrap();
    assert_eq!(SerializedFileReader::new(Bytes::from(out)).unwrap().metadata().num_row_groups(), 4);
}

/// Every column of an export has a type, and a list is never read as another one.
#[test]
fn instruments_are_rows() {
    let isin = |text| IdType::Isin.admit(text).unwrap();
    let list = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    let plain = Instrument {
        ticker: Some("A;B".into()),
        strike: Some(2.5),
        expiration: Date::parse("2026-03-20").ok(),
        listed: Some(false),
        importance: Importance::new(7.0),
        alias: list(&["a", "b"]),
        identifiers: vec![isin("US4592001014"), isin("US0378331005")],
        ..Instrument::new(Figi::parse("BBG000BLNNH6").unwrap())
    };
    let semicolon = Instrument { alias: list(&["a;b", "c"]), ..plain.clone() };
    let bracket = Instrument { alias: list(&["[\"a\"]"]), ..plain.clone() };
    for (identifiers, has_isin) in [("none", false), ("ID_ISIN", true), ("all", true)] {
        let identifiers: IdentifierColumns = identifiers.parse().unwrap();
        let mut dump = begin(Vec::new(), identifiers.clone(), ParquetOptions::default()).unwrap();
        let mut out = Vec::new();
        for instrument in [&plain, &semicolon, &bracket] {
            dump.add(&[], instrument, &mut out).unwrap();
        }
        dump.end(&mut out).unwrap();
        let reader = SerializedFileReader::new(Bytes::from(out)).unwrap();
        let rows: Vec<_> = reader.get_row_iter(None).unwrap().map(Result::unwrap).collect();
        let shown = rows[0].to_string();
        for part in [
            "figi: \"BBG000BLNNH6\"",
            "ticker: \"A;B\"",
            "strike: 2.5",
            "expiration: 2026-03-20",
            "listed: false",
            "importance: 7",
            "alias: \"a;b\"",
        ] {
            assert!(shown.contains(part), "{part}: {shown}");
        }
        assert_eq!(
            shown.contains("ID_ISIN: \"US0378331005;US4592001014\"")
                || shown.contains("ID_ISIN: \"US4592001014;US0378331005\""),
            has_isin,
            "{shown}"
        );
        assert_eq!(shown.contains("ID_CUSIP"), identifiers == IdentifierColumns::all());
        assert!(rows[1].to_string().contains("alias: \"[\"a;b\",\"c\"]\""), "{}", rows[1]);
        assert!(rows[2].to_string().contains(r#"alias: "["[\"a\"]"]""#), "{}", rows[2]);
    }
    assert_eq!(Attribute::Ticker.name(), "ticker");
}

#[test]
fn named_identifiers() {
    let error = "ID_ISIN,ISIN".parse::<IdentifierColumns>().unwrap_err();
    assert!(error.starts_with("\"ISIN\" is not an idType with a column; expected none"), "{error}");
    let [one, other] =
        ["ID_CUSIP,ID_ISIN", "ID_ISIN,ID_CUSIP"].map(str::parse::<IdentifierColumns>);
    assert_eq!(one, other, "the order is that of an export");
    assert_eq!("none".parse(), Ok(IdentifierColumns::default()));
}
