//! A log of versions: a record for each FIGI (`blocks`). An exported past is a whole log, which also
//! has the rows of open versions.
//!
//! A record is its length, the FIGI, the closed versions and the open one. A row in it is a bit for
//! each known column, by the names in the summary, and the values as texts; so a later version of
//! Figdex reads it whatever its index format is.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::super::blocks::{Blocks, BlocksKind, BlocksWriter};
use super::column::{PastColumn, held};
use super::stated::{Retired, RetiredKind};
use super::{OpenVersion, Version, VersionEnd, Versions};
use crate::error::{Error, Result};
use crate::instrument::Instrument;
use crate::instrument::date::Date;
use crate::instrument::encoding::{put_number, put_text, take_number, take_text};
use crate::instrument::figi::Figi;
use crate::instrument::id_type::{IdType, IdValue};
use crate::instrument::value::Slot;
use crate::part::file_writer::FileWriter;

static KIND: BlocksKind = BlocksKind {
    magic: *b"FGDXLOG\x01",
    name: "a log of the past",
    // A lookup reads a whole block.
    block_bytes: 16 << 10,
    summary_bytes_max: 4 << 20,
};

/// The days on which the rows were observed, as runs of consecutive days.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ObservedDays(Vec<(Date, Date)>);

impl ObservedDays {
    /// The first day.
    pub fn first(&self) -> Option<Date> {
        self.0.first().map(|run| run.0)
    }

    /// The last day.
    pub fn last(&self) -> Option<Date> {
        self.0.last().map(|run| run.1)
    }

    /// The number of days.
    pub fn count(&self) -> u64 {
        self.0.iter().map(|(first, last)| (last.to_days() - first.to_days() + 1) as u64).sum()
    }

    /// Adds a day after all others.
    pub(crate) fn push(&mut self, day: Date) {
        match self.0.last_mut() {
            Some(run) if run.1.to_days() + 1 == day.to_days() => run.1 = day,
            _ => self.0.push((day, day)),
        }
    }

    /// The last observed day before `day`.
    pub(crate) fn before(&self, day: Date) -> Option<Date> {
        let place = self.0.partition_point(|run| run.0 < day);
        let run = self.0[..place].last()?;
        Some(if run.1 < day { run.1 } else { Date::from_days(day.to_days() - 1)? })
    }

    /// The first observed day after `day`.
    pub(crate) fn after(&self, day: Date) -> Option<Date> {
        let place = self.0.partition_point(|run| run.1 <= day);
        let run = self.0.get(place)?;
        Some(if run.0 > day { run.0 } else { Date::from_days(day.to_days() + 1)? })
    }

    fn are_in_order(&self) -> bool {
        let mut last = None;
        self.0.iter().all(|(first, end)| {
            let is_next = last < Some(*first) && first <= end;
            last = Some(*end);
            is_next
        })
    }
}

/// The description of a log, which is in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogSummary {
    /// The names of the columns, in the order of the bits.
    pub columns: Vec<String>,
    /// The days on which the rows were observed.
    pub days: ObservedDays,
    /// The first day of each pair of market sector and exchange code, by both, with a tab between
    /// them: before it, the dumps had no such rows at all.
    pub covered: BTreeMap<String, Date>,
    /// Whether options, warrants and futures have versions.
    pub has_derivatives: bool,
    /// Whether each open version has its row, as in an exported past.
    pub is_whole: bool,
    /// The number of instruments on the last day, and of those with a value in each column.
    pub instruments: u64,
    /// See `instruments`.
    pub filled: BTreeMap<String, u64>,
    /// The FIGIs.
    pub figis: u64,
    /// The closed versions.
    pub versions: u64,
}

/// A log that is being written.
pub(crate) struct LogWriter {
    blocks: BlocksWriter,
    /// The summary, as far as it is known. Days and pairs may be added until it is finished.
    pub(crate) summary: LogSummary,
}

impl LogWriter {
    /// Creates a log. The summary has its days and what it covers; the rest is filled.
    pub(crate) fn create(path: PathBuf, summary: LogSummary) -> Result<Self> {
        Ok(Self::over(BlocksWriter::create(path, &KIND)?, summary))
    }

    /// As [`LogWriter::create`], but the file may exist. It is emptied.
    pub(crate) fn emptied(path: PathBuf, summary: LogSummary) -> Result<Self> {
        let file = FileWriter::emptied(path.clone())?;
        Ok(Self::over(BlocksWriter::over(file, path, &KIND)?, summary))
    }

    fn over(blocks: BlocksWriter, summary: LogSummary) -> Self {
        let columns = PastColumn::all().map(|column| column.name().to_owned()).collect();
        Self { blocks, summary: LogSummary { columns, figis: 0, versions: 0, ..summary } }
    }

    /// Adds the versions of the next FIGI. In a log that is not whole, `row` is the row of the open
    /// version, of which only what differs from the row is kept.
    pub(crate) fn add(&mut self, versions: &Versions, row: Option<&Instrument>) -> Result<()> {
        self.summary.figis += 1;
        self.summary.versions += versions.closed.len() as u64;
        self.blocks.add(versions.figi, |block| {
            let start = block.len();
            block.extend_from_slice(&[0; 4]);
            block.extend_from_slice(&versions.figi.to_u64().to_le_bytes());
            put_versions(block, versions, row);
            let length = (block.len() - start - 4) as u32;
            block[start..][..4].copy_from_slice(&length.to_le_bytes());
        })
    }

    pub(crate) fn finish(self) -> Result<LogSummary> {
        self.blocks.finish(&self.summary)?;
        Ok(self.summary)
    }
}

/// Appends the versions of a record.
fn put_versions(out: &mut Vec<u8>, versions: &Versions, row: Option<&Instrument>) {
    put_number(out, versions.closed.len());
    for version in &versions.closed {
        put_day(out, version.first);
        put_number(out, (version.last.to_days() - version.first.to_days()) as usize);
        out.push(version.end as u8);
        put_learned(out, &version.learned);
        put_image(out, &version.image, PastColumn::all());
    }
    out.push(u8::from(versions.open.is_some()));
    if let Some(open) = &versions.open {
        put_day(out, open.first);
        put_learned(out, &open.learned);
        match row {
            Some(row) => put_image(out, &open.image, held(&open.image, row)),
            None => put_image(out, &open.image, PastColumn::all()),
        }
    }
    put_number(out, versions.stated.len());
    versions.stated.iter().for_each(|retired| put_retired(out, retired));
}

/// The versions of a record of a whole log.
#[cfg(test)]
pub(super) fn encoded(versions: &Versions) -> Vec<u8> {
    let mut out = Vec::new();
    put_versions(&mut out, versions, None);
    out
}

fn put_day(out: &mut Vec<u8>, day: Date) {
    // The years 0 to 9999 have 719,528 days before 1970.
    put_number(out, (day.to_days() + DAYS_BEFORE_1970) as usize);
}

const DAYS_BEFORE_1970: i64 = 719_528;

fn put_retired(out: &mut Vec<u8>, retired: &Retired) {
    put_text(out, retired.id_value.id_type().name());
    put_text(out, retired.id_value.as_str());
    let day = |day: Option<Date>, bit: u8| if day.is_some() { bit } else { 0 };
    let successor = if retired.successor.is_some() { HAS_SUCCESSOR } else { 0 };
    out.push(day(retired.from, HAS_FROM) | day(retired.to, HAS_TO) | successor);
    out.push(retired.kind as u8);
    [retired.from, retired.to].into_iter().flatten().for_each(|day| put_day(out, day));
    if let Some(figi) = retired.successor {
        out.extend_from_slice(&figi.to_u64().to_le_bytes());
    }
}

/// The bits that say which of its optional values a retired identifier has.
const HAS_FROM: u8 = 1;
const HAS_TO: u8 = 2;
const HAS_SUCCESSOR: u8 = 4;

fn put_learned(out: &mut Vec<u8>, learned: &[(PastColumn, Date)]) {
    put_number(out, learned.len());
    for (column, day) in learned {
        let place = PastColumn::all().position(|one| one == *column);
        put_number(out, place.expect("a column of the table"));
        put_day(out, *day);
    }
}

fn put_image(out: &mut Vec<u8>, image: &Instrument, columns: impl Iterator<Item = PastColumn>) {
    let start = out.len();
    out.extend_from_slice(&[0; 8]);
    let mut present: u64 = 0;
    let mut columns = columns.peekable();
    for (place, column) in PastColumn::all().enumerate() {
        if columns.next_if_eq(&column).is_none() {
            continue;
        }
        let Some(value) = column.value(image) else { continue };
        present |= 1 << place;
        match value.list() {
            Some(list) => {
                put_number(out, list.len());
                list.into_iter().for_each(|text| put_text(out, text));
            }
            None => put_text(out, &value.to_string()),
        }
    }
    out[start..][..8].copy_from_slice(&present.to_le_bytes());
}

/// A log, open for reading.
pub struct PastLog {
    blocks: Blocks,
    summary: LogSummary,
    /// The columns by their bits.
    columns: Vec<PastColumn>,
}

/// A record as it is in a log: of the open version, the image has only what differs from its row.
pub(crate) struct LogRecord(Versions);

impl LogRecord {
    /// The FIGI.
    pub(crate) fn figi(&self) -> Figi {
        self.0.figi
    }

    /// The versions, with the row of the open one; `None` in a whole log, which has it.
    pub(crate) fn versions(self, row: Option<&Instrument>) -> Versions {
        let Self(mut versions) = self;
        if let (Some(open), Some(row)) = (&mut versions.open, row) {
            let held = std::mem::replace(&mut open.image, super::column::image_of(row));
            for column in PastColumn::all().filter(|column| column.value(&held).is_some()) {
                column.copy(&held, &mut open.image);
            }
        }
        versions
    }

    /// Whether the row of the open version is that of today, and nothing is stated of the FIGI.
    pub(crate) fn is_open_as_row(&self) -> bool {
        let open = self.0.open.as_ref();
        let is_held = |image: &Instrument| PastColumn::all().any(|it| it.value(image).is_some());
        self.0.stated.is_empty() && open.is_some_and(|open| !is_held(&open.image))
    }

    /// Whether a row is still observed.
    pub(crate) fn is_open(&self) -> bool {
        self.0.open.is_some()
    }
}

/// The blocks of a log that were unpacked last, each with its number. FIGIs of one security are
/// mostly neighbours.
#[derive(Default)]
pub(crate) struct UnpackedBlocks(VecDeque<(usize, Vec<u8>)>);

impl UnpackedBlocks {
    /// The bytes of 16 blocks. No more are kept when another one is unpacked.
    const BYTES_MAX: usize = 16 * KIND.block_bytes;

    /// A block, which is unpacked unless it is kept.
    ///
    /// # Errors
    /// Those of `unpack`.
    pub(super) fn get(
        &mut self,
        number: usize,
        unpack: impl FnOnce() -> Result<Vec<u8>>,
    ) -> Result<&[u8]> {
        let place = self.0.iter().position(|(of, _)| *of == number);
        if let Some(place) = place {
            return Ok(&self.0[place].1);
        }
        let block = unpack()?;
        while self.bytes() > Self::BYTES_MAX {
            self.0.pop_back();
        }
        self.0.push_front((number, block));
        Ok(&self.0[0].1)
    }

    /// The bytes of the blocks that are kept.
    pub(super) fn bytes(&self) -> usize {
        self.0.iter().map(|(_, block)| block.len()).sum()
    }
}

impl PastLog {
    /// Opens a log, and checks all but its records.
    ///
    /// # Errors
    /// [`Error::Io`], and [`Error::Damaged`] also when the log has columns that this version does
    /// not know.
    pub fn open(path: &Path) -> Result<Self> {
        let (blocks, summary) = Blocks::open::<LogSummary>(path, &KIND)?;
        let columns: Option<Vec<_>> =
            summary.columns.iter().map(|name| PastColumn::from_name(name)).collect();
        let columns = columns.filter(|columns| columns.len() <= u64::BITS as usize);
        let Some(columns) = columns else {
            let what = "it has columns that this version of Figdex does not know; use a later one";
            return Err(Error::damaged(path, what));
        };
        if !summary.days.are_in_order() {
            return Err(Error::damaged(path, "its days are not in order"));
        }
        Ok(Self { blocks, summary, columns })
    }

    /// The description of the log.
    pub fn summary(&self) -> &LogSummary {
        &self.summary
    }

    /// The path of the log.
    pub(crate) fn path(&self) -> &Path {
        self.blocks.path()
    }

    /// The record of a FIGI.
    pub(crate) fn get(&self, figi: Figi) -> Result<Option<LogRecord>> {
        self.get_by(figi, &mut UnpackedBlocks::default())
    }

    /// The record of a FIGI. `unpacked` keeps some blocks of this log between calls.
    pub(crate) fn get_by(
        &self,
        figi: Figi,
        unpacked: &mut UnpackedBlocks,
    ) -> Result<Option<LogRecord>> {
        if self.blocks.len() == 0 {
            return Ok(None);
        }
        let number = self.blocks.block_of(figi);
        let block = unpacked.get(number, || self.blocks.unpacked(number))?;
        let mut rest = block;
        while !rest.is_empty() {
            let (found, record) = self.split(&mut rest)?;
            if found == figi {
                return self.record(found, record).map(Some);
            }
        }
        Ok(None)
    }

    /// All records, in FIGI order.
    pub(crate) fn records(&self) -> LogRecords<'_> {
        LogRecords { log: self, next: 0, plain: Vec::new(), place: 0, last: None }
    }

    /// Calls `each` with the FIGI and the number of closed versions of every record.
    pub(crate) fn for_each(&self, mut each: impl FnMut(&LogRecord) -> Result<()>) -> Result<()> {
        let mut records = self.records();
        while let Some(record) = records.next()? {
            each(&record)?;
        }
        Ok(())
    }

    fn damaged(&self) -> Error {
        Error::damaged(self.path(), "a record cannot be decoded")
    }

    /// Takes a record off the front of a block, without decoding it.
    fn split<'a>(&self, rest: &mut &'a [u8]) -> Result<(Figi, &'a [u8])> {
        let split = |bytes: &mut &'a [u8]| {
            let (length, rest) = bytes.split_first_chunk()?;
            let (record, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
            *bytes = rest;
            let (figi, record) = record.split_first_chunk()?;
            Some((Figi::from_u64(u64::from_le_bytes(*figi)), record))
        };
        split(rest).ok_or_else(|| self.damaged())
    }

    fn record(&self, figi: Figi, bytes: &[u8]) -> Result<LogRecord> {
        self.decoded(figi, bytes).map(LogRecord).ok_or_else(|| self.damaged())
    }

    pub(super) fn decoded(&self, figi: Figi, mut bytes: &[u8]) -> Option<Versions> {
        let bytes = &mut bytes;
        let mut closed = Vec::new();
        for _ in 0..take_number(bytes)? {
            let first = take_day(bytes)?;
            let last = Date::from_days(first.to_days() + take_number(bytes)? as i64)?;
            let (end, rest) = bytes.split_first()?;
            *bytes = rest;
            let end = match end {
                0 => VersionEnd::Replaced,
                1 => VersionEnd::Gone,
                2 => VersionEnd::Expired,
                3 => VersionEnd::Revised,
                _ => return None,
            };
            let learned = self.take_learned(bytes)?;
            let image = self.take_image(figi, bytes)?;
            closed.push(Version { first, last, end, learned, image });
        }
        let (is_open, rest) = bytes.split_first()?;
        *bytes = rest;
        let open = match is_open {
            0 => None,
            _ => {
                let first = take_day(bytes)?;
                let learned = self.take_learned(bytes)?;
                Some(OpenVersion { first, learned, image: self.take_image(figi, bytes)? })
            }
        };
        let mut stated = Vec::new();
        for _ in 0..take_number(bytes)? {
            stated.push(take_retired(bytes)?);
        }
        bytes.is_empty().then_some(Versions { figi, closed, open, stated })
    }

    fn take_learned(&self, bytes: &mut &[u8]) -> Option<Vec<(PastColumn, Date)>> {
        let mut learned = Vec::new();
        for _ in 0..take_number(bytes)? {
            learned.push((*self.columns.get(take_number(bytes)?)?, take_day(bytes)?));
        }
        Some(learned)
    }

    fn take_image(&self, figi: Figi, bytes: &mut &[u8]) -> Option<Instrument> {
        let (present, rest) = bytes.split_first_chunk()?;
        *bytes = rest;
        let mut present = u64::from_le_bytes(*present);
        let mut image = Instrument::new(figi);
        for column in &self.columns {
            if present & 1 != 0 {
                take_value(*column, &mut image, bytes)?;
            }
            present >>= 1;
        }
        (present == 0).then_some(image)
    }
}

fn take_day(bytes: &mut &[u8]) -> Option<Date> {
    Date::from_days(take_number(bytes)? as i64 - DAYS_BEFORE_1970)
}

fn take_retired(bytes: &mut &[u8]) -> Option<Retired> {
    let id_type = IdType::from_name(take_text(bytes)?)?;
    let id_value = id_type.admit(take_text(bytes)?).ok()?.into_owned();
    let (bits, rest) = bytes.split_first()?;
    let (kind, rest) = rest.split_first()?;
    *bytes = rest;
    let kind = *RetiredKind::ALL.get(usize::from(*kind))?;
    let mut day = |bit| if bits & bit == 0 { Some(None) } else { take_day(bytes).map(Some) };
    let (from, to) = (day(HAS_FROM)?, day(HAS_TO)?);
    let successor = match bits & HAS_SUCCESSOR {
        0 => None,
        _ => {
            let (figi, rest) = bytes.split_first_chunk()?;
            *bytes = rest;
            Some(Figi::from_u64(u64::from_le_bytes(*figi)))
        }
    };
    Some(Retired { id_value, from, to, kind, successor })
}

fn take_value(column: PastColumn, image: &mut Instrument, bytes: &mut &[u8]) -> Option<()> {
    match column {
        PastColumn::Identifiers(id_type) => {
            for _ in 0..take_number(bytes)? {
                let value = id_type.admit(take_text(bytes)?).ok()?;
                image.identifiers.push(IdValue::into_owned(value));
            }
        }
        PastColumn::Property(property) => {
            image.properties[property as usize] = Some(take_text(bytes)?.to_owned());
        }
        PastColumn::Attribute(attribute) => {
            let text = take_text(bytes)?;
            match image.slot(attribute) {
                Slot::Text(slot) => *slot = Some(text.to_owned()),
                Slot::Figi(slot) => *slot = Some(Figi::parse(text).ok()?),
                Slot::Date(slot) => *slot = Some(Date::parse(text).ok()?),
                Slot::Flag(slot) => *slot = Some(text.parse().ok()?),
                _ => return None,
            }
        }
    }
    Some(())
}

/// The records of a log, in FIGI order.
pub(crate) struct LogRecords<'a> {
    log: &'a PastLog,
    next: usize,
    plain: Vec<u8>,
    place: usize,
    last: Option<Figi>,
}

impl LogRecords<'_> {
    pub(crate) fn next(&mut self) -> Result<Option<LogRecord>> {
        while self.place == self.plain.len() {
            if self.next == self.log.blocks.len() {
                return Ok(None);
            }
            self.plain = self.log.blocks.unpacked(self.next)?;
            (self.next, self.place) = (self.next + 1, 0);
        }
        let mut rest = &self.plain[self.place..];
        let (figi, record) = self.log.split(&mut rest)?;
        if self.last >= Some(figi) {
            return Err(self.log.damaged());
        }
        let record = self.log.record(figi, record)?;
        self.place = self.plain.len() - rest.len();
        self.last = Some(figi);
        Ok(Some(record))
    }
}

/// The name of a pair of market sector and exchange code in [`LogSummary::covered`].
pub(crate) fn pair_of(sector: &str, exch_code: &str) -> String {
    format!("{sector}\t{exch_code}")
}
