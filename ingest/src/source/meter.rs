//! Counts the bytes that pass through a reader and computes their checksum. The manifest of an
//! index uses both to identify the dumps that it was built from. Other readers only count.

use std::io::{self, Read};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sha2::{Digest as _, Sha256};

/// The size and checksum of the part of a file that was read so far.
#[derive(Clone)]
pub(crate) struct Meter(Arc<Mutex<Measure>>);

struct Measure {
    bytes: u64,
    last: Option<u8>,
    /// The digest; `None` if the checksum is not needed.
    digest: Option<Sha256>,
}

impl Meter {
    /// A meter that counts bytes and computes their checksum.
    pub(crate) fn with_checksum() -> Self {
        Self(Arc::new(Mutex::new(Measure { bytes: 0, last: None, digest: Some(Sha256::new()) })))
    }

    /// A meter that counts bytes.
    pub(crate) fn of_bytes() -> Self {
        Self(Arc::new(Mutex::new(Measure { bytes: 0, last: None, digest: None })))
    }

    /// A reader of the same bytes that counts them in this meter.
    pub(crate) fn measure(&self, inner: Box<dyn Read + Send>) -> Box<dyn Read + Send> {
        Box::new(Measured { inner, meter: self.clone() })
    }

    /// Number of bytes read.
    pub(crate) fn bytes(&self) -> u64 {
        self.lock().bytes
    }

    /// The last byte read.
    pub(crate) fn last(&self) -> Option<u8> {
        self.lock().last
    }

    /// SHA-256 of the bytes read, in hexadecimal; empty without a checksum.
    pub(crate) fn sha256(&self) -> String {
        let digest = self.lock().digest.clone();
        digest.map(|digest| figdex_io::hex(&digest.finalize())).unwrap_or_default()
    }

    fn lock(&self) -> MutexGuard<'_, Measure> {
        // Both numbers are valid between two calls, even after a panic elsewhere.
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
                // A signal interrupted the call. Not every caller tries again.
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read?,
            }
        };
        let mut measure = self.meter.lock();
        measure.bytes += read as u64;
        measure.last = buffer[..read].last().copied().or(measure.last);
        if let Some(digest) = &mut measure.digest {
            digest.update(&buffer[..read]);
        }
        Ok(read)
    }
}
