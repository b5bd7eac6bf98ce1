//! The lengths of the keys of each kind. A search skips the lookup of a text in a kind that has no
//! key of its length: most typed texts fit few kinds.
//!
//! `identifiers.lengths`: for each kind, a little-endian `u64` with a bit for each length in
//! bytes; the last bit stands for 63 bytes and more.

use std::fs;
use std::path::Path;

use super::KeyKind;
use crate::error::{Error, Result};
use crate::instrument::id_type::IdType;
use crate::part::file_writer::write_file;

const LENGTHS: &str = "identifiers.lengths";

/// The number of kinds: the idTypes and the four others of [`KeyKind`].
const KINDS: usize = IdType::ALL.len() + 4;

/// The lengths of the keys of one part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lengths([u64; KINDS]);

impl Lengths {
    pub(crate) fn open(part: &Path) -> Result<Self> {
        let path = part.join(LENGTHS);
        let bytes = fs::read(&path).map_err(Error::io(&path))?;
        let (numbers, []) = bytes.as_chunks() else {
            return Err(Error::damaged(part, "identifiers.lengths is cut"));
        };
        let lengths: Vec<u64> = numbers.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect();
        let lengths = lengths.try_into();
        lengths
            .map(Self)
            .map_err(|_| Error::damaged(part, "identifiers.lengths has another number of kinds"))
    }

    pub(crate) fn write(&self, part: &Path) -> Result<()> {
        let bytes: Vec<u8> = self.0.iter().flat_map(|lengths| lengths.to_le_bytes()).collect();
        write_file(&part.join(LENGTHS), &bytes)
    }

    /// Adds the length of a key.
    pub(crate) fn add(&mut self, kind: KeyKind, text: &str) {
        self.0[place(kind)] |= bit(text);
    }

    /// Whether any key of that kind is as long as the text.
    pub(crate) fn have(&self, kind: KeyKind, text: &str) -> bool {
        self.0[place(kind)] & bit(text) != 0
    }
}

fn place(kind: KeyKind) -> usize {
    match kind {
        KeyKind::Id(id_type) => id_type as usize,
        KeyKind::Form => KINDS - 4,
        KeyKind::Squeezed => KINDS - 3,
        KeyKind::SqueezedTicker => KINDS - 2,
        KeyKind::Name => KINDS - 1,
    }
}

fn bit(text: &str) -> u64 {
    1 << text.len().min(63)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn added_lengths_are_found() {
        let mut lengths = Lengths::default();
        lengths.add(KeyKind::Id(IdType::Isin), "US4592001014");
        lengths.add(KeyKind::Name, &"x".repeat(100));
        let folder = tempfile::tempdir().unwrap();
        lengths.write(folder.path()).unwrap();
        let lengths = Lengths::open(folder.path()).unwrap();
        assert!(lengths.have(KeyKind::Id(IdType::Isin), "DE0005140008"));
        assert!(!lengths.have(KeyKind::Id(IdType::Isin), "DE000514000"));
        assert!(!lengths.have(KeyKind::Id(IdType::Trace), "DE0005140008"));
        assert!(lengths.have(KeyKind::Name, &"y".repeat(63)));
        assert!(!lengths.have(KeyKind::Squeezed, &"y".repeat(63)));
        let places: Vec<usize> = IdType::ALL.iter().map(|id| place(KeyKind::Id(*id))).collect();
        assert!(places.iter().all(|place| *place < KINDS - 4));
    }
}
