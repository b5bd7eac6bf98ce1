//! The facts about a copy of an index in object storage that operators ask for.

use std::sync::Arc;
use std::time::Duration;

/// The relation of the copy of a server to the storage, for operators.
#[derive(Clone, Debug)]
pub(crate) struct CopyStatus {
    /// `current`, `fetching`, `behind` or `unknown`.
    pub(crate) state: &'static str,
    /// The reason why the copy is behind, or why that is not known.
    pub(crate) reason: Option<String>,
    /// The number of the published generation, as far as it is known.
    pub(crate) published: Option<u64>,
    /// The time for which the copy has not been known to be current.
    pub(crate) behind: Duration,
    /// The number of bytes that were fetched since the start.
    pub(crate) fetched_bytes: u64,
    /// The number of bytes of new generations that were in the copy already.
    pub(crate) reused_bytes: u64,
    /// The number of bytes of the published generation that are still to be fetched.
    pub(crate) missing_bytes: u64,
    /// The number of looks at the storage that have failed since the start.
    pub(crate) failures: u64,
}

/// Gives the relation at this moment.
pub(crate) type WatchedCopy = Arc<dyn Fn() -> CopyStatus + Send + Sync>;
