//! Checks the conditions that reading the rows relies on: every place is inside its file, and every
//! stored text is valid.

use std::path::Path;

use super::heap::text_within;
use super::json_text::unescape;
use super::{
    FIGI_BYTES, LENGTHS_BYTES, LINE_BYTES, NO_LENGTH, NONE, RECORD_BYTES, Row, Rows, TextRef,
};
use crate::error::{Error, Result};
use crate::mapped::u32_at;

impl Rows {
    /// Checks that FIGIs ascend, and that each row can be read.
    ///
    /// # Errors
    /// [`Error::Damaged`] for the first row that fails.
    pub(crate) fn verify(&self, part: &Path) -> Result<()> {
        let damaged = |what: String| Error::damaged(part, format!("rows: {what}"));
        for doc in 0..self.len() as u32 {
            let figi = self.figi(doc);
            if doc > 0 && self.figi(doc - 1) >= figi {
                return Err(damaged(format!("{figi} is out of order")));
            }
            if !self.has_places(doc) {
                return Err(damaged(format!("{figi} points outside the lines or the texts")));
            }
            if !self.get(doc).has_valid_texts() {
                return Err(damaged(format!("{figi} has a text that is not valid JSON")));
            }
        }
        Ok(())
    }

    /// Whether the line and the texts of a row are inside their files.
    fn has_places(&self, doc: u32) -> bool {
        let record = &self.records[doc as usize * RECORD_BYTES..][..RECORD_BYTES];
        let start = u32_at(record, 0) as usize * LINE_BYTES;
        let line = self.lines.get(start..start + LINE_BYTES);
        line.is_some_and(|line| has_places(record, line, &self.texts))
    }
}

/// Whether the texts of a record and of its line are inside `texts`.
pub(super) fn has_places(record: &[u8], line: &[u8], texts: &[u8]) -> bool {
    let is_text = |place: TextRef| place == NONE || text_within(texts, place).is_some();
    let attributes = u32_at(record, 4);
    is_text(attributes)
        && (attributes == NONE || text_within(texts, attributes).is_some_and(is_combination))
        && (2..5).all(|number| is_text(u32_at(record, number * 4)))
        && (0..3).all(|number| is_text(u32_at(line, 2 * FIGI_BYTES + number * 4)))
}

impl Row<'_> {
    /// Whether each text is valid JSON. The places of the texts must be checked first.
    pub(super) fn has_valid_texts(self) -> bool {
        let lines = [self.ticker(), self.name(), self.metadata()];
        let attributes =
            [self.exch_code(), self.security_type(), self.market_sector(), self.security_type2()];
        let own = [self.security_description(), self.unique_id(), self.unique_id_fut_opt()];
        let mut texts = lines.into_iter().chain(attributes).chain(own).flatten();
        let is_valid = |piece: &[u8]| needs_no_escape(piece) || unescape(piece).is_some();
        texts.all(|text| text.json_pieces().all(is_valid))
    }
}

/// Whether the bytes need no escape in a JSON string. Most texts need none, and can then be checked
/// without a copy.
fn needs_no_escape(piece: &[u8]) -> bool {
    let is_special = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..b' ');
    str::from_utf8(piece).is_ok() && !piece.iter().any(is_special)
}

/// Whether the lengths in a combined text add up to its size.
fn is_combination(stored: &[u8]) -> bool {
    let Some((lengths, texts)) = stored.split_first_chunk::<LENGTHS_BYTES>() else { return false };
    let lengths = lengths.as_chunks().0.iter().map(|length| u16::from_le_bytes(*length));
    let known = lengths.filter(|length| *length != NO_LENGTH);
    known.map(usize::from).sum::<usize>() == texts.len()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::instrument::Instrument;
    use crate::instrument::figi::Figi;
    use crate::instrument::vocabulary::Property;
    use crate::part::rows::{FIGIS, LINES, RECORDS, RowsWriter, TEXTS};

    /// Whichever byte of whichever file changes, `verify` refuses the rows or they can be read.
    #[test]
    fn verified_rows_can_be_read() {
        let folder = tempfile::tempdir().unwrap();
        let part = folder.path();
        let mut writer = RowsWriter::create(part).unwrap();
        for figi in ["BBG000BLNNH6", "BBG000BLNQ16"] {
            let mut instrument = Instrument {
                ticker: Some("IBM 01".into()),
                name: Some("a \"name\"\u{1}".into()),
                security_description: Some("IBM US 01".into()),
                ..Instrument::new(Figi::parse(figi).unwrap())
            };
            instrument.properties[Property::ExchCode as usize] = Some("US".into());
            writer.add(&instrument).unwrap();
        }
        writer.finish(part).unwrap();
        Rows::open(part).unwrap().verify(part).unwrap();
        let mut refused = 0;
        for name in [FIGIS, RECORDS, LINES, TEXTS] {
            let path = part.join(name);
            let whole = fs::read(&path).unwrap();
            for at in 0..whole.len() {
                for byte in [1, 0x5c, 0xff] {
                    let mut bytes = whole.clone();
                    bytes[at] = byte;
                    fs::write(&path, bytes).unwrap();
                    let rows = Rows::open(part).unwrap();
                    if rows.verify(part).is_err() {
                        refused += 1;
                        continue;
                    }
                    for doc in 0..2 {
                        let row = rows.get(doc);
                        let texts = [row.ticker(), row.name(), row.security_description()];
                        texts.into_iter().flatten().for_each(|text| drop(text.to_string()));
                    }
                }
            }
            fs::write(&path, &whole[..whole.len() - 1]).unwrap();
            let cut = Rows::open(part).and_then(|rows| rows.verify(part));
            assert!(cut.is_err(), "{name} is cut");
            fs::write(&path, whole).unwrap();
        }
        assert!(refused > 100, "{refused}");
    }
}
