//! The errors of object storage.

use std::io;
use std::path::Path;

use figdex_io::{escaped, escaped_path};

/// An error of publishing to object storage, or of following what is published there.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A setting cannot be used.
    #[error("{0}")]
    Settings(String),
    /// The storage did not answer, or refused the request.
    #[error("{place}: {what}")]
    Unavailable {
        /// The object, with the address of the storage.
        place: String,
        /// The fault: the message of the storage, or that a deadline has passed.
        what: String,
    },
    /// An object does not have the expected content, or a local file cannot be read or written.
    #[error("{place}: {what}")]
    Damaged {
        /// The object, with the address of the storage.
        place: String,
        /// The fault: the finding, and the expectation.
        what: String,
    },
    /// Nothing was ever published there, or it was removed.
    #[error("nothing is published at {0}; publish an index with: figdex-ingest publish DIR {0}")]
    Nothing(String),
    /// The storage has the layout of a later version.
    #[error(
        "{place} has layout {found} of the storage; this version reads layout {supported}: \
         upgrade this program first"
    )]
    Newer {
        /// The object.
        place: String,
        /// The number of its layout.
        found: u32,
        /// The number of the layout that this version reads.
        supported: u32,
    },
    /// The published generation is older than the one that is served.
    #[error(
        "{place} names generation {found}, which is older than generation {served}: the storage was \
         perhaps put back to an earlier state (publish again, or roll back to it with: \
         figdex-ingest rollback)"
    )]
    Older {
        /// The pointer.
        place: String,
        /// The number that it names.
        found: u64,
        /// The number that is served.
        served: u64,
    },
    /// Another publisher is active.
    #[error("another publisher is at work there: {}; nothing is published by this one", escaped(.0))]
    Busy(String),
    /// Another publisher took over.
    #[error(
        "another publisher took over while this one could not renew its lease; nothing is \
         published by this one"
    )]
    LeaseLost,
    /// There is no earlier generation.
    #[error("{place} has no generation before {generation} to roll back to")]
    NothingBefore {
        /// The address.
        place: String,
        /// The number of the published generation.
        generation: u64,
    },
    /// The index is larger than servers read.
    #[error("the index is too large to be published: {0}")]
    TooLarge(String),
    /// The disk of the copy has too little room.
    #[error("{place}: it needs {needed} bytes more, and the disk has {free} left")]
    Full {
        /// The folder of the copy.
        place: String,
        /// The number of bytes to fetch.
        needed: u64,
        /// The number of bytes that the disk has.
        free: u64,
    },
    /// An error of the index on this machine.
    #[error(transparent)]
    Index(#[from] figdex_index::Error),
}

impl Error {
    /// The error of a local file that cannot be read or written.
    pub(crate) fn disk(path: &Path, error: &io::Error) -> Self {
        Self::Damaged { place: escaped_path(path).to_string(), what: error.to_string() }
    }
}

/// The result of a call to object storage.
pub type Result<T, E = Error> = std::result::Result<T, E>;
