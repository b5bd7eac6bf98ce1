//! The callers and their rights: API keys, rates and bounds, versions, and the errors that refuse a
//! whole request.

pub mod auth;
mod caller;
pub mod error;
pub mod limits;
pub mod version;

pub use self::caller::Peer;
pub(crate) use self::caller::{Caller, Digest, KeyId};
