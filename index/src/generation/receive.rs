//! Taking in a generation that was published elsewhere. Its files are put into a folder next to the
//! generations, in any order and over any number of attempts. When all files are there, they are
//! compared with the manifest, and the folder becomes the next generation of the index.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use super::Generation;
use super::folder::{BuildLock, Publication, generations, path_of, sync, warn_of_leftover};
use super::manifest::{FileEntry, Manifest, ParquetEntry};
use super::names::{PARQUET, below, within};
use super::past::PAST;
use crate::error::{Error, Result};

/// The prefix of the folder name of a generation that is being received.
const RECEIVING: &str = "receiving-";

/// A file of a generation on this machine.
#[derive(Clone, Debug)]
pub struct LocalFile {
    /// The folder of its part and its name, with slashes.
    pub name: String,
    /// Its path on this machine.
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
    let files = files_of(&manifest, &generation)?;
    Ok((manifest, files))
}

/// The files of all complete generations in an index folder. Generations whose manifest cannot be
/// read are left out.
///
/// # Errors
/// When the folder cannot be read.
pub fn local_files(index: &Path) -> Result<Vec<LocalFile>> {
    let mut files = Vec::new();
    for number in generations(index)? {
        let folder = path_of(index, number);
        if let Ok(manifest) = Manifest::read(&folder) {
            files.extend(files_of(&manifest.manifest, &folder)?);
        }
    }
    Ok(files)
}

fn files_of(manifest: &Manifest, folder: &Path) -> Result<Vec<LocalFile>> {
    let files = manifest.files().map(|(name, FileEntry { bytes, sha256, .. })| {
        let path = below(folder, &name)?;
        Ok(LocalFile { name, path, bytes: *bytes, sha256: sha256.clone() })
    });
    files.collect()
}

/// The folder that receives a generation, and the path of each file in it.
#[derive(Clone, Debug)]
pub struct Receiving {
    /// The folder.
    pub folder: PathBuf,
    /// The path of each file, in the order of the manifest.
    pub files: Vec<PathBuf>,
}

impl Manifest {
    /// Each file with its path in the folder of the generation: the folder of its part, of the past
    /// or of the Parquet file, a slash, and its name.
    pub fn files(&self) -> impl Iterator<Item = (String, &FileEntry)> {
        let of_parts = self.parts.iter().flat_map(|part| {
            part.files.iter().map(move |file| (format!("{}/{}", part.folder, file.name), file))
        });
        let past = self.past.iter().flat_map(|past| &past.files);
        let past = past.map(|file| (format!("{PAST}/{}", file.name), file));
        let parquet = self.parquet.iter().map(ParquetEntry::file);
        let parquet = parquet.map(|file| (format!("{PARQUET}/{}", file.name), file));
        of_parts.chain(past).chain(parquet)
    }
}

impl BuildLock {
    /// Creates the folder that receives the generation of a manifest, with the folders of its
    /// parts. Files of an earlier attempt with the same `name` stay. Folders of attempts with
    /// another `name` are removed.
    ///
    /// # Errors
    /// When the folder cannot be made, and [`Error::Damaged`] when a file of the manifest would be
    /// outside of the folder.
    pub fn receiving(&self, name: &str, manifest: &Manifest) -> Result<Receiving> {
        let name = format!("{RECEIVING}{name}");
        let folder = within(self.index(), &name)?;
        let files = manifest.files().map(|(file, _)| below(&folder, &file));
        let files = files.collect::<Result<Vec<_>>>()?;
        for entry in fs::read_dir(self.index()).map_err(Error::io(self.index()))? {
            let entry = entry.map_err(Error::io(self.index()))?;
            let found = entry.file_name();
            let is_other = |text: &str| text.starts_with(RECEIVING) && text != name;
            if found.to_str().is_some_and(is_other) {
                let path = entry.path();
                fs::remove_dir_all(&path).unwrap_or_else(|error| warn_of_leftover(&path, &error));
            }
        }
        for file in &files {
            let above = file.parent().unwrap_or(&folder);
            fs::create_dir_all(above).map_err(Error::io(above))?;
        }
        Ok(Receiving { folder, files })
    }

    /// Publishes the received folder as the next generation. First compares all of its bytes with
    /// the manifest. `keep` earlier generations stay.
    ///
    /// # Errors
    /// [`Error::Damaged`] when a file differs from the manifest, and all errors of publishing.
    /// After an error the published generation stays published and the received folder stays as it
    /// is, except after [`Error::Unconfirmed`] and perhaps [`Error::Unknown`].
    pub fn take_in(&self, received: &Receiving, manifest: &Manifest, keep: usize) -> Result<u64> {
        let Receiving { folder: received, files } = received;
        for path in files {
            sync(path)?;
            sync(path.parent().unwrap_or(received))?;
        }
        manifest.write(received)?;
        sync(received)?;
        let (number, new) = self.next_generation()?;
        let taken = || {
            fs::rename(received, &new).map_err(Error::io(received))?;
            self.give_access(&new)?;
            // This compares all bytes and stamps the files, so that the server opens them without
            // reading. Bytes that fit their checksums may still come from a faulty or hostile
            // builder, so a panic is caught.
            let opened = catch_unwind(AssertUnwindSafe(|| Generation::open_new(&new).map(drop)));
            opened.unwrap_or_else(|_| Err(Error::damaged(&new, "opening it caused a panic")))?;
            self.publish(number, keep)
        };
        taken().map(|()| number).inspect_err(|_| {
            // If the generation may be published after all, `new` is gone, and both calls do
            // nothing.
            let _ = fs::rename(&new, received).or_else(|_| fs::remove_dir(&new));
            self.remove_stamp(number);
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::names::wicked;
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
            copied(&files, &received.folder);
            assert_eq!(lock.take_in(&received, &manifest, 1).unwrap(), number);
            assert!(!received.folder.exists());
            let catalogue = Catalogue::open(to.path()).unwrap();
            assert_eq!(*catalogue.manifest(), manifest);
            assert!(to.path().join(format!("generation-{number:06}.verified")).exists());
        }
        assert_eq!(local_files(to.path()).unwrap().len(), 2 * files(from.path()).unwrap().1.len());
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
            copied(&files, &received.folder);
            let path = received.folder.join(&file.name);
            let right = fs::read(&path).unwrap();
            let flipped: Vec<u8> = right.iter().map(|byte| byte ^ 1).collect();
            for wrong in [Some(&flipped[..]), Some(&right[1..]), None] {
                match wrong {
                    Some(bytes) => fs::write(&path, bytes).unwrap(),
                    None => fs::remove_file(&path).unwrap(),
                }
                assert!(lock.take_in(&received, &manifest, 1).is_err());
                assert!(Publication::of(to.path()).is_err() && received.folder.exists());
            }
        }
        copied(&files, &received.folder);
        assert_eq!(lock.take_in(&received, &manifest, 1).unwrap(), 1);
    }

    /// A name of any form, in the place of each name: nothing is made outside of the folder, and what
    /// another generation left there goes.
    #[test]
    fn files_outside_of_the_folder_are_refused() {
        let (from, above) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        built(from.path(), "ONE");
        let (manifest, _) = files(from.path()).unwrap();
        let text = manifest.text();
        let copy = above.path().join("copy");
        let lock = BuildLock::acquire(&copy).unwrap();
        for name in wicked() {
            for (place, right) in [("folder", "part-000"), ("name", "rows.texts")] {
                let written = toml::Value::String(name.clone()).to_string();
                let right = format!("{place} = \"{right}\"");
                assert!(text.contains(&right), "{text}");
                let hostile = text.replace(&right, &format!("{place} = {written}"));
                Manifest::of_text(&hostile, Path::new("x")).expect_err(&written);
            }
            if let Ok(receiving) = lock.receiving(&name, &manifest) {
                assert_eq!(receiving.folder.parent(), Some(&*copy));
                assert!(receiving.files.iter().all(|file| file.starts_with(&receiving.folder)));
            }
        }
        assert_eq!(fs::read_dir(above.path()).unwrap().count(), 1, "only the copy");
        let first = lock.receiving("x", &manifest).unwrap();
        lock.receiving("y", &manifest).unwrap();
        assert!(!first.folder.exists(), "another generation is received now");
    }
}
