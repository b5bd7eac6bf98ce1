//! A question carried out over one part: which rows match, how many there are, and in which order.

pub(crate) mod best;
pub(crate) mod conditions;
pub(crate) mod matches;
pub(crate) mod plan;
pub(crate) mod positions;
pub(crate) mod row_set;
mod selection;
pub(crate) mod whole_text;

use crate::error::{Error, Result};
use crate::part::Part;
use crate::part::rows::Row;

/// A row that answers a question: its part and its DocId there.
///
/// Hits ascend as their FIGIs do. A hit means nothing to another catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hit {
    pub(crate) part: u32,
    pub(crate) doc: u32,
}

impl Hit {
    /// The row, in the parts of the hit's own catalogue.
    pub(crate) fn row(self, parts: &[Part]) -> Row<'_> {
        parts[self.part as usize].rows.get(self.doc)
    }
}

/// A page of hits in the order of the question, and the place of the last one if
/// more follow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<P> {
    /// The hits, at most as many as were asked for.
    pub hits: Vec<Hit>,
    /// Where the next page begins: after this.
    pub next: Option<P>,
}

/// An answer, or `None` when it takes more than its meter allows.
pub(crate) fn unless_more<T>(answer: Result<T>) -> Result<Option<T>> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(Error::TakesMore(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// More rows match than the caller wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("more than {hits_max} instruments match")]
pub struct TooManyHits {
    /// The line that was crossed.
    pub hits_max: usize,
}
