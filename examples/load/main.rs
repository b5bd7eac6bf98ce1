//! The load program: measures the promises of speed (engine 13).
//!
//! ```text
//! cargo run --profile dist --example load
//! cargo run --profile dist --example load -- engine
//! cargo run --profile dist --example load -- fair
//! cargo run --profile dist --example load -- scale --sizes 1,10
//! cargo run --profile dist --example load -- soak --server target/dist/figdex
//! ```
//! A single time says little on a machine with other work. Every figure is therefore a ratio of
//! two sides that take turns in one run: Figdex and **the floor**, a server on the same stack that
//! reads the same requests and answers a constant body of the same length, or two kinds of
//! requests. `mixes.toml` has these cases and the bounds of their ratios. `engine` compares
//! building and counting with tantivy alone, without HTTP (`engine/`). `fair` has an attacker next to
//! quiet callers (`fair.rs`). `scale` measures the cost of a larger index (`scale/`), and `soak`
//! checks that memory and latency stay stable (`soak/`).
//!
//! The requests are made from the index itself (`sample.rs`, `questions.rs`) and sent by a cheap
//! client (`client.rs`, `drive.rs`) to servers in this process (`server.rs`). `promises.rs` measures
//! the sides in turns, and `report.rs` prints the results.

mod client;
mod drive;
mod engine;
mod fair;
mod mixes;
mod process;
mod promises;
mod questions;
mod report;
mod sample;
mod scale;
mod server;
mod soak;
mod universe;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context as _;
use clap::{Args, Parser, Subcommand};
use mimalloc::MiMalloc;
use tempfile::TempDir;

use crate::mixes::Mixes;

// The same allocator as in the programs.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// The exit code of a program ended by SIGINT, as shells report it.
const INTERRUPTED: i32 = 130;

/// Measures Figdex's promises of speed over HTTP
///
/// Starts the real server and a constant-body server in this process, sends both the same
/// requests in turns, and prints the ratio and the bound of each case. With the default turns
/// this takes about seven minutes once the index is built.
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
    /// Compare building and counting with tantivy alone
    Engine(EngineFlags),
    /// Measure what one caller with much heavy work costs others
    ///
    /// Eight quiet callers send a fifth of what the machine can do, without an attacker and next to
    /// it in turns. Fails when one of them gets a 503.
    Fair(FairFlags),
    /// Measure the cost of a larger index: build, size, opening, memory, answers
    ///
    /// Generates and builds an index of each size, serves it in a separate process, sends
    /// requests at a fixed rate, and deletes it before the next size.
    Scale(ScaleFlags),
    /// Check that a server's memory and latency stay stable
    ///
    /// Starts the server program over a generated index and sends mixed traffic at a fixed rate.
    /// Meanwhile it keeps publishing new generations and sending SIGHUP. Fails at the end when
    /// memory or latency have grown too much.
    Soak(SoakFlags),
    /// Serve an index until standard input ends; started by `scale`
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
    /// Build an index of this many generated instruments, and remove it at the end
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    instruments: u64,
    /// Measure only the cases whose name contains this text; may be repeated
    #[arg(long, value_name = "TEXT")]
    case: Vec<String>,
    /// Connections that send requests, unless the case has another number
    #[arg(long, value_name = "N", default_value = "16", value_parser = at_least_one)]
    connections: usize,
    /// Number of turns of each side
    #[arg(long, value_name = "N", default_value = "5", value_parser = at_least_one)]
    rounds: usize,
    /// Length of a turn
    #[arg(long, value_name = "SECONDS", default_value = "2", value_parser = seconds)]
    seconds: Duration,
    #[command(flatten)]
    common: CommonFlags,
}

#[derive(Args)]
struct EngineFlags {
    /// Number of generated instruments to index
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    instruments: u64,
    /// Number of turns of each side
    #[arg(long, value_name = "N", default_value = "5", value_parser = at_least_one)]
    rounds: usize,
}

#[derive(Args)]
struct FairFlags {
    /// Measure this index instead of building one
    #[arg(long, value_name = "DIR", conflicts_with = "instruments")]
    index: Option<PathBuf>,
    /// Build an index of this many generated instruments, and remove it at the end
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    instruments: u64,
    /// Number of pairs of blocks
    #[arg(long, value_name = "N", default_value = "5", value_parser = at_least_one)]
    rounds: usize,
    /// Length of a block
    #[arg(long, value_name = "SECONDS", default_value = "5", value_parser = seconds)]
    seconds: Duration,
    #[command(flatten)]
    common: CommonFlags,
}

#[derive(Args)]
struct ScaleFlags {
    /// Sizes in millions of instruments, ascending
    #[arg(long, value_name = "MILLIONS", value_delimiter = ',', default_value = "1,5,10,20")]
    sizes: Vec<f64>,
    /// Requests a second, whether or not earlier ones are answered
    #[arg(long, value_name = "N", default_value = "200", value_parser = at_least_one)]
    rate: usize,
    /// Time for each kind of request
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    seconds: Duration,
    #[command(flatten)]
    common: CommonFlags,
}

#[derive(Args)]
struct SoakFlags {
    /// The server program
    #[arg(long, value_name = "FILE", default_value = "target/dist/figdex")]
    server: PathBuf,
    /// Length of the traffic; memory and latencies are checked from 10 minutes on
    #[arg(long, value_name = "MINUTES", default_value = "30", value_parser = minutes)]
    minutes: Duration,
    /// Number of generated instruments to index
    #[arg(long, value_name = "N", default_value_t = 200_000)]
    instruments: u64,
    /// Requests a second, whether or not earlier ones are answered
    #[arg(long, value_name = "N", default_value = "200", value_parser = at_least_one)]
    rate: usize,
    /// Interval at which a new generation is published, with a SIGHUP in the middle
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = seconds)]
    publish: Duration,
    /// Write the measurements to this file: a line for each kind of request and moment
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Draw them into this file
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    #[command(flatten)]
    common: CommonFlags,
}

#[derive(Args)]
struct CommonFlags {
    /// File with the requests to send [default: mixes.toml of this program]
    #[arg(long, value_name = "FILE")]
    mixes: Option<PathBuf>,
    /// Folder for dumps and indexes, which are removed at the end [default: the system's
    /// folder for temporary files]
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,
    /// Also write the figures to this file
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
    let result = match &flags.command {
        None => promises::run(&flags.promises),
        Some(Command::Engine(flags)) => engine::run(flags),
        Some(Command::Fair(flags)) => fair::run(flags),
        Some(Command::Scale(flags)) => scale::run(flags),
        Some(Command::Soak(flags)) => soak::run(flags),
        Some(Command::Serve { index }) => scale::child::serve(index),
    };
    match result {
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
