//! The load program: what is promised of speed, measured again.
//!
//! ```text
//! cargo run --release --example load
//! cargo run --release --example load -- engine
//! cargo run --release --example load -- scale --sizes 1,10
//! cargo run --release --example load -- soak --server target/release/figdex
//! ```
//! A single time says little on a machine that others use too. So every figure is a
//! ratio of two sides that have their turns in one run: Figdex beside **the floor**, a
//! server on the same stack that reads the same requests and answers a constant body of
//! the same length, or one kind of request beside another. `mixes.toml` says which, and
//! what is promised of each. `engine` measures building and counting beside tantivy alone
//! (`engine/`), without HTTP. `scale` tells what a larger index costs (`scale/`), and `soak`
//! whether memory and latency stay as they are (`soak/`).
//!
//! What is asked is made from the index itself (`sample.rs`, `questions.rs`), driven by a
//! client that costs little (`client.rs`, `drive.rs`) against servers in this process
//! (`server.rs`); `promises.rs` lets the sides take turns and `tell.rs` says how it went.

mod client;
mod drive;
mod engine;
mod mixes;
mod process;
mod promises;
mod questions;
mod sample;
mod scale;
mod server;
mod soak;
mod tell;
mod universe;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context as _;
use clap::{Args, Parser, Subcommand};
use mimalloc::MiMalloc;
use tempfile::TempDir;

use crate::mixes::Mixes;

// As the programs.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// The exit code of a program that SIGINT ended, as shells have it.
const INTERRUPTED: i32 = 130;

/// Measures what Figdex promises of its answers over HTTP
///
/// Starts the real server and a constant-body server in this process, lets both answer
/// the same requests in turns, and prints the ratio of each case beside what is promised.
/// With the default turns that takes about seven minutes once the index is built.
#[derive(Parser)]
#[command(version, args_conflicts_with_subcommands = true)]
struct Flags {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    promises: PromisesFlags,
}

#[derive(Subcommand)]
enum Command {
    /// Measure building and counting beside tantivy alone
    Engine(EngineFlags),
    /// Tell what a larger index costs: build, size, opening, memory, answers
    ///
    /// Generates and builds each size anew, serves it in a process of its own, asks it at
    /// a fixed rate, and deletes it before the next.
    Scale(ScaleFlags),
    /// Tell whether a server's memory and latency stay as they are
    ///
    /// Starts the server program over a generated index, sends mixed traffic at a fixed rate,
    /// publishes the index anew and sends SIGHUP again and again, and judges at the end.
    Soak(SoakFlags),
    /// Serve an index until standard input ends; `scale` starts this by itself
    #[command(hide = true)]
    Serve {
        #[arg(long)]
        index: PathBuf,
    },
}

#[derive(Args)]
struct PromisesFlags {
    /// Measure this index instead of building one
    #[arg(long, value_name = "DIR", conflicts_with = "instruments")]
    index: Option<PathBuf>,
    /// Build an index of so many generated instruments, and remove it at the end
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    instruments: u64,
    /// Measure only the cases whose name contains this text; may be repeated
    #[arg(long, value_name = "TEXT")]
    case: Vec<String>,
    /// Connections that ask at a time, unless the case says otherwise
    #[arg(long, value_name = "N", default_value = "16", value_parser = at_least_one)]
    connections: usize,
    /// How often each side has its turn
    #[arg(long, value_name = "N", default_value = "5", value_parser = at_least_one)]
    rounds: usize,
    /// How long a turn is
    #[arg(long, value_name = "SECONDS", default_value = "2", value_parser = seconds)]
    seconds: Duration,
    #[command(flatten)]
    common: CommonFlags,
}

#[derive(Args)]
struct EngineFlags {
    /// How many generated instruments are indexed
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    instruments: u64,
    /// How often each side has its turn
    #[arg(long, value_name = "N", default_value = "5", value_parser = at_least_one)]
    rounds: usize,
}

#[derive(Args)]
struct ScaleFlags {
    /// Sizes in millions of instruments, ascending
    #[arg(long, value_name = "MILLIONS", value_delimiter = ',', default_value = "1,5,10,20")]
    sizes: Vec<f64>,
    /// Requests a second, whether or not the ones before are answered
    #[arg(long, value_name = "N", default_value = "200", value_parser = at_least_one)]
    rate: usize,
    /// How long each kind of request is asked
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    seconds: Duration,
    #[command(flatten)]
    common: CommonFlags,
}

#[derive(Args)]
struct SoakFlags {
    /// The server program
    #[arg(long, value_name = "FILE", default_value = "target/release/figdex")]
    server: PathBuf,
    /// How long the traffic goes on; memory and latencies are judged from 10 minutes on
    #[arg(long, value_name = "MINUTES", default_value = "30", value_parser = minutes)]
    minutes: Duration,
    /// Instruments of the index, which is generated
    #[arg(long, value_name = "N", default_value_t = 200_000)]
    instruments: u64,
    /// Requests a second, whether or not the ones before are answered
    #[arg(long, value_name = "N", default_value = "200", value_parser = at_least_one)]
    rate: usize,
    /// How often the index is published anew; half that time later comes a SIGHUP
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = seconds)]
    publish: Duration,
    /// Write what was measured to this file: a line for each kind of request and moment
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Draw it into this file
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    #[command(flatten)]
    common: CommonFlags,
}

#[derive(Args)]
struct CommonFlags {
    /// What to ask [default: mixes.toml of this program]
    #[arg(long, value_name = "FILE")]
    mixes: Option<PathBuf>,
    /// Where dumps and indexes are made, each in a folder that is removed at the end
    /// [default: the system's folder for such]
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,
    /// Write the figures to this file as well
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

impl CommonFlags {
    fn mixes(&self) -> anyhow::Result<Mixes> {
        Mixes::read(self.mixes.as_deref())
    }

    /// A folder that is removed with the value, and when the program is interrupted.
    fn temporary(&self) -> anyhow::Result<TempDir> {
        let mut named = tempfile::Builder::new();
        named.prefix("figdex-load-");
        let folder = match &self.folder {
            Some(folder) => named.tempdir_in(folder),
            None => named.tempdir(),
        };
        let folder = folder.context("making a folder for dumps and indexes")?;
        let path = folder.path().to_owned();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        std::thread::spawn(move || {
            runtime.block_on(tokio::signal::ctrl_c()).ok();
            std::fs::remove_dir_all(path).ok();
            std::process::exit(INTERRUPTED);
        });
        Ok(folder)
    }
}

fn main() -> ExitCode {
    let flags = Flags::parse();
    let done = match &flags.command {
        None => promises::run(&flags.promises),
        Some(Command::Engine(flags)) => engine::run(flags),
        Some(Command::Scale(flags)) => scale::run(flags),
        Some(Command::Soak(flags)) => soak::run(flags),
        Some(Command::Serve { index }) => scale::child::serve(index),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("load: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn at_least_one(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| "must be a whole number above 0".to_owned())
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let seconds = seconds.filter(|seconds| !seconds.is_zero());
    seconds.ok_or_else(|| "must be a number of seconds above 0".to_owned())
}

fn minutes(text: &str) -> Result<Duration, String> {
    let minutes = text.parse::<f64>().map_err(|_| "must be a number of minutes".to_owned())?;
    seconds(&(60.0 * minutes).to_string())
}
