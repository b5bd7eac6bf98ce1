//! The way from a row to its third-party identifiers (engine 4): the answers to lists read them for
//! every row, without unpacking anything.
//!
//! Two files:
//! - `extras.sets`: a heap (`rows::heap`) of the sets of identifiers, each distinct set once;
//! - `extras.places`: the place of each instrument's set in the heap, as `u32`, by DocId.
//!
//! A set has an entry for each identifier, in the order of the instrument. The lowest five bits of
//! an entry's first byte are the code of its idType, the other three say what follows ([`EntryKind`]).
//! Most identifiers are copied from a text that is stored anyway: one that follows from the row
//! ([`RowText`]), or an earlier one that is written in the set, such as the ISIN of a CUSIP. A text is
//! named by a byte: the number of a [`RowText`], or [`FIRST_WRITTEN`] and the number of the written
//! text. So the listings of a share have one set, and all options of a venue as well, and an identifier
//! that nobody asked for is passed over.
//!
//! The place of a set that takes more than [`SET_BYTES_MAX`] has its beginning, which ends with
//! [`EntryKind::Continued`] and the place of the rest, where written texts are numbered from zero again.

mod writer;

use std::ops::Range;
use std::path::Path;

pub(super) use self::writer::IdentifierSetsWriter;
use super::row_texts::{RowText, RowTexts};
use crate::error::{Error, Result};
use crate::instrument::id_type::{ID_VALUE_BYTES_MAX, IdType, IdValue};
use crate::mapped::Mapped;
use crate::part::rows::heap::{TextRef, text_within};
use crate::part::rows::{Field, FieldValue};

const SETS: &str = "extras.sets";
const PLACES: &str = "extras.places";

/// The bytes after which a set is continued at another place: a text of a heap has less than 64 KiB.
const SET_BYTES_MAX: usize = 60_000;

/// The bits of an entry's first byte that are the code of its idType.
const CODE_BITS: u32 = 5;

const _: () = assert!(IdType::ALL.len() <= 1 << CODE_BITS);

/// The byte that names the first text that is written in a set. The next ones have the next bytes.
const FIRST_WRITTEN: u8 = 16;

const _: () = assert!(RowText::ALL.len() <= FIRST_WRITTEN as usize);

/// The sort of an entry: the bytes that follow its first one.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum EntryKind {
    /// The number of bytes, and the identifier.
    Written = 0,
    /// The name of a text, which is the identifier.
    Whole = 1,
    /// The name of a text, the first byte of the identifier in it, and the number of its bytes.
    Part = 2,
    /// The name of a text, the number of further bytes, and those: the identifier is the text with
    /// them.
    Longer = 3,
    /// The place of the rest of the set, as `u32`.
    Continued = 4,
}

/// The most bytes of the texts of one instrument: those of a hundred values of each idType take 170 KB.
const TEXT_BYTES_MAX: usize = 1 << 20;

/// The most places of one set: an entry has at most two bytes more than its text, which has one.
const PLACES_MAX: usize = 3 * TEXT_BYTES_MAX / SET_BYTES_MAX + 1;

/// The identifiers of the instruments of a part.
pub(super) struct IdentifierSets {
    sets: Mapped,
    places: Mapped,
}

impl IdentifierSets {
    /// Opens the files of a part with this many rows.
    pub(super) fn open(part: &Path, rows: usize) -> Result<Self> {
        let (sets, places) = (Mapped::open(&part.join(SETS))?, Mapped::open(&part.join(PLACES))?);
        if places.len() != rows * size_of::<TextRef>() {
            let what = "extras.places has not one place for each row";
            return Err(Error::damaged(part, what));
        }
        Ok(Self { sets, places })
    }

    /// Reads the identifiers of the wanted idTypes of a DocId, whose row has these fields, into
    /// `found`. `None` when the bytes cannot be decoded; some changed bytes are not noticed.
    pub(super) fn read<'r>(
        &self,
        doc: u32,
        of_row: &'r dyn Fn(Field) -> Option<FieldValue<'r>>,
        wants: impl Fn(IdType) -> bool,
        found: &mut IdentifierTexts,
    ) -> Option<()> {
        found.clear();
        let texts = RowTexts::of(of_row);
        let mut place = self.places.u32_at(0, doc as usize);
        // A damaged file may lead in a circle.
        for _ in 0..PLACES_MAX {
            let mut set = Set { bytes: text_within(&self.sets, place)?, at: 0, row: &texts };
            match set.take(&wants, found)? {
                None => return Some(()),
                Some(rest) => place = rest,
            }
        }
        None
    }

    /// The set of a DocId as it is stored; `None` when it is in several places or damaged. Instruments
    /// with equal rows and equal sets have the same identifiers.
    pub(super) fn stored(&self, doc: u32) -> Option<&[u8]> {
        let set = text_within(&self.sets, self.places.u32_at(0, doc as usize))?;
        (set.len() <= SET_BYTES_MAX).then_some(set)
    }

    pub(super) fn read_in_order(&self) {
        self.places.read_in_order();
    }
}

/// The third-party identifiers of one instrument, in its order. Its memory is used again for the
/// next instrument.
#[derive(Debug, Default)]
pub(crate) struct IdentifierTexts {
    /// All texts, one after the other.
    text: String,
    /// The idType of each, and the end of its text.
    ends: Vec<(IdType, usize)>,
    /// The places of the texts that are written in the set that is being read.
    written: Vec<Range<usize>>,
}

impl IdentifierTexts {
    /// The identifiers, as the index spells them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (IdType, &str)> + Clone {
        self.ends.iter().enumerate().map(|(number, (id_type, _))| (*id_type, self.at(number)))
    }

    /// The identifiers in place of those before.
    pub(super) fn set<'i>(&mut self, identifiers: impl Iterator<Item = &'i IdValue<'static>>) {
        self.clear();
        for identifier in identifiers {
            self.text.push_str(identifier.as_str());
            self.ends.push((identifier.id_type(), self.text.len()));
        }
    }

    fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
    }

    fn at(&self, number: usize) -> &str {
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before].1);
        &self.text[start..self.ends[number].1]
    }
}

/// A set that is being read.
struct Set<'s, 'r> {
    bytes: &'s [u8],
    at: usize,
    row: &'s RowTexts<'r>,
}

impl<'s> Set<'s, '_> {
    /// Adds the wanted identifiers to `found`. Returns the place of the rest, if the set goes on
    /// elsewhere; `None` when the bytes cannot be decoded.
    fn take(
        &mut self,
        wants: impl Fn(IdType) -> bool,
        found: &mut IdentifierTexts,
    ) -> Option<Option<TextRef>> {
        found.written.clear();
        while self.at < self.bytes.len() {
            let head = self.byte()?;
            let kind = head >> CODE_BITS;
            if kind == EntryKind::Continued as u8 {
                let rest = self.bytes.get(self.at..)?.first_chunk()?;
                return Some(Some(u32::from_le_bytes(*rest)));
            }
            let id_type = IdType::from_code(head & ((1 << CODE_BITS) - 1))?;
            let text = &mut found.text;
            let start = text.len();
            match kind {
                kind if kind == EntryKind::Written as u8 => {
                    let length = self.byte()?;
                    let written = self.at..self.at + usize::from(length);
                    let own = self.text(length)?;
                    found.written.push(written);
                    if wants(id_type) {
                        text.push_str(own);
                    }
                }
                kind if kind == EntryKind::Whole as u8 => {
                    let name = self.byte()?;
                    if wants(id_type) {
                        text.push_str(self.named(name, &found.written)?);
                    }
                }
                kind if kind == EntryKind::Part as u8 => {
                    let (name, from, length) = (self.byte()?, self.byte()?, self.byte()?);
                    if wants(id_type) {
                        let from = usize::from(from);
                        let source = self.named(name, &found.written)?;
                        text.push_str(source.get(from..from + usize::from(length))?);
                    }
                }
                kind if kind == EntryKind::Longer as u8 => {
                    let (name, length) = (self.byte()?, self.byte()?);
                    let more = self.text(length)?;
                    if wants(id_type) {
                        text.push_str(self.named(name, &found.written)?);
                        text.push_str(more);
                    }
                }
                _ => return None,
            }
            // Otherwise a damaged set could copy a long text any number of times.
            if text.len() - start > ID_VALUE_BYTES_MAX || text.len() > TEXT_BYTES_MAX {
                return None;
            }
            if text.len() > start {
                found.ends.push((id_type, text.len()));
            }
        }
        Some(None)
    }

    fn byte(&mut self) -> Option<u8> {
        self.at += 1;
        self.bytes.get(self.at - 1).copied()
    }

    /// The text of the next bytes.
    fn text(&mut self, length: u8) -> Option<&'s str> {
        let text = self.bytes.get(self.at..self.at + usize::from(length))?;
        self.at += text.len();
        str::from_utf8(text).ok()
    }

    /// The text with a name: one that follows from the row, or an earlier one of the set.
    fn named(&self, name: u8, written: &[Range<usize>]) -> Option<&'s str> {
        match name.checked_sub(FIRST_WRITTEN) {
            Some(number) => {
                let written = written.get(usize::from(number))?;
                str::from_utf8(self.bytes.get(written.clone())?).ok()
            }
            None => self.row.get(*RowText::ALL.get(usize::from(name))?),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::instrument::Instrument;
    use crate::instrument::figi::Figi;

    /// The folder of a part with these instruments, and their sets.
    fn written(instruments: &[Instrument]) -> (tempfile::TempDir, IdentifierSets) {
        let part = tempfile::tempdir().unwrap();
        let mut writer = IdentifierSetsWriter::create(part.path()).unwrap();
        instruments.iter().for_each(|one| writer.add(one).unwrap());
        writer.finish().unwrap();
        let sets = IdentifierSets::open(part.path(), instruments.len()).unwrap();
        (part, sets)
    }

    fn read(sets: &IdentifierSets, doc: u32, of: &Instrument) -> Option<Vec<(IdType, String)>> {
        let mut found = IdentifierTexts::default();
        sets.read(doc, &|field| of.field(field), |_| true, &mut found)?;
        Some(found.iter().map(|(id_type, text)| (id_type, text.to_owned())).collect())
    }

    fn identifiers(of: &Instrument) -> Vec<(IdType, String)> {
        of.identifiers.iter().map(|one| (one.id_type(), one.as_str().to_owned())).collect()
    }

    fn instrument(ticker: &str, identifiers: &[(IdType, &str)]) -> Instrument {
        let admitted = identifiers.iter().map(|(id_type, text)| {
            id_type.admit(text).unwrap_or_else(|_| panic!("{text}")).into_owned()
        });
        Instrument {
            ticker: Some(ticker.to_owned()),
            identifiers: admitted.collect(),
            ..Instrument::new(Figi::from_u64(0))
        }
    }

    /// The bytes of sets: those of an option follow from its ticker, so that all options have one set,
    /// and a CUSIP is in the ISIN before it.
    #[test]
    fn sets_are_shared() {
        let option = |root: &str, venue: &str| {
            let symbol = format!("{root}251219C00200000");
            instrument(
                &format!("{root} US 12/19/25 C200"),
                &[
                    (IdType::FullExchangeSymbol, &symbol),
                    (IdType::Occ, &format!("{root:<6}251219C00200000")),
                    (IdType::Opra, &format!("{root} L192500200000")),
                    (IdType::TradingSystem, &format!("{symbol} {venue}")),
                ],
            )
        };
        let share = |ticker: &str| {
            instrument(
                ticker,
                &[
                    (IdType::Isin, "US0378331005"),
                    (IdType::Cusip, "037833100"),
                    (IdType::Cusip8, "03783310"),
                    (IdType::ExchSymbol, ticker),
                ],
            )
        };
        let all = [
            option("AAPL", "XCBO"),
            option("F", "XCBO"),
            option("F", "AMXO"),
            share("AAPL"),
            share("APC"),
            instrument("X", &[]),
        ];
        let (_part, sets) = written(&all);
        let stored = |doc| sets.stored(doc).unwrap();
        assert_eq!(stored(0), b"\x29\x03\x30\x04\x32\x05\x73\x03\x05 XCBO");
        assert_eq!(stored(0), stored(1));
        assert_eq!(stored(2), b"\x29\x03\x30\x04\x32\x05\x73\x03\x05 AMXO");
        assert_eq!(stored(3), b"\x00\x0cUS0378331005\x45\x10\x02\x09\x4f\x10\x02\x08\x28\x00");
        assert_eq!(stored(3), stored(4));
        assert_eq!(stored(5), b"");
        let expected = stored(0).len() + stored(2).len() + stored(3).len() + 4 * 2;
        assert_eq!(sets.sets.len(), expected, "four sets, each after its length");
        for (doc, of) in (0..).zip(&all) {
            assert_eq!(read(&sets, doc, of).unwrap(), identifiers(of));
        }
    }

    /// More identifiers than a text of a heap can hold.
    #[test]
    fn a_long_set_goes_on_elsewhere() {
        let texts: Vec<_> = (0..3_000).map(|number| format!("{number:060}")).collect();
        let texts: Vec<_> = texts.iter().map(|text| (IdType::Bb, &text[..])).collect();
        let all = [
            instrument("A", &texts),
            instrument("A", &texts[..1_500]),
            instrument("A", &texts),
            instrument("A", &texts[1..3]),
        ];
        let (part, sets) = written(&all);
        for (doc, of) in (0..).zip(&all) {
            assert!(read(&sets, doc, of).unwrap() == identifiers(of), "{doc}");
        }
        assert!([0, 1, 2].iter().all(|doc| sets.stored(*doc).is_none()));
        assert_eq!(sets.places.u32_at(0, 0), sets.places.u32_at(0, 2));
        // A rest that leads in a circle, to an invalid place, and out of the file.
        let path = part.path().join(SETS);
        let mut bytes = std::fs::read(&path).unwrap();
        let end = sets.places.u32_at(0, 0) as usize;
        let length = usize::from(u16::from_le_bytes([bytes[end], bytes[end + 1]]));
        let rest = end + 2 + length - 4;
        for place in [end as u32, end as u32 + 1, u32::MAX] {
            bytes[rest..][..4].copy_from_slice(&place.to_le_bytes());
            std::fs::write(&path, &bytes).unwrap();
            let sets = IdentifierSets::open(part.path(), all.len()).unwrap();
            assert_eq!(read(&sets, 0, &all[0]), None, "{place}");
        }
    }

    /// Sets that are equal, but too far apart to be shared.
    #[test]
    fn a_full_heap_is_written() {
        let of = |number: usize| {
            let text = format!("{number:060}");
            instrument("A", &[(IdType::Bb, &text), (IdType::Isin, "US0378331005")])
        };
        let all: Vec<_> = (0..300).map(|number| of(number % 290)).collect();
        let part = tempfile::tempdir().unwrap();
        let mut writer = IdentifierSetsWriter::create(part.path()).unwrap();
        writer.heap_bytes = 1_000;
        all.iter().for_each(|one| writer.add(one).unwrap());
        writer.finish().unwrap();
        let sets = IdentifierSets::open(part.path(), all.len()).unwrap();
        for (doc, of) in (0..).zip(&all) {
            assert_eq!(read(&sets, doc, of).unwrap(), identifiers(of));
        }
        assert_ne!(sets.places.u32_at(0, 0), sets.places.u32_at(0, 290));
    }

    #[test]
    fn more_text_than_one_instrument_may_have_is_refused() {
        let text = "X".repeat(ID_VALUE_BYTES_MAX);
        let values = vec![(IdType::Bb, &text[..]); TEXT_BYTES_MAX / ID_VALUE_BYTES_MAX];
        let part = tempfile::tempdir().unwrap();
        let mut writer = IdentifierSetsWriter::create(part.path()).unwrap();
        writer.add(&instrument("A", &values)).unwrap();
        let values = [&values[..], &[(IdType::Isin, "US0378331005")]].concat();
        let error = writer.add(&instrument("A", &values)).unwrap_err().to_string();
        assert!(error.contains("bytes of the identifiers of one instrument"), "{error}");
    }

    #[test]
    fn another_number_of_places_is_refused() {
        let (part, _) = written(&[instrument("A", &[]), instrument("B", &[])]);
        for rows in [0, 1, 3] {
            let error = IdentifierSets::open(part.path(), rows).err().unwrap().to_string();
            assert!(error.contains("one place for each row"), "{error}");
        }
    }

    /// Texts that are equal, parts of each other, or longer than each other.
    fn texts() -> impl Strategy<Value = String> {
        prop_oneof!["[AB]{1,6}", "[ABé]{1,40}", "AAPL251219C00200000[ A-C]{0,3}"]
    }

    proptest! {
        #[test]
        fn what_was_written_is_read(
            all in prop::collection::vec(
                (texts(), prop::collection::vec((0..26_u8, texts()), 0..12)), 1..20,
            ),
            tickers in prop::collection::vec("(AAPL|A) (US )?12/19/25 C200", 0..4),
        ) {
            let tickers = tickers.iter().map(Some).chain(std::iter::repeat(None));
            let all: Vec<_> = all.iter().zip(tickers).map(|((own, identifiers), ticker)| {
                let admitted = identifiers.iter().filter_map(|(code, text)| {
                    let id_type = IdType::from_code(*code).unwrap();
                    id_type.admit(text).ok().map(IdValue::into_owned)
                });
                Instrument {
                    identifiers: admitted.collect(),
                    unique_id: Some(own.to_lowercase()),
                    ..instrument(ticker.unwrap_or(own), &[])
                }
            }).collect();
            let (_part, sets) = written(&all);
            for (doc, of) in (0..).zip(&all) {
                let all = identifiers(of);
                prop_assert_eq!(&read(&sets, doc, of).unwrap(), &all);
                for id_type in IdType::ALL {
                    let mut found = IdentifierTexts::default();
                    sets.read(doc, &|field| of.field(field), |one| one == id_type, &mut found);
                    let wanted = all.iter().filter(|(of, _)| *of == id_type);
                    let wanted = wanted.map(|(of, text)| (*of, text.as_str()));
                    prop_assert!(found.iter().eq(wanted));
                }
            }
        }

        /// Any bytes: no panic, no circle, and no more memory than the set allows.
        #[test]
        fn damage_is_noticed_or_harmless(
            bytes in prop::collection::vec(any::<u8>(), 0..80),
            known in prop::collection::vec(0..0x80_u8, 0..40),
        ) {
            let of = instrument("AAPL US 12/19/25 C200", &[]);
            let part = tempfile::tempdir().unwrap();
            for set in [&bytes, &known] {
                let mut heap = (set.len() as u16).to_le_bytes().to_vec();
                heap.extend_from_slice(set);
                std::fs::write(part.path().join(SETS), &heap).unwrap();
                std::fs::write(part.path().join(PLACES), [0; 4]).unwrap();
                let sets = IdentifierSets::open(part.path(), 1).unwrap();
                let mut cusips = IdentifierTexts::default();
                let of_row = |field| of.field(field);
                let cusips_read =
                    sets.read(0, &of_row, |id_type| id_type == IdType::Cusip, &mut cusips);
                prop_assert!(cusips.iter().all(|(id_type, _)| id_type == IdType::Cusip));
                if let Some(found) = read(&sets, 0, &of) {
                    prop_assert!(cusips_read.is_some());
                    let expected: Vec<_> =
                        found.iter().filter(|(id_type, _)| *id_type == IdType::Cusip).collect();
                    prop_assert_eq!(cusips.iter().count(), expected.len());
                    prop_assert!(found.iter().all(|(_, text)| text.len() <= ID_VALUE_BYTES_MAX));
                }
            }
        }
    }
}
