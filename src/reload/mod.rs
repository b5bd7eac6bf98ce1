//! Changes that a running server applies: a newly published index, and changed settings.

pub(crate) mod cluster;
pub mod index;
pub(crate) mod scrub;
pub(crate) mod settings;
pub(crate) mod storage;
