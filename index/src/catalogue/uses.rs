//! How often answers that are remembered were of use.

use std::sync::atomic::{AtomicU64, Ordering};

/// What a memory of answers was asked, as far as it could have known them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Uses {
    /// Answers that were remembered.
    pub hits: u64,
    /// Answers that were worked out and are remembered from then on. A question that is
    /// given up, since it takes more than it may, is none.
    pub misses: u64,
}

/// Counts them.
#[derive(Debug, Default)]
pub(crate) struct Counted {
    hits: AtomicU64,
    misses: AtomicU64,
}

impl Counted {
    pub(crate) fn hit(&self) {
        self.hits.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn miss(&self) {
        self.misses.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn uses(&self) -> Uses {
        let [hits, misses] = [&self.hits, &self.misses].map(|count| count.load(Ordering::Relaxed));
        Uses { hits, misses }
    }
}
