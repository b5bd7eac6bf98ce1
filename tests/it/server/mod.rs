//! The program `figdex`: its settings, its addresses, its log, and changes while it runs.

mod admin;
mod builds;
mod configuration;
mod log;
mod opening;
mod passed_sockets;
mod ready;
mod reload_index;
mod reload_settings;
mod scrub;
mod settings;
mod tls;
mod unix_socket;
