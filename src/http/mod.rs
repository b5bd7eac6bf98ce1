//! HTTP apart from the endpoints: other origins, compression, answers in pieces, and header lists
//! with qualities.

pub mod cors;
pub(crate) mod encoding;
pub(crate) mod pieces;
pub(crate) mod weighted;
