//! From an identifier that somebody wrote to the one row that is meant: for lists, where a person
//! asks "which one is mine?" (contract 17).
//!
//! 1. [`recognise`] finds the readings of a text: the identifiers that it may be, by its form.
//!    [`finding`] names the fault of a text that nearly is one. [`column`] recognises a whole
//!    column.
//! 2. The caller looks up all readings. This folder does not: keys go out, rows come in, so that
//!    it serves any engine. [`resolver`] says which bounds hold, and takes what was found.
//! 3. [`policy`] holds the steps that the caller states, in order. Each keeps the rows that fit, if
//!    any fit.
//! 4. [`decide`] says what came of it: one row, several, or none. For what was not found,
//!    [`correction`] lists the identifiers that are one slip away. [`resolution`] is the result.
//!
//! Nothing is chosen that no step asked for.

pub(crate) mod column;
pub(crate) mod correction;
pub(crate) mod decide;
pub(crate) mod finding;
pub(crate) mod policy;
pub(crate) mod question;
pub(crate) mod recognise;
pub(crate) mod resolution;
pub(crate) mod resolver;
