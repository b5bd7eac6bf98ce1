//! An index of Figdex in an OpenSearch cluster. Instruments are documents there, and the questions
//! of `figdex-index` get the same answers.

#![forbid(unsafe_code)]

pub mod client;
#[cfg(test)]
mod cluster_of_tests;
mod contents;
mod error;
mod generation;
mod names;
mod patience;
mod probe;
mod publish;
mod question;
mod schema;
mod settings;

pub use self::contents::Extent;
pub use self::error::{Error, Result};
pub use self::generation::{ClusterPublication, Generation};
pub use self::publish::{PATIENCE, PublishOptions, Published, publish, rollback};
pub use self::question::{Located, LookupBounds};
pub use self::schema::Division;
