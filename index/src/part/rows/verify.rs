//! What reading the rows takes on trust: that every place is one of its file, and every
//! stored text the form of one.

use std::path::Path;

use super::heap::text_within;
use super::json_text::unescape;
use super::{FIGI_BYTES, LENGTHS_BYTES, LINE_BYTES, NO_LENGTH, NONE, RECORD_BYTES, Rows, TextRef};
use crate::error::{Error, Result};
use crate::mapped::u32_at;

impl Rows {
    /// Checks that FIGIs ascend, and that each row can be read.
    pub(crate) fn verify(&self, part: &Path) -> Result<()> {
        let damaged = |what: String| Error::damaged(part, format!("rows: {what}"));
        for doc in 0..self.len() as u32 {
            let figi = self.figi(doc);
            if doc > 0 && self.figi(doc - 1) >= figi {
                return Err(damaged(format!("{figi} is out of order")));
            }
            if !self.has_places(doc) {
                return Err(damaged(format!("{figi} has parts that are nowhere")));
            }
            let row = self.get(doc);
            let lines = [row.ticker(), row.name(), row.metadata()];
            let attributes =
                [row.exch_code(), row.security_type(), row.market_sector(), row.security_type2()];
            let own = [row.security_description(), row.unique_id(), row.unique_id_fut_opt()];
            let mut texts = lines.into_iter().chain(attributes).chain(own).flatten();
            let is_form = |piece: &[u8]| is_plain(piece) || unescape(piece).is_some();
            if !texts.all(|text| text.json_pieces().all(is_form)) {
                return Err(damaged(format!("{figi} has a text that is none")));
            }
        }
        Ok(())
    }

    /// Whether the line and the texts of a row are within their files.
    fn has_places(&self, doc: u32) -> bool {
        let record = &self.records[doc as usize * RECORD_BYTES..][..RECORD_BYTES];
        let start = u32_at(record, 0) as usize * LINE_BYTES;
        let Some(line) = self.lines.get(start..start + LINE_BYTES) else { return false };
        let is_text = |place: TextRef| place == NONE || text_within(&self.texts, place).is_some();
        let attributes = u32_at(record, 4);
        is_text(attributes)
            && (attributes == NONE
                || text_within(&self.texts, attributes).is_some_and(is_combination))
            && (2..5).all(|number| is_text(u32_at(record, number * 4)))
            && (0..3).all(|number| is_text(u32_at(line, 2 * FIGI_BYTES + number * 4)))
    }
}

/// Whether a JSON string holds these bytes as they are, as nearly every text is: it spares
/// a copy of each.
fn is_plain(piece: &[u8]) -> bool {
    let is_special = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..b' ');
    str::from_utf8(piece).is_ok() && !piece.iter().any(is_special)
}

/// Whether the lengths of a combination are those of its texts.
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

    /// Of every byte of every file: changed, the rows are refused or can be read.
    #[test]
    fn what_was_verified_can_be_read() {
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
