//! `figdex-ingest`: the operator's command. It parses and prints; the work is the
//! library's.

mod operate;
mod output;
mod progress;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::str::FromStr;

use anyhow::Context as _;
use clap::{Args, Parser, Subcommand, ValueEnum};
use figdex_ingest::generate::{self, Dirt, Mix, Universe};
use figdex_ingest::{Build, Format, Input, MEMORY_BYTES_MIN, MaxRejects};
use mimalloc::MiMalloc;

use crate::progress::Watch;

/// Answers and builds ask for many small pieces of memory (README, "Dependencies").
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// Builds Figdex indexes from dumps of instruments.
#[derive(Parser)]
#[command(version, long_version = figdex_build_info::LONG)]
struct Flags {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Build an index from dumps and publish it
    Build(Box<BuildFlags>),
    /// Write a synthetic universe in the layout of the canonical dump
    Generate(GenerateFlags),
    /// Publish the generation before the published one again
    Rollback(operate::RollbackFlags),
    /// Tell what is in an index: counts, sizes, sources, how full each field is
    Inspect(operate::InspectFlags),
    /// Check every file and every agreement of an index
    Verify(operate::VerifyFlags),
    /// Tell how an index would answer a question: what drives, verifies and counts
    Explain(operate::ExplainFlags),
    /// Write an index back as a canonical dump
    Export(operate::ExportFlags),
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
    /// A dump that makes no instruments but adds to those of the others, which it
    /// finds by figi, ID_ISIN, ID_CUSIP, or exchCode with ticker. It fills what is
    /// blank and never overrides. May be given several times; 512 MiB of rows is
    /// the most
    #[arg(long, value_name = "FILE")]
    enrich: Vec<PathBuf>,
    /// Format of the dumps to enrich with, by name; recognised when not given
    #[arg(long, value_name = "NAME", requires = "enrich")]
    enrich_format: Option<Format>,
    /// Format of the dumps to enrich with, as a columns file describes it
    #[arg(long, value_name = "FILE", requires = "enrich", conflicts_with = "enrich_format")]
    enrich_columns: Vec<PathBuf>,
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
    /// Write the report as JSON too, also when nothing is published because of
    /// the rows
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Print neither progress nor, when all went well, the report
    #[arg(long, short)]
    quiet: bool,
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
    /// How many of the generations published before stay, for `rollback`
    #[arg(long, value_name = "N", default_value_t = 1)]
    keep: usize,
    /// Begin even if the disk seems too small
    #[arg(long)]
    skip_space_check: bool,
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
    /// The shares of the kinds
    #[arg(long, default_value = "firm")]
    mix: Shares,
    /// How many rows have a fault of the kind that real dumps have: a name that is
    /// missing, a FIGI twice, a wrong check digit and others
    #[arg(long, value_name = "P%", default_value = "0%")]
    dirt: Dirt,
}

#[derive(Clone, Copy, ValueEnum)]
enum Shares {
    /// As a firm holds it
    Firm,
    /// All that there is: five rows in six are options
    Full,
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
        Command::Build(flags) => build(*flags),
        Command::Generate(flags) => generate(flags),
        Command::Rollback(flags) => operate::rollback(&flags),
        Command::Inspect(flags) => operate::inspect(&flags),
        Command::Verify(flags) => operate::verify(&flags),
        Command::Explain(flags) => operate::explain(&flags),
        Command::Export(flags) => operate::export(&flags),
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
    if let Some(path) = &flags.report {
        // An older build's would be taken for this one's.
        remove(path).with_context(|| path.display().to_string())?;
    }
    let mut inputs = Vec::new();
    for argument in &flags.inputs {
        inputs.extend(Input::resolve(argument)?);
    }
    let mut enrich = Vec::new();
    for argument in &flags.enrich {
        enrich.extend(Input::resolve(argument)?);
    }
    if inputs.iter().chain(&enrich).filter(|&input| *input == Input::Stdin).count() > 1 {
        anyhow::bail!("standard input (-) is given twice: it can be read once");
    }
    let described = |by_name, files: &[PathBuf]| match files {
        [] => Ok(by_name),
        files => Format::read_all(files).map(Some),
    };
    let format = described(flags.format, &flags.columns)?;
    let enrich_format = described(flags.enrich_format, &flags.enrich_columns)?;
    let build = Build {
        inputs,
        enrich,
        index: flags.index,
        format,
        enrich_format,
        exchanges: flags.exchanges,
        values: flags.values,
        rejects: flags.rejects,
        max_rejects: if flags.strict { MaxRejects::NONE } else { flags.max_rejects },
        memory_bytes: flags.memory.0,
        part_instruments_max: None,
        generations_kept: flags.keep,
        checks_space: !flags.skip_space_check,
    };
    let mut watch = Watch::new(flags.quiet);
    let built = build.run(&mut |progress| watch.tell(progress));
    watch.end();
    let report = match &built {
        Ok(report) => Some(report),
        Err(error) => error.report(),
    };
    if let (Some(path), Some(report)) = (&flags.report, report) {
        fs::write(path, report.to_json()).with_context(|| path.display().to_string())?;
    }
    match built {
        Ok(report) if flags.quiet => drop(report),
        Ok(report) => print!("{report}"),
        Err(error) => {
            if let Some(report) = error.report() {
                eprintln!("{report}");
            }
            return Err(error.into());
        }
    }
    Ok(())
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn generate(flags: GenerateFlags) -> anyhow::Result<()> {
    let mix = match flags.mix {
        Shares::Firm => Mix::Firm,
        Shares::Full => Mix::Full,
    };
    let universe = Universe { count: flags.count, seed: flags.seed, mix, dirt: flags.dirt };
    let format = match flags.format {
        Layout::Csv => generate::Format::Csv,
        Layout::Jsonl => generate::Format::JsonLines,
    };
    output::write(flags.out.as_deref(), |mut out| generate::write(&universe, format, &mut out))
}
