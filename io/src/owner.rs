//! The owner of a file or folder: a user and a group.
//!
//! Root could write into the folder of any user. But the new files and folders would be root's, and
//! this user could not write to them. So root works as the owner of the folder, or is refused.

use std::fmt;
use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::{MetadataExt as _, fchown};
use std::path::{Path, PathBuf};

use crate::printable::{escaped, escaped_path};

/// The number of the user root.
const ROOT: u32 = 0;

/// The files that name users and groups.
const USERS: &str = "/etc/passwd";
const GROUPS: &str = "/etc/group";

/// The user and the group that own a file or folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner {
    /// The number of the user.
    pub user: u32,
    /// The number of the group.
    pub group: u32,
}

/// A new file or folder whose future owner root cannot know.
#[derive(Debug, thiserror::Error)]
#[error(
    "{} does not exist, and root would own it, although {} is shared with the group {group}: make \
     it as the user that will use it, for example with: sudo -u USER",
    escaped_path(.path), escaped_path(.folder)
)]
pub struct SharedFolder {
    path: PathBuf,
    folder: PathBuf,
    group: String,
}

impl Owner {
    /// The owner that root must give to a new file at `path`: the owner of the path itself or, if
    /// nothing is there yet, of the nearest folder above. `None` if another user than root runs
    /// this program, or if the owner is root.
    ///
    /// # Errors
    /// [`SharedFolder`] when nothing is there yet, and the folder above is root's but another group
    /// may write to it: the users of that group could not use files of root. A path that cannot be
    /// examined has no owner: opening it reports the error.
    pub fn other_than_root(path: &Path) -> Result<Option<Self>, SharedFolder> {
        if rustix::process::geteuid().as_raw() != ROOT {
            return Ok(None);
        }
        Self::for_root(path)
    }

    /// The name of the group; its number if it has none.
    pub fn group_name(&self) -> String {
        named(GROUPS, self.group).unwrap_or_else(|| self.group.to_string())
    }

    fn for_root(path: &Path) -> Result<Option<Self>, SharedFolder> {
        let mut place = path;
        let metadata = loop {
            match fs::metadata(place) {
                Ok(metadata) => break metadata,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    place = match place.parent() {
                        Some(above) if above != Path::new("") => above,
                        Some(_) if place != Path::new(".") => Path::new("."),
                        _ => return Ok(None),
                    };
                }
                Err(_) => return Ok(None),
            }
        };
        let owner = Self::of(&metadata);
        let is_shared = metadata.mode() & 0o020 != 0 && owner.group != 0;
        match owner.user {
            ROOT if place != path && is_shared => Err(SharedFolder {
                path: path.to_owned(),
                folder: place.to_owned(),
                group: owner.group_name(),
            }),
            ROOT => Ok(None),
            _ => Ok(Some(owner)),
        }
    }

    /// The owner of a file or folder.
    pub fn of(metadata: &Metadata) -> Self {
        Self { user: metadata.uid(), group: metadata.gid() }
    }

    /// The name of the user; its number if it has none.
    pub fn name(&self) -> String {
        named(USERS, self.user).unwrap_or_else(|| self.user.to_string())
    }

    /// For `map_err` of a call on the file at `path`. If access was denied and the file belongs to
    /// another user, the error names this user and the remedy. An earlier version, for example,
    /// left some files as root's.
    pub fn explains(path: &Path) -> impl FnOnce(io::Error) -> io::Error {
        move |error| {
            let owner = fs::symlink_metadata(path).map(|metadata| Self::of(&metadata));
            match owner {
                Ok(owner)
                    if error.kind() == io::ErrorKind::PermissionDenied && !owner.may_be_kept() =>
                {
                    let place = escaped_path(path);
                    let what = format!(
                        "{error}: {place} belongs to {owner}: give it to the user that runs this, \
                         for example with: sudo chown USER {place}"
                    );
                    io::Error::new(error.kind(), what)
                }
                _ => error,
            }
        }
    }

    /// Whether this program can create files of this owner: it runs as that user, or as root.
    pub fn may_be_kept(&self) -> bool {
        [ROOT, self.user].contains(&rustix::process::geteuid().as_raw())
    }

    /// Gives a new file to this owner. Only root may give a file to another user. Only root and the
    /// members of a group may give a file to that group.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn take(&self, file: &File) -> io::Result<()> {
        if Self::of(&file.metadata()?) == *self {
            return Ok(());
        }
        fchown(file, Some(self.user), Some(self.group)).map_err(|error| {
            let fault =
                format!("it cannot belong to {self} and the group {}: {error}", self.group_name());
            io::Error::new(error.kind(), fault)
        })
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match named(USERS, self.user) {
            Some(name) => write!(f, "the user {name}"),
            None => write!(f, "the user with the number {}", self.user),
        }
    }
}

/// The name that belongs to a number in a file such as `/etc/passwd`.
fn named(file: &str, number: u32) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    let name = text.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)?.parse() == Ok(number)).then_some(name)
    })?;
    Some(escaped(name).to_string())
}
