//! The way from a row to its third-party identifiers (engine 4): the answers to lists read them for
//! every row, without unpacking anything.
//!
//! Two files:
//! - `extras.sets`: a heap (`rows::heap`) of the sets of identifiers, each distinct set once;
//! - `extras.places`: the place of each instrument's set in the heap, as `u32`, by DocId.
//!
//! A set has an entry for each identifier, in the order of the instrument. The lowest five bits of
//! an entry's first byte are the code of its idType, the other three say what follows ([`Kind`]).
//! Most identifiers are copied from a text that is stored anyway: one that follows from the row
//! ([`RowText`]), or an earlier identifier of the set, such as the ISIN of a CUSIP. A text is named
//! by a byte: the number of a [`RowText`], or [`FIRST_ENTRY`] and the number of the entry.
//! So the listings of a share have one set, and all options of a venue as well.
//!
//! The place of a set that takes more than [`SET_BYTES_MAX`] has its beginning, which ends with
//! [`Kind::Continued`] and the smaller place of the rest, where entries are numbered from zero again.

use std::ops::Range;
use std::path::Path;

use super::row_texts::{RowText, RowTexts};
use crate::error::{Error, Result};
use crate::instrument::Instrument;
use crate::instrument::id_type::{ID_VALUE_BYTES_MAX, IdType, IdValue};
use crate::mapped::Mapped;
use crate::part::file_writer::FileWriter;
use crate::part::rows::heap::{TextHeap, TextRef, text_within};
use crate::part::rows::{Field, FieldValue};

const SETS: &str = "extras.sets";
const PLACES: &str = "extras.places";

/// The bytes after which a set is continued at another place: a text of a heap has less than 64 KiB.
const SET_BYTES_MAX: usize = 60_000;

/// The bits of an entry's first byte that are the code of its idType.
const CODE_BITS: u32 = 5;

const _: () = assert!(IdType::ALL.len() <= 1 << CODE_BITS);

/// The byte that names the first identifier of a set. The next identifiers have the next bytes.
const FIRST_ENTRY: usize = 16;

const _: () = assert!(RowText::ALL.len() <= FIRST_ENTRY);

/// What follows the first byte of an entry.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum Kind {
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

/// The least bytes of an identifier that is copied from a part of a text, or from a shorter text:
/// fewer are written in as many bytes.
const COPIED_BYTES_MIN: usize = 3;

/// Writes the identifiers of the instruments of a part, in FIGI order.
pub(super) struct IdentifierSetsWriter {
    sets: TextHeap,
    places: FileWriter,
    entries: Vec<u8>,
}

impl IdentifierSetsWriter {
    pub(super) fn create(part: &Path) -> Result<Self> {
        let places = FileWriter::create(part.join(PLACES))?;
        Ok(Self { sets: TextHeap::default(), places, entries: Vec::new() })
    }

    pub(super) fn add(&mut self, instrument: &Instrument) -> Result<()> {
        let of_row = |field| instrument.field(field);
        let texts = RowTexts::of(&of_row);
        let mut rest = &instrument.identifiers[..];
        let mut beginnings = Vec::new();
        loop {
            let taken = self.encode(rest, &texts);
            if taken == rest.len() {
                break;
            }
            beginnings.push(std::mem::take(&mut self.entries));
            rest = &rest[taken..];
        }
        let mut place = self.sets.put(&self.entries)?;
        for mut beginning in beginnings.into_iter().rev() {
            beginning.push((Kind::Continued as u8) << CODE_BITS);
            beginning.extend_from_slice(&place.to_le_bytes());
            place = self.sets.put(&beginning)?;
        }
        self.places.write(&place.to_le_bytes())
    }

    pub(super) fn finish(self, part: &Path) -> Result<()> {
        self.places.finish()?;
        self.sets.write(&part.join(SETS))
    }

    /// Encodes identifiers into `entries`, as many as fit. Returns their number.
    fn encode(&mut self, identifiers: &[IdValue<'static>], texts: &RowTexts<'_>) -> usize {
        self.entries.clear();
        for (number, identifier) in identifiers.iter().enumerate() {
            if self.entries.len() > SET_BYTES_MAX {
                return number;
            }
            self.put(identifier, texts, &identifiers[..number]);
        }
        identifiers.len()
    }

    /// Appends the entry of an identifier with these before it in its set.
    fn put(&mut self, identifier: &IdValue<'_>, row: &RowTexts<'_>, before: &[IdValue<'_>]) {
        let text = identifier.as_str();
        let of_row = RowText::ALL.into_iter().filter_map(|of| Some((of as u8, row.get(of)?)));
        let of_set = (FIRST_ENTRY..).zip(before);
        let of_set =
            of_set.filter_map(|(name, one)| Some((u8::try_from(name).ok()?, one.as_str())));
        let sources = || of_row.clone().chain(of_set.clone());
        let is_long = text.len() >= COPIED_BYTES_MIN;
        let part = |(name, source): (u8, &str)| {
            let start = source.find(text).filter(|_| is_long)?;
            Some((name, u8::try_from(start).ok()?))
        };
        let longer = |(name, source): (u8, &str)| {
            let after = text.strip_prefix(source)?;
            (source.len() >= COPIED_BYTES_MIN).then_some((name, after.len(), after))
        };
        let code = identifier.id_type() as u8;
        let mut entry = |kind: Kind, bytes: &[u8]| {
            self.entries.push(code | (kind as u8) << CODE_BITS);
            self.entries.extend_from_slice(bytes);
        };
        // An identifier has at most 64 bytes, so that a byte holds the number of its bytes.
        if let Some((name, _)) = sources().find(|(_, source)| *source == text) {
            entry(Kind::Whole, &[name]);
        } else if let Some((name, start)) = sources().find_map(part) {
            entry(Kind::Part, &[name, start, text.len() as u8]);
        } else if let Some((name, length, after)) =
            sources().filter_map(longer).min_by_key(|(_, length, _)| *length)
        {
            entry(Kind::Longer, &[name, length as u8]);
            self.entries.extend_from_slice(after.as_bytes());
        } else {
            entry(Kind::Written, &[text.len() as u8]);
            self.entries.extend_from_slice(text.as_bytes());
        }
    }
}

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

    /// Reads the identifiers of a DocId, whose row has these fields, into `found`. `None` when the
    /// bytes cannot be decoded; some changed bytes are not noticed.
    pub(super) fn read<'r>(
        &self,
        doc: u32,
        of_row: &'r dyn Fn(Field) -> Option<FieldValue<'r>>,
        found: &mut IdentifierTexts,
    ) -> Option<()> {
        let texts = RowTexts::of(of_row);
        found.clear();
        let mut place = self.places.u32_at(0, doc as usize);
        let mut first = 0;
        let mut set = text_within(&self.sets, place)?;
        while let Some((head, after)) = set.split_first() {
            if head >> CODE_BITS == Kind::Continued as u8 {
                // The rest was written before, so that a damaged file cannot lead in a circle.
                let rest = u32::from_le_bytes(*after.first_chunk()?);
                place = Some(rest).filter(|rest| *rest < place)?;
                (set, first) = (text_within(&self.sets, place)?, found.ends.len());
                continue;
            }
            set = found.take(*head, after, &texts, first)?;
        }
        Some(())
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
}

impl IdentifierTexts {
    /// The identifiers, as the index spells them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (IdType, &str)> + Clone {
        self.ends.iter().enumerate().map(|(number, (id_type, _))| (*id_type, self.at(number)))
    }

    /// The identifiers in place of those before.
    pub(super) fn set(&mut self, identifiers: &[IdValue<'_>]) {
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

    fn range(&self, number: usize) -> Range<usize> {
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before].1);
        start..self.ends[number].1
    }

    fn at(&self, number: usize) -> &str {
        &self.text[self.range(number)]
    }

    /// Adds the identifier of an entry that begins with `head`. The entries of the set are numbered
    /// from `first`. Returns the bytes after the entry; `None` when it cannot be decoded.
    fn take<'s>(
        &mut self,
        head: u8,
        entry: &'s [u8],
        row: &RowTexts<'_>,
        first: usize,
    ) -> Option<&'s [u8]> {
        let id_type = IdType::from_code(head & ((1 << CODE_BITS) - 1))?;
        let (&name, after) = entry.split_first()?;
        let start = self.text.len();
        let after = match head >> CODE_BITS {
            kind if kind == Kind::Written as u8 => {
                let (text, after) = after.split_at_checked(name.into())?;
                self.text.push_str(str::from_utf8(text).ok()?);
                after
            }
            kind if kind == Kind::Whole as u8 => {
                self.copy(name, row, first, None)?;
                after
            }
            kind if kind == Kind::Part as u8 => {
                let ([from, length], after) = after.split_first_chunk()?;
                let from = usize::from(*from);
                self.copy(name, row, first, Some(from..from + usize::from(*length)))?;
                after
            }
            kind if kind == Kind::Longer as u8 => {
                let (length, after) = after.split_first()?;
                let (text, after) = after.split_at_checked((*length).into())?;
                self.copy(name, row, first, None)?;
                self.text.push_str(str::from_utf8(text).ok()?);
                after
            }
            _ => return None,
        };
        // Otherwise a damaged set could copy a long text any number of times.
        if self.text.len() - start > ID_VALUE_BYTES_MAX {
            return None;
        }
        self.ends.push((id_type, self.text.len()));
        Some(after)
    }
}

impl IdentifierTexts {
    /// Appends a named text, or the part of it: one of the row, or an earlier one of the set. `None`
    /// when there is no such text or part.
    fn copy(
        &mut self,
        name: u8,
        row: &RowTexts<'_>,
        first: usize,
        part: Option<Range<usize>>,
    ) -> Option<()> {
        let Some(entry) = usize::from(name).checked_sub(FIRST_ENTRY) else {
            let source = row.get(*RowText::ALL.get(usize::from(name))?)?;
            self.text.push_str(source.get(part.unwrap_or(0..source.len()))?);
            return Some(());
        };
        let number = first + entry;
        let whole = (number < self.ends.len()).then(|| self.range(number))?;
        let part =
            part.map_or(whole.clone(), |part| whole.start + part.start..whole.start + part.end);
        self.text.get(part.clone()).filter(|_| part.end <= whole.end)?;
        self.text.extend_from_within(part);
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::instrument::figi::Figi;

    /// The folder of a part with these instruments, and their sets.
    fn written(instruments: &[Instrument]) -> (tempfile::TempDir, IdentifierSets) {
        let part = tempfile::tempdir().unwrap();
        let mut writer = IdentifierSetsWriter::create(part.path()).unwrap();
        instruments.iter().for_each(|one| writer.add(one).unwrap());
        writer.finish(part.path()).unwrap();
        let sets = IdentifierSets::open(part.path(), instruments.len()).unwrap();
        (part, sets)
    }

    fn read(sets: &IdentifierSets, doc: u32, of: &Instrument) -> Option<Vec<(IdType, String)>> {
        let mut found = IdentifierTexts::default();
        sets.read(doc, &|field| of.field(field), &mut found)?;
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
        let texts: Vec<_> = (0..20_000).map(|number| format!("{number:060}")).collect();
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
        // A rest that is not before its beginning.
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
                prop_assert_eq!(read(&sets, doc, of).unwrap(), identifiers(of));
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
                if let Some(found) = read(&sets, 0, &of) {
                    prop_assert!(found.iter().all(|(_, text)| text.len() <= ID_VALUE_BYTES_MAX));
                }
            }
        }
    }
}
