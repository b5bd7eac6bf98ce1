//! Rows of the past, for lists: what an identifier meant, and on which days.

use crate::instrument::Instrument;
use crate::instrument::date::Date;
use crate::instrument::figi::Figi;
use crate::part::rows::{Field, FieldValue};
use crate::search::{Hit, RowSource};

/// The basis of an answer about the past.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// The row was observed so.
    Observed,
    /// The row was observed, but with a value that was only learned later.
    Assumed,
    /// The operator's files state it.
    Stated,
}

impl Basis {
    /// The name in answers.
    pub fn name(self) -> &'static str {
        match self {
            Self::Observed => "observed",
            Self::Assumed => "assumed",
            Self::Stated => "stated",
        }
    }

    /// The basis with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Observed, Self::Assumed, Self::Stated].into_iter().find(|one| one.name() == name)
    }
}

/// A row as it was.
#[derive(Clone, Debug, PartialEq)]
pub struct PastRow {
    /// The FIGI.
    pub figi: Figi,
    /// The row.
    pub row: WasRow,
    /// The first day on which it was observed so, or is stated to have been; `None` when it is
    /// stated without one.
    pub valid_from: Option<Date>,
    /// The last day on which it was observed so, or is stated to have been; `None` when it still is,
    /// and when it is stated without one.
    pub valid_to: Option<Date>,
    /// The basis of the answer.
    pub basis: Basis,
    /// The row of the same FIGI now.
    pub today: Option<Hit>,
    /// The instrument that took its place, if the operator's files state one.
    pub successor: Option<Figi>,
}

/// A row as it was: those of its columns that a past has.
#[derive(Clone, Debug, PartialEq)]
pub enum WasRow {
    /// It is so today.
    AsToday(Hit),
    /// It has changed since.
    Then(Box<Instrument>),
}

impl WasRow {
    /// The value of a field; `None` where unknown. `rows` are those of today.
    pub fn value<'a>(&'a self, rows: &'a impl RowSource, field: Field) -> Option<FieldValue<'a>> {
        match self {
            Self::AsToday(hit) => rows.row(*hit).value(field).filter(|_| field.has_past()),
            Self::Then(image) => image.field(field),
        }
    }
}

/// The days that a past covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coverage {
    /// The first day.
    pub since: Date,
    /// The last day.
    pub until: Date,
}
