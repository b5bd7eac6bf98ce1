//! Writing the files of a part. Errors name the file.

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// The size of the buffer, unless a caller asks for a larger one.
const BUFFER_BYTES: usize = 8 << 10;

/// A new file that is written piece by piece.
pub(crate) struct FileWriter {
    path: PathBuf,
    file: BufWriter<File>,
}

impl FileWriter {
    /// Creates the file, which must not exist.
    pub(crate) fn create(path: PathBuf) -> Result<Self> {
        Self::with_buffer(path, BUFFER_BYTES)
    }

    /// Creates the file, which must not exist, with a buffer of `buffer_bytes`.
    pub(crate) fn with_buffer(path: PathBuf, buffer_bytes: usize) -> Result<Self> {
        let file = File::create_new(&path).map_err(Error::io(&path))?;
        Ok(Self { path, file: BufWriter::with_capacity(buffer_bytes, file) })
    }

    /// Creates the file, or empties it if it exists.
    pub(crate) fn emptied(path: PathBuf) -> Result<Self> {
        let file = File::create(&path).map_err(Error::io(&path))?;
        Ok(Self { path, file: BufWriter::with_capacity(BUFFER_BYTES, file) })
    }

    /// Appends the bytes.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        match self.file.write_all(bytes) {
            Ok(()) => Ok(()),
            Err(error) => Err(Error::io(&self.path)(error)),
        }
    }

    /// Writes the rest of the buffer. Without this call, a dropped writer may lose it.
    pub(crate) fn finish(self) -> Result<()> {
        let Self { path, file } = self;
        file.into_inner().map_err(|error| Error::io(&path)(error.into_error()))?;
        Ok(())
    }

    /// Drops the file without writing the rest of the buffer: the caller removes it.
    pub(crate) fn abandon(self) {
        drop(self.file.into_parts());
    }
}

/// Writes a file in one call. Replaces the file if it exists.
pub(crate) fn write_file(path: &Path, bytes: &[u8]) -> Result<()> {
    fs::write(path, bytes).map_err(Error::io(path))
}
