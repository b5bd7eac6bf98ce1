//! The result fields of every instrument of a part, by DocId (engine 5).
//!
//! Four files:
//! - `rows.figis`: the FIGIs as ascending `u64`; a binary search finds the DocId of a FIGI.
//! - `rows.records`: a [`Record`] for each row.
//! - `rows.lines`: the fields that several rows share (all venues of a share, for example), each
//!   [`Line`] once.
//! - `rows.texts`: the texts that records and lines point to, each once, escaped as in JSON
//!   (`json_text`).

mod field;
pub(crate) mod heap;
mod json_row;
mod json_text;
pub(crate) mod packed;
mod template;
mod verify;
mod writer;

use std::borrow::Cow;
use std::fmt;
use std::hint::black_box;
use std::path::Path;

pub use self::field::{Field, FieldValue};
use self::heap::{HeldText, TextRef, text_at};
use self::json_text::unescape;
use self::template::{RowFields, pieces};
pub(crate) use self::writer::RowsWriter;
use crate::error::{Error, Result};
use crate::instrument::figi::Figi;
use crate::instrument::level::Level;
use crate::instrument::vocabulary::Property;
use crate::mapped::{Mapped, first_index, u32_at, u64_at};

pub(crate) const FIGIS: &str = "rows.figis";
const RECORDS: &str = "rows.records";
const LINES: &str = "rows.lines";
const TEXTS: &str = "rows.texts";

const FIGI_BYTES: usize = 8;

/// Five `u32`: the number of the row's line, then the places of four texts: attributes,
/// securityDescription, uniqueID and uniqueIDFutOpt.
const RECORD_BYTES: usize = 5 * 4;

/// Composite and share class FIGI as `u64`, 0 for none, then the places of three texts as
/// `u32`: ticker, name and metadata.
const LINE_BYTES: usize = 2 * FIGI_BYTES + 3 * 4;

/// The fields that several rows share.
type Line = [u8; LINE_BYTES];

/// The fields of one row.
type Record = [u8; RECORD_BYTES];

/// The place that means "no text".
const NONE: TextRef = TextRef::MAX;

/// The lengths of the four attributes, as `u16`, at the start of their combined text.
const LENGTHS_BYTES: usize = 2 * Property::IN_RESULT.len();

/// The length that means "no text".
const NO_LENGTH: u16 = u16::MAX;

/// A result row (contract 12.3 to 12.5), borrowed from the index. Each field is read on demand.
#[derive(Clone, Copy)]
pub struct Row<'a> {
    figi: Figi,
    record: &'a [u8],
    line: &'a [u8],
    /// The values of [`Property::IN_RESULT`] as one text (see `writer`); empty when all are
    /// unknown.
    attributes: HeldText<'a>,
    texts: &'a [u8],
}

/// A text of a row, in the form in which the index keeps it.
#[derive(Clone, Copy)]
pub struct Text<'a> {
    stored: HeldText<'a>,
    row: Row<'a>,
}

impl<'a> Row<'a> {
    /// The FIGI of the row itself.
    pub fn figi(self) -> Figi {
        self.figi
    }

    /// `compositeFIGI`.
    pub fn composite_figi(self) -> Option<Figi> {
        self.line_figi(0)
    }

    /// The level of the instrument in its family.
    pub fn level(self) -> Level {
        Level::of(self.figi(), self.composite_figi(), self.share_class_figi())
    }

    /// `shareClassFIGI`.
    pub fn share_class_figi(self) -> Option<Figi> {
        self.line_figi(1)
    }

    /// Its own FIGI, and those of its composite and its share class.
    pub(crate) fn figis(self) -> [Option<Figi>; 3] {
        [Some(self.figi), self.composite_figi(), self.share_class_figi()]
    }

    /// The FIGI of the share class; without a share class, that of the composite; without either,
    /// the row's own.
    pub(crate) fn security(self) -> Figi {
        self.share_class_figi().or(self.composite_figi()).unwrap_or(self.figi)
    }

    /// `ticker`.
    pub fn ticker(self) -> Option<Text<'a>> {
        self.line_text(0)
    }

    /// `name`.
    pub fn name(self) -> Option<Text<'a>> {
        self.line_text(1)
    }

    /// `metadata`, on rows whose attributes are not available (contract 12.4).
    pub fn metadata(self) -> Option<Text<'a>> {
        self.line_text(2)
    }

    /// `exchCode`.
    pub fn exch_code(self) -> Option<Text<'a>> {
        self.attribute(0)
    }

    /// `securityType`.
    pub fn security_type(self) -> Option<Text<'a>> {
        self.attribute(1)
    }

    /// `marketSector`.
    pub fn market_sector(self) -> Option<Text<'a>> {
        self.attribute(2)
    }

    /// `securityType2`.
    pub fn security_type2(self) -> Option<Text<'a>> {
        self.attribute(3)
    }

    /// `securityDescription`.
    pub fn security_description(self) -> Option<Text<'a>> {
        self.text(u32_at(self.record, 2 * 4))
    }

    /// `uniqueID` of v2 and v1.
    pub fn unique_id(self) -> Option<Text<'a>> {
        self.text(u32_at(self.record, 3 * 4))
    }

    /// `uniqueIDFutOpt` of v2 and v1.
    pub fn unique_id_fut_opt(self) -> Option<Text<'a>> {
        self.text(u32_at(self.record, 4 * 4))
    }

    /// Whether both rows are stored alike, apart from their FIGIs. A text may be stored in several
    /// ways, so other rows may still have the same fields.
    pub(crate) fn is_stored_as(self, other: Row<'_>) -> bool {
        self.composite_figi() == other.composite_figi()
            && self.share_class_figi() == other.share_class_figi()
            && self.attributes.bytes() == other.attributes.bytes()
            && self.stored_texts() == other.stored_texts()
    }

    fn stored_texts(self) -> [Option<&'a [u8]>; 6] {
        let texts = [
            self.ticker(),
            self.name(),
            self.metadata(),
            self.security_description(),
            self.unique_id(),
            self.unique_id_fut_opt(),
        ];
        texts.map(|text| text.map(|text| text.stored.bytes()))
    }

    fn line_figi(self, place: usize) -> Option<Figi> {
        match u64_at(self.line, place * FIGI_BYTES) {
            0 => None,
            number => Some(Figi::from_u64(number)),
        }
    }

    fn line_text(self, place: usize) -> Option<Text<'a>> {
        self.text(self.line_place(place))
    }

    /// The place of the line's text with this number.
    #[inline]
    fn line_place(self, number: usize) -> TextRef {
        u32_at(self.line, 2 * FIGI_BYTES + number * 4)
    }

    fn attribute(self, place: usize) -> Option<Text<'a>> {
        self.attributes()[place].map(|stored| Text { stored, row: self })
    }

    /// The values of [`Property::IN_RESULT`], as they are stored.
    #[inline]
    fn attributes(self) -> [Option<HeldText<'a>>; Property::IN_RESULT.len()] {
        let mut values = [None; Property::IN_RESULT.len()];
        let Some(lengths) = self.attributes.bytes().first_chunk::<LENGTHS_BYTES>() else {
            return values;
        };
        let mut start = LENGTHS_BYTES;
        for (place, value) in values.iter_mut().enumerate() {
            let length = u16::from_le_bytes([lengths[2 * place], lengths[2 * place + 1]]);
            if length != NO_LENGTH {
                *value = Some(self.attributes.part(start, usize::from(length)));
                start += usize::from(length);
            }
        }
        values
    }

    fn text(self, place: TextRef) -> Option<Text<'a>> {
        self.held(place).map(|stored| Text { stored, row: self })
    }

    /// The text at a place, as it is stored.
    #[inline]
    fn held(self, place: TextRef) -> Option<HeldText<'a>> {
        (place != NONE).then(|| text_at(self.texts, place))
    }

    /// The fields that templates may contain.
    fn fields(self) -> RowFields<'a> {
        let [exch_code, _, market_sector, _] = self.attributes();
        RowFields::of(self.held(self.line_place(0)), exch_code, market_sector)
    }
}

impl<'a> Text<'a> {
    /// The pieces of the text, in order, escaped as inside a JSON string.
    pub fn json_pieces(self) -> impl Iterator<Item = &'a [u8]> {
        pieces(self.stored.bytes(), move || self.row.fields())
    }

    /// Appends the text. Gives the same as [`fmt::Display`], in less time.
    pub(crate) fn append_to(self, text: &mut String) {
        self.plain_pieces().for_each(|piece| text.push_str(&piece));
    }

    /// The text. Gives the same as [`fmt::Display`], in less time.
    pub(crate) fn to_text(self) -> String {
        let mut text = String::new();
        self.append_to(&mut text);
        text
    }

    /// The pieces of the text, in order.
    fn plain_pieces(self) -> impl Iterator<Item = Cow<'a, str>> {
        self.json_pieces().map(|piece| match str::from_utf8(piece) {
            Ok(plain) if !piece.contains(&b'\\') => Cow::Borrowed(plain),
            _ => Cow::Owned(unescape(piece).expect("a text that was verified")),
        })
    }
}

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.plain_pieces().try_for_each(|piece| f.write_str(&piece))
    }
}

/// The rows of one part.
pub(crate) struct Rows {
    figis: Mapped,
    records: Mapped,
    lines: Mapped,
    texts: Mapped,
}

impl Rows {
    pub(crate) fn open(part: &Path) -> Result<Self> {
        let rows = Self {
            figis: Mapped::open(&part.join(FIGIS))?,
            records: Mapped::open(&part.join(RECORDS))?,
            lines: Mapped::open(&part.join(LINES))?,
            texts: Mapped::open(&part.join(TEXTS))?,
        };
        let count = rows.len();
        if rows.figis.len() != count * FIGI_BYTES || rows.records.len() != count * RECORD_BYTES {
            return Err(Error::damaged(part, "rows.figis and rows.records differ in length"));
        }
        Ok(rows)
    }

    /// Tells the system that all rows are about to be read in their order.
    pub(crate) fn read_in_order(&self) {
        for file in [&self.figis, &self.records, &self.lines, &self.texts] {
            file.read_in_order();
        }
    }

    /// The number of rows.
    pub(crate) fn len(&self) -> usize {
        self.figis.len() / FIGI_BYTES
    }

    /// The FIGI of a DocId.
    ///
    /// # Panics
    /// When there is no such DocId.
    pub(crate) fn figi(&self, doc: u32) -> Figi {
        Figi::from_u64(u64_at(&self.figis, doc as usize * FIGI_BYTES))
    }

    /// The last FIGI; `None` when there is no row.
    pub(crate) fn last_figi(&self) -> Option<Figi> {
        (self.len() as u32).checked_sub(1).map(|last| self.figi(last))
    }

    /// The DocId of a FIGI, by binary search.
    pub(crate) fn find(&self, figi: Figi) -> Option<u32> {
        let doc = first_index(0..self.len() as u32, |doc| self.figi(doc) >= figi);
        (doc < self.len() as u32 && self.figi(doc) == figi).then_some(doc)
    }

    /// The DocIds of many FIGIs. The value with each FIGI is ignored. All binary searches take each
    /// step together, so that their reads of memory overlap (engine 4).
    pub(crate) fn find_all<T>(&self, figis: &[(T, Figi)]) -> impl Iterator<Item = Option<u32>> {
        let count = self.len() as u32;
        // The place of the last FIGI that is not larger than each one; 0 when all are larger.
        let mut places = vec![0_u32; figis.len()];
        let mut left = count;
        while left > 1 {
            let half = left / 2;
            for (place, (_, figi)) in places.iter_mut().zip(figis) {
                if self.figi(*place + half) <= *figi {
                    *place += half;
                }
            }
            left -= half;
        }
        let found = places.into_iter().zip(figis);
        found.map(move |(doc, (_, figi))| (doc < count && self.figi(doc) == *figi).then_some(doc))
    }

    /// Touches the memory that these rows are read from: first all FIGIs and records, then all
    /// lines, then the texts of every row of v3. So the reads of different rows overlap (engine 4).
    pub(crate) fn read_ahead(&self, docs: impl Iterator<Item = u32> + Clone) {
        let record = |doc: u32| &self.records[doc as usize * RECORD_BYTES..][..RECORD_BYTES];
        let line = |doc: u32| u32_at(record(doc), 0) as usize * LINE_BYTES;
        black_box(
            docs.clone()
                .fold(0, |all, doc| all ^ record(doc)[0] ^ self.figis[doc as usize * FIGI_BYTES]),
        );
        black_box(docs.clone().fold(0, |all, doc| {
            let line = &self.lines[line(doc)..][..LINE_BYTES];
            all ^ line[0] ^ line[LINE_BYTES - 1]
        }));
        let text = |place: u32| self.texts.get(place as usize).copied().unwrap_or(0);
        black_box(docs.fold(0, |all, doc| {
            let (record, line) = (record(doc), &self.lines[line(doc)..][..LINE_BYTES]);
            let [ticker, name] = [0, 4].map(|at| u32_at(line, 2 * FIGI_BYTES + at));
            all ^ text(ticker) ^ text(name) ^ text(u32_at(record, 4)) ^ text(u32_at(record, 8))
        }));
    }

    /// The first DocId with a larger FIGI, or the number of rows.
    pub(crate) fn first_after(&self, figi: Figi) -> u32 {
        first_index(0..self.len() as u32, |doc| self.figi(doc) > figi)
    }

    /// The row of a DocId.
    ///
    /// # Panics
    /// When there is no such DocId.
    pub(crate) fn get(&self, doc: u32) -> Row<'_> {
        let record = &self.records[doc as usize * RECORD_BYTES..][..RECORD_BYTES];
        let line = u32_at(record, 0) as usize * LINE_BYTES;
        let attributes = match u32_at(record, 4) {
            NONE => HeldText::default(),
            place => text_at(&self.texts, place),
        };
        Row {
            figi: self.figi(doc),
            record,
            line: &self.lines[line..][..LINE_BYTES],
            attributes,
            texts: &self.texts,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instrument::Instrument;

    fn figi(text: &str) -> Figi {
        Figi::parse(text).unwrap()
    }

    #[test]
    fn rows_come_back_as_they_went_in() {
        let folder = tempfile::tempdir().unwrap();
        let bare = Instrument::new(figi("BBG000BLNNH6"));
        let mut full = Instrument {
            composite_figi: Some(figi("BBG000BLNNH6")),
            share_class_figi: Some(figi("BBG001S5S399")),
            ticker: Some("IBM".into()),
            name: Some("Ünïcode \"Inc\"".into()),
            security_description: Some("IBM".into()),
            unique_id: Some("EQ0010080100001000".into()),
            ..Instrument::new(figi("BBG000BLNQ16"))
        };
        full.properties[Property::ExchCode as usize] = Some("UN".into());
        full.properties[Property::SecurityType2 as usize] = Some("Common Stock".into());

        let mut writer = RowsWriter::create(folder.path()).unwrap();
        for instrument in [&bare, &full] {
            writer.add(instrument).unwrap();
        }
        writer.finish(folder.path()).unwrap();
        let rows = Rows::open(folder.path()).unwrap();

        assert_eq!(rows.len(), 2);
        let text = |text: Option<Text<'_>>| text.map(|text| text.to_string());
        let row = rows.get(0);
        assert_eq!(row.figi(), bare.figi);
        assert_eq!((text(row.ticker()), text(row.exch_code())), (None, None));
        assert_eq!((row.composite_figi(), text(row.metadata())), (None, None));
        let row = rows.get(1);
        assert_eq!(row.figi(), full.figi);
        assert_eq!(row.composite_figi(), full.composite_figi);
        assert_eq!(row.share_class_figi(), full.share_class_figi);
        assert_eq!(
            (text(row.ticker()), text(row.name())),
            (full.ticker.clone(), full.name.clone())
        );
        assert_eq!(text(row.exch_code()).as_deref(), Some("UN"));
        assert_eq!((text(row.security_type()), text(row.market_sector())), (None, None));
        assert_eq!(text(row.security_type2()).as_deref(), Some("Common Stock"));
        assert_eq!(text(row.unique_id()), full.unique_id);
        assert_eq!(text(row.security_description()), full.security_description);
        assert_eq!((text(row.metadata()), text(row.unique_id_fut_opt())), (None, None));
        for (doc, instrument) in [(0, &bare), (1, &full)] {
            assert_eq!(rows.find(instrument.figi), Some(doc));
        }
        assert_eq!(rows.find(figi("BBG001S5S399")), None);
        rows.verify(folder.path()).unwrap();
    }

    #[test]
    fn figis_are_found_together_as_each_alone() {
        for count in 1..20 {
            let folder = tempfile::tempdir().unwrap();
            let mut writer = RowsWriter::create(folder.path()).unwrap();
            for number in 1..=count {
                writer.add(&Instrument::new(Figi::from_u64(10 * number))).unwrap();
            }
            writer.finish(folder.path()).unwrap();
            let rows = Rows::open(folder.path()).unwrap();
            let figis: Vec<((), Figi)> =
                (0..2 * count + 4).map(|number| ((), Figi::from_u64(5 * number))).collect();
            let alone = figis.iter().map(|(_, figi)| rows.find(*figi));
            assert!(rows.find_all(&figis).eq(alone), "{count}");
        }
    }
}
