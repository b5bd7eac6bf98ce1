//! The names and the documents of an index in object storage.
//!
//! ```text
//! ADDRESS/CURRENT                               the pointer to the published generation
//! ADDRESS/LEASE                                 who publishes, while somebody does
//! ADDRESS/generation-000007-5f3c…/contents.json its manifest, and the pieces of each file
//! ADDRESS/generation-000007-5f3c…/SHA256        a piece of a file, named by its checksum
//! ```
//! A file is divided into pieces of at most 16 MiB, so that memory is bounded, an interrupted
//! publication goes on where it stopped, and each piece is checked when it is read. All objects
//! but the pointer and the lease are written once. A generation may use pieces that an earlier one
//! has sent.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use figdex_index::{Manifest, hex};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::error::{Error, Result};
use crate::store::Store;

/// The number of the layout, the only one that this version reads.
const LAYOUT: u32 = 1;

pub(crate) const CURRENT: &str = "CURRENT";
pub(crate) const LEASE: &str = "LEASE";
const CONTENTS: &str = "contents.json";
const PREFIX: &str = "generation-";

/// The random digits at the end of the name of a generation.
const RANDOM_DIGITS: usize = 16;

/// The most bytes of a piece.
pub(crate) const PIECE_BYTES: u64 = 16 << 20;

/// The most bytes of the pointer and of the lease.
pub(crate) const SMALL_BYTES_MAX: u64 = 16 << 10;

/// The most bytes of the contents: a terabyte has 65,536 pieces, of 150 bytes each.
const CONTENTS_BYTES_MAX: u64 = 128 << 20;

/// The pointer to the published generation: the content of `CURRENT`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Pointer {
    /// The number of the layout.
    pub(crate) layout: u32,
    /// The number of the generation.
    pub(crate) generation: u64,
    /// The name of the generation, below the address.
    pub(crate) name: String,
    /// The SHA-256 of its contents, hexadecimal.
    pub(crate) contents_sha256: String,
    /// The number of the generation that was taken back when this one was published again.
    pub(crate) rolled_back_from: Option<u64>,
}

/// A generation: the content of `contents.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Contents {
    /// The number of the layout.
    layout: u32,
    /// The text of the manifest.
    manifest: String,
    /// The pieces of each file, by its name, in their order.
    files: HashMap<String, Vec<Piece>>,
}

/// A piece of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Piece {
    /// The name of its object below the address, which ends with its SHA-256.
    pub(crate) key: String,
    /// Its size in bytes.
    pub(crate) bytes: u64,
}

/// A generation in the storage, whose contents were checked.
#[derive(Debug)]
pub(crate) struct Described {
    pub(crate) manifest: Manifest,
    /// The files in the order of the manifest, each with its pieces.
    pub(crate) files: Vec<(String, Vec<Piece>)>,
}

impl Piece {
    /// The SHA-256 of its bytes.
    pub(crate) fn sha256(&self) -> &str {
        sha256_of_key(&self.key).unwrap_or_default()
    }
}

impl Pointer {
    pub(crate) fn to(generation: u64, name: &str, contents: &[u8]) -> Self {
        Self {
            layout: LAYOUT,
            generation,
            name: name.to_owned(),
            contents_sha256: sha256(contents),
            rolled_back_from: None,
        }
    }

    pub(crate) fn text(&self) -> Vec<u8> {
        serde_json::to_vec_pretty(self).expect("its fields are texts and numbers")
    }

    /// The pointer; `None` when nothing is published.
    pub(crate) async fn read(store: &Store) -> Result<Option<Self>> {
        let Some(text) = store.read(CURRENT, SMALL_BYTES_MAX).await? else { return Ok(None) };
        let place = || store.place(CURRENT);
        check_layout(&text, place)?;
        let damaged = |what: &str| Error::Damaged { place: place(), what: what.to_owned() };
        let pointer: Self = serde_json::from_slice(&text)
            .map_err(|error| damaged(&format!("it is not a pointer ({error})")))?;
        match number_of(&pointer.name) {
            Some(number) if number == pointer.generation => Ok(Some(pointer)),
            _ => Err(damaged("it does not name a generation")),
        }
    }
}

impl Contents {
    pub(crate) fn new(manifest: &Manifest, files: HashMap<String, Vec<Piece>>) -> Self {
        Self { layout: LAYOUT, manifest: manifest.text(), files }
    }

    pub(crate) fn text(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("its fields are texts and numbers")
    }

    /// Reads the contents of a generation. With `sha256` they must have that checksum.
    pub(crate) async fn read(store: &Store, name: &str, sha256: Option<&str>) -> Result<Described> {
        let (described, found) = Self::read_with_checksum(store, name).await?;
        if sha256.is_some_and(|sha256| found != sha256) {
            let what = "its checksum differs from the pointer".to_owned();
            return Err(Error::Damaged { place: store.place(&contents_key(name)), what });
        }
        Ok(described)
    }

    /// Reads the contents of a generation; also their SHA-256.
    pub(crate) async fn read_with_checksum(
        store: &Store,
        name: &str,
    ) -> Result<(Described, String)> {
        let key = contents_key(name);
        let place = || store.place(&key);
        let damaged = |what: String| Error::Damaged { place: place(), what };
        let Some(text) = store.read(&key, CONTENTS_BYTES_MAX).await? else {
            return Err(damaged("it is missing".to_owned()));
        };
        check_layout(&text, place)?;
        let contents: Self = serde_json::from_slice(&text)
            .map_err(|error| damaged(format!("it does not describe a generation ({error})")))?;
        let described = contents.described(name).map_err(|error| match error {
            Fault::Index(error) => Error::Index(error),
            Fault::Text(what) => damaged(what),
        });
        Ok((described?, sha256(&text)))
    }

    fn described(mut self, name: &str) -> std::result::Result<Described, Fault> {
        let manifest = Manifest::of_text(&self.manifest, Path::new(name)).map_err(Fault::Index)?;
        let mut files = Vec::new();
        for (name, file) in manifest.files() {
            let pieces = self.files.remove(&name).unwrap_or_default();
            let is_valid = |piece: &Piece| {
                piece.bytes > 0 && piece.bytes <= PIECE_BYTES && is_piece_key(&piece.key)
            };
            if !pieces.iter().all(is_valid) {
                return Err(Fault::Text(format!("a piece of {name} has no valid name or size")));
            }
            let bytes: u64 = pieces.iter().map(|piece| piece.bytes).sum();
            if bytes != file.bytes {
                let what = format!("{name} has {bytes} bytes, and {} in the manifest", file.bytes);
                return Err(Fault::Text(what));
            }
            files.push((name, pieces));
        }
        if !self.files.is_empty() {
            return Err(Fault::Text("it has files that the manifest does not have".to_owned()));
        }
        Ok(Described { manifest, files })
    }
}

enum Fault {
    Index(figdex_index::Error),
    Text(String),
}

impl Described {
    /// The names of all objects that the generation needs besides its contents.
    pub(crate) fn keys(&self) -> HashSet<String> {
        self.pieces().map(|piece| piece.key.clone()).collect()
    }

    pub(crate) fn pieces(&self) -> impl Iterator<Item = &Piece> {
        self.files.iter().flat_map(|(_, pieces)| pieces)
    }
}

/// Refuses a document of another layout, of which nothing else may be as in this one.
fn check_layout(text: &[u8], place: impl Fn() -> String) -> Result<()> {
    #[derive(Deserialize)]
    struct Versioned {
        layout: u32,
    }
    match serde_json::from_slice(text) {
        Ok(Versioned { layout: LAYOUT }) => Ok(()),
        Ok(Versioned { layout: found }) => {
            Err(Error::Newer { place: place(), found, supported: LAYOUT })
        }
        Err(error) => {
            let what = format!("it is not a document of an index ({error})");
            Err(Error::Damaged { place: place(), what })
        }
    }
}

/// A new name for a generation, which no other publisher chooses.
pub(crate) fn new_name(number: u64) -> String {
    let mut random = [0; RANDOM_DIGITS / 2];
    getrandom::fill(&mut random).expect("the system has random numbers");
    format!("{PREFIX}{number:06}-{}", hex(&random))
}

/// The number in the name of a generation.
pub(crate) fn number_of(name: &str) -> Option<u64> {
    let (digits, random) = name.strip_prefix(PREFIX)?.split_once('-')?;
    let number = digits.parse().ok()?;
    let is_hex = random.len() == RANDOM_DIGITS && random.bytes().all(is_lower_hex);
    (is_hex && format!("{number:06}") == digits).then_some(number)
}

pub(crate) fn contents_key(name: &str) -> String {
    format!("{name}/{CONTENTS}")
}

pub(crate) fn piece_key(name: &str, sha256: &str) -> String {
    format!("{name}/{sha256}")
}

/// The kind of an object below the address, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind<'a> {
    /// The contents of the generation of that name.
    Contents(&'a str),
    /// A piece that was sent for the generation of that name, and its checksum.
    Piece(&'a str, &'a str),
}

/// The kind of the object with that name; `None` for one that is not of a generation and is left
/// alone.
pub(crate) fn kind_of(key: &str) -> Option<Kind<'_>> {
    let (name, rest) = key.split_once('/')?;
    number_of(name)?;
    match rest {
        CONTENTS => Some(Kind::Contents(name)),
        _ => {
            (rest.len() == 64 && rest.bytes().all(is_lower_hex)).then_some(Kind::Piece(name, rest))
        }
    }
}

fn is_piece_key(key: &str) -> bool {
    matches!(kind_of(key), Some(Kind::Piece(..)))
}

fn sha256_of_key(key: &str) -> Option<&str> {
    match kind_of(key) {
        Some(Kind::Piece(_, sha256)) => Some(sha256),
        _ => None,
    }
}

fn is_lower_hex(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'f')
}

pub(crate) fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Only names that this program forms are its own, and may be removed.
    #[test]
    fn names() {
        let name = new_name(7);
        assert_eq!(number_of(&name), Some(7));
        assert_ne!(new_name(7), name);
        assert_eq!(number_of(&new_name(1_234_567)), Some(1_234_567));
        let sha256 = sha256(b"x");
        let piece = piece_key(&name, &sha256);
        assert_eq!(kind_of(&piece), Some(Kind::Piece(&name, &sha256)));
        assert_eq!(kind_of(&contents_key(&name)), Some(Kind::Contents(&name)));
        for other in [
            "CURRENT",
            "generation-000007",
            "generation-7-0123456789abcdef/contents.json",
            "generation-000007-0123456789abcdeF/contents.json",
            "generation-000007-0123456789abcdef/notes",
            "generation-000007-0123456789abcdef/x/contents.json",
            "backup/generation-000007-0123456789abcdef/contents.json",
            &format!("{piece}0"),
            &piece.to_uppercase(),
        ] {
            assert_eq!(kind_of(other), None, "{other}");
        }
    }
}
