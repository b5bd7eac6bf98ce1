//! An index on disk: a folder of immutable generations and a pointer to the one
//! that is published.
//!
//! ```text
//! INDEX/CURRENT              the name of the published generation
//! INDEX/LOCK                 held by the one builder
//! INDEX/generation-000007/   manifest.toml, then part-000/, part-001/ …
//! ```
//! A generation is built under its final name, which nobody reads before
//! `CURRENT` names it: publishing is the one rename of that small file.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::manifest::MANIFEST;

const CURRENT: &str = "CURRENT";
const CURRENT_NEW: &str = "CURRENT.new";
const LOCK: &str = "LOCK";
const PREFIX: &str = "generation-";

/// The longest pointer file that is read.
const CURRENT_BYTES_MAX: u64 = 64;

/// The folder of the published generation of an index.
pub(crate) fn current(index: &Path) -> Result<PathBuf> {
    let path = index.join(CURRENT);
    match fs::metadata(&path) {
        Ok(found) if found.len() > CURRENT_BYTES_MAX => {
            return Err(Error::damaged(&path, "it names no generation"));
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound && index.is_dir() => {
            return Err(Error::NotAnIndex(index.to_owned()));
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(Error::io(index)(error));
        }
        Err(error) => return Err(Error::io(&path)(error)),
        Ok(_) => {}
    }
    let name = fs::read_to_string(&path).map_err(Error::io(&path))?;
    let name = name.trim_end();
    match number(name) {
        Some(_) => Ok(index.join(name)),
        None => Err(Error::damaged(&path, "it names no generation")),
    }
}

/// The number of the generation with that folder name.
fn number(name: &str) -> Option<u64> {
    let digits = name.strip_prefix(PREFIX)?;
    let number = digits.parse().ok()?;
    (name_of(number) == name).then_some(number)
}

fn name_of(number: u64) -> String {
    format!("{PREFIX}{number:06}")
}

/// The right to build into an index: there is one at a time, across processes,
/// and the system takes it back from a process that dies.
pub(crate) struct BuildLock {
    index: PathBuf,
    _file: File,
}

impl BuildLock {
    /// Locks `index`, which is made if it is not there, and removes what earlier
    /// builds left unfinished.
    pub(crate) fn acquire(index: &Path) -> Result<Self> {
        fs::create_dir_all(index).map_err(Error::io(index))?;
        let path = index.join(LOCK);
        let file = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .map_err(Error::io(&path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(Error::Locked(index.to_owned())),
            Err(TryLockError::Error(error)) => return Err(Error::io(&path)(error)),
        }
        let lock = Self { index: index.to_owned(), _file: file };
        for (_, generation) in lock.generations()? {
            if !generation.join(MANIFEST).exists() {
                fs::remove_dir_all(&generation).map_err(Error::io(&generation))?;
            }
        }
        Ok(lock)
    }

    /// The number and the new, empty folder of the next generation.
    pub(crate) fn next_generation(&self) -> Result<(u64, PathBuf)> {
        let last = self.generations()?.last().map_or(0, |(number, _)| *number);
        let path = self.index.join(name_of(last + 1));
        fs::create_dir(&path).map_err(Error::io(&path))?;
        Ok((last + 1, path))
    }

    /// Makes `number` the published generation, and removes all that are older
    /// than the one published before: a server may still be opening that one.
    pub(crate) fn publish(&self, number: u64) -> Result<()> {
        let before = current(&self.index).ok();
        let new = self.index.join(CURRENT_NEW);
        let write = || {
            let mut file = File::create(&new)?;
            writeln!(file, "{}", name_of(number))?;
            file.sync_all()
        };
        write().map_err(Error::io(&new))?;
        fs::rename(&new, self.index.join(CURRENT)).map_err(Error::io(&new))?;
        sync(&self.index)?;
        if let Some(before) = before {
            for (_, generation) in self.generations()? {
                if generation < before {
                    fs::remove_dir_all(&generation).map_err(Error::io(&generation))?;
                }
            }
        }
        Ok(())
    }

    /// The generations that are there, finished or not, by number.
    fn generations(&self) -> Result<Vec<(u64, PathBuf)>> {
        let mut generations = Vec::new();
        for entry in fs::read_dir(&self.index).map_err(Error::io(&self.index))? {
            let entry = entry.map_err(Error::io(&self.index))?;
            if let Some(number) = entry.file_name().to_str().and_then(number) {
                generations.push((number, entry.path()));
            }
        }
        generations.sort_unstable();
        Ok(generations)
    }
}

/// Writes through to the disk what the system still holds of a file, or of the
/// names in a folder.
pub(crate) fn sync(path: &Path) -> Result<()> {
    File::open(path).and_then(|file| file.sync_all()).map_err(Error::io(path))
}
