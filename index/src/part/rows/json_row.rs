//! A result row as a JSON object. The texts are stored escaped, so that a row is written by copying.
//!
//! A row has some forty short pieces. It is put together in an array, into which each piece is
//! copied with a fixed number of bytes, and appended once: that takes half the instructions of
//! appending each piece, whose length is known only when it is copied.

use super::Row;
use super::heap::HeldText;
use super::template::{RowFields, each_piece};
use crate::instrument::figi::{FIGI_CHARS, Figi};
use crate::mapped::u32_at;

/// The size of the array. Most rows fit; a longer one is appended in several steps.
const ROOM_BYTES: usize = 512;

/// The number of bytes that a short text is copied with. The next piece overwrites those after it.
const COPIED_BYTES: usize = 32;

impl Row<'_> {
    /// Appends the row as an object with the ten members of contract 12.3 in their order, null
    /// where unknown. `has_unique_ids` adds those of v2 and v1 in their places. `metadata` is only
    /// on a row that has it.
    pub fn write_json(self, out: &mut Vec<u8>, has_unique_ids: bool) {
        let of_line = |number: usize| self.held(self.line_place(number));
        let (ticker, name, metadata) = (of_line(0), of_line(1), of_line(2));
        let of_record = |number: usize| self.held(u32_at(self.record, number * 4));
        let [exch_code, security_type, market_sector, security_type2] = self.attributes();
        let fields = RowFields::of(ticker, exch_code, market_sector);
        let mut json = Json { bytes: [0; ROOM_BYTES], length: 0, out, fields };
        json.figi(b"{\"figi\":\"", Some(self.figi));
        json.text(b",\"name\":\"", name);
        json.text(b",\"ticker\":\"", ticker);
        json.text(b",\"exchCode\":\"", exch_code);
        json.figi(b",\"compositeFIGI\":\"", self.composite_figi());
        if has_unique_ids {
            json.text(b",\"uniqueID\":\"", of_record(3));
        }
        json.text(b",\"securityType\":\"", security_type);
        json.text(b",\"marketSector\":\"", market_sector);
        json.figi(b",\"shareClassFIGI\":\"", self.share_class_figi());
        if has_unique_ids {
            json.text(b",\"uniqueIDFutOpt\":\"", of_record(4));
        }
        json.text(b",\"securityType2\":\"", security_type2);
        json.text(b",\"securityDescription\":\"", of_record(2));
        if metadata.is_some() {
            json.text(b",\"metadata\":\"", metadata);
        }
        json.fixed(b"}");
        json.flush();
    }
}

/// A row that is being put together.
struct Json<'o, 'a> {
    bytes: [u8; ROOM_BYTES],
    /// The number of bytes that are put together and not yet appended.
    length: usize,
    out: &'o mut Vec<u8>,
    fields: RowFields<'a>,
}

impl<'a> Json<'_, 'a> {
    /// Writes a member whose value is a text. `before` is all that comes before the text, up to its
    /// quotation mark.
    #[inline]
    fn text<const BEFORE: usize>(&mut self, before: &[u8; BEFORE], value: Option<HeldText<'a>>) {
        self.fixed(before);
        let Some(text) = value else { return self.null() };
        each_piece(text, self.fields, |piece| self.piece(piece));
        self.fixed(b"\"");
    }

    /// Writes a member whose value is a FIGI, whose characters need no escape.
    #[inline]
    fn figi<const BEFORE: usize>(&mut self, before: &[u8; BEFORE], value: Option<Figi>) {
        self.fixed(before);
        let Some(figi) = value else { return self.null() };
        let mut end = [b'"'; FIGI_CHARS + 1];
        end[..FIGI_CHARS].copy_from_slice(&figi.to_chars());
        self.fixed(&end);
    }

    /// Writes null in place of the quotation mark that was just written.
    fn null(&mut self) {
        if self.length == 0 {
            self.out.pop();
        }
        self.length = self.length.saturating_sub(1);
        self.fixed(b"null");
    }

    #[inline]
    fn piece(&mut self, piece: HeldText<'a>) {
        let room = self.bytes[self.length..].first_chunk_mut::<COPIED_BYTES>();
        match (room, piece.with_next()) {
            (Some(room), Some(bytes)) => {
                *room = *bytes;
                self.length += piece.len();
            }
            _ => self.append(piece.bytes()),
        }
    }

    #[inline]
    fn fixed<const BYTES: usize>(&mut self, bytes: &[u8; BYTES]) {
        match self.bytes[self.length..].first_chunk_mut() {
            Some(room) => {
                *room = *bytes;
                self.length += BYTES;
            }
            None => self.append(bytes),
        }
    }

    /// Appends what is put together, and `bytes`.
    fn append(&mut self, bytes: &[u8]) {
        self.flush();
        self.out.extend_from_slice(bytes);
    }

    fn flush(&mut self) {
        self.out.extend_from_slice(&self.bytes[..self.length]);
        self.length = 0;
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value};

    use crate::instrument::Instrument;
    use crate::instrument::figi::Figi;
    use crate::instrument::vocabulary::Property;
    use crate::part::rows::{Field, packed};

    fn json(instrument: &Instrument, has_unique_ids: bool) -> String {
        let mut bytes = Vec::new();
        packed::pack(instrument, &mut bytes).unwrap();
        let mut out = Vec::new();
        packed::row(&bytes).write_json(&mut out, has_unique_ids);
        String::from_utf8(out).unwrap()
    }

    fn full() -> Instrument {
        let figi = |text: &str| Some(Figi::parse(text).unwrap());
        let mut full = Instrument {
            composite_figi: figi("BBG000BLNNH6"),
            share_class_figi: figi("BBG001S5S399"),
            ticker: Some("AAPL 01/17/25 C155".into()),
            name: Some("Ünïcode \"Inc\" with a name that is longer than most of the others".into()),
            security_description: Some("AAPL US 01/17/25 C155".into()),
            unique_id: Some("EQ0010080100001000".into()),
            unique_id_fut_opt: Some("AAPL US 01/17/25 C155 Equity".into()),
            metadata: Some("none".into()),
            ..Instrument::new(Figi::parse("BBG000BLNQ16").unwrap())
        };
        for (property, value) in Property::IN_RESULT.into_iter().zip(["US", "a\\b", "Equity", ""]) {
            full.properties[property as usize] = Some(value.into());
        }
        full
    }

    /// contract 12.3: every member has its value, and its place.
    #[test]
    fn members_have_their_values_and_their_order() {
        let bare = Instrument::new(full().figi);
        for instrument in [full(), bare] {
            let written = json(&instrument, true);
            let object: Map<String, Value> = serde_json::from_str(&written).unwrap();
            for field in Field::ALL {
                let value = instrument.field(*field).map(|value| value.to_string());
                let is_left_out = value.is_none() && *field == Field::Metadata;
                let expected = (!is_left_out).then(|| value.map_or(Value::Null, Value::String));
                assert_eq!(object.get(field.name()), expected.as_ref(), "{written}");
            }
        }
        assert_eq!(
            json(&full(), true),
            r#"{"figi":"BBG000BLNQ16","name":"Ünïcode \"Inc\" with a name that is longer than most of the others","ticker":"AAPL 01/17/25 C155","exchCode":"US","compositeFIGI":"BBG000BLNNH6","uniqueID":"EQ0010080100001000","securityType":"a\\b","marketSector":"Equity","shareClassFIGI":"BBG001S5S399","uniqueIDFutOpt":"AAPL US 01/17/25 C155 Equity","securityType2":"","securityDescription":"AAPL US 01/17/25 C155","metadata":"none"}"#
        );
        assert_eq!(
            json(&Instrument::new(full().figi), false),
            r#"{"figi":"BBG000BLNQ16","name":null,"ticker":null,"exchCode":null,"compositeFIGI":null,"securityType":null,"marketSector":null,"shareClassFIGI":null,"securityType2":null,"securityDescription":null}"#
        );
    }

    /// A text of many pieces fills the array to any place, and the members after it are whole, also
    /// those that are null.
    #[test]
    fn rows_of_any_length() {
        for ticker in (1..36).map(|length| "x".repeat(length)) {
            for times in (0..12).chain(300 / ticker.len()..400 / ticker.len()) {
                let text = ticker.repeat(times);
                let instrument = Instrument {
                    ticker: Some(ticker.clone()),
                    name: Some("a name of more than 32 bytes, after the ticker".to_owned()),
                    unique_id_fut_opt: Some(text.clone()),
                    ..Instrument::new(full().figi)
                };
                let written = json(&instrument, true);
                let object: Map<String, Value> = serde_json::from_str(&written).unwrap();
                assert_eq!(object["uniqueIDFutOpt"].as_str(), Some(&*text));
                assert_eq!((&object["securityType2"], object.len()), (&Value::Null, 12));
            }
        }
    }
}
