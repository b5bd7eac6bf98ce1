//! The file of the changes that a build makes (`--keep-changes`).

use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;

use figdex_index::{
    BuildLock, Built, Catalogue, ChangeWriter, Error as IndexError, Manifest, chain, change_file,
    changes_kept,
};

use crate::error::Result;
use crate::report::ChangesReport;

/// Writes the changes from the published generation to the one that is built, and removes the files
/// that are older than `kept`. If more than half of the instruments came, went or changed in more
/// than importance and writing, the file only says so.
///
/// `None` when nothing is published yet, and when what is published is damaged or of another format:
/// then a warning says that the changes are not kept, because a damaged index must not keep the next
/// one from being built.
///
/// # Errors
/// When the disk fails: a file cannot be read or written.
pub(super) fn write(
    built: &Built,
    index: &Path,
    kept: Duration,
    warnings: &mut Vec<String>,
) -> Result<Option<ChangesReport>> {
    remove_old(built.lock(), kept);
    let compared = match Catalogue::open(index) {
        Err(IndexError::NotAnIndex(_)) => return Ok(None),
        opened => opened.and_then(|before| compare(built, &before, index)),
    };
    match compared {
        Ok(changes) => Ok(Some(changes)),
        Err(error) if is_unusable(&error) => {
            built.lock().remove_changes(|_, _| true)?;
            warnings.push(format!(
                "the changes are not kept, so that their readers must export again: {}",
                chain(&error)
            ));
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

/// Whether the published generation can be read by no build: it is damaged, lacks a file, or has
/// another format.
fn is_unusable(error: &IndexError) -> bool {
    match error {
        IndexError::Damaged { .. } | IndexError::ForeignFormat { .. } => true,
        IndexError::Io { source, .. } => source.kind() == ErrorKind::NotFound,
        _ => false,
    }
}

fn compare(built: &Built, before: &Catalogue, index: &Path) -> figdex_index::Result<ChangesReport> {
    let (parent, id) = (before.manifest().id, built.manifest().id);
    let instruments = before.manifest().instruments.max(built.manifest().instruments);
    let after = Catalogue::open_unpublished(built.folder())?;
    let mut writer = ChangeWriter::create(built.lock().new_changes()?)?;
    let is_marker = |writer: &ChangeWriter| {
        let counts = writer.counts();
        counts.all() - counts.cosmetic > instruments / 2
    };
    let compared = after.differences(before, |changed| match is_marker(&writer) {
        true => Err(Ended::TooMany),
        false => Ok(writer.add(&changed)?),
    });
    let summary = match compared {
        Ok(()) if !is_marker(&writer) => writer.finish(parent, id)?,
        Ok(()) | Err(Ended::TooMany) => writer.mark(parent, id)?,
        Err(Ended::Failed(error)) => return Err(error),
    };
    built.lock().keep_changes(id)?;
    let file = change_file(index, id);
    // Its readers may be in another folder.
    let file = std::path::absolute(&file).unwrap_or(file);
    Ok(ChangesReport { counts: summary.counts, is_marker: summary.is_marker, file })
}

/// A warning when the published generation has a file of its changes and the next one gets none: who
/// reads them must export again.
pub(super) fn ended(index: &Path) -> Option<String> {
    let published = Manifest::published(index).ok()?.id;
    let is_kept = changes_kept(index).is_ok_and(|kept| kept.binary_search(&published).is_ok());
    is_kept.then(|| {
        "earlier builds kept their changes, and this one does not: readers of the changes must \
         export again (keep them with --keep-changes 90d)"
            .to_owned()
    })
}

/// Removes the change files that are older than `age`. No index depends on this, so a failure is
/// only a warning.
fn remove_old(lock: &BuildLock, age: Duration) {
    if let Err(error) = lock.remove_old_changes(age) {
        tracing::warn!("old change files are not removed: {}", chain(&error));
    }
}

/// The reason why the comparison ended early.
enum Ended {
    Failed(IndexError),
    TooMany,
}

impl From<IndexError> for Ended {
    fn from(error: IndexError) -> Self {
        Self::Failed(error)
    }
}
