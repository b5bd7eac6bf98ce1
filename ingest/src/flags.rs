//! The command line. The doc comments are the help text and the source of the manual page
//! (`examples/manual.rs` of the workspace), so each flag is explained in full here.

mod history;
mod parquet;

use std::ffi::OsString;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{Args, Parser, Subcommand};
use figdex_index::Date;
use figdex_io::{Address, Layout, RowLayout};
use figdex_opensearch::client::ClientSettings;
use figdex_opensearch::{Division, PATIENCE, PublishOptions};
use figdex_universe::{Dirt, Mix};

pub use self::history::HistoryFlags;
pub use self::parquet::ParquetFlags;
use crate::{Format, MEMORY_BYTES_MIN, MaxRejects, Share};

/// Builds Figdex indexes from dumps of instruments.
#[derive(Parser)]
#[command(version, long_version = figdex_build_info::LONG, after_help = EXAMPLES)]
pub struct Flags {
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands of the program.
#[derive(Subcommand)]
pub enum Command {
    /// Build an index from dumps and publish it
    Build(Box<BuildFlags>),
    /// Copy the published generation of an index to a cluster or to object storage, and
    /// publish it there
    Publish(PublishFlags),
    /// Write a synthetic dump of any size
    Generate(GenerateFlags),
    /// Publish the previous generation of an index again
    Rollback(RollbackFlags),
    /// Show what an index contains, or how a build would read a dump
    Inspect(InspectFlags),
    /// List the formats of dumps that are recognised
    #[command(after_help = FORMATS_EXAMPLES)]
    Formats(ListFlags),
    /// List the columns of a dump
    #[command(after_help = COLUMNS_EXAMPLES)]
    Columns(ListFlags),
    /// Check that the files of an index are undamaged and agree with each other
    Verify(VerifyFlags),
    /// Write an index back as a canonical dump
    Export(ExportFlags),
    /// Write what differs between two indexes
    Diff(DiffFlags),
}

/// Flags of `build`.
#[derive(Args)]
#[command(after_help = BUILD_EXAMPLES)]
pub struct BuildFlags {
    /// Dumps: files, folders (all their files, ordered by name), or - for standard
    /// input. Files compressed with gzip, zstd or bzip2 are unpacked. Where dumps
    /// differ, the later one wins
    #[arg(required = true, value_name = "INPUT")]
    pub inputs: Vec<PathBuf>,
    /// The index: a folder, an index in a cluster, such as
    /// opensearch+https://host:9200/name, or in object storage, such as
    /// s3://bucket/figdex
    #[arg(long, value_name = "ADDRESS", value_parser = address())]
    pub index: Address,
    /// Folder in which an index for a cluster or for object storage is built before it
    /// is published there. It stays, because the next build compares with it
    #[arg(long, value_name = "DIR")]
    pub work: Option<PathBuf>,
    /// Dump that only adds fields to the instruments of the other dumps. Its rows
    /// are matched by figi, ID_ISIN, ID_CUSIP, shareClassFIGI, or exchCode with
    /// ticker; they fill blank fields and never overwrite a value. Repeat the flag
    /// for several dumps, which may have 512 MiB of rows together
    #[arg(long, value_name = "FILE")]
    pub enrich: Vec<PathBuf>,
    /// Name of the format of the --enrich dumps [default: recognised]
    #[arg(long, value_name = "NAME", requires = "enrich")]
    pub enrich_format: Option<Format>,
    /// Columns file that describes the format of the --enrich dumps
    #[arg(long, value_name = "FILE", requires = "enrich", conflicts_with = "enrich_format")]
    pub enrich_columns: Vec<PathBuf>,
    /// File of other names, such as brands and former names, by which suggestions
    /// find the instruments: the columns figi, shareClassFIGI, ID_ISIN, or exchCode
    /// with ticker, and name, kind (brand, former, transliteration, short), from, to.
    /// Names are added to those of the dumps. Repeat the flag for several files
    #[arg(long, value_name = "FILE")]
    pub names: Vec<PathBuf>,
    /// Name of the format of the inputs; an unknown name prints the list
    /// [default: recognised]
    #[arg(long, value_name = "NAME")]
    pub format: Option<Format>,
    /// Columns file (TOML) that describes the format of the inputs. Repeat the flag
    /// for several formats, one of which is recognised for each input
    #[arg(long, value_name = "FILE", conflicts_with = "format")]
    pub columns: Vec<PathBuf>,
    /// Table of exchanges (CSV with the columns mic and exchCode). It fills a missing
    /// MIC from the exchange code and vice versa, where they correspond one to one. Its
    /// columns name and country, if there are any, say the names of exchanges for people,
    /// and their countries, by which the best listing of a security is chosen
    #[arg(long, value_name = "FILE")]
    pub exchanges: Option<PathBuf>,
    /// Folder of lists of values to allow in addition to those in the data, such as
    /// exchCode.json with {"values": ["US", …]}
    #[arg(long, value_name = "DIR")]
    pub values: Option<PathBuf>,
    /// File for rejected rows and dropped cells [default: DIR.rejects.csv, next to
    /// the folder of the index]
    #[arg(long, value_name = "FILE")]
    pub rejects: Option<PathBuf>,
    /// Also write the report as JSON to this file, when the build begins and when it
    /// ends, however it ends
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Print no progress and, on success, no report but its warnings
    #[arg(long, short)]
    pub quiet: bool,
    /// Publish nothing if any row is rejected
    #[arg(long, conflicts_with = "max_rejects")]
    pub strict: bool,
    /// Publish nothing if more rows than this are rejected: a number or a percentage
    #[arg(long, value_name = "N|P%", default_value = "5%")]
    pub max_rejects: MaxRejects,
    /// Publish nothing if more of the published instruments than this are missing in
    /// the dumps, such as 2%. Those that have expired or matured do not count here
    #[arg(long, value_name = "P%")]
    pub max_removed: Option<Share>,
    /// Publish nothing if more of the published instruments than this are missing in
    /// the dumps and have expired or matured, such as 30%
    #[arg(long, value_name = "P%")]
    pub max_expired: Option<Share>,
    /// Publish nothing if any column but the importance is different in more of the
    /// published instruments than this, such as 20%
    #[arg(long, value_name = "P%")]
    pub max_changed: Option<Share>,
    /// Publish nothing if a column has lost more of its values than this, such as 20%.
    /// Those of expired instruments that are missing do not count
    #[arg(long, value_name = "P%")]
    pub max_column_loss: Option<Share>,
    /// Publish nothing unless the new index gives these known answers: JSON lines, each
    /// a mapping job with its figi
    #[arg(long, value_name = "FILE")]
    pub expect: Option<PathBuf>,
    /// Approximate memory limit of the build, such as 2GiB or 800MB. Rows that do not
    /// fit are sorted on the disk of the index
    #[arg(long, value_name = "SIZE", default_value = "2GiB")]
    pub memory: MemorySize,
    /// Number of previous generations to keep for `rollback`
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub keep: usize,
    /// Day that the dumps describe, such as 2026-11-20. It may not be before that of the
    /// published generation [default: the day of the build, in UTC]
    #[arg(long, value_name = "DAY", value_parser = day)]
    pub date: Option<Date>,
    /// Keep the changes from the published generation to the new one, in a file of the
    /// folder changes/ of the index, and remove such files when they are older than
    /// this, such as 90d. A server with --changes answers from them
    #[arg(long, value_name = "DAYS", value_parser = days)]
    pub keep_changes: Option<Duration>,
    /// The flag of a Parquet file.
    #[command(flatten)]
    pub parquet: ParquetFlags,
    /// Flags for the past.
    #[command(flatten)]
    pub history: HistoryFlags,
    /// Command that the shell runs once the new index is published, with what was
    /// published in variables whose names begin with FIGDEX_PUBLISHED_
    #[arg(long, value_name = "COMMAND")]
    pub after_publish: Option<String>,
    /// Build even if the disk seems too small
    #[arg(long)]
    pub skip_space_check: bool,
    /// Flags for a cluster.
    #[command(flatten)]
    pub division: DivisionFlags,
    /// Flags for a cluster.
    #[command(flatten)]
    pub cluster: ClusterFlags,
    /// Flags for object storage.
    #[command(flatten)]
    pub storage: StorageFlags,
}

/// Flags of the commands that make an index in a cluster.
#[derive(Args, Clone, Copy, Debug)]
pub struct DivisionFlags {
    /// Number of primary shards of the new index in a cluster [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub shards: Option<u32>,
    /// Number of copies of each shard, besides the first [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=10))]
    pub replicas: Option<u32>,
    /// Seconds for which the generation stays there that was published until now, if
    /// it is not kept: servers ask it until they have seen the new one, or copy it
    /// [default: 30; in object storage 3600]
    #[arg(long, value_name = "SECONDS")]
    pub grace: Option<u64>,
}

/// Flags of `publish`.
#[derive(Args)]
#[command(after_help = PUBLISH_EXAMPLES)]
pub struct PublishFlags {
    /// Folder of the index
    #[arg(value_name = "DIR")]
    pub index: PathBuf,
    /// The index in a cluster, such as opensearch+https://host:9200,host2:9200/name, or
    /// in object storage, such as s3://bucket/figdex
    #[arg(value_name = "ADDRESS", value_parser = address())]
    pub to: Address,
    /// Number of previous generations to keep for `rollback`
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub keep: usize,
    /// Print no progress and, on success, no report
    #[arg(long, short)]
    pub quiet: bool,
    /// Flags for a cluster.
    #[command(flatten)]
    pub division: DivisionFlags,
    /// Flags for a cluster.
    #[command(flatten)]
    pub cluster: ClusterFlags,
    /// Flags for object storage.
    #[command(flatten)]
    pub storage: StorageFlags,
}

impl DivisionFlags {
    /// The first of these flags that was given, if there is one.
    pub fn given(&self) -> Option<&'static str> {
        let given = [
            ("--shards", self.shards.is_some()),
            ("--replicas", self.replicas.is_some()),
            ("--grace", self.grace.is_some()),
        ];
        given.into_iter().find_map(|(flag, is_given)| is_given.then_some(flag))
    }

    /// The given flag that applies only to a cluster, if there is one.
    pub fn of_shards(&self) -> Option<&'static str> {
        self.given().filter(|flag| *flag != "--grace")
    }

    /// The options of a publication that keeps `keep` earlier generations.
    pub fn options(&self, keep: usize) -> PublishOptions {
        let (shards, replicas) = (self.shards.unwrap_or(1), self.replicas.unwrap_or(1));
        PublishOptions {
            division: Division { shards, replicas },
            keep,
            grace: Duration::from_secs(self.grace.unwrap_or(30)),
            patience: PATIENCE,
        }
    }
}

/// Flags of all commands that ask a cluster.
#[derive(Args, Clone, Debug, Default)]
pub struct ClusterFlags {
    /// Certificates of a cluster to trust, in PEM, instead of those of the system
    #[arg(long, value_name = "FILE", env = "FIGDEX_CLUSTER_CA_FILE")]
    pub cluster_ca_file: Option<PathBuf>,
    /// File with the value of the Authorization header for a cluster, such as `Basic …`
    #[arg(long, value_name = "FILE", env = "FIGDEX_CLUSTER_AUTHORIZATION_FILE")]
    pub cluster_authorization_file: Option<PathBuf>,
}

impl ClusterFlags {
    /// The settings of a client that makes at most `calls_max` calls at the same time.
    pub fn client(&self, calls_max: usize) -> ClientSettings {
        ClientSettings {
            ca_file: self.cluster_ca_file.clone(),
            authorization_file: self.cluster_authorization_file.clone(),
            calls_max,
        }
    }
}

/// Flags of all commands that ask object storage. Keys that are not in a file are those of the
/// environment or of the machine's role.
#[derive(Args, Clone, Debug, Default)]
pub struct StorageFlags {
    /// Root of an object storage that is not that of Amazon, with http:// or https://
    #[arg(long, value_name = "URL", env = "FIGDEX_STORAGE_ENDPOINT")]
    pub storage_endpoint: Option<String>,
    /// Region of the bucket
    #[arg(long, value_name = "NAME", env = "FIGDEX_STORAGE_REGION")]
    pub storage_region: Option<String>,
    /// Certificates of the object storage to trust, in PEM, instead of those of the
    /// system
    #[arg(long, value_name = "FILE", env = "FIGDEX_STORAGE_CA_FILE")]
    pub storage_ca_file: Option<PathBuf>,
    /// TOML file with access_key_id and secret_access_key [default: AWS_ACCESS_KEY_ID
    /// and the other variables of Amazon, or the role of the machine]
    #[arg(long, value_name = "FILE", env = "FIGDEX_STORAGE_KEYS_FILE")]
    pub storage_keys_file: Option<PathBuf>,
}

/// Reads a day of the form YYYY-MM-DD.
fn day(text: &str) -> Result<Date, String> {
    Date::parse(text).map_err(|error| format!("{error}, such as 2026-11-20"))
}

/// Reads a number of days, such as `90d`.
fn days(text: &str) -> Result<Duration, String> {
    const DAY: Duration = Duration::from_secs(24 * 60 * 60);
    let count: Option<u16> = text.strip_suffix('d').and_then(|count| count.parse().ok());
    match count {
        Some(count @ 1..) => Ok(DAY * u32::from(count)),
        _ => Err("a number of days is expected, such as 90d".to_owned()),
    }
}

/// Reads an address of an index, as [`supported_address`].
pub fn address() -> impl TypedValueParser<Value = Address> {
    OsStringValueParser::new().try_map(supported_address)
}

/// Parses an address, and checks that this program was built for its kind. So a command with an
/// address of another kind ends at once, and not after hours of a build.
///
/// # Errors
/// When the text is not an address, or the program was built without its kind.
pub fn supported_address(text: OsString) -> Result<Address, String> {
    let address = Address::try_from(text).map_err(|error| error.to_string())?;
    supported(&address).map(|()| address)
}

/// Checks that this program was built for the kind of an address.
///
/// # Errors
/// The reason, and the way to a program that was built for this kind.
pub fn supported(address: &Address) -> Result<(), String> {
    let (kind, feature) = match address {
        Address::Cluster(_) if !cfg!(feature = "opensearch") => ("clusters", "opensearch"),
        Address::Storage(_) if !cfg!(feature = "object-storage") => {
            ("object storage", "object-storage")
        }
        _ => return Ok(()),
    };
    Err(format!(
        "this program was built without {kind}; build it with the cargo feature {feature}, or use \
         the program of the package"
    ))
}

/// Flags of `generate`.
#[derive(Args)]
#[command(after_help = GENERATE_EXAMPLES)]
pub struct GenerateFlags {
    /// Number of rows
    #[arg(long)]
    pub count: u64,
    /// Seed of the random numbers: the same seed gives the same bytes
    #[arg(long)]
    pub seed: u64,
    /// File to write [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Layout of the dump
    #[arg(long, default_value = "csv")]
    pub format: Layout,
    /// Proportions of the kinds of instruments
    #[arg(long, default_value = "firm")]
    pub mix: Mix,
    /// Percentage of rows with a defect that real dumps have, such as a missing name,
    /// a repeated FIGI or a wrong check digit
    #[arg(long, value_name = "P%", default_value = "0%")]
    pub dirt: Dirt,
}

/// Flags of `rollback`.
#[derive(Args)]
#[command(after_help = ROLLBACK_EXAMPLES)]
pub struct RollbackFlags {
    /// The index: a folder, or an index in a cluster or in object storage
    #[arg(value_name = "ADDRESS", value_parser = address())]
    pub index: Address,
    /// Flags for a cluster.
    #[command(flatten)]
    pub cluster: ClusterFlags,
    /// Flags for object storage.
    #[command(flatten)]
    pub storage: StorageFlags,
}

/// Flags of `inspect`.
#[derive(Args)]
#[command(after_help = INSPECT_EXAMPLES)]
pub struct InspectFlags {
    /// The index: a folder, or one in a cluster or in object storage; or dumps as `build` takes them: a
    /// file, a folder, or - for standard input. Of a dump nothing is built: it shows
    /// which columns are taken, which rows would be rejected and why, and for an
    /// unknown layout it proposes a columns file
    #[arg(value_name = "ADDRESS|INPUT", value_parser = address())]
    pub what: Address,
    /// Name of the format of the dump [default: recognised]
    #[arg(long, value_name = "NAME")]
    pub format: Option<Format>,
    /// Columns file that describes the format of the dump
    #[arg(long, value_name = "FILE", conflicts_with = "format")]
    pub columns: Vec<PathBuf>,
    /// Number of rows to read of each dump
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub rows: u64,
    /// Also show the sizes of an index, by component
    #[arg(long, conflicts_with = "json")]
    pub sizes: bool,
    /// Print everything as JSON
    #[arg(long)]
    pub json: bool,
    /// Flags for a cluster.
    #[command(flatten)]
    pub cluster: ClusterFlags,
    /// Flags for object storage.
    #[command(flatten)]
    pub storage: StorageFlags,
}

/// Flags of `formats` and `columns`.
#[derive(Args)]
pub struct ListFlags {
    /// Print the list as JSON
    #[arg(long)]
    pub json: bool,
}

/// Flags of `verify`.
#[derive(Args)]
#[command(after_help = VERIFY_EXAMPLES)]
pub struct VerifyFlags {
    /// The index: a folder, or an index in a cluster or in object storage
    #[arg(value_name = "ADDRESS", value_parser = address())]
    pub index: Address,
    /// Flags for a cluster.
    #[command(flatten)]
    pub cluster: ClusterFlags,
    /// Flags for object storage.
    #[command(flatten)]
    pub storage: StorageFlags,
}

/// Flags of `export`.
#[derive(Args)]
#[command(after_help = EXPORT_EXAMPLES)]
pub struct ExportFlags {
    /// The index: a folder, or an index in a cluster or in object storage
    #[arg(value_name = "ADDRESS", value_parser = address())]
    pub index: Address,
    /// File to write [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Layout of the dump
    #[arg(long, default_value = "csv")]
    pub format: RowLayout,
    /// Also write the lists of allowed values into this folder, for `build --values`
    #[arg(long, value_name = "DIR")]
    pub values: Option<PathBuf>,
    /// Also write the token of the exported generation to this file: GET /changes says
    /// what has changed since. It is written after the file of --out, which is then whole
    #[arg(long, value_name = "FILE", requires = "out")]
    pub token: Option<PathBuf>,
    /// Write the past of the index to this file instead of a dump, for
    /// `build --history-from`
    #[arg(long, value_name = "FILE", conflicts_with_all = ["out", "format", "values", "token"])]
    pub history: Option<PathBuf>,
    /// Flags for a cluster.
    #[command(flatten)]
    pub cluster: ClusterFlags,
}

/// Flags of `diff`.
#[derive(Args)]
#[command(after_help = DIFF_EXAMPLES)]
pub struct DiffFlags {
    /// Folder of the index as it was, or of one of its generations
    #[arg(value_name = "OLD")]
    pub old: PathBuf,
    /// Folder of the index as it is, or of one of its generations
    #[arg(value_name = "NEW")]
    pub new: PathBuf,
    /// File to write [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Layout of the rows: the columns of an export, after _change_type,
    /// _commit_version, _commit_timestamp and _cosmetic
    #[arg(long, default_value = "csv")]
    pub format: RowLayout,
}

const DIFF_EXAMPLES: &str = "\
Examples:
  figdex-ingest diff yesterday today --out changes.csv
  figdex-ingest diff index/generation-000006 index --format jsonl";

const EXAMPLES: &str = "\
Examples:
  figdex-ingest inspect dump.csv
  figdex-ingest build dump.csv --index index
  figdex-ingest rollback index";

const FORMATS_EXAMPLES: &str = "\
Examples:
  figdex-ingest formats
  figdex-ingest formats --json";

const COLUMNS_EXAMPLES: &str = "\
Examples:
  figdex-ingest columns
  figdex-ingest columns --json";

const BUILD_EXAMPLES: &str = "\
Examples:
  figdex-ingest build dump.csv.gz --index /var/lib/figdex/index
  zcat dump.csv.gz | figdex-ingest build - --index index --max-removed 2%
  figdex-ingest build dumps/ --max-removed 2% --work /var/lib/figdex/work \\
      --index opensearch+https://a:9200,b:9200/instruments --shards 3";

const GENERATE_EXAMPLES: &str = "\
Examples:
  figdex-ingest generate --count 1000 --seed 1 --out dump.csv
  figdex-ingest generate --count 1000 --seed 1 --format jsonl --dirt 5%";

const PUBLISH_EXAMPLES: &str = "\
Examples:
  figdex-ingest publish index opensearch+http://127.0.0.1:9200/instruments
  figdex-ingest publish index opensearch+https://a:9200,b:9200/instruments \\
      --shards 3 --cluster-authorization-file /etc/figdex/cluster.txt
  figdex-ingest publish index s3://bucket/figdex --storage-region eu-central-1";

const ROLLBACK_EXAMPLES: &str = "\
Examples:
  figdex-ingest rollback /var/lib/figdex/index
  sudo -u figdex-ingest figdex-ingest rollback /var/lib/figdex/index
  figdex-ingest rollback s3://bucket/figdex";

const INSPECT_EXAMPLES: &str = "\
Examples:
  figdex-ingest inspect /var/lib/figdex/index
  figdex-ingest inspect /var/lib/figdex/index --sizes
  figdex-ingest inspect dump.csv --rows 1000";

const VERIFY_EXAMPLES: &str = "\
Examples:
  figdex-ingest verify /var/lib/figdex/index
  figdex-ingest verify index && figdex --index index";

const EXPORT_EXAMPLES: &str = "\
Examples:
  figdex-ingest export index --out dump.csv
  figdex-ingest export index --format jsonl | gzip > dump.jsonl.gz
  figdex-ingest export index --history past.log";

/// The value of `--memory`, in bytes.
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
        let bytes = bytes.ok_or_else(|| {
            format!("invalid size {text:?}: expected a number with a unit, such as 2GiB or 800MB")
        })?;
        if bytes < MEMORY_BYTES_MIN {
            return Err(format!(
                "too little: a build needs at least {} MiB",
                MEMORY_BYTES_MIN >> 20
            ));
        }
        Ok(Self(bytes))
    }
}
