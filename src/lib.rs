//! The Figdex server: the only code that knows HTTP.
//!
//! The file list is the chapter list of the contract: `routes` are its endpoints,
//! `wire` its resources, then `version`, `limits` and `error`. `call` and `gate`
//! are what a request is and what it passes first. [`service`] is the whole server
//! as one value, [`serve`] puts it on a socket.

mod call;
pub mod config;
mod cursor;
pub mod error;
mod gate;
pub mod limits;
mod openapi;
mod routes;
mod serve;
mod state;
pub mod version;
mod wire;

pub use routes::service;
pub use serve::serve;
pub use state::State;
