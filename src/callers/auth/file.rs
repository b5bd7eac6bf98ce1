//! The keys file and its changes by `figdex keys`. The file is TOML with a table for each key. The
//! table holds the key's hash, never the key. A change replaces the whole file by a rename, under a
//! lock. So readers see the old state or the new one, and no concurrent change is lost.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use figdex_io::{Owner, SharedFolder, escaped_path, hex, is_hidden, unhex};
use jiff::{Timestamp, Unit};
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};

use super::digest_of;
use crate::callers::Digest;

/// The beginning of every key. Tools that look for leaked secrets recognise keys by it.
const PREFIX: &str = "fdx_";

/// The maximum length of a key's name, in bytes.
const NAME_BYTES_MAX: usize = 64;

/// The mode of a new keys file: only its owner may read and write it.
const MODE: u32 = 0o600;

/// The bits of a mode that give access.
const MODE_BITS: u32 = 0o777;

const HEAD: &str = "# Keys of figdex, as SHA-256 hashes. The keys themselves are not stored.\n\
                    # Written by `figdex keys add` and `figdex keys revoke`.\n";

/// An entry of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// The name from the operator, unique in a file.
    pub name: String,
    /// The time when the key was added.
    pub created: Timestamp,
    /// Whether its holder sees identifiers of the class `internal` (contract 23.3).
    pub is_internal: bool,
    pub(super) digest: Digest,
}

/// Errors of a keys file, or of a change to it.
#[derive(Debug, thiserror::Error)]
pub enum KeysError {
    /// The file does not exist.
    #[error(
        "there is no keys file at {path}; make one with: figdex keys add NAME --keys {path}",
        path = escaped_path(.0)
    )]
    Missing(PathBuf),
    /// The file is not a keys file.
    #[error("{path} is not a keys file: {1}", path = escaped_path(.0))]
    Broken(PathBuf, String),
    /// A key of this name exists.
    #[error(
        "{path} already has a key named {0:?}; revoke it first, or choose another name",
        path = escaped_path(.1)
    )]
    NameTaken(String, PathBuf),
    /// No key of this name exists.
    #[error(
        "{path} has no key named {0:?}; see: figdex keys list --keys {path}",
        path = escaped_path(.1)
    )]
    NameUnknown(String, PathBuf),
    /// The name is not allowed.
    #[error(
        "invalid name of a key {0:?}: expected 1 to {NAME_BYTES_MAX} bytes, all printable, and no \
             blank at either end"
    )]
    NameInvalid(String),
    /// The owner of the file would change.
    #[error(
        "{path} belongs to {1}, who could not read it after a change by another user: run this as \
         that user, for example with: sudo -u {name}",
        path = escaped_path(.0),
        name = .1.name()
    )]
    OfAnother(PathBuf, Owner),
    /// Root would make a keys file that the server's user could not read.
    #[error(transparent)]
    Shared(#[from] SharedFolder),
    /// The system refused to read or write a file.
    #[error("{path}: {1}", path = escaped_path(.0))]
    Io(PathBuf, io::Error),
    /// The file is changed, but the change may not survive a crash of the machine: the
    /// disk failed after the new file was renamed.
    #[error(
        "{path} is changed, but a crash of the machine may undo that (check the disk, and \
         revoke a key that was not shown)",
        path = escaped_path(.file)
    )]
    Unconfirmed {
        /// The keys file.
        file: PathBuf,
        /// The step that failed.
        source: Box<Self>,
    },
    /// The system gave no random bytes.
    #[error("the system gave no random bytes for a key: {0}")]
    Random(getrandom::Error),
}

/// A warning if users outside the file's group may read the keys file, or users other than the
/// owner may change it: its path, its mode, and the remedy. `None` otherwise, or if the file cannot
/// be examined.
pub fn shared(file: &Path) -> Option<String> {
    let mode = fs::metadata(file).ok()?.permissions().mode() & 0o777;
    let may = match mode {
        _ if mode & 0o022 != 0 => "change",
        _ if mode & 0o004 != 0 => "read",
        _ => return None,
    };
    let path = escaped_path(file);
    Some(format!(
        "the keys file {path} has the mode {mode:03o}: other users can {may} it; make it private \
         with: chmod 600 {path}"
    ))
}

/// The entries of a keys file, in its order.
///
/// # Errors
/// When the file does not exist, cannot be read, or is not a keys file.
pub fn list(file: &Path) -> Result<Vec<Key>, KeysError> {
    let text = match fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(KeysError::Missing(file.to_owned()));
        }
        Err(error) => return Err(KeysError::Io(file.to_owned(), error)),
    };
    parse(&text).map_err(|fault| KeysError::Broken(file.to_owned(), fault))
}

/// Adds a key of this name, and creates the file if it does not exist. Returns the key, which
/// cannot be recovered later.
///
/// # Errors
/// When the name is invalid or a key has it already, or the file cannot be read or written.
pub fn add(file: &Path, name: &str) -> Result<String, KeysError> {
    add_key(file, name, false)
}

/// As [`add`], but the holder of the key sees identifiers of the class `internal` too.
///
/// # Errors
/// As [`add`].
pub fn add_internal(file: &Path, name: &str) -> Result<String, KeysError> {
    add_key(file, name, true)
}

fn add_key(file: &Path, name: &str, is_internal: bool) -> Result<String, KeysError> {
    let is_name = !name.contains(is_hidden) && name.trim() == name;
    if name.is_empty() || name.len() > NAME_BYTES_MAX || !is_name {
        return Err(KeysError::NameInvalid(name.to_owned()));
    }
    let mut random = [0; 32];
    getrandom::fill(&mut random).map_err(KeysError::Random)?;
    let text = format!("{PREFIX}{}", hex(&random));
    change(file, |keys| {
        let mut keys = match keys {
            Err(KeysError::Missing(_)) => Vec::new(),
            keys => keys?,
        };
        if keys.iter().any(|key| key.name == name) {
            return Err(KeysError::NameTaken(name.to_owned(), file.to_owned()));
        }
        // Whole seconds, because people read the time.
        let created = Timestamp::now();
        let created = created.round(Unit::Second).unwrap_or(created);
        let digest = digest_of(text.as_bytes());
        keys.push(Key { name: name.to_owned(), created, is_internal, digest });
        Ok(keys)
    })?;
    Ok(text)
}

/// Removes the key of this name.
///
/// # Errors
/// When there is no such key, or the file cannot be read or written.
pub fn revoke(file: &Path, name: &str) -> Result<(), KeysError> {
    // A mistyped path of the keys file must not create a lock file.
    list(file)?;
    change(file, |keys| {
        let mut keys = keys?;
        let count = keys.len();
        keys.retain(|key| key.name != name);
        if keys.len() == count {
            return Err(KeysError::NameUnknown(name.to_owned(), file.to_owned()));
        }
        Ok(keys)
    })
}

/// The files that a change of a keys file writes: the keys file, its lock file, and the temporary
/// file that becomes the new keys file.
///
/// # Errors
/// When the target of a symbolic link cannot be determined.
pub fn written(file: &Path) -> Result<[PathBuf; 3], KeysError> {
    // A link must keep pointing at the keys file, so its target is replaced.
    let file = match file.canonicalize() {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => file.to_owned(),
        Err(error) => return Err(KeysError::Io(file.to_owned(), error)),
    };
    let [lock, new] = [".lock", ".new"].map(|suffix| {
        let mut path = file.as_os_str().to_owned();
        path.push(suffix);
        path.into()
    });
    Ok([file, lock, new])
}

/// The owner and the mode of the file after a change. An existing file keeps both. A new file gets
/// [`MODE`] and, if root creates it, the owner of its folder.
fn owner_and_mode(file: &Path) -> Result<(Option<Owner>, u32), KeysError> {
    match fs::metadata(file) {
        Ok(found) => {
            let owner = Owner::of(&found);
            match owner.may_be_kept() {
                true => Ok((Some(owner), found.mode() & MODE_BITS)),
                false => Err(KeysError::OfAnother(file.to_owned(), owner)),
            }
        }
        Err(_) => Ok((Owner::other_than_root(file)?, MODE)),
    }
}

/// Opens the lock file, or creates it. A link in its place is not followed.
fn lock_file(path: &Path, owner: Option<Owner>) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).mode(MODE).custom_flags(OFlags::NOFOLLOW.bits().cast_signed());
    match options.clone().create_new(true).open(path) {
        // The owner is changed only for a file that is certainly new. Otherwise the name could be a
        // link to another file of root, whose owner would change too.
        Ok(lock) => owner.map_or(Ok(()), |owner| owner.take(&lock)).map(|()| lock),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => options.open(path),
        Err(error) => Err(error),
    }
}

/// Replaces the keys of the file by the result of `change`. A lock file next to it orders
/// concurrent changes. The lock file is not removed: otherwise a third process could create and
/// lock a new one while a second process still waits for the old one.
fn change(
    file: &Path,
    change: impl FnOnce(Result<Vec<Key>, KeysError>) -> Result<Vec<Key>, KeysError>,
) -> Result<(), KeysError> {
    let io = |path: &Path| {
        let path = path.to_owned();
        move |error| KeysError::Io(path, error)
    };
    let [file, lock_path, new_path] = &written(file)?;
    let folder = match file.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    // A device would read as a file without keys, and the rename would replace it.
    if fs::metadata(file).is_ok_and(|metadata| !metadata.is_file()) {
        let fault = "it is not a regular file; name another file";
        return Err(KeysError::Broken(file.clone(), fault.to_owned()));
    }
    let (owner, mode) = owner_and_mode(file)?;
    let lock = lock_file(lock_path, owner).map_err(io(lock_path))?;
    while let Err(error) = lock.lock() {
        // Only a signal interrupts this wait; any other error is real.
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(io(lock_path)(error));
        }
    }

    let keys = list(file);
    // A file of settings that is empty or has only comments reads as a file without keys.
    if matches!(&keys, Ok(keys) if keys.is_empty()) {
        let text = fs::read_to_string(file).map_err(io(file))?;
        if !text.trim().is_empty() && !text.starts_with(HEAD) {
            let fault = "it has no keys and was not written by `figdex keys`; name another file";
            return Err(KeysError::Broken(file.clone(), fault.to_owned()));
        }
    }
    let keys = change(keys)?;
    let mut options = OpenOptions::new();
    // An earlier change may have left a file of that name. It is removed, not overwritten: it may
    // be a link to another file.
    options.write(true).create_new(true).mode(MODE);
    let write = || {
        match fs::remove_file(new_path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut new = options.open(new_path)?;
        owner.map_or(Ok(()), |owner| owner.take(&new))?;
        new.set_permissions(Permissions::from_mode(mode))?;
        new.write_all(print(&keys).as_bytes())?;
        new.sync_all()?;
        fs::rename(new_path, file)
    };
    write().map_err(|error| {
        // If this fails, the next change removes the file.
        let _ = fs::remove_file(new_path);
        io(new_path)(error)
    })?;
    let synced = File::open(folder).and_then(|folder| folder.sync_all()).map_err(io(folder));
    synced.map_err(|error| KeysError::Unconfirmed { file: file.clone(), source: Box::new(error) })
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct KeysToml {
    #[serde(default)]
    key: Vec<KeyToml>,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct KeyToml {
    name: String,
    created: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    internal: bool,
    sha256: String,
}

fn parse(text: &str) -> Result<Vec<Key>, String> {
    let file: KeysToml = toml::from_str(text).map_err(|error| error.to_string())?;
    let mut keys: Vec<Key> = Vec::with_capacity(file.key.len());
    for KeyToml { name, created, internal: is_internal, sha256 } in file.key {
        let digest = unhex(&sha256)
            .ok_or_else(|| format!("the sha256 of {name:?} does not have 64 hex digits"))?;
        let created = created
            .parse()
            .map_err(|error| format!("invalid time in created of {name:?}: {error}"))?;
        if keys.iter().any(|key| key.name == name || key.digest == digest) {
            return Err(format!("the name or the key of {name:?} appears twice"));
        }
        keys.push(Key { name, created, is_internal, digest });
    }
    Ok(keys)
}

fn print(keys: &[Key]) -> String {
    let key = keys.iter().map(|key| KeyToml {
        name: key.name.clone(),
        created: key.created.to_string(),
        internal: key.is_internal,
        sha256: hex(&key.digest),
    });
    let body = toml::to_string(&KeysToml { key: key.collect() });
    format!("{HEAD}\n{}", body.expect("texts in tables can be written as TOML"))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    /// The file has mode 0600, holds only hashes of keys, and their names are unique.
    #[test]
    fn keys_are_added_and_revoked() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("keys.toml");
        assert!(matches!(list(&file), Err(KeysError::Missing(_))));
        assert!(matches!(revoke(&file, "desk"), Err(KeysError::Missing(_))));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        let key = add(&file, "desk").unwrap();
        assert_eq!(key.len(), PREFIX.len() + 64);
        let text = fs::read_to_string(&file).unwrap();
        assert!(!text.contains(&key) && !text.contains(&key[PREFIX.len()..]), "{text}");
        assert!(text.contains(&hex(&digest_of(key.as_bytes()))), "{text}");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, MODE);
        assert!(matches!(add(&file, "desk"), Err(KeysError::NameTaken(..))));
        assert_ne!(add(&file, "desk two").unwrap(), key);
        let names = || list(&file).unwrap().into_iter().map(|key| key.name).collect::<Vec<_>>();
        assert_eq!(names(), ["desk", "desk two"]);
        assert!(
            list(&file).unwrap().iter().all(|key| !key.is_internal) && !text.contains("internal")
        );
        revoke(&file, "desk").unwrap();
        assert_eq!(names(), ["desk two"]);
        assert!(matches!(revoke(&file, "desk"), Err(KeysError::NameUnknown(..))));
        for name in ["", " desk", "a\nb", "a\u{202e}b", &"x".repeat(65)] {
            assert!(matches!(add(&file, name), Err(KeysError::NameInvalid(_))), "{name:?}");
        }
        revoke(&file, "desk two").unwrap();
        assert!(names().is_empty(), "a file without keys is still a keys file");
    }

    /// contract 23.3: the file says which keys are internal, and a change keeps it.
    #[test]
    fn internal_keys() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("keys.toml");
        add_internal(&file, "inside").unwrap();
        add(&file, "outside").unwrap();
        let text = fs::read_to_string(&file).unwrap();
        assert_eq!(text.matches("internal = true").count(), 1, "{text}");
        assert_eq!(text.matches("internal").count(), 1, "{text}");
        let keys = list(&file).unwrap().into_iter().map(|key| (key.name, key.is_internal));
        let expected =
            [("inside", true), ("outside", false)].map(|(name, is)| (name.to_owned(), is));
        assert_eq!(keys.collect::<Vec<_>>(), expected);
        let yes = text.replace("internal = true", "internal = \"yes\"");
        assert!(parse(&yes).unwrap_err().contains("expected a boolean"), "{yes}");
    }

    #[test]
    fn concurrent_additions_are_all_kept() {
        let folder = tempfile::tempdir().unwrap();
        let file = &folder.path().join("keys.toml");
        std::thread::scope(|scope| {
            for number in 0..16 {
                scope.spawn(move || add(file, &format!("key {number}")).unwrap());
            }
        });
        assert_eq!(list(file).unwrap().len(), 16);
    }

    /// A file of settings with comments only is valid TOML without keys. It is not replaced.
    #[test]
    fn a_file_of_comments_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("figdex.toml");
        let text = "# Settings of figdex.\n#listen = \"0.0.0.0:80\"\n";
        fs::write(&file, text).unwrap();
        assert!(matches!(add(&file, "desk"), Err(KeysError::Broken(..))));
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
        fs::write(&file, "\n").unwrap();
        add(&file, "desk").unwrap();
    }

    /// A symbolic link under the name of the new file is not followed.
    #[test]
    fn a_link_in_place_of_the_new_file_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let [file, other] = ["keys.toml", "other"].map(|name| folder.path().join(name));
        fs::write(&other, "other").unwrap();
        std::os::unix::fs::symlink(&other, folder.path().join("keys.toml.new")).unwrap();
        add(&file, "desk").unwrap();
        assert_eq!(fs::read_to_string(&other).unwrap(), "other");
        assert_eq!(list(&file).unwrap().len(), 1);
    }

    #[test]
    fn a_link_to_the_keys_file_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("keys.toml"), folder.path().join("link"));
        add(&file, "one").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        add(&link, "two").unwrap();
        assert!(link.is_symlink());
        assert_eq!(list(&file).unwrap().len(), 2);
    }

    #[test]
    fn invalid_files() {
        let digest = "0".repeat(64);
        let key = |name: &str, digest: &str| {
            format!(
                "[[key]]\nname = \"{name}\"\ncreated = \"2026-01-01T00:00:00Z\"\nsha256 = \"{digest}\"\n"
            )
        };
        assert_eq!(parse(&key("a", &digest)).unwrap().len(), 1);
        for text in [
            "key = 1".to_owned(),
            "[[keys]]".to_owned(),
            "[[key]]\nname = \"a\"\n".to_owned(),
            key("a", &digest[1..]),
            key("a", &digest.replace('0', "g")),
            key("a", &digest).replace("2026", "year"),
            key("a", &digest) + &key("b", &digest),
            key("a", &digest) + &key("a", &"1".repeat(64)),
        ] {
            assert!(parse(&text).is_err(), "{text}");
        }
    }
}
