//! The rows that an answer names.

use std::borrow::Cow;

use figdex_index::{Catalogue, Fetched, Hit, Row, RowSource};

/// The rows of an answer, wherever they are.
#[derive(Clone, Copy)]
pub(crate) enum FoundRows<'a> {
    /// In the index on this machine.
    Here(&'a Catalogue),
    /// Fetched from a cluster for this answer.
    Fetched(&'a Fetched),
}

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
