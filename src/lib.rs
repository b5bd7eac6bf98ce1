//! The Figdex server: the only crate that knows HTTP. [`service`] is the whole server as one value,
//! and [`serve`] answers connections with it.
//!
//! Imports go down this list only, never up:
//!
//! | files | task |
//! |---|---|
//! | `main`, `commands` | reading the command line, and carrying out `serve`, `config`, `explain` and `keys` |
//! | `routes` | the paths, a file for each endpoint; `service` is made here |
//! | `gate` | the checks before an endpoint, reading the body, and the answer in JSON |
//! | `site` | the files of the page for people |
//! | `reload` | a new index, and changed settings, while the server runs |
//! | `wire` | the JSON of requests and answers, a file for each shape of `docs/contract.md` |
//! | `openapi` | the same shapes as a document, for `GET /schema` |
//! | `state` | all that requests share |
//! | `config` | flags, environment and file, resolved to settings |
//! | `serve` | connections: accepting, TLS, timeouts and bounds |
//! | `capacity` | the threads for heavy work, and the memory of bodies and answers |
//! | `auth` | API keys |
//! | `observe` | the log and the metrics |
//! | `error` | the errors that refuse a whole request, with their statuses |
//! | `encoding`, `pieces`, `weighted` | gzip, answers in pieces, lists with qualities in headers |
//! | `request`, `limits` | the request that is being answered; rates and bounds |
//! | `version`, `cors`, `stamp`, `caller` | versions, other origins, stamps of watched files, callers |
//! | `standing` | the facts about a copy of an index in object storage |

#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

pub mod auth;
mod caller;
mod capacity;
pub mod commands;
pub mod config;
pub mod cors;
mod encoding;
mod engine;
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
mod standing;
mod state;
pub mod version;
mod weighted;
mod wire;

pub use crate::caller::Peer;
pub use crate::engine::Engine;
pub use crate::observe::log::{Log, LogFormat};
pub use crate::observe::{Observed, Observer};
pub use crate::routes::{admin, public, service};
pub use crate::serve::bounds::ConnectionBounds;
pub use crate::serve::{Listen, Listener, serve, serve_connection};
pub use crate::state::State;
