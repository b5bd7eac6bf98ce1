//! The files that a command reads and writes. No file may be both, except a device such as a
//! terminal: [`Files`] compares each output with the other files before anything is written.
//! [`Output`] replaces a file only when the new one is complete, and writes a stream in place.

mod identity;
mod output;

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

use self::identity::{Identity, descriptor, is_at, is_standard_output, resolved};
pub use self::output::{NewFile, Output};
use crate::printable::escaped_path;

/// The reason why a command must not write a file. Nothing was written or removed.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct OutputError {
    message: String,
    /// The system's error, if a path could not be resolved.
    source: Option<io::Error>,
}

/// The files and folders that a command reads and writes. A command first adds all its inputs. Then
/// it gets each output from [`Files::output`].
#[derive(Clone, Debug)]
pub struct Files {
    /// Whether a folder is that of an index.
    is_index: fn(&Path) -> bool,
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
    /// No files yet. `is_index` says whether a folder is that of an index.
    pub fn new(is_index: fn(&Path) -> bool) -> Self {
        Self { is_index, known: Vec::new(), folders: Vec::new(), index: None }
    }

    /// Adds a file that is read (even if it does not exist), or a folder whose files are all read.
    /// A path that cannot be resolved is ignored: opening it later reports the error.
    pub fn read(&mut self, what: &str, path: &Path) {
        let Ok(identity) = Identity::of(path) else { return };
        if path.is_dir() {
            self.folders.push((path.to_owned(), identity));
        } else {
            let what = format!("{what} {}", escaped_path(path));
            self.known.push(Known { what, path: path.to_owned(), identity, is_input: true });
        }
    }

    /// Adds standard input to the inputs.
    pub fn read_standard_input(&mut self) {
        if let Ok(metadata) = descriptor(io::stdin()) {
            let identity = Identity::existing(&metadata);
            let (what, path) = ("standard input".to_owned(), PathBuf::from("/dev/stdin"));
            self.known.push(Known { what, path, identity, is_input: true });
        }
    }

    /// Adds the folder of the index. Files that are read must not lie in it.
    ///
    /// # Errors
    /// [`OutputError`] when an already added file lies in the folder, when the folder is itself an
    /// input, or when its path cannot be resolved.
    pub fn index(&mut self, index: &Path) -> Result<(), OutputError> {
        let found = Identity::of(index).map_err(io_error("--index", index))?;
        for Known { what, path, .. } in &self.known {
            let Ok(path) = resolved(path) else { continue };
            if path.ancestors().any(|above| is_at(above, &found)) {
                return Err(in_index(what, index));
            }
        }
        if let Some((folder, _)) = self.folders.iter().find(|(_, identity)| *identity == found) {
            let what = format!("the input {}", escaped_path(folder));
            return Err(in_index(&what, index));
        }
        self.index = Some((index.to_owned(), found));
        Ok(())
    }

    /// Adds a file that the command will write. It must not be a file that the command reads or
    /// another output, unless it is a device. If it is not a stream, it must not lie in a folder of
    /// inputs or in any index.
    ///
    /// # Errors
    /// [`OutputError`] when the command must not write the file, when the path is that of a folder,
    /// or when it cannot be resolved. Nothing was touched.
    pub fn output(&mut self, flag: &'static str, path: &Path) -> Result<Output, OutputError> {
        let failed = || io_error(flag, path);
        let identity = Identity::of(path).map_err(failed())?;
        let metadata = match fs::metadata(path) {
            Ok(metadata) => Some(metadata),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(failed()(error)),
        };
        if metadata.as_ref().is_some_and(Metadata::is_dir) {
            return Err(refused(format!("{flag} {} is a folder: name a file", escaped_path(path))));
        }
        let kind = metadata.map(|metadata| metadata.file_type());
        let is_stream = kind.is_some_and(|kind| !kind.is_file());
        let place = resolved(path).map_err(failed())?;
        let (place, is_stream) = match is_stream {
            // Streams are not renamed, and their paths in /proc and /dev have no real folder.
            true => (path.to_owned(), true),
            false => (place, is_standard_output(&identity)),
        };
        // A terminal or /dev/null may be input and output at once: it has no content that could be
        // lost.
        if kind.is_none_or(|kind| kind.is_file() || kind.is_fifo()) {
            self.compare(flag, path, &identity)?;
        }
        if !is_stream {
            self.compare_folders(flag, path, &place)?;
            let new = output::temporary(&place);
            self.compare(flag, path, &Identity::of(&new).map_err(failed())?)?;
        }
        let what = format!("{flag} {}", escaped_path(path));
        self.known.push(Known { what, path: path.to_owned(), identity, is_input: false });
        Ok(Output { name: path.to_owned(), place, is_stream })
    }

    /// Compares standard output with the inputs: a report must not be written into a dump.
    ///
    /// # Errors
    /// [`OutputError`] when standard output is a regular file that is also an input.
    pub fn standard_output(&self) -> Result<(), OutputError> {
        let Ok(metadata) = descriptor(io::stdout()) else { return Ok(()) };
        let found = Identity::existing(&metadata);
        let same = self.known.iter().find(|known| known.is_input && known.identity == found);
        match same.filter(|_| metadata.is_file()) {
            Some(Known { what, .. }) => Err(refused(format!(
                "standard output and {what} are the same file: send standard output elsewhere"
            ))),
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
            Some(other) => Err(refused(format!(
                "{flag} {} and {other} are the same file, which writing would destroy: name \
                 another file for {flag}",
                escaped_path(path)
            ))),
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
            let (path, folder) = (escaped_path(path), escaped_path(folder));
            return Err(refused(format!(
                "{flag} {path} lies in {folder}, all of whose files are read: name a file in \
                 another folder for {flag}"
            )));
        }
        let what = format!("{flag} {}", escaped_path(path));
        for above in place.ancestors().skip(1) {
            if let Some((index, _)) = self.index.as_ref().filter(|(_, index)| is_at(above, index)) {
                let index = if index.as_os_str().is_empty() { above } else { index };
                return Err(in_index(&what, index));
            }
            // This is another index. A server may have it open.
            if (self.is_index)(above) {
                return Err(in_index(&what, above));
            }
        }
        Ok(())
    }
}

fn refused(message: String) -> OutputError {
    OutputError { message, source: None }
}

/// The error for a file in the folder of an index, which is only for the index. `what` describes
/// the file.
fn in_index(what: &str, index: &Path) -> OutputError {
    refused(format!(
        "{what} lies in {}, the folder of an index, in which a build writes and removes files: it \
         must be in another folder",
        escaped_path(index)
    ))
}

/// For `map_err`: the system cannot resolve the path.
fn io_error(flag: &'static str, path: &Path) -> impl FnOnce(io::Error) -> OutputError {
    let message = format!("{flag} {}", escaped_path(path));
    move |source| OutputError { message, source: Some(source) }
}
