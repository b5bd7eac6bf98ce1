//! The identity of the file that a path refers to. One file may have several names: relative and
//! absolute paths, symbolic links, hard links, `/dev/stdin`. So existing files are compared by
//! device and inode. Missing files are compared by the nearest existing folder and the rest of the
//! path.

use std::fs::{self, File, Metadata};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// The file that a path refers to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Identity {
    Existing {
        device: u64,
        inode: u64,
    },
    /// A file that does not exist yet: the nearest existing folder, and the rest of the path.
    Missing {
        device: u64,
        inode: u64,
        rest: PathBuf,
    },
}

impl Identity {
    pub(super) fn of(path: &Path) -> io::Result<Self> {
        match fs::metadata(path) {
            Ok(found) => return Ok(Self::existing(&found)),
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Err(_) => {}
        }
        let path = resolved(path)?;
        for above in path.ancestors() {
            if let (Ok(found), Ok(rest)) = (fs::metadata(above), path.strip_prefix(above)) {
                let (device, inode) = (found.dev(), found.ino());
                return Ok(Self::Missing { device, inode, rest: rest.to_owned() });
            }
        }
        Err(io::ErrorKind::NotFound.into())
    }

    pub(super) fn existing(found: &Metadata) -> Self {
        Self::Existing { device: found.dev(), inode: found.ino() }
    }
}

/// Metadata of an open stream, such as standard input.
pub(super) fn descriptor(stream: impl AsFd) -> io::Result<Metadata> {
    File::from(stream.as_fd().try_clone_to_owned()?).metadata()
}

/// Whether the path refers to that file.
pub(super) fn is_at(path: &Path, identity: &Identity) -> bool {
    Identity::of(path).is_ok_and(|found| found == *identity)
}

/// Whether standard output or standard error already goes into that file. If so, a rename must not
/// replace the file, because the stream and the name would then refer to different files.
pub(super) fn is_standard_output(identity: &Identity) -> bool {
    [descriptor(io::stdout()), descriptor(io::stderr())]
        .iter()
        .flatten()
        .any(|found| Identity::existing(found) == *identity)
}

/// The absolute path without symbolic links. The file need not exist yet.
pub(super) fn resolved(path: &Path) -> io::Result<PathBuf> {
    match fs::canonicalize(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        found => return found,
    }
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        Some(_) => Path::new("."),
        None => return Err(io::ErrorKind::NotFound.into()),
    };
    // The path is a link to a file that does not exist yet. A circle of links has failed above,
    // with another error.
    if let Ok(target) = fs::read_link(path) {
        return resolved(&folder.join(target));
    }
    let name = path.file_name().ok_or(io::ErrorKind::NotFound)?;
    Ok(resolved(folder)?.join(name))
}
