//! The engine room: the only code that knows which engine answers.

pub(crate) mod copy;
mod which;

pub use self::which::Engine;
