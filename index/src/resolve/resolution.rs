//! The result for one identifier of a list, and the bounds of all results.

use std::borrow::Cow;

use super::decide::By;
use crate::instrument::id_type::IdType;
use crate::search::Hit;

/// The bounds of an answer.
#[derive(Clone, Copy, Debug)]
pub struct ResolveBounds {
    /// The most rows that one identifier may find. With more, it is invalid.
    pub identifier_rows_max: usize,
    /// The most rows of all identifiers together. The identifiers beyond are invalid, and
    /// [`Resolution::is_beyond_rows`].
    pub rows_max: usize,
    /// The most candidates of an ambiguous identifier.
    pub candidates_max: usize,
}

/// The result for one identifier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolution {
    /// The status, with its reason.
    pub status: Status,
    /// The readings that found rows: one, or several that find different securities. The type that
    /// was given or tried when none found a row and there is only one.
    pub id_types: Vec<IdType>,
    /// The row that is meant, or the first candidates in the order of a search.
    pub hits: Vec<Hit>,
    /// An identifier that is one check digit or one transposition away, and that has rows. For a
    /// wrong check digit the right one, even without rows.
    pub correction: Option<String>,
    /// Whether it is invalid only since the identifiers before it have used up
    /// [`ResolveBounds::rows_max`]: asked without them, it has an answer.
    pub is_beyond_rows: bool,
}

/// The status of one identifier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// One row is meant.
    Resolved(By),
    /// So many rows may be meant.
    Ambiguous(usize),
    /// It is valid, and no row carries it.
    Unknown,
    /// It cannot be looked up, for this reason: a sentence without a full stop.
    Invalid(String),
}

impl Status {
    /// Its name in answers (contract 17.11).
    pub fn name(&self) -> &'static str {
        match self {
            Self::Resolved(_) => "resolved",
            Self::Ambiguous(_) => "ambiguous",
            Self::Unknown => "unknown",
            Self::Invalid(_) => "invalid",
        }
    }

    /// The number of rows that may be meant.
    pub fn matches(&self) -> usize {
        match self {
            Self::Resolved(_) => 1,
            Self::Ambiguous(matches) => *matches,
            Self::Unknown | Self::Invalid(_) => 0,
        }
    }
}

impl Resolution {
    pub(super) fn new(status: Status, id_types: Vec<IdType>, hits: Vec<Hit>) -> Self {
        Self { status, id_types, hits, correction: None, is_beyond_rows: false }
    }

    /// The reason why no row is chosen, with the correction, for people; empty when one is.
    pub fn reason(&self) -> Cow<'_, str> {
        let reason = match &self.status {
            Status::Resolved(_) => "",
            Status::Ambiguous(matches) if self.id_types.len() < 2 => {
                return format!("{matches} rows may be meant").into();
            }
            Status::Ambiguous(_) => {
                let names: Vec<_> = self.id_types.iter().map(|id_type| id_type.name()).collect();
                return format!("different securities as {}", names.join(" and ")).into();
            }
            Status::Unknown => "not found",
            Status::Invalid(reason) => reason,
        };
        match &self.correction {
            Some(correction) => format!("{reason}; did you mean {correction}?").into(),
            None => Cow::Borrowed(reason),
        }
    }
}
