//! Counts of things that addresses hold, such as connections or bytes. No address may hold more
//! than a bound, and no wide IPv6 network more than a few times the bound.

use std::collections::HashMap;
use std::hash::Hash;
use std::net::Ipv6Addr;

use crate::callers::Caller;

/// The bound of a wide IPv6 network, as a multiple of the bound of one address. Several subscribers
/// may share such a network, or one may own it. Without this bound, its owner would count as 65,536
/// addresses.
const WIDE_NETWORK_PARTS: usize = 4;

/// The counts of all callers that hold anything.
#[derive(Default)]
pub(crate) struct Tally {
    callers: HashMap<Caller, usize>,
    networks: HashMap<Ipv6Addr, usize>,
}

impl Tally {
    /// Adds to the count of a caller and of its wide network. Returns `false`, and adds nothing, if
    /// the caller would have more than `max`, or its network more than four times `max`.
    #[must_use]
    pub(crate) fn add(&mut self, caller: Caller, more: usize, max: usize) -> bool {
        let network = caller.wide_network();
        let fits =
            |held: Option<&usize>, max| held.copied().unwrap_or(0).saturating_add(more) <= max;
        let network_max = max.saturating_mul(WIDE_NETWORK_PARTS);
        if !fits(self.callers.get(&caller), max)
            || network.is_some_and(|network| !fits(self.networks.get(&network), network_max))
        {
            return false;
        }
        *self.callers.entry(caller).or_default() += more;
        if let Some(network) = network {
            *self.networks.entry(network).or_default() += more;
        }
        true
    }

    /// Subtracts from the counts. A caller that holds nothing is forgotten.
    pub(crate) fn remove(&mut self, caller: Caller, less: usize) {
        remove(&mut self.callers, caller, less);
        if let Some(network) = caller.wide_network() {
            remove(&mut self.networks, network, less);
        }
    }

    /// The number of callers and networks that hold anything.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.callers.len() + self.networks.len()
    }
}

fn remove<K: Eq + Hash>(counts: &mut HashMap<K, usize>, key: K, less: usize) {
    if let Some(count) = counts.get_mut(&key) {
        *count -= less;
        if *count == 0 {
            counts.remove(&key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Caller {
        Caller::at(text.parse().unwrap())
    }

    #[test]
    fn an_address_has_a_bound() {
        let mut tally = Tally::default();
        assert!(tally.add(at("192.0.2.1"), 2, 3));
        assert!(!tally.add(at("::ffff:192.0.2.1"), 2, 3), "it is the same address");
        assert!(tally.add(at("192.0.2.1"), 1, 3), "a refusal adds nothing");
        assert!(tally.add(at("192.0.2.2"), 3, 3));
        tally.remove(at("192.0.2.1"), 1);
        assert!(tally.add(at("192.0.2.1"), 1, 3));
        assert!(tally.add(Caller::Socket, usize::MAX, usize::MAX));
    }

    /// The owner of a network of 48 bits has 65,536 networks of 64 bits, but not 65,536 times the
    /// bound.
    #[test]
    fn a_wide_network_has_a_bound_too() {
        let mut tally = Tally::default();
        assert!(tally.add(at("2001:db8::1"), 2, 3));
        assert!(!tally.add(at("2001:db8::2"), 2, 3), "its network of 64 bits has a bound");
        let subnets: Vec<_> = (1..1_000).map(|net| at(&format!("2001:db8:0:{net:x}::1"))).collect();
        let taken: Vec<_> = subnets.iter().filter(|caller| tally.add(**caller, 2, 3)).collect();
        assert_eq!(taken.len(), 5, "12 in all, with the first two");
        assert!(!tally.add(at("2001:db8:0:ffff::1"), 1, 3), "it is in the same wide network");
        assert!(
            tally.add(at("2001:db8:1::1"), 3, 3),
            "the next network belongs to another subscriber"
        );
        tally.remove(*taken[0], 2);
        assert!(tally.add(at("2001:db8:0:ffff::1"), 2, 3), "a part that was given back is free");
        for caller in &taken[1..] {
            tally.remove(**caller, 2);
        }
        for (caller, count) in [("2001:db8::1", 2), ("2001:db8:0:ffff::1", 2), ("2001:db8:1::1", 3)]
        {
            tally.remove(at(caller), count);
        }
        assert_eq!(tally.len(), 0, "those that hold nothing are forgotten");
    }
}
