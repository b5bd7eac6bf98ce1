//! The inputs of a build: files, the files of a folder, standard input, or bytes in memory.

use std::ffi::OsStr;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::waiting;

/// The place of a dump.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// A file.
    File(PathBuf),
    /// Standard input, written `-`.
    Stdin,
    /// Bytes in memory, under a name for messages.
    Memory(&'static str, Arc<[u8]>),
}

impl Input {
    /// The inputs that the arguments refer to, in order.
    ///
    /// # Errors
    /// As [`Input::resolve`], for all arguments together.
    pub fn resolve_all(arguments: &[PathBuf]) -> Result<Vec<Self>> {
        let (mut inputs, mut faults) = (Vec::new(), Vec::new());
        for argument in arguments {
            match Self::resolve(argument) {
                Ok(found) => inputs.extend(found),
                Err(fault) => faults.push(fault),
            }
        }
        let all = inputs.len() + faults.len();
        Error::of_inputs(faults, all).map_or(Ok(inputs), Err)
    }

    /// The inputs that an argument refers to: a file, the files of a folder in the order of their
    /// names (without hidden ones), or standard input for `-`.
    ///
    /// # Errors
    /// [`Error::Input`] when the path cannot be read or the folder has no files.
    pub fn resolve(argument: &Path) -> Result<Vec<Self>> {
        if argument == Path::new("-") {
            return Ok(vec![Self::Stdin]);
        }
        let failed = |error: io::Error| Error::open(&argument.display(), error);
        if !argument.metadata().map_err(failed)?.is_dir() {
            return Ok(vec![Self::File(argument.to_owned())]);
        }
        let mut files = Vec::new();
        for entry in argument.read_dir().map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            if path.file_name().is_some_and(|name| name.as_encoded_bytes()[0] == b'.') {
                continue;
            }
            match path.metadata() {
                Ok(metadata) if metadata.is_file() => files.push(path),
                Ok(_) => {}
                // The path is a link to a missing file, or the file has just been removed.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                // If the file were left out, its instruments would be missing in the index.
                Err(error) => return Err(Error::open(&path.display(), error)),
            }
        }
        files.sort_unstable();
        if files.is_empty() {
            return Err(Error::input(&argument.display(), None, "the folder contains no files"));
        }
        Ok(files.into_iter().map(Self::File).collect())
    }

    /// The size of the input in bytes before unpacking; `None` if it is not known before reading.
    pub(crate) fn bytes(&self) -> Option<u64> {
        match self {
            Self::File(path) => {
                path.metadata().ok().filter(std::fs::Metadata::is_file).map(|f| f.len())
            }
            Self::Stdin => None,
            Self::Memory(_, bytes) => Some(bytes.len() as u64),
        }
    }

    /// Its name in messages and reports.
    pub fn name(&self) -> String {
        match self {
            Self::File(path) => path.display().to_string(),
            Self::Stdin => "-".to_owned(),
            Self::Memory(name, _) => (*name).to_owned(),
        }
    }

    pub(crate) fn open(&self) -> Result<Box<dyn Read + Send>> {
        Ok(match self {
            Self::File(path) => {
                waiting::open(path).map_err(|error| Error::open(&self.name(), error))?
            }
            Self::Stdin => waiting::standard_input(),
            Self::Memory(_, bytes) => Box::new(io::Cursor::new(bytes.clone())),
        })
    }

    /// Whether the file name has the ending of a compressed file.
    pub(crate) fn is_packed(&self) -> bool {
        let Self::File(path) = self else { return false };
        path.extension().is_some_and(|end| PACKED.iter().any(|packed| end == *packed))
    }

    /// The ending of the file's name in lower case, without an ending for compression.
    pub(crate) fn ending(&self) -> Option<String> {
        let Self::File(path) = self else { return None };
        let name = if self.is_packed() { Path::new(path.file_stem()?) } else { path.as_path() };
        name.extension().and_then(OsStr::to_str).map(str::to_ascii_lowercase)
    }
}

/// The endings of compressed files.
const PACKED: [&str; 3] = ["gz", "zst", "bz2"];
