//! Finds the one row that a written identifier means: for lists, whose users ask "which one is
//! mine?" (contract 17).
//!
//! 1. [`trimmed`] takes away the quoting around an identifier. [`recognise`] finds the readings of a
//!    text: the identifiers that its form allows; [`option_symbol`] those of options, [`spaced`]
//!    those in groups or among other words. [`finding`] names the
//!    fault of a text that is almost an identifier. [`column`] recognises a whole column, and
//!    [`footer`] the words of its last rows.
//! 2. The caller looks up all readings. This folder makes no lookups: keys go out and rows come in,
//!    so it serves any engine. [`resolver`] gives the bounds, and takes the rows that were found.
//! 3. [`policy`] holds the caller's steps, in order. Each step keeps the rows that fit, if any fit.
//! 4. [`decide`] gives the outcome: one row, several, or none. For an identifier that was not
//!    found, [`correction`] lists the identifiers that are one slip away. [`name_like`] doubts a
//!    name that was found as a ticker. [`resolution`] is the result, and [`mod@past`] a row as it was.
//! 5. [`crosswalk`] has the columns of an answer: fields, identifiers, and symbols of vendors.
//!
//! Among several rows, none is chosen unless a step asks for it.

pub(crate) mod column;
pub(crate) mod correction;
pub(crate) mod crosswalk;
pub(crate) mod decide;
pub(crate) mod finding;
pub(crate) mod footer;
pub(crate) mod name_like;
mod option_symbol;
pub(crate) mod past;
pub(crate) mod policy;
pub(crate) mod question;
pub(crate) mod recognise;
pub(crate) mod resolution;
pub(crate) mod resolver;
pub(crate) mod spaced;
pub(crate) mod trimmed;
