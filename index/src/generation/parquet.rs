//! The Parquet file of a generation, which some builds write: all instruments, for engines that
//! read files instead of asking questions. This crate only keeps the file and gives its bytes; the
//! program that builds writes it.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use super::folder::{generations, path_of};
use super::manifest::{FileEntry, Manifest, ParquetEntry};
use super::names::{FileName, PARQUET, PARQUET_FILE, below};
use crate::error::{Error, Result};
use crate::instrument::id_type::IdType;

/// The open Parquet file of a generation. Its bytes stay readable when the generation is removed.
#[derive(Debug)]
pub struct ParquetFile {
    file: File,
    bytes: u64,
    sha256: String,
    identifiers: Vec<IdType>,
}

impl ParquetFile {
    /// Opens the file of the generation in that folder, which must be the one of its manifest.
    ///
    /// # Errors
    /// [`Error::Damaged`] when it has another size, and [`Error::Io`].
    pub(crate) fn open(generation: &Path, entry: &ParquetEntry) -> Result<Self> {
        let listed = entry.file();
        let path = below(generation, &format!("{PARQUET}/{}", listed.name))?;
        let file = File::open(&path).map_err(Error::io(&path))?;
        let bytes = file.metadata().map_err(Error::io(&path))?.len();
        if bytes != listed.bytes {
            let what = format!("it has {bytes} bytes instead of {}", listed.bytes);
            return Err(Error::damaged(&path, what));
        }
        let identifiers = entry.id_types().map_err(|what| Error::damaged(generation, what))?;
        Ok(Self { file, bytes, sha256: listed.sha256.clone(), identifiers })
    }

    /// Opens the file of the generation with that number in its manifest, if the generation is
    /// still complete in the index folder and has such a file.
    ///
    /// # Errors
    /// When the folder cannot be read, or the file differs in size from its manifest.
    pub(crate) fn of_number(index: &Path, number: u64) -> Result<Option<Self>> {
        for folder in generations(index)?.into_iter().rev() {
            let path = path_of(index, folder);
            // One that another build removes at this moment, or one of another format.
            let Ok(read) = Manifest::read(&path) else { continue };
            let Manifest { generation, parquet, .. } = read.manifest;
            if generation != number {
                continue;
            }
            let Some(entry) = parquet else { return Ok(None) };
            return match Self::open(&path, &entry) {
                Ok(file) => Ok(Some(file)),
                Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                    Ok(None)
                }
                Err(error) => Err(error),
            };
        }
        Ok(None)
    }

    /// Its size in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The SHA-256 of its bytes, hexadecimal.
    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    /// The idTypes of its columns of identifiers.
    pub fn identifiers(&self) -> &[IdType] {
        &self.identifiers
    }

    /// Fills the buffer with the bytes from that offset.
    ///
    /// # Errors
    /// The errors of the system, and [`io::ErrorKind::UnexpectedEof`] beyond the end.
    pub fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.file.read_exact_at(buffer, offset)
    }
}

impl ParquetEntry {
    /// The entry of the file that was written into the folder of a generation.
    pub(crate) fn of(generation: &Path, identifiers: &[IdType]) -> Result<Self> {
        let name = FileName::try_from(PARQUET_FILE.to_owned()).expect("it is the name of a file");
        let file = FileEntry::of(&generation.join(PARQUET), name)?;
        let identifiers = identifiers.iter().map(|id_type| id_type.name().to_owned()).collect();
        Ok(Self { identifiers, files: vec![file] })
    }

    /// Checks that it has the one file, and known idTypes.
    pub(crate) fn check(&self) -> std::result::Result<(), String> {
        if !self.files.iter().map(|file| file.name.as_str()).eq([PARQUET_FILE]) {
            return Err(format!("{PARQUET} has other files than {PARQUET_FILE}"));
        }
        self.id_types().map(|_| ())
    }

    /// The entry of the file.
    pub fn file(&self) -> &FileEntry {
        // `check` has seen that there is exactly one.
        &self.files[0]
    }

    /// The idTypes of its columns.
    fn id_types(&self) -> std::result::Result<Vec<IdType>, String> {
        let known = |name: &String| {
            IdType::from_name(name).ok_or_else(|| {
                format!("{PARQUET} has a column of identifiers that this version does not know")
            })
        };
        self.identifiers.iter().map(known).collect()
    }
}
