//! The folder of an index: immutable generations, and a pointer to the published one.
//!
//! ```text
//! INDEX/CURRENT                 the name of the published generation
//! INDEX/LOCK                    locked by the only builder
//! INDEX/generation-000007/      manifest.toml, part-000/, part-001/ …
//! INDEX/generation-000007.verified  its stamp, see `stamp`
//! INDEX/generation-000008.new/  a generation that is being built
//! INDEX/receiving-…/            a generation that is being received, see `receive`
//! INDEX/builds.jsonl            the last builds, see `builds`
//! ```
//! A folder with the name of a generation is complete: it gets the name when all its files are
//! written, checked and synced, and loses it before a file is removed. Publishing is one more
//! rename, of the small file `CURRENT`. Readers open the generation that `CURRENT` names; only a
//! server whose generation is damaged falls back to an earlier one.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use figdex_io::{Owner, escaped_path};

use super::access::{Access, refuse_root};
use crate::error::{Error, Result, chain};

const CURRENT: &str = "CURRENT";
const CURRENT_NEW: &str = "CURRENT.new";
const LOCK: &str = "LOCK";
const PREFIX: &str = "generation-";
/// The suffix of a generation that is being built.
pub(super) const NEW: &str = ".new";
/// The suffix of a generation that is being removed.
const OLD: &str = ".old";

/// The suffix of a generation's stamp (see `stamp`).
const STAMP: &str = ".verified";

/// The most bytes of the pointer file that are read.
const CURRENT_BYTES_MAX: u64 = 64;

/// The publication that an index folder names. Reading it does not open the generation.
///
/// Two publications are equal when nothing was published between reading them. An index that was
/// removed and built again starts with number 1 again, but differs by the time of its publication.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Publication {
    /// The number of the generation.
    pub generation: u64,
    at: SystemTime,
}

impl Publication {
    /// The current publication of an index folder.
    ///
    /// # Errors
    /// [`Error::NotAnIndex`] when nothing was ever published there, [`Error::Damaged`] when the
    /// pointer does not name a generation, and [`Error::Io`].
    pub fn of(index: &Path) -> Result<Self> {
        let path = index.join(CURRENT);
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                // Either the pointer is missing, or the whole folder.
                fs::metadata(index).map_err(Error::io(index))?;
                return Err(Error::NotAnIndex(index.to_owned()));
            }
            Err(error) => return Err(Error::io(&path)(error)),
        };
        let at = file.metadata().and_then(|metadata| metadata.modified());
        let at = at.map_err(Error::io(&path))?;
        let mut name = Vec::new();
        file.take(CURRENT_BYTES_MAX).read_to_end(&mut name).map_err(Error::io(&path))?;
        let generation = str::from_utf8(&name).ok().and_then(|name| number(name.trim_end()));
        match generation {
            Some(generation) => Ok(Self { generation, at }),
            None => Err(Error::damaged(&path, "it does not name a generation")),
        }
    }

    /// A placeholder for a generation that is not published. No publication in an index folder
    /// equals it.
    pub(crate) fn unpublished(generation: u64) -> Self {
        Self { generation, at: SystemTime::UNIX_EPOCH }
    }

    /// Another generation of the same index, at the time of this publication.
    pub(crate) fn with(&self, generation: u64) -> Self {
        Self { generation, at: self.at }
    }

    /// The folder of the generation.
    pub(crate) fn path(&self, index: &Path) -> PathBuf {
        index.join(name_of(self.generation))
    }
}

/// Whether a folder is the folder of an index that has published a generation.
pub fn is_index(folder: &Path) -> bool {
    Publication::of(folder).is_ok()
}

/// The numbers of the complete generations in an index folder, published or not, ascending.
///
/// # Errors
/// When the folder cannot be read.
pub fn generations(index: &Path) -> Result<Vec<u64>> {
    let mut generations = Vec::new();
    for entry in fs::read_dir(index).map_err(Error::io(index))? {
        let entry = entry.map_err(Error::io(index))?;
        generations.extend(entry.file_name().to_str().and_then(number));
    }
    generations.sort_unstable();
    Ok(generations)
}

/// The number of the generation with that folder name.
fn number(name: &str) -> Option<u64> {
    let digits = name.strip_prefix(PREFIX)?;
    let number = digits.parse().ok()?;
    (name_of(number) == name).then_some(number)
}

/// The folder of the complete generation with that number.
pub(super) fn path_of(index: &Path, number: u64) -> PathBuf {
    index.join(name_of(number))
}

fn name_of(number: u64) -> String {
    format!("{PREFIX}{number:06}")
}

/// The lock of an index folder: one build at a time, across processes. The operating system
/// releases it when the process dies.
#[derive(Debug)]
pub struct BuildLock {
    index: PathBuf,
    file: File,
}

impl BuildLock {
    /// Locks the folder `index`, which is created if needed, and removes what earlier builds left
    /// unfinished. A leftover that cannot be removed stays, with a warning.
    ///
    /// # Errors
    /// [`Error::Locked`] while another build has the lock, [`Error::OfAnother`] and
    /// [`Error::Shared`] when root would write into a folder of others, and [`Error::Io`].
    pub fn acquire(index: &Path) -> Result<Self> {
        refuse_root(index)?;
        create_folder(index)?;
        let path = index.join(LOCK);
        let file =
            lock_file(index, &path).map_err(Owner::explains(&path)).map_err(Error::io(&path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(Error::Locked(index.to_owned())),
            Err(TryLockError::Error(error)) => return Err(Error::io(&path)(error)),
        }
        let lock = Self { index: index.to_owned(), file };
        lock.remove_unfinished()?;
        Ok(lock)
    }

    /// The folder of the index.
    pub fn index(&self) -> &Path {
        &self.index
    }

    /// The number of the next generation, and its new, empty folder.
    pub(crate) fn next_generation(&self) -> Result<(u64, PathBuf)> {
        let last = generations(&self.index)?.last().copied().unwrap_or(0);
        // Unfinished generations that could not be removed are still there.
        let is_left = |number: u64| [NEW, OLD].iter().any(|end| self.path(number, end).exists());
        let number = (last + 1..).find(|number| !is_left(*number)).unwrap_or(u64::MAX);
        let path = self.path(number, NEW);
        fs::create_dir(&path).map_err(Error::io(&path))?;
        Ok((number, path))
    }

    /// Gives the files of a generation the access rights of the index folder, so that the server
    /// can read them whatever the builder's umask is. Call this before the generation is checked: a
    /// later change of rights would make its stamp invalid.
    pub(crate) fn give_access(&self, generation: &Path) -> Result<()> {
        self.access()?.give_all(generation)
    }

    fn access(&self) -> Result<Access> {
        Access::of(&self.index).map_err(Error::io(&self.index))
    }

    /// Publishes generation `number`, whose folder is complete and synced. `keep` earlier
    /// generations stay; a server may still be opening the last of them.
    ///
    /// # Errors
    /// Any failure before `CURRENT` is renamed; the folder then has its unfinished name again.
    /// [`Error::Unconfirmed`] and [`Error::Unknown`] come later, and nothing is undone.
    pub(crate) fn publish(&self, number: u64, keep: usize) -> Result<()> {
        let before = match Publication::of(&self.index) {
            Ok(before) => before.generation,
            // This is the first generation, or it replaces a broken pointer.
            Err(Error::NotAnIndex(_) | Error::Damaged { .. }) => number,
            Err(error) => return Err(error),
        };
        let (new, whole) = (self.path(number, NEW), self.path(number, ""));
        self.write_pointer(number)?;
        let renamed = fs::rename(&new, &whole).map_err(Error::io(&new));
        let pointed = renamed.and_then(|()| sync(&self.index)).and_then(|()| self.point());
        if let Err(error) = pointed {
            // The builder then removes the folder by its unfinished name.
            return Err(self.after_failure(number, error, || _ = fs::rename(&whole, &new)));
        }
        if let Err(error) = self.prune(number, before, keep) {
            // The new generation is published, and the next build tries to prune again.
            tracing::warn!("old generations were not removed: {}", chain(&error));
        }
        Ok(())
    }

    /// The error of a failed publication of `number`. A generation that `CURRENT` names, or may
    /// name, is never removed: the new pointer is removed and `undo` called only when it is certain
    /// that `CURRENT` does not name `number`.
    pub(super) fn after_failure(&self, number: u64, error: Error, undo: impl FnOnce()) -> Error {
        match Publication::of(&self.index) {
            Ok(found) if found.generation == number => {
                Error::Unconfirmed { generation: number, source: Box::new(error) }
            }
            Ok(_) | Err(Error::NotAnIndex(_) | Error::Damaged { .. }) => {
                let _ = fs::remove_file(self.index.join(CURRENT_NEW));
                undo();
                error
            }
            Err(_) => Error::Unknown { generation: number, source: Box::new(error) },
        }
    }

    /// Writes the new pointer next to the current one. Later steps of publishing need no space on
    /// the disk.
    pub(super) fn write_pointer(&self, number: u64) -> Result<()> {
        let new = self.index.join(CURRENT_NEW);
        let access = self.access()?;
        let write = || {
            // A pointer of another user can be removed, but not written.
            remove_if_there(&new)?;
            let mut file = File::create_new(&new)?;
            access.give(&file)?;
            writeln!(file, "{}", name_of(number))?;
            file.sync_all()
        };
        write().map_err(Error::io(&new)).inspect_err(|_| {
            // An incomplete pointer is useless; the next build would remove it as well.
            let _ = fs::remove_file(&new);
        })
    }

    /// Replaces the current pointer with the new one.
    pub(super) fn point(&self) -> Result<()> {
        let new = self.index.join(CURRENT_NEW);
        fs::rename(&new, self.index.join(CURRENT)).map_err(Error::io(&new))?;
        sync(&self.index)
    }

    /// Removes all generations except the published one and the last `keep` of those up to
    /// `before`. `before` is the number that was published until now. Later generations were rolled
    /// back, so they are removed too.
    fn prune(&self, published: u64, before: u64, keep: usize) -> Result<()> {
        let mut rest = generations(&self.index)?;
        rest.retain(|number| *number != published);
        let (mut gone, rolled_back): (Vec<_>, Vec<_>) =
            rest.into_iter().partition(|number| *number <= before);
        gone.truncate(gone.len().saturating_sub(keep));
        for number in gone.into_iter().chain(rolled_back) {
            let (path, old) = (self.path(number, ""), self.path(number, OLD));
            let removed = fs::rename(&path, &old).and_then(|()| fs::remove_dir_all(&old));
            // The next build tries again.
            removed.unwrap_or_else(|error| warn_of_leftover(&old, &error));
            self.remove_stamp(number);
        }
        Ok(())
    }

    /// Removes the stamp of a generation that is not kept. If that fails, the stamp matches no
    /// files, and the next build removes it.
    pub(crate) fn remove_stamp(&self, number: u64) {
        let _ = remove_if_there(&self.path(number, STAMP));
    }

    /// Removes the leftovers of killed programs (unfinished generations, pointers and stamps), and
    /// stamps without a generation.
    fn remove_unfinished(&self) -> Result<()> {
        for entry in fs::read_dir(&self.index).map_err(Error::io(&self.index))? {
            let entry = entry.map_err(Error::io(&self.index))?;
            let (name, path) = (entry.file_name(), entry.path());
            let Some(name) = name.to_str() else { continue };
            let stem = name.strip_suffix(NEW).or_else(|| name.strip_suffix(OLD));
            let removed = if stem.and_then(number).is_some() {
                fs::remove_dir_all(&path)
            } else if name == CURRENT_NEW {
                fs::remove_file(&path)
            } else if let Some((generation, rest)) = name.split_once(STAMP) {
                let is_used = rest.is_empty() && self.index.join(generation).exists();
                match number(generation).is_some() && !is_used {
                    true => remove_if_there(&path),
                    false => Ok(()),
                }
            } else {
                Ok(())
            };
            removed.unwrap_or_else(|error| warn_of_leftover(&path, &error));
        }
        Ok(())
    }

    pub(super) fn path(&self, number: u64, suffix: &str) -> PathBuf {
        self.index.join(name_of(number) + suffix)
    }
}

/// Warns of a leftover that cannot be removed, such as one of another user. No build fails for it.
pub(super) fn warn_of_leftover(path: &Path, error: &io::Error) {
    let path = escaped_path(path);
    tracing::warn!(
        "{path} is left over and cannot be removed: {error} (it only takes disk space: remove it \
         by hand)"
    );
}

/// Opens the lock file, which is created if needed. A file that this user may only read, since
/// another user created it, can be locked too.
fn lock_file(index: &Path, path: &Path) -> io::Result<File> {
    match File::options().write(true).create_new(true).open(path) {
        Ok(file) => {
            Access::of(index)?.give(&file)?;
            Ok(file)
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            match File::options().write(true).open(path) {
                // Read access to another user's lock file is enough.
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => File::open(path),
                opened => opened,
            }
        }
        Err(error) => Err(error),
    }
}

/// Unlocks explicitly. A program that this process is starting has a copy of the open file for a
/// moment, and would keep the lock for that long.
impl Drop for BuildLock {
    fn drop(&mut self) {
        let _ = self.file.unlock();
    }
}

/// The stamp of the generation in that folder, which may still have its unfinished name.
pub(super) fn stamp_of(generation: &Path) -> PathBuf {
    generation.with_extension(&STAMP[1..])
}

/// Removes a file. Another program may remove it at the same time.
pub(super) fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Creates a folder and its missing parents, and syncs the name of each.
fn create_folder(path: &Path) -> Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    let above = match path.parent() {
        Some(above) if above != Path::new("") => above,
        _ => Path::new("."),
    };
    create_folder(above)?;
    match fs::create_dir(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists || !path.is_dir() => {
            Err(Error::io(path)(error))
        }
        // A folder whose name was not synced must not stay: the next call would find it and not
        // sync it.
        _ => sync(above).inspect_err(|_| _ = fs::remove_dir(path)),
    }
}

/// Writes a file, or the names in a folder, to the disk (`fsync`).
pub(crate) fn sync(path: &Path) -> Result<()> {
    File::open(path).and_then(|file| file.sync_all()).map_err(Error::io(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(index: &Path) -> Vec<String> {
        let entries = fs::read_dir(index).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort_unstable();
        names
    }

    fn publish(lock: &BuildLock, keep: usize) -> u64 {
        let (number, _) = lock.next_generation().unwrap();
        lock.publish(number, keep).unwrap();
        assert_eq!(Publication::of(&lock.index).unwrap().generation, number);
        number
    }

    #[test]
    fn as_many_old_generations_stay_as_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let index = &folder.path().join("a/b");
        let lock = BuildLock::acquire(index).unwrap();
        for (keep, left) in [(1, 1), (1, 2), (1, 2), (3, 3), (3, 4), (3, 4), (0, 1)] {
            publish(&lock, keep);
            assert_eq!(generations(index).unwrap().len(), left);
        }
        assert_eq!(names(index), ["CURRENT", "LOCK", "generation-000007"]);
    }

    /// A generation takes its stamp along. Other files are left alone.
    #[test]
    fn a_stamp_goes_with_its_generation() {
        let folder = tempfile::tempdir().unwrap();
        let lock = BuildLock::acquire(folder.path()).unwrap();
        let others = ["generation-1.verified", "generation-x.verified", "notes.verified"];
        for name in others {
            fs::write(folder.path().join(name), "").unwrap();
        }
        for number in 1..=3 {
            fs::write(lock.path(number, STAMP), "").unwrap();
            assert_eq!(publish(&lock, 1), number);
        }
        drop(lock);
        BuildLock::acquire(folder.path()).unwrap();
        let kept = ["generation-000002", "generation-000003"];
        let mut expected: Vec<_> = ["CURRENT", "LOCK"].into_iter().chain(others).collect();
        expected.extend(kept);
        let stamps = kept.map(|name| format!("{name}.verified"));
        expected.extend(stamps.iter().map(String::as_str));
        expected.sort_unstable();
        assert_eq!(names(folder.path()), expected);
    }

    /// A generation that was rolled back does not count as an earlier one to keep.
    #[test]
    fn a_generation_that_was_rolled_back_is_removed_by_the_next_build() {
        let folder = tempfile::tempdir().unwrap();
        let lock = BuildLock::acquire(folder.path()).unwrap();
        let (first, second) = (publish(&lock, 5), publish(&lock, 5));
        lock.write_pointer(first).unwrap();
        lock.point().unwrap();
        let third = publish(&lock, 5);
        assert!(second < third);
        assert_eq!(generations(folder.path()).unwrap(), [first, third]);
    }

    /// A kill between any two steps of publishing leaves a published index, and no file that the
    /// next build does not remove.
    #[test]
    fn every_moment_of_publishing() {
        let folder = tempfile::tempdir().unwrap();
        let index = folder.path();
        publish(&BuildLock::acquire(index).unwrap(), 1);
        let begin = |lock: &BuildLock| lock.next_generation().unwrap().0;
        let rename = |from: &str, to: &str| fs::rename(index.join(from), index.join(to)).unwrap();
        let moments: &[&dyn Fn(&BuildLock)] = &[
            &|lock| _ = begin(lock),
            &|lock| lock.write_pointer(begin(lock)).unwrap(),
            &|lock| {
                lock.write_pointer(begin(lock)).unwrap();
                rename("generation-000002.new", "generation-000002");
            },
            &|_| fs::write(index.join(CURRENT_NEW), "gener").unwrap(),
            // Stamps: one that is begun, of a generation that is gone, and of one that is unfinished.
            &|_| fs::write(index.join("generation-000001.verified.new"), "").unwrap(),
            &|_| fs::write(index.join("generation-000009.verified"), "").unwrap(),
            &|lock| {
                begin(lock);
                fs::write(index.join("generation-000002.verified"), "").unwrap();
            },
            &|lock| {
                begin(lock);
                rename("generation-000002.new", "generation-000000.old");
            },
        ];
        for (place, moment) in moments.iter().enumerate() {
            moment(&BuildLock::acquire(index).unwrap());
            assert_eq!(Publication::of(index).unwrap().generation, 1, "{place}");
            let lock = BuildLock::acquire(index).unwrap();
            let published = publish(&lock, 0);
            let name = name_of(published);
            assert_eq!(names(index), ["CURRENT", "LOCK", &*name], "{place}");
            rename(&name, "generation-000001");
            lock.write_pointer(1).unwrap();
            lock.point().unwrap();
        }
    }

    /// A failure at any step of publishing leaves the old generation published or the
    /// new one, says which, and removes nothing that `CURRENT` names.
    #[test]
    fn every_failure_of_publishing() {
        let folder = tempfile::tempdir().unwrap();
        let index = folder.path();
        publish(&BuildLock::acquire(index).unwrap(), 1);
        let rename = |from: &str, to: &str| fs::rename(index.join(from), index.join(to)).unwrap();
        let whole = || rename("generation-000002.new", "generation-000002");
        let point = || rename(CURRENT_NEW, CURRENT);
        let error = || Error::io(index)(io::Error::from_raw_os_error(5));
        // The steps done before the failure, and the generation published after it.
        let failures: &[(&dyn Fn(), Option<u64>)] = &[
            (&|| (), Some(1)),
            (&whole, Some(1)),
            (&|| (whole(), point()).0, Some(2)),
            // Unknown, since `CURRENT` cannot be read.
            (&|| (whole(), fs::create_dir(index.join("CURRENT.d")).unwrap()).0, None),
        ];
        for (place, (done, published)) in failures.iter().enumerate() {
            let lock = BuildLock::acquire(index).unwrap();
            let (number, _) = lock.next_generation().unwrap();
            assert_eq!(number, 2);
            lock.write_pointer(number).unwrap();
            done();
            if published.is_none() {
                rename(CURRENT, "CURRENT.before");
                rename("CURRENT.d", CURRENT);
            }
            let undo = || _ = fs::rename(lock.path(number, ""), lock.path(number, NEW));
            let error = lock.after_failure(number, error(), undo);
            drop(lock);
            let left = names(index);
            match published {
                Some(1) => {
                    assert!(matches!(error, Error::Io { .. }), "{place}: {error:?}");
                    let expected =
                        ["CURRENT", "LOCK", "generation-000001", "generation-000002.new"];
                    assert_eq!(left, expected, "{place}");
                }
                Some(_) => {
                    let unconfirmed = matches!(error, Error::Unconfirmed { generation: 2, .. });
                    assert!(unconfirmed, "{place}: {error:?}");
                    let expected = ["CURRENT", "LOCK", "generation-000001", "generation-000002"];
                    assert_eq!(left, expected, "{place}");
                }
                None => {
                    let unknown = matches!(error, Error::Unknown { generation: 2, .. });
                    assert!(unknown, "{place}: {error:?}");
                    assert!(left.contains(&"generation-000002".to_owned()), "{place}: {left:?}");
                    fs::remove_dir(index.join(CURRENT)).unwrap();
                    rename("CURRENT.before", CURRENT);
                }
            }
            let found = Publication::of(index).unwrap().generation;
            assert_eq!(found, published.unwrap_or(1), "{place}");
            // The next build removes the rest.
            let lock = BuildLock::acquire(index).unwrap();
            let name = name_of(publish(&lock, 0));
            assert_eq!(names(index), ["CURRENT", "LOCK", &*name], "{place}");
            rename(&name, "generation-000001");
            lock.write_pointer(1).unwrap();
            lock.point().unwrap();
        }
    }

    #[test]
    fn a_publication_differs_from_another_with_the_same_number() {
        let folder = tempfile::tempdir().unwrap();
        let lock = BuildLock::acquire(folder.path()).unwrap();
        publish(&lock, 1);
        let first = Publication::of(folder.path()).unwrap();
        assert_eq!(Publication::of(folder.path()).unwrap(), first);
        std::thread::sleep(std::time::Duration::from_millis(20));
        lock.write_pointer(1).unwrap();
        lock.point().unwrap();
        assert_ne!(Publication::of(folder.path()).unwrap(), first);
    }
}
