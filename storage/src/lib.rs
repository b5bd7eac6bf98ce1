//! Published generations of an index in object storage, for servers on many machines. A publisher
//! sends the missing pieces and moves the pointer. Each server copies the generation of the pointer
//! into its own folder, and serves that.
//!
//! - `names`, `layout`, `pieces` and `contents`: names and documents in the storage;
//! - `store`: objects that are read, written, listed and removed as a whole;
//! - `lease`: one publisher at a time, without conditional requests;
//! - `publish` and `prune`: adding a generation, and removing old ones;
//! - `follow`: the copy of a server;
//! - `changes`: the change files that are published with a generation;
//! - `replicas`: the notes of servers about the generation that each serves.

mod changes;
mod contents;
#[doc(hidden)]
pub mod documents;
mod error;
mod follow;
mod layout;
mod lease;
mod names;
mod patch;
mod patches;
mod pieces;
mod prune;
mod publish;
mod replicas;
mod state;
mod store;
#[cfg(test)]
mod tests;
mod verify;

pub use self::error::{Error, Result};
pub use self::follow::{Copied, Look, Replica};
pub use self::prune::{PublishOptions, rollback};
pub use self::publish::{Published, publish};
pub use self::replicas::{Noted, Replicas, Said};
pub use self::state::{FollowState, Following};
pub use self::store::{Answer, Body, Listed, Objects, StorageSettings, Store};
pub use self::verify::{Overview, Verified, overview, verify};
