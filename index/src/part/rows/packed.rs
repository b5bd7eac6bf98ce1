//! One row as a byte string, for an engine that keeps each instrument in a document.
//!
//! The bytes are those in the files of a part, one after the other: the FIGI, the line, the record,
//! the length of the texts as `u32`, and the texts. So a packed row is read like a row of a part.

use super::heap::{HeldText, text_at};
use super::verify::has_places;
use super::writer::Texts;
use super::{FIGI_BYTES, LINE_BYTES, NONE, RECORD_BYTES, Row};
use crate::error::{Error, Result};
use crate::instrument::Instrument;
use crate::instrument::figi::Figi;
use crate::mapped::{u32_at, u64_at};

const LINE: usize = FIGI_BYTES;
const RECORD: usize = LINE + LINE_BYTES;
const LENGTH: usize = RECORD + RECORD_BYTES;
const TEXTS: usize = LENGTH + 4;

/// Appends the row of an instrument.
///
/// # Errors
/// [`Error::PartTooLarge`] for a text that is too long for a row.
pub(crate) fn pack(instrument: &Instrument, out: &mut Vec<u8>) -> Result<()> {
    let mut texts = Texts::default();
    let line = texts.line(instrument)?;
    let record = texts.record(0, instrument)?;
    let texts = texts.heap.bytes();
    let length = u32::try_from(texts.len()).map_err(|_| Error::PartTooLarge("bytes of text"))?;
    out.extend_from_slice(&instrument.figi.to_u64().to_le_bytes());
    out.extend_from_slice(&line);
    out.extend_from_slice(&record);
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(texts);
    Ok(())
}

/// The length of the packed row at the start of `bytes`; `None` when there is no valid row.
pub(crate) fn check(bytes: &[u8]) -> Option<usize> {
    let head = bytes.get(..TEXTS)?;
    let end = TEXTS.checked_add(u32_at(head, LENGTH) as usize)?;
    let texts = bytes.get(TEXTS..end)?;
    // Must come before `row`, which panics when the attributes are not inside the texts.
    let is_sound = has_places(&head[RECORD..LENGTH], &head[LINE..RECORD], texts);
    (is_sound && row(bytes).has_valid_texts()).then_some(end)
}

/// The row that [`pack`] wrote. [`check`] must have accepted the bytes.
pub(crate) fn row(bytes: &[u8]) -> Row<'_> {
    let texts = &bytes[TEXTS..][..u32_at(bytes, LENGTH) as usize];
    let record = &bytes[RECORD..LENGTH];
    let attributes = match u32_at(record, 4) {
        NONE => HeldText::default(),
        place => text_at(texts, place),
    };
    let figi = Figi::from_u64(u64_at(bytes, 0));
    Row { figi, record, line: &bytes[LINE..RECORD], attributes, texts }
}
