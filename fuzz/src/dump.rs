//! Dumps read to their end, as a build reads them.

use figdex_ingest::{DumpRow, Format, Input, Instruments};

/// The format of a letter: `a` is the first that ships, and so on. With any other byte there
/// is none, so that the content is recognised.
pub fn format(letter: u8) -> Option<Format> {
    let place = letter.checked_sub(b'a')?;
    let name = Format::names().nth(usize::from(place))?;
    Some(name.parse().expect("a format's own name"))
}

/// Reads every row. An error ends it; how many rows there were before is bounded by the
/// bytes that `content` unpacks to.
pub fn read(content: &[u8], format: Option<&Format>) {
    let input = Input::Memory("input", content.into());
    let Ok(rows) = Instruments::open(&input, format) else { return };
    for row in rows {
        if let Ok(DumpRow::Rejected(reason)) = row {
            assert!(!reason.is_empty());
        }
    }
}
