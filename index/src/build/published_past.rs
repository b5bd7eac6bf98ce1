//! The past of the published generation, as a build finds it before it reads its dumps: no build
//! drops a past unless it is meant to.

use std::path::Path;

use crate::error::{Error, Result};
use crate::generation::Generation;
use crate::generation::folder::Publication;
use crate::generation::manifest::{Manifest, PastEntry, is_before_the_past};
use crate::generation::past::PAST;

/// The past of the published generation of an index folder.
#[derive(Debug)]
pub enum PublishedPast {
    /// The generation has no past, or nothing is published.
    None,
    /// The generation has a past.
    Kept(PastEntry),
    /// The generation cannot be read.
    Unreadable {
        /// The reason, such as damage or a later format.
        error: Error,
        /// Whether the generation seems to have a past.
        is_there: bool,
    },
}

impl PublishedPast {
    /// Looks at the published generation, without opening its files.
    pub fn of(index: &Path) -> Self {
        Self::found(index, |generation| Ok(Manifest::read(generation)?.manifest))
    }

    /// As [`PublishedPast::of`], but opens all files: the past can be carried on, unless the result
    /// is [`PublishedPast::Unreadable`].
    pub fn opened(index: &Path) -> Self {
        Self::found(index, |generation| Ok(Generation::open(generation)?.manifest))
    }

    fn found(index: &Path, read: impl FnOnce(&Path) -> Result<Manifest>) -> Self {
        let generation = match Publication::of(index) {
            Ok(publication) => publication.path(index),
            Err(Error::NotAnIndex(_)) => return Self::None,
            Err(error) => return Self::Unreadable { error, is_there: false },
        };
        match read(&generation) {
            Ok(manifest) => manifest.past.map_or(Self::None, Self::Kept),
            Err(error) if is_before_the_past(&error) => Self::None,
            Err(error) => Self::Unreadable { error, is_there: generation.join(PAST).is_dir() },
        }
    }
}
