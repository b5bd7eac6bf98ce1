//! Reading the files of a generation again while it is served, to find bytes that decayed on the
//! disk: a stamp does not show them. The disk itself is read, not the page cache (open(2),
//! `O_DIRECT`). Where a file system does not have `O_DIRECT`, posix_fadvise(2) first empties the
//! cache.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use figdex_io::hex;
use rustix::fs::{Advice, OFlags, fadvise};
use sha2::{Digest as _, Sha256};

use super::Generation;
use super::names::below;
use crate::error::{Error, Result};

/// The number of bytes that are read at once.
const PIECE_BYTES: usize = 1 << 20;

/// The alignment that reads past the page cache need, of memory and of offsets in a file.
const ALIGNMENT: usize = 4096;

impl Generation {
    /// Reads every file from the disk and compares it with its checksum. After each piece,
    /// `goes_on` gets the number of bytes of the piece; it may wait, and ends the check by
    /// returning `false`. Returns whether all files were read.
    ///
    /// # Errors
    /// [`Error::Damaged`] for the first file that differs, and [`Error::Io`].
    pub(crate) fn recheck(&self, mut goes_on: impl FnMut(usize) -> bool) -> Result<bool> {
        let mut memory = vec![0; PIECE_BYTES + ALIGNMENT];
        let offset = memory.as_ptr().align_offset(ALIGNMENT);
        let buffer = &mut memory[offset..offset + PIECE_BYTES];
        for (name, file) in self.manifest.files() {
            let path = below(&self.path, &name)?;
            let read = digest(&path, buffer, &mut goes_on).map_err(Error::io(&path))?;
            match read {
                None => return Ok(false),
                Some(sha256) if sha256 == file.sha256 => {}
                Some(_) => return Err(Error::damaged(&path, "its bytes have decayed on the disk")),
            }
        }
        Ok(true)
    }
}

/// The SHA-256 of a file; `None` when `goes_on` returned `false`.
fn digest(
    path: &Path,
    buffer: &mut [u8],
    goes_on: &mut impl FnMut(usize) -> bool,
) -> io::Result<Option<String>> {
    let direct = File::options().read(true).custom_flags(OFlags::DIRECT.bits() as i32).open(path);
    let mut file = match direct {
        Ok(file) => file,
        // This file system has no `O_DIRECT`: its files are in memory, or on another machine.
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
            let file = File::open(path)?;
            fadvise(&file, 0, None, Advice::DontNeed)?;
            file
        }
        Err(error) => return Err(error),
    };
    let mut digest = Sha256::new();
    loop {
        let read = match file.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        if read == 0 {
            return Ok(Some(hex(&digest.finalize())));
        }
        digest.update(&buffer[..read]);
        if !goes_on(read) {
            return Ok(None);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::{BuildOptions, Builder, Catalogue, Figi, Instrument};

    /// Each file is read whole; a byte that differs is found, whatever the stamp says; and it can be
    /// ended.
    #[test]
    fn decay_is_found() {
        let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let index = folder.path();
        let mut builder = Builder::create(index, BuildOptions::default()).unwrap();
        let figi = Figi::parse("BBG000BLNNH6").unwrap();
        // More than one piece, and not a multiple of its size.
        let alias = (0..20_000).map(|number| format!("ALIAS {number:060}")).collect();
        builder.add(Instrument { alias, ..Instrument::new(figi) }).unwrap();
        let manifest = builder.publish(Vec::new()).unwrap();
        let catalogue = Catalogue::open(index).unwrap();
        let mut bytes = 0;
        let all = |read: usize| {
            bytes += read as u64;
            true
        };
        assert!(catalogue.recheck(all).unwrap());
        assert_eq!(bytes, manifest.bytes());
        assert!(!catalogue.recheck(|_| false).unwrap());
        for (name, file) in manifest.files().filter(|(_, file)| file.bytes > 0) {
            let path = index.join("generation-000001").join(name);
            let right = fs::read(&path).unwrap();
            let mut wrong = right.clone();
            wrong[file.bytes as usize / 2] ^= 1;
            fs::write(&path, &wrong).unwrap();
            let error = catalogue.recheck(|_| true).unwrap_err();
            assert!(matches!(&error, Error::Damaged { path: found, .. } if *found == path));
            fs::write(&path, &right).unwrap();
        }
        assert!(catalogue.recheck(|_| true).unwrap());
    }
}
