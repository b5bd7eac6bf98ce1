//! A cell of a row.

/// The value of a row in one column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell<'a> {
    /// The row has no such cell, or it is null.
    Absent,
    /// A text, or a number as it is spelled. It may not be UTF-8.
    Text(&'a [u8]),
    /// An object or an array, or a text that is not a sequence of characters.
    Nested,
}
