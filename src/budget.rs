//! Bytes that the requests of everyone together may hold: the bodies that are being
//! read, and the answers that wait for slow readers. What goes beyond is refused at
//! once with a 503, before memory is short.
//!
//! What is small is not counted, for the number of connections bounds it, so that
//! whoever uses the budget up keeps others from what is great, and from nothing else.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use bytes::Bytes;

use crate::error::ApiError;

/// Bytes of a body or an answer that are never counted: with all connections, 160 MB
/// of bodies and as much of answers.
const SMALL_BYTES_MAX: usize = 16 << 10;

/// So many bytes for everyone together.
pub(crate) struct Budget {
    bytes: usize,
    left: AtomicUsize,
    refused: AtomicU64,
}

/// How much of a budget is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Use {
    /// The bytes that there are.
    pub(crate) bytes: u64,
    /// Those that somebody has.
    pub(crate) used: u64,
    /// How often it was asked for more than was left, so far.
    pub(crate) refused: u64,
}

/// A part of a budget, which is free again when this is dropped.
#[derive(Default)]
pub(crate) struct Share {
    budget: Option<Arc<Budget>>,
    bytes: usize,
}

impl Budget {
    pub(crate) fn new(bytes: usize) -> Arc<Self> {
        Arc::new(Self { bytes, left: AtomicUsize::new(bytes), refused: AtomicU64::new(0) })
    }

    /// How much of it is used now.
    pub(crate) fn in_use(&self) -> Use {
        let left = self.left.load(Ordering::Relaxed);
        Use {
            bytes: self.bytes as u64,
            used: (self.bytes - left) as u64,
            refused: self.refused.load(Ordering::Relaxed),
        }
    }

    /// A share that is as yet nothing.
    pub(crate) fn share(self: &Arc<Self>) -> Share {
        Share { budget: Some(self.clone()), bytes: 0 }
    }
}

impl Share {
    /// Makes the share enough for so many bytes. One of no budget always is.
    ///
    /// # Errors
    /// [`ApiError::Unavailable`] when the others have what it would take.
    pub(crate) fn grow_to(&mut self, bytes: usize) -> Result<(), ApiError> {
        let Some(budget) = &self.budget else { return Ok(()) };
        let more = bytes.saturating_sub(self.bytes);
        if bytes <= SMALL_BYTES_MAX || more == 0 {
            return Ok(());
        }
        let take = |left: usize| left.checked_sub(more);
        match budget.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take) {
            Ok(_) => {
                self.bytes = bytes;
                Ok(())
            }
            Err(_) => {
                budget.refused.fetch_add(1, Ordering::Relaxed);
                Err(ApiError::Unavailable)
            }
        }
    }

    /// The same bytes, with the share for as long as anyone has them. They may be
    /// fewer than it was made for, when they were packed meanwhile.
    pub(crate) fn hold(mut self, bytes: Bytes) -> Bytes {
        if self.bytes == 0 {
            return bytes;
        }
        self.shrink_to(bytes.len());
        Bytes::from_owner(Held { bytes, _share: self })
    }

    fn shrink_to(&mut self, bytes: usize) {
        let less = self.bytes.saturating_sub(bytes);
        self.bytes -= less;
        if let Some(budget) = &self.budget {
            budget.left.fetch_add(less, Ordering::Relaxed);
        }
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.shrink_to(0);
    }
}

/// Bytes with their share.
struct Held {
    bytes: Bytes,
    _share: Share,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_for_whoever_comes() {
        let budget = Budget::new(100_000);
        let (mut one, mut two) = (budget.share(), budget.share());
        assert_eq!(one.grow_to(SMALL_BYTES_MAX), Ok(()));
        assert_eq!(budget.left.load(Ordering::Relaxed), 100_000, "small ones do not count");
        assert_eq!(one.grow_to(60_000), Ok(()));
        assert_eq!(two.grow_to(50_000), Err(ApiError::Unavailable));
        assert_eq!(two.grow_to(40_000), Ok(()));
        assert_eq!(one.grow_to(60_001), Err(ApiError::Unavailable));
        assert_eq!(two.grow_to(SMALL_BYTES_MAX), Ok(()), "what is small always fits");
        assert_eq!(budget.in_use(), Use { bytes: 100_000, used: 100_000, refused: 2 });
        drop(one);
        assert_eq!(two.grow_to(100_000), Ok(()));
        drop(two);
        assert_eq!(budget.left.load(Ordering::Relaxed), 100_000);
        let mut packed = budget.share();
        packed.grow_to(100_000).unwrap();
        let bytes = packed.hold(vec![0; 30_000].into());
        assert_eq!(budget.left.load(Ordering::Relaxed), 70_000, "packed, it takes less");
        drop(bytes.slice(10..));
        drop(bytes);
        assert_eq!(budget.left.load(Ordering::Relaxed), 100_000);
        assert_eq!(Share::default().grow_to(usize::MAX), Ok(()), "of no budget");
    }
}
