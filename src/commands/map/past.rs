//! The added columns that say what the past knows of a row.

use figdex_index::{Basis, Status};

use super::answerer::{Answer, RowPast};
use crate::config::map::Many;

/// A column of the past.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PastCell {
    FormerFigi,
    TodayFigi,
    ValidFrom,
    ValidTo,
    Basis,
    SuccessorFigi,
}

impl PastCell {
    /// The columns for an index with a past. A terminal has room for the FIGI only: the reason has
    /// the last day.
    pub(super) fn of(is_as_of: bool, is_screen: bool) -> &'static [Self] {
        use PastCell::{Basis, FormerFigi, SuccessorFigi, TodayFigi, ValidFrom, ValidTo};
        match (is_as_of, is_screen) {
            (false, true) => &[FormerFigi],
            (true, true) => &[],
            (false, false) => &[FormerFigi, TodayFigi, ValidFrom, ValidTo, Basis, SuccessorFigi],
            (true, false) => &[TodayFigi, ValidFrom, ValidTo, Basis, SuccessorFigi],
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::FormerFigi => "formerFigi",
            Self::TodayFigi => "todayFigi",
            Self::ValidFrom => "validFrom",
            Self::ValidTo => "validTo",
            Self::Basis => "basis",
            Self::SuccessorFigi => "successorFigi",
        }
    }

    /// The text of the cell; `None` if it is blank. It has no character that JSON escapes.
    pub(super) fn text(self, past: &RowPast) -> Option<String> {
        match self {
            Self::FormerFigi => Some(past.figi.to_string()),
            Self::TodayFigi => past.today.map(|figi| figi.to_string()),
            Self::ValidFrom => past.valid_from.map(|day| day.to_string()),
            Self::ValidTo => past.valid_to.map(|day| day.to_string()),
            Self::Basis => past.basis.map(Basis::name).map(str::to_owned),
            Self::SuccessorFigi => past.successor.map(|figi| figi.to_string()),
        }
    }
}

/// The past of the rows that are written for an answer. If several rows may be meant, they are
/// written only if all are asked for.
pub(super) fn shown<R>(answer: &Answer<R>, many: Many) -> &[RowPast] {
    match (&answer.resolution.status, many) {
        (Status::Ambiguous(_) | Status::Uncertain, Many::None) => &[],
        _ => &answer.past,
    }
}
