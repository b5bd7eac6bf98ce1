//! The change files that are published with a generation: those of the publisher's folder, and
//! those that a copy lacks. No fault of a change file stops a publication, or keeps a server from
//! the new generation: a reader who needs a missing file must export again.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use figdex_index::{BuildLock, ChangeFile, GenerationId, change_file, changes_kept};
use figdex_io::escaped_path;

use crate::contents::{CHANGE_FILES_MAX, CONTENTS_BYTES_MAX, Described};
use crate::error::{Error, Result};
use crate::layout::PIECE_BYTES;
use crate::pieces::{PIECES_MAX, Piece, bytes_of};

/// The most bytes in the contents of the id of a change file, and of one of its pieces.
const ID_TEXT_BYTES: usize = 40;
const PIECE_TEXT_BYTES: usize = 140;

/// A change file of the publisher.
#[derive(Debug)]
pub(crate) struct LocalChanges {
    /// The id of its generation.
    pub(crate) id: GenerationId,
    /// Its path on this machine.
    pub(crate) path: PathBuf,
    /// Its size.
    pub(crate) bytes: u64,
    written_at: SystemTime,
}

/// The change files of a folder that can be published with a generation whose other files have
/// `pieces` pieces, and whose contents have `text_bytes` bytes without them. If there are too many,
/// the oldest are left out.
///
/// # Errors
/// When the folder of the change files cannot be read.
pub(crate) fn of_folder(
    index: &Path,
    pieces: usize,
    text_bytes: usize,
) -> figdex_index::Result<Vec<LocalChanges>> {
    let mut files: Vec<_> =
        changes_kept(index)?.into_iter().filter_map(|id| usable(index, id)).collect();
    files.sort_unstable_by_key(|file| (std::cmp::Reverse(file.written_at), file.id));
    let (mut pieces, mut text_bytes, mut count) = (pieces, text_bytes, 0);
    for file in files.iter().take(CHANGE_FILES_MAX) {
        let of_file = file.bytes.div_ceil(PIECE_BYTES) as usize;
        pieces = pieces.saturating_add(of_file);
        text_bytes += ID_TEXT_BYTES + of_file.min(PIECES_MAX) * PIECE_TEXT_BYTES;
        if pieces > PIECES_MAX || text_bytes as u64 > CONTENTS_BYTES_MAX {
            break;
        }
        count += 1;
    }
    let left_out = files.len() - count;
    if left_out > 0 {
        tracing::warn!(
            "the {left_out} oldest change files are not published: there are more than servers read"
        );
    }
    files.truncate(count);
    files.sort_unstable_by_key(|file| file.id);
    Ok(files)
}

/// The change file of a generation, if a reader of the storage could use it.
fn usable(index: &Path, id: GenerationId) -> Option<LocalChanges> {
    let path = change_file(index, id);
    let found = checked(&path, id).and_then(|()| {
        let metadata = fs::metadata(&path).map_err(|error| Error::disk(&path, &error))?;
        let written_at = metadata.modified().map_err(|error| Error::disk(&path, &error))?;
        Ok(LocalChanges { id, path: path.clone(), bytes: metadata.len(), written_at })
    });
    match found {
        Ok(file) => Some(file),
        // An earlier version wrote it, or a build has removed it meanwhile, because it was old.
        Err(Error::Index(figdex_index::Error::ForeignFormat { .. })) => None,
        Err(_) if !path.exists() => None,
        Err(error) => {
            let reason = figdex_index::chain(&error);
            tracing::warn!(reason, "a change file is damaged, and is not published");
            None
        }
    }
}

/// A listed change file that a copy lacks.
#[derive(Debug)]
pub(crate) struct Lacking {
    pub(crate) id: GenerationId,
    pub(crate) pieces: Vec<Piece>,
}

impl Lacking {
    pub(crate) fn bytes(&self) -> u64 {
        bytes_of(&self.pieces)
    }

    /// Creates the empty file into which the pieces are written, and returns its path.
    pub(crate) fn begin(&self, lock: &BuildLock) -> Result<PathBuf> {
        let path = lock.new_changes()?;
        File::create_new(&path).map_err(|error| Error::disk(&path, &error))?;
        Ok(path)
    }

    /// Gives the file at `path` its name, if it is the change file of its generation.
    pub(crate) fn complete(&self, lock: &BuildLock, path: &Path) -> Result<()> {
        checked(path, self.id)?;
        Ok(lock.keep_changes(self.id)?)
    }
}

/// The change files that the contents list.
pub(crate) fn listed(described: &Described) -> Vec<Lacking> {
    let listed = described.changes();
    listed.map(|(id, pieces)| Lacking { id, pieces: pieces.to_owned() }).collect()
}

/// Retains the files that a copy does not have with the listed bytes. All bytes are read, so a file
/// that has decayed is fetched again. It is removed at once: a missing file only makes a reader
/// export again.
pub(crate) fn retain_lacking(index: &Path, mut listed: Vec<Lacking>) -> Vec<Lacking> {
    listed.retain(|Lacking { id, pieces }| {
        let path = change_file(index, *id);
        let Ok(file) = File::open(&path) else { return true };
        let mut end = 0;
        let is_there = pieces.iter().all(|piece| {
            let start = end;
            end += u64::from(piece.bytes);
            piece.is_in(&file, start)
        });
        let is_whole = is_there && file.metadata().is_ok_and(|metadata| metadata.len() == end);
        if !is_whole {
            // If this fails, the fetched file replaces it.
            let _ = fs::remove_file(&path);
        }
        !is_whole
    });
    listed
}

/// Checks that a file is the change file of a generation, in the format of this version.
fn checked(path: &Path, id: GenerationId) -> Result<()> {
    let found = ChangeFile::open(path)?.summary().id;
    match found == id {
        true => Ok(()),
        false => {
            let what = format!("it has the changes of generation {found}, and not of {id}");
            Err(Error::Damaged { place: escaped_path(path).to_string(), what })
        }
    }
}
