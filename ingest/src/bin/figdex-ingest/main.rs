//! `figdex-ingest`: the operator's command. This file parses the command line and calls the
//! command. The library does the work.

#![deny(clippy::print_stdout, clippy::print_stderr)]

mod as_owner;
mod commands;
mod interrupt;
mod progress;
mod warnings;

use std::process::ExitCode;

use figdex_ingest::flags::{Command, Flags};
use figdex_io::terminal;
use mimalloc::MiMalloc;

use crate::commands::{build, diff, export, generate, inspect, lists, publish, rollback, verify};
use crate::interrupt::Interrupted;

/// Builds make many small allocations, and mimalloc makes them faster (docs/dependencies.md).
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    terminal::print_panics();
    warnings::print();
    let flags = match Flags::checked() {
        Ok(flags) => flags,
        Err(error) => return terminal::usage(error),
    };
    let done = match flags.command {
        Command::Build(flags) => build::run(*flags),
        Command::Publish(flags) => publish::run(&flags),
        Command::Generate(flags) => generate::run(&flags),
        Command::Rollback(flags) => rollback::run(&flags),
        Command::Inspect(flags) => inspect::run(&flags),
        Command::Formats(flags) => lists::formats(&flags),
        Command::Columns(flags) => lists::columns(&flags),
        Command::Verify(flags) => verify::run(&flags),
        Command::Export(flags) => export::run(&flags),
        Command::Diff(flags) => diff::run(&flags),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            terminal::error("figdex-ingest", &error);
            match error.downcast_ref::<Interrupted>() {
                Some(interrupted) => ExitCode::from(interrupted.code),
                None => ExitCode::FAILURE,
            }
        }
    }
}
