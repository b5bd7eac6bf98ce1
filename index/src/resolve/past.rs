//! Rows of the past, for lists: what an identifier meant, and on which days.

use std::borrow::Cow;

use crate::instrument::Instrument;
use crate::instrument::date::Date;
use crate::instrument::figi::Figi;
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
    /// The row, with the columns that answers show. `rows` are those of today.
    pub fn image<'a>(&'a self, rows: &impl RowSource) -> Cow<'a, Instrument> {
        match self {
            Self::Then(image) => Cow::Borrowed(image),
            Self::AsToday(hit) => {
                let row = rows.row(*hit);
                let mut image = Instrument::new(row.figi());
                image.complete(&row);
                // The past does not have these.
                let (metadata, unique_id, unique_id_fut_opt) = (None, None, None);
                Cow::Owned(Instrument { metadata, unique_id, unique_id_fut_opt, ..image })
            }
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
