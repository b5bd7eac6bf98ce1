//! The commands of the program, one file each.

mod after_publish;
pub(crate) mod build;
mod cluster;
pub(crate) mod diff;
pub(crate) mod export;
pub(crate) mod generate;
pub(crate) mod inspect;
pub(crate) mod lists;
mod out;
pub(crate) mod publish;
pub(crate) mod rollback;
mod storage;
pub(crate) mod verify;
