//! The commands of the program, one file each.

mod config;
pub mod explain;
mod keys;
mod map;
#[cfg(feature = "mcp")]
mod mcp;
mod ready;
mod serve;
mod to_server;
mod trust;

use std::io;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, anyhow, bail};
use clap::error::ErrorKind;
use clap::{CommandFactory as _, Parser as _};
use figdex_index::{Catalogue, Error as IndexError, Publication};
use figdex_io::{escaped_path, terminal};

use crate::config::symbols::SymbolsFile;
use crate::config::{Command, Flags};

/// Runs the command of the command line. Returns the exit code.
pub fn run() -> ExitCode {
    terminal::print_panics();
    let flags = match Flags::try_parse() {
        Ok(flags) => flags,
        Err(error) => {
            let arguments: Vec<_> = std::env::args_os().skip(1).collect();
            return terminal::usage(match Flags::value_after_switch(&arguments) {
                Some(fault) => Flags::command().error(ErrorKind::ValueValidation, fault),
                None => error,
            });
        }
    };
    let done = match flags.into_command() {
        Command::Serve(flags) => serve::run(flags),
        Command::Config(flags) => config::run(&flags),
        Command::Ready(flags) => ready::run(&flags),
        Command::Explain(flags) => explain::run(&flags),
        Command::Map(mut flags) => {
            if let Err(error) = use_symbols(flags.symbols.as_deref()) {
                return exit_of(Err(error));
            }
            if let Err(fault) = flags.check() {
                let mut program = Flags::command();
                program.build();
                let command = program.find_subcommand_mut("map").expect("it was parsed");
                return terminal::usage(command.error(ErrorKind::ArgumentConflict, fault));
            }
            return exit_of(map::run(&flags));
        }
        #[cfg(feature = "mcp")]
        Command::Mcp(flags) => mcp::run(&flags),
        Command::Keys(command) => keys::run(&command),
    };
    exit_of(done.map(|()| ExitCode::SUCCESS))
}

fn exit_of(done: anyhow::Result<ExitCode>) -> ExitCode {
    match done {
        Ok(code) => code,
        Err(error) => {
            terminal::error("figdex", &error);
            ExitCode::FAILURE
        }
    }
}

/// Takes the table of symbols from a file, if one is named. Names of vendors are read after it.
fn use_symbols(file: Option<&Path>) -> anyhow::Result<()> {
    let Some(file) = file else { return Ok(()) };
    let symbols = SymbolsFile::open(file).map_err(|fault| anyhow!("--symbols: {fault}"))?;
    Ok(symbols.put_in_force()?)
}

/// Opens the index in a folder.
///
/// # Errors
/// When there is none (the message names the command that builds one), or when it cannot be read.
fn open_folder(path: &Path) -> anyhow::Result<Catalogue> {
    match Publication::of(path) {
        Err(IndexError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
            bail!(no_index(path))
        }
        Err(IndexError::NotAnIndex(_)) => bail!(no_index(path)),
        _ => {}
    }
    Catalogue::open(path).with_context(|| format!("opening the index at {}", escaped_path(path)))
}

/// The message for a folder without an index.
fn no_index(path: &Path) -> String {
    format!(
        "there is no index at {0}; build one with: figdex-ingest build DUMP… --index {0}",
        escaped_path(path)
    )
}
