//! Columns files (TOML). After a line `---` comes a dump, which is read with the columns file.

#![no_main]

use figdex_fuzz::dump;
use figdex_ingest::Format;
use libfuzzer_sys::fuzz_target;

const MARK: &str = "\n---\n";

fuzz_target!(|input: &[u8]| {
    let text = String::from_utf8_lossy(input);
    let (columns, content) = text.split_once(MARK).unwrap_or((&text, ""));
    match Format::parse("columns.toml", columns) {
        Ok(format) => dump::read(content.as_bytes(), Some(&format)),
        Err(faults) => assert!(faults.to_string().len() > "columns.toml".len()),
    }
});
