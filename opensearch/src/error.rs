//! The errors of an index in a cluster.

use std::time::Duration;

use crate::client;

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of an index in a cluster.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A call failed.
    #[error(transparent)]
    Client(#[from] client::CallError),
    /// The local index cannot be read.
    #[error(transparent)]
    Index(#[from] figdex_index::Error),
    /// Nothing is published under the name.
    #[error(
        "the cluster has no index {name}; publish one with: figdex-ingest publish INDEX \
         opensearch+https://HOST:9200/{name}"
    )]
    NothingPublished {
        /// The name.
        name: String,
    },
    /// The name does not belong to a generation that this version reads.
    #[error("{name} in the cluster is not an index of this version of Figdex: {what}")]
    Foreign {
        /// The name.
        name: String,
        /// The reason.
        what: String,
    },
    /// Another publication is running.
    #[error("another publication fills {index} now; wait until it has ended, and publish again")]
    Locked {
        /// The index that is being filled.
        index: String,
    },
    /// The manifest is too long for a cluster.
    #[error(
        "the manifest of the index has {bytes} bytes in a cluster, which holds at most {bytes_max}: \
         build it from fewer dumps, or with fewer different values of properties"
    )]
    Verbose {
        /// Its bytes.
        bytes: usize,
        /// The most bytes.
        bytes_max: usize,
    },
    /// A publication made no progress for too long.
    #[error("the cluster made no progress for {} minutes: {reason}", .waited.as_secs().div_ceil(60))]
    Stalled {
        /// The time without progress.
        waited: Duration,
        /// The last reason that the cluster gave.
        reason: String,
    },
    /// The index that a publication fills has disappeared.
    #[error("{index}, which this publication fills, was removed by another program; publish again")]
    Removed {
        /// The index.
        index: String,
    },
    /// The cluster refused a document.
    #[error("the cluster refuses the document of {figi}: {reason}")]
    Document {
        /// Its FIGI.
        figi: String,
        /// The cluster's reason.
        reason: String,
    },
    /// The cluster does not hold the documents that were sent.
    #[error("the cluster holds something else than what was sent: {what}; nothing is published")]
    Different {
        /// The difference.
        what: String,
    },
    /// The cluster has lost documents, or has additional ones.
    #[error(
        "{index} has {count} instruments, and {published} were published: documents are lost or \
         were added; publish the index again"
    )]
    Incomplete {
        /// The index of the generation.
        index: String,
        /// The instruments that it has.
        count: u64,
        /// The instruments that were published.
        published: u64,
    },
    /// There is no earlier generation to return to.
    #[error("{name} has no generation before {generation} to roll back to")]
    NothingBefore {
        /// The name.
        name: String,
        /// The published generation.
        generation: u64,
    },
}

impl Error {
    /// Whether a later attempt may succeed.
    pub fn is_temporary(&self) -> bool {
        match self {
            Self::Client(error @ client::CallError::Refused { .. }) => error.is_of_full_disks(),
            Self::Client(client::CallError::Unavailable { .. }) => true,
            _ => false,
        }
    }
}
