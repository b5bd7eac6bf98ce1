//! A file that a command writes. It is written under a temporary name in its folder, and renamed
//! once it is complete. An earlier file stays until then. A stream, such as a pipe, is written in
//! place.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::owner::Owner;
use crate::printable::escaped_path;

/// A file that a command may write, from [`Files::output`](super::Files::output).
#[derive(Clone, Debug)]
pub struct Output {
    pub(super) name: PathBuf,
    /// The path without symbolic links, so that a file never replaces a link.
    pub(super) place: PathBuf,
    /// Whether it is a pipe, a device or standard output, which is written in place.
    pub(super) is_stream: bool,
}

impl Output {
    /// The path as given.
    pub fn name(&self) -> &Path {
        &self.name
    }

    /// The folder of the file; `None` for a stream.
    pub fn folder(&self) -> Option<&Path> {
        self.place.parent().filter(|_| !self.is_stream)
    }

    /// Creates the new file under a temporary name, or opens a stream in place. An earlier file
    /// stays until [`NewFile::keep`].
    ///
    /// # Errors
    /// The errors of the system, and [`io::ErrorKind::ResourceBusy`] when another program is
    /// writing the same file.
    pub fn create(&self) -> io::Result<NewFile> {
        if self.is_stream {
            let file = OpenOptions::new().append(true).open(&self.place)?;
            return Ok(NewFile { file, rename: None });
        }
        let new = temporary(&self.place);
        let mut options = OpenOptions::new();
        let options = options.write(true).create_new(true);
        let file = match options.open(&new) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                remove_abandoned(&new)?;
                options.open(&new)?
            }
            file => file?,
        };
        let file = NewFile { file, rename: Some((new, self.place.clone())) };
        lock(&file.file)?;
        if let Ok(earlier) = fs::metadata(&self.place) {
            // If root runs this, the owner of the earlier file gets the new one. This user could
            // not write to a file of root.
            if let Ok(Some(owner)) = Owner::other_than_root(&self.place) {
                owner.take(&file.file)?;
            }
            file.file.set_permissions(earlier.permissions())?;
        }
        Ok(file)
    }

    /// Writes the whole file.
    ///
    /// # Errors
    /// The errors of [`Output::create`] and [`NewFile::keep`]. An earlier file is then unchanged,
    /// but a stream may already have received a part of the bytes.
    pub fn write(&self, bytes: &[u8]) -> io::Result<()> {
        let mut file = self.create()?;
        file.write_all(bytes)?;
        file.keep()
    }

    /// Removes an earlier file, since it would describe another build. A stream is left alone.
    ///
    /// # Errors
    /// Those of the system.
    pub fn remove(&self) -> io::Result<()> {
        if self.is_stream {
            return Ok(());
        }
        match fs::remove_file(&self.place) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

/// A file that is being written. If [`NewFile::keep`] has not succeeded, the drop removes the
/// temporary file. A stream is never removed.
#[derive(Debug)]
pub struct NewFile {
    file: File,
    /// The temporary path and the final path; `None` for a stream.
    rename: Option<(PathBuf, PathBuf)>,
}

impl NewFile {
    /// The temporary path of the file; `None` for a stream, which is written in place.
    pub fn temporary(&self) -> Option<&Path> {
        self.rename.as_ref().map(|(new, _)| new.as_path())
    }

    /// Writes buffered data through to the disk. Does nothing for a stream.
    ///
    /// # Errors
    /// The errors of the system.
    pub fn sync(&self) -> io::Result<()> {
        // A stream is not on a disk.
        self.rename.as_ref().map_or(Ok(()), |_| self.file.sync_all())
    }

    /// Completes the file, which then replaces the earlier one. A stream replaces nothing.
    ///
    /// # Errors
    /// The errors of the system. The earlier file is then unchanged.
    pub fn keep(mut self) -> io::Result<()> {
        self.sync()?;
        let Some((new, place)) = &self.rename else { return Ok(()) };
        fs::rename(new, place).map_err(Owner::explains(place))?;
        self.rename = None;
        Ok(())
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if let Some((new, _)) = self.rename.take() {
            // If this fails, the next write of the same file removes it.
            fs::remove_file(new).ok();
        }
    }
}

/// The temporary path of a file. It is hidden, so that it does not count as a dump in a folder of
/// dumps.
pub(super) fn temporary(place: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(place.file_name().unwrap_or_default());
    name.push(".new");
    place.with_file_name(name)
}

/// Removes the temporary file of a killed command, which is not locked any more.
fn remove_abandoned(new: &Path) -> io::Result<()> {
    if !fs::symlink_metadata(new)?.is_file() {
        let what = format!("{} is in the way: remove it", escaped_path(new));
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, what));
    }
    lock(&OpenOptions::new().write(true).open(new).map_err(Owner::explains(new))?)?;
    fs::remove_file(new)
}

/// Locks a file that is being written. On a file system without locks, it stays unlocked.
fn lock(file: &File) -> io::Result<()> {
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => {
            let what = "another program is writing this file: wait until it ends";
            Err(io::Error::new(io::ErrorKind::ResourceBusy, what))
        }
        _ => Ok(()),
    }
}
