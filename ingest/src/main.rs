//! `figdex-ingest`: the operator's command. It parses and prints; the work is the
//! library's.

use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;
use std::str::FromStr;

use anyhow::Context as _;
use clap::{Args, Parser, Subcommand, ValueEnum};
use figdex_ingest::generate::{self, Universe};
use figdex_ingest::{Build, Format, Input, MEMORY_BYTES_MIN, MaxRejects, Progress};

/// Builds Figdex indexes from dumps of instruments.
#[derive(Parser)]
#[command(version)]
struct Flags {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Build an index from dumps and publish it
    Build(BuildFlags),
    /// Write a synthetic universe in the layout of the canonical dump
    Generate(GenerateFlags),
}

#[derive(Args)]
struct BuildFlags {
    /// Dumps: files, folders (their files by name), or - for standard input;
    /// .gz, .zst and .bz2 are read through. Later ones win where they differ
    #[arg(required = true, value_name = "INPUT")]
    inputs: Vec<PathBuf>,
    /// The folder of the index
    #[arg(long, value_name = "DIR")]
    index: PathBuf,
    /// Format of the inputs, by name (a wrong one lists them); recognised when not
    /// given
    #[arg(long, value_name = "NAME")]
    format: Option<Format>,
    /// Format of the inputs, as a columns file describes it (TOML); of several, each
    /// input is of the one that it is recognised as
    #[arg(long, value_name = "FILE", conflicts_with = "format")]
    columns: Vec<PathBuf>,
    /// A table of exchanges (CSV with the columns mic and exchCode), which fills MICs
    /// from exchange codes and back where the two are one to one
    #[arg(long, value_name = "FILE")]
    exchanges: Option<PathBuf>,
    /// A folder of value lists to allow besides those in the data, such as
    /// exchCode.json with {"values": ["US", …]}
    #[arg(long, value_name = "DIR")]
    values: Option<PathBuf>,
    /// Where rejected rows and dropped cells are kept [default: beside the index,
    /// DIR.rejects.csv]
    #[arg(long, value_name = "FILE")]
    rejects: Option<PathBuf>,
    /// Publish nothing if any row is rejected
    #[arg(long, conflicts_with = "max_rejects")]
    strict: bool,
    /// Publish nothing if more rows are rejected, a number or a percentage
    #[arg(long, value_name = "N|P%", default_value = "5%")]
    max_rejects: MaxRejects,
    /// The memory that the build may take, about, such as 2GiB or 800MB; what does
    /// not fit is sorted on the disk of the index
    #[arg(long, value_name = "SIZE", default_value = "2GiB")]
    memory: Size,
}

#[derive(Args)]
struct GenerateFlags {
    /// How many instruments
    #[arg(long)]
    count: u64,
    /// The same seed gives the same bytes
    #[arg(long)]
    seed: u64,
    /// The file to write [default: standard output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// The layout
    #[arg(long, default_value = "csv")]
    format: Layout,
}

#[derive(Clone, Copy, ValueEnum)]
enum Layout {
    Csv,
    Jsonl,
}

/// A number of bytes as a person writes it.
#[derive(Clone, Copy)]
struct Size(usize);

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let units = [
            ("KiB", 1 << 10),
            ("MiB", 1 << 20),
            ("GiB", 1 << 30),
            ("TiB", 1 << 40),
            ("kB", 1_000),
            ("MB", 1_000_000),
            ("GB", 1_000_000_000),
            ("TB", 1_000_000_000_000),
        ];
        let unit = units
            .into_iter()
            .find_map(|(unit, bytes)| Some((text.strip_suffix(unit)?.trim_end(), bytes)));
        let (number, unit) = unit.unwrap_or((text, 1));
        let bytes = number.parse::<usize>().ok().and_then(|number| number.checked_mul(unit));
        let bytes = bytes.ok_or_else(|| format!("{text:?} is no size such as 2GiB or 800MB"))?;
        if bytes < MEMORY_BYTES_MIN {
            return Err(format!("a build takes at least {} MiB", MEMORY_BYTES_MIN >> 20));
        }
        Ok(Self(bytes))
    }
}

fn main() -> ExitCode {
    let done = match Flags::parse().command {
        Command::Build(flags) => build(flags),
        Command::Generate(flags) => generate(flags),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("figdex-ingest: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn build(flags: BuildFlags) -> anyhow::Result<()> {
    let mut inputs = Vec::new();
    for argument in &flags.inputs {
        inputs.extend(Input::resolve(argument)?);
    }
    let format = match &flags.columns[..] {
        [] => flags.format,
        files => Some(Format::read_all(files)?),
    };
    let build = Build {
        inputs,
        index: flags.index,
        format,
        exchanges: flags.exchanges,
        values: flags.values,
        rejects: flags.rejects,
        max_rejects: if flags.strict { MaxRejects::NONE } else { flags.max_rejects },
        memory_bytes: flags.memory.0,
        part_instruments_max: None,
    };
    match build.run(&mut tell) {
        Ok(report) => {
            print!("{report}");
            Ok(())
        }
        Err(error) => {
            if let Some(report) = error.report() {
                eprint!("{report}");
            }
            Err(error.into())
        }
    }
}

fn tell(progress: Progress<'_>) {
    match progress {
        Progress::Reading { input, rows } => eprintln!("reading {input}: {rows} rows so far"),
        Progress::Indexing { instruments } => {
            eprintln!("indexing: {instruments} instruments so far");
        }
        Progress::Publishing => eprintln!("verifying and publishing"),
    }
}

fn generate(flags: GenerateFlags) -> anyhow::Result<()> {
    let universe = Universe { count: flags.count, seed: flags.seed };
    let format = match flags.format {
        Layout::Csv => generate::Format::Csv,
        Layout::Jsonl => generate::Format::JsonLines,
    };
    match flags.out {
        Some(path) => {
            let written = || {
                let mut out = BufWriter::new(File::create(&path)?);
                generate::write(&universe, format, &mut out)?;
                out.flush()
            };
            written().with_context(|| format!("writing {}", path.display()))
        }
        None => {
            let mut out = BufWriter::new(io::stdout().lock());
            let written = generate::write(&universe, format, &mut out).and_then(|()| out.flush());
            match written {
                // Who reads the pipe has seen enough, as `head` has.
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
                written => written.context("writing to standard output"),
            }
        }
    }
}
