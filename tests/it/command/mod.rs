//! The program `figdex-ingest`.

mod build;
mod crash;
mod formats;
mod operate;
mod outputs;
