//! The commands of the program, a file each.

mod config;
pub mod explain;
mod keys;
mod map;
mod ready;
mod serve;
mod trust;

use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory as _, Parser as _};
use figdex_ingest::terminal;

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
        Command::Map(flags) => {
            if let Err(fault) = flags.check() {
                let mut program = Flags::command();
                program.build();
                let command = program.find_subcommand_mut("map").expect("it was parsed");
                return terminal::usage(command.error(ErrorKind::ArgumentConflict, fault));
            }
            return exit_of(map::run(&flags));
        }
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
