//! The number of connections of each address: none may have so many that the others find no
//! place.

use std::sync::Arc;

use parking_lot::Mutex;

use crate::caller::{Peer, Who};
use crate::limits::Tally;

/// The connections of each address. There are no more counts than connections.
pub(super) struct Crowd {
    max: Option<usize>,
    counts: Mutex<Tally>,
}

/// A connection that counts, until it is dropped.
pub(super) struct Presence {
    crowd: Arc<Crowd>,
    who: Who,
}

impl Crowd {
    /// Nobody yet; `max` is the number that one address may have.
    pub(super) fn new(max: Option<usize>) -> Arc<Self> {
        Arc::new(Self { max, counts: Mutex::default() })
    }

    /// Counts one more connection; `None` when its address, or the wide IPv6 network that it
    /// is in, has as many as it may. Those of the Unix socket have no address, and no bound
    /// but that of all.
    pub(super) fn enter(self: &Arc<Self>, peer: Peer) -> Option<Presence> {
        let who = Who::of(peer);
        let max = match peer {
            Peer::Address(_) => self.max.unwrap_or(usize::MAX),
            Peer::Socket => usize::MAX,
        };
        let is_counted = self.counts.lock().add(who, 1, max);
        is_counted.then(|| Presence { crowd: self.clone(), who })
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        self.crowd.counts.lock().remove(self.who, 1);
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
    fn each_address_has_its_own() {
        let crowd = Crowd::new(Some(2));
        let one = crowd.enter(at("192.0.2.1")).unwrap();
        let _two = crowd.enter(at("::ffff:192.0.2.1")).unwrap();
        assert!(crowd.enter(at("192.0.2.1")).is_none());
        let _other = crowd.enter(at("192.0.2.2")).unwrap();
        let _six =
            [crowd.enter(at("2001:db8::1")).unwrap(), crowd.enter(at("2001:db8::2")).unwrap()];
        assert!(crowd.enter(at("2001:db8::3")).is_none());
        assert!(crowd.enter(at("2001:db8:0:1::3")).is_some());
        let of_one_owner =
            (2..100).map_while(|net| crowd.enter(at(&format!("2001:db8:0:{net}::1"))));
        assert_eq!(of_one_owner.collect::<Vec<_>>().len(), 6, "a network of 48 bits has 8 in all");
        drop(one);
        assert!(crowd.enter(at("192.0.2.1")).is_some(), "a place that was left is free");
        let of_socket: Vec<_> = (0..9).map(|_| crowd.enter(Peer::Socket).unwrap()).collect();
        drop(of_socket);
        // Three addresses are left, and the wide network of one of them.
        assert_eq!(crowd.counts.lock().len(), 4, "an address that has left is forgotten");
    }

    #[test]
    fn without_a_bound() {
        let crowd = Crowd::new(None);
        let all: Vec<_> = (0..5_000).map_while(|_| crowd.enter(at("192.0.2.1"))).collect();
        assert_eq!(all.len(), 5_000);
    }
}
