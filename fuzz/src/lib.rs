//! The code that fuzz targets share: an index, a server, a client and a reader of dumps. Each
//! target asserts what must hold for one kind of input.

pub mod connection;
pub mod dump;
pub mod index;
pub mod questions;
pub mod server;
