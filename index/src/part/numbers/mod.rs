//! Flat columns of the numbers and days that filters with intervals compare (engine 12).
//!
//! Each column is two files. `numbers.strike.values`, for example, has the distinct values,
//! ascending. `numbers.strike.ordinals` has an ordinal for each DocId: the place of its value from
//! 1 on, or 0 for no value. An interval becomes a range of ordinals, and a row passes when its
//! ordinal is in that range. Ordinals take one, two or four bytes, so that many are compared at a
//! time. Values are stored as `u64` numbers in the same order; all numbers are little-endian.

mod writer;

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

pub(crate) use self::writer::NumbersWriter;
use crate::error::{Error, Result};
use crate::instrument::Instrument;
use crate::instrument::attribute::Attribute;
use crate::instrument::date::Date;
use crate::mapped::{Mapped, first_index, u64_at};
use crate::meter::Meter;
use crate::part::bitmaps::Bitmap;
use crate::query::Filters;

const VALUE_BYTES: usize = 8;

/// The number of rows that are counted between two charges, and the units of work of counting them.
const COUNTED_ROWS: usize = 1 << 14;
const COUNTED_UNITS: u64 = 3_000;

/// The columns of one part: those of [`Attribute::compared`].
pub(crate) struct Numbers(Vec<NumberColumn>);

/// One column.
struct NumberColumn {
    values: Mapped,
    ordinals: Mapped,
    width: Width,
    /// The number of rows up to each ordinal, once it was asked for: of all rows, and without the
    /// unlisted equities. The total of an interval is the difference of two of them.
    totals: [OnceLock<Box<[u32]>>; 2],
}

/// The number of bytes of an ordinal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Width {
    One,
    Two,
    Four,
}

/// An interval of a question, as a range of a column's ordinals.
#[derive(Clone)]
pub(crate) struct Interval<'a> {
    column: &'a NumberColumn,
    ordinals: Range<u32>,
}

/// The values of an instrument in each column, as numbers that sort like the values.
fn values(instrument: &Instrument) -> impl Iterator<Item = Option<u64>> {
    let numbers = instrument.filter_numbers().map(|number| number.map(of_number));
    let dates = instrument.filter_dates().map(|date| date.map(of_day));
    numbers.into_iter().chain(dates)
}

/// Turns a finite number into a `u64` of the same order; 0 and -0 give the same.
fn of_number(number: f64) -> u64 {
    let bits = (number + 0.0).to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

/// Turns a day into a `u64` of the same order.
fn of_day(date: Date) -> u64 {
    (date.to_days() as u64) ^ 1 << 63
}

impl Numbers {
    pub(crate) fn open(part: &Path, docs: usize) -> Result<Self> {
        let columns = Attribute::compared().map(|one| NumberColumn::open(part, one.name(), docs));
        columns.collect::<Result<_>>().map(Self)
    }

    /// The intervals of `filters`, each on its column.
    pub(crate) fn intervals(&self, filters: &Filters) -> Vec<Interval<'_>> {
        // Most questions ask for none.
        if !filters.has_intervals() {
            return Vec::new();
        }
        let numbers = filters.numbers.map(|interval| {
            interval.map(|interval| (interval.low().map(of_number), interval.high().map(of_number)))
        });
        let dates = filters.dates.map(|interval| {
            interval.map(|days| (Some(of_day(days.first())), Some(of_day(days.last()))))
        });
        let asked = numbers.into_iter().chain(dates);
        let intervals = self.0.iter().zip(asked).filter_map(|(column, asked)| {
            let (low, high) = asked?;
            Some(Interval { column, ordinals: column.range(low, high) })
        });
        intervals.collect()
    }

    /// Whether a row has the numbers and days of `instrument`.
    pub(crate) fn are_of(&self, instrument: &Instrument, doc: u32) -> bool {
        let columns = self.0.iter().zip(values(instrument));
        columns.into_iter().all(|(column, value)| column.value(doc) == value)
    }

    /// Checks the conditions that reading relies on: values ascend, and each ordinal has a value.
    ///
    /// # Errors
    /// [`Error::Damaged`] for the first column that fails.
    pub(crate) fn verify(&self, part: &Path) -> Result<()> {
        for (name, column) in Attribute::compared().map(Attribute::name).zip(&self.0) {
            let count = column.count();
            let values = (0..count).map(|place| u64_at(&column.values, place * VALUE_BYTES));
            let docs = column.ordinals.len() / column.width.bytes();
            let mut ordinals = (0..docs).map(|doc| column.ordinal(doc as u32));
            if !values.is_sorted_by(|a, b| a < b) || ordinals.any(|place| place as usize > count) {
                return Err(Error::damaged(
                    part,
                    format!("numbers of {name}: values do not ascend, or an ordinal has no value"),
                ));
            }
        }
        Ok(())
    }
}

impl NumberColumn {
    fn open(part: &Path, name: &str, docs: usize) -> Result<Self> {
        let [values, ordinals] = paths(part, name);
        let values = Mapped::open(&values)?;
        let width = Width::of(values.len() / VALUE_BYTES);
        let ordinals = Mapped::open(&ordinals)?;
        let column = Self { values, ordinals, width, totals: Default::default() };
        let is_whole = column.values.len() == column.count() * VALUE_BYTES
            && column.ordinals.len() == docs * width.bytes();
        if is_whole {
            Ok(column)
        } else {
            Err(Error::damaged(part, format!("numbers of {name}: a file has the wrong size")))
        }
    }

    /// The number of distinct values.
    fn count(&self) -> usize {
        self.values.len() / VALUE_BYTES
    }

    /// The ordinals of the values from `low` to `high`, both included; `None` for an open end.
    fn range(&self, low: Option<u64>, high: Option<u64>) -> Range<u32> {
        let places = 0..self.count() as u32;
        let value = |place: u32| u64_at(&self.values, place as usize * VALUE_BYTES);
        let start = low.map_or(0, |low| first_index(places.clone(), |place| value(place) >= low));
        let end = high
            .map_or(places.end, |high| first_index(places.clone(), |place| value(place) > high));
        start + 1..end.max(start) + 1
    }

    fn ordinal(&self, doc: u32) -> u32 {
        let at = doc as usize * self.width.bytes();
        let bytes = &self.ordinals[at..][..self.width.bytes()];
        let mut ordinal = [0; 4];
        ordinal[..bytes.len()].copy_from_slice(bytes);
        u32::from_le_bytes(ordinal)
    }

    /// The number of rows up to each ordinal, without the unlisted equities if they are given. `None`
    /// when the meter refuses to count them, and for ordinals of four bytes, whose totals might take
    /// half as much memory as the column.
    fn totals(&self, unlisted: Option<Bitmap<'_>>, meter: &Meter) -> Option<&[u32]> {
        let totals = &self.totals[usize::from(unlisted.is_some())];
        if let Some(counted) = totals.get() {
            return Some(counted);
        }
        if self.width == Width::Four {
            return None;
        }
        let mut counts = vec![0_u32; self.count() + 1];
        for ordinals in self.ordinals.chunks(COUNTED_ROWS * self.width.bytes()) {
            meter.charge(COUNTED_UNITS).ok()?;
            if self.width == Width::One {
                ordinals.iter().for_each(|byte| counts[usize::from(*byte)] += 1);
            } else {
                let ordinals = ordinals.as_chunks().0.iter();
                let places = ordinals.map(|bytes| usize::from(u16::from_le_bytes(*bytes)));
                places.for_each(|place| counts[place] += 1);
            }
        }
        if let Some(unlisted) = unlisted {
            meter.charge(u64::from(unlisted.rows())).ok()?;
            unlisted.for_each(|doc| counts[self.ordinal(doc) as usize] -= 1);
        }
        // Ordinal 0 has no value.
        let mut total = 0;
        for count in &mut counts[1..] {
            total += *count;
            *count = total;
        }
        counts[0] = 0;
        Some(totals.get_or_init(|| counts.into()))
    }

    fn value(&self, doc: u32) -> Option<u64> {
        let place = self.ordinal(doc).checked_sub(1)?;
        Some(u64_at(&self.values, place as usize * VALUE_BYTES))
    }
}

impl Interval<'_> {
    /// Whether no row can pass.
    pub(crate) fn is_empty(&self) -> bool {
        self.ordinals.is_empty()
    }

    /// Whether a row passes.
    pub(crate) fn contains(&self, doc: u32) -> bool {
        self.ordinals.contains(&self.column.ordinal(doc))
    }

    /// The number of rows that pass, without the unlisted equities if they are given. The first call
    /// reads the column, the others look two numbers up. `None` when the rows must be counted.
    pub(crate) fn total(&self, unlisted: Option<Bitmap<'_>>, meter: &Meter) -> Option<u64> {
        let totals = self.column.totals(unlisted, meter)?;
        let up_to = |end: u32| totals[end as usize - 1];
        Some(u64::from(up_to(self.ordinals.end) - up_to(self.ordinals.start)))
    }

    /// Clears the bits of the rows that do not pass. The first bit belongs to DocId `first`.
    pub(crate) fn narrow(&self, first: u32, bits: &mut [u64]) {
        let width = self.column.width;
        let ordinals = &self.column.ordinals[first as usize * width.bytes()..];
        let ordinals = ordinals.chunks(64 * width.bytes());
        // Ordinals from `start` on, counted from 0, are below `count`; smaller ones wrap around.
        let (start, count) = (self.ordinals.start, self.ordinals.end - self.ordinals.start);
        for (word, ordinals) in bits.iter_mut().zip(ordinals).filter(|(word, _)| **word != 0) {
            *word &= match width {
                Width::One => passing(ordinals, |[byte]: [u8; 1]| {
                    byte.wrapping_sub(start as u8) < count as u8
                }),
                Width::Two => passing(ordinals, |bytes| {
                    u16::from_le_bytes(bytes).wrapping_sub(start as u16) < count as u16
                }),
                Width::Four => {
                    passing(ordinals, |bytes| u32::from_le_bytes(bytes).wrapping_sub(start) < count)
                }
            };
        }
    }
}

/// A bit for each of up to 64 ordinals, set when the ordinal passes. Written so that the compiler
/// compares many at a time.
fn passing<const BYTES: usize>(ordinals: &[u8], passes: impl Fn([u8; BYTES]) -> bool) -> u64 {
    let mut flags = [0_u8; 64];
    for (flag, bytes) in flags.iter_mut().zip(ordinals.as_chunks::<BYTES>().0) {
        *flag = u8::from(passes(*bytes));
    }
    // Eight bytes of 0 or 1 become eight bits: each bit of the factor moves one of the bytes to its
    // place in the highest byte, and no two sums overlap.
    let eights = flags
        .as_chunks::<8>()
        .0
        .iter()
        .map(|eight| u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56);
    eights.rev().fold(0, |bits, eight| bits << 8 | eight)
}

impl Width {
    /// The width of the ordinals of `values` distinct values.
    fn of(values: usize) -> Self {
        match values {
            0..=0xff => Self::One,
            0x100..=0xffff => Self::Two,
            _ => Self::Four,
        }
    }

    fn bytes(self) -> usize {
        match self {
            Self::One => 1,
            Self::Two => 2,
            Self::Four => 4,
        }
    }
}

fn paths(part: &Path, name: &str) -> [PathBuf; 2] {
    ["values", "ordinals"].map(|what| part.join(format!("numbers.{name}.{what}")))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::instrument::figi::Figi;
    use crate::query::interval::{DateInterval, NumberInterval};

    fn instrument(strike: Option<f64>, expiration: Option<i64>) -> Instrument {
        let figi = Figi::parse("BBG000BLNNH6").unwrap();
        let expiration = expiration.map(|days| Date::from_days(days).unwrap());
        Instrument { strike, expiration, ..Instrument::new(figi) }
    }

    fn build(instruments: &[Instrument]) -> (tempfile::TempDir, Numbers) {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = NumbersWriter::create(folder.path()).unwrap();
        for instrument in instruments {
            writer.add(instrument).unwrap();
        }
        writer.finish().unwrap();
        let numbers = Numbers::open(folder.path(), instruments.len()).unwrap();
        numbers.verify(folder.path()).unwrap();
        (folder, numbers)
    }

    /// The rows that pass all intervals of `filters`.
    fn passing(numbers: &Numbers, docs: usize, filters: &Filters) -> Vec<u32> {
        let mut bits = vec![u64::MAX; docs.div_ceil(64)];
        for interval in numbers.intervals(filters) {
            interval.narrow(0, &mut bits);
        }
        (0..docs as u32).filter(|doc| bits[*doc as usize / 64] >> (doc % 64) & 1 == 1).collect()
    }

    #[test]
    fn numbers_and_days_keep_their_order() {
        let numbers = [f64::MIN, -2.5, -1e-300, 0.0, 1e-300, 2.5, f64::MAX];
        assert!(numbers.map(of_number).is_sorted_by(|a, b| a < b));
        assert_eq!(of_number(-0.0), of_number(0.0));
        assert!([-1, 0, 20_000].map(|days| of_day(Date::from_days(days).unwrap())).is_sorted());
    }

    /// The most distinct values of each width, and one more.
    #[test]
    fn every_width() {
        for (count, width) in
            [(255, Width::One), (256, Width::Two), (65_535, Width::Two), (65_536, Width::Four)]
        {
            let instruments: Vec<_> =
                (0..count).map(|number| instrument(Some(f64::from(number)), None)).collect();
            let (_folder, numbers) = build(&instruments);
            assert_eq!(numbers.0[0].width, width);
            let last = f64::from(count - 1);
            for (low, high, first) in [
                (Some(last), None, count as u32 - 1),
                (None, None, 0),
                (Some(0.0), Some(last), 0),
                (Some(-1.0), Some(last + 1.0), 0),
            ] {
                let mut filters = Filters::default();
                filters.numbers[0] = NumberInterval::new(low.or(Some(0.0)), high).ok();
                let expected: Vec<u32> = (first..count as u32).collect();
                assert_eq!(
                    passing(&numbers, count as usize, &filters),
                    expected,
                    "{low:?} {high:?}"
                );
                // A column that is not counted charges nothing.
                let units = if width == Width::Four { 0 } else { u64::MAX };
                let meter = Meter::of(units);
                let total = numbers.intervals(&filters)[0].total(None, &meter);
                let known = (width != Width::Four).then_some(expected.len() as u64);
                assert_eq!((total, meter.check()), (known, Ok(())), "{low:?} {high:?}");
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Comparing ordinals gives the same rows as comparing the values.
        #[test]
        fn ordinals_compare_as_values_do(
            rows in proptest::collection::vec(
                (proptest::option::of(-3_i32..3), proptest::option::of(0_i64..900)), 1..300,
            ),
            low in proptest::option::of(-4_i32..4),
            span in proptest::option::of(0_i32..3),
            days in proptest::option::of((0_i64..900, 0_i64..365)),
        ) {
            let half = |number: i32| f64::from(number) / 2.0;
            let instruments: Vec<_> =
                rows.iter().map(|(strike, days)| instrument(strike.map(half), *days)).collect();
            let (_folder, numbers) = build(&instruments);
            let high = span.map(|span| half(low.unwrap_or(0) + span));
            let strike = NumberInterval::new(low.map(half), high).ok();
            let day = |days| Date::from_days(days).ok_or("a day");
            let maturity = days.and_then(|(first, span)| {
                DateInterval::new(day(first).ok(), day(first + span).ok()).ok()
            });
            let mut filters = Filters::default();
            (filters.numbers[0], filters.dates[1]) = (strike, maturity);
            let expected: Vec<u32> = (0..)
                .zip(&instruments)
                .filter(|(_, instrument)| {
                    strike.is_none_or(|asked| instrument.strike.is_some_and(|is| asked.contains(is)))
                        && maturity.is_none_or(|asked| {
                            instrument.filter_dates()[1].is_some_and(|is| asked.contains(is))
                        })
                })
                .map(|(doc, _)| doc)
                .collect();
            prop_assert_eq!(&passing(&numbers, rows.len(), &filters), &expected);
            for (doc, instrument) in (0..).zip(&instruments) {
                prop_assert!(numbers.are_of(instrument, doc));
                let mut intervals = numbers.intervals(&filters).into_iter();
                let passes = intervals.all(|interval| interval.contains(doc));
                prop_assert_eq!(passes, expected.contains(&doc));
            }
        }
    }
}
