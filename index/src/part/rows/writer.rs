//! Writing the rows of a part: each line and each text once.

use std::collections::HashMap;
use std::path::Path;

use super::heap::{HeldText, TextHeap, TextRef};
use super::json_text::escape;
use super::template::{RowFields, template};
use super::{
    FIGI_BYTES, FIGIS, LENGTHS_BYTES, LINE_BYTES, LINES, Line, NO_LENGTH, NONE, RECORD_BYTES,
    RECORDS, Record, TEXTS,
};
use crate::error::{Error, Result};
use crate::instrument::Instrument;
use crate::instrument::figi::Figi;
use crate::instrument::vocabulary::Property;
use crate::part::file_writer::FileWriter;

/// Writes the rows of one part, in FIGI order.
pub(crate) struct RowsWriter {
    figis: FileWriter,
    records: FileWriter,
    lines: FileWriter,
    /// The number of each line that was written.
    known: HashMap<Line, u32>,
    texts: Texts,
}

/// The texts that records and lines point to.
#[derive(Default)]
pub(super) struct Texts {
    pub(super) heap: TextHeap,
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
            texts: Texts::default(),
        })
    }

    pub(crate) fn add(&mut self, instrument: &Instrument) -> Result<()> {
        let line = self.texts.line(instrument)?;
        let number = self.number(line)?;
        let record = self.texts.record(number, instrument)?;
        self.figis.write(&instrument.figi.to_u64().to_le_bytes())?;
        self.records.write(&record)
    }

    pub(crate) fn finish(self, part: &Path) -> Result<()> {
        self.texts.heap.write(&part.join(TEXTS))?;
        [self.figis, self.records, self.lines].into_iter().try_for_each(FileWriter::finish)
    }

    /// The number of a line. Writes the line if it is new.
    fn number(&mut self, line: Line) -> Result<u32> {
        if let Some(number) = self.known.get(&line) {
            return Ok(*number);
        }
        let number = u32::try_from(self.known.len()).map_err(|_| Error::PartTooLarge("lines"))?;
        self.lines.write(&line)?;
        self.known.insert(line, number);
        Ok(number)
    }
}

impl Texts {
    /// The line of an instrument.
    pub(super) fn line(&mut self, instrument: &Instrument) -> Result<Line> {
        let mut line: Line = [0; LINE_BYTES];
        let figis = [instrument.composite_figi, instrument.share_class_figi];
        for (slot, figi) in line.chunks_exact_mut(FIGI_BYTES).zip(figis) {
            slot.copy_from_slice(&figi.map_or(0, Figi::to_u64).to_le_bytes());
        }
        let texts = [&instrument.ticker, &instrument.name, &instrument.metadata];
        for (slot, text) in line[2 * FIGI_BYTES..].chunks_exact_mut(4).zip(texts) {
            slot.copy_from_slice(&self.text(text.as_deref())?.to_le_bytes());
        }
        Ok(line)
    }

    /// The record of an instrument. `line` is the number of its line.
    pub(super) fn record(&mut self, line: u32, instrument: &Instrument) -> Result<Record> {
        fn held(text: Option<&str>) -> Option<HeldText<'_>> {
            text.map(|text| text.as_bytes().into())
        }
        let fields = RowFields::of(
            held(instrument.ticker.as_deref()),
            held(instrument.property(Property::ExchCode)),
            held(instrument.property(Property::MarketSecDes)),
        );
        let numbers = [
            line,
            self.attributes(instrument)?,
            self.templated(instrument.security_description.as_deref(), fields)?,
            self.templated(instrument.unique_id.as_deref(), fields)?,
            self.templated(instrument.unique_id_fut_opt.as_deref(), fields)?,
        ];
        let mut record: Record = [0; RECORD_BYTES];
        for (slot, number) in record.chunks_exact_mut(4).zip(numbers) {
            slot.copy_from_slice(&number.to_le_bytes());
        }
        Ok(record)
    }

    fn text(&mut self, text: Option<&str>) -> Result<TextRef> {
        let Some(text) = text else { return Ok(NONE) };
        self.buffer.clear();
        escape(text, &mut self.buffer);
        self.heap.put(&self.buffer)
    }

    fn templated(&mut self, text: Option<&str>, fields: RowFields<'_>) -> Result<TextRef> {
        let Some(text) = text else { return Ok(NONE) };
        template(text, fields, &mut self.buffer);
        self.heap.put(&self.buffer)
    }

    fn attributes(&mut self, instrument: &Instrument) -> Result<TextRef> {
        let texts = Property::IN_RESULT.map(|property| instrument.property(property));
        if texts.iter().all(Option::is_none) {
            return Ok(NONE);
        }
        self.buffer.clear();
        combination(texts, &mut self.buffer)?;
        self.heap.put(&self.buffer)
    }
}

/// Combines texts that often occur together into one: their lengths as `u16`, then the escaped
/// texts.
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
