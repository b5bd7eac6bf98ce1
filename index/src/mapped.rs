//! Files mapped into memory: the one place of this library that needs `unsafe`,
//! and how numbers stand in them (little-endian, no alignment asked for).

use std::fs::File;
use std::ops::{Deref, Range};
use std::path::Path;

use memmap2::Mmap;

use crate::error::{Error, Result};

/// The bytes of a file of a published generation.
pub(crate) struct Mapped(Mmap);

impl Mapped {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(Error::io(path))?;
        #[expect(unsafe_code, reason = "mapping a file is unsafe by nature")]
        // SAFETY: the files of a generation are written once, before it is
        // published, and only ever removed after that; removing keeps the mapped
        // pages. A page that is cut off by hand, or that the disk cannot read, ends the
        // process by SIGBUS (SECURITY.md).
        let map = unsafe { Mmap::map(&file) };
        map.map(Self).map_err(Error::io(path))
    }

    /// The `index`-th of the `u32` numbers that start at byte `base`.
    ///
    /// # Panics
    /// Outside the file, which the checks at opening rule out.
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

pub(crate) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(*bytes[at..].first_chunk().expect("a u32 inside the file"))
}

pub(crate) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(*bytes[at..].first_chunk().expect("a u64 inside the file"))
}

/// The first number of a range for which something holds that then holds for all after it,
/// by binary search; the end of the range when it holds for none.
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
