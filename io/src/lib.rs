//! Text for people, files and addresses, as both programs print, write and read them. This crate
//! knows neither the index nor the formats of dumps.
//!
//! `terminal` prints text for people, `printable` escapes what such a text quotes, and `numbers`
//! writes numbers in it. `files` protects the files that a command reads from the files that it
//! writes. `address` says where an index is: in a folder, in a cluster or in object storage.
//! `owner` determines the owner of the files that root writes. `layout` names the layouts of a
//! dump, and `hex` writes bytes as text.

#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

mod address;
mod files;
mod hex;
mod layout;
mod numbers;
mod owner;
mod printable;
pub mod terminal;

pub use crate::address::{
    Address, AddressError, ClusterAddress, ClusterHost, Storage, StorageAddress,
};
pub use crate::files::{Files, NewFile, Output, OutputError};
pub use crate::hex::{hex, unhex};
pub use crate::layout::{Layout, RowLayout};
pub use crate::numbers::{Size, grouped};
pub use crate::owner::{Owner, SharedFolder};
pub use crate::printable::{
    Escaped, escaped, escaped_lines, escaped_path, is_hidden, is_plain, masked, masked_words,
};
