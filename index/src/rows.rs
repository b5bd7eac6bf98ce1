//! The result fields of every instrument of a part, by DocId: what turns a hit
//! into a row without tantivy's doc store (engine, decision 5).
//!
//! Four files. `rows.figis`: the FIGIs as ascending `u64`, which is also how a
//! FIGI finds its DocId. `rows.records`: one [`Record`] a row. `rows.lines`: what
//! the rows of one line have in common (all venues of a share, or of an option),
//! each [`Line`] once. `rows.texts`: the texts that both point to, each once.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;

use crate::error::{Error, Result};
use crate::figi::Figi;
use crate::instrument::Instrument;
use crate::mapped::{Mapped, u32_at, u64_at};
use crate::template::{RowFields, Text, template};
use crate::texts::{TextHeap, TextRef, text_at};
use crate::vocabulary::Property;

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

/// The repeated combination: exchCode, securityType, marketSector, securityType2.
pub(crate) const ATTRIBUTES: [Property; 4] =
    [Property::ExchCode, Property::SecurityType, Property::MarketSecDes, Property::SecurityType2];

/// A result row: what the contract's "FIGI result" shows of an instrument,
/// borrowed from the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row<'a> {
    /// The row's own FIGI.
    pub figi: Figi,
    /// Composite FIGI.
    pub composite_figi: Option<Figi>,
    /// Share class FIGI.
    pub share_class_figi: Option<Figi>,
    /// Ticker.
    pub ticker: Option<&'a str>,
    /// Name.
    pub name: Option<&'a str>,
    /// Security description.
    pub security_description: Option<Text<'a>>,
    /// Exchange code.
    pub exch_code: Option<&'a str>,
    /// Security type.
    pub security_type: Option<&'a str>,
    /// Market sector.
    pub market_sector: Option<&'a str>,
    /// Alternative security type.
    pub security_type2: Option<&'a str>,
    /// Present where the attributes are not available.
    pub metadata: Option<&'a str>,
    /// `uniqueID` of v2 and v1.
    pub unique_id: Option<Text<'a>>,
    /// `uniqueIDFutOpt` of v2 and v1.
    pub unique_id_fut_opt: Option<Text<'a>>,
}

/// Writes the rows of one part, in FIGI order.
pub(crate) struct RowsWriter {
    figis: BufWriter<File>,
    records: BufWriter<File>,
    lines: BufWriter<File>,
    /// The place of each line that was written.
    known: HashMap<Line, u32>,
    texts: TextHeap,
    template: Vec<u8>,
}

impl RowsWriter {
    pub(crate) fn create(part: &Path) -> Result<Self> {
        let create = |name: &str| {
            let path = part.join(name);
            File::create_new(&path).map(BufWriter::new).map_err(Error::io(&path))
        };
        Ok(Self {
            figis: create(FIGIS)?,
            records: create(RECORDS)?,
            lines: create(LINES)?,
            known: HashMap::new(),
            texts: TextHeap::default(),
            template: Vec::new(),
        })
    }

    pub(crate) fn add(&mut self, instrument: &Instrument, part: &Path) -> Result<()> {
        let fields = RowFields {
            ticker: instrument.ticker.as_deref().unwrap_or(""),
            exch_code: instrument.property(Property::ExchCode).unwrap_or(""),
            market_sector: instrument.property(Property::MarketSecDes).unwrap_or(""),
        };
        let numbers = [
            self.line(instrument, part)?,
            self.combination(&ATTRIBUTES.map(|property| instrument.property(property)))?,
            self.templated(instrument.security_description.as_deref(), fields)?,
            self.templated(instrument.unique_id.as_deref(), fields)?,
            self.templated(instrument.unique_id_fut_opt.as_deref(), fields)?,
        ];
        let mut record: Record = [0; RECORD_BYTES];
        for (slot, number) in record.chunks_exact_mut(4).zip(numbers) {
            slot.copy_from_slice(&number.to_le_bytes());
        }
        self.figis.write_all(&instrument.figi.to_u64().to_le_bytes()).map_err(Error::io(part))?;
        self.records.write_all(&record).map_err(Error::io(part))
    }

    pub(crate) fn finish(self, part: &Path) -> Result<()> {
        self.texts.write(&part.join(TEXTS))?;
        for file in [self.figis, self.records, self.lines] {
            file.into_inner().map_err(|error| Error::io(part)(error.into_error()))?;
        }
        Ok(())
    }

    /// The place of the instrument's line, which is written unless it is there.
    fn line(&mut self, instrument: &Instrument, part: &Path) -> Result<u32> {
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
        self.lines.write_all(&line).map_err(Error::io(part))?;
        self.known.insert(line, place);
        Ok(place)
    }

    fn text(&mut self, text: Option<&str>) -> Result<TextRef> {
        text.map_or(Ok(NONE), |text| self.texts.put(text.as_bytes()))
    }

    fn templated(&mut self, text: Option<&str>, fields: RowFields<'_>) -> Result<TextRef> {
        let Some(text) = text else { return Ok(NONE) };
        self.texts.put(template(text, fields, &mut self.template))
    }

    /// Several texts that repeat together, as one.
    fn combination(&mut self, texts: &[Option<&str>]) -> Result<TextRef> {
        if texts.iter().all(Option::is_none) {
            return Ok(NONE);
        }
        let mut places = Vec::with_capacity(texts.len() * 4);
        for text in texts {
            places.extend_from_slice(&self.text(*text)?.to_le_bytes());
        }
        self.texts.put(&places)
    }
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
        let place = |place: usize| u32_at(record, place * 4);
        let line = &self.lines[place(0) as usize * LINE_BYTES..][..LINE_BYTES];
        let figi = |place: usize| match u64_at(line, place * FIGI_BYTES) {
            0 => None,
            number => Some(Figi::from_u64(number)),
        };
        let [ticker, name, metadata] =
            std::array::from_fn(|text| self.text(u32_at(line, 2 * FIGI_BYTES + text * 4)));
        let [exch_code, security_type, market_sector, security_type2] = self.combination(place(1));
        let fields = RowFields {
            ticker: ticker.unwrap_or(""),
            exch_code: exch_code.unwrap_or(""),
            market_sector: market_sector.unwrap_or(""),
        };
        let templated = |place| self.text(place).map(|stored| Text::new(stored, fields));
        Row {
            figi: self.figi(doc),
            composite_figi: figi(0),
            share_class_figi: figi(1),
            ticker,
            name,
            security_description: templated(place(2)),
            exch_code,
            security_type,
            market_sector,
            security_type2,
            metadata,
            unique_id: templated(place(3)),
            unique_id_fut_opt: templated(place(4)),
        }
    }

    /// The first place where the FIGIs do not ascend, if there is one.
    pub(crate) fn first_out_of_order(&self) -> Option<Figi> {
        (1..self.len() as u32)
            .map(|doc| (self.figi(doc - 1), self.figi(doc)))
            .find(|(before, figi)| before >= figi)
            .map(|(_, figi)| figi)
    }

    fn text(&self, place: TextRef) -> Option<&str> {
        (place != NONE).then(|| {
            str::from_utf8(text_at(&self.texts, place)).expect("rows.texts was written from texts")
        })
    }

    fn combination<const COUNT: usize>(&self, place: TextRef) -> [Option<&str>; COUNT] {
        if place == NONE {
            return [None; COUNT];
        }
        let places = text_at(&self.texts, place);
        std::array::from_fn(|index| self.text(u32_at(places, index * 4)))
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
            name: Some("Ünïcode".into()),
            security_description: Some("IBM".into()),
            unique_id: Some("EQ0010080100001000".into()),
            ..Instrument::new(figi("BBG000BLNQ16"))
        };
        full.properties[Property::ExchCode as usize] = Some("UN".into());
        full.properties[Property::SecurityType2 as usize] = Some("Common Stock".into());

        let mut writer = RowsWriter::create(folder.path()).unwrap();
        for instrument in [&bare, &full] {
            writer.add(instrument, folder.path()).unwrap();
        }
        writer.finish(folder.path()).unwrap();
        let rows = Rows::open(folder.path()).unwrap();

        assert_eq!(rows.len(), 2);
        let row = rows.get(0);
        assert_eq!((row.figi, row.ticker, row.exch_code), (bare.figi, None, None));
        assert_eq!((row.composite_figi, row.metadata), (None, None));
        let row = rows.get(1);
        assert_eq!(row.figi, full.figi);
        assert_eq!(row.composite_figi, full.composite_figi);
        assert_eq!(row.share_class_figi, full.share_class_figi);
        assert_eq!((row.ticker, row.name), (Some("IBM"), Some("Ünïcode")));
        assert_eq!((row.exch_code, row.security_type), (Some("UN"), None));
        assert_eq!(row.security_type2, Some("Common Stock"));
        assert_eq!(row.unique_id.unwrap().to_string(), "EQ0010080100001000");
        assert_eq!(row.security_description.unwrap().to_string(), "IBM");
        assert_eq!((row.metadata, row.unique_id_fut_opt), (None, None));
        for (doc, instrument) in [(0, &bare), (1, &full)] {
            assert_eq!(rows.find(instrument.figi), Some(doc));
        }
        assert_eq!(rows.find(figi("BBG001S5S399")), None);
        assert_eq!(rows.first_out_of_order(), None);
    }
}
