//! Writing the sets of identifiers.

use std::path::Path;

use super::super::row_texts::{RowText, RowTexts};
use super::{CODE_BITS, EntryKind, FIRST_WRITTEN, PLACES, SET_BYTES_MAX, SETS, TEXT_BYTES_MAX};
use crate::error::{Error, Result};
use crate::instrument::Instrument;
use crate::instrument::id_type::IdValue;
use crate::part::file_writer::FileWriter;
use crate::part::rows::heap::{TextHeap, TextRef};

/// The least bytes of an identifier that is copied from a part of a text, or from a shorter text:
/// fewer are written in as many bytes.
const COPIED_BYTES_MIN: usize = 3;

/// The bytes of sets in memory after which they are written to the file, and not shared any more.
/// Instruments that have one set are mostly close to each other.
const HEAP_BYTES: usize = 8 << 20;

/// Writes the identifiers of the instruments of a part, in FIGI order.
pub(crate) struct IdentifierSetsWriter {
    /// The sets in memory, and the place of the first of them.
    heap: TextHeap,
    start: TextRef,
    /// The bytes in memory after which they are written.
    pub(super) heap_bytes: usize,
    sets: FileWriter,
    places: FileWriter,
    entries: Vec<u8>,
    /// The identifiers that are written in `entries`, by their places in the instrument.
    written: Vec<usize>,
}

impl IdentifierSetsWriter {
    pub(crate) fn create(part: &Path) -> Result<Self> {
        let [sets, places] = [SETS, PLACES].map(|name| FileWriter::create(part.join(name)));
        let (heap, entries, written) = Default::default();
        let (sets, places) = (sets?, places?);
        Ok(Self { heap, start: 0, heap_bytes: HEAP_BYTES, sets, places, entries, written })
    }

    pub(crate) fn add(&mut self, instrument: &Instrument) -> Result<()> {
        let bytes = instrument.identifiers.iter().map(|one| one.as_str().len());
        if bytes.sum::<usize>() > TEXT_BYTES_MAX {
            return Err(Error::PartTooLarge("bytes of the identifiers of one instrument"));
        }
        if self.heap.bytes().len() >= self.heap_bytes {
            self.flush()?;
        }
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
        let entries = std::mem::take(&mut self.entries);
        let mut place = self.share(&entries)?;
        self.entries = entries;
        for mut beginning in beginnings.into_iter().rev() {
            beginning.push((EntryKind::Continued as u8) << CODE_BITS);
            beginning.extend_from_slice(&place.to_le_bytes());
            place = self.share(&beginning)?;
        }
        self.places.write(&place.to_le_bytes())
    }

    pub(crate) fn finish(mut self) -> Result<()> {
        self.flush()?;
        self.places.finish()?;
        self.sets.finish()
    }

    /// The place of a set. Adds it unless it is in memory.
    fn share(&mut self, set: &[u8]) -> Result<TextRef> {
        let place = self.start.checked_add(self.heap.put(set)?);
        place.ok_or(Error::PartTooLarge("bytes of identifiers"))
    }

    /// Writes the sets that are in memory to the file.
    fn flush(&mut self) -> Result<()> {
        let heap = std::mem::take(&mut self.heap);
        self.sets.write(heap.bytes())?;
        let end = self.start as usize + heap.bytes().len();
        self.start =
            TextRef::try_from(end).map_err(|_| Error::PartTooLarge("bytes of identifiers"))?;
        Ok(())
    }

    /// Encodes identifiers into `entries`, as many as fit. Returns their number.
    fn encode(&mut self, identifiers: &[IdValue<'static>], texts: &RowTexts<'_>) -> usize {
        self.entries.clear();
        self.written.clear();
        for (number, identifier) in identifiers.iter().enumerate() {
            if self.entries.len() > SET_BYTES_MAX {
                return number;
            }
            if self.put(identifier, texts, identifiers) == EntryKind::Written {
                self.written.push(number);
            }
        }
        identifiers.len()
    }

    /// Appends the entry of one of these identifiers. Returns its kind.
    fn put(
        &mut self,
        identifier: &IdValue<'_>,
        row: &RowTexts<'_>,
        identifiers: &[IdValue<'_>],
    ) -> EntryKind {
        let text = identifier.as_str();
        let of_row = RowText::ALL.into_iter().filter_map(|of| Some((of as u8, row.get(of)?)));
        let of_set = (FIRST_WRITTEN..=u8::MAX).zip(&self.written);
        let of_set = of_set.map(|(name, written)| (name, identifiers[*written].as_str()));
        let sources = || of_row.clone().chain(of_set.clone());
        let is_long = text.len() >= COPIED_BYTES_MIN;
        let part = |(name, source): (u8, &str)| {
            // A search is prepared at some cost, even in a text that is too short for it.
            let may_contain = is_long && source.len() > text.len();
            let start = may_contain.then(|| source.find(text)).flatten()?;
            Some((name, u8::try_from(start).ok()?))
        };
        let longer = |(name, source): (u8, &str)| {
            let after = text.strip_prefix(source)?;
            (source.len() >= COPIED_BYTES_MIN).then_some((name, after.len(), after))
        };
        // An identifier has at most 64 bytes, so that a byte holds the number of its bytes.
        let length = text.len() as u8;
        let (kind, source, after) =
            if let Some((name, _)) = sources().find(|(_, source)| *source == text) {
                (EntryKind::Whole, vec![name], "")
            } else if let Some((name, start)) = sources().find_map(part) {
                (EntryKind::Part, vec![name, start, length], "")
            } else if let Some((name, more, after)) =
                sources().filter_map(longer).min_by_key(|(_, more, _)| *more)
            {
                (EntryKind::Longer, vec![name, more as u8], after)
            } else {
                (EntryKind::Written, vec![length], text)
            };
        self.entries.push(identifier.id_type() as u8 | (kind as u8) << CODE_BITS);
        self.entries.extend_from_slice(&source);
        self.entries.extend_from_slice(after.as_bytes());
        kind
    }
}
