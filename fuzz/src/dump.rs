//! Reading a dump to its end, as a build does.

use figdex_ingest::{DumpRow, Format, Input, Instruments};

/// The format that a letter stands for: `a` is the first built-in format, and so on. `None` for
/// any other byte: the format is then recognised from the content.
pub fn format(letter: u8) -> Option<Format> {
    let place = letter.checked_sub(b'a')?;
    let name = Format::names().nth(usize::from(place))?;
    Some(name.parse().expect("the name of a built-in format"))
}

/// Reads every row, up to the first error.
pub fn read(content: &[u8], format: Option<&Format>) {
    let input = Input::Memory("input", content.into());
    let Ok(rows) = Instruments::open(&input, format) else { return };
    for row in rows {
        if let Ok(DumpRow::Rejected(reason)) = row {
            assert!(!reason.is_empty());
        }
    }
}
