//! Plain HTTP, without a word of Figdex: other origins, compression, answers in pieces, and lists
//! with qualities in headers.

pub mod cors;
pub(crate) mod encoding;
pub(crate) mod pieces;
pub(crate) mod weighted;
