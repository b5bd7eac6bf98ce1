//! The bounds on the connections of a listener.

use std::time::Duration;

/// The bounds on the connections of a listener.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionBounds {
    /// The maximum number of open connections. Further clients wait until one has ended.
    pub max: usize,
    /// The maximum number of connections from one address, or from one IPv6 network of 64 bits; an
    /// IPv6 network of 48 bits may have four times as many. Further connections are refused. `None`
    /// means no bound, for use behind a proxy, from which all connections come.
    pub per_address: Option<usize>,
    /// The time that a client has to send a request's head. The first head's time includes
    /// the TLS handshake.
    pub head_timeout: Duration,
    /// The time that a client may be silent between two requests, or leave an answer unread.
    pub idle_timeout: Duration,
    /// The longest time from the last byte of a request to its answer, and between two bytes of its
    /// body. After it, the answer is a 503.
    pub answer_timeout: Duration,
    /// The minimum rate at which a client must read an answer; at least 1. A client may fall behind
    /// this rate by `idle_timeout` at any moment, and gains no time by reading faster before.
    /// Without a minimum rate, a client that reads a byte now and then could hold an answer, and
    /// its share of the memory budget, for ever.
    pub answer_bytes_per_second: u64,
    /// The time from the signal to stop until the listener closes. Meanwhile the server is not
    /// ready, so that a balancer sends its requests elsewhere.
    pub drain_wait: Duration,
    /// The time that requests in flight have after the listener is closed.
    pub drain_timeout: Duration,
}

impl ConnectionBounds {
    /// The defaults. One address may have a tenth of the connections. That is enough for many
    /// people behind one address and for a load program, and no single address can shut out others.
    pub const DEFAULT: Self = Self {
        max: 10_000,
        per_address: Some(1_000),
        head_timeout: Duration::from_secs(15),
        idle_timeout: Duration::from_secs(75),
        answer_timeout: Duration::from_secs(150),
        answer_bytes_per_second: 16 << 10,
        drain_wait: Duration::ZERO,
        drain_timeout: Duration::from_secs(30),
    };
}

impl Default for ConnectionBounds {
    fn default() -> Self {
        Self::DEFAULT
    }
}
