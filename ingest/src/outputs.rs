//! The files that a command writes, none of which may be a file that it reads.
//!
//! Files are compared by device and inode, since one file may have several names: relative
//! and absolute ones, symbolic links, hard links, `/dev/stdin`. A file is written under
//! another name in its folder and renamed when it is whole, so that the earlier one stays
//! until then.

use std::ffi::OsString;
use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use figdex_index::{Publication, escaped_path};

/// Why a command must not write a file. Nothing was written or removed.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// Writing the file would destroy another.
    #[error(
        "{flag} {} and {other} are the same file, which writing would destroy: name another \
         file for {flag}",
        escaped_path(.path)
    )]
    Same {
        /// The flag that names the file.
        flag: &'static str,
        /// The file as given.
        path: PathBuf,
        /// The other use of the file.
        other: String,
    },
    /// The next build would read the file as a dump.
    #[error(
        "{flag} {} lies in {}, all of whose files are read: name a file in another folder for \
         {flag}",
        escaped_path(.path), escaped_path(.folder)
    )]
    AmongInputs {
        /// The flag that names the file.
        flag: &'static str,
        /// The file as given.
        path: PathBuf,
        /// The folder as given.
        folder: PathBuf,
    },
    /// The folder of an index is for the index only.
    #[error(
        "{what} lies in {}, the folder of an index, in which a build writes and removes files: \
         it must be in another folder",
        escaped_path(.index)
    )]
    InIndex {
        /// The file, with its flag.
        what: String,
        /// The folder of the index.
        index: PathBuf,
    },
    /// The report would be written into a dump.
    #[error("standard output and {input} are the same file: send standard output elsewhere")]
    StandardOutput {
        /// The input.
        input: String,
    },
    /// A folder cannot be written as a file.
    #[error("{flag} {} is a folder: name a file", escaped_path(.path))]
    Folder {
        /// The flag that names the file.
        flag: &'static str,
        /// The path as given.
        path: PathBuf,
    },
    /// The system does not say which file a path means.
    #[error("{flag} {}", escaped_path(.path))]
    Io {
        /// The flag that names the file.
        flag: &'static str,
        /// The path as given.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

/// The files and folders that a command reads and writes. Every path that a command writes
/// passes [`Files::output`], after all those that it reads.
#[derive(Clone, Debug, Default)]
pub struct Files {
    known: Vec<Known>,
    folders: Vec<(PathBuf, Identity)>,
    index: Option<(PathBuf, Identity)>,
}

/// A file that is read, or that is already an output.
#[derive(Clone, Debug)]
struct Known {
    /// The use of the file, for messages.
    what: String,
    path: PathBuf,
    identity: Identity,
    is_input: bool,
}

impl Files {
    /// Notes a file that is read, or would be if it were there, or a folder all of whose
    /// files are. A path that cannot be read is left for its reader to report.
    pub fn read(&mut self, what: &str, path: &Path) {
        let Ok(identity) = Identity::of(path) else { return };
        if path.is_dir() {
            self.folders.push((path.to_owned(), identity));
        } else {
            let what = format!("{what} {}", escaped_path(path));
            self.known.push(Known { what, path: path.to_owned(), identity, is_input: true });
        }
    }

    /// Notes that standard input is read.
    pub fn read_standard_input(&mut self) {
        if let Ok(metadata) = descriptor(io::stdin()) {
            let identity = Identity::there(&metadata);
            let (what, path) = ("standard input".to_owned(), PathBuf::from("/dev/stdin"));
            self.known.push(Known { what, path, identity, is_input: true });
        }
    }

    /// Notes the folder of the index, in which no other file that is read may lie.
    ///
    /// # Errors
    /// When one that was noted before does.
    pub fn index(&mut self, index: &Path) -> Result<(), OutputError> {
        let found = Identity::of(index).map_err(io_error("--index", index))?;
        for Known { what, path, .. } in &self.known {
            let Ok(path) = resolved(path) else { continue };
            if path.ancestors().any(|above| is_at(above, &found)) {
                return Err(OutputError::InIndex { what: what.clone(), index: index.to_owned() });
            }
        }
        if let Some((folder, _)) = self.folders.iter().find(|(_, identity)| *identity == found) {
            let what = format!("the input {}", escaped_path(folder));
            return Err(OutputError::InIndex { what, index: index.to_owned() });
        }
        self.index = Some((index.to_owned(), found));
        Ok(())
    }

    /// A file that the command will write: it is none of those that the command reads, nor
    /// another output, and lies neither among the inputs nor in an index.
    ///
    /// # Errors
    /// When it does. Nothing was touched.
    pub fn output(&mut self, flag: &'static str, path: &Path) -> Result<Output, OutputError> {
        let fault = || io_error(flag, path);
        let identity = Identity::of(path).map_err(fault())?;
        let metadata = match fs::metadata(path) {
            Ok(metadata) => Some(metadata),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(fault()(error)),
        };
        if metadata.as_ref().is_some_and(Metadata::is_dir) {
            return Err(OutputError::Folder { flag, path: path.to_owned() });
        }
        let kind = metadata.map(|metadata| metadata.file_type());
        let is_stream = kind.is_some_and(|kind| !kind.is_file());
        let place = resolved(path).map_err(fault())?;
        let (place, is_stream) = match is_stream {
            // Its names in /proc and /dev lead to no folder.
            true => (path.to_owned(), true),
            false => (place, is_standard_output(&identity)),
        };
        // A terminal or /dev/null may be all things at once: nothing in it can be destroyed.
        if kind.is_none_or(|kind| kind.is_file() || kind.is_fifo()) {
            self.compare(flag, path, &identity)?;
        }
        if !is_stream {
            self.compare_folders(flag, path, &place)?;
            let new = beside(&place);
            self.compare(flag, path, &Identity::of(&new).map_err(fault())?)?;
        }
        let what = format!("{flag} {}", escaped_path(path));
        self.known.push(Known { what, path: path.to_owned(), identity, is_input: false });
        Ok(Output { name: path.to_owned(), place, is_stream })
    }

    /// Compares standard output with the inputs: a report must not be written into a dump.
    ///
    /// # Errors
    /// When it is one of them.
    pub fn standard_output(&self) -> Result<(), OutputError> {
        let Ok(metadata) = descriptor(io::stdout()) else { return Ok(()) };
        let found = Identity::there(&metadata);
        let same = self.known.iter().find(|known| known.is_input && known.identity == found);
        match same.filter(|_| metadata.is_file()) {
            Some(known) => Err(OutputError::StandardOutput { input: known.what.clone() }),
            None => Ok(()),
        }
    }

    fn compare(
        &self,
        flag: &'static str,
        path: &Path,
        identity: &Identity,
    ) -> Result<(), OutputError> {
        let same = self.known.iter().find(|known| known.identity == *identity);
        let index = self.index.as_ref().filter(|(_, index)| index == identity);
        let index = index.map(|(index, _)| format!("--index {}", escaped_path(index)));
        match same.map(|known| known.what.clone()).or(index) {
            Some(other) => Err(OutputError::Same { flag, path: path.to_owned(), other }),
            None => Ok(()),
        }
    }

    fn compare_folders(
        &self,
        flag: &'static str,
        path: &Path,
        place: &Path,
    ) -> Result<(), OutputError> {
        let folder = place.parent().and_then(|folder| Identity::of(folder).ok());
        let among = self.folders.iter().find(|(_, identity)| Some(identity) == folder.as_ref());
        if let Some((folder, _)) = among {
            let (path, folder) = (path.to_owned(), folder.clone());
            return Err(OutputError::AmongInputs { flag, path, folder });
        }
        let in_index = |above: &Path, name: &Path| OutputError::InIndex {
            what: format!("{flag} {}", escaped_path(path)),
            index: if name.as_os_str().is_empty() { above } else { name }.to_owned(),
        };
        for above in place.ancestors().skip(1) {
            if let Some((index, _)) = self.index.as_ref().filter(|(_, index)| is_at(above, index)) {
                return Err(in_index(above, index));
            }
            // Another index, which a server may have open.
            if Publication::of(above).is_ok() {
                return Err(in_index(above, Path::new("")));
            }
        }
        Ok(())
    }
}

/// A file that a command may write.
#[derive(Clone, Debug)]
pub struct Output {
    name: PathBuf,
    /// The path without symbolic links, so that a link keeps pointing at what is written.
    place: PathBuf,
    /// A pipe or a device, which is written as it is; so is standard output.
    is_stream: bool,
}

impl Output {
    /// The path as given.
    pub fn name(&self) -> &Path {
        &self.name
    }

    /// The folder that the file lies in.
    pub(crate) fn folder(&self) -> Option<&Path> {
        self.place.parent().filter(|_| !self.is_stream)
    }

    /// Begins the file: the earlier one stays until [`NewFile::keep`].
    ///
    /// # Errors
    /// When the system says so, or another program is writing the same file.
    pub fn create(&self) -> io::Result<NewFile> {
        if self.is_stream {
            let file = OpenOptions::new().append(true).open(&self.place)?;
            return Ok(NewFile { file, rename: None });
        }
        let new = beside(&self.place);
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
            file.file.set_permissions(earlier.permissions())?;
        }
        Ok(file)
    }

    /// Writes the whole file.
    ///
    /// # Errors
    /// When the system says so; the earlier file is then as it was.
    pub fn write(&self, bytes: &[u8]) -> io::Result<()> {
        let mut file = self.create()?;
        file.write_all(bytes)?;
        file.keep()
    }

    /// Removes an earlier file, which would tell of another build. A pipe or a device stays.
    pub(crate) fn remove(&self) -> io::Result<()> {
        if self.is_stream {
            return Ok(());
        }
        match fs::remove_file(&self.place) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

/// A file that is being written. Dropped before it is kept, it leaves nothing behind.
#[derive(Debug)]
pub struct NewFile {
    file: File,
    /// Its name until it is whole, and the name that it gets then; none for a stream.
    rename: Option<(PathBuf, PathBuf)>,
}

impl NewFile {
    /// Writes through to the disk what the system still holds of the file.
    pub(crate) fn sync(&self) -> io::Result<()> {
        // A pipe or a device has no disk.
        self.rename.as_ref().map_or(Ok(()), |_| self.file.sync_all())
    }

    /// Puts the file in the place of the earlier one.
    ///
    /// # Errors
    /// When the system says so; the earlier file is then as it was.
    pub fn keep(mut self) -> io::Result<()> {
        self.sync()?;
        let Some((new, place)) = &self.rename else { return Ok(()) };
        fs::rename(new, place)?;
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
            // The next write removes it as well.
            fs::remove_file(new).ok();
        }
    }
}

/// The name of a file while it is written. A folder of dumps leaves hidden files out.
fn beside(place: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(place.file_name().unwrap_or_default());
    name.push(".new");
    place.with_file_name(name)
}

/// Removes what a killed command left under that name: a file that nobody has locked.
fn remove_abandoned(new: &Path) -> io::Result<()> {
    if !fs::symlink_metadata(new)?.is_file() {
        let what = format!("{} is in the way: remove it", escaped_path(new));
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, what));
    }
    lock(&OpenOptions::new().write(true).open(new)?)?;
    fs::remove_file(new)
}

/// Locks a file that is being written. A file system without locks does without.
fn lock(file: &File) -> io::Result<()> {
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => {
            let what = "another program is writing this file: wait until it ends";
            Err(io::Error::new(io::ErrorKind::ResourceBusy, what))
        }
        _ => Ok(()),
    }
}

/// The file that a path means.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Identity {
    There {
        device: u64,
        inode: u64,
    },
    /// A file that is not there yet: the folder above that is, and the rest of the path.
    NotThere {
        device: u64,
        inode: u64,
        rest: PathBuf,
    },
}

impl Identity {
    fn of(path: &Path) -> io::Result<Self> {
        match fs::metadata(path) {
            Ok(found) => return Ok(Self::there(&found)),
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Err(_) => {}
        }
        let path = resolved(path)?;
        for above in path.ancestors() {
            if let (Ok(found), Ok(rest)) = (fs::metadata(above), path.strip_prefix(above)) {
                let (device, inode) = (found.dev(), found.ino());
                return Ok(Self::NotThere { device, inode, rest: rest.to_owned() });
            }
        }
        Err(io::ErrorKind::NotFound.into())
    }

    fn there(found: &Metadata) -> Self {
        Self::There { device: found.dev(), inode: found.ino() }
    }
}

fn descriptor(stream: impl AsFd) -> io::Result<Metadata> {
    File::from(stream.as_fd().try_clone_to_owned()?).metadata()
}

fn is_at(path: &Path, identity: &Identity) -> bool {
    Identity::of(path).is_ok_and(|found| found == *identity)
}

/// Whether a report or a message already goes into that file: a rename would part the two.
fn is_standard_output(identity: &Identity) -> bool {
    [descriptor(io::stdout()), descriptor(io::stderr())]
        .iter()
        .flatten()
        .any(|found| Identity::there(found) == *identity)
}

/// An absolute path without symbolic links, also of a file that is not there yet.
fn resolved(path: &Path) -> io::Result<PathBuf> {
    match fs::canonicalize(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        found => return found,
    }
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        Some(_) => Path::new("."),
        None => return Err(io::ErrorKind::NotFound.into()),
    };
    // A link to a file that is not there yet. A circle of links is another error above.
    if let Ok(target) = fs::read_link(path) {
        return resolved(&folder.join(target));
    }
    let name = path.file_name().ok_or(io::ErrorKind::NotFound)?;
    Ok(resolved(folder)?.join(name))
}

fn io_error<'a>(flag: &'static str, path: &'a Path) -> impl FnOnce(io::Error) -> OutputError + 'a {
    move |source| OutputError::Io { flag, path: path.to_owned(), source }
}
