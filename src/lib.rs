//! The Figdex server: the only crate that serves HTTP. [`service`] is the whole server as one
//! value, and [`serve`] answers connections with it.
//!
//! Imports go down this list only, never up:
//!
//! | files | task |
//! |---|---|
//! | `main`, `commands` | the command line, and the commands, a file each |
//! | `routes` | the paths, a file for each endpoint; `service` is made here |
//! | `mcp` | tools for assistants, which ask the routes (cargo feature `mcp`) |
//! | `gate` | the checks before an endpoint, reading the body, and the answer in JSON |
//! | `site` | the files of the page for people |
//! | `reload` | a new index, and changed settings, while the server runs |
//! | `wire` | the JSON of requests and answers, a file for each shape of `docs/contract.md` |
//! | `openapi` | the same shapes as a document, for `GET /schema` |
//! | `state` | all that requests share |
//! | `engine` | which engine answers a question, and when its work waits |
//! | `config` | flags, environment and file, resolved to settings |
//! | `serve` | connections: accepting, TLS, timeouts and bounds |
//! | `http` | plain HTTP: other origins, compression, answers in pieces, qualities in headers |
//! | `capacity` | the threads for heavy work, and the memory of bodies and answers |
//! | `observe` | the log and the metrics |
//! | `request` | the request that is being answered |
//! | `callers` | callers and their rights: keys, rates, bounds, versions, the errors of a request |
//! | `seen` | whether a watched file has changed |

#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

pub mod callers;
mod capacity;
pub mod commands;
pub mod config;
mod engine;
mod gate;
pub mod http;
#[cfg(feature = "mcp")]
mod mcp;
mod observe;
mod openapi;
pub mod reload;
mod request;
mod routes;
mod seen;
mod serve;
mod site;
mod state;
mod wire;

pub use crate::callers::Peer;
pub use crate::engine::Engine;
pub use crate::observe::log::{Log, LogFormat};
pub use crate::observe::{Observed, Observer};
pub use crate::routes::{admin, public, service};
pub use crate::serve::bounds::ConnectionBounds;
pub use crate::serve::{Listen, Listener, serve, serve_connection};
pub use crate::state::State;
