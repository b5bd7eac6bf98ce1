//! Memory budgets that all requests share: one for bodies that are being read, and one for answers
//! that wait for slow readers. A request beyond a budget is refused with a 503 at once, before
//! memory runs short (contract 14.18).
//!
//! Small buffers are not counted: the limit on connections already bounds them. So an exhausted
//! budget refuses large requests only. One address may hold an eighth of a budget, and a wide IPv6
//! network half of it. A tenth of the budget for answers is reserved for answers of ordinary size,
//! so that slow readers of long answers delay only each other.
//!
//! A request that needs more than its caller may ever hold cannot be served at any time. So it is
//! too large (413), not refused for now (503).

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use bytes::Bytes;
use parking_lot::Mutex;

use crate::callers::Caller;
use crate::callers::limits::Tally;

/// The maximum size of a body or an answer that is not counted, in bytes. Over all connections,
/// such bodies take up to 160 MB, and such answers as much.
const SMALL_BYTES_MAX: usize = 16 << 10;

/// One address may hold a budget divided by this. This bound is enough for the largest answer. It
/// does not apply to callers with a key, because the operator gave them the key, nor to clients of
/// the Unix socket, which have no address.
pub(crate) const ADDRESS_PART: usize = 8;

/// The budget for answers divided by this is its reserved part. Only shares of
/// [`ORDINARY_BYTES_MAX`] or less may use that part.
const KEPT_PART: usize = 10;

/// The largest share that may use the reserved part of a budget, in bytes.
const ORDINARY_BYTES_MAX: usize = 1 << 20;

/// A number of bytes that all requests share.
pub(crate) struct Budget {
    bytes: usize,
    /// The part that is reserved for shares of [`ORDINARY_BYTES_MAX`] or less.
    kept: usize,
    /// The most bytes that one share may have.
    share_bytes_max: usize,
    left: AtomicUsize,
    /// The bytes held by each address. Addresses that hold nothing are removed.
    addresses: Mutex<Tally>,
    refused: AtomicU64,
}

/// The use of a budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Use {
    /// The size of the budget.
    pub(crate) bytes: u64,
    /// The bytes that are held.
    pub(crate) used: u64,
    /// The number of refusals so far.
    pub(crate) refused: u64,
}

/// The reason why a share cannot grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// Other shares hold the bytes now.
    Now,
    /// The caller may never hold that much.
    Always,
}

/// A part of a budget. Dropping the share gives the part back. The default is a share of no budget,
/// which may grow without bound.
#[derive(Default)]
pub(crate) struct Share {
    budget: Option<Arc<Budget>>,
    /// The address that holds the share; `None` for a caller without a bound.
    address: Option<Caller>,
    bytes: usize,
}

impl Budget {
    /// The budget for bodies.
    pub(crate) fn of_bodies(bytes: usize) -> Arc<Self> {
        Arc::new(Self::new(bytes))
    }

    /// The budget for answers. One answer may have up to `answer_bytes_max`.
    pub(crate) fn of_answers(bytes: usize, answer_bytes_max: usize) -> Arc<Self> {
        let kept = bytes / KEPT_PART;
        let share_bytes_max = answer_bytes_max.min(bytes - kept);
        Arc::new(Self { kept, share_bytes_max, ..Self::new(bytes) })
    }

    fn new(bytes: usize) -> Self {
        Self {
            bytes,
            kept: 0,
            share_bytes_max: bytes,
            left: AtomicUsize::new(bytes),
            addresses: Mutex::default(),
            refused: AtomicU64::new(0),
        }
    }

    /// The current use.
    pub(crate) fn in_use(&self) -> Use {
        let left = self.left.load(Ordering::Relaxed);
        Use {
            bytes: self.bytes as u64,
            used: (self.bytes - left) as u64,
            refused: self.refused.load(Ordering::Relaxed),
        }
    }

    /// An empty share for a caller.
    pub(crate) fn share(self: &Arc<Self>, caller: Caller) -> Share {
        let address = matches!(caller, Caller::Address(_)).then_some(caller);
        Share { budget: Some(self.clone()), address, bytes: 0 }
    }

    /// The most bytes that one share of a caller may ever have.
    fn most(&self, address: Option<Caller>) -> usize {
        match address {
            Some(_) => self.share_bytes_max.min(self.bytes / ADDRESS_PART),
            None => self.share_bytes_max,
        }
    }

    /// Takes `more` bytes for a share that then has `bytes`. If an address is given, counts them
    /// for it. Returns `false`, and takes none, if that would exceed the budget or the address's
    /// bound.
    fn take(&self, address: Option<Caller>, more: usize, bytes: usize) -> bool {
        let kept = if bytes > ORDINARY_BYTES_MAX { self.kept } else { 0 };
        let take = |left: usize| left.checked_sub(more).filter(|left| *left >= kept);
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

    fn give_back(&self, address: Option<Caller>, less: usize) {
        if let Some(address) = address {
            self.addresses.lock().remove(address, less);
        }
        self.left.fetch_add(less, Ordering::Relaxed);
    }
}

impl Share {
    /// Grows the share to `bytes`, unless it is already larger. Up to [`SMALL_BYTES_MAX`] it stays
    /// as it is, because small buffers are not counted.
    ///
    /// # Errors
    /// [`Refusal::Always`] when its caller may never hold that much; [`Refusal::Now`] when the
    /// budget has too little left, or when the address holds too much in other shares.
    pub(crate) fn grow_to(&mut self, bytes: usize) -> Result<(), Refusal> {
        let Some(budget) = &self.budget else { return Ok(()) };
        let more = bytes.saturating_sub(self.bytes);
        if bytes <= SMALL_BYTES_MAX || more == 0 {
            return Ok(());
        }
        if bytes > budget.most(self.address) {
            return Err(Refusal::Always);
        }
        if !budget.take(self.address, more, bytes) {
            budget.refused.fetch_add(1, Ordering::Relaxed);
            return Err(Refusal::Now);
        }
        self.bytes = bytes;
        Ok(())
    }

    /// Whether a budget counts the bytes of this share.
    pub(crate) fn is_of_budget(&self) -> bool {
        self.budget.is_some()
    }

    /// The most bytes that this share may ever have.
    pub(crate) fn most(&self) -> usize {
        self.budget.as_ref().map_or(usize::MAX, |budget| budget.most(self.address))
    }

    /// Moves the piece's part of the share into the piece. The last owner of the piece gives the
    /// part back by dropping the piece. The part is the memory of the piece: its capacity, not its
    /// length.
    pub(crate) fn hold(&mut self, piece: Vec<u8>) -> Bytes {
        if self.bytes == 0 {
            return piece.into();
        }
        let bytes = self.bytes.min(piece.capacity());
        self.bytes -= bytes;
        let share = Self { budget: self.budget.clone(), address: self.address, bytes };
        Bytes::from_owner(HeldBytes { piece, _share: share })
    }

    /// Gives back all but `bytes`.
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
struct HeldBytes {
    piece: Vec<u8>,
    _share: Share,
}

impl AsRef<[u8]> for HeldBytes {
    fn as_ref(&self) -> &[u8] {
        &self.piece
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// contract 14.18: large bodies and answers share a budget; small ones are not counted.
    #[test]
    fn requests_share_a_budget() {
        let budget = Budget::of_bodies(100_000);
        let (mut one, mut two) = (budget.share(Caller::Socket), budget.share(Caller::Socket));
        assert_eq!(one.grow_to(SMALL_BYTES_MAX), Ok(()));
        assert_eq!(budget.left.load(Ordering::Relaxed), 100_000, "a small one is not counted");
        assert_eq!(one.grow_to(60_000), Ok(()));
        assert_eq!(two.grow_to(50_000), Err(Refusal::Now));
        assert_eq!(two.grow_to(40_000), Ok(()));
        assert_eq!(one.grow_to(60_001), Err(Refusal::Now));
        assert_eq!(one.grow_to(100_001), Err(Refusal::Always));
        assert_eq!(two.grow_to(SMALL_BYTES_MAX), Ok(()), "a small one always fits");
        assert_eq!(budget.in_use(), Use { bytes: 100_000, used: 100_000, refused: 2 });
        drop(one);
        assert_eq!(two.grow_to(100_000), Ok(()));
        drop(two);
        assert_eq!(budget.left.load(Ordering::Relaxed), 100_000);
        let mut packed = budget.share(Caller::Socket);
        packed.grow_to(100_000).unwrap();
        packed.shrink_to(40_000);
        assert_eq!(budget.left.load(Ordering::Relaxed), 60_000, "compressed, it holds less");
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
        assert_eq!(Share::default().grow_to(usize::MAX), Ok(()), "a share of no budget");
    }

    /// contract 14.18: one address may hold an eighth.
    #[test]
    fn an_address_has_a_bound() {
        let budget = Budget::of_bodies(800_000);
        let at = |text: &str| budget.share(Caller::at(text.parse().unwrap()));
        let (mut one, mut two, mut other) = (at("192.0.2.1"), at("192.0.2.1"), at("192.0.2.2"));
        assert_eq!(one.grow_to(60_000), Ok(()));
        assert_eq!(two.grow_to(40_001), Err(Refusal::Now));
        assert_eq!(two.grow_to(40_000), Ok(()));
        assert_eq!(other.grow_to(100_000), Ok(()));
        one.shrink_to(20_000);
        let held = one.hold(vec![0; 20_000]);
        assert_eq!(two.grow_to(80_000), Ok(()), "compressed, the other holds less");
        assert_eq!(budget.in_use(), Use { bytes: 800_000, used: 200_000, refused: 1 });
        drop((held, two, other));
        assert_eq!(budget.in_use().used, 0);
        assert_eq!(budget.addresses.lock().len(), 0, "an address that holds nothing is removed");
    }
    /// contract 14.18: long answers leave a tenth of their budget to those of ordinary size, and
    /// what no moment could serve is refused as too large.
    #[test]
    fn long_answers_leave_room_for_ordinary_ones() {
        const MB: usize = 1 << 20;
        let budget = Budget::of_answers(100 * MB, 60 * MB);
        let mut shares: Vec<_> = (0..3).map(|_| budget.share(Caller::Socket)).collect();
        assert_eq!(shares[0].grow_to(60 * MB), Ok(()));
        assert_eq!(shares[1].grow_to(30 * MB + 1), Err(Refusal::Now));
        assert_eq!(shares[1].grow_to(30 * MB), Ok(()));
        assert_eq!(shares[2].grow_to(MB), Ok(()));
        assert_eq!(shares[2].grow_to(MB + 1), Err(Refusal::Now));
        assert_eq!(shares[2].grow_to(60 * MB + 1), Err(Refusal::Always));
        assert_eq!(shares[2].most(), 60 * MB);
        let mut at_address = budget.share(Caller::at("192.0.2.1".parse().unwrap()));
        assert_eq!(at_address.grow_to(100 * MB / ADDRESS_PART + 1), Err(Refusal::Always));
        // A share that could never be had is too large, however small the budget is.
        let tiny = Budget::of_answers(10 * MB, 60 * MB);
        assert_eq!(tiny.share(Caller::Socket).grow_to(9 * MB + 1), Err(Refusal::Always));
    }
}
