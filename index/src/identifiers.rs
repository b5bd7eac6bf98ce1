//! The identifier directory of a part: key → DocIds, ascending. A key is an
//! (idType, idValue), or a text by which a search means one.
//!
//! It stands outside tantivy, whose term dictionary would hold almost nothing
//! else (engine, decision 4). Four files:
//! - `identifiers.radix`: for each value of the hash's leading bits, the place of
//!   the first entry with them, as `u32`, and one more at the end;
//! - `identifiers.entries`: one [`Entry`] a key, ascending by hash;
//! - `identifiers.postings`: DocIds as `u32` of the keys that have several;
//! - `identifiers.texts`: the keys themselves, each a kind's code and the value.
//!
//! It is exact because the key's text is compared: the hash only leads there.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::error::{Error, Result};
use crate::id_type::{ID_VALUE_BYTES_MAX, IdType};
use crate::mapped::{Mapped, u32_at, u64_at};
use crate::texts::{TextHeap, TextRef, text_at};

const RADIX: &str = "identifiers.radix";
const ENTRIES: &str = "identifiers.entries";
const POSTINGS: &str = "identifiers.postings";
const TEXTS: &str = "identifiers.texts";

/// Hash `u64`, place of the text `u32`, count of DocIds `u32`, and `u32`: the
/// DocId itself when there is one, else the place of the first in the postings.
const ENTRY_BYTES: usize = 8 + 3 * 4;

/// The radix table has a place for about this many keys.
const KEYS_PER_RADIX: usize = 4;

/// What a key is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum KeyKind {
    /// An identifier of that kind, in the spelling of the index.
    Id(IdType),
    /// An identifier of any kind, squeezed: see `typed`.
    Squeezed,
    /// A ticker, squeezed.
    SqueezedTicker,
}

/// Collects the keys of one part.
pub(crate) struct IdentifiersWriter {
    hash_seed: u64,
    texts: TextHeap,
    pairs: Vec<Pair>,
    key: Vec<u8>,
}

/// That a DocId is found under a key. Sorted by these fields, in this order: keys
/// by hash, DocIds of a key ascending.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Pair {
    hash: u64,
    text: TextRef,
    doc: u32,
}

impl IdentifiersWriter {
    pub(crate) fn new(hash_seed: u64) -> Self {
        Self { hash_seed, texts: TextHeap::default(), pairs: Vec::new(), key: Vec::new() }
    }

    pub(crate) fn add(&mut self, kind: KeyKind, text: &str, doc: u32) -> Result<()> {
        write_key(&mut self.key, kind, text);
        let hash = xxh3_64_with_seed(&self.key, self.hash_seed);
        self.pairs.push(Pair { hash, text: self.texts.put(&self.key)?, doc });
        Ok(())
    }

    pub(crate) fn finish(mut self, part: &Path) -> Result<()> {
        self.pairs.sort_unstable();
        self.pairs.dedup();
        self.texts.write(&part.join(TEXTS))?;
        let create = |name: &str| {
            let path = part.join(name);
            File::create_new(&path).map(BufWriter::new).map_err(Error::io(&path))
        };
        let mut entries = create(ENTRIES)?;
        let mut postings = create(POSTINGS)?;
        let mut postings_written = 0_usize;
        let mut hashes = Vec::new();
        for key in self.pairs.chunk_by(|a, b| (a.hash, a.text) == (b.hash, b.text)) {
            let docs = match key {
                [only] => only.doc,
                several => {
                    let first = u32::try_from(postings_written)
                        .map_err(|_| Error::PartTooLarge("identifiers"))?;
                    for pair in several {
                        postings.write_all(&pair.doc.to_le_bytes()).map_err(Error::io(part))?;
                    }
                    postings_written += several.len();
                    first
                }
            };
            // A part has fewer than 2^32 DocIds, so a key has too.
            let count = key.len() as u32;
            let mut entry = [0; ENTRY_BYTES];
            entry[..8].copy_from_slice(&key[0].hash.to_le_bytes());
            for (slot, number) in entry[8..].chunks_exact_mut(4).zip([key[0].text, count, docs]) {
                slot.copy_from_slice(&number.to_le_bytes());
            }
            entries.write_all(&entry).map_err(Error::io(part))?;
            hashes.push(key[0].hash);
        }
        let mut radix = create(RADIX)?;
        let bits = radix_bits(hashes.len());
        for prefix in 0..=(1_u64 << bits) {
            let first = hashes.partition_point(|&hash| radix_of(hash, bits) < prefix);
            let first = u32::try_from(first).map_err(|_| Error::PartTooLarge("identifiers"))?;
            radix.write_all(&first.to_le_bytes()).map_err(Error::io(part))?;
        }
        for file in [entries, postings, radix] {
            file.into_inner().map_err(|error| Error::io(part)(error.into_error()))?;
        }
        Ok(())
    }
}

/// How many leading bits of a hash the radix table of so many keys tells apart.
fn radix_bits(keys: usize) -> u32 {
    (keys / KEYS_PER_RADIX).max(1).ilog2()
}

fn radix_of(hash: u64, bits: u32) -> u64 {
    // Two shifts, because a shift by 64 is none.
    hash >> 1 >> (63 - bits)
}

fn write_key(key: &mut Vec<u8>, kind: KeyKind, text: &str) {
    key.clear();
    key.push(kind.code());
    key.extend_from_slice(text.as_bytes());
}

impl KeyKind {
    /// The codes are part of the index format; those of the idTypes come first.
    fn code(self) -> u8 {
        match self {
            Self::Id(id_type) => id_type as u8,
            Self::Squeezed => 254,
            Self::SqueezedTicker => 255,
        }
    }

    fn from_code(code: u8) -> Option<Self> {
        match code {
            254 => Some(Self::Squeezed),
            255 => Some(Self::SqueezedTicker),
            code => IdType::from_code(code).map(Self::Id),
        }
    }
}

/// The identifier directory of one part of a published generation.
pub(crate) struct Identifiers {
    hash_seed: u64,
    radix: Mapped,
    radix_bits: u32,
    entries: Mapped,
    postings: Mapped,
    texts: Mapped,
}

/// The DocIds of one key, ascending.
pub(crate) struct Postings<'a>(Docs<'a>);

enum Docs<'a> {
    None,
    One(u32),
    /// `u32` numbers, little-endian.
    Several(&'a [u8]),
}

impl Identifiers {
    pub(crate) fn open(part: &Path, hash_seed: u64) -> Result<Self> {
        let entries = Mapped::open(&part.join(ENTRIES))?;
        let keys = entries.len() / ENTRY_BYTES;
        let radix_bits = radix_bits(keys);
        let radix = Mapped::open(&part.join(RADIX))?;
        let radix_bytes = ((1 << radix_bits) + 1) * 4;
        if entries.len() != keys * ENTRY_BYTES || radix.len() != radix_bytes {
            return Err(Error::damaged(part, "identifiers.radix does not fit identifiers.entries"));
        }
        Ok(Self {
            hash_seed,
            radix,
            radix_bits,
            entries,
            postings: Mapped::open(&part.join(POSTINGS))?,
            texts: Mapped::open(&part.join(TEXTS))?,
        })
    }

    /// The DocIds of the rows that have this key.
    pub(crate) fn find(&self, kind: KeyKind, text: &str) -> Postings<'_> {
        let mut key = Vec::with_capacity(1 + ID_VALUE_BYTES_MAX);
        write_key(&mut key, kind, text);
        let hash = xxh3_64_with_seed(&key, self.hash_seed);
        let prefix = radix_of(hash, self.radix_bits) as usize;
        let candidates = self.radix.u32_at(0, prefix)..self.radix.u32_at(0, prefix + 1);
        for index in candidates {
            let entry = &self.entries[index as usize * ENTRY_BYTES..][..ENTRY_BYTES];
            if u64_at(entry, 0) == hash && text_at(&self.texts, u32_at(entry, 8)) == key {
                return self.postings(entry);
            }
        }
        Postings(Docs::None)
    }

    /// Checks what [`Identifiers::find`] relies on: every key is found under its
    /// own hash, and its DocIds ascend and are below `docs`.
    pub(crate) fn verify(&self, part: &Path, docs: u32) -> Result<()> {
        for entry in self.entries.chunks_exact(ENTRY_BYTES) {
            let damaged = |what: &str| Error::damaged(part, format!("identifiers: {what}"));
            let Some((&code, value)) = text_at(&self.texts, u32_at(entry, 8)).split_first() else {
                return Err(damaged("a key is empty"));
            };
            let kind = KeyKind::from_code(code).ok_or_else(|| damaged("a kind is unknown"))?;
            let text = str::from_utf8(value).map_err(|_| damaged("a value is no text"))?;
            let listed: Vec<u32> = self.postings(entry).collect();
            if !listed.is_sorted_by(|a, b| a < b) || listed.last().is_none_or(|&last| last >= docs)
            {
                return Err(damaged("DocIds do not ascend, or exceed the part"));
            }
            if !self.find(kind, text).eq(listed) {
                return Err(damaged("a key is not found under its hash"));
            }
        }
        Ok(())
    }

    /// Shows every key with its DocIds, in no order that means anything.
    pub(crate) fn for_each(&self, mut each: impl FnMut(KeyKind, &str, Postings<'_>)) {
        for entry in self.entries.chunks_exact(ENTRY_BYTES) {
            let (code, text) = text_at(&self.texts, u32_at(entry, 8))
                .split_first()
                .expect("verified: no key is empty");
            let kind = KeyKind::from_code(*code).expect("verified: every kind is known");
            let text = str::from_utf8(text).expect("verified: every value is a text");
            each(kind, text, self.postings(entry));
        }
    }

    fn postings(&self, entry: &[u8]) -> Postings<'_> {
        let (count, docs) = (u32_at(entry, 12), u32_at(entry, 16));
        Postings(match count {
            1 => Docs::One(docs),
            _ => Docs::Several(&self.postings[docs as usize * 4..][..count as usize * 4]),
        })
    }
}

impl Iterator for Postings<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        match self.0 {
            Docs::None => None,
            Docs::One(doc) => {
                self.0 = Docs::None;
                Some(doc)
            }
            Docs::Several(docs) => {
                let (doc, rest) = docs.split_first_chunk()?;
                self.0 = Docs::Several(rest);
                Some(u32::from_le_bytes(*doc))
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let length = match self.0 {
            Docs::None => 0,
            Docs::One(_) => 1,
            Docs::Several(docs) => docs.len() / 4,
        };
        (length, Some(length))
    }
}

impl ExactSizeIterator for Postings<'_> {}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::prelude::*;

    use super::*;

    fn build(keys: &[(KeyKind, String, u32)]) -> (tempfile::TempDir, Identifiers) {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = IdentifiersWriter::new(7);
        for (kind, text, doc) in keys {
            writer.add(*kind, text, *doc).unwrap();
        }
        writer.finish(folder.path()).unwrap();
        let identifiers = Identifiers::open(folder.path(), 7).unwrap();
        (folder, identifiers)
    }

    #[test]
    fn an_empty_directory_finds_nothing() {
        let (_folder, identifiers) = build(&[]);
        assert_eq!(identifiers.find(KeyKind::Id(IdType::Ticker), "IBM").len(), 0);
    }

    proptest! {
        /// The directory answers as a plain map does: for every key that is
        /// there, under every kind, and for keys that are not.
        #[test]
        fn it_answers_as_a_map_does(
            keys in proptest::collection::vec((0_u8..28, "[A-C]{1,3}", 0_u32..40), 0..300)
        ) {
            let kind = |code: u8| KeyKind::from_code(if code < 26 { code } else { 228 + code });
            let keys: Vec<_> = keys
                .into_iter()
                .map(|(code, text, doc)| (kind(code).unwrap(), text, doc))
                .collect();
            let mut plain: BTreeMap<_, BTreeSet<u32>> = BTreeMap::new();
            for (kind, text, doc) in &keys {
                plain.entry((*kind, text.clone())).or_default().insert(*doc);
            }
            let (folder, identifiers) = build(&keys);
            identifiers.verify(folder.path(), 40).unwrap();
            for ((kind, text), docs) in &plain {
                let found = identifiers.find(*kind, text);
                prop_assert_eq!(found.len(), docs.len());
                prop_assert!(found.eq(docs.iter().copied()));
            }
            for text in ["D", "AD", "AAAA"] {
                prop_assert_eq!(identifiers.find(KeyKind::Id(IdType::Ticker), text).len(), 0);
            }
        }
    }
}
