//! The manifest of a generation: its parts, the dumps it was built from, and the checksum of
//! every file, so that an index of another format or a damaged one is refused, not misread.

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

/// The number of the format that this version writes, the only one that it reads: an index is
/// built again every night.
pub(crate) const FORMAT: u32 = 8;

/// The name of the manifest in the folder of a generation.
const MANIFEST: &str = "manifest.toml";

/// The file with the checksum of the manifest, a line that `sha256sum --check` reads.
const MANIFEST_CHECKSUM: &str = "manifest.toml.sha256";

/// The description of a generation, in its folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// The number of the index format.
    pub format: u32,
    /// The version of the library that wrote it.
    pub library: String,
    /// The program that built it, with version and commit; empty when it is not known.
    #[serde(default)]
    pub program: String,
    /// The number of the generation in its index folder, larger than those of earlier ones.
    pub generation: u64,
    /// The time when it was built, RFC 3339, UTC.
    pub built_at: String,
    /// The time when it was published in object storage, in the same form; `None` elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published_at: Option<String>,
    /// The number of instruments.
    pub instruments: u64,
    /// The significant bits that the index keeps of each importance, of 53, when there are more than
    /// 65,535 different ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub importance_bits: Option<u32>,
    /// The seed of the identifier directory's hash, hexadecimal.
    pub hash_seed: String,
    /// The dumps it was built from, in the order given.
    pub sources: Vec<SourceEntry>,
    /// The values of each enum-like property in the data and in the lists given at ingestion
    /// (contract 6.2), by the name of the property.
    pub values: BTreeMap<String, Vec<String>>,
    /// The names of exchanges, by their codes, for people.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub exchanges: BTreeMap<String, String>,
    /// The number of instruments that have a value in each column, by its name in a dump, without
    /// empty columns. Empty when it is not known.
    #[serde(default)]
    pub filled: BTreeMap<String, u64>,
    /// The parts, in FIGI order.
    pub parts: Vec<PartEntry>,
}

/// A manifest and the SHA-256 of its text, hexadecimal.
pub(crate) struct Checksummed {
    pub(crate) manifest: Manifest,
    pub(crate) sha256: String,
}

/// A dump that a generation was built from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceEntry {
    /// The file's name as given, or `-` for standard input.
    pub name: String,
    /// Its size in bytes, compressed if it was.
    pub bytes: u64,
    /// The SHA-256 of those bytes, hexadecimal.
    pub sha256: String,
    /// The number of rows that were read from it.
    pub rows: u64,
}

/// A part of a generation: a range of FIGIs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartEntry {
    /// The name of its folder, next to the manifest.
    pub folder: String,
    /// The number of instruments.
    pub instruments: u32,
    /// Its smallest FIGI.
    pub first_figi: String,
    /// Its largest FIGI.
    pub last_figi: String,
    /// Every file of the folder, by name.
    pub files: Vec<FileEntry>,
}

/// A file of a part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileEntry {
    /// Its path in the part's folder.
    pub name: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// The SHA-256 of its bytes, hexadecimal.
    pub sha256: String,
}

impl Manifest {
    /// The manifest of the published generation of an index folder. No other file is read.
    ///
    /// # Errors
    /// The errors of [`Publication::of`]; [`Error::ForeignFormat`], and [`Error::Damaged`] when
    /// the manifest is not valid or its checksum differs.
    pub fn published(index: &Path) -> Result<Self> {
        Ok(Self::read(&Publication::of(index)?.path(index))?.manifest)
    }

    pub(crate) fn read(generation: &Path) -> Result<Checksummed> {
        let path = generation.join(MANIFEST);
        let text = fs::read_to_string(&path).map_err(Error::io(&path))?;
        let manifest = Self::of_text(&text, &path)?;
        let checksum = generation.join(MANIFEST_CHECKSUM);
        let sha256 = hex(&Sha256::digest(&text));
        if fs::read(&checksum).map_err(Error::io(&checksum))? != checksum_line(&sha256).as_bytes() {
            return Err(Error::damaged(&path, "its checksum differs from manifest.toml.sha256"));
        }
        Ok(Checksummed { manifest, sha256 })
    }

    /// The manifest that a text holds. Errors name it by `path`.
    ///
    /// # Errors
    /// [`Error::ForeignFormat`], and [`Error::Damaged`] when it is not a manifest.
    pub fn of_text(text: &str, path: &Path) -> Result<Self> {
        let damaged = |error: toml::de::Error| Error::damaged(path, error.message());
        // Only the number of the format is read first: the rest of another format may differ.
        #[derive(Deserialize)]
        struct Versioned {
            format: u32,
        }
        let Versioned { format: found } = toml::from_str(text).map_err(damaged)?;
        if found != FORMAT {
            let path = path.to_owned();
            return Err(Error::ForeignFormat { path, found, supported: FORMAT });
        }
        toml::from_str(text).map_err(damaged)
    }

    /// The text of the manifest, as its file has it.
    pub fn text(&self) -> String {
        toml::to_string(self).expect("its fields are texts, numbers, lists and tables")
    }

    pub(crate) fn write(&self, generation: &Path) -> Result<()> {
        let path = generation.join(MANIFEST);
        let text = self.text();
        let checksum = generation.join(MANIFEST_CHECKSUM);
        let line = checksum_line(&hex(&Sha256::digest(&text)));
        for (path, text) in [(checksum, line), (path, text)] {
            fs::write(&path, text).map_err(Error::io(&path))?;
            sync(&path)?;
        }
        Ok(())
    }

    pub(crate) fn hash_seed(&self, generation: &Path) -> Result<u64> {
        u64::from_str_radix(&self.hash_seed, 16).map_err(|_| {
            Error::damaged(&generation.join(MANIFEST), "hash_seed is not a hexadecimal number")
        })
    }

    /// The values that the enum-like properties may have.
    pub fn vocabulary(&self) -> Vocabulary {
        Vocabulary::new(self.values.iter().flat_map(|(property, values)| {
            let property = Property::from_name(property);
            values.iter().filter_map(move |value| Some((property?, value.clone())))
        }))
    }

    /// The size of all files of all parts, in bytes.
    pub fn bytes(&self) -> u64 {
        self.parts.iter().flat_map(|part| &part.files).map(|file| file.bytes).sum()
    }
}

impl FileEntry {
    /// The entry of a file as it is now.
    pub(crate) fn of(folder: &Path, name: String) -> Result<Self> {
        let path = folder.join(&name);
        let (bytes, sha256) = checksum(&path).map_err(Error::io(&path))?;
        Ok(Self { name, bytes, sha256 })
    }

    /// Reads the file and forgets it: the system keeps it in memory.
    pub(crate) fn read(&self, folder: &Path) -> Result<()> {
        let path = folder.join(&self.name);
        read(&path, |_| ()).map_err(Error::io(&path))
    }

    /// Checks that the file still has this size and checksum.
    pub(crate) fn verify(&self, folder: &Path) -> Result<()> {
        let found = Self::of(folder, self.name.clone())?;
        let path = folder.join(&self.name);
        if found.bytes != self.bytes {
            let what = format!("it has {} bytes instead of {}", found.bytes, self.bytes);
            return Err(Error::damaged(&path, what));
        }
        if found.sha256 != self.sha256 {
            return Err(Error::damaged(&path, "its checksum differs from the manifest"));
        }
        Ok(())
    }
}

/// The content of [`MANIFEST_CHECKSUM`] for a manifest with that SHA-256.
fn checksum_line(sha256: &str) -> String {
    format!("{sha256}  {MANIFEST}\n")
}

/// The size and the SHA-256 of a file.
fn checksum(path: &Path) -> io::Result<(u64, String)> {
    let mut digest = Sha256::new();
    let mut bytes = 0;
    read(path, |read| {
        digest.update(read);
        bytes += read.len() as u64;
    })?;
    Ok((bytes, hex(&digest.finalize())))
}

/// Calls `each` with the bytes of a file, piece by piece.
fn read(path: &Path, mut each: impl FnMut(&[u8])) -> io::Result<()> {
    let mut file = File::open(path)?;
    let mut buffer = vec![0; 1 << 18];
    loop {
        let read = match file.read(&mut buffer) {
            // A signal ended the call.
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        if read == 0 {
            return Ok(());
        }
        each(&buffer[..read]);
    }
}
