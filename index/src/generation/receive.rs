//! Taking in a generation that was published elsewhere. Its files are put into a folder next to the
//! generations, in any order and over any number of attempts. When all of them are there they are
//! compared with the manifest, and the folder becomes the next generation of the index.

use std::fs;
use std::path::{Component, Path, PathBuf};

use super::Generation;
use super::folder::{BuildLock, Publication, generations, sync, warn_of_leftover};
use super::manifest::{FileEntry, Manifest};
use crate::error::{Error, Result};

/// The prefix of the name of a folder whose generation is being received.
const RECEIVING: &str = "receiving-";

/// A file of a generation on this machine.
#[derive(Clone, Debug)]
pub struct LocalFile {
    /// The folder of its part, then its name, with slashes.
    pub name: String,
    /// Where it is.
    pub path: PathBuf,
    /// Its size in bytes.
    pub bytes: u64,
    /// The SHA-256 of its bytes, hexadecimal.
    pub sha256: String,
}

/// The files of the published generation of an index folder, in the order of its manifest.
///
/// # Errors
/// The errors of [`Manifest::published`].
pub fn files(index: &Path) -> Result<(Manifest, Vec<LocalFile>)> {
    let generation = Publication::of(index)?.path(index);
    let manifest = Manifest::read(&generation)?.manifest;
    let files = files_of(&manifest, &generation);
    Ok((manifest, files))
}

fn files_of(manifest: &Manifest, folder: &Path) -> Vec<LocalFile> {
    manifest
        .files()
        .map(|(name, FileEntry { bytes, sha256, .. })| {
            let path = folder.join(&name);
            LocalFile { name, path, bytes: *bytes, sha256: sha256.clone() }
        })
        .collect()
}

impl Manifest {
    /// The name of each file, with the folder of its part before it.
    pub fn files(&self) -> impl Iterator<Item = (String, &FileEntry)> {
        self.parts.iter().flat_map(|part| {
            part.files.iter().map(move |file| (format!("{}/{}", part.folder, file.name), file))
        })
    }
}

impl BuildLock {
    /// The folder in which the generation of a manifest is received, with the folders of its parts.
    /// Folders with another `name` are removed. What an earlier attempt put
    /// into it stays.
    ///
    /// # Errors
    /// When the folder cannot be made, and [`Error::Damaged`] when the manifest has a file outside
    /// of it.
    pub fn receiving(&self, name: &str, manifest: &Manifest) -> Result<PathBuf> {
        let name = format!("{RECEIVING}{name}");
        let folder = self.index().join(&name);
        let names = manifest
            .parts
            .iter()
            .flat_map(|part| part.files.iter().map(|file| &file.name).chain([&part.folder]));
        for name in names {
            let mut components = Path::new(name).components();
            if !components.all(|component| matches!(component, Component::Normal(_))) {
                return Err(Error::damaged(&folder, format!("{name:?} is not a name in a folder")));
            }
        }
        for entry in fs::read_dir(self.index()).map_err(Error::io(self.index()))? {
            let entry = entry.map_err(Error::io(self.index()))?;
            let found = entry.file_name();
            let is_other = |text: &str| text.starts_with(RECEIVING) && text != name;
            if found.to_str().is_some_and(is_other) {
                let path = entry.path();
                fs::remove_dir_all(&path).unwrap_or_else(|error| warn_of_leftover(&path, &error));
            }
        }
        for (file, _) in manifest.files() {
            let path = folder.join(file);
            let above = path.parent().unwrap_or(&folder);
            fs::create_dir_all(above).map_err(Error::io(above))?;
        }
        Ok(folder)
    }

    /// The files of all complete generations in the folder whose manifest can be read.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn local_files(&self) -> Result<Vec<LocalFile>> {
        let mut files = Vec::new();
        for number in generations(self.index())? {
            let folder = self.path(number, "");
            if let Ok(manifest) = Manifest::read(&folder) {
                files.extend(files_of(&manifest.manifest, &folder));
            }
        }
        Ok(files)
    }

    /// Publishes what was received into a folder as the next generation. All of its bytes are
    /// compared with the manifest first. `keep` earlier generations stay.
    ///
    /// # Errors
    /// [`Error::Damaged`] when a file differs from the manifest, and all errors of publishing. The
    /// generation that was published stays published then, and the folder is left as it is.
    pub fn take_in(&self, received: &Path, manifest: &Manifest, keep: usize) -> Result<u64> {
        for (name, _) in manifest.files() {
            let path = received.join(&name);
            sync(&path)?;
            sync(path.parent().unwrap_or(received))?;
        }
        manifest.write(received)?;
        sync(received)?;
        let (number, new) = self.next_generation()?;
        let taken = || {
            fs::rename(received, &new).map_err(Error::io(received))?;
            self.give_access(&new)?;
            // This compares all bytes, and stamps the files: the server then opens them at once.
            Generation::open_new(&new)?;
            self.publish(number, keep)
        };
        taken().map(|()| number).inspect_err(|_| {
            // Nothing is there when the generation may be published all the same.
            let _ = fs::rename(&new, received).or_else(|_| fs::remove_dir(&new));
            self.remove_stamp(number);
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BuildOptions, Builder, Catalogue, Figi, Instrument};

    fn built(folder: &Path, name: &str) {
        let mut builder = Builder::create(folder, BuildOptions::default()).unwrap();
        let figi = Figi::parse("BBG000BLNNH6").unwrap();
        builder.add(Instrument { name: Some(name.into()), ..Instrument::new(figi) }).unwrap();
        builder.publish(Vec::new()).unwrap();
    }

    fn copied(files: &[LocalFile], to: &Path) {
        for file in files {
            fs::copy(&file.path, to.join(&file.name)).unwrap();
        }
    }

    #[test]
    fn a_generation_is_taken_in() {
        let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let lock = BuildLock::acquire(to.path()).unwrap();
        for (name, number) in [("ONE", 1), ("TWO", 2)] {
            built(from.path(), name);
            let (manifest, files) = files(from.path()).unwrap();
            let received = lock.receiving(name, &manifest).unwrap();
            copied(&files, &received);
            assert_eq!(lock.take_in(&received, &manifest, 1).unwrap(), number);
            assert!(!received.exists());
            let catalogue = Catalogue::open(to.path()).unwrap();
            assert_eq!(*catalogue.manifest(), manifest);
            assert!(to.path().join(format!("generation-{number:06}.verified")).exists());
        }
        assert_eq!(lock.local_files().unwrap().len(), 2 * files(from.path()).unwrap().1.len());
    }

    /// A file that is missing, too short or wrong: nothing is published, and what is there stays for
    /// the next attempt.
    #[test]
    fn what_differs_from_the_manifest_is_not_published() {
        let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        built(from.path(), "ONE");
        let (manifest, files) = files(from.path()).unwrap();
        let lock = BuildLock::acquire(to.path()).unwrap();
        let received = lock.receiving("x", &manifest).unwrap();
        for file in files.iter().filter(|file| file.bytes > 0) {
            copied(&files, &received);
            let path = received.join(&file.name);
            let right = fs::read(&path).unwrap();
            let flipped: Vec<u8> = right.iter().map(|byte| byte ^ 1).collect();
            for wrong in [Some(&flipped[..]), Some(&right[1..]), None] {
                match wrong {
                    Some(bytes) => fs::write(&path, bytes).unwrap(),
                    None => fs::remove_file(&path).unwrap(),
                }
                assert!(lock.take_in(&received, &manifest, 1).is_err());
                assert!(Publication::of(to.path()).is_err() && received.exists());
            }
        }
        copied(&files, &received);
        assert_eq!(lock.take_in(&received, &manifest, 1).unwrap(), 1);
    }

    #[test]
    fn files_outside_of_the_folder_are_refused() {
        let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        built(from.path(), "ONE");
        let (manifest, _) = files(from.path()).unwrap();
        let lock = BuildLock::acquire(to.path()).unwrap();
        for name in ["../x", "/x", "a/../../x"] {
            let mut hostile = manifest.clone();
            hostile.parts[0].files[0].name = name.to_owned();
            assert!(lock.receiving("x", &hostile).is_err(), "{name}");
        }
        let first = lock.receiving("x", &manifest).unwrap();
        lock.receiving("y", &manifest).unwrap();
        assert!(!first.exists(), "another generation is received now");
    }
}
