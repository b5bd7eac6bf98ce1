//! From a dump file to HTTP bytes: one binary over the real server, the real
//! index and the real command.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod abuse;
mod admin;
mod api;
mod citations;
mod crash;
mod formats;
mod ingest;
mod operate;
mod outputs;
mod packaging;
mod plans;
mod process;
mod quick_start;
mod reconfigure;
mod recorded;
mod relevance;
mod reload;
mod settings;
mod support;
mod terminal;
mod tls;
mod unix_socket;
