//! The answer to a search over one part: the matching rows, their number and their order.
//!
//! A question passes through these files in this order:
//!
//! 1. [`plan`] decides, before any row is read, which source drives (the posting lists of words, or
//!    the bitmaps of filters), what is verified for each row, and how rows are counted. For a
//!    question with words, [`whole_text`] looks up whether the whole text is an identifier.
//! 2. [`conditions`] looks up the filters in the part, so that they can be verified row by row.
//! 3. [`selection`] combines the same conditions for blocks of rows, where filters drive.
//! 4. [`mod@matches`] executes the plan: it yields the matching rows, in FIGI order. A page of a
//!    filter and a count end here.
//! 5. [`best`] finds the first rows in the order of a search. It reads posting lists in the order
//!    of ranks ([`positions`]) when many rows match; [`prepared`] opens them. [`named`] finds the
//!    company that a one-word text names.
//!
//! [`facets`] counts the values of the matching rows instead: for example, the rows of each
//! currency.
//!
//! [`best_listing`] finds the row that stands for a security, for suggestions.
//!
//! [`row_set`] is the set of rows that these files pass to each other. The catalogue joins the
//! answers of the parts.

pub(crate) mod best;
pub(crate) mod best_listing;
pub(crate) mod conditions;
pub(crate) mod facets;
pub(crate) mod matches;
pub(crate) mod named;
pub(crate) mod plan;
pub(crate) mod positions;
pub(crate) mod prepared;
pub(crate) mod row_set;
mod selection;
pub(crate) mod whole_text;

use std::borrow::Cow;

use crate::error::{Error, Result};
use crate::instrument::figi::Figi;
use crate::part::Part;
use crate::part::rows::Row;

/// A matching row of a question: its part and its DocId there.
///
/// Hits are ordered by FIGI. A hit is valid only in the catalogue that returned it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hit {
    pub(crate) part: u32,
    pub(crate) doc: u32,
}

impl Hit {
    /// The row. `parts` are those of the catalogue that returned the hit.
    pub(crate) fn row(self, parts: &[Part]) -> Row<'_> {
        parts[self.part as usize].rows.get(self.doc)
    }
}

/// The source of the rows that hits refer to: an index, or the rows that were fetched for an
/// answer.
pub trait RowSource {
    /// The row of a hit.
    ///
    /// # Panics
    /// When another source returned the hit.
    fn row(&self, hit: Hit) -> Row<'_>;

    /// The market segment of a row.
    ///
    /// # Panics
    /// When another source returned the hit.
    fn mic_code(&self, hit: Hit) -> Option<Cow<'_, str>>;

    /// Whether a row is the best listing of its security (contract 16.15).
    ///
    /// # Panics
    /// When another source returned the hit.
    fn is_best_listing(&self, hit: Hit) -> bool;

    /// Prepares for reading the rows of these hits soon. No answer changes.
    fn read_ahead(&self, _hits: &[Hit]) {}

    /// The FIGI of a hit.
    ///
    /// # Panics
    /// When another source returned the hit.
    fn figi(&self, hit: Hit) -> Figi {
        self.row(hit).figi()
    }
}

/// A page of hits, in the requested order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<P> {
    /// The hits, at most as many as requested.
    pub hits: Vec<Hit>,
    /// The place of the last hit, where the next page continues; `None` on the last page.
    pub next: Option<P>,
}

/// Turns an answer that takes more work than its meter allows into `None`.
pub(crate) fn unless_more<T>(answer: Result<T>) -> Result<Option<T>> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(Error::TakesMore(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// More rows match than the caller allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("more than {hits_max} instruments match")]
pub struct TooManyHits {
    /// The number of rows that the caller allows.
    pub hits_max: usize,
}
