//! One generation of an index, open for reading: its manifest, its vocabulary and its parts. A
//! generation never changes; the next build makes another one (engine 11).

mod access;
mod blocks;
pub(crate) mod builds;
pub(crate) mod changes;
pub(crate) mod compare;
pub(crate) mod folder;
pub(crate) mod id;
pub(crate) mod manifest;
pub(crate) mod names;
pub(crate) mod parquet;
pub(crate) mod past;
pub(crate) mod receive;
pub(crate) mod recheck;
pub(crate) mod stamp;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use self::folder::{BuildLock, Publication, generations};
use self::manifest::Manifest;
use self::parquet::ParquetFile;
use self::past::{PAST, Past};
use crate::error::{Error, Result};
use crate::instrument::Instrument;
use crate::instrument::figi::Figi;
use crate::instrument::vocabulary::Vocabulary;
use crate::part::Part;

/// A generation whose files are those of its manifest.
pub(crate) struct Generation {
    pub(crate) path: PathBuf,
    pub(crate) manifest: Manifest,
    pub(crate) vocabulary: Vocabulary,
    pub(crate) parts: Vec<Part>,
    /// The past of the instruments, if it is kept. Boxed: most indexes have none.
    pub(crate) past: Option<Box<Past>>,
    /// The Parquet file of all instruments, if the build wrote one.
    pub(crate) parquet: Option<Arc<ParquetFile>>,
}

impl Generation {
    /// Opens the generation in the folder `path`. Unless the generation has a stamp that holds,
    /// every file is read and compared with its checksum in the manifest, and the generation is
    /// stamped (engine 10).
    ///
    /// # Errors
    /// When a file cannot be read, differs from the manifest or contradicts another.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let manifest = Manifest::read(path)?;
        if !stamp::holds(path, &manifest) {
            let _ = stamp::check(path, &manifest)?;
        }
        Self::of(path, manifest.manifest)
    }

    /// As [`Generation::open`], but always reads every file, even with a stamp.
    ///
    /// # Errors
    /// As [`Generation::open`].
    pub(crate) fn open_checked(path: &Path) -> Result<Self> {
        let manifest = Manifest::read(path)?;
        let _ = stamp::check(path, &manifest)?;
        Self::of(path, manifest.manifest)
    }

    /// As [`Generation::open_checked`], for a generation that is about to be published: warns when
    /// no stamp could be written.
    ///
    /// # Errors
    /// As [`Generation::open`].
    pub(crate) fn open_new(path: &Path) -> Result<Self> {
        let manifest = Manifest::read(path)?;
        if let Err(error) = stamp::check(path, &manifest)? {
            tracing::warn!(
                "the new generation has no stamp, so that a server that may not write one reads \
                 the whole index at each start: {error}"
            );
        }
        Self::of(path, manifest.manifest)
    }

    /// Maps the files of a generation. They must be those of its manifest.
    pub(crate) fn of(path: &Path, manifest: Manifest) -> Result<Self> {
        let vocabulary = manifest.vocabulary();
        let hash_seed = manifest.hash_seed(path)?;
        let mut parts = Vec::with_capacity(manifest.parts.len());
        for entry in &manifest.parts {
            let folder = entry.path(path);
            let described = (entry.instruments, manifest.has_identifier_sets());
            parts.push(Part::open(&folder, described, hash_seed, &vocabulary)?);
        }
        let counted: u64 = parts.iter().map(|part| part.rows.len() as u64).sum();
        if counted != manifest.instruments || counted == 0 {
            return Err(Error::damaged(
                path,
                "manifest and parts have different numbers of instruments, or there are none",
            ));
        }
        let past = manifest.past.as_ref();
        let past = past
            .map(|entry| Past::open(path, entry.until, &vocabulary).map(Box::new))
            .transpose()?;
        let parquet = manifest.parquet.as_ref();
        let parquet = parquet.map(|entry| ParquetFile::open(path, entry).map(Arc::new));
        let parquet = parquet.transpose()?;
        Ok(Self { path: path.to_owned(), manifest, vocabulary, parts, past, parquet })
    }

    /// The instrument with a FIGI.
    ///
    /// # Errors
    /// [`Error::Damaged`] when a file was changed after it was written.
    pub(crate) fn instrument(&self, figi: Figi) -> Result<Option<Instrument>> {
        for (part, entry) in self.parts.iter().zip(&self.manifest.parts) {
            if let Some(doc) = part.rows.find(figi) {
                return part.instrument(&entry.path(&self.path), doc).map(Some);
            }
        }
        Ok(None)
    }

    /// Reads every file that questions need, which brings it into memory: all but the Parquet file.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub(crate) fn read(&self) -> Result<()> {
        for entry in &self.manifest.parts {
            let folder = entry.path(&self.path);
            entry.files.iter().try_for_each(|file| file.read(&folder))?;
        }
        let past = self.manifest.past.iter().flat_map(|past| &past.files);
        let folder = self.path.join(PAST);
        past.into_iter().try_for_each(|file| file.read(&folder))
    }

    /// Checks what a checksum does not show: FIGIs ascend within each part and from part to part,
    /// as the manifest says, and each companion can be read.
    ///
    /// # Errors
    /// [`Error::Damaged`] for the first contradiction.
    pub(crate) fn verify(&self) -> Result<()> {
        let mut last = None;
        for (part, entry) in self.parts.iter().zip(&self.manifest.parts) {
            let path = entry.path(&self.path);
            part.verify(&path, &self.vocabulary)?;
            if last >= Some(part.rows.figi(0)) {
                return Err(Error::damaged(&path, "it overlaps the previous part"));
            }
            last = Some(part.rows.figi(part.rows.len() as u32 - 1));
            let ends = [Some(part.rows.figi(0)), last].map(|end| end.map(|figi| figi.to_string()));
            if ends != [Some(entry.first_figi.clone()), Some(entry.last_figi.clone())] {
                return Err(Error::damaged(
                    &path,
                    "its first or last FIGI differs from the manifest",
                ));
            }
        }
        match &self.past {
            Some(past) => past.verify(&self.path),
            None => Ok(()),
        }
    }
}

/// Publishes the previous generation again. First verifies it, as a build verifies a new one. The
/// generation that it replaces stays until the next build.
///
/// # Errors
/// The errors of [`BuildLock::acquire`] and of [`Publication::of`], [`Error::NothingBefore`] when
/// no earlier generation was kept, and any error of opening, verifying and publishing it. After an
/// error the published generation stays published, except after [`Error::Unconfirmed`] and perhaps
/// [`Error::Unknown`].
pub fn rollback(index: &Path) -> Result<Manifest> {
    // Checked before the lock is taken: taking the lock would create the folder of a mistyped name.
    Publication::of(index)?;
    let lock = BuildLock::acquire(index)?;
    // Read under the lock: a build may have published while this call waited to start.
    let Publication { generation, .. } = Publication::of(index)?;
    let before = generations(index)?.into_iter().rfind(|number| *number < generation);
    let Some(number) = before else {
        return Err(Error::NothingBefore { index: index.to_owned(), generation });
    };
    let before = Generation::open_checked(&lock.path(number, ""))?;
    before.verify()?;
    lock.write_pointer(number)?;
    match lock.point() {
        Ok(()) => Ok(before.manifest),
        Err(error) => Err(lock.after_failure(number, error, || ())),
    }
}
