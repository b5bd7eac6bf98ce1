//! Who calls: a key, an address, or the Unix socket.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use warp::http::HeaderMap;

/// The bits of the largest IPv6 network that a provider gives to one subscriber, as a rule.
pub(crate) const WIDE_NETWORK_BITS: u32 = 48;

/// Where a request came from: an extension of the request, which the accept loop puts
/// there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// An address, over TCP.
    Address(IpAddr),
    /// The Unix socket, whose clients have none.
    Socket,
}

/// Who calls: a key, or else an address, or else all of a Unix socket together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Who {
    /// A caller with a valid key, from wherever.
    Key(KeyId),
    /// A caller without one: an IPv4 address, or an IPv6 network of 64 bits.
    Address(IpAddr),
    /// Whoever comes over the Unix socket without a key: one caller, for they have no
    /// addresses.
    Socket,
}

impl Who {
    /// The caller there without a key.
    pub fn of(peer: Peer) -> Self {
        match peer {
            Peer::Address(address) => Self::at(address),
            Peer::Socket => Self::Socket,
        }
    }

    /// The caller at an address without a key. An IPv6 subscriber has at least a /64
    /// and may use a fresh address for each request, so that the network counts.
    pub fn at(address: IpAddr) -> Self {
        Self::Address(match address.to_canonical() {
            IpAddr::V6(address) => {
                IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX)))
            }
            v4 @ IpAddr::V4(_) => v4,
        })
    }

    /// The IPv6 network of 48 bits that the caller is in. `None` for a caller that is not an
    /// IPv6 network.
    pub(crate) fn wide_network(self) -> Option<Ipv6Addr> {
        let Self::Address(IpAddr::V6(address)) = self else { return None };
        Some(Ipv6Addr::from_bits(address.to_bits() & !(u128::MAX >> WIDE_NETWORK_BITS)))
    }

    /// Whether the caller has a key.
    pub fn has_key(self) -> bool {
        matches!(self, Self::Key(_))
    }
}

/// The SHA-256 of a key.
pub(crate) type Digest = [u8; 32];

/// A valid key, told apart from others without being one: the first 64 bits
/// of its hash, which no two of a file's random keys will ever share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KeyId(u64);

impl KeyId {
    pub(crate) const fn of_digest(digest: &Digest) -> Self {
        let [a, b, c, d, e, f, g, h, ..] = *digest;
        Self(u64::from_be_bytes([a, b, c, d, e, f, g, h]))
    }
}

/// Who calls without a key: the peer, or whom the trusted proxy says it calls for. The
/// proxy appends to X-Forwarded-For, so that its word is the last one, and those
/// before are the client's own; one that is no address says nothing.
pub(crate) fn caller(peer: Peer, headers: &HeaderMap, trust_proxy: bool) -> Who {
    let lines = headers.get_all("x-forwarded-for");
    let forwarded = || {
        let last = lines.iter().next_back()?.to_str().ok()?;
        let last = last.rsplit(',').next()?.trim();
        // Some proxies append the client's port.
        let with_port = || last.parse().ok().map(|address: SocketAddr| address.ip());
        let bare = last.trim_start_matches('[').trim_end_matches(']');
        bare.parse::<IpAddr>().ok().or_else(with_port)
    };
    let forwarded = if trust_proxy { forwarded() } else { None };
    forwarded.map_or_else(|| Who::of(peer), Who::at)
}
