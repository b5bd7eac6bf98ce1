//! The program `figdex-ingest`: builds, formats of dumps, commands about an index, and the files
//! that it writes.

mod build;
mod crash;
mod formats;
mod operate;
mod outputs;
