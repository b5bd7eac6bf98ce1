//! Writing the identifier directory: sorted pairs become entries, radix table and lists.

use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_64;

use super::pairs::{Pair, Pairs};
use super::{
    COUNT_IN_LIST, ENTRIES, Hash, Identifiers, KeyKind, POSTINGS, RADIX, radix_bits, radix_of,
};
use crate::error::{Error, Result};
use crate::instrument::encoding::put_number;
use crate::part::file_writer::{FileWriter, write_file};
use crate::part::hashed::ByHash;

/// Writes the directory of one part.
pub(crate) struct IdentifiersWriter {
    part: PathBuf,
    hash_seed: u64,
    pairs: Pairs,
}

impl IdentifiersWriter {
    pub(crate) fn new(part: &Path, hash_seed: u64) -> Self {
        Self { part: part.to_owned(), hash_seed, pairs: Pairs::new(part) }
    }

    pub(crate) fn add(&mut self, kind: KeyKind, text: &str, doc: u32) -> Result<()> {
        self.pairs.add(Pair::new(Hash::of(kind, text, self.hash_seed), doc))
    }

    pub(crate) fn finish(self) -> Result<()> {
        let Self { part, hash_seed, pairs, .. } = self;
        let create = |name: &str| FileWriter::create(part.join(name));
        let mut entries = create(ENTRIES)?;
        let mut lists = PostingsWriter::default();
        // The number of keys at each place of the largest possible radix table. Only the end shows
        // the number of distinct keys, and so the number of places.
        let bits_max = radix_bits(pairs.len());
        let mut counts = vec![0_u32; 1 << bits_max];
        let mut keys = 0;
        pairs.for_each(|pairs| {
            for key in pairs.chunk_by(|a, b| a.hash() == b.hash()) {
                let (count, value) = match key {
                    [only] => (1, only.doc()),
                    several => lists.put(several)?,
                };
                let hash = key[0].hash();
                let hash_and_count = hash.compared << 8 | count;
                entries.write(&hash_and_count.to_le_bytes())?;
                entries.write(&value.to_le_bytes())?;
                counts[radix_of(hash.leading, bits_max) as usize] += 1;
                keys += 1;
            }
            Ok(())
        })?;
        u32::try_from(keys).map_err(|_| Error::PartTooLarge("identifiers"))?;
        let mut radix = create(RADIX)?;
        let mut first = 0;
        let mut put = |first: u32| radix.write(&first.to_le_bytes());
        put(first)?;
        for place in counts.chunks(1 << (bits_max - radix_bits(keys))) {
            first += place.iter().sum::<u32>();
            put(first)?;
        }
        entries.finish()?;
        radix.finish()?;
        write_file(&part.join(POSTINGS), &lists.bytes)?;
        if Identifiers::open(&part, hash_seed)?.is_ambiguous() {
            return Err(Error::HashSeed);
        }
        Ok(())
    }
}

/// The lists of DocIds, each once.
#[derive(Default)]
struct PostingsWriter {
    bytes: Vec<u8>,
    /// The start and end of the last written list, by the hash of the list.
    known: ByHash<(u32, u32)>,
    list: Vec<u8>,
}

impl PostingsWriter {
    /// Adds the DocIds of a key. Returns the count and the place to store in the key's entry.
    fn put(&mut self, key: &[Pair]) -> Result<(u64, u32)> {
        self.list.clear();
        let count = (key.len() as u64).min(COUNT_IN_LIST);
        if count == COUNT_IN_LIST {
            put_number(&mut self.list, key.len());
        }
        let mut last = 0;
        for pair in key {
            put_number(&mut self.list, (pair.doc() - last) as usize);
            last = pair.doc();
        }
        let hash = xxh3_64(&self.list);
        if let Some(&(start, end)) = self.known.get(&hash)
            && self.bytes[start as usize..end as usize] == self.list[..]
        {
            return Ok((count, start));
        }
        let place = |bytes: usize| {
            u32::try_from(bytes).map_err(|_| Error::PartTooLarge("bytes of posting lists"))
        };
        let start = place(self.bytes.len())?;
        self.bytes.extend_from_slice(&self.list);
        self.known.insert(hash, (start, place(self.bytes.len())?));
        Ok((count, start))
    }
}
