//! The result fields of every instrument of a part, by DocId: what turns a hit
//! into a row without tantivy's doc store (engine, decision 5).
//!
//! Four files. `rows.figis`: the FIGIs as ascending `u64`, which is also how a
//! FIGI finds its DocId. `rows.records`: one [`Record`] a row. `rows.lines`: what
//! the rows of one line have in common (all venues of a share, or of an option),
//! each [`Line`] once. `rows.texts`: the texts that both point to, each once, as JSON
//! has them (`json_text`).

mod heap;
mod json_text;
mod template;
mod verify;

use std::collections::HashMap;
use std::fmt;
use std::hint::black_box;
use std::path::Path;

use self::heap::{TextHeap, TextRef, text_at};
use self::json_text::{escape, unescape};
use self::template::{RowFields, pieces, template};
use super::file_writer::FileWriter;
use crate::error::{Error, Result};
use crate::instrument::Instrument;
use crate::instrument::figi::Figi;
use crate::instrument::vocabulary::Property;
use crate::mapped::{Mapped, u32_at, u64_at};

pub(crate) const FIGIS: &str = "rows.figis";
const RECORDS: &str = "rows.records";
const LINES: &str = "rows.lines";
const TEXTS: &str = "rows.texts";

const FIGI_BYTES: usize = 8;

/// Five `u32`: the place of the row's line, then places of texts: attributes,
/// securityDescription, uniqueID, uniqueIDFutOpt.
const RECORD_BYTES: usize = 5 * 4;

/// Two FIGIs as `u64` (0: none), then places of texts as `u32`: ticker, name,
/// metadata.
const LINE_BYTES: usize = 2 * FIGI_BYTES + 3 * 4;

/// What the rows of one line have in common.
type Line = [u8; LINE_BYTES];

/// What is particular to a row.
type Record = [u8; RECORD_BYTES];

/// The place that means "no text".
const NONE: TextRef = TextRef::MAX;

/// Their lengths in a combination, as `u16`.
const LENGTHS_BYTES: usize = 2 * Property::IN_RESULT.len();

/// The length that means "no text".
const NO_LENGTH: u16 = u16::MAX;

/// A result row: what the contract's "FIGI result" shows of an instrument, borrowed
/// from the index and read field by field.
#[derive(Clone, Copy)]
pub struct Row<'a> {
    figi: Figi,
    record: &'a [u8],
    line: &'a [u8],
    /// The texts of [`Property::IN_RESULT`], as [`combination`] puts them together; empty when
    /// there are none.
    attributes: &'a [u8],
    texts: &'a [u8],
}

/// A text of a row, as the index keeps it.
#[derive(Clone, Copy)]
pub struct Text<'a> {
    stored: &'a [u8],
    row: Row<'a>,
}

impl<'a> Row<'a> {
    /// The row's own FIGI.
    pub fn figi(self) -> Figi {
        self.figi
    }

    /// Composite FIGI.
    pub fn composite_figi(self) -> Option<Figi> {
        self.line_figi(0)
    }

    /// Share class FIGI.
    pub fn share_class_figi(self) -> Option<Figi> {
        self.line_figi(1)
    }

    /// Ticker.
    pub fn ticker(self) -> Option<Text<'a>> {
        self.line_text(0)
    }

    /// Name.
    pub fn name(self) -> Option<Text<'a>> {
        self.line_text(1)
    }

    /// Present where the attributes are not available.
    pub fn metadata(self) -> Option<Text<'a>> {
        self.line_text(2)
    }

    /// Exchange code.
    pub fn exch_code(self) -> Option<Text<'a>> {
        self.attribute(0)
    }

    /// Security type.
    pub fn security_type(self) -> Option<Text<'a>> {
        self.attribute(1)
    }

    /// Market sector.
    pub fn market_sector(self) -> Option<Text<'a>> {
        self.attribute(2)
    }

    /// Alternative security type.
    pub fn security_type2(self) -> Option<Text<'a>> {
        self.attribute(3)
    }

    /// Security description.
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

    fn line_figi(self, place: usize) -> Option<Figi> {
        match u64_at(self.line, place * FIGI_BYTES) {
            0 => None,
            number => Some(Figi::from_u64(number)),
        }
    }

    fn line_text(self, place: usize) -> Option<Text<'a>> {
        self.text(u32_at(self.line, 2 * FIGI_BYTES + place * 4))
    }

    fn attribute(self, place: usize) -> Option<Text<'a>> {
        let (lengths, texts) = self.attributes.split_first_chunk::<LENGTHS_BYTES>()?;
        let length = |place: usize| match u16::from_le_bytes(lengths.as_chunks().0[place]) {
            NO_LENGTH => None,
            length => Some(usize::from(length)),
        };
        let own = length(place)?;
        let before: usize = (0..place).filter_map(length).sum();
        Some(Text { stored: &texts[before..][..own], row: self })
    }

    fn text(self, place: TextRef) -> Option<Text<'a>> {
        (place != NONE).then(|| Text { stored: text_at(self.texts, place), row: self })
    }

    /// The fields that templates name.
    fn fields(self) -> RowFields<'a> {
        let stored = |text: Option<Text<'a>>| text.map_or(&[][..], |text| text.stored);
        RowFields {
            ticker: stored(self.ticker()),
            exch_code: stored(self.exch_code()),
            market_sector: stored(self.market_sector()),
        }
    }
}

impl<'a> Text<'a> {
    /// The text in pieces, one after the other, as they stand between the quotes of a
    /// JSON string.
    pub fn json_pieces(self) -> impl Iterator<Item = &'a [u8]> {
        pieces(self.stored, move || self.row.fields())
    }
}

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.json_pieces().try_for_each(|piece| match str::from_utf8(piece) {
            Ok(plain) if !plain.contains('\\') => f.write_str(plain),
            _ => f.write_str(&unescape(piece).expect("a text that was verified")),
        })
    }
}

/// Writes the rows of one part, in FIGI order.
pub(crate) struct RowsWriter {
    figis: FileWriter,
    records: FileWriter,
    lines: FileWriter,
    /// The place of each line that was written.
    known: HashMap<Line, u32>,
    texts: TextHeap,
    buffer: Vec<u8>,
}

impl RowsWriter {
    pub(crate) fn create(part: &Path) -> Result<Self> {
        let create = |name: &str| FileWriter::create(part.join(name));
        Ok(Self {
            figis: create(FIGIS)?,
            records: create(RECORDS)?,
            lines: create(LINES)?,
            known: HashMap::new(),
            texts: TextHeap::default(),
            buffer: Vec::new(),
        })
    }

    pub(crate) fn add(&mut self, instrument: &Instrument) -> Result<()> {
        fn bytes(text: Option<&str>) -> &[u8] {
            text.map_or(&[], str::as_bytes)
        }
        let fields = RowFields {
            ticker: bytes(instrument.ticker.as_deref()),
            exch_code: bytes(instrument.property(Property::ExchCode)),
            market_sector: bytes(instrument.property(Property::MarketSecDes)),
        };
        let numbers = [
            self.line(instrument)?,
            self.attributes(instrument)?,
            self.templated(instrument.security_description.as_deref(), fields)?,
            self.templated(instrument.unique_id.as_deref(), fields)?,
            self.templated(instrument.unique_id_fut_opt.as_deref(), fields)?,
        ];
        let mut record: Record = [0; RECORD_BYTES];
        for (slot, number) in record.chunks_exact_mut(4).zip(numbers) {
            slot.copy_from_slice(&number.to_le_bytes());
        }
        self.figis.write(&instrument.figi.to_u64().to_le_bytes())?;
        self.records.write(&record)
    }

    pub(crate) fn finish(self, part: &Path) -> Result<()> {
        self.texts.write(&part.join(TEXTS))?;
        [self.figis, self.records, self.lines].into_iter().try_for_each(FileWriter::finish)
    }

    /// The place of the instrument's line, which is written unless it is there.
    fn line(&mut self, instrument: &Instrument) -> Result<u32> {
        let mut line: Line = [0; LINE_BYTES];
        let figis = [instrument.composite_figi, instrument.share_class_figi];
        for (slot, figi) in line.chunks_exact_mut(FIGI_BYTES).zip(figis) {
            slot.copy_from_slice(&figi.map_or(0, Figi::to_u64).to_le_bytes());
        }
        let texts = [&instrument.ticker, &instrument.name, &instrument.metadata];
        for (slot, text) in line[2 * FIGI_BYTES..].chunks_exact_mut(4).zip(texts) {
            slot.copy_from_slice(&self.text(text.as_deref())?.to_le_bytes());
        }
        let next = self.known.len();
        if let Some(place) = self.known.get(&line) {
            return Ok(*place);
        }
        let place = u32::try_from(next).map_err(|_| Error::PartTooLarge("lines"))?;
        self.lines.write(&line)?;
        self.known.insert(line, place);
        Ok(place)
    }

    fn text(&mut self, text: Option<&str>) -> Result<TextRef> {
        let Some(text) = text else { return Ok(NONE) };
        self.buffer.clear();
        escape(text, &mut self.buffer);
        self.texts.put(&self.buffer)
    }

    fn templated(&mut self, text: Option<&str>, fields: RowFields<'_>) -> Result<TextRef> {
        let Some(text) = text else { return Ok(NONE) };
        template(text, fields, &mut self.buffer);
        self.texts.put(&self.buffer)
    }

    fn attributes(&mut self, instrument: &Instrument) -> Result<TextRef> {
        let texts = Property::IN_RESULT.map(|property| instrument.property(property));
        if texts.iter().all(Option::is_none) {
            return Ok(NONE);
        }
        self.buffer.clear();
        combination(texts, &mut self.buffer)?;
        self.texts.put(&self.buffer)
    }
}

/// Puts texts that repeat together into one: their lengths as `u16`, then the texts.
fn combination(texts: [Option<&str>; Property::IN_RESULT.len()], out: &mut Vec<u8>) -> Result<()> {
    out.resize(LENGTHS_BYTES, 0);
    for (place, text) in texts.into_iter().enumerate() {
        let start = out.len();
        text.into_iter().for_each(|text| escape(text, out));
        let length = match u16::try_from(out.len() - start) {
            _ if text.is_none() => NO_LENGTH,
            Ok(length) if length != NO_LENGTH => length,
            _ => return Err(Error::PartTooLarge("bytes in one text")),
        };
        out[2 * place..][..2].copy_from_slice(&length.to_le_bytes());
    }
    Ok(())
}

/// The rows of one part of a published generation.
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

    /// How many rows there are.
    pub(crate) fn len(&self) -> usize {
        self.figis.len() / FIGI_BYTES
    }

    /// The FIGI of a DocId.
    pub(crate) fn figi(&self, doc: u32) -> Figi {
        Figi::from_u64(u64_at(&self.figis, doc as usize * FIGI_BYTES))
    }

    /// The DocId of a FIGI, by binary search.
    pub(crate) fn find(&self, figi: Figi) -> Option<u32> {
        let doc = self.first_not(|other| other < figi);
        (doc < self.len() as u32 && self.figi(doc) == figi).then_some(doc)
    }

    /// The same for many FIGIs, each with something of the caller's: all searches take each
    /// step together, and none waits for another's memory.
    pub(crate) fn find_all<T>(&self, figis: &[(T, Figi)]) -> impl Iterator<Item = Option<u32>> {
        let count = self.len() as u32;
        let mut ends: Vec<(u32, u32)> = vec![(0, count); figis.len()];
        // A range of n is empty after as many halvings as n has bits.
        for _ in 0..u32::BITS - count.leading_zeros() {
            for ((low, high), (_, figi)) in ends.iter_mut().zip(figis) {
                let middle = *low + (*high - *low) / 2;
                if low < high && self.figi(middle) < *figi {
                    *low = middle + 1;
                } else {
                    *high = middle;
                }
            }
        }
        let found = ends.into_iter().zip(figis);
        found.map(move |((doc, _), (_, figi))| {
            (doc < count && self.figi(doc) == *figi).then_some(doc)
        })
    }

    /// Touches what reading the rows of these DocIds will look at: first where their
    /// parts are, then the parts, so that no read waits for that of another row.
    pub(crate) fn read_ahead(&self, docs: impl Iterator<Item = u32> + Clone) {
        let record = |doc: u32| &self.records[doc as usize * RECORD_BYTES..][..RECORD_BYTES];
        let line = |doc: u32| u32_at(record(doc), 0) as usize * LINE_BYTES;
        black_box(
            docs.clone()
                .fold(0, |all, doc| all ^ record(doc)[0] ^ self.figis[doc as usize * FIGI_BYTES]),
        );
        black_box(docs.clone().fold(0, |all, doc| {
            all ^ self.lines[line(doc)] ^ self.lines[line(doc) + LINE_BYTES - 1]
        }));
        let text = |place: u32| self.texts.get(place as usize).copied().unwrap_or(0);
        black_box(docs.fold(0, |all, doc| {
            let (record, line) = (record(doc), &self.lines[line(doc)..][..LINE_BYTES]);
            let [ticker, name] = [0, 4].map(|at| u32_at(line, 2 * FIGI_BYTES + at));
            all ^ text(ticker) ^ text(name) ^ text(u32_at(record, 4)) ^ text(u32_at(record, 8))
        }));
    }

    /// The first DocId whose FIGI is greater, or the count of rows.
    pub(crate) fn first_after(&self, figi: Figi) -> u32 {
        self.first_not(|other| other <= figi)
    }

    /// The first DocId whose FIGI is not before the searched one.
    fn first_not(&self, before: impl Fn(Figi) -> bool) -> u32 {
        let (mut low, mut high) = (0, self.len() as u32);
        while low < high {
            let middle = low + (high - low) / 2;
            if before(self.figi(middle)) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// The row of a DocId.
    ///
    /// # Panics
    /// When there is no such DocId.
    pub(crate) fn get(&self, doc: u32) -> Row<'_> {
        let record = &self.records[doc as usize * RECORD_BYTES..][..RECORD_BYTES];
        let line = u32_at(record, 0) as usize * LINE_BYTES;
        let attributes = match u32_at(record, 4) {
            NONE => &[][..],
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
}
