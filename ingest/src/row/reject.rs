//! The reasons for which a row, or a cell of it, is not taken.

use figdex_index::FigiError;

/// Why a row is no instrument.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Reject {
    /// The record has not the cells that the header announced.
    #[error("it has {found} cells, the header has {header}")]
    Cells { found: usize, header: usize },
    /// Without a header, the record has not the cells that its format asks for.
    #[error("it has {found} cells, its format asks for {asked}")]
    FewCells { found: usize, asked: usize },
    /// Its bytes are no text.
    #[error("it is not UTF-8")]
    NotUtf8,
    /// A line that starts as a JSON object and is none.
    #[error("not JSON: {what} at byte {byte}")]
    NotJson { byte: usize, what: String },
    /// A line that is a JSON array.
    #[error("a JSON array, not an object")]
    Array,
    /// A line that is something else.
    #[error("not a JSON object")]
    NotAnObject,
    /// No value in the one column that is required.
    #[error("it has no figi")]
    NoFigi,
    /// Nothing by which a row to enrich with could find its instruments.
    #[error("it has neither figi, ID_ISIN nor ID_CUSIP, nor exchCode with ticker")]
    NoKey,
    /// The FIGI is no plain value.
    #[error("wrong figi: {0}")]
    FigiCell(&'static str),
    /// The FIGI is none.
    #[error("wrong figi: {0}")]
    Figi(FigiError),
}

impl Reject {
    /// The reason without what is particular to the row: there are few of these,
    /// and the report counts by them.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Cells { .. } => "not as many cells as the header",
            Self::FewCells { .. } => "not as many cells as its format asks for",
            Self::NotUtf8 => "not UTF-8",
            Self::NotJson { .. } => "not JSON",
            Self::Array => "a JSON array, not an object",
            Self::NotAnObject => "not a JSON object",
            Self::NoFigi => "no figi",
            Self::NoKey => "neither figi, ID_ISIN nor ID_CUSIP, nor exchCode with ticker",
            Self::FigiCell(_) => "wrong figi: not a plain value",
            Self::Figi(FigiError::Length) => "wrong figi: not 12 characters",
            Self::Figi(FigiError::Alphabet) => "wrong figi: characters",
            Self::Figi(FigiError::CheckDigit) => "wrong figi: check digit",
        }
    }
}
