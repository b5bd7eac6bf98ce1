//! The flags of `figdex mcp`.

use std::path::PathBuf;

use clap::Args;

use super::DEFAULT_INDEX;
use super::map::{Url, UrlParser};

/// Flags of `figdex mcp`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub struct McpFlags {
    /// Folder of the index
    #[arg(long, value_name = "DIR", conflicts_with = "url")]
    #[arg(env = "FIGDEX_INDEX", default_value = DEFAULT_INDEX)]
    pub index: PathBuf,
    /// File with the table of vendors and of their symbols, in place of the table of the program
    #[arg(long, env = "FIGDEX_SYMBOLS", value_name = "FILE")]
    pub symbols: Option<PathBuf>,
    /// Ask this server instead of an index
    #[arg(long, value_name = "URL", value_parser = UrlParser)]
    pub url: Option<Url>,
    /// File with the API key for the server
    #[arg(long, value_name = "FILE", requires = "url")]
    pub key_file: Option<PathBuf>,
    /// File of certificates (PEM) to trust, in place of those of the system
    #[arg(long, value_name = "FILE", requires = "url")]
    pub ca_file: Option<PathBuf>,
}

const AFTER_HELP: &str = "\
An assistant starts this command, and speaks the Model Context Protocol over its
standard input and output. It ends when its input ends.

Examples:
  figdex mcp --index /var/lib/figdex/index
  figdex mcp --url https://figdex.example.com --key-file key.txt";
