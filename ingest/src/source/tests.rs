//! Tests every reader with every description. No bytes may cause a panic, and every record must
//! be a row, a reject or a skip.

use proptest::prelude::*;

use super::*;
use crate::format::description::Path;

/// Reads a dump: rows as `column=value`, rejected ones as their line and reason.
fn read(format: &Format, content: &[u8]) -> Result<Vec<String>> {
    let input = Input::Memory("dump", content.into());
    let mut source = DumpReader::open_without_figi(&input, Some(format))?;
    let mut row = Row::default();
    let mut read = Vec::new();
    loop {
        read.push(match source.next(&mut row)? {
            Next::Row => {
                let cells = row.cells().map(|cell| match cell.kind {
                    crate::row::CellKind::Invalid(reason) => {
                        format!("{}!{reason}", cell.column.name())
                    }
                    _ => format!("{}={}", cell.column.name(), cell.value),
                });
                cells.collect::<Vec<_>>().join(" ")
            }
            Next::Rejected(reason) => format!("{}: {reason}", row.line),
            Next::Skipped => "skipped".to_owned(),
            Next::End => return Ok(read),
        });
        assert!(!row.raw.is_empty(), "a record's bytes are kept");
    }
}

fn described(text: &str) -> Format {
    Format::parse("described", text).unwrap_or_else(|error| panic!("{error}"))
}

#[track_caller]
fn check(description: &str, content: &str, expected: &[&str]) {
    let found = read(&described(description), content.as_bytes());
    assert_eq!(found.unwrap_or_else(|error| panic!("{error}")), expected);
}

#[track_caller]
fn fails(description: &str, content: &str, expected: &str) {
    let error = read(&described(description), content.as_bytes()).unwrap_err();
    assert_eq!(error.to_string(), expected);
}

const COLUMNS: &str = "\n[columns]\nfigi = \"F\"\nticker = \"T\"\n";

/// A dump may be read on a separate thread.
#[test]
fn a_reader_may_be_sent() {
    fn is_send<T: Send>() {}
    is_send::<DumpReader>();
}

#[test]
fn a_dump_with_fewer_lines_than_are_skipped_is_empty() {
    let description = format!("format = 'delimited'\nskip-lines = {}{COLUMNS}", i64::MAX);
    fails(&description, "a title\nand another", "dump, line 3: the dump is empty");
}

#[test]
fn a_header_may_be_below_skipped_lines_and_control_lines_are_skipped() {
    check(
        &format!(
            "format = 'delimited'\ndelimiter = '|'\nskip-lines = 2\ncontrol-lines = ['END*']{COLUMNS}"
        ),
        "as of\n\"title\nF|x|T\nf1||t1\nEND-OF-DATA\nEND|f2|t2\n",
        &["figi=f1 ticker=t1", "skipped", "figi=END ticker=t2"],
    );
}

#[test]
fn text_without_quotes_and_with_a_trailing_delimiter_is_read() {
    let layout = "format = 'delimited'\ndelimiter = '|'\nquotes = false\ntrailing-delimiter = true";
    check(
        &format!("{layout}{COLUMNS}"),
        "F|T|\nf1|\"t1|\nf2|t2\nf3||\nf4|\n",
        &[
            "figi=f1 ticker=\"t1",
            "figi=f2 ticker=t2",
            "figi=f3",
            "5: found 1 cells, but the header has 2",
        ],
    );
}

#[test]
fn columns_are_read_by_number() {
    check(
        "format = 'delimited'\nheader = false\nskip = [{ 1 = { starts = '-' } }]\n\
         [columns]\nfigi = 3\nexchCode = [4, 5]\n",
        "0,x,f1,US,LN,more\n-1,x\n0,x,f2,,LN\n0,x,f3\n",
        &[
            "figi=f1 exchCode=US",
            "skipped",
            "figi=f2 exchCode=LN",
            "4: found 3 cells, but the format uses 5",
        ],
    );
}

#[test]
fn conditions_constants_and_blank_words_are_applied() {
    check(
        "format = 'delimited'\ndelimiter = ','\nblank = ['NONE', '1970-01-01']\n\
         skip = [{ T = '' }, { F = ['x', 'y'], T = { not = 'keep' } }]\n\
         [columns]\nfigi = 'F'\nname = [{ from = 'N', blank = 'n/a' }, 'T']\n\
         listed = { value = 'false', where = { E = '' } }\n",
        "F,T,N,E\na,b,NONE,\nb,NONE,,\nx,b,,\ny,keep,n/a,US\n",
        &["figi=a name=b listed=false", "skipped", "skipped", "figi=y name=keep"],
    );
}

#[test]
fn every_encoding_is_read() {
    for (encoding, expected) in [("latin-1", "é\u{80}"), ("windows-1252", "é€")] {
        let format = described(&format!("encoding = '{encoding}'\ndelimiter = ','{COLUMNS}"));
        let found = read(&format, b"F,T\nf1,\xe9\x80\n").unwrap();
        assert_eq!(found, [format!("figi=f1 ticker={expected}")]);
        let format = described(&format!("encoding = '{encoding}'\nformat = 'json-lines'{COLUMNS}"));
        let found = read(&format, b"{\"F\":\"f1\",\"T\":\"\xe9\x80\"}").unwrap();
        assert_eq!(found, [format!("figi=f1 ticker={expected}")]);
    }
}

#[test]
fn values_of_an_object_in_a_cell_are_read() {
    check(
        "format = 'delimited'\ndelimiter = ';'\n[columns]\nfigi = 'codes.figi'\nname = 'codes.deep.name'\n",
        "codes;x\n{'figi': 'f1', 'deep': {'name': \"it's\"}};\n\"{\"\"figi\"\": \"\"f2\"\"}\";\nnone;\n",
        &[
            "name=it's figi=f1",
            "figi=f2",
            "name!the cell does not hold a JSON object figi!the cell does not hold a JSON object",
        ],
    );
}

#[test]
fn lists_in_cells_are_split() {
    check(
        "format = 'delimited'\ndelimiter = ','\n[columns]\nalias = { from = 'A', separator = '/', upper = true }\nID_ISIN = 'I'\nname = 'N'\n",
        "A,I,N\na/b,x;y,n;m\n",
        &["alias=A alias=B ID_ISIN=x ID_ISIN=y name=n;m"],
    );
}

#[test]
fn records_are_found_in_the_arrays_of_a_document() {
    let description = "format = 'json'\nrecords = ['*.data.*', 'pages.*.rows.*']\n\
                       [columns]\nfigi = 'F'\nname = '$1'\nticker = '$2'\nstrike = 'n.units'\n";
    check(
        description,
        "{\"total\": 3.5e1, \"a\": {\"data\": [{\"F\": \"f1\", \"n\": {\"units\": 7}},\n 5, [1], {\"F\": }], \
         \"note\": \"]}\\\"\", \"none\": null},\n\"pages\": [{\"rows\": {\"k\": {\"F\": \"f2\"}}}, {}]} []",
        &[
            "figi=f1 ticker=1 name=a strike=7",
            "2: not a JSON object",
            "2: a JSON array, not an object",
            "2: not JSON: expected value at byte 7",
            "figi=f2 ticker=k name=1",
        ],
    );
    for (content, expected) in [
        ("{\"a\": {\"data\": [{}", "dump, line 1: the JSON ends in the middle"),
        ("{\"a\"\n{}}", "dump, line 2: not JSON: : is missing"),
        ("[1\n2]", "dump, line 2: not JSON: , or ] is missing"),
        ("[1,]", "dump, line 1: not JSON: a value is missing"),
        ("{a: 1}", "dump, line 1: not JSON: a member has no name"),
        ("[\"a", "dump, line 1: the JSON ends in the middle"),
    ] {
        fails(description, content, expected);
    }
}

#[test]
fn a_record_that_is_too_long_ends_the_dump() {
    let long = format!("[{{\"F\":\"{}\"}}]", "x".repeat(RECORD_BYTES_MAX));
    let message = format!("dump, line 1: a record is longer than {RECORD_BYTES_MAX} bytes");
    fails(&format!("format = 'json'{COLUMNS}"), &long, &message);
    // A value that is not a record may have any size.
    check(
        &format!("format = 'json'\nrecords = 'rows.*'{COLUMNS}"),
        &format!("{{\"x\":{long}}}"),
        &[],
    );
}

/// Arbitrary bytes, with pieces that mean something to the readers.
fn dumps() -> impl Strategy<Value = Vec<u8>> {
    let word = prop_oneof![
        Just("\"".to_owned()),
        Just("'".to_owned()),
        Just("\\".to_owned()),
        Just("|,;\t".to_owned()),
        Just("\r\n".to_owned()),
        Just("\n".to_owned()),
        Just("{\"data\":[{".to_owned()),
        Just("\"figi\":\"BBG000BLNNH6\",".to_owned()),
        Just("{'figi': 'BBG000BLNNH6'}".to_owned()),
        Just("BBG000BLNNH6|".repeat(20)),
        Just("START-OF-FILE\n".to_owned()),
        "[\\[\\]{}:,0-9 ]{0,6}",
        ".{0,8}",
    ];
    let bytes = prop_oneof![
        8 => word.prop_map(String::into_bytes),
        1 => proptest::collection::vec(any::<u8>(), 0..8),
    ];
    proptest::collection::vec(bytes, 0..24).prop_map(|parts| parts.concat())
}

/// Every shipped format, and further descriptions in every container.
fn formats() -> Vec<Format> {
    let mut formats: Vec<Format> = Format::names().map(|name| name.parse().unwrap()).collect();
    for layout in
        ["header = false", "quotes = false\ntrailing-delimiter = true", "control-lines = '*'"]
    {
        for container in ["delimited", "json-lines", "json"] {
            formats.push(described(&format!(
                "format = '{container}'\nencoding = 'windows-1252'\n{layout}\n\
                 [columns]\nfigi = ['1.figi', 4]\nname = {{ from = 2, number = '7 5/8' }}\n"
            )));
        }
    }
    formats
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn any_bytes_are_read_or_refused_without_a_panic(content in dumps()) {
        for format in formats() {
            let columns: Vec<&str> = format.one().unwrap().description.feeds.iter()
                .flat_map(|feed| &feed.alternatives)
                .filter_map(|alternative| match &alternative.from {
                    crate::format::description::ValueFrom::Column(name) if is_not_canonical(&format) => Some(name.as_str()),
                    _ => None,
                })
                .collect();
            let header = [columns.join("|").into_bytes(), b"\n".to_vec(), content.clone()].concat();
            for content in [&content, &header] {
                if let Ok(first) = read(&format, content) {
                    // The same bytes give the same records.
                    prop_assert_eq!(first, read(&format, content).unwrap());
                }
            }
        }
        let input = Input::Memory("dump", content.into());
        // The format may be recognised or not, but there is no panic.
        let _ = DumpReader::open(&input, None);
    }

    #[test]
    fn any_columns_file_is_read_or_refused_without_a_panic(text in ".{0,80}", key in "[a-z-]{0,12}") {
        let _ = Format::parse("any", &text);
        let _ = Format::parse("any", &format!("{key} = {text}\n[columns]\n{key} = {{ {text} }}"));
    }

    #[test]
    fn any_text_is_a_path(text in ".{0,20}") {
        prop_assert!(Path::parse(&text).0.len() <= text.len());
    }
}

fn is_not_canonical(format: &Format) -> bool {
    format.one().unwrap().description.feeds.len() < 40
}
