//! A small index that is the same in every run, so that an input of the corpus covers the same
//! code again.

use std::path::Path;

use figdex_ingest::{Build, Input};
use figdex_io::Layout;
use figdex_universe::Universe;
use tempfile::TempDir;

/// Number of generated instruments: enough for ranked lists of frequent words, for ordinals of
/// more than one byte, and for two parts.
const GENERATED: u64 = 600;

/// Maximum number of instruments of a part.
const PART_INSTRUMENTS_MAX: u32 = 400;

/// Rows for cases that are not generated: a well-known share on several venues, texts that
/// JSON must escape, letters of several bytes.
const ODD: &str = concat!(
    r#"{"figi":"BBG000BLNNH6","compositeFIGI":"BBG000BLNNH6","shareClassFIGI":"BBG001S5S399","#,
    r#""ticker":"IBM","name":"INTL BUSINESS MACHINES CORP","exchCode":"US","#,
    r#""marketSector":"Equity","securityType":"Common Stock","securityType2":"Common Stock","#,
    r#""ID_ISIN":["US4592001014"],"ID_CUSIP":"459200101","alias":["Big Blue"]}"#,
    "\n",
    r#"{"figi":"BBG000BLNQ16","compositeFIGI":"BBG000BLNNH6","shareClassFIGI":"BBG001S5S399","#,
    r#""ticker":"IBM","name":"INTL BUSINESS MACHINES CORP","exchCode":"UN","#,
    r#""marketSector":"Equity","securityType":"Common Stock","securityType2":"Common Stock"}"#,
    "\n",
    r#"{"figi":"BBG000B9XRY4","ticker":"a\"b\\c","name":"zwei\nZeilen \u0007 пай 台積電","#,
    r#""exchCode":"é","metadata":"Metadata N/A","uniqueID":"EQ0010169500001000"}"#,
    "\n",
);

/// Builds the index into a new folder, which is removed when the result is dropped.
pub fn build() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder for an index");
    let mut dump = Vec::new();
    Universe::new(GENERATED, 5)
        .write(Layout::JsonLines, &mut dump)
        .expect("writing into memory does not fail");
    publish(
        vec![Input::Memory("generated", dump.into()), Input::Memory("odd", ODD.as_bytes().into())],
        folder.path(),
    );
    folder
}

fn publish(inputs: Vec<Input>, index: &Path) {
    let build =
        Build { part_instruments_max: Some(PART_INSTRUMENTS_MAX), ..Build::new(inputs, index) };
    build.run(&mut |_| {}).expect("a generated dump is built");
}
