//! The changes that a build made: a file for each generation, next to the generations, with every
//! instrument that differs from the generation before it (its parent), as it was and as it is.
//!
//! ```text
//! INDEX/changes/0f…3c.changes     the changes from its parent to the generation with that id
//! ```
//! The files stay longer than the generations, so a reader that missed some nights still gets
//! everything that changed since ([`Net`]). A file is complete before its generation is published.
//! A file whose generation was never published is on no way to a published one; it is removed when
//! it is old.

mod file;
mod net;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

pub use self::file::{ChangeFile, ChangeSummary, ChangeWriter, CountedChanges};
pub use self::net::{FILES_MAX, Net, NetError, Walked};
use super::access::Access;
use super::folder::{BuildLock, sync};
use super::id::GenerationId;
use super::names::within;
use crate::error::{Error, Result};
use crate::instrument::Instrument;
use crate::instrument::attribute::Attribute;
use crate::instrument::figi::Figi;
use crate::instrument::value::ColumnValue;
use crate::instrument::visible::Visible;
use crate::words::is_written_alike;

/// The folder of the change files in the folder of an index.
const CHANGES: &str = "changes";

/// The suffix of a change file.
const SUFFIX: &str = ".changes";

/// The change file that is being written, in the same folder.
const NEW: &str = "next.new";

/// An instrument in two generations: `None` where a generation does not have it. At least one has
/// it, both images have the same FIGI, and they differ in a column.
#[derive(Clone, Debug, PartialEq)]
pub struct Changed {
    /// The instrument as it was.
    pub before: Option<Instrument>,
    /// The instrument as it is.
    pub after: Option<Instrument>,
}

/// The columns of a row of changes before those of an export: the first three are named as in a
/// change data feed of Delta Lake.
pub const CHANGE_COLUMNS: [&str; 4] =
    ["_change_type", "_commit_version", "_commit_timestamp", "_cosmetic"];

impl Changed {
    /// The images, each with its `_change_type`.
    pub fn images(&self) -> impl Iterator<Item = (&'static str, &Instrument)> {
        let (before, after) = match (&self.before, &self.after) {
            (Some(_), Some(_)) => ("update_preimage", "update_postimage"),
            _ => ("delete", "insert"),
        };
        let images = [(before, &self.before), (after, &self.after)];
        images.into_iter().filter_map(|(kind, image)| Some((kind, image.as_ref()?)))
    }

    /// The FIGI of the instrument.
    ///
    /// # Panics
    /// When neither generation has it.
    pub fn figi(&self) -> Figi {
        let image = self.before.as_ref().or(self.after.as_ref());
        image.expect("a changed instrument has an image").figi
    }

    /// The change as a caller sees it who may not see all identifiers; `None` if nothing else
    /// differs (contract 23.7).
    pub fn shown(mut self, visible: Visible) -> Option<Self> {
        if visible.is_all() {
            return Some(self);
        }
        for image in [&mut self.before, &mut self.after].into_iter().flatten() {
            image.hide(visible);
        }
        (!self.is_equal()).then_some(self)
    }

    /// Whether an export of both images has the same text.
    pub fn is_equal(&self) -> bool {
        match (&self.before, &self.after) {
            (Some(before), Some(after)) => {
                are_alike(before, after, |_, old, new| is_same(old, new))
            }
            (before, after) => before.is_none() && after.is_none(),
        }
    }

    /// Whether both generations have the instrument, and it differs only in importance, in the
    /// order of several values, or in the writing of its name.
    pub fn is_cosmetic(&self) -> bool {
        let (Some(before), Some(after)) = (&self.before, &self.after) else { return false };
        are_alike(before, after, |name, old, new| {
            if name == Attribute::Importance.name() || is_same(old, new) {
                return true;
            }
            if let (Some(ColumnValue::Text(old)), Some(ColumnValue::Text(new))) = (old, new) {
                return name == Attribute::Name.name() && is_written_alike(old, new);
            }
            let [old, new] = [old, new].map(|value| {
                let mut list = value.and_then(ColumnValue::list)?;
                list.sort_unstable();
                Some(list)
            });
            old.is_some() && old == new
        })
    }
}

/// Whether each column of two images of an instrument is alike.
fn are_alike(
    before: &Instrument,
    after: &Instrument,
    is_alike: impl Fn(&str, Option<ColumnValue<'_>>, Option<ColumnValue<'_>>) -> bool,
) -> bool {
    let mut both = before.columns().zip(after.columns());
    both.all(|((name, old), (_, new))| is_alike(name, old, new))
}

/// Whether two values have the same text in an export: the order of several values counts, and so
/// does the sign of a zero.
fn is_same(old: Option<ColumnValue<'_>>, new: Option<ColumnValue<'_>>) -> bool {
    if let (Some(ColumnValue::Number(old)), Some(ColumnValue::Number(new))) = (old, new) {
        return old.to_bits() == new.to_bits();
    }
    let [old_list, new_list] = [old, new].map(|value| value.and_then(ColumnValue::list));
    old == new && old_list == new_list
}

/// The path of the change file of a generation in an index folder.
pub fn change_file(index: &Path, id: GenerationId) -> PathBuf {
    // The name is made of hexadecimal digits, so it is safe.
    index.join(CHANGES).join(format!("{id}{SUFFIX}"))
}

/// The generation of a change file with that name.
fn of_name(name: &str) -> Option<GenerationId> {
    name.strip_suffix(SUFFIX)?.parse().ok()
}

/// The ids of the generations whose change files are complete in an index folder, in ascending
/// order.
///
/// # Errors
/// When the folder cannot be read.
pub fn changes_kept(index: &Path) -> Result<Vec<GenerationId>> {
    let folder = index.join(CHANGES);
    let entries = match fs::read_dir(&folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(Error::io(&folder))?,
    };
    let mut kept = Vec::new();
    for entry in entries {
        let name = entry.map_err(Error::io(&folder))?.file_name();
        kept.extend(name.to_str().and_then(of_name));
    }
    kept.sort_unstable();
    Ok(kept)
}

impl BuildLock {
    /// The path at which a change file is written, in a folder that this call creates.
    /// [`BuildLock::keep_changes`] gives the file its name when it is complete.
    ///
    /// # Errors
    /// When the folder cannot be created, or what an earlier attempt left cannot be removed.
    pub fn new_changes(&self) -> Result<PathBuf> {
        let folder = within(self.index(), CHANGES)?;
        if !folder.is_dir() {
            fs::create_dir(&folder).map_err(Error::io(&folder))?;
            self.give_access(&folder)?;
        }
        let path = folder.join(NEW);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::io(&path)(error)),
            _ => Ok(path),
        }
    }

    /// Gives the file that was written at [`BuildLock::new_changes`] its name: it has the changes to
    /// the generation `id`.
    ///
    /// # Errors
    /// When it cannot be synced or renamed.
    pub fn keep_changes(&self, id: GenerationId) -> Result<()> {
        let path = change_file(self.index(), id);
        let new = self.index().join(CHANGES).join(NEW);
        Access::of(self.index())
            .and_then(|access| access.give(&fs::File::open(&new)?))
            .map_err(Error::io(&new))?;
        sync(&new)?;
        fs::rename(&new, &path).map_err(Error::io(&new))?;
        sync(&self.index().join(CHANGES))
    }

    /// Removes the change files that `is_kept` does not keep, by their generation and the time when
    /// they were written, and one that was never completed.
    ///
    /// # Errors
    /// When the folder cannot be read, or a file in it cannot be removed.
    pub fn remove_changes(
        &self,
        mut is_kept: impl FnMut(GenerationId, SystemTime) -> bool,
    ) -> Result<()> {
        let folder = self.index().join(CHANGES);
        let entries = match fs::read_dir(&folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            entries => entries.map_err(Error::io(&folder))?,
        };
        for entry in entries {
            let entry = entry.map_err(Error::io(&folder))?;
            let (name, path) = (entry.file_name(), entry.path());
            let Some(name) = name.to_str() else { continue };
            let id = of_name(name);
            let written_at = entry.metadata().and_then(|metadata| metadata.modified());
            let is_old = match (id, written_at) {
                (Some(id), Ok(written_at)) => !is_kept(id, written_at),
                _ => false,
            };
            if name == NEW || is_old {
                fs::remove_file(&path).map_err(Error::io(&path))?;
            }
        }
        Ok(())
    }

    /// Removes the change files that are older than `age`.
    ///
    /// # Errors
    /// As [`BuildLock::remove_changes`].
    pub fn remove_old_changes(&self, age: Duration) -> Result<()> {
        let now = SystemTime::now();
        // A time in the future is not old.
        self.remove_changes(|_, written_at| {
            now.duration_since(written_at).map_or(true, |is| is <= age)
        })
    }
}
