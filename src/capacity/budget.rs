//! Bytes that the requests of everyone together may hold: the bodies that are being
//! read, and the answers that wait for slow readers. What goes beyond is refused at
//! once with a 503, before memory is short.
//!
//! What is small is not counted, for the number of connections bounds it, so that
//! whoever uses the budget up keeps others from what is great, and from nothing else.
//! No address may have more than an eighth of it, and no wide IPv6 network more than half.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use bytes::Bytes;
use parking_lot::Mutex;

use crate::caller::Who;
use crate::error::ApiError;
use crate::limits::Tally;

/// Bytes of a body or an answer that are never counted: with all connections, 160 MB
/// of bodies and as much of answers.
const SMALL_BYTES_MAX: usize = 16 << 10;

/// The part of a budget that one address may have: enough for the greatest answer. Keys
/// are the operator's own to give, and who comes over the Unix socket has no address.
pub(crate) const ADDRESS_PART: usize = 8;

/// So many bytes for everyone together.
pub(crate) struct Budget {
    bytes: usize,
    left: AtomicUsize,
    /// Bytes held by each address.
    addresses: Mutex<Tally>,
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
    /// Whose it is, if that has a bound of its own.
    address: Option<Who>,
    bytes: usize,
}

impl Budget {
    pub(crate) fn new(bytes: usize) -> Arc<Self> {
        Arc::new(Self {
            bytes,
            left: AtomicUsize::new(bytes),
            addresses: Mutex::default(),
            refused: AtomicU64::new(0),
        })
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

    /// A caller's share, as yet nothing.
    pub(crate) fn share(self: &Arc<Self>, who: Who) -> Share {
        let address = matches!(who, Who::Address(_)).then_some(who);
        Share { budget: Some(self.clone()), address, bytes: 0 }
    }

    /// Whether there were so many bytes more, also for that address; then it has them.
    fn take(&self, address: Option<Who>, more: usize) -> bool {
        let take = |left: usize| left.checked_sub(more);
        let Some(address) = address else {
            return self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok();
        };
        let mut addresses = self.addresses.lock();
        if !addresses.add(address, more, self.bytes / ADDRESS_PART) {
            return false;
        }
        let is_taken = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok();
        if !is_taken {
            addresses.remove(address, more);
        }
        is_taken
    }

    fn give_back(&self, address: Option<Who>, less: usize) {
        if let Some(address) = address {
            self.addresses.lock().remove(address, less);
        }
        self.left.fetch_add(less, Ordering::Relaxed);
    }
}

impl Share {
    /// Makes the share enough for so many bytes. One of no budget always is.
    ///
    /// # Errors
    /// [`ApiError::Unavailable`] when the others have what it would take, or its address
    /// as much as it may.
    pub(crate) fn grow_to(&mut self, bytes: usize) -> Result<(), ApiError> {
        let Some(budget) = &self.budget else { return Ok(()) };
        let more = bytes.saturating_sub(self.bytes);
        if bytes <= SMALL_BYTES_MAX || more == 0 {
            return Ok(());
        }
        if !budget.take(self.address, more) {
            budget.refused.fetch_add(1, Ordering::Relaxed);
            return Err(ApiError::Unavailable);
        }
        self.bytes = bytes;
        Ok(())
    }

    /// Gives the piece its own part of the share, for as long as anyone has the piece. The
    /// part is the memory that the piece holds: its capacity, not its length.
    pub(crate) fn hold(&mut self, piece: Vec<u8>) -> Bytes {
        if self.bytes == 0 {
            return piece.into();
        }
        let bytes = self.bytes.min(piece.capacity());
        self.bytes -= bytes;
        let share = Self { budget: self.budget.clone(), address: self.address, bytes };
        Bytes::from_owner(Held { piece, _share: share })
    }

    /// Gives back what is beyond `bytes`.
    pub(crate) fn shrink_to(&mut self, bytes: usize) {
        let less = self.bytes.saturating_sub(bytes);
        self.bytes -= less;
        if let Some(budget) = self.budget.as_ref().filter(|_| less > 0) {
            budget.give_back(self.address, less);
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
    piece: Vec<u8>,
    _share: Share,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.piece
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// contract 14.18: large bodies and answers share a budget; small ones are not counted.
    #[test]
    fn what_is_left_is_for_whoever_comes() {
        let budget = Budget::new(100_000);
        let (mut one, mut two) = (budget.share(Who::Socket), budget.share(Who::Socket));
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
        let mut packed = budget.share(Who::Socket);
        packed.grow_to(100_000).unwrap();
        packed.shrink_to(40_000);
        assert_eq!(budget.left.load(Ordering::Relaxed), 60_000, "packed, it takes less");
        let mut roomy = Vec::with_capacity(30_000);
        roomy.push(0);
        let (one, other) = (packed.hold(roomy), packed.hold(vec![0; 10_000]));
        drop(packed);
        assert_eq!(budget.left.load(Ordering::Relaxed), 60_000, "each piece has its part");
        drop(other.slice(10..));
        drop(other);
        assert_eq!(budget.left.load(Ordering::Relaxed), 70_000);
        drop(one);
        assert_eq!(budget.left.load(Ordering::Relaxed), 100_000);
        assert_eq!(Share::default().grow_to(usize::MAX), Ok(()), "of no budget");
    }

    /// contract 14.18: one address may have an eighth.
    #[test]
    fn no_address_has_it_all() {
        let budget = Budget::new(800_000);
        let at = |text: &str| budget.share(Who::at(text.parse().unwrap()));
        let (mut one, mut two, mut other) = (at("192.0.2.1"), at("192.0.2.1"), at("192.0.2.2"));
        assert_eq!(one.grow_to(60_000), Ok(()));
        assert_eq!(two.grow_to(40_001), Err(ApiError::Unavailable));
        assert_eq!(two.grow_to(40_000), Ok(()));
        assert_eq!(other.grow_to(100_000), Ok(()));
        one.shrink_to(20_000);
        let held = one.hold(vec![0; 20_000]);
        assert_eq!(two.grow_to(80_000), Ok(()), "packed, the other takes less");
        assert_eq!(budget.in_use(), Use { bytes: 800_000, used: 200_000, refused: 1 });
        drop((held, two, other));
        assert_eq!(budget.in_use().used, 0);
        assert_eq!(budget.addresses.lock().len(), 0, "an address that has nothing is forgotten");
    }
}
