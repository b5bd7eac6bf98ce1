//! The result for one identifier of a list, and the bounds of all results.

use std::borrow::Cow;

use super::decide::By;
use super::past::{Coverage, PastRow};
use crate::instrument::id_type::IdType;
use crate::instrument::visible::Visible;
use crate::search::Hit;

/// The bounds of an answer.
#[derive(Clone, Copy, Debug)]
pub struct ResolveBounds {
    /// The most rows that one lookup of an identifier may find. If a lookup finds more, the
    /// identifier is invalid.
    pub identifier_rows_max: usize,
    /// The most rows of all identifiers together. Identifiers beyond this bound are invalid, with
    /// [`Resolution::is_beyond_rows`].
    pub rows_max: usize,
    /// The most candidates for an ambiguous identifier.
    pub candidates_max: usize,
    /// The idTypes whose identifiers are corrected. The right check digit of others is not named
    /// either (contract 23.6).
    pub corrected: Visible,
}

/// The result for one identifier.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolution {
    /// The status, with its reason.
    pub status: Status,
    /// The types of the readings that found rows: one, or several when they find different
    /// securities. If no row was found, the given or tried type, if there is only one.
    pub id_types: Vec<IdType>,
    /// The row that is meant, or the first candidates. Candidates are in the order of a search, but
    /// readings that find different securities take turns.
    pub hits: Vec<Hit>,
    /// An identifier that has rows and differs by the check digit or by one swap. If there is none,
    /// and the identifier is invalid because of its check digit, the identifier with the right
    /// check digit.
    pub correction: Option<String>,
    /// Whether the identifier is ambiguous because it is written like a name and was found only as a
    /// ticker (contract 17.14).
    pub is_name_like: bool,
    /// Rows of securities that the text may name, if they were asked for (contract 17.15): one row
    /// each, in the order of suggestions. They are never resolved.
    pub candidates: Vec<Hit>,
    /// Rows as they were: those of an identifier that no row has now, or those on the day that was
    /// asked for. Empty without a past.
    pub past: Vec<PastRow>,
    /// The rows of other FIGIs that had the identifier earlier, if they were asked for (contract
    /// 20.11).
    pub formerly: Vec<PastRow>,
    /// Whether the identifier is invalid because earlier identifiers have used up
    /// [`ResolveBounds::rows_max`]. Sent alone, it may have an answer.
    pub is_beyond_rows: bool,
}

/// The status of one identifier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// One row is meant.
    Resolved(By),
    /// This many rows may be meant.
    Ambiguous(usize),
    /// The identifier is valid, and no row carries it.
    Unknown,
    /// The identifier has a fault, or too many rows. The reason is a sentence without a full stop.
    Invalid(Cow<'static, str>),
    /// No row carries it now, but one did whose FIGI still has a row.
    Historical,
    /// No row carries it now, and the FIGI of the one that did has no row any more.
    Gone,
    /// On the day that was asked for, it meant one of two rows, or perhaps none: the rows were
    /// observed before and after that day, and differ.
    Uncertain,
    /// The past does not cover the day that was asked for.
    OutOfCoverage(Coverage),
}

/// The reason of an identifier that is written like a name and was found only as a ticker.
pub const NAME_LIKE: &str = "it is written like a name, and found only as a ticker";

impl Status {
    /// The name of the status in answers (contract 17.11).
    pub fn name(&self) -> &'static str {
        match self {
            Self::Resolved(_) => "resolved",
            Self::Ambiguous(_) => "ambiguous",
            Self::Unknown => "unknown",
            Self::Invalid(_) => "invalid",
            Self::Historical => "historical",
            Self::Gone => "gone",
            Self::Uncertain => "uncertain",
            Self::OutOfCoverage(_) => "outOfCoverage",
        }
    }

    /// The number of rows that may be meant.
    pub fn matches(&self) -> usize {
        match self {
            Self::Resolved(_) => 1,
            Self::Ambiguous(matches) => *matches,
            Self::Unknown
            | Self::Invalid(_)
            | Self::Historical
            | Self::Gone
            | Self::Uncertain
            | Self::OutOfCoverage(_) => 0,
        }
    }
}

impl Resolution {
    /// A result without a correction and without candidates.
    pub fn new(status: Status, id_types: Vec<IdType>, hits: Vec<Hit>) -> Self {
        Self {
            status,
            id_types,
            hits,
            correction: None,
            is_name_like: false,
            candidates: Vec::new(),
            past: Vec::new(),
            formerly: Vec::new(),
            is_beyond_rows: false,
        }
    }

    /// The former row of the identifier as a text, for a reason.
    fn was(&self) -> String {
        let Some(past) = self.past.first() else { return String::new() };
        // The value of a row that is still the same is blank now.
        let text = match past.valid_to {
            Some(until) => format!("it was of {} until {until}", past.figi),
            None => format!("it was of {}, which has no such value now", past.figi),
        };
        match &self.status {
            Status::Gone => format!("{text}, which is not there any more"),
            _ => text,
        }
    }

    /// The reason why no row was chosen, with the correction, as a text for people. Empty when a
    /// row was chosen.
    pub fn reason(&self) -> Cow<'_, str> {
        let reason = match &self.status {
            Status::Resolved(_) => "",
            Status::Ambiguous(_) if self.is_name_like => NAME_LIKE,
            Status::Ambiguous(matches) if self.id_types.len() < 2 => {
                return format!("{matches} rows may be meant").into();
            }
            Status::Ambiguous(_) => {
                let names: Vec<_> = self.id_types.iter().map(|id_type| id_type.name()).collect();
                return format!("different securities as {}", names.join(" and ")).into();
            }
            Status::Unknown => "not found",
            Status::Invalid(reason) => reason,
            Status::Historical | Status::Gone => return self.was().into(),
            Status::Uncertain => {
                "the rows before and after that day differ, and none was observed on it"
            }
            Status::OutOfCoverage(Coverage { since, until }) => {
                return format!("the past that could answer is from {since} to {until}").into();
            }
        };
        match &self.correction {
            Some(correction) => format!("{reason}; did you mean {correction}?").into(),
            None => Cow::Borrowed(reason),
        }
    }
}
