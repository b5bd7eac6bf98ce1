//! A cell of a row.

/// The value of a row in one column, as the table spells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RawCell<'a> {
    /// The row has no such cell, or the cell is null.
    Absent,
    /// A text, which may not be UTF-8; in JSON also `true` and `false`.
    Text(&'a [u8]),
    /// A number of JSON or Parquet, in its original spelling.
    Number(&'a [u8]),
    /// An object, an array, or a text that is not valid Unicode.
    Nested,
}
