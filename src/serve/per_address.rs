//! The number of connections of each address. It is bounded, so that no address can shut out the
//! others.

use std::sync::Arc;

use parking_lot::Mutex;

use crate::callers::limits::Tally;
use crate::callers::{Caller, Peer};

/// The number of connections of each address. Addresses without a connection are removed.
pub(super) struct PerAddress {
    max: Option<usize>,
    tally: Mutex<Tally>,
}

/// A connection that counts for its address until this is dropped.
pub(super) struct Counted {
    counts: Arc<PerAddress>,
    caller: Caller,
}

impl PerAddress {
    /// A count without connections. `max` is the number that one address may have.
    pub(super) fn new(max: Option<usize>) -> Arc<Self> {
        Arc::new(Self { max, tally: Mutex::default() })
    }

    /// Counts one more connection. Returns `None` if the address, or its IPv6 network of 48 bits,
    /// already has as many as allowed. Clients of the Unix socket have no address, so only the
    /// bound on all connections applies to them.
    pub(super) fn add(self: &Arc<Self>, peer: Peer) -> Option<Counted> {
        let caller = Caller::of(peer);
        let max = match peer {
            Peer::Address(_) => self.max.unwrap_or(usize::MAX),
            Peer::Socket => usize::MAX,
        };
        let is_counted = self.tally.lock().add(caller, 1, max);
        is_counted.then(|| Counted { counts: self.clone(), caller })
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.counts.tally.lock().remove(self.caller, 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Peer {
        Peer::Address(text.parse().unwrap())
    }

    /// contract 14.19: each address, and each IPv6 network of 64 bits, has a separate count.
    #[test]
    fn each_address_has_a_separate_count() {
        let counts = PerAddress::new(Some(2));
        let one = counts.add(at("192.0.2.1")).unwrap();
        let _two = counts.add(at("::ffff:192.0.2.1")).unwrap();
        assert!(counts.add(at("192.0.2.1")).is_none());
        let _other = counts.add(at("192.0.2.2")).unwrap();
        let _six = [counts.add(at("2001:db8::1")).unwrap(), counts.add(at("2001:db8::2")).unwrap()];
        assert!(counts.add(at("2001:db8::3")).is_none());
        assert!(counts.add(at("2001:db8:0:1::3")).is_some());
        let of_one_owner =
            (2..100).map_while(|net| counts.add(at(&format!("2001:db8:0:{net}::1"))));
        assert_eq!(of_one_owner.collect::<Vec<_>>().len(), 6, "a network of 48 bits has 8 in all");
        drop(one);
        assert!(counts.add(at("192.0.2.1")).is_some(), "a closed connection no longer counts");
        let of_socket: Vec<_> = (0..9).map(|_| counts.add(Peer::Socket).unwrap()).collect();
        drop(of_socket);
        // Three addresses are left, and the network of 48 bits of one of them.
        assert_eq!(counts.tally.lock().len(), 4, "an address without a connection is removed");
    }

    #[test]
    fn without_a_bound() {
        let counts = PerAddress::new(None);
        let all: Vec<_> = (0..5_000).map_while(|_| counts.add(at("192.0.2.1"))).collect();
        assert_eq!(all.len(), 5_000);
    }
}
