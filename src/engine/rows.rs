//! The rows that an answer names.

use std::borrow::Cow;

use figdex_index::{Catalogue, Crosswalk, Error, Fetched, Hit, ListColumns, Meter, Row, RowSource};

/// The rows of an answer, wherever they are.
#[derive(Clone, Copy)]
pub(crate) enum FoundRows<'a> {
    /// In the index on this machine.
    Here(&'a Catalogue),
    /// Fetched from a cluster for this answer.
    Fetched(&'a Fetched),
}

impl FoundRows<'_> {
    /// The identifiers and symbols of some rows (contract 21).
    ///
    /// # Errors
    /// [`Error::TakesMore`] when that takes more work than the meter allows; when the index cannot
    /// be read.
    pub(crate) fn crosswalk(
        &self,
        hits: &[Hit],
        columns: ListColumns<'_>,
        meter: &Meter,
    ) -> Result<Crosswalk, Error> {
        match self {
            Self::Here(index) => index.crosswalk(hits, columns, meter),
            Self::Fetched(rows) => {
                meter.charge(FETCHED_UNITS * hits.len() as u64)?;
                Ok(rows.crosswalk(hits, columns))
            }
        }
    }
}

/// The units of work of reading the identifiers of a row that was fetched from a cluster.
const FETCHED_UNITS: u64 = 500;

impl RowSource for FoundRows<'_> {
    fn row(&self, hit: Hit) -> Row<'_> {
        match self {
            Self::Here(index) => index.row(hit),
            Self::Fetched(rows) => rows.row(hit),
        }
    }

    fn mic_code(&self, hit: Hit) -> Option<Cow<'_, str>> {
        match self {
            Self::Here(index) => index.mic_code(hit),
            Self::Fetched(rows) => rows.mic_code(hit),
        }
    }

    fn is_best_listing(&self, hit: Hit) -> bool {
        match self {
            Self::Here(index) => index.is_best_listing(hit),
            Self::Fetched(rows) => rows.is_best_listing(hit),
        }
    }

    fn read_ahead(&self, hits: &[Hit]) {
        if let Self::Here(index) = self {
            index.read_ahead(hits);
        }
    }
}
