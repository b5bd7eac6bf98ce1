//! The relation of a copy to the storage, for people and monitors.

use std::time::Duration;

use tokio::time::Instant;

/// The relation of the copy to the storage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FollowState {
    /// The published generation is in the copy.
    Current,
    /// The published generation is being fetched.
    Fetching,
    /// The published generation is not in the copy, for this reason.
    Behind(String),
    /// The published generation is unknown, for this reason.
    Unknown(String),
}

impl FollowState {
    /// The state in one word, for people and monitors.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Current => "current",
            Self::Fetching => "fetching",
            Self::Behind(_) => "behind",
            Self::Unknown(_) => "unknown",
        }
    }

    /// The reason why the copy is behind, or why that is not known.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Current | Self::Fetching => None,
            Self::Behind(reason) | Self::Unknown(reason) => Some(reason),
        }
    }
}

/// The facts about a copy, for operators.
#[derive(Clone, Debug)]
pub struct Following {
    /// The state after the last check, or during the current one.
    pub state: FollowState,
    /// The number of the published generation, if it is known.
    pub published: Option<u64>,
    /// The time since which the copy may not be current; `None` while it is current.
    pub behind_since: Option<Instant>,
    /// The number of bytes fetched since the start.
    pub fetched_bytes: u64,
    /// The number of bytes of fetched generations that the copy already had.
    pub reused_bytes: u64,
    /// The number of bytes of the published generation that are still to be fetched.
    pub missing_bytes: u64,
    /// The number of failed checks since the start.
    pub failures: u64,
}

impl Following {
    /// The time since the copy was last known to be current.
    pub fn behind(&self) -> Duration {
        self.behind_since.map_or(Duration::ZERO, |since| since.elapsed())
    }
}
