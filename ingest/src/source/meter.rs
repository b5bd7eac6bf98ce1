//! Measures what passes through a reader: how many bytes, and their checksum, so
//! that a manifest can say of which file an index was made.

use std::cell::RefCell;
use std::io::{self, Read};
use std::rc::Rc;

use sha2::{Digest as _, Sha256};

/// The measure of one file, as far as it has been read.
#[derive(Clone, Default)]
pub(crate) struct Meter(Rc<RefCell<Measure>>);

#[derive(Default)]
struct Measure {
    bytes: u64,
    digest: Sha256,
}

impl Meter {
    /// A reader of the same bytes that adds them up here.
    pub(crate) fn measure(&self, inner: Box<dyn Read>) -> impl Read + 'static {
        Measured { inner, meter: self.clone() }
    }

    /// Bytes read.
    pub(crate) fn bytes(&self) -> u64 {
        self.0.borrow().bytes
    }

    /// SHA-256 of the bytes read, hexadecimal.
    pub(crate) fn sha256(&self) -> String {
        figdex_index::hex(&self.0.borrow().digest.clone().finalize())
    }
}

struct Measured {
    inner: Box<dyn Read>,
    meter: Meter,
}

impl Read for Measured {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        let mut measure = self.meter.0.borrow_mut();
        measure.bytes += read as u64;
        measure.digest.update(&buffer[..read]);
        Ok(read)
    }
}
