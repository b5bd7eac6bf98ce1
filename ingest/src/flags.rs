//! Flags as typed. What a flag means is said once, in its help, of which the manual page
//! is made as well.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, Parser, Subcommand};

use crate::generate::{Dirt, Mix};
use crate::layout::Layout;
use crate::{Format, MEMORY_BYTES_MIN, MaxRejects};

/// Builds Figdex indexes from dumps of instruments.
#[derive(Parser)]
#[command(version, long_version = figdex_build_info::LONG)]
pub struct Flags {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands of the program.
#[derive(Subcommand)]
pub enum Command {
    /// Build an index from dumps and publish it
    Build(Box<BuildFlags>),
    /// Write a synthetic universe in the layout of the canonical dump
    Generate(GenerateFlags),
    /// Publish the generation before the published one again
    Rollback(RollbackFlags),
    /// Tell what is in an index: counts, sizes, sources, how full each field is
    Inspect(InspectFlags),
    /// Check every file and every agreement of an index
    Verify(VerifyFlags),
    /// Tell how an index would answer a question: what drives, verifies and counts
    Explain(ExplainFlags),
    /// Write an index back as a canonical dump
    Export(ExportFlags),
}

/// Flags of `build`.
#[derive(Args)]
pub struct BuildFlags {
    /// Dumps: files, folders (their files by name), or - for standard input;
    /// .gz, .zst and .bz2 are read through. Later ones win where they differ
    #[arg(required = true, value_name = "INPUT")]
    pub inputs: Vec<PathBuf>,
    /// The folder of the index
    #[arg(long, value_name = "DIR")]
    pub index: PathBuf,
    /// A dump that makes no instruments but adds to those of the others, which it
    /// finds by figi, ID_ISIN, ID_CUSIP, or exchCode with ticker. It fills what is
    /// blank and never overrides. May be given several times; 512 MiB of rows is
    /// the most
    #[arg(long, value_name = "FILE")]
    pub enrich: Vec<PathBuf>,
    /// Format of the dumps to enrich with, by name; recognised when not given
    #[arg(long, value_name = "NAME", requires = "enrich")]
    pub enrich_format: Option<Format>,
    /// Format of the dumps to enrich with, as a columns file describes it
    #[arg(long, value_name = "FILE", requires = "enrich", conflicts_with = "enrich_format")]
    pub enrich_columns: Vec<PathBuf>,
    /// Format of the inputs, by name (a wrong one lists them); recognised when not
    /// given
    #[arg(long, value_name = "NAME")]
    pub format: Option<Format>,
    /// Format of the inputs, as a columns file describes it (TOML); of several, each
    /// input is of the one that it is recognised as
    #[arg(long, value_name = "FILE", conflicts_with = "format")]
    pub columns: Vec<PathBuf>,
    /// A table of exchanges (CSV with the columns mic and exchCode), which fills MICs
    /// from exchange codes and back where the two are one to one
    #[arg(long, value_name = "FILE")]
    pub exchanges: Option<PathBuf>,
    /// A folder of value lists to allow besides those in the data, such as
    /// exchCode.json with {"values": ["US", …]}
    #[arg(long, value_name = "DIR")]
    pub values: Option<PathBuf>,
    /// Where rejected rows and dropped cells are kept [default: beside the index,
    /// DIR.rejects.csv]
    #[arg(long, value_name = "FILE")]
    pub rejects: Option<PathBuf>,
    /// Write the report as JSON too, also when nothing is published because of
    /// the rows
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Print neither progress nor, when all went well, the report
    #[arg(long, short)]
    pub quiet: bool,
    /// Publish nothing if any row is rejected
    #[arg(long, conflicts_with = "max_rejects")]
    pub strict: bool,
    /// Publish nothing if more rows are rejected, a number or a percentage
    #[arg(long, value_name = "N|P%", default_value = "5%")]
    pub max_rejects: MaxRejects,
    /// The memory that the build may take, about, such as 2GiB or 800MB; what does
    /// not fit is sorted on the disk of the index
    #[arg(long, value_name = "SIZE", default_value = "2GiB")]
    pub memory: MemorySize,
    /// How many of the generations published before stay, for `rollback`
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub keep: usize,
    /// Begin even if the disk seems too small
    #[arg(long)]
    pub skip_space_check: bool,
}

/// Flags of `generate`.
#[derive(Args)]
pub struct GenerateFlags {
    /// How many instruments
    #[arg(long)]
    pub count: u64,
    /// The same seed gives the same bytes
    #[arg(long)]
    pub seed: u64,
    /// The file to write [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// The layout
    #[arg(long, default_value = "csv")]
    pub format: Layout,
    /// The shares of the kinds
    #[arg(long, default_value = "firm")]
    pub mix: Mix,
    /// How many rows have a fault of the kind that real dumps have: a name that is
    /// missing, a FIGI twice, a wrong check digit and others
    #[arg(long, value_name = "P%", default_value = "0%")]
    pub dirt: Dirt,
}

/// Flags of `rollback`.
#[derive(Args)]
pub struct RollbackFlags {
    /// The folder of the index
    #[arg(value_name = "DIR")]
    pub index: PathBuf,
}

/// Flags of `inspect`.
#[derive(Args)]
pub struct InspectFlags {
    /// The folder of the index
    #[arg(value_name = "DIR")]
    pub index: PathBuf,
    /// Tell it as JSON, whole
    #[arg(long)]
    pub json: bool,
}

/// Flags of `verify`.
#[derive(Args)]
pub struct VerifyFlags {
    /// The folder of the index
    #[arg(value_name = "DIR")]
    pub index: PathBuf,
}

/// Flags of `explain`.
#[derive(Args)]
pub struct ExplainFlags {
    /// The folder of the index
    #[arg(value_name = "DIR")]
    pub index: PathBuf,
    /// The body of a search or filter request, or one mapping job (JSON), or - for
    /// standard input
    #[arg(value_name = "QUERY.json")]
    pub question: PathBuf,
}

/// Flags of `export`.
#[derive(Args)]
pub struct ExportFlags {
    /// The folder of the index
    #[arg(value_name = "DIR")]
    pub index: PathBuf,
    /// The file to write [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// The layout
    #[arg(long, default_value = "csv")]
    pub format: Layout,
    /// Write the lists of allowed values into this folder too, for `build --values`
    #[arg(long, value_name = "DIR")]
    pub values: Option<PathBuf>,
}

/// A number of bytes as a person writes it.
#[derive(Clone, Copy)]
pub struct MemorySize(pub usize);

impl FromStr for MemorySize {
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
