//! The load program: measures how fast Figdex is, always next to something else.
//!
//! ```text
//! cargo run --profile dist --example load
//! cargo run --profile dist --example load -- answer
//! cargo run --profile dist --example load -- engine
//! cargo run --profile dist --example load -- fair
//! cargo run --profile dist --example load -- scale --sizes 1,10
//! cargo run --profile dist --example load -- soak --server target/dist/figdex
//! ```
//! A single time says little on a machine with other work. Every time is therefore compared with
//! that of another side, and the sides take turns in one run. Without a command, the other side is
//! mostly **the floor**, a server on the same stack that reads the same requests and answers a
//! constant body of the same length (`ratios.rs`). `answer` counts the instructions of an answer
//! instead (`answer.rs`). `engine` compares building, counting and searching with tantivy alone,
//! without HTTP (`engine/`). `fair` has an attacker next to quiet callers (`fair.rs`). `scale`
//! measures the cost of a larger index (`scale/`), and `soak` checks that memory and latency stay
//! stable (`soak/`).
//!
//! `mixes.toml` lists the requests. They are made from the index itself (`sample.rs`,
//! `questions.rs`) and sent by a cheap client (`client.rs`, `drive.rs`) to servers in this process
//! (`server.rs`). `scale` and `soak` start Figdex in separate processes.

mod answer;
mod client;
mod drive;
mod engine;
mod fair;
mod mixes;
mod process;
mod questions;
mod ratios;
mod report;
mod sample;
mod scale;
mod server;
mod soak;
mod universe;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context as _;
use clap::{Args, Parser, Subcommand, ValueEnum};
use mimalloc::MiMalloc;
use tempfile::TempDir;

// The same allocator as in the programs.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// The exit code of a program ended by SIGINT, as shells report it.
const INTERRUPTED: i32 = 130;

/// Measures how fast Figdex answers over HTTP
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
    ratios: RatiosFlags,
}

#[derive(Subcommand)]
enum Command {
    /// Count the instructions of an answer without a socket, by callgrind
    ///
    /// Answers requests twice under valgrind, the second time twice as many. The difference is that
    /// of the answers alone.
    Answer(AnswerFlags),
    /// Answer the requests of a file without a socket, for a profiler; started by `answer`
    Reply(ReplyFlags),
    /// Compare building, counting and searching with tantivy alone
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
struct RatiosFlags {
    #[command(flatten)]
    index: IndexFlags,
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
}

#[derive(Args)]
struct AnswerFlags {
    #[command(flatten)]
    index: IndexFlags,
    /// Count only the kinds of requests whose name contains this text; may be repeated
    #[arg(long, value_name = "TEXT")]
    case: Vec<String>,
    /// Count the requests of this file instead, one a line: `GET PATH` or `POST PATH BODY`
    #[arg(long, value_name = "FILE", conflicts_with = "case")]
    requests: Option<PathBuf>,
    /// Number of answers that are counted of each kind
    #[arg(long, value_name = "N", default_value = "100", value_parser = at_least_one)]
    times: usize,
    /// Count also the metrics of each answer, or the metrics and its log line
    #[arg(long)]
    with: Option<With>,
    /// Count the floor in place of Figdex: a constant answer, as long as that of Figdex to the first
    /// request of a kind, and with its headers
    #[arg(long, conflicts_with = "with")]
    floor: bool,
    /// Measure also the processor time, in which waiting for memory shows: the least of five runs
    #[arg(long)]
    time: bool,
}

#[derive(Args)]
struct ReplyFlags {
    #[arg(long, value_name = "DIR")]
    index: PathBuf,
    #[arg(long, value_name = "FILE")]
    requests: PathBuf,
    /// Number of answers; requests repeat when the file has fewer
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    times: usize,
    #[arg(long)]
    with: Option<With>,
    #[arg(long)]
    floor: bool,
    /// Answer the second half of the requests only after the first, and print the nanoseconds of
    /// processor time that an answer of the second half takes
    #[arg(long)]
    time: bool,
}

/// The further work for an answer, as in the server.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum With {
    Metrics,
    Log,
}

#[derive(Args)]
struct EngineFlags {
    /// Number of generated instruments to index
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    instruments: u64,
    /// Number of turns of each side
    #[arg(long, value_name = "N", default_value = "5", value_parser = at_least_one)]
    rounds: usize,
    #[command(flatten)]
    folder: FolderFlags,
}

#[derive(Args)]
struct FairFlags {
    #[command(flatten)]
    index: IndexFlags,
    /// Number of pairs of blocks
    #[arg(long, value_name = "N", default_value = "5", value_parser = at_least_one)]
    rounds: usize,
    /// Length of a block
    #[arg(long, value_name = "SECONDS", default_value = "5", value_parser = seconds)]
    seconds: Duration,
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
    folder: FolderFlags,
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
    /// Draw the measurements into this file
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    #[command(flatten)]
    folder: FolderFlags,
}

#[derive(Args)]
struct IndexFlags {
    /// Measure this index instead of building one
    #[arg(long, value_name = "DIR", conflicts_with = "instruments")]
    index: Option<PathBuf>,
    /// Build an index of this many generated instruments, and remove it at the end
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    instruments: u64,
    #[command(flatten)]
    folder: FolderFlags,
}

#[derive(Args)]
struct FolderFlags {
    /// Folder for dumps and indexes, which are removed at the end [default: the system's
    /// folder for temporary files]
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,
}

impl IndexFlags {
    /// The folder of the index that the flags name. If they name none, builds an index in `folder`.
    fn path(&self, folder: &Path) -> anyhow::Result<PathBuf> {
        match &self.index {
            Some(index) => Ok(index.clone()),
            None => Ok(universe::build(self.instruments, folder)?.index),
        }
    }
}

impl FolderFlags {
    /// A folder that is removed with the value, and when the program is interrupted.
    fn make(&self) -> anyhow::Result<TempDir> {
        let parent = self.folder.clone().unwrap_or_else(std::env::temp_dir);
        let folder = tempfile::Builder::new().prefix("figdex-load-").tempdir_in(parent);
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
        None => ratios::run(&flags.ratios),
        Some(Command::Answer(flags)) => answer::count(flags),
        Some(Command::Reply(flags)) => answer::reply(flags),
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
