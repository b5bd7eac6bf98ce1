//! One published index, open for reading: its manifest, its vocabulary and its
//! parts. It never changes; a rebuild makes another one.

pub(crate) mod folder;
pub(crate) mod manifest;

use std::path::{Path, PathBuf};

use self::folder::{BuildLock, Publication, generations};
use self::manifest::Manifest;
use crate::error::{Error, Result};
use crate::instrument::vocabulary::Vocabulary;
use crate::part::Part;

/// A generation whose every file is what its manifest says.
pub(crate) struct Generation {
    pub(crate) path: PathBuf,
    pub(crate) manifest: Manifest,
    pub(crate) vocabulary: Vocabulary,
    pub(crate) parts: Vec<Part>,
}

impl Generation {
    /// Opens the generation in that folder; reads every file once, to check it.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let manifest = Manifest::read(path)?;
        let vocabulary = manifest.vocabulary();
        let hash_seed = manifest.hash_seed(path)?;
        let mut parts = Vec::with_capacity(manifest.parts.len());
        for entry in &manifest.parts {
            let folder = path.join(&entry.folder);
            for file in &entry.files {
                file.verify(&folder)?;
            }
            parts.push(Part::open(&folder, entry.instruments, hash_seed, &vocabulary)?);
        }
        let counted: u64 = parts.iter().map(|part| part.rows.len() as u64).sum();
        if counted != manifest.instruments || counted == 0 {
            return Err(Error::damaged(path, "manifest and parts count differently"));
        }
        Ok(Self { path: path.to_owned(), manifest, vocabulary, parts })
    }

    /// Checks the invariants that a checksum does not show: FIGIs ascend within
    /// and over the parts, the companions agree, every identifier is found.
    pub(crate) fn verify(&self) -> Result<()> {
        let mut last = None;
        for (part, entry) in self.parts.iter().zip(&self.manifest.parts) {
            let path = self.path.join(&entry.folder);
            part.verify(&path)?;
            if last >= Some(part.rows.figi(0)) {
                return Err(Error::damaged(&path, "it starts before the part before it ends"));
            }
            last = Some(part.rows.figi(part.rows.len() as u32 - 1));
            let ends = [Some(part.rows.figi(0)), last].map(|end| end.map(|figi| figi.to_string()));
            if ends != [Some(entry.first_figi.clone()), Some(entry.last_figi.clone())] {
                return Err(Error::damaged(&path, "the manifest says that it has other FIGIs"));
            }
        }
        Ok(())
    }
}

/// Publishes the generation before the published one again, after checking it as a
/// build checks its own. The one that it replaces stays until the next build.
///
/// # Errors
/// [`Error::NothingBefore`] when no earlier generation was kept, and whatever is
/// wrong with it. The published generation stays published, except after
/// [`Error::Unconfirmed`].
pub fn rollback(index: &Path) -> Result<Manifest> {
    // Taking the lock creates the folder; a mistyped name must not.
    Publication::of(index)?;
    let lock = BuildLock::acquire(index)?;
    // Read under the lock: a build may have published while this call waited to start.
    let Publication { generation, .. } = Publication::of(index)?;
    let before = generations(index)?.into_iter().rfind(|number| *number < generation);
    let Some(number) = before else {
        return Err(Error::NothingBefore { index: index.to_owned(), generation });
    };
    let before = Generation::open(&lock.path(number, ""))?;
    before.verify()?;
    lock.write_pointer(number)?;
    match lock.point() {
        Ok(()) => Ok(before.manifest),
        Err(error) => Err(lock.after_failure(number, error, || ())),
    }
}
