//! The reasons why a row is rejected.

use figdex_index::FigiError;

/// The reason why a row is rejected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Reject {
    /// The number of cells differs from that of the header.
    #[error("found {found} cells, but the header has {header}")]
    Cells { found: usize, header: usize },
    /// Without a header: there are fewer cells than the format uses.
    #[error("found {found} cells, but the format uses {used}")]
    FewCells { found: usize, used: usize },
    /// The bytes are not valid text.
    #[error("not UTF-8")]
    NotUtf8,
    /// A JSON object with a syntax error.
    #[error("not JSON: {what} at byte {byte}")]
    NotJson { byte: usize, what: String },
    /// A JSON array instead of an object.
    #[error("a JSON array, not an object")]
    Array,
    /// Another JSON value, or not JSON.
    #[error("not a JSON object")]
    NotAnObject,
    /// The required column `figi` is blank.
    #[error("no figi")]
    NoFigi,
    /// An `--enrich` row without a key to match it to instruments.
    #[error("no key: expected figi, ID_ISIN, ID_CUSIP, or exchCode with ticker")]
    NoKey,
    /// A `--names` row with a wrong name, kind or day.
    #[error("wrong name: {0}")]
    Name(&'static str),
    /// The cell of the FIGI is not a plain value.
    #[error("wrong figi: {0}")]
    FigiCell(&'static str),
    /// The FIGI is invalid.
    #[error("wrong figi: {0}")]
    Figi(FigiError),
}

impl Reject {
    /// The general reason, without the details of the row. The report counts the rows by this
    /// reason. In its JSON form, the reason is a stable key.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Cells { .. } => "not as many cells as the header",
            Self::FewCells { .. } => "not as many cells as its format asks for",
            Self::NotUtf8 => "not UTF-8",
            Self::NotJson { .. } => "not JSON",
            Self::Array => "a JSON array, not an object",
            Self::NotAnObject => "not a JSON object",
            Self::NoFigi => "no figi",
            Self::NoKey => {
                "neither figi, ID_ISIN, ID_CUSIP nor shareClassFIGI, nor exchCode with ticker"
            }
            Self::Name(reason) => reason,
            Self::FigiCell(_) => "wrong figi: not a plain value",
            Self::Figi(FigiError::Length) => "wrong figi: not 12 characters",
            Self::Figi(FigiError::Alphabet) => "wrong figi: characters",
            Self::Figi(FigiError::CheckDigit) => "wrong figi: check digit",
        }
    }
}
