//! The Figdex server: the only code that knows HTTP.
//!
//! The file list is the chapter list of the contract: `routes` are its endpoints,
//! `wire` its resources, then `version`, `auth`, `limits` and `error`. `call` and
//! `gate` are what a request is and what it passes first, `encoding` and `cors` what
//! its answer is dressed in, `page` the page for people. [`service`] is the whole server as one value, [`serve`]
//! puts it on a socket, `reload` takes up what is published meanwhile, and `reconfigure`
//! the settings that changed.

pub mod auth;
mod call;
pub mod config;
pub mod cors;
mod cursor;
mod encoding;
pub mod error;
mod gate;
pub mod limits;
mod openapi;
mod page;
pub mod reconfigure;
pub mod reload;
mod routes;
mod serve;
mod state;
mod turns;
pub mod version;
mod wire;

pub use call::Peer;
pub use routes::{admin, public, service};
pub use serve::{Connections, serve};
pub use state::State;
