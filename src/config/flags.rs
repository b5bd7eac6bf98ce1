//! The command line. Values stay text here, so that errors in flags, environment and file are
//! reported together by [`Config::resolve`](super::Config::resolve).

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, FromArgMatches, Parser, Subcommand, value_parser};
use figdex_io::Address;

use figdex_ingest::flags::address;

use super::map::MapFlags;
#[cfg(feature = "mcp")]
use super::mcp::McpFlags;
use super::ready::ServerPlace;
use super::table::{SETTINGS, Setting, Takes};
use super::{Config, DEFAULT_INDEX, Provenance};

/// Maps identifiers of financial instruments to FIGIs over HTTP
///
/// Every flag of `serve` has an environment variable, and a key in the file that --config
/// names: the flag's name with underscores (`trust_proxy = true`). A flag overrides the
/// environment, which overrides the file.
#[derive(Debug, Parser)]
#[command(
    version,
    long_version = figdex_build_info::LONG,
    after_help = EXAMPLES,
    args_conflicts_with_subcommands = true
)]
pub struct Flags {
    /// The command; `serve` when there is none.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// The flags of `serve`, when that word is left out.
    #[command(flatten)]
    pub serve: SettingFlags,
}

/// The commands of the server program.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve an index (the default)
    #[command(after_help = SERVE_EXAMPLES)]
    Serve(SettingFlags),
    /// Print all settings in force and the origin of each, as a file for --config, or all
    /// errors in them
    #[command(after_help = CONFIG_EXAMPLES)]
    Config(SettingFlags),
    /// Ask a server whether it is ready to answer, for probes
    Ready(Box<ReadyFlags>),
    /// Print how an index would answer a question
    Explain(ExplainFlags),
    /// Map a file of identifiers to FIGIs; every row comes out, with its match
    Map(Box<MapFlags>),
    /// Give an assistant tools for an index or a server, over standard input and output
    #[cfg(feature = "mcp")]
    Mcp(McpFlags),
    /// Add, list and revoke API keys; a running server applies changes within seconds
    #[command(subcommand, after_help = KEYS_EXAMPLES)]
    Keys(KeysCommand),
}

/// Flags of `figdex explain`.
#[derive(Debug, Args)]
#[command(after_help = EXPLAIN_EXAMPLES)]
pub struct ExplainFlags {
    /// JSON file with a search or filter request, a mapping job or an array of mapping jobs, or
    /// with a text for /find; - for standard input
    #[arg(value_name = "QUESTION")]
    pub question: PathBuf,
    /// Folder of the index
    #[arg(
        long,
        env = "FIGDEX_INDEX",
        value_name = "DIR",
        default_value = DEFAULT_INDEX,
        value_parser = address()
    )]
    pub index: Address,
}

/// The longest time to wait for an answer, in seconds.
const TIMEOUT_SECONDS_MAX: u64 = 60;

/// Flags of `figdex ready`.
#[derive(Debug, Args)]
#[command(after_help = READY_EXAMPLES)]
pub struct ReadyFlags {
    /// Root of the server to ask: http://…, https://… or unix:PATH [default: --admin-listen, else
    /// --listen]
    #[arg(value_name = "URL")]
    pub url: Option<ServerPlace>,
    /// File of certificates (PEM) to trust, in place of those of the system
    #[arg(long, value_name = "FILE")]
    pub ca_file: Option<PathBuf>,
    /// Seconds to wait for the answer
    #[arg(
        long = "timeout",
        value_name = "SECONDS",
        default_value_t = 3,
        value_parser = value_parser!(u64).range(1..=TIMEOUT_SECONDS_MAX)
    )]
    pub timeout_seconds: u64,
    /// The settings of the server.
    #[command(flatten)]
    pub server: ServerFlags,
}

const READY_EXAMPLES: &str = "\
Exits with 0 when the server is ready; otherwise with 1, and says why.

Examples:
  figdex ready
  figdex ready http://127.0.0.1:8081 --timeout 1
  figdex ready unix:/run/figdex/figdex.sock";

/// The settings that locate a server: its addresses, and whether clients use TLS.
#[derive(Debug)]
pub struct ServerFlags(pub SettingFlags);

/// The settings of [`ServerFlags`].
const SERVER_SETTINGS: [&str; 3] = ["listen", "admin_listen", "tls_cert"];

/// The commands of `figdex keys`.
#[derive(Debug, Subcommand)]
pub enum KeysCommand {
    /// Add a key and print it. It is shown only once: the file keeps its hash
    #[command(after_help = ADD_EXAMPLES)]
    Add {
        /// Name of the key, for `list` and `revoke`
        name: String,
        /// Show the holder of the key identifiers of the class internal too (the table
        /// `[identifiers]` in the file of settings)
        #[arg(long = "internal")]
        is_internal: bool,
        /// The file of the keys.
        #[command(flatten)]
        place: KeysFlags,
    },
    /// Print the time of creation and the name of each key, and `internal` after those that are
    #[command(after_help = LIST_EXAMPLES)]
    List {
        /// The file of the keys.
        #[command(flatten)]
        place: KeysFlags,
    },
    /// Revoke a key: requests that carry it are refused from then on
    #[command(after_help = REVOKE_EXAMPLES)]
    Revoke {
        /// Name of the key
        name: String,
        /// The file of the keys.
        #[command(flatten)]
        place: KeysFlags,
    },
}

/// The settings that flags and environment variables give, as text.
#[derive(Clone, Debug, Default)]
pub struct SettingFlags {
    /// `--config`: the file of settings.
    pub config: Option<PathBuf>,
    /// The given texts of each setting, by name, and their origin.
    pub(super) given: BTreeMap<&'static str, (Vec<String>, Provenance)>,
}

/// The flags that name the keys file: `--keys`, and `--config` for a file of settings that names
/// it.
#[derive(Debug)]
pub struct KeysFlags(pub SettingFlags);

const EXAMPLES: &str = "\
Examples:
  figdex --index /var/lib/figdex/index
  figdex config --config /etc/figdex/figdex.toml
  figdex map holdings.csv --prefer composite";

const SERVE_EXAMPLES: &str = "\
Examples:
  figdex serve --index /var/lib/figdex/index
  figdex serve --listen 0.0.0.0:8080 --admin-listen 127.0.0.1:8081
  figdex serve --config /etc/figdex/figdex.toml";

const CONFIG_EXAMPLES: &str = "\
Examples:
  figdex config
  figdex config --config /etc/figdex/figdex.toml
  figdex config --listen 0.0.0.0:8080 > figdex.toml";

const EXPLAIN_EXAMPLES: &str = "\
Examples:
  figdex explain query.json
  echo '{\"query\": \"apple\", \"exchCode\": \"US\"}' | figdex explain -
  echo '\"apple dec 2025 200 call\"' | figdex explain -";

const KEYS_EXAMPLES: &str = "\
Examples:
  figdex keys add reporting --keys keys.toml
  figdex keys list --keys keys.toml
  figdex keys revoke reporting --keys keys.toml";

const ADD_EXAMPLES: &str = "\
Examples:
  figdex keys add reporting --keys keys.toml
  figdex keys add desk-1 --internal --config /etc/figdex/figdex.toml";

const LIST_EXAMPLES: &str = "\
Examples:
  figdex keys list --keys keys.toml
  figdex keys list --config /etc/figdex/figdex.toml";

const REVOKE_EXAMPLES: &str = "\
Examples:
  figdex keys revoke reporting --keys keys.toml
  figdex keys revoke reporting --config /etc/figdex/figdex.toml";

impl Flags {
    /// The command to run.
    pub fn into_command(self) -> Command {
        self.command.unwrap_or(Command::Serve(self.serve))
    }
}

impl Args for SettingFlags {
    fn augment_args(command: clap::Command) -> clap::Command {
        let defaults = Config::default();
        let flags = SETTINGS.iter().map(|setting| flag(setting, &defaults));
        let help = "TOML file of settings. Only the file can change the request rates, as in \
                    `[limits.v3.mapping]` with `without_key = \"25/60s\"`";
        command.arg(config().help(help)).args(flags)
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for SettingFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let given = SETTINGS.iter().filter_map(|Setting { name, .. }| {
            // `figdex keys` and `figdex ready` have only some of the settings.
            let texts = matches.try_get_many::<String>(name).ok()??;
            let is_variable = matches.value_source(name) == Some(ValueSource::EnvVariable);
            let provenance = if is_variable { Provenance::Variable } else { Provenance::Flag };
            Some((*name, (texts.cloned().collect(), provenance(name))))
        });
        Ok(Self { given: given.collect(), config: matches.get_one("config").cloned() })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for KeysFlags {
    fn augment_args(command: clap::Command) -> clap::Command {
        let keys = named(&["keys"])
            .map(|flag| flag.help_heading(None).help("File of the API keys; `add` creates it"));
        let help = "TOML file of settings, whose `keys` applies when --keys is not given";
        command.args(keys).arg(config().help(help))
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for KeysFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        SettingFlags::from_arg_matches(matches).map(Self)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.0.update_from_arg_matches(matches)
    }
}

impl Args for ServerFlags {
    fn augment_args(command: clap::Command) -> clap::Command {
        let help = "TOML file of the server's settings, which say where it listens";
        let found = |arg: Arg| arg.help_heading(None);
        command.args(named(&SERVER_SETTINGS).map(found)).arg(config().help(help))
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for ServerFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        SettingFlags::from_arg_matches(matches).map(Self)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.0.update_from_arg_matches(matches)
    }
}

impl Flags {
    /// The error for a command line with a value after a switch and a blank, as in `--no-limits
    /// yes`. `None` if there is none.
    pub fn value_after_switch(arguments: &[OsString]) -> Option<String> {
        arguments.windows(2).find_map(|pair| {
            let (name, value) = (pair[0].to_str()?.strip_prefix("--")?, pair[1].to_str()?);
            let name = name.replace('-', "_");
            let is_switch = |one: &Setting| one.name == name && matches!(one.takes, Takes::Switch);
            SETTINGS.iter().find(|setting| is_switch(setting))?;
            let meant = match value {
                "true" | "yes" | "on" | "1" => true,
                "false" | "no" | "off" | "0" => false,
                _ => return None,
            };
            let flag = pair[0].display();
            Some(format!(
                "unexpected {value:?} after {flag}: a switch takes its value after an equals sign, \
                 as in {flag}={meant}"
            ))
        })
    }
}

/// The flags of the settings with these names, as `serve` has them.
fn named(names: &[&str]) -> impl Iterator<Item = Arg> {
    let settings = SETTINGS.iter().filter(|setting| names.contains(&setting.name));
    settings.map(|setting| flag(setting, &Config::default()))
}

/// The flag that names the file of settings, without its help.
fn config() -> Arg {
    let file = Arg::new("config").long("config").env("FIGDEX_CONFIG").value_name("FILE");
    file.value_parser(value_parser!(PathBuf))
}

/// The flag of a setting, with its variable and its default.
fn flag(setting: &Setting, defaults: &Config) -> Arg {
    let flag = Arg::new(setting.name)
        .long(setting.name.replace('_', "-"))
        .env(Provenance::Variable(setting.name).to_string())
        .help(setting.flag_help(defaults))
        .help_heading(setting.heading);
    match setting.takes {
        Takes::One(value) => flag.value_name(value),
        Takes::Switch => flag
            .value_name("true|false")
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("true"),
        Takes::List(value) => flag.value_name(value).value_delimiter(',').action(ArgAction::Append),
    }
}
