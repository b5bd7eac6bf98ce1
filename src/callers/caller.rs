//! The caller of a request: a key, an address, or the Unix socket.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use warp::http::HeaderMap;

/// The prefix length of the largest IPv6 network that providers usually assign to one subscriber.
pub(crate) const WIDE_NETWORK_BITS: u32 = 48;

/// The origin of a connection. The accept loop adds it to each request as an extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// An address, over TCP.
    Address(IpAddr),
    /// The Unix socket, whose clients have no address.
    Socket,
}

impl Peer {
    /// The client of a request: the peer, or the client that a trusted proxy names. The proxy
    /// appends to `X-Forwarded-For`, so only the last entry is the proxy's; the client may have
    /// written the others. An entry that is not an address is ignored.
    pub(crate) fn client(self, headers: &HeaderMap, trust_proxy: bool) -> Self {
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
        forwarded.map_or(self, Self::Address)
    }

    /// The full address; `None` for the Unix socket.
    pub(crate) fn address(self) -> Option<IpAddr> {
        match self {
            Self::Address(address) => Some(address.to_canonical()),
            Self::Socket => None,
        }
    }
}

/// A caller. Its requests count against the same limits (contract 14.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Caller {
    /// The holder of a valid key, at any address.
    Key(KeyId),
    /// A caller without a key: an IPv4 address, or an IPv6 network of 64 bits.
    Address(IpAddr),
    /// All clients of the Unix socket without a key, unless a trusted proxy names their addresses.
    /// Nothing tells them apart, so together they are one caller.
    Socket,
}

impl Caller {
    /// The caller without a key at this end of the connection.
    pub fn of(peer: Peer) -> Self {
        match peer {
            Peer::Address(address) => Self::at(address),
            Peer::Socket => Self::Socket,
        }
    }

    /// The caller without a key at an address. An IPv6 subscriber has at least a /64 network and
    /// may use a new address for each request, so the network is the caller.
    pub fn at(address: IpAddr) -> Self {
        Self::Address(match address.to_canonical() {
            IpAddr::V6(address) => {
                IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX)))
            }
            v4 @ IpAddr::V4(_) => v4,
        })
    }

    /// The caller of a request without a key ([`Peer::client`]).
    pub(crate) fn without_key(peer: Peer, headers: &HeaderMap, trust_proxy: bool) -> Self {
        Self::of(peer.client(headers, trust_proxy))
    }

    /// The IPv6 network of 48 bits around the caller's network; `None` without an IPv6 network.
    pub(crate) fn wide_network(self) -> Option<Ipv6Addr> {
        let Self::Address(IpAddr::V6(address)) = self else { return None };
        Some(Ipv6Addr::from_bits(address.to_bits() & !(u128::MAX >> WIDE_NETWORK_BITS)))
    }

    /// The caller whose turns for heavy work are counted. All callers without a key in a wide IPv6
    /// network count as one, since one subscriber may own such a network.
    pub(crate) fn of_turns(self) -> Self {
        self.wide_network().map_or(self, |network| Self::Address(network.into()))
    }

    /// Whether the caller has a key.
    pub fn has_key(self) -> bool {
        matches!(self, Self::Key(_))
    }
}

/// The SHA-256 of a key.
pub(crate) type Digest = [u8; 32];

/// An identifier of a valid key, from which the key cannot be found: the first 64 bits of its
/// hash. Two random keys do not share them in practice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyId(u64);

impl KeyId {
    pub(crate) const fn of_digest(digest: &Digest) -> Self {
        let [a, b, c, d, e, f, g, h, ..] = *digest;
        Self(u64::from_be_bytes([a, b, c, d, e, f, g, h]))
    }
}
