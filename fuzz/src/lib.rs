//! What the fuzz targets have in common. A target knows what must hold of one kind of
//! input; here is what it holds it against.

pub mod connection;
pub mod dump;
pub mod index;
pub mod questions;
pub mod server;
