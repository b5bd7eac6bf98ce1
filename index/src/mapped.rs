//! Files mapped into memory (the only `unsafe` code of this library), and the numbers in them:
//! little-endian, at any alignment.

use std::fs::File;
use std::ops::{Deref, Range};
use std::path::Path;

use memmap2::{Advice, Mmap};

use crate::error::{Error, Result};

/// The bytes of a file of a generation, read-only.
pub(crate) struct Mapped(Mmap);

impl Mapped {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(Error::io(path))?;
        #[expect(unsafe_code, reason = "mapping a file is unsafe by nature")]
        // SAFETY: the files of a generation are complete before it is opened. Later they are only
        // removed, which keeps the mapped pages. A file that somebody truncates, or a page that the
        // disk cannot read, ends the process with SIGBUS (SECURITY.md).
        let map = unsafe { Mmap::map(&file) };
        let map = map.map_err(Error::io(path))?;
        // Reads jump around: without this advice the system fetches up to 8 MB around each of them.
        // A failure to give the advice only costs speed.
        map.advise(Advice::Random).ok();
        Ok(Self(map))
    }

    /// Tells the system that the file is about to be read from its beginning to its end.
    pub(crate) fn read_in_order(&self) {
        self.0.advise(Advice::Sequential).ok();
    }

    /// The `index`-th of the `u32` numbers that start at byte `base`.
    ///
    /// # Panics
    /// Outside the file. The checks when a part is opened rule that out.
    pub(crate) fn u32_at(&self, base: usize, index: usize) -> u32 {
        u32_at(&self.0, base + index * 4)
    }
}

impl Deref for Mapped {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

/// The `u32` at byte `at`.
///
/// # Panics
/// When the bytes end before it does.
#[inline]
pub(crate) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(*bytes[at..].first_chunk().expect("a u32 inside the file"))
}

/// The `u64` at byte `at`.
///
/// # Panics
/// When the bytes end before it does.
#[inline]
pub(crate) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(*bytes[at..].first_chunk().expect("a u64 inside the file"))
}

/// The first number of `range` for which `holds` is true, by binary search; the end of the
/// range when there is none. Once true, `holds` must stay true for all larger numbers.
pub(crate) fn first_index(range: Range<u32>, holds: impl Fn(u32) -> bool) -> u32 {
    let (mut low, mut high) = (range.start, range.end);
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}
