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
mod budget;
mod call;
pub mod config;
pub mod cors;
mod cursor;
pub mod descriptors;
mod encoding;
pub mod error;
mod gate;
pub mod limits;
pub mod log;
mod metrics;
mod observe;
mod openapi;
mod page;
pub mod reconfigure;
pub mod reload;
mod request;
mod routes;
mod serve;
mod stamp;
mod state;
pub mod tls;
mod turns;
pub mod version;
mod weighted;
mod wire;

pub use call::Peer;
pub use observe::{Observed, Observer};
pub use routes::{admin, public, service};
pub use serve::{Connections, Listen, Listener, serve, serve_connection};
pub use state::State;
