//! A map by the XXH3 of something: the key is a hash already, so that the map need not hash it again.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Values by the XXH3 of something.
pub(crate) type ByHash<V> = HashMap<u64, V, BuildHasherDefault<Hashed>>;

/// Gives a key as its hash.
#[derive(Default)]
pub(crate) struct Hashed(u64);

impl Hasher for Hashed {
    fn write(&mut self, _: &[u8]) {
        unreachable!("a key is a u64");
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
