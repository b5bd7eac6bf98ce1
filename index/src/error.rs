//! The errors of this library. They know no HTTP status: the server chooses one.

use std::io;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use figdex_io::escaped_path;

use crate::instrument::date::Date;
use crate::instrument::figi::Figi;
use crate::meter::TakesMore;
use figdex_io::{Owner, SharedFolder};

/// An error of reading or building an index.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file could not be read, written, mapped or renamed.
    #[error("{}", escaped_path(.path))]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The folder holds no published index.
    #[error("{} is not an index (it has no file CURRENT)", escaped_path(.0))]
    NotAnIndex(PathBuf),
    /// The index was written by another version of this library.
    #[error("{} has index format {found}; this version reads {}: \
             build the index again with this version, or use the Figdex that built it; \
             a running server keeps the index that it has",
            escaped_path(.path), formats(.supported))]
    ForeignFormat {
        /// The manifest.
        path: PathBuf,
        /// The format it names.
        found: u32,
        /// The formats that this version reads.
        supported: RangeInclusive<u32>,
    },
    /// A file is not what the manifest says, or contradicts another.
    #[error("{} is damaged: {what} (roll back, or build the index again)", escaped_path(.path))]
    Damaged {
        /// The file or folder.
        path: PathBuf,
        /// The contradiction that was found.
        what: String,
    },
    /// Another build, download or rollback has the lock of this folder.
    #[error("{} is locked: another build is running", escaped_path(.0))]
    Locked(PathBuf),
    /// Root would write into a folder of another user.
    #[error(
        "{} belongs to {owner}, who could not replace or remove files of root: run this as that \
         user, for example with: sudo -u {name}",
        escaped_path(.index),
        name = .owner.name()
    )]
    OfAnother {
        /// The folder of the index.
        index: PathBuf,
        /// Its owner.
        owner: Owner,
    },
    /// Root would create a folder that others must use.
    #[error(transparent)]
    Shared(#[from] SharedFolder),
    /// The folder has no complete generation that is older than this one.
    #[error("{} has no generation before {generation} to roll back to", escaped_path(.index))]
    NothingBefore {
        /// The folder of the index.
        index: PathBuf,
        /// The number of the generation that is published or open.
        generation: u64,
    },
    /// A generation is published, but its publication may not survive a crash of the
    /// machine: the disk failed after `CURRENT` was renamed.
    #[error(
        "generation {generation} is published, but a crash of the machine may undo that \
         (check the disk, then build again)"
    )]
    Unconfirmed {
        /// The number of the generation.
        generation: u64,
        /// The step that failed.
        source: Box<Error>,
    },
    /// Publishing failed, and `CURRENT` could not be read to see which generation is published.
    #[error(
        "generation {generation} may be published or not (check the disk, then see \
         `figdex-ingest inspect`)"
    )]
    Unknown {
        /// The number of the generation.
        generation: u64,
        /// The step that failed.
        source: Box<Error>,
    },
    /// The Parquet file of the instruments could not be written.
    #[error("{}", escaped_path(.path))]
    Parquet {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The past ends after the day of the new generation.
    #[error(
        "{} ends on {last}, and the dumps are of {day}: a past goes on with a later day \
         (see --date)",
        escaped_path(.path)
    )]
    PastDay {
        /// The log of the past.
        path: PathBuf,
        /// Its last day.
        last: Date,
        /// The day of the dumps.
        day: Date,
    },
    /// The file is the log of a generation, and not an exported past.
    #[error(
        "{} is not an exported past: it lacks the rows (export one with \
         `figdex-ingest export --history`)",
        escaped_path(.0)
    )]
    NotWholePast(PathBuf),
    /// The index keeps no past.
    #[error("{} keeps no past: build it with --history", escaped_path(.0))]
    NoPast(PathBuf),
    /// An exported past was given for its own last day, with other dumps.
    #[error(
        "{} has another {figi} on its last day than the dumps, which are of the same day: build \
         with the dumps from which it was exported, or with a later --date",
        escaped_path(.path)
    )]
    PastDiffers {
        /// The exported past.
        path: PathBuf,
        /// The first FIGI that differs.
        figi: Figi,
    },
    /// The build has no instruments to publish.
    #[error("no instrument was added: nothing is published")]
    Empty,
    /// Instruments must be added in ascending FIGI order, each once.
    #[error("instrument {next} was added after {last}: add each instrument once, in FIGI order")]
    Order {
        /// The instrument that was added last.
        last: Figi,
        /// The instrument that should have come earlier, or only once.
        next: Figi,
    },
    /// A part exceeds a limit of its format. Build with smaller parts.
    #[error("a part of the index has too many {0}: build with smaller parts")]
    PartTooLarge(&'static str),
    /// The manifest of the generation is larger than any that a server reads.
    #[error(
        "the manifest of this generation is too large: {0}. Each part takes 4 KB of it, each dump \
         its name and 120 bytes, and each allowed value itself: build with more memory, from fewer \
         dumps, or without values that no other instrument has"
    )]
    ManifestTooLarge(String),
    /// There are more values of enum-like properties than a manifest can list.
    #[error(
        "the instruments have {values} different values of properties, {of_one} of them of {property}, \
         and an index has room for about {room} such values: see with `figdex-ingest inspect DUMP` \
         which column gives them, and leave it out or describe the dump with --columns"
    )]
    TooManyValues {
        /// The number of all values.
        values: usize,
        /// The number of values of this average size that an index has room for.
        room: usize,
        /// The number of values of the property that has most.
        of_one: usize,
        /// The name of that property.
        property: &'static str,
    },
    /// Two identifiers have the same hash under this seed, which happens to one index in a billion.
    /// An index in another folder has another seed.
    #[error(
        "two identifiers have the same hash, which happens to one index in a billion: build into \
         another folder, where the hash differs (a past moves along with export --history and build \
         --history-from)"
    )]
    HashSeed,
    /// The answer takes more work than is allowed, or its caller has gone.
    #[error(transparent)]
    TakesMore(#[from] TakesMore),
    /// The segment of a part could not be written or opened.
    #[error("{}", escaped_path(.path))]
    Segment {
        /// The folder of the segment.
        path: PathBuf,
        /// The error of tantivy, which may name a file in it.
        source: tantivy::TantivyError,
    },
    /// tantivy failed.
    #[error("tantivy")]
    Tantivy(#[from] tantivy::TantivyError),
}

impl Error {
    /// Whether the message already says which generation is published, or that the build did
    /// not begin.
    pub fn says_what_is_published(&self) -> bool {
        matches!(
            self,
            Self::NotAnIndex(_)
                | Self::Locked(_)
                | Self::OfAnother { .. }
                | Self::Shared(_)
                | Self::NothingBefore { .. }
                | Self::Unconfirmed { .. }
                | Self::Unknown { .. }
                | Self::Empty
        )
    }

    /// For `map_err`: an I/O error at `path`.
    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { path, source }
    }

    /// For `map_err`: a tantivy error about the segment in the folder `path`.
    pub(crate) fn segment(path: &Path) -> impl FnOnce(tantivy::TantivyError) -> Self {
        let path = path.to_owned();
        move |source| Self::Segment { path, source }
    }

    pub(crate) fn damaged(path: &Path, what: impl Into<String>) -> Self {
        Self::Damaged { path: path.to_owned(), what: what.into() }
    }
}

/// The formats that a version reads, in a message.
fn formats(supported: &RangeInclusive<u32>) -> String {
    let (first, last) = supported.clone().into_inner();
    match last.saturating_sub(first) {
        0 => format!("format {last}"),
        1 => format!("formats {first} and {last}"),
        _ => format!("formats {first} to {last}"),
    }
}

/// The error and its causes in one line, separated by colons. A cause whose text is there already is
/// left out.
pub fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    for cause in std::iter::successors(error.source(), |error| error.source()) {
        let cause = cause.to_string();
        if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}

/// The result of reading or building an index.
pub type Result<T, E = Error> = std::result::Result<T, E>;
