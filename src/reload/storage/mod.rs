//! An index in object storage: the copy on this machine, which is served, and following what is
//! published.

#[cfg(not(feature = "object-storage"))]
mod absent;
#[cfg(feature = "object-storage")]
mod present;

use std::time::Duration;

#[cfg(not(feature = "object-storage"))]
pub(crate) use self::absent::{Replica, follow, open};
#[cfg(feature = "object-storage")]
pub(crate) use self::present::{Replica, follow, open};

/// How the copy of a server and the storage are to each other, for operators.
#[derive(Clone, Debug)]
pub(crate) struct Standing {
    /// `current`, `fetching`, `behind` or `unknown`.
    pub(crate) state: &'static str,
    /// Why the copy is behind, or why that is not known.
    pub(crate) reason: Option<String>,
    /// The number of the published generation, as far as it is known.
    pub(crate) published: Option<u64>,
    /// For how long the copy has not been known to be current.
    pub(crate) behind: Duration,
    /// How many bytes were fetched since the start.
    pub(crate) fetched_bytes: u64,
    /// How many bytes of new generations were in the copy already.
    pub(crate) reused_bytes: u64,
    /// How many looks at the storage have failed since the start.
    pub(crate) failures: u64,
}

/// Gives the standing at this moment.
pub(crate) type Standings = Box<dyn Fn() -> Standing + Send + Sync>;
