//! HTTP apart from the endpoints: other origins, compression, answers in pieces, header lists
//! with qualities, and the conditions and ranges of files.

pub mod cors;
pub(crate) mod encoding;
pub(crate) mod pieces;
pub(crate) mod ranges;
pub(crate) mod weighted;
