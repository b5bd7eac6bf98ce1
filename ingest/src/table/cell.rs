//! A cell of a row.

/// The value of a row in one column, as the table spells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RawCell<'a> {
    /// The row has no such cell, or it is null.
    Absent,
    /// A text, which may not be UTF-8; of JSON also `true` and `false`.
    Text(&'a [u8]),
    /// A number of JSON or Parquet, as it is spelled.
    Number(&'a [u8]),
    /// An object or an array, or a text that is not a sequence of characters.
    Nested,
}
