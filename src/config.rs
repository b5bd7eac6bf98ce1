//! Flags as typed. What a flag means is said once, in its help.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

/// Where the index lies when no flag says so.
pub const DEFAULT_INDEX: &str = "data/index";

/// What the operator chose, resolved: how the server answers.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// `--search-envelope`
    pub search_envelope: SearchEnvelope,
    /// `--unknown-enum`
    pub unknown_enum: UnknownEnum,
}

/// What a search or filter answer is wrapped in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SearchEnvelope {
    /// One JSON object, as every known client expects.
    #[default]
    Object,
    /// An array of that one object, as the public service's schema says.
    Array,
}

/// What becomes of an enum-like field outside its allowed set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnknownEnum {
    /// The request is refused: 400 `Invalid enum field.`
    #[default]
    Reject,
    /// It finds nothing.
    NoMatch,
}

/// Finds financial instruments: maps identifiers to FIGIs over HTTP.
#[derive(Debug, Parser)]
#[command(version, args_conflicts_with_subcommands = true)]
pub struct Flags {
    /// What to do; without one, `serve`.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// Flags of `serve`, which may be left out.
    #[command(flatten)]
    pub serve: ServeFlags,
}

/// The commands of the server program.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve an index (the default)
    Serve(ServeFlags),
}

/// Flags of `figdex serve`.
#[derive(Debug, Args)]
pub struct ServeFlags {
    /// The folder of the index; when it is not given and not there, one is built from
    /// the bundled sample [default: data/index]
    #[arg(long, env = "FIGDEX_INDEX", value_name = "DIR")]
    pub index: Option<PathBuf>,
    /// The address to listen on
    #[arg(long, env = "FIGDEX_LISTEN", value_name = "ADDR", default_value = "127.0.0.1:8080")]
    pub listen: SocketAddr,
}

impl Flags {
    /// The flags of `serve`, said with the command's name or without.
    pub fn into_serve(self) -> ServeFlags {
        match self.command {
            Some(Command::Serve(flags)) => flags,
            None => self.serve,
        }
    }
}
