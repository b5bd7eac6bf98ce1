//! The identifier directory of a part: it leads from a key to the DocIds, ascending. A key is an
//! idType and an idValue, or another text by which a search finds a row (`keys`).
//!
//! The keys are not terms of tantivy's dictionary: they would be most of it (engine 4). Three
//! files, besides the file of `lengths`:
//! - `identifiers.radix`: for each value of the leading bits of a hash, the number of the first
//!   entry with these bits, as `u32`; at the end, the number of all entries;
//! - `identifiers.entries`: an entry of [`ENTRY_BYTES`] for each key, ascending by hash;
//! - `identifiers.postings`: the DocIds of each key that has several, stored as differences, seven
//!   bits per byte. Equal lists are kept once.
//!
//! Only bits of a key's 128-bit hash are used: the leading bits select a place of the radix table,
//! and an entry holds 56 more, which are compared. A lookup of an absent key gives a false match
//! once in 10^16. Two keys of the index that collide are detected by the build, which then fails:
//! an index in another folder has another seed.

pub(crate) mod keys;
pub(crate) mod lengths;
mod pairs;
mod writer;

use std::hint::black_box;
use std::ops::Range;
use std::path::Path;

use xxhash_rust::xxh3::xxh3_128_with_seed;

pub(crate) use self::writer::IdentifiersWriter;

use crate::error::{Error, Result};
use crate::instrument::encoding::take_number;
use crate::instrument::id_type::IdType;
use crate::mapped::{Mapped, u32_at, u64_at};

const RADIX: &str = "identifiers.radix";
const ENTRIES: &str = "identifiers.entries";
const POSTINGS: &str = "identifiers.postings";

/// The bytes of an entry: a little-endian `u64` with 56 bits of the hash above 8 bits for the
/// number of DocIds; then a `u32`, which is the only DocId or the start of the list in the
/// postings.
const ENTRY_BYTES: usize = 8 + 4;

/// The bits of the hash that an entry holds.
const ENTRY_HASH_BITS: u32 = 56;

/// The number of DocIds in an entry that means "the list in the postings begins with the number".
const COUNT_IN_LIST: u64 = 255;

/// The approximate number of keys for each place of the radix table.
const KEYS_PER_RADIX: usize = 8;

/// The factor between the code of a key's kind and its seed: 2^64 divided by the golden ratio,
/// so that the seeds differ in many bits.
const KIND_SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// The kind of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum KeyKind {
    /// A value of that idType, in the spelling of the index.
    Id(IdType),
    /// An identifier of an idType that a search looks up, squeezed: see `keys`.
    Squeezed,
    /// A ticker, squeezed.
    SqueezedTicker,
    /// The common name of a company, or the squeezed description of a bond or preferred share: see
    /// `keys`.
    Name,
    /// The normal form of a name, an other name or an alias, unless it is the common name (`keys`).
    /// Searches do not look up these keys.
    Form,
}

/// The used bits of a key's hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Hash {
    /// The highest 32 bits. The radix table uses as many of them as it needs to select a place.
    leading: u32,
    /// The [`ENTRY_HASH_BITS`] that are compared.
    compared: u64,
}

impl Hash {
    /// The hash of a key. Each kind has a separate seed, so the kind need not be part of the hashed
    /// text.
    fn of(kind: KeyKind, text: &str, seed: u64) -> Self {
        let seed = seed ^ u64::from(kind.code()).wrapping_mul(KIND_SPREAD);
        let hash = xxh3_128_with_seed(text.as_bytes(), seed);
        Self { leading: (hash >> 96) as u32, compared: hash as u64 >> (64 - ENTRY_HASH_BITS) }
    }
}

/// The number of leading bits by which the radix table of `keys` keys is indexed.
fn radix_bits(keys: usize) -> u32 {
    (keys / KEYS_PER_RADIX).max(1).ilog2()
}

fn radix_of(leading: u32, bits: u32) -> u64 {
    u64::from(leading) >> (32 - bits)
}

impl KeyKind {
    /// The code of the kind. Codes are part of the index format; those of the idTypes come first.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Id(id_type) => id_type as u8,
            Self::Form => 252,
            Self::Name => 253,
            Self::Squeezed => 254,
            Self::SqueezedTicker => 255,
        }
    }

    #[cfg(test)]
    fn from_code(code: u8) -> Option<Self> {
        match code {
            252 => Some(Self::Form),
            253 => Some(Self::Name),
            254 => Some(Self::Squeezed),
            255 => Some(Self::SqueezedTicker),
            code => IdType::from_code(code).map(Self::Id),
        }
    }
}

/// The identifier directory of one part.
pub(crate) struct Identifiers {
    hash_seed: u64,
    radix: Mapped,
    radix_bits: u32,
    entries: Mapped,
    postings: Mapped,
}

/// The DocIds of one key, ascending.
#[derive(Clone)]
pub(crate) struct Postings<'a> {
    /// The DocId that was returned last. Without a list, the only DocId.
    last: u32,
    /// The number of DocIds that follow.
    left: usize,
    list: &'a [u8],
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
        let postings = Mapped::open(&part.join(POSTINGS))?;
        Ok(Self { hash_seed, radix, radix_bits, entries, postings })
    }

    /// The DocIds of the rows that have this key.
    pub(crate) fn find(&self, kind: KeyKind, text: &str) -> Postings<'_> {
        let hash = Hash::of(kind, text, self.hash_seed);
        self.among(self.candidates(hash), hash)
    }

    /// Appends the DocIds of each key to `found`, and an empty list for `None`. Each stage runs for
    /// all keys before the next one begins, so that reads of memory overlap (engine 4).
    pub(crate) fn find_all<'a, 'k>(
        &'a self,
        keys: impl ExactSizeIterator<Item = Option<(KeyKind, &'k str)>>,
        found: &mut Vec<Postings<'a>>,
    ) {
        let first = found.len();
        found.resize(first + keys.len(), Postings::NONE);
        let mut wanted = Vec::with_capacity(keys.len());
        for (place, key) in (first..).zip(keys) {
            if let Some((kind, text)) = key {
                wanted.push((place, Hash::of(kind, text, self.hash_seed), 0..0));
            }
        }
        for (_, hash, candidates) in &mut wanted {
            *candidates = self.candidates(*hash);
        }
        // Reads one byte of each entry; the bytes must count as used, or the compiler drops the
        // reads.
        let touch = |index: u32| self.entries.get(index as usize * ENTRY_BYTES).copied();
        let touched = wanted.iter().filter_map(|(_, _, candidates)| touch(candidates.start));
        black_box(touched.fold(0, |all, byte| all ^ byte));
        for (place, hash, candidates) in wanted {
            found[place] = self.among(candidates, hash);
        }
        let lists = found[first..].iter().filter_map(|postings| postings.list.first());
        black_box(lists.fold(0, |all, byte| all ^ byte));
    }

    /// The range of the entries that have the leading bits of a hash.
    fn candidates(&self, hash: Hash) -> Range<u32> {
        let prefix = radix_of(hash.leading, self.radix_bits) as usize;
        self.radix.u32_at(0, prefix)..self.radix.u32_at(0, prefix + 1)
    }

    fn among(&self, candidates: Range<u32>, hash: Hash) -> Postings<'_> {
        for index in candidates {
            let entry = &self.entries[index as usize * ENTRY_BYTES..][..ENTRY_BYTES];
            if u64_at(entry, 0) >> 8 == hash.compared {
                return self.postings(entry);
            }
        }
        Postings::NONE
    }

    /// Checks the conditions that [`Identifiers::find`] relies on: the radix table covers the
    /// entries in order, and the DocIds of each key ascend and are below `docs`.
    ///
    /// # Errors
    /// [`Error::Damaged`] for the first contradiction.
    pub(crate) fn verify(&self, part: &Path, docs: u32) -> Result<()> {
        let damaged = |what: &str| Error::damaged(part, format!("identifiers: {what}"));
        let keys = (self.entries.len() / ENTRY_BYTES) as u32;
        let places: Vec<u32> =
            (0..self.radix.len() / 4).map(|place| self.radix.u32_at(0, place)).collect();
        if !places.is_sorted() || places.first() != Some(&0) || places.last() != Some(&keys) {
            return Err(damaged("the radix table does not cover the entries in order"));
        }
        for entry in self.entries.chunks_exact(ENTRY_BYTES) {
            let listed = self.postings_within(entry).filter(|listed| listed.is_whole(docs));
            let Some(listed) = listed else {
                return Err(damaged("a list of DocIds is cut, or a DocId is beyond the part"));
            };
            let mut last = None;
            for doc in listed.clone() {
                if Some(doc) <= last {
                    return Err(damaged("DocIds do not ascend"));
                }
                last = Some(doc);
            }
            if listed.len() == 0 {
                return Err(damaged("a key has no DocId"));
            }
        }
        Ok(())
    }

    /// Whether any two keys collide: they share a place of the radix table and the compared bits.
    fn is_ambiguous(&self) -> bool {
        let mut compared = Vec::new();
        (0..self.radix.len() / 4 - 1).any(|place| {
            let entries = self.radix.u32_at(0, place)..self.radix.u32_at(0, place + 1);
            compared.clear();
            compared.extend(
                entries.map(|index| u64_at(&self.entries, index as usize * ENTRY_BYTES) >> 8),
            );
            compared.sort_unstable();
            compared.windows(2).any(|pair| pair[0] == pair[1])
        })
    }

    /// The number of DocIds of all keys together.
    pub(crate) fn count(&self) -> u64 {
        let entries = self.entries.chunks_exact(ENTRY_BYTES);
        entries.map(|entry| self.postings(entry).len() as u64).sum()
    }

    /// The DocIds of an entry.
    fn postings(&self, entry: &[u8]) -> Postings<'_> {
        self.postings_within(entry).expect("a list inside the postings, with its count")
    }

    /// The DocIds of an entry; `None` when the start of its list is not in the file.
    fn postings_within(&self, entry: &[u8]) -> Option<Postings<'_>> {
        let (count, value) = (u64_at(entry, 0) & 0xff, u32_at(entry, 8));
        if count == 1 {
            return Some(Postings::one(value));
        }
        let mut list = self.postings.get(value as usize..)?;
        let left = match count {
            COUNT_IN_LIST => take_number(&mut list)?,
            count => count as usize,
        };
        Some(Postings { last: 0, left, list })
    }
}

impl Postings<'_> {
    /// An empty list of DocIds.
    pub(crate) const NONE: Self = Self { last: 0, left: 0, list: &[] };

    /// A single DocId, without a list.
    pub(crate) fn one(doc: u32) -> Self {
        Self { last: doc, left: 1, list: &[] }
    }

    /// Whether the list has as many DocIds as its count says, all below `docs`.
    fn is_whole(&self, docs: u32) -> bool {
        if self.list.is_empty() {
            return self.left == 0 || (self.left == 1 && self.last < docs);
        }
        let (mut list, mut doc) = (self.list, 0);
        (0..self.left).all(|_| match take_number(&mut list) {
            Some(difference) => {
                doc += difference;
                doc < docs as usize
            }
            None => false,
        })
    }
}

impl Iterator for Postings<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        self.left = self.left.checked_sub(1)?;
        // Without a list, `last` is the only DocId of the key.
        if !self.list.is_empty() {
            self.last += take_number(&mut self.list).expect("a list as long as its count") as u32;
        }
        Some(self.last)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
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
        let mut writer = IdentifiersWriter::new(folder.path(), 7);
        for (kind, text, doc) in keys {
            writer.add(*kind, text, *doc).unwrap();
        }
        writer.finish().unwrap();
        let identifiers = Identifiers::open(folder.path(), 7).unwrap();
        (folder, identifiers)
    }

    #[test]
    fn an_empty_directory_finds_nothing() {
        let (_folder, identifiers) = build(&[]);
        assert_eq!(identifiers.find(KeyKind::Id(IdType::Ticker), "IBM").len(), 0);
    }

    /// Colliding keys are detected, for [`Error::HashSeed`].
    #[test]
    fn two_keys_that_collide_are_detected() {
        let (folder, one) = build(&[(KeyKind::Squeezed, "a".into(), 1)]);
        assert!(!one.is_ambiguous());
        let entry = std::fs::read(folder.path().join(ENTRIES)).unwrap();
        std::fs::write(folder.path().join(ENTRIES), [&entry[..], &entry].concat()).unwrap();
        let radix = [0_u32, 2].map(u32::to_le_bytes).concat();
        std::fs::write(folder.path().join(RADIX), radix).unwrap();
        assert!(Identifiers::open(folder.path(), 7).unwrap().is_ambiguous());
    }

    /// A list of many DocIds begins with their number; equal lists are kept once.
    #[test]
    fn long_lists() {
        let ticker = KeyKind::Id(IdType::Ticker);
        let keys: Vec<_> = (0..1_000)
            .flat_map(|doc| {
                let of = |text: &str, doc| (ticker, text.to_owned(), doc);
                [of("A", doc * 3), of("B", doc * 3), of(["C", "D"][doc as usize / 254 % 2], doc)]
            })
            .collect();
        let (folder, identifiers) = build(&keys);
        identifiers.verify(folder.path(), 3_000).unwrap();
        for text in ["A", "B"] {
            let found = identifiers.find(ticker, text);
            assert_eq!(found.len(), 1_000);
            assert!(found.eq((0..1_000).map(|doc| doc * 3)));
        }
        assert_eq!(identifiers.find(ticker, "D").len(), 254 + 1_000 - 3 * 254);
        let postings = std::fs::metadata(folder.path().join(POSTINGS)).unwrap().len();
        assert!(postings < 2_100, "{postings} bytes: 1,000 once, and the two halves");
    }

    proptest! {
        /// The directory answers as a plain map does, for present keys of every kind and for
        /// absent keys.
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
