//! The access rights of the files of an index: at least those of its folder, whatever the umask is.
//! So a server that may read the folder can read the index, and the owner of the folder can replace
//! and remove every file.

use std::fs::{self, File, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, fchown};
use std::path::Path;

use crate::error::{Error, Result};
use figdex_io::Owner;

/// The mode bits that grant access.
const ACCESS: u32 = 0o777;

/// Refuses root in a folder of another user.
///
/// # Errors
/// [`Error::OfAnother`], and [`Error::Shared`] for a new folder.
pub(super) fn refuse_root(index: &Path) -> Result<()> {
    match Owner::other_than_root(index)? {
        Some(owner) => Err(Error::OfAnother { index: index.to_owned(), owner }),
        None => Ok(()),
    }
}

/// The wider permissions for a file that lacks a right in `access`; `None` for a file that lacks
/// none. Rights beyond `access` stay: the folder of the index limits them anyway.
fn wider(metadata: &Metadata, access: u32) -> Option<Permissions> {
    let mode = metadata.mode() & ACCESS;
    (mode | access != mode).then(|| Permissions::from_mode(mode | access))
}

/// The access rights for the files of an index, taken from its folder.
#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    owner: Owner,
    mode: u32,
}

impl Access {
    /// # Errors
    /// When the folder cannot be looked at.
    pub(super) fn of(index: &Path) -> io::Result<Self> {
        let metadata = fs::metadata(index)?;
        Ok(Self { owner: Owner::of(&metadata), mode: metadata.mode() & ACCESS })
    }

    fn of_files(self) -> u32 {
        self.mode & 0o666 | 0o600
    }

    fn of_folders(self) -> u32 {
        self.mode | 0o700
    }

    /// Gives a new file the group and the access of the index folder. If root runs this program,
    /// also the owner of the folder.
    ///
    /// # Errors
    /// When the system refuses the mode, or a group that readers need (`without_group`).
    pub(super) fn give(self, file: &File) -> io::Result<()> {
        let metadata = file.metadata()?;
        if Owner::of(&metadata) != self.owner {
            // Only root may change the owner of a file, and only a member of the group may give the
            // file to that group.
            let given =
                self.owner.take(file).or_else(|_| fchown(file, None, Some(self.owner.group)));
            given.or_else(|error| self.without_group(&metadata, &error))?;
        }
        match wider(&metadata, self.of_files()) {
            Some(permissions) => file.set_permissions(permissions),
            None => Ok(()),
        }
    }

    /// Gives the group and the access of the index folder to a folder and everything in it.
    ///
    /// # Errors
    /// When the system refuses the mode, or a group that readers need (`without_group`).
    pub(super) fn give_all(self, folder: &Path) -> Result<()> {
        for entry in fs::read_dir(folder).map_err(Error::io(folder))? {
            let entry = entry.map_err(Error::io(folder))?;
            let path = entry.path();
            match entry.file_type().map_err(Error::io(&path))? {
                kind if kind.is_dir() => self.give_all(&path)?,
                kind if kind.is_file() => self.change(&path, self.of_files())?,
                _ => {}
            }
        }
        self.change(folder, self.of_folders())
    }

    fn change(self, path: &Path, mode: u32) -> Result<()> {
        let change = || {
            let metadata = fs::metadata(path)?;
            if metadata.gid() != self.owner.group {
                let given = chown(path, None, Some(self.owner.group));
                given.or_else(|error| self.without_group(&metadata, &error))?;
            }
            match wider(&metadata, mode) {
                Some(permissions) => fs::set_permissions(path, permissions),
                None => Ok(()),
            }
        };
        change().map_err(Error::io(path))
    }

    /// A builder outside the folder's group keeps its own group on the files. That is an error only
    /// if the folder lets its group read, and neither the folder nor the file lets everybody read.
    fn without_group(self, file: &Metadata, error: &io::Error) -> io::Result<()> {
        match self.mode >> 3 & 0o4 & !(self.mode | file.mode()) {
            0 => Ok(()),
            _ => Err(io::Error::new(
                error.kind(),
                format!(
                    "it cannot be given to the group {} of the folder of the index: the user that \
                     builds must be a member of that group",
                    self.owner.group_name()
                ),
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A builder outside of the group of the folder builds as long as the server can read the files
    /// by the access of everybody.
    #[test]
    fn a_group_that_needs_no_access() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        let of_folder = |mode| Access { mode, ..Access::of(folder.path()).unwrap() };
        for (folder_mode, file_mode, is_allowed) in [
            (0o750, 0o644, true),
            (0o755, 0o600, true),
            (0o700, 0o600, true),
            (0o750, 0o640, false),
            (0o750, 0o600, false),
        ] {
            fs::set_permissions(&file, Permissions::from_mode(file_mode)).unwrap();
            let metadata = fs::metadata(&file).unwrap();
            let refused = io::Error::from(io::ErrorKind::PermissionDenied);
            let given = of_folder(folder_mode).without_group(&metadata, &refused);
            assert_eq!(given.is_ok(), is_allowed, "{folder_mode:o} {file_mode:o}");
        }
    }
}
