//! The Figdex server: the only code that knows HTTP.
//!
//! The file list is the chapter list of the contract: `routes` are its endpoints,
//! `wire` its resources, then `version`, `auth`, `limits` and `error`. `call` and
//! `gate` are what a request is and what it passes first, `encoding` and `cors` what
//! its answer is dressed in, `page` the page for people; `observe` looks on and tells the
//! `log` and the `metrics` of it. [`service`] is the whole server as one value, [`serve`]
//! puts it on a socket, with `tls` if it is to be encrypted; `reload` takes up what is
//! published meanwhile, and `reconfigure` the settings that changed. `budget` and `turns` bound what all requests together take.

#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

pub mod auth;
mod caller;
mod capacity;
pub mod commands;
pub mod config;
pub mod cors;
mod encoding;
pub mod error;
mod gate;
pub mod limits;
mod observe;
mod openapi;
mod pieces;
pub mod reload;
mod request;
mod routes;
mod serve;
mod site;
mod stamp;
mod state;
pub mod version;
mod weighted;
mod wire;

pub use crate::caller::Peer;
pub use crate::observe::log::{Log, LogFormat};
pub use crate::observe::{Observed, Observer};
pub use crate::routes::{admin, public, service};
pub use crate::serve::bounds::ConnectionBounds;
pub use crate::serve::{Listen, Listener, serve, serve_connection};
pub use crate::state::State;
