//! Tables of any bytes: the rows together are the table.

use proptest::prelude::*;

use super::*;

fn table(name: &'static str, content: &[u8]) -> Result<Table> {
    Table::open(&Input::Memory(name, content.into()), None, Heading::Found)
}

/// The heading and all rows, each with its cells and its line end.
fn rows(content: &[u8]) -> Vec<(Vec<String>, Vec<u8>)> {
    let mut table = table("memory", content).unwrap();
    let mut batch = table.heading().clone();
    let mut rows = Vec::new();
    loop {
        for place in 0..batch.rows() {
            let row = batch.row(place);
            let cells = (0..row.cells()).map(|column| match row.cell(column) {
                RawCell::Text(text) | RawCell::Number(text) => {
                    String::from_utf8_lossy(text).into_owned()
                }
                cell => format!("{cell:?}"),
            });
            rows.push((cells.collect(), row.line_end().to_vec()));
        }
        if !table.read(&mut batch).unwrap() {
            return rows;
        }
    }
}

#[test]
fn blank_lines_are_rows_but_at_the_ends() {
    let found = rows(b"\n\r\na,b\r\n1,\"x\r\ny\"\r\n\r\n\n2\r3,4,5\n\n\n");
    let cells: Vec<Vec<&str>> =
        found.iter().map(|(cells, _)| cells.iter().map(|cell| &**cell).collect()).collect();
    assert_eq!(
        cells,
        [vec!["a", "b"], vec!["1", "x\r\ny"], vec![], vec![], vec!["2"], vec!["3", "4", "5"]]
    );
    let ends: Vec<&[u8]> = found.iter().map(|(_, end)| &**end).collect();
    assert_eq!(ends, [&b"\r\n"[..], b"\r\n", b"\r\n", b"\n", b"\r", b"\n"]);
}

#[test]
fn delimiters_and_encodings_are_recognised() {
    for (content, delimiter, encoding) in [
        (&b"a;b,c;d\n"[..], b';', None),
        (b"\"a,,,b\"\td\n", b'\t', None),
        (b"a|b\n", b'|', None),
        (b"a\n", b',', None),
        (b"\xef\xbb\xbfa,b\n", b',', None),
        (b"\xff\xfea\0;\0\xfc\0\n\0", b';', Some("UTF-16LE")),
        (b"\xfe\xff\0a\0;\0b", b';', Some("UTF-16BE")),
        (b"a;\xfc\n", b';', Some("windows-1252")),
    ] {
        let table = table("memory", content).unwrap();
        assert_eq!(table.container(), Container::Delimited { delimiter }, "{content:?}");
        assert_eq!(table.converted_from(), encoding);
        assert_eq!(table.columns()[0].bytes().next(), Some(b'a'), "{:?}", table.columns());
    }
    let error = table("memory", b"\xff\xfea\0\0\xd8").err().unwrap().to_string();
    assert!(error.contains("the text is not valid UTF-16LE"), "{error}");
    let error = table("memory", b" [1]").err().unwrap().to_string();
    assert!(error.contains("this is a JSON array: give JSON lines"), "{error}");
}

#[test]
fn members_of_objects_are_cells() {
    let lines = b"{\"a\":\"x\",\"b\":1.50}\n\n{\"b\":null,\"c\":[1],\"a\":\"\\u00e9\"}";
    let mut table = table("memory", lines).unwrap();
    let mut batch = Batch::default();
    assert!(table.read(&mut batch).unwrap());
    assert_eq!(table.columns(), ["a", "b", "c"]);
    let cells = |row: usize| [0, 1, 2].map(|column| batch.row(row).cell(column));
    assert_eq!(cells(0), [RawCell::Text(b"x"), RawCell::Number(b"1.50"), RawCell::Absent]);
    assert_eq!(cells(1), [RawCell::Text("é".as_bytes()), RawCell::Absent, RawCell::Nested]);
    assert_eq!(batch.row(1).line(), 3);
    for (line, what) in [
        (&b"{\"a\":1}\n{\"a\":}\n"[..], "memory, line 2: the line is not a JSON object: "),
        (b"{} {}\n", "memory, line 1: the line is not a JSON object: trailing characters"),
        (b"{}\n\n7", "memory, line 3: the line is not a JSON object: invalid type: integer `7`"),
    ] {
        let mut table =
            Table::open(&Input::Memory("memory", line.into()), None, Heading::Found).unwrap();
        let error = table.read(&mut batch).unwrap_err().to_string();
        assert!(error.starts_with(what), "{error}");
    }
}

/// One file of cases holds for the command and for the page (`tests/tools/browser/files.py`): the
/// bytes of a file, each as a character, and the table in it.
#[test]
fn tables_are_read_as_on_the_page() {
    let cases = include_str!("../../../tests/tables.jsonl");
    let cases: Vec<serde_json::Value> =
        cases.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(cases.len() >= 80);
    for case in &cases {
        let text = |name: &str| case[name].as_str();
        let bytes: Vec<u8> =
            text("bytes").unwrap().chars().map(|one| u8::try_from(one).unwrap()).collect();
        let mut table = table("memory", &bytes).unwrap();
        let encoding = table.converted_from().unwrap_or("utf-8").to_lowercase();
        assert_eq!(Some(&*encoding), text("encoding"), "{case}");
        let mut found: Vec<Vec<String>> = Vec::new();
        let mut batch = table.titles().clone();
        let mut next = Some(table.heading().clone());
        loop {
            for place in 0..batch.rows() {
                found.push(texts_of(batch.row(place)).into_iter().map(Into::into).collect());
            }
            match next.take() {
                Some(heading) => batch = heading,
                None if table.read(&mut batch).unwrap() => {}
                None => break,
            }
        }
        // Blank lines at the beginning are counted and left out; a blank line has no cells.
        let rows = case["rows"].as_array().unwrap().iter().map(|row| {
            let cells = row.as_array().unwrap().iter().map(|cell| cell.as_str().unwrap());
            cells.map(str::to_owned).collect::<Vec<_>>()
        });
        let mut rows: Vec<Vec<String>> =
            rows.map(|row| if row == [""] { Vec::new() } else { row }).collect();
        let blank = rows.iter().take_while(|row| row.is_empty()).count();
        rows.drain(..blank);
        let is_delimiters = |row: &Vec<String>| row.iter().all(|cell| cell.trim().is_empty());
        // A last row of delimiters is a row here; the page leaves it out.
        while found.last().is_some_and(is_delimiters) {
            found.pop();
        }
        assert_eq!(found, rows, "{case}");
        if let Some(delimiter) = text("delimiter") {
            let delimiter = delimiter.as_bytes()[0];
            assert_eq!(table.container(), Container::Delimited { delimiter }, "{case}");
        }
        let heading = usize::try_from(case["heading"].as_u64().unwrap()).unwrap();
        // Without a heading that is found, the first row is the heading of several columns.
        let expected = if heading == 0 { rows.first().map_or(0, |_| blank + 1) } else { heading };
        assert_eq!(table.heading_row(), expected, "{case}");
    }
}

proptest! {
    /// For any bytes, the rows together are the table, without blank lines around it.
    #[test]
    fn the_rows_together_are_the_table(
        pieces in proptest::collection::vec(
            prop::sample::select(vec![
                &b"a"[..], b"US0378331005", b",", b";", b"\"", b"\"\"", b"\n", b"\r", b"\r\n", b" ",
                b"\xc3\xa9", b"\0", b"=", b"\"x,\r\ny\"",
            ]),
            0..40,
        ),
    ) {
        let mut content = b"x".to_vec();
        content.extend(pieces.concat());
        let opened = Table::open(&Input::Memory("memory", content.as_slice().into()), Some(b','), Heading::Found);
        // A quote that is not closed.
        let Ok(mut table) = opened else { return Ok(()) };
        // A text that looks like UTF-16 is converted.
        prop_assume!(table.converted_from().is_none());
        let mut batch = table.titles().clone();
        let mut heading = Some(table.heading().clone());
        let mut found = Vec::new();
        loop {
            for place in 0..batch.rows() {
                found.extend_from_slice(batch.row(place).content());
                found.extend_from_slice(batch.row(place).line_end());
            }
            if let Some(heading) = heading.take() {
                batch = heading;
                continue;
            }
            match table.read(&mut batch) {
                Ok(true) => {}
                Ok(false) => break,
                Err(_) => return Ok(()),
            }
        }
        prop_assert!(content.starts_with(&found));
        let rest = &content[found.len()..];
        prop_assert!(rest.iter().all(|byte| matches!(byte, b'\r' | b'\n')), "{rest:?}");
    }
}
