//! Measures what passes through a reader: how many bytes, and their checksum, so
//! that a manifest can say of which file an index was made.

use std::io::{self, Read};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sha2::{Digest as _, Sha256};

/// The measure of one file, as far as it has been read.
#[derive(Clone, Default)]
pub(crate) struct Meter(Arc<Mutex<Measure>>);

#[derive(Default)]
struct Measure {
    bytes: u64,
    digest: Sha256,
}

impl Meter {
    /// A reader of the same bytes that adds them up here.
    pub(crate) fn measure(&self, inner: Box<dyn Read + Send>) -> Box<dyn Read + Send> {
        Box::new(Measured { inner, meter: self.clone() })
    }

    /// Bytes read.
    pub(crate) fn bytes(&self) -> u64 {
        self.lock().bytes
    }

    /// SHA-256 of the bytes read, hexadecimal.
    pub(crate) fn sha256(&self) -> String {
        figdex_index::hex(&self.lock().digest.clone().finalize())
    }

    fn lock(&self) -> MutexGuard<'_, Measure> {
        // A measure is right after each step, whoever panicked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Measured {
    inner: Box<dyn Read + Send>,
    meter: Meter,
}

impl Read for Measured {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = loop {
            match self.inner.read(buffer) {
                // A signal ended the call. Not every reader above tries again.
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read?,
            }
        };
        let mut measure = self.meter.lock();
        measure.bytes += read as u64;
        measure.digest.update(&buffer[..read]);
        Ok(read)
    }
}
