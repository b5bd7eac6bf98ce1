//! A new file that is written piece by piece. Its errors name it, and it is not finished
//! before all of its bytes are written.

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// Bytes that are gathered before they are written, unless a caller asks for more.
const BUFFER_BYTES: usize = 8 << 10;

pub(crate) struct FileWriter {
    path: PathBuf,
    file: BufWriter<File>,
}

impl FileWriter {
    /// Creates the file, which must not be there.
    pub(crate) fn create(path: PathBuf) -> Result<Self> {
        Self::with_buffer(path, BUFFER_BYTES)
    }

    /// As [`Self::create`], with a buffer of that size.
    pub(crate) fn with_buffer(path: PathBuf, buffer_bytes: usize) -> Result<Self> {
        let file = File::create_new(&path).map_err(Error::io(&path))?;
        Ok(Self { path, file: BufWriter::with_capacity(buffer_bytes, file) })
    }

    /// Writes all of the bytes.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        match self.file.write_all(bytes) {
            Ok(()) => Ok(()),
            Err(error) => Err(Error::io(&self.path)(error)),
        }
    }

    /// Writes what is still in the buffer. A writer that is dropped instead may lose it.
    pub(crate) fn finish(self) -> Result<()> {
        let Self { path, file } = self;
        file.into_inner().map_err(|error| Error::io(&path)(error.into_error()))?;
        Ok(())
    }
}

/// Writes a file that is held in memory.
pub(crate) fn write_file(path: &Path, bytes: &[u8]) -> Result<()> {
    fs::write(path, bytes).map_err(Error::io(path))
}
