//! The manifest of a generation: what it holds, from what it was made, and the
//! checksum of every file, so that a foreign, newer or broken index is refused
//! rather than misread.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::folder::{Publication, sync};
use crate::error::{Error, Result};
use crate::hex::hex;
use crate::instrument::vocabulary::{Property, Vocabulary};

/// The layout that this version writes, and the only one it reads: an index is
/// made anew every night.
pub(crate) const FORMAT: u32 = 7;

/// The manifest's name in a generation's folder.
const MANIFEST: &str = "manifest.toml";

/// The manifest's own checksum, a line that `sha256sum --check` reads.
const MANIFEST_CHECKSUM: &str = "manifest.toml.sha256";

/// What a generation says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of the layout.
    pub format: u32,
    /// Version of the library that wrote it.
    pub library: String,
    /// The program that built it, with its version and commit; empty when none said so.
    #[serde(default)]
    pub program: String,
    /// The number of the generation in its index, ascending.
    pub generation: u64,
    /// When it was built, RFC 3339, UTC.
    pub built_at: String,
    /// How many instruments it holds.
    pub instruments: u64,
    /// Seed of the identifier directory's hash, hexadecimal.
    pub hash_seed: String,
    /// The dumps it was made from, in the order given.
    pub sources: Vec<Source>,
    /// Allowed values of the enum-like properties, by property name.
    pub values: BTreeMap<String, Vec<String>>,
    /// The parts, in FIGI order.
    pub parts: Vec<PartEntry>,
}

/// A dump that went into a generation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// The file's name as given, or `-` for standard input.
    pub name: String,
    /// Its size as it was read, in bytes (compressed, if it was).
    pub bytes: u64,
    /// SHA-256 of those bytes, hexadecimal.
    pub sha256: String,
    /// Rows read from it.
    pub rows: u64,
}

/// A part: a range of FIGIs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartEntry {
    /// Its folder, beside the manifest.
    pub folder: String,
    /// How many instruments it holds.
    pub instruments: u32,
    /// Its smallest FIGI.
    pub first_figi: String,
    /// Its greatest FIGI.
    pub last_figi: String,
    /// Every file of the folder.
    pub files: Vec<FileEntry>,
}

/// A file as it must be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileEntry {
    /// Its name in the part's folder.
    pub name: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// SHA-256 of its bytes, hexadecimal.
    pub sha256: String,
}

impl Manifest {
    /// The manifest of what an index folder has published; no other file is read.
    ///
    /// # Errors
    /// When nothing is published there, or its manifest is broken.
    pub fn published(index: &Path) -> Result<Self> {
        Self::read(&Publication::of(index)?.path(index))
    }

    pub(crate) fn read(generation: &Path) -> Result<Self> {
        let path = generation.join(MANIFEST);
        let text = fs::read_to_string(&path).map_err(Error::io(&path))?;
        let damaged = |error: toml::de::Error| Error::damaged(&path, error.message());
        // The format is read by itself first: the manifest of another one may have any shape.
        #[derive(Deserialize)]
        struct Versioned {
            format: u32,
        }
        let Versioned { format: found } = toml::from_str(&text).map_err(damaged)?;
        if found != FORMAT {
            return Err(Error::ForeignFormat { path, found, supported: FORMAT });
        }
        let checksum = generation.join(MANIFEST_CHECKSUM);
        if fs::read(&checksum).map_err(Error::io(&checksum))? != checksum_line(&text).as_bytes() {
            return Err(Error::damaged(&path, "its checksum is another"));
        }
        toml::from_str(&text).map_err(damaged)
    }

    pub(crate) fn write(&self, generation: &Path) -> Result<()> {
        let path = generation.join(MANIFEST);
        let text =
            toml::to_string(self).map_err(|error| Error::damaged(&path, error.to_string()))?;
        let checksum = generation.join(MANIFEST_CHECKSUM);
        for (path, text) in [(checksum, checksum_line(&text)), (path, text)] {
            fs::write(&path, text).map_err(Error::io(&path))?;
            sync(&path)?;
        }
        Ok(())
    }

    pub(crate) fn hash_seed(&self, generation: &Path) -> Result<u64> {
        u64::from_str_radix(&self.hash_seed, 16)
            .map_err(|_| Error::damaged(&generation.join(MANIFEST), "hash_seed is no number"))
    }

    pub(crate) fn vocabulary(&self) -> Vocabulary {
        Vocabulary::new(self.values.iter().flat_map(|(property, values)| {
            let property = Property::from_name(property);
            values.iter().filter_map(move |value| Some((property?, value.clone())))
        }))
    }

    /// Size of all files of all parts, in bytes.
    pub fn bytes(&self) -> u64 {
        self.parts.iter().flat_map(|part| &part.files).map(|file| file.bytes).sum()
    }
}

impl FileEntry {
    /// The entry that describes the file as it is now.
    pub(crate) fn of(folder: &Path, name: String) -> Result<Self> {
        let path = folder.join(&name);
        let (bytes, sha256) = checksum(&path).map_err(Error::io(&path))?;
        Ok(Self { name, bytes, sha256 })
    }

    /// Checks that the file is still as this entry says.
    pub(crate) fn verify(&self, folder: &Path) -> Result<()> {
        let found = Self::of(folder, self.name.clone())?;
        let path = folder.join(&self.name);
        if found.bytes != self.bytes {
            let what = format!("it has {} bytes, not {}", found.bytes, self.bytes);
            return Err(Error::damaged(&path, what));
        }
        if found.sha256 != self.sha256 {
            return Err(Error::damaged(&path, "its checksum is another"));
        }
        Ok(())
    }
}

/// What [`MANIFEST_CHECKSUM`] says of a manifest.
fn checksum_line(manifest: &str) -> String {
    format!("{}  {MANIFEST}\n", hex(&Sha256::digest(manifest)))
}

/// Size and SHA-256 of a file.
fn checksum(path: &Path) -> io::Result<(u64, String)> {
    let mut file = File::open(path)?;
    let mut digest = Sha256::new();
    let mut buffer = vec![0; 1 << 18];
    let mut bytes = 0;
    loop {
        let read = match file.read(&mut buffer) {
            // A signal ended the call.
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        if read == 0 {
            return Ok((bytes, hex(&digest.finalize())));
        }
        digest.update(&buffer[..read]);
        bytes += read as u64;
    }
}
