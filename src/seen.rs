//! The state of a watched file at one time. Two states differ if the file was replaced or changed
//! between them.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// A file's inode, size and times. The change time also shows a new owner or mode: an unreadable
/// file may have become readable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Seen {
    /// The state of a file now; `None` when it is gone, or its metadata cannot be read.
    pub(crate) fn of(file: &Path) -> Option<Self> {
        let metadata = fs::metadata(file).ok()?;
        Some(Self {
            inode: metadata.ino(),
            size: metadata.size(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        })
    }
}
