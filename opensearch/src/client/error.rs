//! The errors of calls. They name the host and quote its fault, but never a header or a body.

/// A result of this crate.
pub type CallResult<T, E = CallError> = std::result::Result<T, E>;

/// The reason why a call failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// Nothing answered, or the cluster cannot answer now. A later attempt may succeed.
    #[error("{host} does not answer: {what}")]
    Unavailable {
        /// The host that was asked last, all hosts, or an index that is incomplete.
        host: String,
        /// The fault.
        what: String,
    },
    /// The cluster refused the request.
    #[error("{host} refuses {what} with status {status}: {kind} {reason}{}", advice(*status, kind))]
    Refused {
        /// The host.
        host: String,
        /// The HTTP status.
        status: u16,
        /// OpenSearch's name for the fault.
        kind: String,
        /// OpenSearch's explanation.
        reason: String,
        /// The method and the path of the request.
        what: String,
    },
    /// The answer has an unexpected form.
    #[error("the answer of {host} is {what}; is it OpenSearch?")]
    Malformed {
        /// The host.
        host: String,
        /// The finding, and the expectation.
        what: String,
    },
    /// More words than one question to the cluster can have.
    #[error("the text has more words than one question to the cluster can have; use fewer")]
    TooManyWords,
    /// A setting of the client cannot be used.
    #[error("{0}")]
    Settings(String),
}

impl CallError {
    /// Whether the answer has an unexpected form.
    pub fn is_malformed(&self) -> bool {
        matches!(self, Self::Malformed { .. })
    }

    /// Whether the cluster refused with a fault of this name.
    pub fn is_kind(&self, name: &str) -> bool {
        matches!(self, Self::Refused { kind, .. } if kind == name)
    }

    /// Whether the object that the path names does not exist.
    pub fn is_absent(&self) -> bool {
        matches!(self, Self::Refused { status: 404, .. })
    }

    /// Whether the cluster accepts no more data because its disks are full, which may pass.
    pub fn is_of_full_disks(&self) -> bool {
        let Self::Refused { kind, reason, .. } = self else { return false };
        is_block(kind) && OF_FULL_DISKS.iter().any(|text| reason.contains(text))
    }

    pub(super) fn settings(what: impl Into<String>) -> Self {
        Self::Settings(what.into())
    }
}

/// Whether a fault is a block, which refuses a request from everybody: `cluster_block_exception` or
/// `index_create_block_exception`.
pub(super) fn is_block(kind: &str) -> bool {
    kind.ends_with("_block_exception")
}

/// Texts in the reasons of blocks that a cluster sets when its disks are full, and lifts by itself.
const OF_FULL_DISKS: [&str; 2] = ["disk usage exceeded", "create-index blocked"];

/// Advice about a status.
fn advice(status: u16, kind: &str) -> &'static str {
    match status {
        403 | 429 if is_block(kind) => {
            " (a block of the cluster, not a missing right; it sets one when its disks are full)"
        }
        401 => " (the cluster wants a user: give the Authorization header in a file)",
        403 => " (the user of the Authorization header lacks a right)",
        _ => "",
    }
}
