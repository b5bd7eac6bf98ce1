//! Stamps of files that are watched: a file that was replaced or changed has another stamp.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// A file's inode, size and modification time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    inode: u64,
    size: u64,
    seconds: i64,
    nanoseconds: i64,
}

impl Stamp {
    /// The stamp of a file as it is now; `None` when it is gone.
    pub(crate) fn of(file: &Path) -> Option<Self> {
        let metadata = fs::metadata(file).ok()?;
        Some(Self {
            inode: metadata.ino(),
            size: metadata.size(),
            seconds: metadata.mtime(),
            nanoseconds: metadata.mtime_nsec(),
        })
    }
}
