//! The past of the instruments (`--history`): whether a build keeps it, drops it, or must ask.

use std::path::{Path, PathBuf};

use figdex_index::{Date, Error as IndexError, PastOptions, PublishedPast, exported_past};

use super::retired::RetiredRows;
use crate::error::{Error, Result};

/// The default of `mend_days` in [`History::Kept`].
pub const MEND_DAYS: u32 = 7;

/// The decision of a build about the past of the instruments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum History {
    /// Keeps no past. Fails if the published generation has one.
    #[default]
    None,
    /// Keeps the past: goes on from that of the published generation, or begins one.
    Kept {
        /// A gap of fewer days than this is closed, and so is a version that lasted less.
        mend_days: u32,
        /// Whether options, warrants and futures have a past too.
        has_derivatives: bool,
        /// An exported past to begin with.
        from: Option<PathBuf>,
    },
    /// Keeps no past, and drops that of the published generation.
    Dropped,
}

impl History {
    /// The file of an exported past.
    pub(super) fn file(&self) -> Option<&Path> {
        match self {
            Self::Kept { from, .. } => from.as_deref(),
            Self::None | Self::Dropped => None,
        }
    }

    /// The options for the index, with what the files of retired identifiers state; `None` when no
    /// past is kept.
    pub(super) fn options(&self, retired: &RetiredRows) -> Option<PastOptions> {
        match self {
            Self::Kept { mend_days, has_derivatives, from } => Some(PastOptions {
                mend_days: *mend_days,
                has_derivatives: *has_derivatives,
                from: from.clone(),
                stated: retired.rows.clone(),
            }),
            Self::None | Self::Dropped => None,
        }
    }

    /// Checks, before the dumps are read, that a build for `day` can do this to the past of the
    /// published generation.
    ///
    /// # Errors
    /// [`Error::PastUndecided`], [`Error::TwoPasts`], [`Error::PastUnreadable`], and the errors of
    /// [`exported_past`].
    pub(super) fn check(&self, index: &Path, day: Date) -> Result<()> {
        let unreadable = |error: IndexError| {
            let is_foreign = matches!(error, IndexError::ForeignFormat { .. });
            Err(Error::PastUnreadable { index: index.to_owned(), is_foreign, source: error })
        };
        match self {
            Self::None => match PublishedPast::of(index) {
                PublishedPast::Kept(past) => Err(Error::PastUndecided { since: past.since }),
                PublishedPast::Unreadable { error, is_there: true } => unreadable(error),
                PublishedPast::Unreadable { .. } | PublishedPast::None => Ok(()),
            },
            Self::Kept { from, .. } => match (PublishedPast::opened(index), from) {
                (PublishedPast::Unreadable { error, .. }, _) => unreadable(error),
                (PublishedPast::Kept(_), Some(_)) => Err(Error::TwoPasts(index.to_owned())),
                (PublishedPast::None, Some(from)) => Ok(exported_past(from, day).map(drop)?),
                (PublishedPast::Kept(_) | PublishedPast::None, None) => Ok(()),
            },
            Self::Dropped => Ok(()),
        }
    }
}
