//! The bounds on connections.

use std::time::Duration;

/// The bounds of connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionBounds {
    /// The number of connections at a time; further clients wait until one has ended.
    pub max: usize,
    /// The number of them that one address may have, or one IPv6 network of 64 bits; an
    /// IPv6 network of 48 bits may have four times as many. Further ones are refused.
    /// `None` is no bound, as behind a proxy, which has them all.
    pub per_address: Option<usize>,
    /// How long a client may take to send its request's head, and before the first one
    /// for the handshake of TLS.
    pub head_timeout: Duration,
    /// How long it may be silent between two requests, or leave an answer unread.
    pub idle_timeout: Duration,
    /// How long an answer may take from the last byte of its request, and the request's
    /// next byte meanwhile. Then it is a 503.
    pub answer_timeout: Duration,
    /// The least number of bytes of an answer that a client must take in a second, once
    /// `idle_timeout` has passed. Without it a client that takes a byte now and then could hold
    /// an answer, and its share of the budget, for ever. At least 1.
    pub answer_bytes_per_second: u64,
    /// How long requests in flight may take after the server was told to stop.
    pub drain_timeout: Duration,
}

/// A tenth of all: many people behind one address have enough, a load program too,
/// and no single address shuts out the others.
pub(crate) const PER_ADDRESS: usize = 1_000;

impl ConnectionBounds {
    /// Enough for clients without number that behave.
    pub const DEFAULT: Self = Self {
        max: 10_000,
        per_address: Some(PER_ADDRESS),
        head_timeout: Duration::from_secs(15),
        idle_timeout: Duration::from_secs(75),
        answer_timeout: Duration::from_secs(150),
        answer_bytes_per_second: 16 << 10,
        drain_timeout: Duration::from_secs(30),
    };
}

impl Default for ConnectionBounds {
    fn default() -> Self {
        Self::DEFAULT
    }
}
